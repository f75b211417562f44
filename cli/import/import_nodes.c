/* A record: u64 group, u64 component, an N-Quads line. A group is of graphs that share nodes;
 * graphs stand in it for nodes that all of theirs are joined to. A component is of nodes alone.
 * When both are known records are sorted, so that each group, and in it each component, comes in
 * one piece. */
#include "cli/import/import_nodes.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/codec.h"
#include "base/memory.h"
#include "cli/import/node_names.h"
#include "cli/import/node_naming.h"
#include "dumps/components.h"
#include "rdf/core/writer.h"
#include "rdf/nquads/nquads.h"
#include "store/line_sort.h"

enum { KEY_SIZE = 8, HEAD_SIZE = 2 * KEY_SIZE, BLOCK = 64 << 10, LINE_MAXIMUM = 64 << 20 };
#define GRAPH_MARK UINT64_C(0x9E3779B97F4A7C15) /* keeps hashes of graphs from those of labels */

struct import_nodes {
    struct import_nodes_options options;
    struct spool_room room;
    struct spool *records;
    struct spool_writer *writer;
    struct components *groups, *components;
    struct node_naming *naming; /* while they are named */
    struct buf line;
    uint64_t last_graph, last_node; /* of the last join of a group */
    uint64_t count, unnamed;
};

struct import_nodes *
import_nodes_new(const struct import_nodes_options *options)
{
    struct import_nodes *nodes = memory_new(sizeof *nodes);
    nodes->options = *options;
    nodes->room = (struct spool_room){.folder = options->folder,
                                      .memory = options->memory / 4,
                                      .disk = UINT64_MAX / 2,
                                      .block = BLOCK};
    nodes->records = spool_new(&nodes->room, 0);
    nodes->writer = spool_writer_new(nodes->records);
    nodes->groups = components_new(&nodes->room, options->memory / 8);
    nodes->components = components_new(&nodes->room, options->memory / 8);
    buf_init(&nodes->line, LINE_MAXIMUM);
    return nodes;
}

void
import_nodes_free(struct import_nodes *nodes)
{
    if (nodes != NULL) {
        components_free(nodes->groups);
        components_free(nodes->components);
        spool_writer_free(nodes->writer);
        spool_free(nodes->records);
        buf_release(&nodes->line);
        free(nodes);
    }
}

/* ---- taking quads ---- */

static bool
needs_name(const struct term *term, struct slice graph)
{
    return term->kind == TERM_BLANK && !node_name_is_given(term->value, graph);
}

bool
import_nodes_concern(const struct quad *quad)
{
    return needs_name(&quad->subject, quad->graph.value) ||
           needs_name(&quad->object, quad->graph.value);
}

static enum status
join_group(struct import_nodes *nodes, uint64_t graph, uint64_t node, struct reason *why)
{
    if (graph == nodes->last_graph && node == nodes->last_node) {
        return STATUS_OK;
    }
    nodes->last_graph = graph;
    nodes->last_node = node;
    return components_join(nodes->groups, graph, node, why);
}

enum status
import_nodes_add(struct import_nodes *nodes, const struct quad *quad, struct reason *why)
{
    char kept[NODE_KEPT_SIZE], *at;
    struct quad other = *quad;
    const bool subject = needs_name(&quad->subject, quad->graph.value);
    const bool object = needs_name(&quad->object, quad->graph.value);
    if (!subject || !object) { /* the other one may have a name that it keeps */
        (void)node_keep(subject ? &other.object : &other.subject, kept);
    }
    uint64_t graph = digest_local(quad->graph.value) ^ GRAPH_MARK;
    graph += graph == 0;
    const uint64_t first = subject ? digest_local(quad->subject.value) : 0;
    const uint64_t second = object ? digest_local(quad->object.value) : 0;
    const uint64_t node = subject ? first : second;
    TRY(join_group(nodes, graph, node, why));
    if (subject && object) {
        TRY(components_join(nodes->components, first, second, why));
        TRY(join_group(nodes, graph, second, why));
    }
    buf_reset(&nodes->line);
    if (nquads_write(&nodes->line, &other) != STATUS_OK || nodes->line.overflowed) {
        return status_fail(why, STATUS_LIMIT, "a quad is longer than %d bytes", LINE_MAXIMUM);
    }
    TRY(spool_make(nodes->writer, 0, HEAD_SIZE + nodes->line.length, &at, why));
    memcpy(at, &graph, KEY_SIZE);
    memcpy(at + KEY_SIZE, &node, KEY_SIZE);
    memcpy(at + HEAD_SIZE, nodes->line.data, nodes->line.length);
    nodes->count++;
    return STATUS_OK;
}

uint64_t
import_nodes_count(const struct import_nodes *nodes)
{
    return nodes->count;
}

/* ---- which belong together ---- */

struct renaming {
    const struct components *components;
    struct spool_writer *into;
    size_t offset; /* of the key in a record */
};

static enum status
rename_record(void *context, struct slice record, struct reason *why)
{
    const struct renaming *renaming = context;
    uint64_t key;
    char *at;
    memcpy(&key, record.at + renaming->offset, KEY_SIZE);
    key = components_find(renaming->components, key);
    TRY(spool_make(renaming->into, 0, record.length, &at, why));
    memcpy(at, record.at, record.length);
    memcpy(at + renaming->offset, &key, KEY_SIZE);
    return STATUS_OK;
}

/* Rounds of dumps/components.h. */
static enum status
solve(struct import_nodes *nodes, struct components *components, size_t offset, struct reason *why)
{
    enum status status = STATUS_OK;
    for (bool last = false; status == STATUS_OK && !last;) {
        TRY(components_round(components, &last, why));
        struct spool *into = spool_new(&nodes->room, 0);
        struct renaming renaming = {components, spool_writer_new(into), offset};
        status = spool_walk(nodes->records, 0, rename_record, &renaming, why);
        if (status == STATUS_OK) {
            status = spool_flush(renaming.into, why);
        }
        spool_writer_free(renaming.into);
        spool_free(nodes->records);
        nodes->records = into;
    }
    return status;
}

static enum status
sort_record(void *sort, struct slice record, struct reason *why)
{
    return line_sort_add(sort, record, why);
}

/* ---- group by group ---- */

/* The group at hand. When it does not fit into memory it goes on component by component. */
struct gathering {
    struct import_nodes *nodes;
    struct graph quads;
    size_t component; /* where in quads the component at hand begins */
    char head[HEAD_SIZE];
    bool large;     /* quads are of one component */
    bool oversized; /* that has too many, which are handed on as they come */
};

static enum status
end_component(struct gathering *gathering, struct reason *why)
{
    enum status status = STATUS_OK;
    if (gathering->large && gathering->quads.count > 0) {
        status = node_naming_components(gathering->nodes->naming, &gathering->quads, why);
    }
    if (gathering->large) {
        graph_reset(&gathering->quads);
        gathering->oversized = false;
    }
    gathering->component = gathering->quads.count;
    return status;
}

static enum status
end_group(struct gathering *gathering, struct reason *why)
{
    TRY(end_component(gathering, why));
    const enum status status =
        gathering->quads.count > 0
            ? node_naming_group(gathering->nodes->naming, &gathering->quads, why)
            : STATUS_OK;
    graph_reset(&gathering->quads);
    gathering->component = 0;
    gathering->large = false;
    return status;
}

/* Names the components that are complete, keeps the one at hand. */
static enum status
become_large(struct gathering *gathering, struct reason *why)
{
    struct graph rest;
    const size_t count = gathering->quads.count;
    enum status status = STATUS_OK;
    graph_init(&rest, gathering->quads.maximum);
    for (size_t i = gathering->component; i < count && status == STATUS_OK; i++) {
        status = graph_add(&rest, &gathering->quads.quads[i], why);
    }
    gathering->quads.count = gathering->component;
    if (status == STATUS_OK && gathering->quads.count > 0) {
        status = node_naming_components(gathering->nodes->naming, &gathering->quads, why);
    }
    graph_release(&gathering->quads);
    gathering->quads = rest;
    gathering->component = 0;
    gathering->large = true;
    return status;
}

static enum status
become_oversized(struct gathering *gathering, struct reason *why)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < gathering->quads.count && status == STATUS_OK; i++) {
        status = node_naming_leave(gathering->nodes->naming, &gathering->quads.quads[i], why);
    }
    graph_reset(&gathering->quads);
    gathering->oversized = true;
    return status;
}

static enum status
take_quad(void *context, const struct quad *quad, struct reason *why)
{
    struct gathering *gathering = context;
    if (!gathering->oversized && graph_add(&gathering->quads, quad, NULL) == STATUS_OK) {
        return STATUS_OK;
    }
    if (!gathering->large) {
        TRY(become_large(gathering, why));
        if (graph_add(&gathering->quads, quad, NULL) == STATUS_OK) {
            return STATUS_OK;
        }
    }
    if (!gathering->oversized) {
        TRY(become_oversized(gathering, why));
    }
    return node_naming_leave(gathering->nodes->naming, quad, why);
}

static enum status
take_record(struct gathering *gathering, struct slice record, struct reason *why)
{
    const struct quad_sink sink = {take_quad, gathering};
    if (memcmp(gathering->head, record.at, KEY_SIZE) != 0) {
        TRY(end_group(gathering, why));
    } else if (memcmp(gathering->head, record.at, HEAD_SIZE) != 0) {
        TRY(end_component(gathering, why));
    }
    memcpy(gathering->head, record.at, HEAD_SIZE);
    return nquads_parse(slice_of(record.at + HEAD_SIZE, record.length - HEAD_SIZE), NULL, &sink,
                        why);
}

static enum status
name_sorted(struct import_nodes *nodes, struct line_sort *sort, struct reason *why)
{
    struct gathering gathering = {.nodes = nodes};
    struct slice record;
    enum status status;
    graph_init(&gathering.quads, nodes->options.memory / 4);
    while ((status = line_sort_next(sort, &record, why)) == STATUS_OK) {
        status = take_record(&gathering, record, why);
        if (status != STATUS_OK) {
            break;
        }
    }
    if (status == STATUS_END) {
        status = end_group(&gathering, why);
    }
    graph_release(&gathering.quads);
    return status;
}

enum status
import_nodes_finish(struct import_nodes *nodes, const struct quad_sink *sink, struct reason *why)
{
    TRY(spool_flush(nodes->writer, why));
    spool_writer_free(nodes->writer);
    nodes->writer = NULL;
    TRY(solve(nodes, nodes->groups, 0, why));
    TRY(solve(nodes, nodes->components, KEY_SIZE, why));
    struct line_sort *sort = line_sort_new(nodes->options.folder, nodes->options.memory / 4);
    enum status status = spool_walk(nodes->records, 0, sort_record, sort, why);
    spool_forget(nodes->records, 0);
    if (status == STATUS_OK) {
        status = line_sort_finish(sort, why);
    }
    if (status == STATUS_OK) {
        nodes->naming = node_naming_new(&nodes->options, sink);
        status = name_sorted(nodes, sort, why);
        nodes->unnamed = node_naming_left(nodes->naming);
        node_naming_free(nodes->naming);
    }
    line_sort_free(sort);
    return status;
}

uint64_t
import_nodes_unnamed(const struct import_nodes *nodes)
{
    return nodes->unnamed;
}
