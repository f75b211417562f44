#include "identity/identity_graph.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/memory.h"
#include "identity/reading.h"

static const uint64_t rows_of_all = (uint64_t)1 << 40; /* so that a plan asks for all last */
enum { ROWS_OF_ONE = 2, CLUSTERS_MEMORY = 64 << 20 };

struct members {
    const oid *at;
    size_t count;
};

/* Clusters that were found are kept: of each member where its cluster is. */
struct identity_graph {
    struct identity *identity;
    struct quad_source source;
    const struct quad_source *inner;
    oid graph, same; /* OID_NONE: nobody has asked for it yet */
    struct arena arena;
    struct members *clusters;
    size_t cluster_count;
    struct map places;
};

struct quad_scan {
    struct identity_graph *graph;
    struct quad_scan *inner; /* of the other source; else all of what follows */
    struct quad_oids wanted;
    struct members members;
    size_t at;
};

static enum status
source_lookup(void *context, const struct term *term, oid *id, struct reason *why)
{
    struct identity_graph *graph = context;
    TRY(graph->inner->lookup(graph->inner->context, term, id, why));
    if (term->kind == TERM_IRI && slice_is(term->value, QUERY_IDENTITY)) {
        const struct term same = term_iri(SLICE(OWL_SAME_AS));
        graph->graph = *id;
        return graph->inner->lookup(graph->inner->context, &same, &graph->same, why);
    }
    return STATUS_OK;
}

static enum status
source_resolve(void *context, oid id, struct arena *arena, struct term *term, struct reason *why)
{
    const struct identity_graph *graph = context;
    return graph->inner->resolve(graph->inner->context, id, arena, term, why);
}

/* ---- own rows ---- */

static bool
is_own(const struct identity_graph *graph, oid of)
{
    return of != OID_NONE && of == graph->graph;
}

static enum status
find_members(struct identity_graph *graph, oid resource, struct members *members,
             struct reason *why)
{
    uint32_t place = map_get(&graph->places, resource);
    if (place == (uint32_t)MAP_NONE) {
        struct identity_cluster cluster;
        if (graph->arena.used > CLUSTERS_MEMORY) {
            arena_reset(&graph->arena);
            map_clear(&graph->places);
            graph->cluster_count = 0;
        }
        TRY(identity_find(graph->identity, resource, &graph->arena, &cluster, why));
        place = (uint32_t)graph->cluster_count;
        *(struct members *)list_add(&graph->clusters, &graph->cluster_count,
                                    sizeof *graph->clusters) =
            (struct members){cluster.members, cluster.member_count};
        for (size_t i = 0; i < cluster.member_count; i++) {
            map_set(&graph->places, cluster.members[i], place);
        }
    }
    *members = graph->clusters[place];
    return STATUS_OK;
}

static enum status
open_own(struct quad_scan *scan, struct reason *why)
{
    struct identity_graph *graph = scan->graph;
    const oid from = scan->wanted.subject != OID_NONE ? scan->wanted.subject : scan->wanted.object;
    struct members found;
    struct term term;
    struct arena arena;
    if (from == OID_NONE) {
        return status_fail(why, STATUS_UNSUPPORTED,
                           "in <" QUERY_IDENTITY "> a subject or object has to be bound");
    }
    if (scan->wanted.predicate != OID_NONE && scan->wanted.predicate != graph->same) {
        return STATUS_OK;
    }
    arena_init(&arena, 0);
    const enum status status =
        graph->inner->resolve(graph->inner->context, from, &arena, &term, why);
    const bool is_literal = status == STATUS_OK && term.kind == TERM_LITERAL;
    arena_release(&arena);
    TRY(status);
    if (is_literal) {
        return STATUS_OK;
    }
    TRY(find_members(graph, from, &found, why));
    /* The memory of clusters may be emptied while this scan is open. */
    oid *copy = memory_alloc(found.count * sizeof *copy);
    memcpy(copy, found.at, found.count * sizeof *copy);
    scan->members = (struct members){copy, found.count};
    return STATUS_OK;
}

static void
source_scan_close(struct quad_scan *scan)
{
    if (scan != NULL) {
        if (scan->inner != NULL) {
            scan->graph->inner->scan_close(scan->inner);
        }
        free((oid *)scan->members.at);
        free(scan);
    }
}

static enum status
source_scan(void *context, const struct quad_oids *pattern, enum quad_order order,
            struct quad_scan **result, struct reason *why)
{
    struct identity_graph *graph = context;
    const bool own = is_own(graph, pattern->graph);
    *result = NULL;
    if (own && order != ORDER_COUNT) {
        return status_fail(why, STATUS_UNSUPPORTED, "who is the same has no order");
    }
    struct quad_scan *scan = memory_new(sizeof *scan);
    scan->graph = graph;
    scan->wanted = *pattern;
    const enum status status =
        own ? open_own(scan, why)
            : graph->inner->scan(graph->inner->context, pattern, order, &scan->inner, why);
    if (status != STATUS_OK) {
        source_scan_close(scan);
        return status;
    }
    *result = scan;
    return STATUS_OK;
}

static enum status
source_scan_next(struct quad_scan *scan, struct quad_oids *rows, size_t most, size_t *n,
                 struct reason *why)
{
    const struct quad_oids *wanted = &scan->wanted;
    const bool from_subject = wanted->subject != OID_NONE;
    if (scan->inner != NULL) {
        return scan->graph->inner->scan_next(scan->inner, rows, most, n, why);
    }
    for (*n = 0; *n < most && scan->at < scan->members.count; scan->at++) {
        const oid member = scan->members.at[scan->at];
        if (!from_subject || wanted->object == OID_NONE || wanted->object == member) {
            rows[(*n)++] = (struct quad_oids){.subject = from_subject ? wanted->subject : member,
                                              .predicate = scan->graph->same,
                                              .object = from_subject ? member : wanted->object,
                                              .graph = wanted->graph};
        }
    }
    return STATUS_OK;
}

/* ---- the other source's ---- */

static enum status
source_scan_many(void *context, const struct quad_oids *patterns, size_t count, bool graphs,
                 struct quad_scan **result, struct reason *why)
{
    struct identity_graph *graph = context;
    struct quad_scan *scan = memory_new(sizeof *scan);
    scan->graph = graph;
    const enum status status =
        graph->inner->scan_many(graph->inner->context, patterns, count, graphs, &scan->inner, why);
    if (status != STATUS_OK) {
        source_scan_close(scan);
        return status;
    }
    *result = scan;
    return STATUS_OK;
}

static enum status
source_scan_many_next(struct quad_scan *scan, struct quad_oids *rows, uint32_t *numbers,
                      size_t most, size_t *n, struct reason *why)
{
    return scan->graph->inner->scan_many_next(scan->inner, rows, numbers, most, n, why);
}

/* Resources are looked at one by one. */
static bool
source_rather_many(void *context, oid of)
{
    const struct identity_graph *graph = context;
    return !is_own(graph, of) && (graph->inner->rather_many == NULL ||
                                  graph->inner->rather_many(graph->inner->context, of));
}

static enum status
source_estimate(void *context, const struct quad_oids *pattern, uint64_t *rows, struct reason *why)
{
    const struct identity_graph *graph = context;
    if (!is_own(graph, pattern->graph)) {
        return graph->inner->estimate(graph->inner->context, pattern, rows, why);
    }
    *rows = pattern->subject != OID_NONE || pattern->object != OID_NONE ? ROWS_OF_ONE : rows_of_all;
    return STATUS_OK;
}

static enum status
source_estimate_star(void *context, const oid *predicates, size_t count, double *subjects,
                     double *rows, struct reason *why)
{
    const struct identity_graph *graph = context;
    return graph->inner->estimate_star(graph->inner->context, predicates, count, subjects, rows,
                                       why);
}

static enum status
source_search(void *context, struct slice words, uint32_t most, struct text_scan **scan,
              struct reason *why)
{
    const struct identity_graph *graph = context;
    return graph->inner->search(graph->inner->context, words, most, scan, why);
}

/* ---- life ---- */

struct identity_graph *
identity_graph_new(const struct identity_settings *settings)
{
    struct identity_graph *graph = memory_new(sizeof *graph);
    const struct quad_source *inner = settings->source;
    graph->identity = identity_new(settings);
    graph->inner = inner;
    arena_init(&graph->arena, 0);
    graph->source = (struct quad_source){
        .context = graph,
        .lookup = source_lookup,
        .resolve = source_resolve,
        .scan = source_scan,
        .scan_next = source_scan_next,
        .scan_close = source_scan_close,
        .scan_many = inner->scan_many != NULL ? source_scan_many : NULL,
        .scan_many_next = source_scan_many_next,
        .rather_many = source_rather_many,
        .estimate = source_estimate,
        .estimate_star = inner->estimate_star != NULL ? source_estimate_star : NULL,
        .search = source_search,
        .search_next = inner->search_next,
        .search_close = inner->search_close};
    return graph;
}

void
identity_graph_free(struct identity_graph *graph)
{
    if (graph != NULL) {
        identity_free(graph->identity);
        arena_release(&graph->arena);
        map_release(&graph->places);
        free(graph->clusters);
        free(graph);
    }
}

const struct quad_source *
identity_graph_source(struct identity_graph *graph)
{
    return &graph->source;
}
