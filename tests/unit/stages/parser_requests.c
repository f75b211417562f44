/* These tests are of what fetch's parser does with a request (stages/fetch/parser/), where it is
 * called as its worker would call it: what it refuses, and what has no room in its reply. */
#include "tests/unit/stages/parser_requests.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <zlib.h>

#include <string.h>

#include "base/codec.h"
#include "datasets/execution.h"
#include "stages/fetch/parser/fetch_parser.h"
#include "tests/unit/memory_in_use.h"

#define URI SLICE("http://a.example/sitemap.xml")
#define VOID "http://rdfs.org/ns/void#"
#define TYPE "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"

enum { ROOM = 1 << 16 };

static struct {
    struct buf fields, reply;
    struct reason why;
} asked;

static int
set_up(void **state)
{
    (void)state;
    buf_init(&asked.fields, ROOM);
    buf_init(&asked.reply, ROOM);
    asked.why.text[0] = '\0';
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    buf_release(&asked.fields);
    buf_release(&asked.reply);
    return 0;
}

/* Asks with the fields that were put; room: bytes of the reply. */
static enum status
ask(enum parser_verb verb, struct slice bytes, size_t room)
{
    struct buf request;
    buf_init(&request, ROOM);
    codec_put_slice(&request, buf_slice(&asked.fields));
    buf_append_slice(&request, bytes);
    assert_false(request.overflowed);
    buf_release(&asked.reply);
    buf_init(&asked.reply, room);
    asked.why.text[0] = '\0';
    const enum status status = fetch_parser_program.handle(NULL, (uint8_t)verb, buf_slice(&request),
                                                           &asked.reply, &asked.why);
    buf_release(&request);
    return status;
}

static void
put_page(uint64_t spaces)
{
    buf_reset(&asked.fields);
    codec_put_slice(&asked.fields, SLICE(""));
    codec_put_varint(&asked.fields, 3);
    codec_put_varint(&asked.fields, spaces);
    for (uint64_t i = 0; i < spaces; i++) {
        codec_put_slice(&asked.fields, SLICE("http://a.example/"));
    }
}

#define ROWS SLICE("<http://a.example/r> <http://p> \"b\" .\n")

static void
pages_have_so_many_spaces_at_most(void **state)
{
    (void)state;
    put_page(EXECUTION_SPACES);
    assert_int_equal(ask(PARSER_PAGE, ROWS, ROOM), STATUS_OK);
    put_page(EXECUTION_SPACES + 1);
    assert_int_equal(ask(PARSER_PAGE, ROWS, ROOM), STATUS_PROTOCOL);
    assert_string_equal(asked.why.text, "the request is malformed");
    put_page(1);
    codec_put_u8(&asked.fields, 0); /* one byte too many */
    assert_int_equal(ask(PARSER_PAGE, ROWS, ROOM), STATUS_PROTOCOL);
    assert_string_equal(asked.why.text, "the request is malformed");
    assert_int_equal(asked.reply.length, 0);
}

static void
pages_without_room_are_refused(void **state)
{
    (void)state;
    put_page(1);
    assert_int_equal(ask(PARSER_PAGE, ROWS, ROOM), STATUS_OK);
    const size_t length = asked.reply.length;
    assert_int_equal(ask(PARSER_PAGE, ROWS, length), STATUS_OK);
    assert_int_equal(ask(PARSER_PAGE, ROWS, length - 1), STATUS_LIMIT);
    assert_string_equal(asked.why.text, "the page is too large");
}

static void
pages_say_whether_they_go_deeper(void **state)
{
    (void)state;
    for (unsigned deeper = 0; deeper < 2; deeper++) {
        struct harvest_page page;
        struct buf reply;
        buf_init(&reply, ROOM);
        codec_put_varint(&reply, 5);
        codec_put_varint(&reply, 4);
        codec_put_u8(&reply, (uint8_t)deeper);
        codec_put_slice(&reply, SLICE("http://a.example/last"));
        buf_append_slice(&reply, ROWS);
        harvest_page_init(&page);
        assert_true(parsed_page_decode(buf_slice(&reply), &page));
        assert_int_equal(page.triples, 5);
        assert_int_equal(page.resources, 4);
        assert_int_equal(page.deeper, deeper);
        assert_true(slice_is(page.last, "http://a.example/last"));
        assert_true(slice_equal(buf_slice(&page.text), ROWS));
        harvest_page_release(&page);
        buf_release(&reply);
    }
}

static void
counts_are_whole_or_none(void **state)
{
    (void)state;
    codec_put_slice(&asked.fields, SLICE(""));
    assert_int_equal(ask(PARSER_COUNT, SLICE("n\r\n300\r\n"), ROOM), STATUS_OK);
    assert_int_equal(asked.reply.length, 2);
    assert_int_equal(parsed_count(buf_slice(&asked.reply)), 300);
    assert_int_equal(parsed_count(slice_of(asked.reply.data, 1)), 0);
    codec_put_u8(&asked.reply, 1);
    assert_int_equal(parsed_count(buf_slice(&asked.reply)), 0);
    assert_int_equal(parsed_count(SLICE("")), 0);
}

static void
only_so_much_may_be_decoded(void **state)
{
    static const struct {
        uint64_t most;
        enum status status;
        const char *bytes;
    } cases[] = {{0, STATUS_OK, ""},
                 {3, STATUS_OK, "byt"},
                 {PARSER_ENTRIES_BYTES, STATUS_OK, "bytes"},
                 {(uint64_t)PARSER_ENTRIES_BYTES + 1, STATUS_PROTOCOL, ""}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        buf_reset(&asked.fields);
        codec_put_slice(&asked.fields, SLICE(""));
        codec_put_varint(&asked.fields, cases[i].most);
        assert_int_equal(ask(PARSER_DECODE, SLICE("bytes"), ROOM), cases[i].status);
        assert_true(slice_is(buf_slice(&asked.reply), cases[i].bytes));
    }
}

static void
put_description(bool rdf)
{
    buf_reset(&asked.fields);
    codec_put_slice(&asked.fields, SLICE(""));
    codec_put_slice(&asked.fields, URI);
    codec_put_u8(&asked.fields, rdf);
}

static void
descriptions_name_the_sitemaps_that_they_join(void **state)
{
    static const char text[] =
        "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9' "
        "xmlns:sc='http://sw.deri.org/2007/07/sitemapextension/scschema.xsd'>"
        "<sc:subSitemap>http://b.example/sitemap.xml</sc:subSitemap>"
        "<sc:subSitemap>http://c.example/sitemap.xml</sc:subSitemap>"
        "<sc:parentSitemap>http://d.example/sitemap.xml</sc:parentSitemap></urlset>";
    struct description description;
    struct arena arena;
    (void)state;
    put_description(false);
    assert_int_equal(ask(PARSER_DESCRIPTION, SLICE(text), ROOM), STATUS_OK);
    arena_init(&arena, ROOM);
    assert_true(parsed_description_decode(buf_slice(&asked.reply), URI, &arena, &description));
    assert_false(description.rdf);
    assert_int_equal(description.sub_count, 2);
    assert_true(slice_is(description.sub_sitemaps[0], "http://b.example/sitemap.xml"));
    assert_true(slice_is(description.sub_sitemaps[1], "http://c.example/sitemap.xml"));
    assert_int_equal(description.parent_count, 1);
    assert_true(slice_is(description.parent_sitemaps[0], "http://d.example/sitemap.xml"));
    arena_release(&arena);
}

/* Whether it speaks of datasets, of other sitemaps or of who publishes it, by one of them alone. */
static void
sitemaps_describe_by_any_word(void **state)
{
    static const struct {
        const char *said;
        bool describes;
    } cases[] = {
        {"", false},
        {"<sc:subSitemap>http://b.example/sitemap.xml</sc:subSitemap>", true},
        {"<sc:parentSitemap>http://b.example/sitemap.xml</sc:parentSitemap>", true},
        {"<sc:authority>http://b.example/</sc:authority>", true},
        {"<sc:dataset><sc:dataDumpLocation>http://a.example/d.nt</sc:dataDumpLocation>"
         "</sc:dataset>",
         true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct parsed_sitemap sitemap;
        struct buf text;
        buf_init(&text, ROOM);
        buf_printf(&text,
                   "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9' "
                   "xmlns:sc='http://sw.deri.org/2007/07/sitemapextension/scschema.xsd'>%s"
                   "<url><loc>http://a.example/1</loc></url></urlset>",
                   cases[i].said);
        buf_reset(&asked.fields);
        codec_put_slice(&asked.fields, SLICE(""));
        codec_put_slice(&asked.fields, URI);
        codec_put_u8(&asked.fields, true);
        codec_put_u8(&asked.fields, true);
        assert_int_equal(ask(PARSER_SITEMAP, buf_slice(&text), ROOM), STATUS_OK);
        assert_true(parsed_sitemap_decode(buf_slice(&asked.reply), &sitemap));
        assert_true(sitemap.candidate);
        assert_int_equal(sitemap.describes, cases[i].describes);
        buf_release(&text);
    }
}

static void
descriptions_without_room_are_refused(void **state)
{
    static const char quads[] =
        "<http://a.example/d> " TYPE " <" VOID "Dataset> .\n"
        "<http://a.example/d> <" VOID "dataDump> <http://a.example/d.nt> .\n";
    (void)state;
    put_description(true);
    assert_int_equal(ask(PARSER_DESCRIPTION, SLICE(quads), ROOM), STATUS_OK);
    const size_t length = asked.reply.length;
    assert_int_equal(ask(PARSER_DESCRIPTION, SLICE(quads), length), STATUS_OK);
    assert_int_equal(ask(PARSER_DESCRIPTION, SLICE(quads), length - 1), STATUS_LIMIT);
    assert_string_equal(asked.why.text, "the description is too large");
}

/* ---- codings ---- */

/* The bytes as gzip. */
static struct buf
pack(struct slice bytes)
{
    struct buf packed;
    z_stream stream = {.next_in = (void *)(uintptr_t)bytes.at, .avail_in = (uInt)bytes.length};
    assert_int_equal(deflateInit2(&stream, 1, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
    buf_init(&packed, bytes.length + 1024);
    stream.next_out = (void *)buf_reserve(&packed, bytes.length + 1024);
    stream.avail_out = (uInt)bytes.length + 1024;
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    buf_commit(&packed, stream.total_out);
    deflateEnd(&stream);
    return packed;
}

static void
put_sitemap(bool coded, bool named)
{
    buf_reset(&asked.fields);
    codec_put_slice(&asked.fields, coded ? SLICE("gzip") : SLICE(""));
    codec_put_slice(&asked.fields, URI);
    codec_put_u8(&asked.fields, named);
    codec_put_u8(&asked.fields, true);
}

#define MAP                                                                \
    "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9' "         \
    "xmlns:sc='http://sw.deri.org/2007/07/sitemapextension/scschema.xsd'>" \
    "<sc:subSitemap>http://b.example/sitemap.xml</sc:subSitemap>"          \
    "<url><loc>http://a.example/1</loc></url></urlset>"

/* What nobody has named as a sitemap is one when its beginning, decoded, looks like one. */
static void
sitemaps_are_known_by_their_beginning(void **state)
{
    static const struct {
        size_t spaces; /* before */
        const char *text;
        bool candidate;
    } cases[] = {{0, MAP, true},
                 {SITEMAP_SNIFF_BYTES / 2, MAP, true},
                 {SITEMAP_SNIFF_BYTES, MAP, false},
                 {0, "<html><body>urlset</body></html>", false},
                 {0, "", false}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buf text;
        buf_init(&text, ROOM);
        for (size_t k = 0; k < cases[i].spaces; k++) {
            buf_append_char(&text, ' ');
        }
        buf_append_string(&text, cases[i].text);
        struct buf packed = pack(buf_slice(&text));
        for (unsigned way = 0; way < 4; way++) {
            const bool coded = way % 2 == 1, named = way / 2 == 1;
            struct parsed_sitemap sitemap;
            put_sitemap(coded, named);
            assert_int_equal(
                ask(PARSER_SITEMAP, coded ? buf_slice(&packed) : buf_slice(&text), ROOM),
                STATUS_OK);
            assert_true(parsed_sitemap_decode(buf_slice(&asked.reply), &sitemap));
            assert_int_equal(sitemap.candidate, named || cases[i].candidate);
            if (cases[i].candidate) {
                assert_int_equal(sitemap.result.kind, SITEMAP_URLSET);
                assert_int_equal(sitemap.result.entries, 1);
                assert_true(sitemap.describes);
            }
        }
        buf_release(&packed);
        buf_release(&text);
    }
}

/* What begins as its coding does and is damaged is nothing; of more than is wanted there is the
 * beginning. */
static void
bytes_that_cannot_be_decoded_are_none(void **state)
{
    struct parsed_sitemap sitemap;
    struct buf packed = pack(SLICE("0123456789"));
    (void)state;
    put_sitemap(true, false);
    assert_int_equal(ask(PARSER_SITEMAP, SLICE(MAP), ROOM), STATUS_OK);
    assert_true(parsed_sitemap_decode(buf_slice(&asked.reply), &sitemap));
    assert_true(sitemap.candidate); /* the server only says that it is gzip */
    assert_int_equal(ask(PARSER_SITEMAP, SLICE("\x1f\x8b" MAP), ROOM), STATUS_OK);
    assert_true(parsed_sitemap_decode(buf_slice(&asked.reply), &sitemap));
    assert_false(sitemap.candidate);
    for (uint64_t most = 0; most <= 11; most++) {
        for (unsigned coded = 0; coded < 2; coded++) {
            buf_reset(&asked.fields);
            codec_put_slice(&asked.fields, coded ? SLICE("gzip") : SLICE(""));
            codec_put_varint(&asked.fields, most);
            assert_int_equal(
                ask(PARSER_DECODE, coded ? buf_slice(&packed) : SLICE("0123456789"), ROOM),
                STATUS_OK);
            if (most > 0) { /* of a coding no bytes at all need not be told from an error */
                assert_true(slice_equal(buf_slice(&asked.reply),
                                        slice_of("0123456789", most < 10 ? most : 10)));
            }
        }
    }
    buf_reset(&asked.fields);
    codec_put_slice(&asked.fields, SLICE("gzip"));
    codec_put_varint(&asked.fields, ROOM);
    assert_int_equal(ask(PARSER_DECODE, SLICE("\x1f\x8b no gzip"), ROOM), STATUS_OK);
    assert_int_equal(asked.reply.length, 0);
    buf_release(&packed);
}

/* However much shorter it was. */
static void
all_is_decoded_up_to_what_is_wanted(void **state)
{
    enum { MUCH = 4 << 20 };
    char *const spaces = test_malloc(MUCH);
    (void)state;
    memset(spaces, ' ', MUCH);
    struct buf packed = pack(slice_of(spaces, MUCH));
    buf_reset(&asked.fields);
    codec_put_slice(&asked.fields, SLICE("gzip"));
    codec_put_varint(&asked.fields, MUCH);
    assert_int_equal(ask(PARSER_DECODE, buf_slice(&packed), MUCH), STATUS_OK);
    assert_true(slice_equal(buf_slice(&asked.reply), slice_of(spaces, MUCH)));
    buf_release(&packed);
    test_free(spaces);
}

/* Counts and descriptions are read decoded, too. */
static void
descriptions_and_counts_are_decoded(void **state)
{
    struct description description;
    struct arena arena;
    (void)state;
    struct buf packed = pack(SLICE(MAP));
    buf_reset(&asked.fields);
    codec_put_slice(&asked.fields, SLICE("gzip"));
    codec_put_slice(&asked.fields, URI);
    codec_put_u8(&asked.fields, false);
    assert_int_equal(ask(PARSER_DESCRIPTION, buf_slice(&packed), ROOM), STATUS_OK);
    arena_init(&arena, ROOM);
    assert_true(parsed_description_decode(buf_slice(&asked.reply), URI, &arena, &description));
    assert_int_equal(description.sub_count, 1);
    arena_release(&arena);
    buf_release(&packed);
    packed = pack(SLICE("n\r\n300\r\n"));
    buf_reset(&asked.fields);
    codec_put_slice(&asked.fields, SLICE("gzip"));
    assert_int_equal(ask(PARSER_COUNT, buf_slice(&packed), ROOM), STATUS_OK);
    struct buf coded = {0};
    buf_init(&coded, ROOM);
    buf_append_slice(&coded, buf_slice(&asked.reply));
    buf_reset(&asked.fields);
    codec_put_slice(&asked.fields, SLICE(""));
    assert_int_equal(ask(PARSER_COUNT, SLICE("n\r\n300\r\n"), ROOM), STATUS_OK);
    assert_true(asked.reply.length > 0);
    assert_true(slice_equal(buf_slice(&asked.reply), buf_slice(&coded)));
    buf_release(&coded);
    buf_release(&packed);
}

static void
ask_all(void)
{
    static const char text[] =
        "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9' "
        "xmlns:sc='http://sw.deri.org/2007/07/sitemapextension/scschema.xsd'>"
        "<sc:subSitemap>http://b.example/sitemap.xml</sc:subSitemap>"
        "<url><loc>http://a.example/1</loc></url></urlset>";
    for (unsigned coded = 0; coded < 2; coded++) {
        for (unsigned named = 0; named < 2; named++) {
            buf_reset(&asked.fields);
            codec_put_slice(&asked.fields, coded ? SLICE("gzip") : SLICE(""));
            codec_put_slice(&asked.fields, URI);
            codec_put_u8(&asked.fields, (uint8_t)named);
            codec_put_u8(&asked.fields, true);
            assert_int_equal(ask(PARSER_SITEMAP, SLICE(text), ROOM), STATUS_OK);
            struct buf packed = pack(SLICE(text));
            assert_int_equal(ask(PARSER_SITEMAP, buf_slice(&packed), ROOM), STATUS_OK);
            buf_release(&packed);
        }
        put_description(coded != 0);
        (void)ask(PARSER_DESCRIPTION, SLICE(text), ROOM);
    }
    put_description(true);
    assert_int_equal(
        ask(PARSER_DESCRIPTION, SLICE("<http://a.example/d> " TYPE " <" VOID "Dataset> .\n"), ROOM),
        STATUS_BAD_INPUT);
    put_page(1);
    assert_int_equal(ask(PARSER_PAGE, ROWS, ROOM), STATUS_OK);
    codec_put_u8(&asked.fields, 0);
    assert_int_equal(ask(PARSER_PAGE, ROWS, ROOM), STATUS_PROTOCOL);
    buf_reset(&asked.fields);
    codec_put_slice(&asked.fields, SLICE("gzip"));
    (void)ask(PARSER_COUNT, SLICE("n\r\n300\r\n"), ROOM);
    codec_put_varint(&asked.fields, ROOM);
    (void)ask(PARSER_DECODE, SLICE("bytes"), ROOM);
    sitemaps_are_known_by_their_beginning(NULL);
    bytes_that_cannot_be_decoded_are_none(NULL);
    descriptions_and_counts_are_decoded(NULL);
}

/* A worker answers many requests, and keeps no memory of any. */
static void
requests_give_their_memory_back(void **state)
{
    (void)state;
    assert_true(leaves_no_memory(ask_all));
}

int
parser_requests_run(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(pages_have_so_many_spaces_at_most),
        CASE(pages_without_room_are_refused),
        CASE(pages_say_whether_they_go_deeper),
        CASE(counts_are_whole_or_none),
        CASE(only_so_much_may_be_decoded),
        CASE(descriptions_name_the_sitemaps_that_they_join),
        CASE(sitemaps_describe_by_any_word),
        CASE(descriptions_without_room_are_refused),
        CASE(sitemaps_are_known_by_their_beginning),
        CASE(bytes_that_cannot_be_decoded_are_none),
        CASE(all_is_decoded_up_to_what_is_wanted),
        CASE(descriptions_and_counts_are_decoded),
        CASE(requests_give_their_memory_back),
    };
    return cmocka_run_group_tests_name("parser_requests", tests, NULL, NULL);
}
