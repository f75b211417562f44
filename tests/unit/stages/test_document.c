/* stages/skeleton/document.h: what one stage hands to the next. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/codec.h"
#include "stages/skeleton/document.h"

static const struct document whole = {
    .http_status = 200,
    .content_type = {"text/html; charset=utf-8", 24},
    .link_header = {"</a>; rel=next", 14},
    .type = {"text/html", 9},
    .charset = {"utf-8", 5},
    .response = {{"alpha", 5}, {"a.warc.gz", 9}, 1234567890123, 77, {"urn:uuid:1", 10}},
    .conversion = {{"beta", 4}, {"b.warc.gz", 9}, 0, 88, {"urn:uuid:2", 10}},
    .fetched_ms = 1700000000000,
    .quads = 12,
    .removed = true,
    .broken = true,
    .waiting_ms = 1700000000123,
    .nesting = 2,
    .unverified = true,
    .nofollow = true,
    .mapped = true,
    .visit = {1, 2, 3, 4, 5, 6, 7, UINT64_MAX, 1},
    .claimed_ms = 1700000000456,
    .change_frequency = {"daily", 5},
};

static void
assert_record(const struct document_record *a, const struct document_record *b)
{
    assert_true(slice_equal(a->node, b->node));
    assert_true(slice_equal(a->file, b->file));
    assert_true(slice_equal(a->id, b->id));
    assert_int_equal(a->offset, b->offset);
    assert_int_equal(a->length, b->length);
}

static void
decoding_gives_back_what_was_encoded(void **state)
{
    struct buf bytes;
    struct document read;
    (void)state;
    buf_init(&bytes, 1 << 16);
    document_encode(&bytes, &whole);
    assert_true(document_decode(buf_slice(&bytes), &read));
    assert_int_equal(read.http_status, whole.http_status);
    assert_true(slice_equal(read.content_type, whole.content_type));
    assert_true(slice_equal(read.link_header, whole.link_header));
    assert_true(slice_equal(read.type, whole.type));
    assert_true(slice_equal(read.charset, whole.charset));
    assert_record(&read.response, &whole.response);
    assert_record(&read.conversion, &whole.conversion);
    assert_int_equal(read.fetched_ms, whole.fetched_ms);
    assert_int_equal(read.quads, whole.quads);
    assert_true(read.removed);
    assert_true(read.broken);
    assert_true(read.nofollow);
    assert_true(read.mapped);
    assert_int_equal(read.waiting_ms, whole.waiting_ms);
    assert_memory_equal(&read.visit, &whole.visit, sizeof read.visit);
    assert_int_equal(read.claimed_ms, whole.claimed_ms);
    assert_true(slice_equal(read.change_frequency, whole.change_frequency));
    assert_int_equal(read.nesting, whole.nesting);
    assert_true(read.unverified);
    buf_release(&bytes);
}

/* A cut between fields gives what stands before it, any other is refused. */
static void
every_cut_is_refused_or_gives_what_is_before_it(void **state)
{
    struct buf bytes, again;
    size_t taken = 0;
    (void)state;
    buf_init(&bytes, 1 << 16);
    buf_init(&again, 1 << 16);
    document_encode(&bytes, &whole);
    for (size_t n = 1; n < bytes.length; n++) {
        struct document read;
        char *copy = test_malloc(n); /* so that valgrind sees a read past the cut */
        memcpy(copy, bytes.data, n);
        if (document_decode(slice_of(copy, n), &read)) {
            buf_reset(&again);
            document_encode(&again, &read);
            assert_int_equal(again.length, n);
            assert_memory_equal(again.data, bytes.data, n);
            taken++;
        }
        test_free(copy);
    }
    assert_in_range(taken, 15, 40); /* there are so many fields, about */
    buf_release(&bytes);
    buf_release(&again);
}

static void
fields_of_a_later_version_are_passed_over(void **state)
{
    struct buf bytes;
    struct document read;
    (void)state;
    buf_init(&bytes, 1 << 16);
    document_encode(&bytes, &whole);
    codec_put_varint(&bytes, 900);
    codec_put_slice(&bytes, SLICE("news"));
    assert_true(document_decode(buf_slice(&bytes), &read));
    assert_int_equal(read.quads, 12);
    bytes.data[0] = 99;
    assert_false(document_decode(buf_slice(&bytes), &read));
    buf_release(&bytes);
}

static void
nothing_is_an_empty_document(void **state)
{
    struct document read;
    (void)state;
    assert_true(document_decode(SLICE(""), &read));
    assert_int_equal(read.http_status, 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decoding_gives_back_what_was_encoded),
        cmocka_unit_test(every_cut_is_refused_or_gives_what_is_before_it),
        cmocka_unit_test(fields_of_a_later_version_are_passed_over),
        cmocka_unit_test(nothing_is_an_empty_document),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
