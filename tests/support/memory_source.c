#include "tests/support/memory_source.h"

#include <stdlib.h>

#include "base/memory.h"
#include "index/query/memory/row_table.h"
#include "index/statistics/node_lists.h"
#include "index/statistics/triple_counts.h"

struct memory_source {
    struct quad_source table;
    struct arena arena;
    struct slice default_graph, blank_prefix;
    struct term *terms; /* identifier - 1 */
    uint64_t *hashes;
    size_t term_count, term_room;
    uint32_t *places; /* of the hash table: identifier or 0; twice term_room */
    struct quad_oids *orders[ORDER_COUNT];
    size_t count, room;
    bool sorted;
    struct node_lists *predicates;
};

struct quad_scan {
    const struct quad_oids *at, *end;
    struct quad_oids pattern;
    enum quad_order order;
};

struct text_scan {
    struct memory_source *source;
    size_t term;
    struct slice words;
    uint32_t left;
};

/* ---- terms ---- */

static uint64_t
hash_term(const struct term *term)
{
    uint64_t hash = hash_bytes((uint64_t)term->kind, term->value.at, term->value.length);
    hash = hash_bytes(hash, term->datatype.at, term->datatype.length);
    return hash_bytes(hash, term->language.at, term->language.length);
}

static size_t
find_place(const struct memory_source *source, const struct term *term, uint64_t hash)
{
    const size_t mask = source->term_room * 2 - 1;
    size_t place = hash & mask;
    while (source->places[place]) {
        const size_t at = source->places[place] - 1;
        if (source->hashes[at] == hash && term_equal(&source->terms[at], term)) {
            break;
        }
        place = (place + 1) & mask;
    }
    return place;
}

static void
grow_terms(struct memory_source *source)
{
    const size_t room = source->term_room ? source->term_room * 2 : 64;
    source->terms = memory_resize(source->terms, room, sizeof *source->terms);
    source->hashes = memory_resize(source->hashes, room, sizeof *source->hashes);
    free(source->places);
    source->places = memory_zero(room * 2, sizeof *source->places);
    source->term_room = room;
    for (size_t i = 0; i < source->term_count; i++) {
        source->places[find_place(source, &source->terms[i], source->hashes[i])] = (uint32_t)i + 1;
    }
}

/* xsd:string is the datatype that is not written. */
static struct term
normal(const struct term *term)
{
    struct term result = *term;
    if (slice_is(term->datatype, "http://www.w3.org/2001/XMLSchema#string")) {
        result.datatype = (struct slice){NULL, 0};
    }
    return result;
}

static enum status
add_term(struct memory_source *source, const struct term *term, oid *id, struct reason *why)
{
    struct term wanted = normal(term);
    char label[1024];
    if (wanted.kind == TERM_BLANK && source->blank_prefix.length &&
        wanted.value.length + source->blank_prefix.length < sizeof label) {
        memcpy(label, source->blank_prefix.at, source->blank_prefix.length);
        memcpy(label + source->blank_prefix.length, wanted.value.at, wanted.value.length);
        wanted.value = slice_of(label, wanted.value.length + source->blank_prefix.length);
    }
    if (source->term_count == source->term_room) {
        grow_terms(source);
    }
    const uint64_t hash = hash_term(&wanted);
    const size_t place = find_place(source, &wanted, hash);
    if (!source->places[place]) {
        if (!term_copy(&source->arena, &wanted, &source->terms[source->term_count])) {
            return status_fail(why, STATUS_LIMIT, "the graph is larger than its maximum");
        }
        source->hashes[source->term_count] = hash;
        source->places[place] = (uint32_t)++source->term_count;
    }
    *id = source->places[place];
    return STATUS_OK;
}

static enum status
lookup(void *context, const struct term *term, oid *id, struct reason *why)
{
    const struct memory_source *source = context;
    (void)why;
    const struct term wanted = normal(term);
    *id = source->term_count ? source->places[find_place(source, &wanted, hash_term(&wanted))]
                             : OID_NONE;
    return STATUS_OK;
}

static enum status
resolve(void *context, oid id, struct arena *arena, struct term *term, struct reason *why)
{
    const struct memory_source *source = context;
    (void)arena;
    if (id == OID_NONE || id > source->term_count) {
        return status_fail(why, STATUS_NOT_FOUND, "no term has identifier %llu",
                           (unsigned long long)id);
    }
    *term = source->terms[id - 1];
    return STATUS_OK;
}

/* ---- quads ---- */

/* Places of each order, as offsets into a quad: s p o c are 0 1 2 3. */
static const uint8_t order_places[ORDER_COUNT][4] = {
    [ORDER_SPOC] = {0, 1, 2, 3}, [ORDER_POCS] = {1, 2, 3, 0}, [ORDER_OCSP] = {2, 3, 0, 1},
    [ORDER_CSPO] = {3, 0, 1, 2}, [ORDER_CPOS] = {3, 1, 2, 0}, [ORDER_OSPC] = {2, 0, 1, 3}};

static oid
quad_place(const struct quad_oids *quad, int place)
{
    return place == 0   ? quad->subject
           : place == 1 ? quad->predicate
           : place == 2 ? quad->object
                        : quad->graph;
}

static int
compare_quads(const void *left, const void *right, void *context)
{
    const uint8_t *places = context;
    for (int i = 0; i < 4; i++) {
        const oid a = quad_place(left, places[i]), b = quad_place(right, places[i]);
        if (a != b) {
            return a < b ? -1 : 1;
        }
    }
    return 0;
}

static void
sort_quads(struct memory_source *source)
{
    if (source->sorted) {
        return;
    }
    struct quad_oids *first = source->orders[0];
    size_t kept = 0;
    if (source->count) {
        qsort_r(first, source->count, sizeof *first, compare_quads, (void *)order_places[0]);
    }
    for (size_t i = 0; i < source->count; i++) {
        if (i == 0 || memcmp(&first[i], &first[kept - 1], sizeof *first) != 0) {
            first[kept++] = first[i];
        }
    }
    source->count = kept;
    for (int order = 1; order < ORDER_COUNT; order++) {
        source->orders[order] = memory_resize(source->orders[order], kept + 1, sizeof *first);
        if (kept) {
            memcpy(source->orders[order], first, kept * sizeof *first);
            qsort_r(source->orders[order], kept, sizeof *first, compare_quads,
                    (void *)order_places[order]);
        }
    }
    source->sorted = true;
}

/* How many places of an order's beginning the pattern binds. */
static int
bound_prefix(const struct quad_oids *pattern, enum quad_order order)
{
    int bound = 0;
    while (bound < 4 && quad_place(pattern, order_places[order][bound])) {
        bound++;
    }
    return bound;
}

static int
count_bound(const struct quad_oids *pattern)
{
    return (pattern->subject != 0) + (pattern->predicate != 0) + (pattern->object != 0) +
           (pattern->graph != 0);
}

static enum quad_order
best_order(const struct quad_oids *pattern)
{
    int best = 0;
    for (int order = 1; order < ORDER_COUNT; order++) {
        if (bound_prefix(pattern, (enum quad_order)order) >
            bound_prefix(pattern, (enum quad_order)best)) {
            best = order;
        }
    }
    return (enum quad_order)best;
}

/* First row whose beginning is not before (or, with after, is past) the pattern's. */
static const struct quad_oids *
bound_row(const struct memory_source *source, const struct quad_oids *pattern,
          enum quad_order order, int bound, bool after)
{
    const struct quad_oids *rows = source->orders[order];
    size_t low = 0, high = source->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        int compared = 0;
        for (int i = 0; i < bound && !compared; i++) {
            const oid a = quad_place(&rows[middle], order_places[order][i]);
            const oid b = quad_place(pattern, order_places[order][i]);
            compared = a < b ? -1 : a > b;
        }
        if (compared < 0 || (after && compared == 0)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return rows + low;
}

static enum status
scan_open(void *context, const struct quad_oids *pattern, enum quad_order order,
          struct quad_scan **scan, struct reason *why)
{
    struct memory_source *source = context;
    sort_quads(source);
    if (order == ORDER_COUNT) {
        order = best_order(pattern);
    } else if (bound_prefix(pattern, order) < count_bound(pattern)) {
        return status_fail(why, STATUS_UNSUPPORTED, "the order cannot serve the pattern");
    }
    const int bound = bound_prefix(pattern, order);
    *scan = memory_new(sizeof **scan);
    (*scan)->pattern = *pattern;
    (*scan)->order = order;
    if (source->count) {
        (*scan)->at = bound_row(source, pattern, order, bound, false);
        (*scan)->end = bound_row(source, pattern, order, bound, true);
    }
    return STATUS_OK;
}

static enum status
scan_next(struct quad_scan *scan, struct quad_oids *rows, size_t most, size_t *n,
          struct reason *why)
{
    (void)why;
    *n = 0;
    for (; scan->at < scan->end && *n < most; scan->at++) {
        rows[(*n)++] = *scan->at;
    }
    return STATUS_OK;
}

/* Returns whether a stands before b. */
static bool
is_before(const struct quad_oids *a, const struct quad_oids *b, enum quad_order order)
{
    int i = 0;
    while (i < 3 &&
           quad_place(a, order_places[order][i]) == quad_place(b, order_places[order][i])) {
        i++;
    }
    return quad_place(a, order_places[order][i]) < quad_place(b, order_places[order][i]);
}

static void
scan_skip(struct quad_scan *scan, const struct quad_oids *quad)
{
    while (scan->at < scan->end && is_before(scan->at, quad, scan->order)) {
        scan->at++;
    }
}

static void
scan_close(struct quad_scan *scan)
{
    free(scan);
}

static enum status
estimate(void *context, const struct quad_oids *pattern, uint64_t *rows, struct reason *why)
{
    struct memory_source *source = context;
    (void)why;
    sort_quads(source);
    *rows = 0;
    if (source->count) {
        const enum quad_order order = best_order(pattern);
        const int bound = bound_prefix(pattern, order);
        *rows = (uint64_t)(bound_row(source, pattern, order, bound, true) -
                           bound_row(source, pattern, order, bound, false));
    }
    return STATUS_OK;
}

/* ---- keyword search ---- */

static bool
is_word(unsigned char c)
{
    return c >= 0x80 || (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z');
}

/* The next word at or after *at; empty at the end. */
static struct slice
next_word(struct slice text, size_t *at)
{
    while (*at < text.length && !is_word((unsigned char)text.at[*at])) {
        ++*at;
    }
    const size_t from = *at;
    while (*at < text.length && is_word((unsigned char)text.at[*at])) {
        ++*at;
    }
    return slice_of(text.at + from, *at - from);
}

static size_t
occurrences(struct slice text, struct slice word)
{
    size_t at = 0, count = 0;
    for (;;) {
        const struct slice found = next_word(text, &at);
        if (!found.length) {
            return count;
        }
        count += slice_equal_nocase(found, word);
    }
}

/* 0 unless every word occurs. */
static double
score_of(struct slice text, struct slice words)
{
    size_t at = 0, total = 0;
    for (;;) {
        const struct slice word = next_word(words, &at);
        if (!word.length) {
            return (double)total;
        }
        const size_t count = occurrences(text, word);
        if (!count) {
            return 0;
        }
        total += count;
    }
}

static enum status
search_open(void *context, struct slice words, uint32_t most, struct text_scan **scan,
            struct reason *why)
{
    (void)why;
    *scan = memory_new(sizeof **scan);
    **scan = (struct text_scan){.source = context, .words = words, .left = most};
    return STATUS_OK;
}

static enum status
search_next(struct text_scan *scan, oid *literal, double *score, bool *end, struct reason *why)
{
    (void)why;
    const struct memory_source *source = scan->source;
    while (scan->term < source->term_count && scan->left) {
        const struct term *term = &source->terms[scan->term++];
        *score = term->kind == TERM_LITERAL ? score_of(term->value, scan->words) : 0;
        if (*score > 0) {
            *literal = scan->term;
            *end = false;
            scan->left--;
            return STATUS_OK;
        }
    }
    *end = true;
    return STATUS_OK;
}

static void
search_close(struct text_scan *scan)
{
    free(scan);
}

static enum status
count_triples(void *context, const struct count_request *request, struct triple_count **counts,
              size_t *count, struct reason *why)
{
    const struct memory_source *source = context;
    return triple_counts_read(&source->table, request, counts, count, why);
}

static size_t
recall_lists(void *context, struct list_recall *recall)
{
    const struct memory_source *source = context;
    return node_lists_recall(source->predicates, source->count, recall);
}

static void
keep_list(void *context, const struct node_listing *listing, oid node,
          const struct triple_count *counts, size_t count)
{
    const struct memory_source *source = context;
    node_lists_keep(source->predicates, source->count, listing, node, counts, count);
}

/* ---- entry ---- */

struct memory_source *
memory_source_new(size_t maximum)
{
    struct memory_source *source = memory_new(sizeof *source);
    arena_init(&source->arena, maximum);
    source->predicates = node_lists_new(1 << 20);
    source->table = (struct quad_source){.context = source,
                                         .lookup = lookup,
                                         .resolve = resolve,
                                         .scan = scan_open,
                                         .scan_next = scan_next,
                                         .scan_close = scan_close,
                                         .scan_skip = scan_skip,
                                         .count_triples = count_triples,
                                         .recall_lists = recall_lists,
                                         .keep_list = keep_list,
                                         .estimate = estimate,
                                         .search = search_open,
                                         .search_next = search_next,
                                         .search_close = search_close};
    return source;
}

void
memory_source_free(struct memory_source *source)
{
    if (source) {
        arena_release(&source->arena);
        node_lists_free(source->predicates);
        free(source->terms);
        free(source->hashes);
        free(source->places);
        for (int order = 0; order < ORDER_COUNT; order++) {
            free(source->orders[order]);
        }
        free(source);
    }
}

enum status
memory_source_begin(struct memory_source *source, struct slice default_graph,
                    struct slice blank_prefix, struct reason *why)
{
    source->default_graph = arena_copy(&source->arena, default_graph);
    source->blank_prefix = arena_copy(&source->arena, blank_prefix);
    return source->default_graph.at && source->blank_prefix.at
               ? STATUS_OK
               : status_fail(why, STATUS_LIMIT, "the graph is larger than its maximum");
}

enum status
memory_source_add(struct memory_source *source, const struct quad *quad, struct reason *why)
{
    struct quad_oids ids;
    struct term graph = quad->graph;
    if (graph.kind == TERM_NONE) {
        graph = term_iri(source->default_graph);
    }
    if (!graph.value.length) {
        return status_fail(why, STATUS_BAD_INPUT, "a quad without a graph");
    }
    TRY(add_term(source, &quad->subject, &ids.subject, why));
    TRY(add_term(source, &quad->predicate, &ids.predicate, why));
    TRY(add_term(source, &quad->object, &ids.object, why));
    TRY(add_term(source, &graph, &ids.graph, why));
    if (source->count == source->room) {
        source->room = source->room ? source->room * 2 : 64;
        source->orders[0] =
            memory_resize(source->orders[0], source->room, sizeof *source->orders[0]);
    }
    source->orders[0][source->count++] = ids;
    source->sorted = false;
    return STATUS_OK;
}

static enum status
sink_quad(void *context, const struct quad *quad, struct reason *why)
{
    return memory_source_add(context, quad, why);
}

struct quad_sink
memory_source_sink(struct memory_source *source)
{
    return (struct quad_sink){sink_quad, source};
}

const struct quad_source *
memory_source_table(struct memory_source *source)
{
    return &source->table;
}

size_t
memory_source_quads(struct memory_source *source)
{
    sort_quads(source);
    return source->count;
}
