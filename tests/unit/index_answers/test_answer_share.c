/* How the rows of a part of a query leave a partition (index/serve/answer_share.c): in chunks that
 * grow, each identifier with its term the first time and by a number from then on. The linker puts
 * the functions below in the place of the query's run, its dictionary and the cursor. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "index/protocol/service_protocol.h"
#include "index/query/memory/dictionary.h"
#include "index/query/plan/share_parts.h"
#include "index/query/query.h"
#include "index/serve/answer_share.h"

enum { FIRST = 256, MOST = 64 << 10, WIDE = MOST + 10, IDS_MOST = 1 << 20, PIECES_MOST = 64 };

/* ---- in the place of the cursor ---- */

static max_align_t place; /* where the cursor would be */
static struct cursor *const the_cursor = (struct cursor *)&place;
static struct buf written;
static struct {
    size_t end; /* in what was written */
    bool last;
} pieces[PIECES_MOST];
static size_t piece_count, refused_piece; /* this one is refused; SIZE_MAX: none */

static enum status
take_piece(struct cursor *cursor, struct slice bytes, bool last, struct reason *why)
{
    assert_ptr_equal(cursor, the_cursor);
    assert_true(piece_count < PIECES_MOST);
    if (piece_count == refused_piece) {
        return status_fail(why, STATUS_CANCELLED, "nobody reads on");
    }
    assert_true(bytes.length > 0);
    assert_int_equal(buf_append_slice(&written, bytes), STATUS_OK);
    pieces[piece_count].end = written.length;
    pieces[piece_count++].last = last;
    return STATUS_OK;
}

enum status __wrap_cursor_write(struct cursor *cursor, struct slice bytes, struct reason *why);
enum status
__wrap_cursor_write(struct cursor *cursor, struct slice bytes, struct reason *why)
{
    return take_piece(cursor, bytes, false, why);
}

enum status __wrap_cursor_write_last(struct cursor *cursor, struct slice bytes, struct reason *why);
enum status
__wrap_cursor_write_last(struct cursor *cursor, struct slice bytes, struct reason *why)
{
    return take_piece(cursor, bytes, true, why);
}

/* ---- in the place of the dictionary and the source: the term is the identifier in digits ---- */

static struct dictionary dictionary;
static unsigned trims;
static oid resolved_last, refused_id; /* this one is not resolved */
static char digits[32];

static enum status
resolve_any(oid id, char kind, struct term *term, struct reason *why)
{
    assert_true(id > resolved_last); /* in the order of their identifiers */
    resolved_last = id;
    if (id == refused_id) {
        return status_fail(why, STATUS_CORRUPT, "no such term");
    }
    const int length = snprintf(digits, sizeof digits, "%c%llu", kind, (unsigned long long)id);
    *term = term_literal(slice_of(digits, (size_t)length));
    return STATUS_OK;
}

enum status __wrap_dictionary_term(struct dictionary *from, oid id, struct term *term,
                                   struct reason *why);
enum status
__wrap_dictionary_term(struct dictionary *from, oid id, struct term *term, struct reason *why)
{
    assert_ptr_equal(from, &dictionary);
    assert_true(id >= OID_LOCAL);
    return resolve_any(id, 'd', term, why);
}

void __wrap_dictionary_trim(struct dictionary *of);
void
__wrap_dictionary_trim(struct dictionary *of)
{
    assert_ptr_equal(of, &dictionary);
    resolved_last = OID_NONE; /* the next chunk begins anew */
    trims++;
}

static enum status
resolve_stored(void *context, oid id, struct arena *arena, struct term *term, struct reason *why)
{
    assert_ptr_equal(context, &dictionary);
    assert_non_null(arena);
    assert_true(oid_is_stored(id));
    return resolve_any(id, 's', term, why);
}

static const struct quad_source source = {.context = &dictionary, .resolve = resolve_stored};

/* ---- in the place of the query: rows of the test ---- */

static struct {
    size_t columns, rows;
    oid *ids;          /* of all rows, one after the other */
    enum status ends;  /* of the run */
    size_t taken;      /* rows */
    unsigned prepared; /* queries that are not freed */
} run;

static const struct share_request *the_request;
static const struct query_options *the_options;

enum status __wrap_query_prepare(struct query **query, struct slice text, struct slice base,
                                 struct reason *why);
enum status
__wrap_query_prepare(struct query **query, struct slice text, struct slice base, struct reason *why)
{
    assert_int_equal(base.length, 0);
    assert_true(slice_equal(text, the_request->text));
    if (text.length == 0) {
        return status_fail(why, STATUS_BAD_INPUT, "there is no query");
    }
    run.prepared++;
    *query = (struct query *)&run;
    return STATUS_OK;
}

void __wrap_query_free(struct query *query);
void
__wrap_query_free(struct query *query)
{
    assert_ptr_equal(query, &run);
    run.prepared--;
}

enum status __wrap_share_run(const struct query *query, const struct quad_source *of,
                             const struct query_options *options,
                             const struct share_request *request, const struct share_sink *sink,
                             struct reason *why);
enum status
__wrap_share_run(const struct query *query, const struct quad_source *of,
                 const struct query_options *options, const struct share_request *request,
                 const struct share_sink *sink, struct reason *why)
{
    assert_ptr_equal(query, &run);
    assert_ptr_equal(of, &source);
    assert_ptr_equal(request, the_request);
    assert_true(slice_equal(options->default_graph, request->default_graph));
    assert_true(slice_equal(options->graphs, request->graphs));
    assert_true(slice_equal(options->named_graphs, request->named_graphs));
    assert_int_equal(options->now_ms, request->now_ms);
    assert_int_equal(options->timeout_ms, the_options->timeout_ms);
    assert_int_equal(options->memory, the_options->memory);
    for (run.taken = 0; run.taken < run.rows; run.taken++) {
        TRY(sink->row(sink->context, &dictionary, run.ids + run.taken * run.columns, run.columns,
                      why));
    }
    if (run.ends != STATUS_OK) {
        return status_fail(why, run.ends, "the run failed");
    }
    return sink->end(sink->context, &dictionary, why);
}

/* ---- asking ---- */

static struct reason reason;

static enum status
ask(size_t rows, size_t columns)
{
    const struct share_request request = {.text = SLICE("the query"),
                                          .default_graph = SLICE("default"),
                                          .graphs = SLICE("graphs"),
                                          .named_graphs = SLICE("named"),
                                          .now_ms = 4711};
    const struct query_options options = {.timeout_ms = 12, .memory = 34};
    the_request = &request;
    the_options = &options;
    run.rows = rows;
    run.columns = columns;
    piece_count = trims = 0;
    resolved_last = OID_NONE;
    buf_reset(&written);
    const enum status status = answer_share(&source, &request, &options, the_cursor, &reason);
    assert_int_equal(run.prepared, 0);
    return status;
}

/* The identifiers of all pieces, in their order, are those of the rows; counts[i]: how many there
 * are in a piece. */
static void
check_pieces(const size_t *counts, size_t count)
{
    static oid named[IDS_MOST];
    size_t names = 0, at = 0;
    assert_int_equal(piece_count, count);
    assert_int_equal(trims, count);
    struct codec_reader in = codec_reader_of(buf_slice(&written));
    for (size_t p = 0; p < count; p++) {
        const uint8_t *end = (const uint8_t *)written.data + pieces[p].end;
        size_t ids = 0;
        for (; in.at < end; ids++, at++) {
            const oid id = run.columns == 0 ? OID_NONE : run.ids[at];
            const uint64_t code = codec_get_varint(&in);
            if (code != INDEX_NAME_NEW) {
                assert_true(code >= INDEX_NAME_FIRST && code - INDEX_NAME_FIRST < names);
                assert_int_equal(named[code - INDEX_NAME_FIRST], id);
                continue;
            }
            assert_int_equal(codec_get_u64(&in), id);
            for (size_t k = names > 300 ? names - 300 : 0; k < names; k++) {
                assert_true(named[k] != id);
            }
            named[names++] = id;
            if (index_name_has_term(id)) {
                struct term term;
                char expected[32];
                snprintf(expected, sizeof expected, "%c%llu", id >= OID_LOCAL ? 'd' : 's',
                         (unsigned long long)id);
                assert_true(index_get_term(&in, &term));
                assert_true(slice_is(term.value, expected));
            }
        }
        assert_ptr_equal(in.at, end);
        assert_false(in.bad);
        assert_int_equal(ids, counts[p]);
        assert_int_equal(pieces[p].last, p + 1 == count);
    }
    assert_int_equal(at, run.rows * (run.columns > 0 ? run.columns : 1));
}

/* Identifiers of each kind, of which some come again and again. */
static void
make_ids(size_t count)
{
    assert_true(count <= IDS_MOST);
    for (size_t i = 0; i < count; i++) {
        const uint64_t number = 1 + (i % 3 == 0 ? i % 29 : i * 7919 % count);
        run.ids[i] = i % 11 == 6  ? OID_NONE
                     : i % 5 == 0 ? oid_inline_integer((int64_t)number)
                     : i % 2 == 0 ? oid_stored(number, OID_KIND_IRI)
                                  : OID_LOCAL + number;
    }
}

static int
set_up(void **state)
{
    (void)state;
    buf_init(&written, (size_t)1 << 30);
    memset(&run, 0, sizeof run);
    run.ids = calloc(IDS_MOST, sizeof *run.ids);
    assert_non_null(run.ids);
    refused_piece = SIZE_MAX;
    refused_id = OID_NONE;
    reason = (struct reason){""};
    make_ids(IDS_MOST);
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    buf_release(&written);
    free(run.ids);
    return 0;
}

/* ---- tests ---- */

/* Few rows at first, as only the first may be wanted, then four times as many each time. */
static void
chunks_grow(void **state)
{
    static const struct {
        size_t rows, columns, count, pieces[8];
    } cases[] = {
        {0, 3, 0, {0}},
        {1, 1, 1, {1}},
        {FIRST - 1, 1, 1, {FIRST - 1}},
        {FIRST, 1, 1, {FIRST}},
        {FIRST + 1, 1, 2, {FIRST, 1}},
        {FIRST / 2, 2, 1, {FIRST}},
        {86, 3, 2, {255, 3}},
        {5 * FIRST, 1, 2, {FIRST, 4 * FIRST}},
        {5 * FIRST + 1, 1, 3, {FIRST, 4 * FIRST, 1}},
        {3 * MOST, 1, 7, {256, 1024, 4096, 16384, MOST, MOST, 3 * MOST - 21760 - 2 * MOST}},
        {MOST, 3, 7, {255, 1023, 4095, 16383, 65535, 65535, 3 * MOST - 21756 - 2 * 65535}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(ask(cases[i].rows, cases[i].columns), STATUS_OK);
        assert_int_equal(run.taken, cases[i].rows);
        check_pieces(cases[i].pieces, cases[i].count);
    }
}

/* A row is never divided, however many columns it has. */
static void
wide_rows_are_chunks_of_their_own(void **state)
{
    static const struct {
        size_t rows, columns, count, pieces[8];
    } cases[] = {
        {1, FIRST + 1, 1, {FIRST + 1}},   {3, FIRST + 1, 2, {FIRST + 1, 2 * (FIRST + 1)}},
        {2, WIDE, 2, {WIDE, WIDE}},       {5, WIDE, 5, {WIDE, WIDE, WIDE, WIDE, WIDE}},
        {3, MOST, 3, {MOST, MOST, MOST}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(ask(cases[i].rows, cases[i].columns), STATUS_OK);
        check_pieces(cases[i].pieces, cases[i].count);
    }
}

/* Their number tells how many solutions there are. */
static void
rows_without_columns_are_one_that_is_unbound(void **state)
{
    static const size_t none[] = {FIRST, 1};
    (void)state;
    assert_int_equal(ask(FIRST + 1, 0), STATUS_OK);
    check_pieces(none, 2);
    struct codec_reader in = codec_reader_of(buf_slice(&written));
    assert_int_equal(codec_get_varint(&in), INDEX_NAME_NEW);
    assert_int_equal(codec_get_u64(&in), OID_NONE);
    for (int i = 0; i < FIRST; i++) {
        assert_int_equal(codec_get_varint(&in), INDEX_NAME_FIRST);
    }
    assert_true(codec_at_end(&in));
}

static void
what_fails_ends_the_answer(void **state)
{
    (void)state;
    const struct share_request nothing = {.text = SLICE("")};
    const struct query_options options = {0};
    the_request = &nothing;
    assert_int_equal(answer_share(&source, &nothing, &options, the_cursor, &reason),
                     STATUS_BAD_INPUT);
    assert_string_equal(reason.text, "there is no query");
    for (size_t piece = 0; piece < 3; piece++) {
        refused_piece = piece;
        assert_int_equal(ask(6 * FIRST, 1), STATUS_CANCELLED);
        assert_string_equal(reason.text, "nobody reads on");
        assert_int_equal(piece_count, piece);
        /* A chunk goes when the row after it comes; the last one in the end. */
        assert_int_equal(run.taken, piece == 0 ? FIRST : piece == 1 ? 5 * FIRST : 6 * FIRST);
    }
    refused_piece = SIZE_MAX;
    run.ends = STATUS_TIMEOUT;
    assert_int_equal(ask(FIRST + 10, 1), STATUS_TIMEOUT);
    assert_string_equal(reason.text, "the run failed");
    assert_int_equal(piece_count, 1); /* rows that wait are not sent */
    run.ends = STATUS_OK;
    refused_id = run.ids[7];
    assert_true(refused_id >= OID_LOCAL);
    assert_int_equal(ask(FIRST, 1), STATUS_CORRUPT);
    refused_id = run.ids[4];
    assert_true(oid_is_stored(refused_id));
    assert_int_equal(ask(FIRST, 1), STATUS_CORRUPT);
    assert_string_equal(reason.text, "no such term");
    assert_int_equal(piece_count, 0);
}

int
main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(chunks_grow),
        CASE(wide_rows_are_chunks_of_their_own),
        CASE(rows_without_columns_are_one_that_is_unbound),
        CASE(what_fails_ends_the_answer),
    };
    return cmocka_run_group_tests_name("answer_share", tests, NULL, NULL);
}
