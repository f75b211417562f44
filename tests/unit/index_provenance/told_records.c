#include "tests/unit/index_provenance/told_records.h"

#include <inttypes.h>

#include "base/memory.h"
#include "metastore/record_rdf.h"

enum { KNOWN = 1000, CALLS_MOST = 1 << 20 };

struct told told;

int
told_begin(void **state)
{
    (void)state;
    memset(&told, 0, sizeof told);
    buf_init(&told.calls, CALLS_MOST);
    told.now = 1000000;
    told.rows = 2;
    return 0;
}

int
told_end(void **state)
{
    (void)state;
    assert_int_equal(told.clients, 0);
    assert_int_equal(told.open, 0);
    buf_release(&told.calls);
    return 0;
}

void
told_calls(const char *expected)
{
    (void)buf_append_char(&told.calls, '\0');
    assert_string_equal(told.calls.data, expected);
    buf_reset(&told.calls);
}

/* ---- the clock ---- */

uint64_t __wrap_clock_monotonic_ms(void);
uint64_t
__wrap_clock_monotonic_ms(void)
{
    const uint64_t now = told.now;
    told.now += told.ticks;
    return now;
}

/* ---- the metadata store ---- */

enum status __wrap_metastore_client_open(struct metastore_client **client,
                                         const struct metastore_client_options *options,
                                         struct reason *why);
enum status
__wrap_metastore_client_open(struct metastore_client **client,
                             const struct metastore_client_options *options, struct reason *why)
{
    assert_non_null(options);
    (void)buf_append_string(&told.calls, "open\n");
    if (told.opens != STATUS_OK) {
        return status_fail(why, told.opens, "no client");
    }
    told.clients++;
    *client = (struct metastore_client *)&told;
    return STATUS_OK;
}

static struct slice
record_of(struct slice key)
{
    for (size_t i = 0; i < told.count; i++) {
        if (slice_is(key, told.records[i].key)) {
            return slice_string(told.records[i].record);
        }
    }
    return slice_of(NULL, 0);
}

void
told_answer(void)
{
    struct slice *found = memory_zero(told.asked, sizeof *found);
    const struct reason why = {"the disk is broken"};
    metastore_got *done = told.done;
    assert_non_null(done);
    for (size_t i = 0; i < told.asked; i++) {
        found[i] = record_of(told.keys[i]);
    }
    told.done = NULL;
    if (told.gets == STATUS_OK) {
        done(told.done_context, STATUS_OK, found, told.asked, NULL);
    } else {
        done(told.done_context, told.gets, NULL, told.asked, told.without_reason ? NULL : &why);
    }
    free(found);
}

/* A get that is under way ends, as it does with the client. */
void __wrap_metastore_client_close(struct metastore_client *client);
void
__wrap_metastore_client_close(struct metastore_client *client)
{
    if (client != NULL) {
        assert_ptr_equal(client, &told);
        assert_int_equal(told.clients--, 1);
        if (told.done != NULL) {
            told_answer();
        }
    }
}

void __wrap_metastore_get(struct metastore_client *client, const struct slice *keys, size_t n,
                          metastore_got *done, void *context);
void
__wrap_metastore_get(struct metastore_client *client, const struct slice *keys, size_t n,
                     metastore_got *done, void *context)
{
    assert_ptr_equal(client, &told);
    assert_null(told.done);
    assert_in_range(n, 1, sizeof told.keys / sizeof told.keys[0]);
    (void)buf_printf(&told.calls, "get %zu: %.*s", n, SLICE_PRINT(keys[0]));
    for (size_t i = 1; i < n && n <= 4; i++) {
        (void)buf_printf(&told.calls, " %.*s", SLICE_PRINT(keys[i]));
    }
    (void)buf_append_char(&told.calls, '\n');
    memcpy(told.keys, keys, n * sizeof *keys);
    told.asked = n;
    told.done = done;
    told.done_context = context;
    told.waited = 0;
    if (told.waits == 0) {
        told_answer();
    }
}

void __wrap_metastore_wait(struct metastore_client *client, int most_ms);
void
__wrap_metastore_wait(struct metastore_client *client, int most_ms)
{
    assert_ptr_equal(client, &told);
    assert_in_range(most_ms, 1, 1000);
    told.now += (uint64_t)most_ms;
    if (++told.waited == told.waits && told.done != NULL) {
        told_answer();
    }
}

enum status __wrap_metastore_scan(struct metastore_client *client, struct slice prefix,
                                  struct slice after, uint32_t most, metastore_visit *visit,
                                  void *context, uint32_t timeout_ms, struct reason *why);
enum status
__wrap_metastore_scan(struct metastore_client *client, struct slice prefix, struct slice after,
                      uint32_t most, metastore_visit *visit, void *context, uint32_t timeout_ms,
                      struct reason *why)
{
    assert_ptr_equal(client, &told);
    assert_true(most == UINT32_MAX);
    (void)buf_printf(&told.calls, "scan %.*s after '%.*s' %" PRIu32 " ms\n", SLICE_PRINT(prefix),
                     SLICE_PRINT(after), timeout_ms);
    for (size_t i = 0; i < told.count; i++) {
        const struct slice key = slice_string(told.records[i].key);
        if (!slice_starts(key, prefix) || slice_compare(key, after) <= 0) {
            continue;
        }
        if (++told.visits == told.cancel_at) {
            atomic_store(&told.cancel, true);
        }
        if (!visit(context, key, slice_string(told.records[i].record))) {
            return STATUS_OK;
        }
    }
    return told.scans == STATUS_OK ? STATUS_OK : status_fail(why, told.scans, "the scan broke");
}

/* ---- what records say ---- */

/* Predicates are the same bytes each time; the first three are half a kilobyte apart. */
static char predicates[8][512] = {"http://p.example/0", "http://p.example/1", "http://p.example/2",
                                  "http://known.example/7"};

static struct term
term_of(struct slice word)
{
    if (slice_starts(word, SLICE("_:"))) {
        return term_blank(slice_of(word.at + 2, word.length - 2));
    }
    return word.at[0] == '"' ? term_literal(slice_of(word.at + 1, word.length - 1))
                             : term_iri(word);
}

enum status __wrap_meta_quads(struct slice key, struct slice record, const struct term *graph,
                              const struct quad_sink *sink, struct reason *why);
enum status
__wrap_meta_quads(struct slice key, struct slice record, const struct term *graph,
                  const struct quad_sink *sink, struct reason *why)
{
    assert_int_equal(graph->kind, TERM_NONE);
    assert_true(key.length > 1);
    if (slice_is(record, "!misuse")) {
        return status_fail(why, STATUS_MISUSE, "not an IRI");
    }
    if (slice_is(record, "!damaged")) {
        return status_fail(why, STATUS_CORRUPT, "the record is damaged");
    }
    while (record.length > 0) {
        struct slice line = slice_take(&record, '\n');
        struct quad quad = {.subject = term_of(slice_take(&line, ' '))};
        const struct slice predicate = slice_take(&line, ' ');
        for (size_t i = 0; i < 8; i++) {
            if (slice_is(predicate, predicates[i])) {
                quad.predicate = term_iri(slice_string(predicates[i]));
            }
        }
        assert_int_equal(quad.predicate.kind, TERM_IRI);
        quad.object = term_of(line);
        TRY(sink->quad(sink->context, &quad, why));
    }
    return STATUS_OK;
}

/* ---- the other source ---- */

struct quad_scan {
    struct quad_oids patterns[8];
    size_t count, at;
};

static enum status
told_lookup(void *context, const struct term *term, oid *id, struct reason *why)
{
    static const char start[] = "http://known.example/";
    assert_ptr_equal(context, &told);
    *id = OID_NONE;
    if (told.lookups != STATUS_OK) {
        return status_fail(why, told.lookups, "no term is found");
    }
    if (term->kind == TERM_IRI && slice_starts(term->value, SLICE(start))) {
        *id = slice_number(
            slice_of(term->value.at + sizeof start - 1, term->value.length - (sizeof start - 1)));
    }
    return STATUS_OK;
}

static enum status
told_resolve(void *context, oid id, struct arena *arena, struct term *term, struct reason *why)
{
    assert_ptr_equal(context, &told);
    assert_in_range(id, 1, KNOWN - 1);
    if (told.resolves != STATUS_OK) {
        return status_fail(why, told.resolves, "the term is damaged");
    }
    *term = term_iri(arena_printf(arena, "http://known.example/%" PRIu64, id));
    return STATUS_OK;
}

static void
note(const char *call, const struct quad_oids *pattern)
{
    (void)buf_printf(&told.calls, "%s %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64, call,
                     pattern->subject, pattern->predicate, pattern->object, pattern->graph);
}

static struct quad_scan *
opened(const struct quad_oids *patterns, size_t count)
{
    struct quad_scan *scan = memory_new(sizeof *scan);
    assert_in_range(count, 1, 8);
    memcpy(scan->patterns, patterns, count * sizeof *patterns);
    scan->count = count;
    told.open++;
    return scan;
}

static enum status
told_scan(void *context, const struct quad_oids *pattern, enum quad_order order,
          struct quad_scan **scan, struct reason *why)
{
    assert_ptr_equal(context, &told);
    note("inner", pattern);
    (void)buf_printf(&told.calls, " order %d\n", order);
    if (told.inner_scans != STATUS_OK) {
        return status_fail(why, told.inner_scans, "no scan");
    }
    *scan = opened(pattern, 1);
    return STATUS_OK;
}

enum status
told_scan_many(void *context, const struct quad_oids *patterns, size_t count, bool graphs,
               struct quad_scan **scan, struct reason *why)
{
    assert_ptr_equal(context, &told);
    note("many", patterns);
    (void)buf_printf(&told.calls, " of %zu%s\n", count, graphs ? " with graphs" : "");
    if (told.inner_scans != STATUS_OK) {
        return status_fail(why, told.inner_scans, "no scan");
    }
    *scan = opened(patterns, count);
    return STATUS_OK;
}

/* Rows of a pattern are numbered in their objects. */
enum status
told_scan_many_next(struct quad_scan *scan, struct quad_oids *rows, uint32_t *numbers, size_t most,
                    size_t *n, struct reason *why)
{
    if (told.inner_reads != STATUS_OK) {
        return status_fail(why, told.inner_reads, "no rows");
    }
    for (*n = 0; *n < most && scan->at < scan->count * told.rows; (*n)++, scan->at++) {
        const size_t number = scan->at / told.rows;
        rows[*n] = scan->patterns[number];
        rows[*n].object = 100 + scan->at % told.rows;
        numbers[*n] = (uint32_t)number;
    }
    return STATUS_OK;
}

static enum status
told_scan_next(struct quad_scan *scan, struct quad_oids *rows, size_t most, size_t *n,
               struct reason *why)
{
    uint32_t numbers[64];
    return told_scan_many_next(scan, rows, numbers, most < 64 ? most : 64, n, why);
}

static void
told_close(struct quad_scan *scan)
{
    assert_non_null(scan);
    told.open--;
    free(scan);
}

bool
told_rather_many(void *context, oid graph)
{
    assert_ptr_equal(context, &told);
    (void)buf_printf(&told.calls, "rather %" PRIu64 "\n", graph);
    return told.rather;
}

static enum status
told_estimate(void *context, const struct quad_oids *pattern, uint64_t *rows, struct reason *why)
{
    assert_ptr_equal(context, &told);
    note("estimate", pattern);
    (void)buf_append_char(&told.calls, '\n');
    *rows = 7777;
    return told.estimates == STATUS_OK ? STATUS_OK
                                       : status_fail(why, told.estimates, "no estimate");
}

enum status
told_estimate_star(void *context, const oid *from, size_t count, double *subjects, double *rows,
                   struct reason *why)
{
    assert_ptr_equal(context, &told);
    (void)buf_printf(&told.calls, "star of %zu from %" PRIu64 "\n", count, from[0]);
    *subjects = 5;
    *rows = 6;
    return told.estimates == STATUS_OK ? STATUS_OK
                                       : status_fail(why, told.estimates, "no estimate");
}

static enum status
told_search(void *context, struct slice words, uint32_t most, struct text_scan **scan,
            struct reason *why)
{
    assert_ptr_equal(context, &told);
    (void)buf_printf(&told.calls, "search %.*s %" PRIu32 "\n", SLICE_PRINT(words), most);
    *scan = NULL;
    return status_fail(why, STATUS_LIMIT, "too many words");
}

static enum status
told_search_next(struct text_scan *scan, oid *literal, double *score, bool *end, struct reason *why)
{
    (void)scan, (void)literal, (void)score, (void)why;
    *end = true;
    return STATUS_OK;
}

static void
told_search_close(struct text_scan *scan)
{
    (void)scan;
}

const struct quad_source told_source = {.context = &told,
                                        .lookup = told_lookup,
                                        .resolve = told_resolve,
                                        .scan = told_scan,
                                        .scan_next = told_scan_next,
                                        .scan_close = told_close,
                                        .estimate = told_estimate,
                                        .search = told_search,
                                        .search_next = told_search_next,
                                        .search_close = told_search_close};
