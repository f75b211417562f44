/* stages/skeleton/document.h: what one stage hands to the next. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/codec.h"
#include "stages/skeleton/document_meta.h"

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

/* Numbers have eight bytes; what has others is no number, and stands for what is not known. */
static void
numbers_of_other_lengths_are_not_known(void **state)
{
    const struct document fetched = {.fetched_ms = 0x0102030405060708};
    struct buf bytes;
    struct document read;
    (void)state;
    buf_init(&bytes, 1 << 10);
    document_encode(&bytes, &fetched);
    const size_t length = bytes.length - 1; /* of a number of seven bytes */
    assert_int_equal(bytes.data[bytes.length - 9], 8);
    bytes.data[bytes.length - 9] = 7;
    assert_true(document_decode(slice_of(bytes.data, length), &read));
    assert_int_equal(read.fetched_ms, 0);
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

/* What was said stands at the end, update by update; a cut in it is refused or gives whole ones. */
static void
updates_are_said_in_order(void **state)
{
    struct buf first, second;
    struct document read;
    struct slice fields;
    (void)state;
    buf_init(&first, 1 << 16);
    buf_init(&second, 1 << 16);
    document_encode(&first, &whole);
    const size_t bare = first.length;
    document_say(&first, SLICE(""), SLICE(""));
    assert_int_equal(first.length, bare);
    document_say(&first, SLICE(""), SLICE("one"));
    assert_true(document_decode(buf_slice(&first), &read));
    assert_int_equal(read.quads, 12);
    document_encode(&second, &read); /* leaves it out */
    assert_int_equal(second.length, bare);
    document_say(&second, read.said, SLICE("two"));
    for (size_t n = bare + 1; n <= second.length; n++) {
        size_t count = 0;
        char *copy = test_malloc(n);
        memcpy(copy, second.data, n);
        if (document_decode(slice_of(copy, n), &read)) {
            while (document_said(&read.said, &fields)) {
                assert_true(slice_is(fields, count++ == 0 ? "one" : "two"));
            }
            assert_int_equal(count, n < second.length ? 1 : 2);
            assert_int_equal(read.said.length, 0);
        } else {
            assert_int_not_equal(n, second.length);
        }
        test_free(copy);
    }
    codec_put_varint(&first, 900); /* of a later version: no update, and the end of them */
    codec_put_slice(&first, SLICE("news"));
    assert_true(document_decode(buf_slice(&first), &read));
    assert_true(document_said(&read.said, &fields));
    assert_true(slice_is(fields, "one"));
    assert_false(document_said(&read.said, &fields));
    buf_release(&first);
    buf_release(&second);
}

static void
nothing_is_an_empty_document(void **state)
{
    struct document read;
    (void)state;
    assert_true(document_decode(SLICE(""), &read));
    assert_int_equal(read.http_status, 0);
}

/* ---- from the metadata: documents that are given to a stage again ---- */

static struct slice
record_of(const char *state, bool full, struct buf *record)
{
    struct meta_update update;
    meta_update_init(&update);
    buf_init(record, 1 << 14);
    meta_set_text(&update, META_STATE, slice_string(state));
    meta_set_text(&update, META_DETECTED_TYPE, SLICE("text/html"));
    meta_set_text(&update, META_WARC_FILE, SLICE("a.warc.gz"));
    if (full) {
        meta_set_text(&update, META_WARC_NODE, SLICE("alpha"));
        meta_set_number(&update, META_WARC_OFFSET, 5);
        meta_set_number(&update, META_WARC_LENGTH, 6);
        meta_set_text(&update, META_WARC_RECORD_ID, SLICE("urn:uuid:1"));
        meta_set_text(&update, META_CONVERSION_NODE, SLICE("beta"));
        meta_set_text(&update, META_CONVERSION_FILE, SLICE("b.warc.gz"));
        meta_set_number(&update, META_CONVERSION_OFFSET, 7);
        meta_set_number(&update, META_CONVERSION_LENGTH, 8);
        meta_set_text(&update, META_CONVERSION_RECORD_ID, SLICE("urn:uuid:2"));
        meta_set_number(&update, META_HTTP_STATUS, 203);
        meta_set_number(&update, META_FETCHED, 1700000000000);
        meta_set_text(&update, META_CONTENT_TYPE, SLICE("text/html; x=y ; CHARSET=\"koi8-r\""));
        meta_set_text(&update, META_RESPONSE_HEADERS,
                      SLICE("HTTP/1.1 203 x\r\nLink: </a>; rel=next\r\nAge: 1\r\nlink:\r\n"
                            "LINK: </b>"));
    }
    (void)meta_merge((struct slice){0}, meta_update_fields(&update), record);
    meta_update_release(&update);
    return buf_slice(record);
}

static void
documents_are_made_of_their_metadata(void **state)
{
    struct document document;
    struct buf record, links;
    (void)state;
    buf_init(&links, 1 << 14);
    assert_true(document_of_meta(record_of("indexed", true, &record), &links, &document));
    assert_int_equal(document.http_status, 203);
    assert_int_equal(document.fetched_ms, 1700000000000);
    assert_true(slice_is(document.type, "text/html"));
    assert_true(slice_is(document.charset, "koi8-r"));
    assert_true(slice_is(document.link_header, "</a>; rel=next, </b>"));
    assert_true(slice_is(document.response.node, "alpha"));
    assert_true(slice_is(document.response.file, "a.warc.gz"));
    assert_int_equal(document.response.offset, 5);
    assert_int_equal(document.response.length, 6);
    assert_true(slice_is(document.response.id, "urn:uuid:1"));
    assert_true(slice_is(document.conversion.node, "beta"));
    assert_true(slice_is(document.conversion.file, "b.warc.gz"));
    assert_int_equal(document.conversion.offset, 7);
    assert_int_equal(document.conversion.length, 8);
    assert_true(slice_is(document.conversion.id, "urn:uuid:2"));
    const struct document_record response = document_response(buf_slice(&record));
    assert_int_equal(response.offset, 5);
    buf_release(&record);
    assert_true(document_of_meta(record_of("fetched", false, &record), &links, &document));
    assert_int_equal(document.http_status, 0); /* what nobody has noted */
    assert_int_equal(document.fetched_ms, 0);
    assert_int_equal(document.link_header.length + document.charset.length, 0);
    buf_release(&record);
    buf_release(&links);
}

static void
documents_without_content_are_none(void **state)
{
    static const struct {
        const char *state;
        bool has;
    } cases[] = {{"fetched", true}, {"indexed", true},     {"broken", true}, {"unknown", true},
                 {"failed", false}, {"redirected", false}, {"gone", false},  {"", false}};
    struct document document;
    struct buf record, links;
    (void)state;
    buf_init(&links, 1 << 14);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct slice bytes = record_of(cases[i].state, true, &record);
        assert_int_equal(document_of_meta(bytes, &links, &document), cases[i].has);
        buf_release(&record);
    }
    static const enum meta_field needed[] = {META_DETECTED_TYPE, META_WARC_FILE};
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
        struct meta_update update;
        struct buf less;
        meta_update_init(&update);
        buf_init(&less, 1 << 14);
        meta_clear(&update, needed[i]);
        (void)meta_merge(record_of("indexed", true, &record), meta_update_fields(&update), &less);
        assert_false(document_of_meta(buf_slice(&less), &links, &document));
        meta_update_release(&update);
        buf_release(&less);
        buf_release(&record);
    }
    buf_release(&links);
}

static void
charsets_are_read_of_content_types(void **state)
{
    static const struct {
        const char *content_type, *charset;
    } cases[] = {{"text/html", ""},
                 {"text/html;charset=utf-8", "utf-8"},
                 {"text/html; charset = utf-8", ""},
                 {"text/html; charset=", ""},
                 {"text/html; charset=\"a\"", "a"},
                 {"text/html; charset=\"", "\""},
                 {"text/html; charset=\"\"", ""},
                 {"text/html; charset=a", "a"},
                 {"text/html; CharSet= a ; x", "a"},
                 {"text/html; charset=a\"", "a\""},
                 {"text/html; charse1=a", ""},
                 {"text/html; charset=\"a", "\"a"},
                 {"charset=one; charset=two", "one"},
                 {"", ""}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_true(
            slice_is(document_charset(slice_string(cases[i].content_type)), cases[i].charset));
    }
}

/* As many links are read as there is room for, each whole. */
static void
links_are_joined_in_bounds(void **state)
{
    struct buf links;
    (void)state;
    buf_init(&links, 12);
    document_join_links(SLICE("Link: <a>\r\nLink: <long>\r\nLink: <b>\r\nLink: <c>\n"), &links);
    assert_true(slice_is(buf_slice(&links), "<a>, <long>"));
    buf_release(&links);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decoding_gives_back_what_was_encoded),
        cmocka_unit_test(numbers_of_other_lengths_are_not_known),
        cmocka_unit_test(every_cut_is_refused_or_gives_what_is_before_it),
        cmocka_unit_test(fields_of_a_later_version_are_passed_over),
        cmocka_unit_test(updates_are_said_in_order),
        cmocka_unit_test(nothing_is_an_empty_document),
        cmocka_unit_test(documents_are_made_of_their_metadata),
        cmocka_unit_test(documents_without_content_are_none),
        cmocka_unit_test(charsets_are_read_of_content_types),
        cmocka_unit_test(links_are_joined_in_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
