/* Backup, compact and the VoID description as a client of the partitions. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/memory.h"
#include "index/client_private.h"

size_t
index_client_partitions(const struct index_client *client)
{
    return client->count;
}

enum status
index_backup(struct index_client *client, size_t partition, index_piece *piece, void *context,
             struct reason *why)
{
    const char request = INDEX_STREAM_BACKUP;
    return stream_pass_on(client, partition, slice_of(&request, 1), piece, context, why);
}

enum status
index_compact(struct index_client *client, index_piece *piece, void *context, struct reason *why)
{
    const char request = INDEX_STREAM_COMPACT;
    for (size_t i = 0; i < client->count; i++) {
        TRY(stream_pass_on(client, i, slice_of(&request, 1), piece, context, why));
    }
    return STATUS_OK;
}

/* ---- counters ---- */

struct count {
    struct slice name; /* "quads", or "P" and "C" with a TAB and the term */
    uint64_t number;
};

struct counts {
    struct arena arena;
    struct count *items;
    size_t count, capacity;
    struct buf rest; /* of a line that has not come whole */
};

static enum status
take_count(struct counts *counts, struct slice line, struct reason *why)
{
    const size_t name = slice_find(line, '\t');
    const bool has_term = name == 1;
    char *end = NULL;
    const uint64_t number = name < line.length ? strtoull(line.at + name + 1, &end, 10) : 0;
    if (end == NULL || *end != (has_term ? '\t' : '\n')) {
        return status_fail(why, STATUS_PROTOCOL, "the index sent malformed counters");
    }
    const struct slice term =
        has_term ? slice_of(end, (size_t)(line.at + line.length - 1 - end)) : SLICE("");
    char *key = arena_alloc(&counts->arena, name + term.length + 1);
    if (key == NULL) {
        return status_fail(why, STATUS_LIMIT, "too many counters");
    }
    memcpy(key, line.at, name);
    memcpy(key + name, term.at, term.length);
    if (counts->count == counts->capacity) {
        counts->capacity = counts->capacity ? 2 * counts->capacity : 256;
        counts->items = memory_resize(counts->items, counts->capacity, sizeof(*counts->items));
    }
    counts->items[counts->count++] = (struct count){slice_of(key, name + term.length), number};
    return STATUS_OK;
}

static enum status
take_counts(void *context, struct slice bytes, struct reason *why)
{
    struct counts *counts = context;
    (void)buf_append_slice(&counts->rest, bytes);
    struct slice rest = buf_slice(&counts->rest);
    size_t line;
    while ((line = slice_find(rest, '\n')) < rest.length) {
        TRY(take_count(counts, slice_of(rest.at, line + 1), why));
        rest = slice_of(rest.at + line + 1, rest.length - line - 1);
    }
    memmove(counts->rest.data, rest.at, rest.length);
    counts->rest.length = rest.length;
    return STATUS_OK;
}

static int
compare_names(const void *a, const void *b)
{
    const struct count *left = a, *right = b;
    return slice_compare(left->name, right->name);
}

/* Sorted by name, equal names added up. */
static void
add_up(struct counts *counts)
{
    size_t kept = 0;
    if (counts->count == 0) {
        return;
    }
    qsort(counts->items, counts->count, sizeof(*counts->items), compare_names);
    for (size_t i = 1; i < counts->count; i++) {
        if (slice_equal(counts->items[kept].name, counts->items[i].name)) {
            counts->items[kept].number += counts->items[i].number;
        } else {
            counts->items[++kept] = counts->items[i];
        }
    }
    counts->count = kept + 1;
}

static uint64_t
number_of(const struct counts *counts, const char *name)
{
    for (size_t i = 0; i < counts->count; i++) {
        if (slice_is(counts->items[i].name, name)) {
            return counts->items[i].number;
        }
    }
    return 0;
}

/* IRIs only: a class that is a blank node or a literal has no name to be given here. */
static bool
is_counted(const struct count *count, char kind)
{
    return count->name.length > 3 && count->name.at[0] == kind && count->name.at[1] == '\t' &&
           count->name.at[2] == '<';
}

static uint64_t
kinds_of(const struct counts *counts, char kind)
{
    uint64_t n = 0;
    for (size_t i = 0; i < counts->count; i++) {
        n += is_counted(&counts->items[i], kind);
    }
    return n;
}

static void
write_partitions(const struct counts *counts, char kind, const char *format, struct buf *out)
{
    bool first = true;
    for (size_t i = 0; i < counts->count; i++) {
        if (is_counted(&counts->items[i], kind)) {
            const struct slice name = counts->items[i].name;
            (void)buf_append_string(out, first ? "" : " ,");
            (void)buf_printf(out, format, SLICE_PRINT(slice_of(name.at + 2, name.length - 2)),
                             counts->items[i].number);
            first = false;
        }
    }
}

static void
write_void(const struct counts *counts, const struct index_void_options *options, struct buf *out)
{
    (void)buf_printf(out,
                     "@prefix void: <http://rdfs.org/ns/void#> .\n"
                     "@prefix sd: <http://www.w3.org/ns/sparql-service-description#> .\n"
                     "@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .\n\n"
                     "<%s> a void:Dataset ;\n"
                     "    void:triples %" PRIu64 " ;\n"
                     "    void:documents %" PRIu64 " ;\n"
                     "    void:properties %" PRIu64 " ;\n"
                     "    void:classes %" PRIu64,
                     options->dataset, number_of(counts, "quads"), number_of(counts, "documents"),
                     kinds_of(counts, 'P'), kinds_of(counts, 'C'));
    if (options->endpoint != NULL) {
        (void)buf_printf(out, " ;\n    void:sparqlEndpoint <%s>", options->endpoint);
    }
    if (kinds_of(counts, 'P') > 0) {
        (void)buf_append_string(out, " ;\n    void:propertyPartition");
        write_partitions(counts, 'P', "\n        [ void:property %.*s ; void:triples %" PRIu64 " ]",
                         out);
    }
    if (kinds_of(counts, 'C') > 0) {
        (void)buf_append_string(out, " ;\n    void:classPartition");
        write_partitions(counts, 'C', "\n        [ void:class %.*s ; void:entities %" PRIu64 " ]",
                         out);
    }
    (void)buf_append_string(out, " .\n");
    if (options->endpoint != NULL) {
        (void)buf_printf(out,
                         "\n[] a sd:Service ;\n    sd:endpoint <%s> ;\n"
                         "    sd:supportedLanguage sd:SPARQL11Query ;\n"
                         "    sd:feature sd:UnionDefaultGraph ;\n"
                         "    sd:propertyFeature <urn:x-quadrille:query#matches> .\n",
                         options->endpoint);
    }
    if (options->search != NULL) {
        (void)buf_printf(out, "\n<%s> <http://xmlns.com/foaf/0.1/page> <%s> .\n", options->dataset,
                         options->search);
    }
}

enum status
index_void(struct index_client *client, const struct index_void_options *options,
           struct buf *turtle, struct reason *why)
{
    const char request = INDEX_STREAM_COUNTS;
    struct counts counts = {0};
    enum status status = STATUS_OK;
    arena_init(&counts.arena, 0);
    buf_init(&counts.rest, RPC_PAYLOAD_MAXIMUM);
    for (size_t i = 0; i < client->count && status == STATUS_OK; i++) {
        status = stream_pass_on(client, i, slice_of(&request, 1), take_counts, &counts, why);
    }
    if (status == STATUS_OK) {
        add_up(&counts);
        write_void(&counts, options, turtle);
    }
    if (status == STATUS_OK && turtle->overflowed) {
        status = status_fail(why, STATUS_LIMIT, "the description is too long");
    }
    buf_release(&counts.rest);
    arena_release(&counts.arena);
    free(counts.items);
    return status;
}
