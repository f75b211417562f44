/* Counters of all partitions together, and the VoID description made of them. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/array.h"
#include "base/memory.h"
#include "index/client/index_client.h"
#include "index/client/partitions/client_calls.h"

enum { NUMBERS_MOST = 64, LINE_MOST = 64 << 20 };

struct index_counts {
    struct arena arena;
    struct index_count *items;
    size_t count, capacity;
    struct buf rest; /* of a line that has not come whole */
};

/* ---- lines ---- */

static enum status
add_count(struct index_counts *counts, char kind, const uint64_t *numbers, size_t n,
          struct slice name, struct reason *why)
{
    const struct slice text = arena_copy(&counts->arena, name);
    uint64_t *copy = arena_alloc(&counts->arena, n * sizeof(*copy));
    if ((text.at == NULL && name.length > 0) || copy == NULL) {
        return status_fail(why, STATUS_LIMIT, "too many counters");
    }
    memcpy(copy, numbers, n * sizeof(*copy));
    counts->items =
        array_grow(counts->items, counts->count, &counts->capacity, sizeof(*counts->items));
    counts->items[counts->count++] = (struct index_count){kind, text, copy, n};
    return STATUS_OK;
}

/* line: without its end, which is there all the same and ends a number. */
static enum status
take_line(struct index_counts *counts, struct slice line, struct reason *why)
{
    uint64_t numbers[NUMBERS_MOST];
    size_t n = 0;
    const char *at = line.at + 1;
    const char *const end = line.at + line.length;
    while (line.length > 2 && n < NUMBERS_MOST && at < end && (*at == (n == 0 ? '\t' : ' '))) {
        char *after = NULL;
        numbers[n++] = strtoull(at + 1, &after, 10);
        at = after;
    }
    if (n == 0 || at >= end || *at != '\t') {
        return status_fail(why, STATUS_PROTOCOL, "the index sent malformed counters");
    }
    return add_count(counts, line.at[0], numbers, n, slice_of(at + 1, (size_t)(end - at - 1)), why);
}

static enum status
take_bytes(void *context, struct slice bytes, struct reason *why)
{
    struct index_counts *counts = context;
    if (buf_append_slice(&counts->rest, bytes) != STATUS_OK) {
        return status_fail(why, STATUS_LIMIT, "the index sent a counter that is too long");
    }
    struct slice rest = buf_slice(&counts->rest);
    size_t line;
    while ((line = slice_find(rest, '\n')) < rest.length) {
        TRY(take_line(counts, slice_of(rest.at, line), why));
        rest = slice_of(rest.at + line + 1, rest.length - line - 1);
    }
    memmove(counts->rest.data, rest.at, rest.length);
    counts->rest.length = rest.length;
    return STATUS_OK;
}

/* ---- sums ---- */

static int
compare_counts(const void *a, const void *b)
{
    const struct index_count *left = a;
    const struct index_count *right = b;
    return left->kind != right->kind ? left->kind - right->kind
                                     : slice_compare(left->name, right->name);
}

/* Sorted by kind and name, equal ones added up. */
static void
add_up(struct index_counts *counts)
{
    size_t kept = 0;
    if (counts->count == 0) {
        return;
    }
    qsort(counts->items, counts->count, sizeof(*counts->items), compare_counts);
    for (size_t i = 1; i < counts->count; i++) {
        struct index_count *sum = &counts->items[kept];
        const struct index_count *item = &counts->items[i];
        if (compare_counts(sum, item) != 0 || sum->n != item->n) {
            counts->items[++kept] = *item;
            continue;
        }
        for (size_t k = 0; k < item->n; k++) {
            sum->numbers[k] += item->numbers[k];
        }
    }
    counts->count = kept + 1;
}

/* A set's predicates come in the order of their identifiers, which differs between partitions. */
static void
order_set(struct index_counts *counts, struct index_count *item)
{
    struct {
        struct slice name;
        uint64_t rows;
    } places[NUMBERS_MOST], swap;
    size_t n = 0;
    struct slice rest = item->name;
    while (rest.length > 0 && n + 1 < item->n) {
        const size_t end = slice_find(rest, ' ');
        places[n].name = slice_of(rest.at, end);
        places[n].rows = item->numbers[n + 1];
        for (size_t k = n++; k > 0 && slice_compare(places[k].name, places[k - 1].name) < 0; k--) {
            swap = places[k];
            places[k] = places[k - 1];
            places[k - 1] = swap;
        }
        rest = end < rest.length ? slice_of(rest.at + end + 1, rest.length - end - 1) : SLICE("");
    }
    char *text = arena_alloc(&counts->arena, item->name.length + 1);
    size_t length = 0;
    for (size_t k = 0; text != NULL && k < n; k++) {
        if (k > 0) {
            text[length++] = ' ';
        }
        memcpy(text + length, places[k].name.at, places[k].name.length);
        length += places[k].name.length;
        item->numbers[k + 1] = places[k].rows;
    }
    item->name = text != NULL ? slice_of(text, length) : item->name;
}

enum status
index_counts_get(struct index_client *client, bool with_sets, struct index_counts **result,
                 struct reason *why)
{
    const char request[] = {INDEX_STREAM_COUNTS, with_sets ? 1 : 0};
    struct index_counts *counts = memory_new(sizeof(*counts));
    enum status status = STATUS_OK;
    arena_init(&counts->arena, 0);
    buf_init(&counts->rest, LINE_MOST);
    for (size_t i = 0; i < client->count && status == STATUS_OK; i++) {
        status =
            stream_pass_on(client, i, slice_of(request, sizeof(request)), take_bytes, counts, why);
        if (status == STATUS_OK && counts->rest.length > 0) {
            status = status_fail(why, STATUS_PROTOCOL, "the index sent a counter without its end");
        }
    }
    if (status == STATUS_OK) {
        for (size_t i = 0; i < counts->count && client->count > 1; i++) {
            if (counts->items[i].kind == INDEX_COUNT_SET) {
                order_set(counts, &counts->items[i]);
            }
        }
        add_up(counts);
    } else {
        index_counts_free(counts);
        counts = NULL;
    }
    *result = counts;
    return status;
}

void
index_counts_free(struct index_counts *counts)
{
    if (counts != NULL) {
        buf_release(&counts->rest);
        arena_release(&counts->arena);
        free(counts->items);
        free(counts);
    }
}

const struct index_count *
index_counts_of(const struct index_counts *counts, char kind, size_t *count)
{
    size_t first = 0;
    while (first < counts->count && counts->items[first].kind != kind) {
        first++;
    }
    size_t end = first;
    while (end < counts->count && counts->items[end].kind == kind) {
        end++;
    }
    *count = end - first;
    return counts->items + first;
}

/* 0 when nothing has the name. */
static uint64_t
index_counts_total(const struct index_counts *counts, const char *name)
{
    size_t n;
    const struct index_count *totals = index_counts_of(counts, INDEX_COUNT_TOTAL, &n);
    for (size_t i = 0; i < n; i++) {
        if (slice_is(totals[i].name, name)) {
            return totals[i].numbers[0];
        }
    }
    return 0;
}

/* ---- VoID ---- */

/* IRIs only: a class that is a blank node or a literal has no name to be given here. */
static bool
is_named(const struct index_count *count)
{
    return count->name.length > 1 && count->name.at[0] == '<';
}

static uint64_t
named(const struct index_counts *counts, char kind)
{
    size_t n;
    uint64_t found = 0;
    const struct index_count *items = index_counts_of(counts, kind, &n);
    for (size_t i = 0; i < n; i++) {
        found += is_named(&items[i]);
    }
    return found;
}

static void
write_properties(const struct index_counts *counts, struct buf *out)
{
    size_t n;
    const char *before = " ;\n    void:propertyPartition";
    const struct index_count *items = index_counts_of(counts, INDEX_COUNT_PREDICATE, &n);
    for (size_t i = 0; i < n; i++) {
        if (is_named(&items[i])) {
            (void)buf_printf(out,
                             "%s\n        [ void:property %.*s ; void:triples %" PRIu64
                             " ; q:documentSubjects %" PRIu64 " ]",
                             before, SLICE_PRINT(items[i].name), items[i].numbers[0],
                             items[i].n > 1 ? items[i].numbers[1] : 0);
            before = " ,";
        }
    }
}

static void
write_classes(const struct index_counts *counts, struct buf *out)
{
    size_t n;
    const char *before = " ;\n    void:classPartition";
    const struct index_count *items = index_counts_of(counts, INDEX_COUNT_CLASS, &n);
    for (size_t i = 0; i < n; i++) {
        if (is_named(&items[i])) {
            (void)buf_printf(out, "%s\n        [ void:class %.*s ; void:entities %" PRIu64 " ]",
                             before, SLICE_PRINT(items[i].name), items[i].numbers[0]);
            before = " ,";
        }
    }
}

static void
write_void(const struct index_counts *counts, const struct index_void_options *options,
           struct buf *out)
{
    size_t hosts;
    (void)index_counts_of(counts, INDEX_COUNT_HOST, &hosts);
    (void)buf_printf(out,
                     "@prefix void: <http://rdfs.org/ns/void#> .\n"
                     "@prefix sd: <http://www.w3.org/ns/sparql-service-description#> .\n"
                     "@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .\n"
                     "@prefix q: <urn:x-quadrille:void#> .\n\n"
                     "<%s> a void:Dataset ;\n"
                     "    void:triples %" PRIu64 " ;\n"
                     "    void:documents %" PRIu64 " ;\n"
                     "    void:properties %" PRIu64 " ;\n"
                     "    void:classes %" PRIu64 " ;\n"
                     "    q:documentSubjects %" PRIu64 " ;\n"
                     "    q:hosts %zu",
                     options->dataset, index_counts_total(counts, "quads"),
                     index_counts_total(counts, "documents"), named(counts, INDEX_COUNT_PREDICATE),
                     named(counts, INDEX_COUNT_CLASS), index_counts_total(counts, "subjects"),
                     hosts);
    if (options->endpoint != NULL) {
        (void)buf_printf(out, " ;\n    void:sparqlEndpoint <%s>", options->endpoint);
    }
    write_properties(counts, out);
    write_classes(counts, out);
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
    struct index_counts *counts;
    TRY(index_counts_get(client, false, &counts, why));
    write_void(counts, options, turtle);
    index_counts_free(counts);
    return turtle->overflowed ? status_fail(why, STATUS_LIMIT, "the description is too long")
                              : STATUS_OK;
}
