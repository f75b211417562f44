/* Transforms under bad input, the registry, and the small parts: dates, encodings, links. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "tests/unit/brief.h"
#include "tests/unit/scratch.h"
#include "transforms/common/dates.h"
#include "transforms/common/encoding.h"
#include "transforms/common/links.h"
#include "transforms/transform.h"
#include "transforms/xml/xml_peek.h"

static struct registry *registry;
static struct transformer *transformer;
static struct transform_result result;

static char folder[SCRATCH_SIZE];

static void
write_file(const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

#define SHEET(inner)                                                                   \
    "<xsl:stylesheet version='1.0' xmlns:xsl='http://www.w3.org/1999/XSL/Transform' "  \
    "xmlns:q='https://quadrille.example/transform#'><xsl:output method='text'/>" inner \
    "</xsl:stylesheet>"

static const struct transform_limits limits = {.memory = 32 << 20, .output = 1 << 20};

static int
set_up(void **state)
{
    (void)state;
    struct reason why;
    char path[256];
    assert_true(scratch_folder(folder, "test_transform"));
    write_file("loop.xsl", SHEET("<xsl:template match='*' name='a'><xsl:call-template name='a'/>"
                                 "</xsl:template>"));
    write_file("file.xsl", SHEET("<xsl:template match='/'><xsl:value-of "
                                 "select=\"document('/etc/passwd')\"/></xsl:template>"));
    write_file("work.xsl",
               SHEET("<xsl:template match='/'><xsl:value-of select='count(//*[count(//*[count(//*)"
                     " = 1]) = 1])'/></xsl:template>"));
    write_file("menu.xsl",
               SHEET("<xsl:template match='/'>&lt;<xsl:value-of select='q:uri()'/>&gt; "
                     "&lt;http:p&gt; &lt;<xsl:value-of select='q:resolve(/*/@a)'/>&gt; .\n"
                     "</xsl:template>"));
    write_file("registry", "# own lines\n"
                           "transform loop 1 xslt loop.xsl\n"
                           "transform file 1 xslt file.xsl\n"
                           "transform work 1 xslt work.xsl\n"
                           "transform menu 3 xslt menu.xsl\n"
                           "match text/x-loop -> loop\n"
                           "match text/x-file -> file\n"
                           "match text/x-work -> work\n"
                           "match * root=menu namespace=http://food/ -> menu\n"
                           "match text/x-both -> menu html\n"
                           "transform again 1 builtin html\n"
                           "match application/xhtml+xml -> menu again\n"
                           "match text/html profile=http://food/profile -> menu\n");
    registry = registry_new();
    assert_int_equal(registry_read_default(registry, &why), STATUS_OK);
    snprintf(path, sizeof path, "%s/registry", folder);
    assert_int_equal(registry_read(registry, path, &why), STATUS_OK);
    assert_int_equal(transformer_new(&transformer, registry, &limits, &why), STATUS_OK);
    transform_result_init(&result, limits.output);
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    static const char *const names[] = {"loop.xsl", "file.xsl", "work.xsl", "menu.xsl", "registry"};
    char path[256];
    transform_result_release(&result);
    transformer_free(transformer);
    registry_free(registry);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    return rmdir(folder);
}

static enum status
run_slice(const char *type, struct slice bytes)
{
    struct reason why;
    const struct transform_request request = {
        .uri = SLICE("http://e.example/d"), .type = slice_string(type), .bytes = bytes};
    return transform_run(transformer, &request, &result, &why);
}

static enum status
run(const char *type, const char *text)
{
    return run_slice(type, slice_string(text));
}

static const char *
graph(void)
{
    return result.graph.data ? result.graph.data : "";
}

#define G " <http://e.example/d> .\n"

static void
test_states(void **state)
{
    (void)state;
    assert_int_equal(run("text/turtle", "<a> <b> <c> ."), STATUS_OK);
    assert_int_equal(result.state, TRANSFORM_WHOLE);
    assert_string_equal(graph(),
                        "<http://e.example/a> <http://e.example/b> <http://e.example/c>" G);
    assert_string_equal(result.names.data, "turtle/1");
    assert_int_equal(run("text/turtle", "<a> <b> <c> .\n<a> <b> ."), STATUS_OK);
    assert_int_equal(result.state, TRANSFORM_PART);
    assert_int_equal(result.quads, 1);
    assert_non_null(strstr(result.problems.data, "turtle: line 2"));
    assert_int_equal(run("text/turtle", "%"), STATUS_OK);
    assert_int_equal(result.state, TRANSFORM_BROKEN);
    assert_string_equal(graph(), "");
    assert_int_equal(run("image/x-unknown", "x"), STATUS_OK);
    assert_int_equal(result.state, TRANSFORM_NONE);
}

static void
test_registry_by_root_and_chain(void **state)
{
    (void)state;
    assert_int_equal(run("application/xml", "<menu xmlns='http://food/' a='soup'/>"), STATUS_OK);
    assert_string_equal(result.names.data, "rdfa/1 rdfxml-islands/1 grddl/1 menu/3");
    assert_string_equal(graph(), "<http://e.example/d> <http:p> <http://e.example/soup>" G);
    assert_int_equal(run("application/xml", "<menu a='soup'/>"), STATUS_OK);
    assert_string_equal(result.names.data, "rdfa/1 rdfxml-islands/1 grddl/1");
    assert_string_equal(graph(), "");
    assert_int_equal(run("text/x-both", "<x a='y'/>"), STATUS_OK);
    assert_string_equal(result.names.data, "menu/3 html/2");
    assert_int_equal(result.quads, 2);
}

static void
test_registry_by_profile(void **state)
{
    (void)state;
    static const struct {
        const char *page;
        bool holds;
    } cases[] = {
        {"<html><head profile=' http://x/&#10;http://food/profile'><title>t</title>", true},
        {"<!DOCTYPE html><!-- <p> --><HEAD PROFILE=http://food/profile>", true},
        {"<head profile='http://food/profile/2'>", false},
        {"<body><head profile='http://food/profile'>", false},
        {"<title><head profile='http://food/profile'></title>", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(run("text/html", cases[i].page), STATUS_OK);
        assert_int_equal(strstr(result.names.data, " menu/3") != NULL, cases[i].holds);
    }
}

/* XHTML that is not well-formed is read as HTML, whose encoding is told otherwise than XML's; and
 * the tree still points into that text after a stylesheet has asked for the XML. */
static void
test_texts_of_two_kinds(void **state)
{
    (void)state;
    assert_int_equal(run("application/xhtml+xml",
                         "<?xml version='1.0' encoding='iso-8859-1'?>"
                         "<html><meta charset='koi8-r'><title>\xC1\xC1</title></html>"),
                     STATUS_OK);
    assert_string_equal(result.names.data,
                        "html/2 jsonld/1 rdfa/1 microdata/1 microformats/1 grddl/1 menu/3 again/1");
    assert_non_null(strstr(graph(), "\"\xD0\xB0\xD0\xB0\""));
    assert_null(strstr(graph(), "\xC3\x81"));
}

static void
test_faults_of_the_registry(void **state)
{
    (void)state;
    static const struct {
        const char *text, *why;
    } cases[] = {
        {"nonsense", ":1: a line begins with"},
        {"\ntransform a 1 magic x", ":2: kind is none of"},
        {"transform a 1", ":1: a transform needs"},
        {"transform a 1 xslt a.xsl repair=magic", ":1: no repair is known but repair=tidy"},
        {"transform a 1 builtin html repair=tidy", ":1: repair= is for pages"},
        {"transform a 1 xslt repair=tidy", ":1: repair= is for pages"},
        {"match text/x -> nobody", ":1: no transform of this name stands above: nobody"},
        {"match * -> nobody", ":1: a match of any type needs another condition"},
        {"match text/x colour=red -> x", ":1: neither root="},
        {"off nobody", ":1: no transform of this name"},
    };
    char path[256];
    snprintf(path, sizeof path, "%s/registry", folder);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct reason why = {""};
        struct registry *bad = registry_new();
        write_file("registry", cases[i].text);
        assert_int_equal(registry_read(bad, path, &why), STATUS_MISUSE);
        if (!strstr(why.text, cases[i].why)) {
            fail_msg("%s: %s", cases[i].text, why.text);
        }
        registry_free(bad);
    }
}

/* Stylesheets that would never end, or read files. */
static void
test_stylesheets_are_bounded(void **state)
{
    (void)state;
    struct buf many;
    assert_int_equal(run("text/x-loop", "<x/>"), STATUS_LIMIT);
    buf_init(&many, 1 << 20);
    buf_append_string(&many, "<x>");
    for (int i = 0; i < 2000; i++) {
        buf_append_string(&many, "<y/>");
    }
    buf_append_string(&many, "</x>");
    assert_int_equal(run("text/x-work", many.data), STATUS_LIMIT);
    buf_release(&many);
    assert_int_equal(run("text/x-file", "<x/>"), STATUS_LIMIT);
    assert_null(strstr(graph(), "root"));
}

static void
test_entities_do_not_amplify(void **state)
{
    (void)state;
    struct buf bomb;
    buf_init(&bomb, 1 << 20);
    buf_append_string(&bomb, "<?xml version='1.0'?><!DOCTYPE rss [<!ENTITY e0 'lollollollol'>");
    for (int i = 1; i < 12; i++) {
        buf_printf(&bomb, "<!ENTITY e%d '&e%d;&e%d;&e%d;&e%d;&e%d;&e%d;&e%d;&e%d;&e%d;&e%d;'>", i,
                   i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1);
    }
    buf_append_string(&bomb, "]><rss><channel><title>&e11;</title></channel></rss>");
    const enum status status = run("application/rss+xml", bomb.data);
    assert_true(status == STATUS_OK || status == STATUS_LIMIT);
    assert_int_not_equal(result.state, TRANSFORM_WHOLE);
    assert_true(result.graph.length < 4096);
    static const char outside[] = "<!DOCTYPE rss [<!ENTITY x SYSTEM 'file:///etc/passwd'>]>"
                                  "<rss><channel><title>a&x;b</title></channel></rss>";
    assert_int_equal(run("application/rss+xml", outside), STATUS_OK);
    assert_null(strstr(graph(), "root"));
    buf_release(&bomb);
}

static void
test_deep_and_long_input(void **state)
{
    (void)state;
    const size_t depth = brief(50000, 10000);
    static const struct {
        const char *type, *piece;
    } cases[] = {{"text/html", "<div><b>"},
                 {"text/html", "<table><tr><td>"},
                 {"text/html", "<a><p>"},
                 {"text/html", "<svg><g>"},
                 {"application/rss+xml", "<rss>"},
                 {"application/xhtml+xml", "<div>"},
                 {"application/rdf+xml", "<a>"},
                 {"text/turtle", "[ <a> "},
                 {"text/turtle", "( "},
                 {"text/html", "&lt;&"},
                 {"text/html", "<!--"},
                 {"text/html", "<x a='"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const size_t length = strlen(cases[i].piece);
        char *bytes = memory_alloc(length * depth);
        for (size_t n = 0; n < depth; n++) {
            memcpy(bytes + n * length, cases[i].piece, length);
        }
        const enum status status = run_slice(cases[i].type, slice_of(bytes, length * depth));
        assert_true(status == STATUS_OK || status == STATUS_LIMIT);
        free(bytes);
    }
}

static void
test_too_much_output_is_a_limit(void **state)
{
    (void)state;
    struct buf text;
    buf_init(&text, 8 << 20);
    for (int i = 0; i < 30000; i++) {
        buf_printf(&text, "<http:s> <http:p> \"%d\" .\n", i);
    }
    assert_int_equal(run("application/n-triples", text.data), STATUS_LIMIT);
    buf_release(&text);
    assert_int_equal(run("application/n-triples", "<http:s> <http:p> \"1\" .\n"), STATUS_OK);
    assert_int_equal(result.quads, 1);
}

static void
test_encodings(void **state)
{
    (void)state;
    static const struct {
        const char *encoding, *bytes, *text;
    } cases[] = {
        {"utf-8",
         "\xEF\xBB\xBF"
         "a\xC3\xA4",
         "a\xC3\xA4"},
        {"utf-8",
         "a\xFF"
         "b\xC3",
         "a\xEF\xBF\xBD"
         "b\xEF\xBF\xBD"},
        {"windows-1252", "\x80\xE4", "\xE2\x82\xAC\xC3\xA4"},
        {"shift_jis", "\x82\xA0", "\xE3\x81\x82"},
        {"gbk", "\xC4\xE3", "\xE4\xBD\xA0"},
        {"koi8-r", "\xC1", "\xD0\xB0"},
        {"x-user-defined", "\x80", "\xEF\x9E\x80"},
        {"replacement", "anything", "\xEF\xBF\xBD"},
    };
    struct encodings *encodings = encodings_open();
    struct buf memory;
    struct slice text;
    buf_init(&memory, 1 << 16);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(encoding_convert(encodings, cases[i].encoding,
                                          slice_string(cases[i].bytes), &memory, &text, NULL),
                         STATUS_OK);
        assert_true(slice_is(text, cases[i].text));
    }
    assert_string_equal(encoding_of_label(SLICE(" Latin1\n")), "windows-1252");
    assert_null(encoding_of_label(SLICE("nonsense")));
    buf_release(&memory);
    encodings_close(encodings);
}

static void
test_dates(void **state)
{
    (void)state;
    static const struct {
        const char *text, *date;
    } cases[] = {
        {"Sat, 07 Sep 2002 00:00:01 GMT", "2002-09-07T00:00:01Z"},
        {"7 Sep 02 00:00 EST", "2002-09-07T00:00:00-05:00"},
        {"Saturday, 07-Sep-02 09:42:31 GMT", "2002-09-07T09:42:31Z"},
        {"Sat Sep  7 00:00:01 2002", "2002-09-07T00:00:01Z"},
        {"Mon, 01 Jan 1999 10:00:00 +0130", "1999-01-01T10:00:00+01:30"},
        {"2003-12-31T10:14:55.123-08:00", "2003-12-31T10:14:55-08:00"},
        {"2003-12-31 10:14", "2003-12-31T10:14:00Z"},
        {"2003-12-31", "2003-12-31"},
        {"2003", NULL},
        {"20031231", "2003-12-31"},
        {"September 7, 2002", "2002-09-07"},
        {"yesterday", NULL},
        {"32 Sep 2002", NULL},
        {"", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char date[DATE_TEXT_SIZE];
        bool has_time;
        const bool good = date_parse(slice_string(cases[i].text), date, &has_time);
        if (good != (cases[i].date != NULL) || (good && strcmp(date, cases[i].date) != 0)) {
            fail_msg("%s: got %s", cases[i].text, good ? date : "none");
        }
    }
}

static void
test_links(void **state)
{
    (void)state;
    static const struct {
        const char *href, *iri;
    } cases[] = {
        {"b", "http://h.example/a/b"},
        {"  //x.example\n", "http://x.example/"},
        {"?q={a|b}^`", "http://h.example/a/?q=%7Ba%7Cb%7D%5E%60"},
        {"mailto:a@b.example", "mailto:a@b.example"},
        {"javascript:x", NULL},
        {"data:,x", NULL},
        {"http://[", NULL},
        {"#f", "http://h.example/a/#f"},
    };
    struct links links;
    links_init(&links);
    assert_true(links_begin(&links, SLICE("http://h.example/a/")));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct slice iri;
        const bool good = links_resolve(&links, slice_string(cases[i].href), &iri);
        assert_int_equal(good, cases[i].iri != NULL);
        if (good && !slice_is(iri, cases[i].iri)) {
            fail_msg("%s: got %.*s", cases[i].href, SLICE_PRINT(iri));
        }
    }
    links_rebase(&links, SLICE("/c/"));
    struct slice iri;
    assert_true(links_resolve(&links, SLICE("d"), &iri));
    assert_true(slice_is(iri, "http://h.example/c/d"));
    links_release(&links);
}

static void
test_xml_peek(void **state)
{
    (void)state;
    struct buf memory;
    struct xml_peek peek;
    buf_init(&memory, 4096);
    assert_true(xml_peek(SLICE("<?xml version='1.0' encoding='x'?><!DOCTYPE a PUBLIC 'p' 's' "
                               "[<!ENTITY n 'http://n/'> ]><b:a c='d' xmlns:b='&n;e'>"),
                         &memory, &peek));
    assert_true(slice_is(peek.encoding, "x"));
    assert_true(slice_is(peek.public_id, "p"));
    assert_true(slice_is(peek.root, "a"));
    assert_true(slice_is(peek.namespace, "http://n/e"));
    assert_false(xml_peek(SLICE("text <a>"), &memory, &peek));
    assert_false(xml_peek(SLICE("<a b='"), &memory, &peek));
    assert_false(xml_peek(SLICE(""), &memory, &peek));
    buf_release(&memory);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_states),
        cmocka_unit_test(test_registry_by_root_and_chain),
        cmocka_unit_test(test_registry_by_profile),
        cmocka_unit_test(test_stylesheets_are_bounded),
        cmocka_unit_test(test_entities_do_not_amplify),
        cmocka_unit_test(test_deep_and_long_input),
        cmocka_unit_test(test_too_much_output_is_a_limit),
        cmocka_unit_test(test_texts_of_two_kinds),
        cmocka_unit_test(test_faults_of_the_registry),
        cmocka_unit_test(test_encodings),
        cmocka_unit_test(test_dates),
        cmocka_unit_test(test_links),
        cmocka_unit_test(test_xml_peek),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
