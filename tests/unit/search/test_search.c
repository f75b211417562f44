/* Filters, marks, groups, syntaxes of one document, facets and identity, with an index made up
 * here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "search/find.h"
#include "search/marks.h"
#include "tests/unit/search/made_index.h"

/* ---- filters ---- */

static void
test_filters_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *text, *words, *fault; /* NULL: none */
        bool beside;
        size_t count;
    } cases[] = {
        {"red apple", "red apple", NULL, false, 0},
        {"red class:foaf:Person apple", "red apple", NULL, false, 1},
        {"\"class:a b\" x", "\"class:a b\" x", NULL, false, 0},
        {"-domain:a.example lang:de -empire", "lang:de -empire", NULL, false, 1},
        {"lang:de -lang:en", "", NULL, true, 2},
        {"date:2026-11..2026-12-01 date:..2020", "", NULL, false, 2},
        {"http://a.example/class:b", "http://a.example/class:b", NULL, false, 0},
        {"domain:", NULL, "domain:", false, 0},
        {"date:2026-13", NULL, "date:2026-13", false, 0},
        {"date:..", NULL, "date:..", false, 0},
        {"date:yesterday", NULL, "date:yesterday", false, 0},
        {"size:3", NULL, "size:3", true, 0},
        {"apple", NULL, "apple", true, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct find_filters filters;
        struct arena arena;
        struct reason why = {""};
        arena_init(&arena, 0);
        find_filters_init(&filters);
        const enum status status =
            find_filters_read(&filters, slice_string(cases[i].text), cases[i].beside, &arena, &why);
        if (cases[i].fault != NULL) {
            assert_int_equal(status, STATUS_BAD_INPUT);
            assert_non_null(strstr(why.text, cases[i].fault));
        } else {
            assert_int_equal(status, STATUS_OK);
            assert_int_equal(filters.count, cases[i].count);
            assert_string_equal(filters.words.data, cases[i].words);
        }
        find_filters_release(&filters);
        arena_release(&arena);
    }
}

static void
test_too_many_filters(void **state)
{
    (void)state;
    struct find_filters filters;
    struct arena arena;
    struct reason why = {""};
    struct buf text;
    arena_init(&arena, 0);
    buf_init(&text, 4096);
    find_filters_init(&filters);
    for (size_t i = 0; i <= FILTERS_MOST; i++) {
        (void)buf_append_string(&text, " domain:a.example");
    }
    assert_int_equal(find_filters_read(&filters, buf_slice(&text), false, &arena, &why),
                     STATUS_BAD_INPUT);
    find_filters_release(&filters);
    buf_release(&text);
    arena_release(&arena);
}

static void
test_filters_decide(void **state)
{
    (void)state;
    static const struct {
        const char *filters;
        enum find_filter_kind kind;
        const char *values[2];
        bool passes;
    } cases[] = {
        {"domain:example.org", FILTER_DOMAIN, {"www.example.org"}, true},
        {"domain:example.org", FILTER_DOMAIN, {"EXAMPLE.org"}, true},
        {"domain:\"example.org\"", FILTER_DOMAIN, {"example.org"}, true},
        {"domain:\"example.org", FILTER_DOMAIN, {"example.org"}, false},
        {"domain:example.org", FILTER_DOMAIN, {"badexample.org"}, false},
        {"domain:a.org domain:b.org", FILTER_DOMAIN, {"b.org"}, true},
        {"-domain:a.org", FILTER_DOMAIN, {"b.org"}, true},
        {"-domain:a.org", FILTER_DOMAIN, {"x.a.org"}, false},
        {"class:foaf:Person",
         FILTER_CLASS,
         {"http://x.org/y", "http://xmlns.com/foaf/0.1/Person"},
         true},
        {"class:person", FILTER_CLASS, {"http://xmlns.com/foaf/0.1/Person"}, true},
        {"class:person", FILTER_CLASS, {"http://xmlns.com/foaf/0.1/Persons"}, false},
        {"class:<http://x.org/y>", FILTER_CLASS, {"http://x.org/y"}, true},
        {"class:person", FILTER_CLASS, {NULL}, false},
        {"-class:person", FILTER_CLASS, {NULL}, true},
        {"class:person", FILTER_DOMAIN, {"b.org"}, true},
        {"lang:de", FILTER_LANGUAGE, {"de-at"}, true},
        {"lang:de", FILTER_LANGUAGE, {"den"}, false},
        {"lang:none", FILTER_LANGUAGE, {NULL}, false},
        {"date:2026-11", FILTER_DATE, {"2026-11-23T01:02:03Z"}, true},
        {"date:2026-11", FILTER_DATE, {"2026-12-01T00:00:00Z"}, false},
        {"date:2026-11-23..", FILTER_DATE, {"2026-11-23T00:00:00Z"}, true},
        {"date:2026-11-23..", FILTER_DATE, {"2026-11-22T23:59:59Z"}, false},
        {"date:..2026-11-23", FILTER_DATE, {"2026-11-23T23:59:59Z"}, true},
        {"date:2026-01..2026-03", FILTER_DATE, {"2026-03-31T10:00:00Z"}, true},
        {"date:2026", FILTER_DATE, {NULL}, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct find_filters filters;
        struct arena arena;
        struct reason why = {""};
        struct slice values[2];
        size_t count = 0;
        for (; count < 2 && cases[i].values[count] != NULL; count++) {
            values[count] = slice_string(cases[i].values[count]);
        }
        arena_init(&arena, 0);
        find_filters_init(&filters);
        assert_int_equal(
            find_filters_read(&filters, slice_string(cases[i].filters), true, &arena, &why),
            STATUS_OK);
        if (find_filters_pass(&filters, cases[i].kind, values, count) != cases[i].passes) {
            fail_msg("%s of %s", cases[i].filters, count > 0 ? cases[i].values[0] : "nothing");
        }
        find_filters_release(&filters);
        arena_release(&arena);
    }
}

static void
test_hosts(void **state)
{
    (void)state;
    assert_true(slice_is(find_host(SLICE("http://u:p@a.example:80/x?y")), "a.example"));
    assert_true(slice_is(find_host(SLICE("https://[::1]:8/")), "[::1]"));
    assert_true(slice_is(find_host(SLICE("http://a.example")), "a.example"));
    assert_int_equal(find_host(SLICE("urn:x:y")).length, 0);
}

/* ---- marks ---- */

static void
test_marks(void **state)
{
    (void)state;
    static const struct {
        const char *words, *text, *language, *marked; /* with [] around what is marked */
    } cases[] = {
        {"apple", "An Apple a day", "", "An [Apple] a day"},
        {"apples", "An apple a day", "en", "An [apple] a day"},
        {"apples", "An apple a day", "", "An apple a day"},
        {"\"apples\"", "An apple a day", "en", "An apple a day"},
        {"appl*", "An apple a day", "", "An [apple] a day"},
        {"\"a da*\"", "an apple a day", "", "an apple [a] [day]"},
        {"haus", "Die H\xC3\xA4user", "de", "Die [H\xC3\xA4user]"},
        {"cafe", "Un caf\xC3\xA9.", "", "Un [caf\xC3\xA9]."},
        {"red -apple lang:en OR or", "red apple or lang", "", "[red] apple [or] lang"},
        {"\xE6\x9D\xB1\xE4\xBA\xAC", "\xE6\x9D\xB1\xE4\xBA\xAC!", "",
         "[\xE6\x9D\xB1\xE4\xBA\xAC]!"},
        {"", "nothing", "", "nothing"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct find_marks *marks = find_marks_new(slice_string(cases[i].words));
        struct find_snippet snippet;
        struct buf out;
        size_t at = 0;
        find_marks_snippet(marks, slice_string(cases[i].text), slice_string(cases[i].language),
                           &snippet);
        buf_init(&out, 4096);
        for (size_t k = 0; k < snippet.count; k++) {
            const struct find_mark *mark = &snippet.marks[k];
            (void)buf_printf(&out, "%.*s[%.*s]", (int)(mark->at - at), snippet.text.at + at,
                             (int)mark->length, snippet.text.at + mark->at);
            at = mark->at + mark->length;
        }
        (void)buf_append(&out, snippet.text.at + at, snippet.text.length - at);
        assert_string_equal(out.data, cases[i].marked);
        buf_release(&out);
        find_marks_free(marks);
    }
}

static void
test_snippets_of_long_texts(void **state)
{
    (void)state;
    struct buf text;
    struct find_snippet snippet;
    buf_init(&text, 1 << 16);
    for (size_t i = 0; i < 400; i++) {
        (void)buf_append_string(&text, "\xC3\xA4\xC3\xB6 ");
    }
    (void)buf_append_string(&text, "needle ");
    for (size_t i = 0; i < 400; i++) {
        (void)buf_append_string(&text, "\xC3\xA4\xC3\xB6");
    }
    struct find_marks *marks = find_marks_new(SLICE("needle"));
    find_marks_snippet(marks, buf_slice(&text), SLICE(""), &snippet);
    assert_true(snippet.cut_before && snippet.cut_after);
    assert_true(snippet.text.length <= FIND_SNIPPET_BYTES);
    assert_int_equal(snippet.count, 1);
    assert_memory_equal(snippet.text.at + snippet.marks[0].at, "needle", 6);
    assert_int_equal((unsigned char)snippet.text.at[0] & 0xC0, 0xC0); /* a whole character */
    const struct slice rest = slice_of(snippet.text.at + snippet.text.length, 1);
    assert_int_equal((unsigned char)rest.at[0] & 0xC0, 0xC0);
    find_marks_free(marks);
    buf_release(&text);
}

/* ---- groups and facets ---- */

static void
test_syntaxes_of_one_document(void **state)
{
    (void)state;
    made.hits = "3\t\"Red\"\t<http://a.org/id/x>\t" LABEL "\t<http://a.org/data/x.ttl>\n"
                "3\t\"Red\"\t<http://a.org/id/x>\t" LABEL "\t<http://a.org/data/x.rdf>\n"
                "3\t\"Red\"\t<http://a.org/id/x>\t" LABEL "\t<http://a.org/x?format=nt>\n"
                "3\t\"Red\"\t<http://a.org/id/x>\t" LABEL "\t<http://b.org/data/x.ttl>\n"
                "3\t\"Red\"\t<http://a.org/id/y>\t" LABEL "\t<http://a.org/id/x.nt>\n"
                "3\t\"Red\"\t<http://a.org/id/x>\t" LABEL "\t<http://a.org/?v=x>\n";
    struct find_results results;
    assert_int_equal(find_made((struct find_request){.text = SLICE("red")}, &results), STATUS_OK);
    assert_int_equal(results.count, 4);
    assert_true(slice_is(results.entries[0].document, "http://a.org/?v=x"));
    assert_true(slice_is(results.entries[1].document, "http://a.org/data/x.rdf"));
    assert_true(slice_is(results.entries[1].alternates,
                         "http://a.org/data/x.ttl\nhttp://a.org/x?format=nt\n"));
    find_release(&results);
    /* Whatever many documents say the same of a resource, it is said once. */
    assert_int_equal(
        find_made((struct find_request){.text = SLICE("red"), .group = FIND_BY_RESOURCE}, &results),
        STATUS_OK);
    assert_int_equal(results.count, 2);
    assert_int_equal(results.entries[0].statements + results.entries[1].statements, 6);
    assert_true(results.entries[0].score == results.entries[1].score);
    find_release(&results);
}

static void
test_labels_come_first(void **state)
{
    (void)state;
    made.hits = "4\t\"Red thing\"\t<http://a.org/x>\t<http://a.org/p>\t<http://c.org/1>\n"
                "3\t\"Red\"\t<http://a.org/y>\t" LABEL "\t<http://c.org/2>\n";
    struct find_results results;
    assert_int_equal(find_made((struct find_request){.text = SLICE("red")}, &results), STATUS_OK);
    assert_true(slice_is(results.entries[0].document, "http://c.org/2"));
    find_release(&results);
    static const struct find_weights plain = {1, 0, 1};
    assert_int_equal(
        find_made((struct find_request){.text = SLICE("red"), .weights = &plain}, &results),
        STATUS_OK);
    assert_true(slice_is(results.entries[0].document, "http://c.org/1"));
    find_release(&results);
}

/* When there are several labels, that of the first property counts, in whatever order they come;
 * but a label that was found stays the title. */
static void
test_titles(void **state)
{
    (void)state;
    struct find_results results;
    struct reason why = {""};
    made.hits = "4\t\"Red thing\"\t<http://a.org/x>\t<http://a.org/p>\t<http://c.org/1>\n"
                "1\t\"Red\"\t<http://a.org/y>\t" LABEL "\t<http://c.org/2>\n";
    made.said[0].predicate = "http://xmlns.com/foaf/0.1/name";
    made.said[0].value = "Name";
    made.said[1].predicate = "http://www.w3.org/2004/02/skos/core#prefLabel";
    made.said[1].value = "Preferred";
    made.said[2].predicate = "http://purl.org/dc/terms/title";
    made.said[2].value = "Title";
    made.said[3].predicate = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";
    made.said[3].value = "http://v.org/Fruit";
    made.said_count = 4;
    for (size_t number = 0; number < 2; number++) {
        for (size_t i = 0; i < made.said_count; i++) {
            made.said[i].resource = number;
        }
        assert_int_equal(find_made((struct find_request){.text = SLICE("red")}, &results),
                         STATUS_OK);
        assert_int_equal(find_describe(&made_access, &results, 0, 10, &why), STATUS_OK);
        assert_true(slice_is(results.entries[0].title, number == 0 ? "Preferred" : ""));
        assert_true(slice_is(results.entries[1].title, "Red"));
        assert_true(slice_is(results.entries[number].type, "http://v.org/Fruit"));
        assert_int_equal(results.entries[1 - number].type.length, 0);
        find_release(&results);
    }
    made.said_count = 0;
}

static const struct find_facet *
facet_of(const struct find_results *results, enum find_filter_kind kind)
{
    for (size_t i = 0; i < results->facet_count; i++) {
        if (results->facets[i].kind == kind) {
            return &results->facets[i];
        }
    }
    return NULL;
}

static void
test_facets_and_filters(void **state)
{
    (void)state;
    made.hits = "3\t\"Red\"@en\t<http://a.org/x>\t" LABEL "\t<http://a.org/1>\n"
                "2\t\"Red too\"@en\t<http://a.org/x>\t<http://a.org/p>\t<http://a.org/1>\n"
                "2\t\"Rot\"@de\t<http://a.org/y>\t" LABEL "\t<http://b.org/2>\n"
                "1\t\"Red\"\t_:b0\t" LABEL "\t<http://b.org/3>\n";
    made.classes =
        "{\"s\":{\"value\":\"http://a.org/x\"},\"c\":{\"value\":\"http://v.org/Apple\"}},"
        "{\"s\":{\"value\":\"http://a.org/x\"},\"c\":{\"value\":\"http://v.org/Fruit\"}},"
        "{\"s\":{\"value\":\"http://a.org/y\"},\"c\":{\"value\":\"http://v.org/Fruit\"}}";
    made.times =
        "{\"g\":{\"value\":\"http://a.org/1\"},\"time\":{\"value\":\"2026-11-22T00:00:00Z\"}},"
        "{\"g\":{\"value\":\"http://b.org/2\"},\"time\":{\"value\":\"2026-11-23T00:00:00Z\"}}";
    struct find_results results;
    assert_int_equal(
        find_made((struct find_request){.text = SLICE("red"), .facets = true}, &results),
        STATUS_OK);
    assert_int_equal(results.count, 3);
    assert_int_equal(results.facet_count, FILTER_KINDS);
    const struct find_facet *facet = facet_of(&results, FILTER_CLASS);
    assert_int_equal(facet->count, 2); /* a document counts once for a class */
    assert_true(slice_is(facet->values[0].value, "http://v.org/Fruit"));
    assert_int_equal(facet->values[0].count, 2);
    assert_int_equal(facet->values[1].count, 1);
    facet = facet_of(&results, FILTER_DOMAIN);
    assert_true(slice_is(facet->values[0].value, "b.org"));
    assert_int_equal(facet->values[0].count, 2);
    facet = facet_of(&results, FILTER_DATE); /* days, since the month is the same */
    assert_true(slice_is(facet->values[0].value, "2026-11-22"));
    facet = facet_of(&results, FILTER_LANGUAGE);
    assert_int_equal(facet->count, 3);
    assert_true(slice_is(facet->values[2].value, "none"));
    assert_int_equal(facet->values[2].count, 1);
    assert_int_equal(facet_of(&results, FILTER_PREDICATE)->values[0].count, 3);
    find_release(&results);

    static const struct {
        const char *text, *filters;
        size_t count;
    } cases[] = {{"red class:fruit", "", 2},       {"red", "class:apple", 1},
                 {"red -class:apple", "", 2},      {"red date:2026-11-23", "", 1},
                 {"red", "-lang:en", 2},           {"red domain:b.org", "class:fruit", 1},
                 {"red", "lang:de\ndate:2026", 1}, {"red predicate:rdfs:label", "", 3},
                 {"red", "lang:none", 1},          {"red", "-lang:none", 2},
                 {"red", "lang:none\nlang:en", 2}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct find_request request = {.text = slice_string(cases[i].text),
                                             .filters = slice_string(cases[i].filters)};
        assert_int_equal(find_made(request, &results), STATUS_OK);
        if (results.count != cases[i].count) {
            fail_msg("%s: %zu", cases[i].text, results.count);
        }
        assert_string_equal(made.words_asked, "red");
        find_release(&results);
    }
}

static void
test_filters_without_words(void **state)
{
    (void)state;
    struct find_results results;
    made.pattern_lines[0] = "<http://a.org/x> <http://a.org/p> \"1\" <http://a.org/1> .\n";
    assert_int_equal(
        find_made((struct find_request){.text = SLICE("predicate:<http://a.org/p>")}, &results),
        STATUS_OK);
    assert_int_equal(results.count, 1);
    find_release(&results);
    assert_int_equal(find_made((struct find_request){.text = SLICE("domain:a.org")}, &results),
                     STATUS_BAD_INPUT);
    find_release(&results);
    assert_int_equal(find_made((struct find_request){.text = SLICE("")}, &results), STATUS_OK);
    assert_int_equal(results.count, 0);
    find_release(&results);
}

static void
test_totals(void **state)
{
    (void)state;
    made.hits = "3\t\"Red\"\t<http://a.org/x>\t" LABEL "\t<http://a.org/1>\n"
                "2\t\"Red\"\t<http://a.org/y>\t" LABEL "\t<http://a.org/2>\n";
    struct find_results results;
    assert_int_equal(find_made((struct find_request){.text = SLICE("red"), .rows = 2}, &results),
                     STATUS_OK);
    assert_int_equal(results.count, 2);
    assert_false(results.at_least);
    find_release(&results);
    assert_int_equal(find_made((struct find_request){.text = SLICE("red"), .rows = 1}, &results),
                     STATUS_OK);
    assert_int_equal(results.count, 1);
    assert_true(results.at_least);
    find_release(&results);
}

/* Document 3 would be first if all statements were ranked together; but who read two statements has
 * been shown documents 1 and 2 by then, and must find what is new on the next page. */
static void
test_pages_do_not_repeat_entries(void **state)
{
    static const char *const expected[] = {"http://a.org/1", "http://a.org/2", "http://a.org/3",
                                           "http://a.org/4"};
    (void)state;
    made.hits = "9\t\"Red\"\t<http://x.org/a>\t<http://a.org/p>\t<http://a.org/1>\n"
                "8\t\"Red\"\t<http://x.org/b>\t<http://a.org/p>\t<http://a.org/2>\n"
                "7\t\"Red\"\t<http://x.org/c>\t<http://a.org/p>\t<http://a.org/3>\n"
                "7\t\"Redder\"\t<http://x.org/c>\t<http://a.org/p>\t<http://a.org/3>\n"
                "6\t\"Red\"\t<http://x.org/b>\t<http://a.org/q>\t<http://a.org/2>\n"
                "5\t\"Red\"\t<http://x.org/d>\t<http://a.org/p>\t<http://a.org/4>\n";
    for (size_t rows = 2; rows <= 8; rows *= 2) {
        struct find_results results;
        const struct find_request request = {.text = SLICE("red"), .rows = rows, .band = 2};
        assert_int_equal(find_made(request, &results), STATUS_OK);
        assert_int_equal(results.count, rows == 2 ? 2 : rows == 4 ? 3 : 4);
        for (size_t i = 0; i < results.count; i++) {
            assert_true(slice_is(results.entries[i].document, expected[i]));
        }
        assert_int_equal(results.entries[1].statements, 1); /* as the first page said */
        find_release(&results);
    }
    struct find_results results;
    assert_int_equal(find_made((struct find_request){.text = SLICE("red")}, &results), STATUS_OK);
    assert_true(slice_is(results.entries[0].document, "http://a.org/2"));
    assert_true(slice_is(results.entries[1].document, "http://a.org/3"));
    find_release(&results);
}

/* ---- identity ---- */

static void
test_same(void **state)
{
    (void)state;
    struct find_results results;
    struct find_request request = {.text = SLICE("http://a.org/ann"), .is_uri = true};
    made.pattern_lines[0] = "<http://a.org/ann> <http://a.org/p> \"1\" <http://a.org/1> .\n";
    made.pattern_lines[1] = NULL;
    made.pattern_lines[2] = "<http://b.org/ann> <http://a.org/p> \"2\" <http://b.org/2> .\n";
    made.pattern_lines[3] = NULL;
    made.cluster = "{\"resource\":\"<http://a.org/ann>\",\"members\":[\"<http://a.org/ann>\","
                   "\"<http://b.org/ann>\",\"_:b1\"],\"reasons\":[{\"rule\":\"inverseFunctional\","
                   "\"resource\":\"<http://b.org/ann>\",\"property\":\"<http://a.org/mbox>\","
                   "\"value\":\"\\\"x\\\"\",\"document\":\"<http://b.org/2>\"}]}";
    assert_int_equal(find_made(request, &results), STATUS_OK);
    assert_int_equal(results.count, 1);
    find_release(&results);
    request.same = true;
    assert_int_equal(find_made(request, &results), STATUS_OK);
    assert_int_equal(results.count, 2);
    assert_int_equal(results.same_count, 1);
    assert_true(slice_is(results.same[0].resource, "http://b.org/ann"));
    assert_true(slice_is(results.same[0].rule, "inverseFunctional"));
    assert_true(slice_is(results.same[0].property, "http://a.org/mbox"));
    assert_true(slice_is(results.same[0].document, "http://b.org/2"));
    for (size_t i = 0; i < 2; i++) {
        const struct find_entry *entry = &results.entries[i];
        const bool other = slice_is(entry->document, "http://b.org/2");
        assert_true(slice_is(entry->same, other ? "http://b.org/ann" : ""));
    }
    find_release(&results);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_filters_are_read),
        cmocka_unit_test(test_too_many_filters),
        cmocka_unit_test(test_filters_decide),
        cmocka_unit_test(test_hosts),
        cmocka_unit_test(test_marks),
        cmocka_unit_test(test_snippets_of_long_texts),
        cmocka_unit_test(test_syntaxes_of_one_document),
        cmocka_unit_test(test_labels_come_first),
        cmocka_unit_test(test_titles),
        cmocka_unit_test(test_facets_and_filters),
        cmocka_unit_test(test_filters_without_words),
        cmocka_unit_test(test_totals),
        cmocka_unit_test(test_pages_do_not_repeat_entries),
        cmocka_unit_test(test_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
