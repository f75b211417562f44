/* Triples that match, as a partition tells others of them (index/serve/answer_triples.c): their
 * numbers, their fingerprints, and rows by their numbers, in pieces. The linker puts the functions
 * below in the place of the partition and the cursor; the source has as many rows as the test says.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "index/protocol/service_protocol.h"
#include "index/protocol/triples_request.h"
#include "index/serve/answer_triples.h"

enum { TEXT_MOST = 1 << 24, CHUNK = 16 << 10, PIECE = 128 << 10, SCANNED = 1024 };

static max_align_t places[2];
static struct partition_reader *const the_reader = (struct partition_reader *)(void *)&places[0];
static struct cursor *const the_cursor = (struct cursor *)(void *)&places[1];
static struct buf request, written;
static size_t piece_ends[64], pieces, refused_piece, cursor_bytes;
static atomic_bool cancelled;
static unsigned steps, open_scans, open_counts;
static struct reason why;
static const char *failing; /* this call fails CORRUPT, or as `failure` says */
static enum status failure;
static size_t row_count, estimated, value_count; /* of the source */
static enum quad_order scanned_order;
static struct quad_oids scanned_pattern;

static enum status
outcome(const char *call, struct reason *reason)
{
    return failing != NULL && strcmp(failing, call) == 0
               ? status_fail(reason, failure, "%s failed", call)
               : STATUS_OK;
}

/* ---- the cursor ---- */

enum status __wrap_cursor_write(struct cursor *cursor, struct slice bytes, struct reason *reason);
enum status
__wrap_cursor_write(struct cursor *cursor, struct slice bytes, struct reason *reason)
{
    assert_ptr_equal(cursor, the_cursor);
    if (pieces == refused_piece) {
        return status_fail(reason, STATUS_CANCELLED, "nobody reads on");
    }
    assert_int_equal(buf_append_slice(&written, bytes), STATUS_OK);
    piece_ends[pieces++] = written.length;
    return STATUS_OK;
}

void __wrap_cursor_step(void *cursor);
void
__wrap_cursor_step(void *cursor)
{
    assert_ptr_equal(cursor, the_cursor);
    steps++;
}

const atomic_bool *__wrap_cursor_cancelled(const struct cursor *cursor);
const atomic_bool *
__wrap_cursor_cancelled(const struct cursor *cursor)
{
    assert_ptr_equal(cursor, the_cursor);
    return &cancelled;
}

size_t __wrap_cursor_memory(const struct cursor *cursor);
size_t
__wrap_cursor_memory(const struct cursor *cursor)
{
    assert_ptr_equal(cursor, the_cursor);
    return cursor_bytes;
}

/* ---- the source: the term of an identifier is its number ---- */

static oid
stored(uint64_t number)
{
    return oid_stored(number, OID_KIND_IRI);
}

static enum status
resolve(void *context, oid id, struct arena *arena, struct term *term, struct reason *reason)
{
    char text[32];
    (void)context;
    TRY(outcome("resolve", reason));
    snprintf(text, sizeof text, "%llu", (unsigned long long)oid_number(id));
    *term = term_iri(arena_copy(arena, slice_string(text)));
    return STATUS_OK;
}

/* Of terms "0" to "9"; others are not stored. */
static enum status
lookup(void *context, const struct term *term, oid *id, struct reason *reason)
{
    (void)context;
    *id = term->value.length == 1 ? stored((uint64_t)(term->value.at[0] - '0')) : OID_NONE;
    return outcome("lookup", reason);
}

static enum status
count_triples(void *context, const struct count_request *asked, struct triple_count **counts,
              size_t *count, struct reason *reason)
{
    (void)context;
    assert_int_equal(asked->memory, cursor_bytes);
    assert_int_equal(asked->pattern.object, scanned_pattern.object);
    TRY(asked->check(asked->check_context, reason));
    TRY(outcome("count", reason));
    *counts = calloc(value_count + 1, sizeof **counts);
    assert_non_null(*counts);
    for (size_t i = 0; i < value_count; i++) {
        (*counts)[i] = (struct triple_count){stored(i + 1), 100 + i};
    }
    *count = value_count;
    open_counts++;
    return STATUS_OK;
}

static void
release_counts(struct triple_count *counts)
{
    open_counts -= counts != NULL;
    free(counts);
}

static enum status
estimate(void *context, const struct quad_oids *pattern, uint64_t *rows, struct reason *reason)
{
    (void)context, (void)pattern;
    *rows = estimated;
    return outcome("estimate", reason);
}

struct quad_scan {
    size_t at;
};
static struct quad_scan the_scan;

static enum status
scan(void *context, const struct quad_oids *pattern, enum quad_order order,
     struct quad_scan **result, struct reason *reason)
{
    (void)context;
    scanned_pattern = *pattern;
    scanned_order = order;
    TRY(outcome("scan", reason));
    the_scan.at = 0;
    open_scans++;
    *result = &the_scan;
    return STATUS_OK;
}

/* The row of number n has the terms n, n / 10 and 5. */
static enum status
scan_next(struct quad_scan *of, struct quad_oids *rows, size_t most, size_t *n,
          struct reason *reason)
{
    assert_int_equal(most, SCANNED);
    TRY(outcome("rows", reason));
    for (*n = 0; *n < most && of->at < row_count; of->at++) {
        rows[(*n)++] = (struct quad_oids){
            .subject = stored(of->at), .predicate = stored(of->at / 10), .object = stored(5)};
    }
    return STATUS_OK;
}

static void
scan_close(struct quad_scan *of)
{
    assert_ptr_equal(of, &the_scan);
    open_scans--;
}

static const struct quad_source source = {.resolve = resolve,
                                          .lookup = lookup,
                                          .count_triples = count_triples,
                                          .release_counts = release_counts,
                                          .estimate = estimate,
                                          .scan = scan,
                                          .scan_next = scan_next,
                                          .scan_close = scan_close};

const struct quad_source *__wrap_partition_reader_source(struct partition_reader *reader);
const struct quad_source *
__wrap_partition_reader_source(struct partition_reader *reader)
{
    assert_ptr_equal(reader, the_reader);
    return &source;
}

void __wrap_partition_reader_version(const struct partition_reader *reader, uint64_t version[2]);
void
__wrap_partition_reader_version(const struct partition_reader *reader, uint64_t version[2])
{
    assert_ptr_equal(reader, the_reader);
    version[0] = 7;
    version[1] = 8;
}

enum status __wrap_partition_reader_digest(struct partition_reader *reader, oid id,
                                           struct arena *arena, struct term_digest *digest,
                                           struct reason *reason);
enum status
__wrap_partition_reader_digest(struct partition_reader *reader, oid id, struct arena *arena,
                               struct term_digest *digest, struct reason *reason)
{
    assert_ptr_equal(reader, the_reader);
    assert_non_null(arena);
    *digest = (struct term_digest){id, id * UINT64_C(0x123456789ABCDEF1)};
    return outcome("digest", reason);
}

static enum status
by_value(const struct values_request *asked, struct codec_reader in, const char *call,
         struct reason *reason)
{
    assert_ptr_equal(asked->reader, the_reader);
    assert_ptr_equal(asked->cursor, the_cursor);
    assert_int_equal(asked->pattern.object, stored(5));
    (void)buf_printf(&written, "%s %d %.*s", call, asked->possible, (int)(in.end - in.at),
                     (const char *)in.at);
    return outcome(call, reason);
}

enum status __wrap_answer_values(const struct values_request *asked, struct codec_reader in,
                                 struct reason *reason);
enum status
__wrap_answer_values(const struct values_request *asked, struct codec_reader in,
                     struct reason *reason)
{
    return by_value(asked, in, "values", reason);
}

enum status __wrap_answer_triples_of_values(const struct values_request *asked,
                                            struct codec_reader in, struct reason *reason);
enum status
__wrap_answer_triples_of_values(const struct values_request *asked, struct codec_reader in,
                                struct reason *reason)
{
    return by_value(asked, in, "triples", reason);
}

/* ---- asking ---- */

/* terms: of subject, predicate and object; '-' for none. */
static void
put_request(uint8_t form, const char *terms)
{
    buf_reset(&request);
    codec_put_u8(&request, form);
    for (int i = 0; i < 3; i++) {
        const struct term none = {.kind = TERM_NONE};
        const struct term term = term_iri(slice_of(terms + i, terms[i] == '?' ? 0 : 1));
        index_put_term(&request, terms[i] == '-' ? &none : &term);
    }
    scanned_pattern = (struct quad_oids){.object = terms[2] == '-' ? OID_NONE : stored(5)};
}

static enum status
ask(void)
{
    buf_reset(&written);
    pieces = steps = 0;
    const enum status status = answer_triples(the_reader, buf_slice(&request), the_cursor, &why);
    assert_int_equal(open_scans, 0);
    assert_int_equal(open_counts, 0);
    return status;
}

static int
set_up(void **state)
{
    (void)state;
    buf_init(&request, TEXT_MOST);
    buf_init(&written, TEXT_MOST);
    refused_piece = SIZE_MAX;
    cursor_bytes = 1 << 24;
    failing = NULL;
    failure = STATUS_CORRUPT;
    row_count = estimated = 20;
    value_count = 3;
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    buf_release(&request);
    buf_release(&written);
    return 0;
}

static void
expect_failures(const char *const *calls)
{
    for (; *calls != NULL; calls++) {
        char expected[40];
        failing = *calls;
        assert_int_equal(ask(), STATUS_CORRUPT);
        snprintf(expected, sizeof expected, "%s failed", *calls);
        assert_string_equal(why.text, expected);
        failing = NULL;
    }
    atomic_store(&cancelled, true);
    assert_int_equal(ask(), STATUS_CANCELLED);
    atomic_store(&cancelled, false);
    for (refused_piece = 0; refused_piece < 2; refused_piece++) {
        assert_int_equal(ask(), STATUS_CANCELLED);
        assert_string_equal(why.text, "nobody reads on");
    }
    refused_piece = SIZE_MAX;
}

static struct codec_reader
begin_answer(uint8_t first)
{
    struct codec_reader in = codec_reader_of(buf_slice(&written));
    assert_int_equal(codec_get_u8(&in), first);
    return in;
}

static uint64_t
new_name(struct codec_reader *in)
{
    struct term term;
    char text[32];
    assert_int_equal(codec_get_varint(in), INDEX_NAME_NEW);
    const uint64_t number = oid_number(codec_get_u64(in));
    assert_true(index_get_term(in, &term));
    snprintf(text, sizeof text, "%llu", (unsigned long long)number);
    assert_true(slice_is(term.value, text));
    return number;
}

/* ---- tests ---- */

static void
numbers_of_triples_come_in_pieces(void **state)
{
    static const size_t counts[] = {0, 1, CHUNK, CHUNK + 1, 2 * CHUNK + 2};
    static const char *const calls[] = {"count", "resolve", "lookup", NULL};
    (void)state;
    for (size_t i = 0; i < 2 * sizeof counts / sizeof *counts; i++) {
        const bool named = i % 2 == 0;
        value_count = counts[i / 2];
        put_request(named ? TRIPLE_PREDICATE : TRIPLE_ALL, "--5");
        assert_int_equal(ask(), STATUS_OK);
        assert_int_equal(pieces, value_count == 0 ? 1 : (value_count + CHUNK - 1) / CHUNK);
        struct codec_reader in = begin_answer(TRIPLES_KNOWN);
        assert_int_equal(codec_get_u64(&in), 7);
        assert_int_equal(codec_get_u64(&in), 8);
        for (size_t k = 0; k < value_count; k++) {
            assert_int_equal(codec_get_varint(&in), 100 + k);
            assert_int_equal(named ? new_name(&in) : k + 1, k + 1);
        }
        assert_true(codec_at_end(&in));
    }
    put_request(TRIPLE_OBJECT, "--5");
    value_count = CHUNK + 1;
    expect_failures(calls);
    /* What cannot be counted is told as such, with the version. */
    static const enum status unknown[] = {STATUS_LIMIT, STATUS_UNSUPPORTED};
    for (size_t i = 0; i < 2; i++) {
        failing = "count";
        failure = unknown[i];
        assert_int_equal(ask(), STATUS_OK);
        (void)begin_answer(TRIPLES_UNKNOWN);
        assert_int_equal(written.length, 17);
    }
    failing = NULL;
    put_request(TRIPLE_OBJECT, "?-5"); /* a term that is not stored */
    assert_int_equal(ask(), STATUS_OK);
    (void)begin_answer(TRIPLES_KNOWN);
    assert_int_equal(written.length, 17);
}

static void
fingerprints_come_ascending(void **state)
{
    static const size_t counts[] = {0, 1, SCANNED, SCANNED + 1, 30000};
    static const char *const calls[] = {"lookup", "estimate", "scan", "rows", "digest", NULL};
    (void)state;
    put_request(TRIPLES_FINGERPRINTS, "--5");
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        row_count = counts[i];
        estimated = row_count / 2; /* which is no bound */
        bool *seen = calloc(row_count + 1, 1);
        assert_non_null(seen);
        assert_int_equal(ask(), STATUS_OK);
        assert_true(steps > row_count / SCANNED);
        struct codec_reader in = begin_answer(TRIPLES_KNOWN);
        uint64_t before = 0, number;
        for (size_t k = 0; k < row_count; k++) {
            const uint64_t fingerprint = codec_get_u64(&in);
            number = codec_get_varint(&in);
            assert_true(fingerprint > before && number < row_count && !seen[number]);
            seen[number] = true;
            before = fingerprint;
        }
        assert_true(codec_at_end(&in));
        for (size_t k = 0; k + 1 < pieces; k++) {
            const size_t length = piece_ends[k] - (k > 0 ? piece_ends[k - 1] : 0);
            assert_in_range(length, PIECE, PIECE + 12);
        }
        assert_int_equal(pieces, row_count < 30000 ? 1 : 3);
        free(seen);
    }
    expect_failures(calls);
    put_request(TRIPLES_FINGERPRINTS, "-?-");
    assert_int_equal(ask(), STATUS_OK);
    (void)begin_answer(TRIPLES_KNOWN);
    assert_int_equal(written.length, 1);
}

/* A fingerprint takes 32 bytes with its room for sorting; there is room for a scan's piece more
 * than is expected. */
static void
fingerprints_may_not_fit(void **state)
{
    (void)state;
    put_request(TRIPLES_FINGERPRINTS, "---");
    for (int i = 0; i < 8; i++) {
        const size_t more = i / 2 == 0 ? 0 : i / 2 == 1 ? SCANNED : SCANNED - 1;
        estimated = 2000;
        row_count = i / 2 == 3 ? 2000 + SCANNED + 1 : 2000;
        cursor_bytes = 32 * (2000 + (i / 2 == 3 ? SCANNED : more) + (size_t)(i % 2));
        const bool fits = i == 2 || i == 3 || i == 5 || i == 7;
        assert_int_equal(ask(), STATUS_OK);
        (void)begin_answer(fits ? TRIPLES_KNOWN : TRIPLES_UNKNOWN);
        assert_int_equal(written.length > 1, fits);
    }
    refused_piece = 0;
    cursor_bytes = 32;
    assert_int_equal(ask(), STATUS_CANCELLED);
}

static void
rows_are_in_an_order_that_does_not_change(void **state)
{
    static const struct {
        const char *terms;
        enum quad_order order;
    } cases[] = {{"---", ORDER_SPOC}, {"1--", ORDER_SPOC}, {"-1-", ORDER_POCS},
                 {"--5", ORDER_OSPC}, {"11-", ORDER_SPOC}, {"1-5", ORDER_OSPC},
                 {"-15", ORDER_POCS}, {"115", ORDER_SPOC}};
    static const char *const calls[] = {"lookup", "estimate", "scan", "rows", "resolve", NULL};
    (void)state;
    row_count = 2 * SCANNED;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        put_request(TRIPLES_ROWS, cases[i].terms);
        codec_put_varint(&request, 2);
        codec_put_varint(&request, 7);
        codec_put_varint(&request, SCANNED - 7); /* the first of the second piece */
        assert_int_equal(ask(), STATUS_OK);
        assert_int_equal(scanned_order, cases[i].order);
        assert_int_equal(pieces, 2);
        struct codec_reader in = codec_reader_of(buf_slice(&written));
        assert_int_equal(new_name(&in), 7);
        assert_int_equal(new_name(&in), 0);
        assert_int_equal(new_name(&in), 5);
        assert_int_equal(new_name(&in), SCANNED);
        assert_int_equal(new_name(&in), SCANNED / 10);
        assert_int_equal(codec_get_varint(&in), INDEX_NAME_FIRST + 2);
        assert_true(codec_at_end(&in));
    }
    expect_failures(calls);
}

static void
values_are_asked_for_elsewhere(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        char expected[40];
        const char *call = i % 2 == 0 ? "values" : "triples";
        put_request(i % 2 == 0 ? TRIPLES_VALUES : TRIPLES_OF_VALUES, i / 2 == 0 ? "--5" : "-?5");
        (void)buf_append_string(&request, "the rest");
        assert_int_equal(ask(), STATUS_OK);
        snprintf(expected, sizeof expected, "%s %d the rest", call, i / 2 == 0);
        assert_true(slice_is(buf_slice(&written), expected));
        failing = call;
        assert_int_equal(ask(), STATUS_CORRUPT);
        failing = NULL;
    }
}

static void
malformed_requests_are_refused(void **state)
{
    static const uint8_t forms[] = {TRIPLE_PREDICATE, TRIPLES_FINGERPRINTS, TRIPLES_ROWS};
    (void)state;
    for (size_t i = 0; i < sizeof forms; i++) {
        put_request(forms[i], "--5");
        const size_t whole = request.length;
        for (size_t length = 0; length <= whole + 1; length++) {
            put_request(forms[i], "--5");
            (void)buf_append_char(&request, 1);
            request.length = length;
            if (length != whole || forms[i] == TRIPLES_ROWS) {
                assert_int_equal(ask(), STATUS_PROTOCOL);
                assert_string_equal(why.text, "a request for triples is malformed");
            }
        }
    }
    put_request(TRIPLES_OF_VALUES + 1, "--5");
    assert_int_equal(ask(), STATUS_PROTOCOL);
    put_request(255, "--5");
    assert_int_equal(ask(), STATUS_PROTOCOL);
}

int
main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(numbers_of_triples_come_in_pieces), CASE(fingerprints_come_ascending),
        CASE(fingerprints_may_not_fit),          CASE(rows_are_in_an_order_that_does_not_change),
        CASE(values_are_asked_for_elsewhere),    CASE(malformed_requests_are_refused),
    };
    return cmocka_run_group_tests_name("answer_triples", tests, NULL, NULL);
}
