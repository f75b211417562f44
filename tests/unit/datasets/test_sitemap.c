#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>
#include <zlib.h>

#include "base/buf.h"
#include "datasets/sitemap.h"

struct list {
    char text[4096];
    unsigned most;
};

static bool
note(void *context, const struct sitemap_entry *entry)
{
    struct list *list = context;
    const size_t used = strlen(list->text);
    snprintf(list->text + used, sizeof list->text - used, "%.*s|", SLICE_PRINT(entry->location));
    return list->most == 0 || --list->most > 0;
}

static struct sitemap_result
check(const char *bytes, enum sitemap_kind kind, const char *expected)
{
    struct list list = {0};
    struct sitemap_result result;
    struct reason why;
    const enum status status = sitemap_parse(slice_string(bytes), note, &list, &result, &why);
    assert_int_equal(status, kind == SITEMAP_NONE ? STATUS_BAD_INPUT : STATUS_OK);
    assert_int_equal(result.kind, kind);
    assert_string_equal(list.text, expected);
    return result;
}

static void
every_kind_is_found_by_its_bytes(void **state)
{
    (void)state;
    check("<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'><url><loc> http://e/a "
          "</loc></url><url><loc>http://e/b</loc></url></urlset>",
          SITEMAP_URLSET, "http://e/a|http://e/b|");
    check("<x:sitemapindex xmlns:x='y'><x:sitemap><x:loc>http://e/1</x:loc></x:sitemap>"
          "</x:sitemapindex>",
          SITEMAP_INDEX, "http://e/1|");
    check("<rss><channel><link>http://e/no</link><item><link>http://e/yes</link></item></channel>"
          "</rss>",
          SITEMAP_RSS, "http://e/yes|");
    check("<feed xmlns='http://www.w3.org/2005/Atom'><link href='http://e/no'/><entry><link "
          "rel='self' href='http://e/no'/><link href='http://e/yes'/></entry></feed>",
          SITEMAP_ATOM, "http://e/yes|");
    check("\xef\xbb\xbfhttp://e/a\r\n\r\nhttps://e/b\n", SITEMAP_TEXT, "http://e/a|https://e/b|");
    check("<html><url><loc>http://e/a</loc></url></html>", SITEMAP_NONE, "");
    check("just words\nhttp://e/a\n", SITEMAP_NONE, "");
    check("", SITEMAP_NONE, "");
}

static void
what_others_would_refuse_is_read(void **state)
{
    (void)state;
    check("\n <urlset><url><loc>http://e/?a=1&b=2&amp;c</loc></url></urlset>", SITEMAP_URLSET,
          "http://e/?a=1&b=2&c|");
    check("<urlset><url><loc><![CDATA[http://e/?a&b]]></loc></url></urlset>", SITEMAP_URLSET,
          "http://e/?a&b|");
    check("<urlset xmlns='s' xmlns:image='i'><url><image:image><image:loc>http://e/no</image:loc>"
          "</image:image><loc>http://e/yes</loc><image:loc>http://e/no</image:loc></url></urlset>",
          SITEMAP_URLSET, "http://e/yes|");
}

static void
a_file_cut_off_gives_what_is_whole(void **state)
{
    (void)state;
    assert_true(check("<urlset><url><loc>http://e/a</loc></url><url><loc>http://e/b</lo",
                      SITEMAP_URLSET, "http://e/a|http://e/b|")
                    .incomplete);
    assert_true(check("<urlset><url><loc>http://e/a</loc></url><url><loc>http://e/hal",
                      SITEMAP_URLSET, "http://e/a|")
                    .incomplete);
}

static void
entities_of_the_document_are_not_read(void **state)
{
    (void)state;
    check("<!DOCTYPE urlset [<!ENTITY x SYSTEM 'file:///etc/passwd'><!ENTITY y 'http://e/y'>]>"
          "<urlset><url><loc>http://e/a&x;&y;</loc></url></urlset>",
          SITEMAP_URLSET, "http://e/a|");
}

static void
entries_are_limited(void **state)
{
    struct buf text;
    struct list list = {.most = 0};
    struct sitemap_result result;
    (void)state;
    buf_init(&text, 8 << 20);
    for (int i = 0; i < SITEMAP_ENTRIES_MAXIMUM + 10; i++) {
        buf_printf(&text, "http://e/%d\n", i);
    }
    assert_int_equal(sitemap_parse(buf_slice(&text), note, &list, &result, NULL), STATUS_OK);
    assert_true(result.limited);
    assert_string_equal(sitemap_truncation(&result), "more than 50000 entries");
    assert_int_equal(result.entries, SITEMAP_ENTRIES_MAXIMUM);
    list = (struct list){.most = 2};
    assert_int_equal(sitemap_parse(buf_slice(&text), note, &list, &result, NULL), STATUS_OK);
    assert_string_equal(list.text, "http://e/0|http://e/1|");
    buf_release(&text);
}

static bool
note_extensions(void *context, const struct sitemap_entry *entry)
{
    struct list *list = context;
    const size_t used = strlen(list->text);
    snprintf(list->text + used, sizeof list->text - used, "%.*s:%.*s%.*s|",
             SLICE_PRINT(entry->location), SLICE_PRINT(entry->alternates),
             SLICE_PRINT(entry->facts));
    return true;
}

static void
extensions_are_read(void **state)
{
    struct list list = {0};
    struct sitemap_result result;
    (void)state;
    /* Bound and unbound prefixes, other versions, in any order; what no table names is left out. */
    assert_int_equal(
        sitemap_parse(
            SLICE("<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9' "
                  "xmlns:i='http://www.google.com/schemas/sitemap-image/1.1' "
                  "xmlns:x='http://www.w3.org/1999/xhtml'>"
                  "<url><x:link rel='alternate' hreflang='de' href=' http://e/de '/>"
                  "<x:link rel='alternate' media='handheld' href='http://e/m'/>"
                  "<i:image><i:loc>http://e/1.png</i:loc><i:title>A\nB</i:title></i:image>"
                  "<i:image><i:loc>http://e/2.png</i:loc></i:image><loc>http://e/a</loc></url>"
                  "<url><loc>http://e/b</loc><news:news><news:publication><news:name>P</news:name>"
                  "</news:publication><news:title>T</news:title></news:news>"
                  "<video:video><video:content_loc>http://e/v</video:content_loc>"
                  "<video:rating>4</video:rating></video:video></url></urlset>"),
            note_extensions, &list, &result, NULL),
        STATUS_OK);
    assert_string_equal(list.text,
                        "http://e/a:de http://e/de\nimage http://e/1.png\n"
                        "image title A B\nimage http://e/2.png\n|"
                        "http://e/b:news publisher P\nnews title T\nvideo http://e/v\n|");
    struct slice lines = SLICE("de http://e/de\nx-default http://e/\n"), language, location;
    assert_true(sitemap_next_alternate(&lines, &language, &location));
    assert_true(slice_is(language, "de") && slice_is(location, "http://e/de"));
    assert_true(sitemap_next_alternate(&lines, &language, &location));
    assert_true(slice_is(location, "http://e/"));
    assert_false(sitemap_next_alternate(&lines, &language, &location));
}

static void
places_follow_the_protocol(void **state)
{
    (void)state;
    assert_true(sitemap_is_below(SLICE("http://e/a/s.xml"), SLICE("http://e/a/b")));
    assert_false(sitemap_is_below(SLICE("http://e/a/s.xml"), SLICE("http://e/ab")));
    assert_false(sitemap_is_below(SLICE("http://e/s.xml"), SLICE("https://e/a")));
    assert_false(sitemap_is_below(SLICE("http://e/s.xml"), SLICE("http://e:81/a")));
    assert_true(sitemap_is_below(SLICE("http://e/?s=/a/b"), SLICE("http://e/x")));
}

/* 50 MB of what was packed into few bytes. */
static void
bytes_are_limited_after_unpacking(void **state)
{
    struct buf text, packed;
    struct list list = {.most = 1};
    struct sitemap_result result;
    (void)state;
    buf_init(&text, SITEMAP_BYTES_MAXIMUM + 1000);
    buf_init(&packed, 2 * SITEMAP_BYTES_MAXIMUM);
    buf_append_string(&text, "http://e/first\n");
    while (text.length <= SITEMAP_BYTES_MAXIMUM) {
        buf_append_string(&text, "                                                             \n");
    }
    const uLong bound = compressBound(text.length) + 32;
    buf_reserve(&packed, bound);
    z_stream stream = {.next_in = (Bytef *)text.data,
                       .avail_in = (uInt)text.length,
                       .next_out = (Bytef *)packed.data,
                       .avail_out = (uInt)bound};
    assert_int_equal(deflateInit2(&stream, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    packed.length = stream.total_out;
    deflateEnd(&stream);
    assert_true(packed.length < (1 << 20));
    assert_int_equal(sitemap_parse(buf_slice(&packed), note, &list, &result, NULL), STATUS_OK);
    assert_true(result.too_large && !result.limited);
    assert_string_equal(sitemap_truncation(&result), "more than 50 MB");
    buf_release(&text);
    buf_release(&packed);
}

static void
dates_of_both_forms_are_read(void **state)
{
    (void)state;
    assert_int_equal(sitemap_date(SLICE("1970-01-02")), 86400000);
    assert_int_equal(sitemap_date(SLICE("1970-01-01T01:00:01.5+01:00")), 1500);
    assert_int_equal(sitemap_date(SLICE("Thu, 01 Jan 1970 00:00:01 GMT")), 1000);
    assert_int_equal(sitemap_date(SLICE("2024-02-29")), 1709164800000);
    assert_int_equal(sitemap_date(SLICE("yesterday")), 0);
    assert_int_equal(sitemap_date(SLICE("2024-13-01")), 0);
    assert_int_equal(sitemap_date(SLICE("")), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_is_found_by_its_bytes),
        cmocka_unit_test(what_others_would_refuse_is_read),
        cmocka_unit_test(a_file_cut_off_gives_what_is_whole),
        cmocka_unit_test(entities_of_the_document_are_not_read),
        cmocka_unit_test(entries_are_limited),
        cmocka_unit_test(extensions_are_read),
        cmocka_unit_test(places_follow_the_protocol),
        cmocka_unit_test(bytes_are_limited_after_unpacking),
        cmocka_unit_test(dates_of_both_forms_are_read),
    };
    return cmocka_run_group_tests_name("sitemap", tests, NULL, NULL);
}
