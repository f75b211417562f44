/* Requests to a partition as bytes (index/protocol/): what is put comes out again, and what is
 * malformed is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "index/protocol/service_protocol.h"
#include "index/protocol/share_request.h"
#include "index/query/plan/share_parts.h"

static struct buf bytes;

static int
set_up(void **state)
{
    (void)state;
    buf_init(&bytes, 1 << 16);
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    buf_release(&bytes);
    return 0;
}

/* ---- terms ---- */

static bool
same_term(const struct term *a, const struct term *b)
{
    return a->kind == b->kind && slice_equal(a->value, b->value) &&
           slice_equal(a->datatype, b->datatype) && slice_equal(a->language, b->language);
}

static void
terms_and_patterns_come_out_again(void **state)
{
    const struct term terms[] = {
        {.kind = TERM_NONE},
        term_iri(SLICE("http://a.example/")),
        {.kind = TERM_BLANK, .value = SLICE("b")},
        {.kind = TERM_LITERAL, .value = SLICE("5"), .datatype = SLICE("x:integer")},
        {.kind = TERM_LITERAL, .value = SLICE("cinq"), .language = SLICE("fr")},
        {.kind = TERM_LITERAL}};
    enum { TERMS = sizeof terms / sizeof *terms };
    struct term term;
    (void)state;
    for (size_t i = 0; i < TERMS; i++) {
        buf_reset(&bytes);
        index_put_term(&bytes, &terms[i]);
        struct codec_reader in = codec_reader_of(buf_slice(&bytes));
        assert_true(index_get_term(&in, &term) && codec_at_end(&in));
        assert_true(same_term(&term, &terms[i]));
        for (size_t length = 0; length < bytes.length; length++) {
            in = codec_reader_of(slice_of(bytes.data, length));
            assert_false(index_get_term(&in, &term));
        }
        const struct quad pattern = {.subject = terms[i],
                                     .predicate = terms[(i + 1) % TERMS],
                                     .object = terms[(i + 2) % TERMS],
                                     .graph = terms[(i + 3) % TERMS]};
        struct quad got;
        buf_reset(&bytes);
        index_put_pattern(&bytes, &pattern);
        in = codec_reader_of(buf_slice(&bytes));
        assert_true(index_get_pattern(&in, &got) && codec_at_end(&in));
        assert_true(same_term(&got.subject, &pattern.subject) &&
                    same_term(&got.predicate, &pattern.predicate) &&
                    same_term(&got.object, &pattern.object) &&
                    same_term(&got.graph, &pattern.graph));
        for (size_t length = 0; length < bytes.length; length++) {
            in = codec_reader_of(slice_of(bytes.data, length));
            assert_false(index_get_pattern(&in, &got));
        }
    }
    for (int kind = TERM_LITERAL + 1; kind < 256; kind++) {
        buf_reset(&bytes);
        codec_put_u8(&bytes, (uint8_t)kind);
        (void)buf_append(&bytes, "\1a\1b\1c", 6);
        struct codec_reader in = codec_reader_of(buf_slice(&bytes));
        assert_false(index_get_term(&in, &term));
    }
}

/* ---- parts of queries ---- */

static const struct share_request share = {.text = SLICE_INIT("SELECT"),
                                           .default_graph = SLICE_INIT("d"),
                                           .graphs = SLICE_INIT("g\nh\n"),
                                           .named_graphs = SLICE_INIT("n\n"),
                                           .form = SHARE_VALUES,
                                           .node = 3,
                                           .most = UINT64_MAX,
                                           .now_ms = UINT64_C(1) << 41,
                                           .columns = 6,
                                           .partition_wise = true,
                                           .key = 7,
                                           .places = KEY_PLACES - 1};

/* Whether the request can be read; it must not be with a byte less. */
static bool
is_read(const struct share_request *request, struct share_request *got)
{
    struct slice keys;
    uint64_t timeout_ms;
    buf_reset(&bytes);
    share_request_put(&bytes, request, SLICE("some keys"), 4321);
    for (size_t length = 0; length < bytes.length; length++) {
        struct codec_reader in = codec_reader_of(slice_of(bytes.data, length));
        assert_false(share_request_get(&in, got, &keys, &timeout_ms));
    }
    struct codec_reader in = codec_reader_of(buf_slice(&bytes));
    const bool good = share_request_get(&in, got, &keys, &timeout_ms);
    assert_true(codec_at_end(&in));
    assert_true(slice_is(keys, "some keys"));
    assert_int_equal(timeout_ms, 4321);
    return good;
}

static void
parts_of_queries_come_out_again(void **state)
{
    struct share_request request = share, got;
    (void)state;
    assert_true(is_read(&request, &got));
    assert_true(slice_equal(got.text, share.text));
    assert_true(slice_equal(got.default_graph, share.default_graph));
    assert_true(slice_equal(got.graphs, share.graphs));
    assert_true(slice_equal(got.named_graphs, share.named_graphs));
    assert_int_equal(got.form, SHARE_VALUES);
    assert_int_equal(got.node, 3);
    assert_true(got.most == UINT64_MAX);
    assert_true(got.now_ms == UINT64_C(1) << 41);
    assert_int_equal(got.columns, 6);
    assert_true(got.partition_wise);
    assert_int_equal(got.key, 7);
    assert_int_equal(got.places, KEY_PLACES - 1);
    request.key = 0;
    assert_true(is_read(&request, &got) && got.partition_wise);
    assert_int_equal(got.key, 0);
    request.partition_wise = false;
    request.key = 7;
    assert_true(is_read(&request, &got) && !got.partition_wise);
    assert_int_equal(got.key, 0);
}

static void
parts_of_queries_have_bounds(void **state)
{
    struct share_request got;
    (void)state;
    for (int over = 0; over < 2; over++) {
        struct share_request request = share;
        request.key = SLOTS_MAXIMUM - 1 + (unsigned)over;
        assert_int_equal(is_read(&request, &got), over == 0);
        request = share;
        request.places = (enum key_places)(KEY_PLACES - 1 + over);
        assert_int_equal(is_read(&request, &got), over == 0);
        request = share;
        request.form = (enum share_form)(SHARE_PARTS + over);
        assert_int_equal(is_read(&request, &got), over == 0);
        request = share;
        request.node = NUMBER_NONE - 1 + (unsigned)over;
        assert_int_equal(is_read(&request, &got), over == 0);
    }
}

int
main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(terms_and_patterns_come_out_again),
        CASE(parts_of_queries_come_out_again),
        CASE(parts_of_queries_have_bounds),
    };
    return cmocka_run_group_tests_name("protocol", tests, NULL, NULL);
}
