#include "cli/import/node_naming.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/memory.h"
#include "cli/import/node_names.h"
#include "rdf/canonical/blank_index.h"

enum { HASH_BYTES = 16, NAME_SIZE = 96, LABEL_MAXIMUM = 4096 };
static const char kept[] = "x-quadrille-node:"; /* before a name that is kept */

struct node_naming {
    const struct import_nodes_options *options;
    const struct quad_sink *sink;
    struct map named; /* hashes of components of the file, and how often each came */
    uint64_t left;
};

/* ---- components by hash ---- */

static uint32_t
copies_count(const struct map *copies, uint64_t hash)
{
    const uint32_t count = map_get(copies, hash);
    return count == (uint32_t)MAP_NONE ? 0 : count;
}

static void
copies_add(struct map *copies, uint64_t hash)
{
    map_set(copies, hash, copies_count(copies, hash) + 1);
}

/* ---- names that are kept ---- */

bool
node_keep(struct term *term, char memory[NODE_KEPT_SIZE])
{
    if (term->kind != TERM_BLANK || term->value.length > LABEL_MAXIMUM) {
        return false;
    }
    const int length = snprintf(memory, NODE_KEPT_SIZE, "%s%.*s", kept, SLICE_PRINT(term->value));
    *term = term_iri(slice_of(memory, (size_t)length));
    return true;
}

static void
give_back(struct term *term)
{
    const size_t length = strlen(kept);
    if (term->kind == TERM_IRI && term->value.length > length &&
        memcmp(term->value.at, kept, length) == 0) {
        *term = term_blank(slice_of(term->value.at + length, term->value.length - length));
    }
}

static enum status
send(struct node_naming *naming, const struct quad *quad, struct reason *why)
{
    struct quad named = *quad;
    give_back(&named.subject);
    give_back(&named.object);
    return naming->sink->quad(naming->sink->context, &named, why);
}

static enum status
send_all(struct node_naming *naming, const struct graph *graph, struct reason *why)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < graph->count && status == STATUS_OK; i++) {
        status = send(naming, &graph->quads[i], why);
    }
    return status;
}

/* ---- nodes without a name ---- */

static enum status
with_prefix(const struct node_naming *naming, struct term *term, char memory[2 * LABEL_MAXIMUM],
            struct reason *why)
{
    if (term->kind == TERM_BLANK) {
        const int length = snprintf(memory, (size_t)2 * LABEL_MAXIMUM, "%.*s%.*s",
                                    SLICE_PRINT(naming->options->prefix), SLICE_PRINT(term->value));
        if (length >= LABEL_MAXIMUM) {
            return status_fail(why, STATUS_LIMIT, "a blank node's label is longer than %d bytes",
                               LABEL_MAXIMUM);
        }
        term->value = slice_of(memory, (size_t)length);
    }
    return STATUS_OK;
}

enum status
node_naming_leave(struct node_naming *naming, const struct quad *quad, struct reason *why)
{
    char subject[2 * LABEL_MAXIMUM], object[2 * LABEL_MAXIMUM];
    struct quad left = *quad;
    naming->left++;
    TRY(with_prefix(naming, &left.subject, subject, why));
    TRY(with_prefix(naming, &left.object, object, why));
    return send(naming, &left, why);
}

/* ---- components ---- */

/* Replaces c14n<number> by what begins with the hash. */
static void
rename_canonical(struct term *term, const char *start, char memory[NAME_SIZE])
{
    if (term->kind == TERM_BLANK) {
        const size_t skip = strlen("c14n");
        const int length = snprintf(memory, NAME_SIZE, "%sn%.*s", start,
                                    (int)(term->value.length - skip), term->value.at + skip);
        term->value = slice_of(memory, (size_t)length);
    }
}

static uint64_t
hash_of(const uint8_t digest[DIGEST_SHA256_SIZE])
{
    uint64_t hash;
    memcpy(&hash, digest, sizeof hash);
    return hash != 0 ? hash : 1;
}

/* present: components of the index that others have named; may be NULL. */
static enum status
name_component(struct node_naming *naming, struct graph *component, struct map *present,
               struct reason *why)
{
    uint8_t digest[DIGEST_SHA256_SIZE];
    char hash[2 * HASH_BYTES + 1], start[NAME_SIZE / 2];
    enum status status =
        graph_canonicalize(component, CANONICAL_SHA256, naming->options->work, NULL);
    if (status != STATUS_OK) {
        status = STATUS_OK;
        for (size_t i = 0; i < component->count && status == STATUS_OK; i++) {
            status = node_naming_leave(naming, &component->quads[i], why);
        }
        return status;
    }
    graph_digest(component, digest);
    const uint32_t copy = copies_count(&naming->named, hash_of(digest));
    copies_add(&naming->named, hash_of(digest));
    if (present != NULL && copy < copies_count(present, hash_of(digest))) {
        return STATUS_OK;
    }
    digest_hex(digest, HASH_BYTES, hash);
    snprintf(start, sizeof start, copy == 0 ? "h%s" : "h%sx%u", hash, (unsigned)copy);
    for (size_t i = 0; i < component->count && status == STATUS_OK; i++) {
        char subject[NAME_SIZE], object[NAME_SIZE];
        struct quad quad = component->quads[i];
        rename_canonical(&quad.subject, start, subject);
        rename_canonical(&quad.object, start, object);
        status = send(naming, &quad, why);
    }
    return status;
}

static uint32_t
root_of(uint32_t *parents, uint32_t node)
{
    while (parents[node] != node) {
        node = parents[node] = parents[parents[node]];
    }
    return node;
}

struct member {
    uint32_t component, quad;
};

static int
compare_members(const void *a, const void *b)
{
    const struct member *left = a, *right = b;
    return left->component != right->component ? (left->component < right->component ? -1 : 1)
           : left->quad != right->quad         ? (left->quad < right->quad ? -1 : 1)
                                               : 0;
}

/* Every quad has a blank node. */
static struct member *
find_members(const struct graph *quads)
{
    struct blank_index index;
    blank_index_build(&index, quads);
    uint32_t *parents = memory_zero(index.count, sizeof *parents);
    struct member *members = memory_zero(quads->count, sizeof *members);
    for (uint32_t i = 0; i < index.count; i++) {
        parents[i] = i;
    }
    for (size_t i = 0; i < quads->count; i++) {
        const uint32_t subject = index.places[i][0], object = index.places[i][1];
        if (subject != BLANK_NONE && object != BLANK_NONE) {
            parents[root_of(parents, subject)] = root_of(parents, object);
        }
    }
    for (size_t i = 0; i < quads->count; i++) {
        const uint32_t *places = index.places[i];
        const uint32_t node = places[0] != BLANK_NONE ? places[0] : places[1];
        members[i] = (struct member){root_of(parents, node), (uint32_t)i};
    }
    qsort(members, quads->count, sizeof *members, compare_members);
    free(parents);
    blank_index_release(&index);
    return members;
}

typedef enum status component_visit(struct node_naming *naming, struct graph *component,
                                    struct map *present, struct reason *why);

static enum status
each_component(struct node_naming *naming, const struct graph *quads, component_visit *visit,
               struct map *present, struct reason *why)
{
    if (quads->count == 0) {
        return STATUS_OK;
    }
    struct graph component;
    struct member *members = find_members(quads);
    enum status status = STATUS_OK;
    graph_init(&component, 0);
    for (size_t i = 0; i < quads->count && status == STATUS_OK; i++) {
        if (i > 0 && members[i].component != members[i - 1].component) {
            status = visit(naming, &component, present, why);
            graph_reset(&component);
        }
        if (status == STATUS_OK) {
            status = graph_add(&component, &quads->quads[members[i].quad], why);
        }
    }
    if (status == STATUS_OK) {
        status = visit(naming, &component, present, why);
    }
    graph_release(&component);
    free(members);
    return status;
}

enum status
node_naming_components(struct node_naming *naming, struct graph *quads, struct reason *why)
{
    return each_component(naming, quads, name_component, NULL, why);
}

/* h<hash>: what has the hash comes out under the same name again. What has not may be a part of a
 * component that lies in other graphs, too. */
static bool
is_named_by_hash(const struct term *term, struct slice graph)
{
    return term->kind == TERM_BLANK && term->value.at[0] == 'h' &&
           node_name_is_given(term->value, graph);
}

/* A component that the index has. */
static enum status
count_present(struct node_naming *naming, struct graph *component, struct map *present,
              struct reason *why)
{
    uint8_t digest[DIGEST_SHA256_SIZE];
    (void)why;
    for (size_t i = 0; i < component->count; i++) {
        const struct quad *quad = &component->quads[i];
        if (is_named_by_hash(&quad->subject, quad->graph.value) ||
            is_named_by_hash(&quad->object, quad->graph.value)) {
            return STATUS_OK;
        }
    }
    if (graph_canonicalize(component, CANONICAL_SHA256, naming->options->work, NULL) == STATUS_OK) {
        graph_digest(component, digest);
        copies_add(present, hash_of(digest));
    }
    return STATUS_OK;
}

/* ---- groups ---- */

/* Both sorted, without duplicates. */
static bool
is_subset(const struct graph *part, const struct graph *whole)
{
    size_t at = 0;
    for (size_t i = 0; i < part->count; i++) {
        while (at < whole->count && quad_compare(&whole->quads[at], &part->quads[i]) < 0) {
            at++;
        }
        if (at == whole->count || quad_compare(&whole->quads[at], &part->quads[i]) != 0) {
            return false;
        }
    }
    return true;
}

/* Names as a crawl gives them, by the whole graph, if the index has nothing else in it: nothing, or
 * what an import of the same that was cut off has left. */
static enum status
name_whole(struct node_naming *naming, const struct graph *quads, struct graph *present,
           bool *named, struct reason *why)
{
    struct graph whole;
    bool canonical = false;
    graph_init(&whole, 0);
    const struct quad_sink sink = graph_sink(&whole);
    enum status status = graph_send(quads, &sink, why);
    if (status == STATUS_OK) {
        status = graph_relabel(&whole, quads->quads[0].graph.value, naming->options->work,
                               &canonical, why);
    }
    if (status == STATUS_OK && canonical) {
        graph_sort_unique(&whole);
        *named = is_subset(present, &whole);
    }
    if (status == STATUS_OK && *named) {
        status = send_all(naming, &whole, why);
    }
    graph_release(&whole);
    return status;
}

enum status
node_naming_group(struct node_naming *naming, struct graph *quads, struct reason *why)
{
    struct graph present;
    struct map found = {0};
    bool one = true, named = false;
    graph_sort_unique(quads);
    for (size_t i = 1; i < quads->count; i++) {
        one = one && slice_equal(quads->quads[i].graph.value, quads->quads[0].graph.value);
    }
    graph_init(&present, naming->options->memory / 4);
    enum status status = STATUS_OK;
    bool complete = true;
    if (one && naming->options->present != NULL) {
        status = naming->options->present(naming->options->context, quads->quads[0].graph.value,
                                          &present, why);
        complete = status != STATUS_LIMIT;
        status = complete ? status : STATUS_OK;
        graph_sort_unique(&present);
    }
    if (status == STATUS_OK && one && complete) {
        status = name_whole(naming, quads, &present, &named, why);
    }
    if (status == STATUS_OK && !named) {
        status = each_component(naming, &present, count_present, &found, why);
    }
    if (status == STATUS_OK && !named) {
        status = each_component(naming, quads, name_component, &found, why);
    }
    map_release(&found);
    graph_release(&present);
    return status;
}

/* ---- life ---- */

struct node_naming *
node_naming_new(const struct import_nodes_options *options, const struct quad_sink *sink)
{
    struct node_naming *naming = memory_new(sizeof *naming);
    naming->options = options;
    naming->sink = sink;
    return naming;
}

void
node_naming_free(struct node_naming *naming)
{
    if (naming != NULL) {
        map_release(&naming->named);
        free(naming);
    }
}

uint64_t
node_naming_left(const struct node_naming *naming)
{
    return naming->left;
}
