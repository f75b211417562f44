/* Lookups by value and URI, corrections, weights, facets, and what is said of documents, with an
 * index made up here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <math.h>

#include "base/memory.h"
#include "search/facets.h"
#include "search/filters.h"
#include "search/find.h"
#include "search/group.h"
#include "search/select.h"
#include "tests/unit/search/made_index.h"

static bool
near(double a, double b)
{
    return fabs(a - b) < 1e-9;
}

static bool
finds(const struct find_results *results, const char *subject)
{
    size_t count = 0;
    for (size_t i = 0; i < results->row_count; i++) {
        count += slice_is(results->rows[i].quad.subject.value, subject);
    }
    return count == 1;
}

/* ---- by value and by URI ---- */

static void
test_values(void **state)
{
    static const struct find_request request = {
        .text = SLICE_INIT("Ann \"A\""), .property = SLICE_INIT(P), .group = FIND_BY_RESOURCE};
    struct find_results results;
    (void)state;
    made.pattern_lines[0] = "<s:plain> <" P "> \"Ann \\\"A\\\"\" <g:1> .\n"
                            "<s:other> <http://a.org/q> \"Ann \\\"A\\\"\" <g:1> .\n";
    made.hits = "3\t\"Ann \\\"A\\\"\"@en\t<s:tagged>\t<" P ">\t<g:1>\n"
                "3\t\"Ann \\\"A\\\"\"@en\t<s:property>\t<http://a.org/q>\t<g:1>\n"
                "3\t\"Ann \\\"A\\\" Lee\"@en\t<s:longer>\t<" P ">\t<g:1>\n"
                "3\t\"Ann \\\"A\\\"\"\t<s:plain>\t<" P ">\t<g:1>\n"
                "3\t\"Ann \\\"A\\\"\"@de\t<s:german>\t<" P ">\t<g:2>\n";
    assert_int_equal(find_made(request, &results), STATUS_OK);
    assert_int_equal(made.patterns_asked, 1);
    assert_string_equal(made.words_asked, "\"Ann  A \"");
    assert_int_equal(results.count, 3);
    assert_true(finds(&results, "s:plain") && finds(&results, "s:tagged") &&
                finds(&results, "s:german"));
    assert_false(results.at_least);
    for (size_t i = 0; i < results.row_count; i++) {
        assert_true(near(results.rows[i].score, log2(1 + FIND_ROWS / 3.0)));
    }
    find_release(&results);
    /* A value without words is one all the same; but an index that is away is told. */
    static const struct {
        enum status words, status;
    } ends[] = {{STATUS_BAD_INPUT, STATUS_OK},
                {STATUS_LIMIT, STATUS_OK},
                {STATUS_UNAVAILABLE, STATUS_UNAVAILABLE}};
    for (size_t i = 0; i < 3; i++) {
        made.words_fail = ends[i].words;
        assert_int_equal(find_made(request, &results), ends[i].status);
        assert_int_equal(results.count, ends[i].status == STATUS_OK);
        find_release(&results);
    }
}

static void
test_values_that_are_iris(void **state)
{
    const struct find_request request = {.text = SLICE("http://v.org/"), .property = SLICE(P)};
    struct find_results results;
    (void)state;
    made.pattern_lines[0] = "<s:text> <" P "> \"http://v.org/\" <g:1> .\n";
    made.pattern_lines[1] = "<s:iri> <" P "> <http://v.org/> <g:2> .\n"
                            "<s:else> <" P "> <http://v.org/x> <g:2> .\n";
    made.hits = "3\t\"http://v.org/\"@en\t<s:tagged>\t<" P ">\t<g:3>\n";
    assert_int_equal(find_made(request, &results), STATUS_OK);
    assert_int_equal(made.patterns_asked, 2);
    assert_true(finds(&results, "s:text") && finds(&results, "s:iri") &&
                finds(&results, "s:tagged"));
    assert_int_equal(results.row_count, 3);
    find_release(&results);
}

static void
test_uris(void **state)
{
    struct find_request request = {.text = SLICE("http://v.org/x"), .is_uri = true, .rows = 2};
    struct find_results results;
    (void)state;
    made.pattern_lines[0] = "<http://v.org/x> <" P "> \"1\" <g:1> .\n<s:n> <" P "> \"1\" <g:9> .\n";
    made.pattern_lines[1] = "<s:a> <" P "> <http://v.org/x> <g:2> .\n";
    made.hits = "3\t\"1\"\t<s:b>\t<" P ">\t<g:3>\n";
    assert_int_equal(find_made(request, &results), STATUS_OK);
    assert_int_equal(made.patterns_asked, 2);
    assert_int_equal(made.searches, 0);
    assert_int_equal(made.limit, 3); /* one more, to know whether there are more */
    assert_int_equal(results.count, 2);
    assert_false(results.at_least);
    assert_true(near(results.entries[0].score, log2(1 + FIND_ROWS / 2.0)));
    find_release(&results);
    request.rows = 1;
    assert_int_equal(find_made(request, &results), STATUS_OK);
    assert_int_equal(results.count, 1);
    assert_true(results.at_least);
    find_release(&results);
    /* The text of a URI is no list of filters. */
    request = (struct find_request){.text = SLICE("domain:x"), .is_uri = true};
    made.pattern_lines[0] = made.pattern_lines[1] = NULL;
    assert_int_equal(find_made(request, &results), STATUS_OK);
    assert_int_equal(results.words.length, 0);
    find_release(&results);
}

/* More names than are shown are at least those. */
static void
test_many_that_are_the_same(void **state)
{
    struct find_results results;
    struct buf text;
    (void)state;
    for (size_t others = FIND_SAME_MOST; others <= FIND_SAME_MOST + 1; others++) {
        buf_init(&text, 1 << 16);
        (void)buf_append_string(&text, "{\"members\":[\"<http://a.org/ann>\",\"\",\"<\"");
        for (size_t i = 0; i < others; i++) {
            (void)buf_printf(&text, ",\"<s:%zu>\"", i);
        }
        (void)buf_append_string(
            &text, "],\"reasons\":[{\"rule\":\"sameAs\",\"resource\":\"<s:9>\",\"other\":\"<s:1>\","
                   "\"value\":\"<>\"},{\"rule\":\"key\",\"resource\":\"<s:1>\"}]}");
        made.cluster = text.data;
        struct find_request request = {
            .text = SLICE("http://a.org/ann"), .is_uri = true, .same = true};
        made.patterns_most = 2 * (FIND_SAME_MOST + 1);
        assert_int_equal(find_made(request, &results), STATUS_OK);
        assert_int_equal(results.same_count, FIND_SAME_MOST);
        assert_int_equal(results.at_least, others > FIND_SAME_MOST);
        assert_int_equal(made.patterns_asked, 2 * (FIND_SAME_MOST + 1));
        assert_true(slice_is(results.same[0].resource, "s:0"));
        assert_int_equal(results.same[0].rule.length, 0);
        assert_true(slice_is(results.same[1].rule, "sameAs")); /* the first reason */
        assert_int_equal(results.same[1].value.length, 0);
        assert_true(slice_is(results.same[9].rule, "sameAs"));
        find_release(&results);
        buf_release(&text);
    }
}

/* ---- words ---- */

static void
test_words_are_corrected(void **state)
{
    struct find_results results;
    (void)state;
    made.hits = "3\t\"An orange\"\t<s:x>\t<" P ">\t<g:1>\n";
    made.hits_word = "orange";
    assert_int_equal(find_made((struct find_request){.text = SLICE("oranje domain:x")}, &results),
                     STATUS_OK);
    assert_true(slice_is(results.corrected, "orange"));
    assert_true(slice_is(results.words, "orange"));
    assert_int_equal(results.count, 0); /* for the filter's sake */
    find_release(&results);
    assert_int_equal(find_made((struct find_request){.text = SLICE("oranje")}, &results),
                     STATUS_OK);
    assert_int_equal(results.count, 1);
    find_release(&results);
    assert_int_equal(find_made((struct find_request){.text = SLICE("orange")}, &results),
                     STATUS_OK);
    assert_int_equal(results.corrected.length, 0);
    assert_int_equal(made.searches, 1);
    find_release(&results);
    assert_int_equal(find_made((struct find_request){.text = SLICE("zzzzz")}, &results), STATUS_OK);
    assert_int_equal(results.corrected.length, 0);
    assert_true(slice_is(results.words, "zzzzz"));
    assert_int_equal(made.words_asked[0], '"'); /* it was not searched for again */
    assert_int_equal(results.count, 0);
    find_release(&results);
    made.words_fail = STATUS_UNAVAILABLE;
    for (made.fails_from = 1; made.fails_from <= 4; made.fails_from++) {
        assert_int_equal(find_made((struct find_request){.text = SLICE("zzzzz")}, &results),
                         STATUS_UNAVAILABLE);
        assert_int_equal(made.searches, made.fails_from);
        find_release(&results);
    }
}

/* Documents are the same by their names, if they have any. */
static void
test_documents_in_several_syntaxes(void **state)
{
    static const struct {
        const char *one, *other;
        bool same;
    } cases[] = {{"http://a.org/", "http://b.org/", false},
                 {"http://a.org/x/", "http://a.org/y/", false},
                 {"http://a.org/index.ttl", "http://a.org/b/index.nt", false},
                 {"http://a.org/x.ttl", "http://a.org/y/x.nt", true},
                 {"http://a.org/x.ttl#1", "http://a.org/x.nt#2", true},
                 {"http://a.org/x.ttl", "http://a.org/x", true},
                 {"http://a.org/x.abcdefghi", "http://a.org/x", false},
                 {"http://a.org/x.abcdefgh", "http://a.org/x", true},
                 {"http://a.org/x.n3", "http://a.org/x", false},
                 {"http://a.org/x?output=nt", "http://a.org/x?format=ttl", true},
                 {"http://a.org/x?page=1", "http://a.org/x?page=2", false},
                 {"http://a.org/x", "http://a.org/z", false}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct find_results results;
        char lines[512];
        for (int blank = 0; blank < 3; blank++) { /* 2: the triples are not the same */
            (void)snprintf(lines, sizeof lines,
                           "3\t\"Red\"\t%s\t<" P ">\t<%s>\n2\t\"Red\"\t%s\t<" P ">\t<%s>\n"
                           "1\t\"Red\"\t<s:z>\t<" P ">\t<http://z.org/z>\n",
                           blank == 1 ? "_:a" : "<s:a>", cases[i].one,
                           blank == 1   ? "_:b"
                           : blank == 2 ? "<s:b>"
                                        : "<s:a>",
                           cases[i].other);
            made.hits = lines;
            assert_int_equal(find_made((struct find_request){.text = SLICE("red")}, &results),
                             STATUS_OK);
            if (results.count != (cases[i].same && blank < 2 ? 2 : 3)) {
                fail_msg("%s and %s: %zu", cases[i].one, cases[i].other, results.count);
            }
            find_release(&results);
        }
    }
}

/* A class, or a predicate, that alone limits a search is what is looked for: the first of those
 * that are IRIs and wanted. */
static void
test_filters_that_find(void **state)
{
    static const struct {
        const char *text;
        size_t count;
    } cases[] = {{"class:foaf:Person", 2},
                 {"-class:foaf:Person predicate:foaf:name", 1},
                 {"predicate:name class:foaf:Person", 0},
                 {"class:person predicate:foaf:name", 1},
                 {"predicate:rdf:type -class:foaf:Person", 1}};
    struct find_results results;
    (void)state;
    made.pattern_lines[0] =
        "<s:a> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> "
        "<http://xmlns.com/foaf/0.1/Person> "
        "<g:1> .\n"
        "<s:b> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> "
        "<http://xmlns.com/foaf/0.1/Person> "
        "<g:2> .\n"
        "<s:c> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://xmlns.com/foaf/0.1/Agent> "
        "<g:3> .\n"
        "<s:b> <http://xmlns.com/foaf/0.1/name> \"B\" <g:1> .\n"
        "<s:c> <http://xmlns.com/foaf/0.1/name> \"C\" <g:4> .\n";
    made.classes =
        "{\"s\":{\"value\":\"s:a\"},\"c\":{\"value\":\"http://xmlns.com/foaf/0.1/Person\"}},"
        "{\"s\":{\"value\":\"s:b\"},\"c\":{\"value\":\"http://xmlns.com/foaf/0.1/Person\"}},"
        "{\"s\":{\"value\":\"s:c\"},\"c\":{\"value\":\"http://xmlns.com/foaf/0.1/Agent\"}}";
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(
            find_made((struct find_request){.text = slice_string(cases[i].text)}, &results),
            STATUS_OK);
        if (results.count != cases[i].count) {
            fail_msg("%s: %zu", cases[i].text, results.count);
        }
        find_release(&results);
    }
}

static void
test_weights(void **state)
{
    struct find_results results;
    (void)state;
    made.hits = "8\t\"Red\"\t<http://a.org/x>\t<" P ">\t<http://b.org/1>\n"
                "4\t\"Reds\"\t<http://a.org/x>\t<" P ">\t<http://b.org/1>\n"
                "2\t\"Red red\"\t<http://a.org/x>\t" LABEL "\t<http://b.org/1>\n"
                "8\t\"Red\"\t<http://A.org/y>\t<" P ">\t<http://a.org:80/2>\n"
                "1\t\"Red\"\t_:b\t<" P ">\t<http://a.org/3>\n";
    assert_int_equal(find_made((struct find_request){.text = SLICE("red")}, &results), STATUS_OK);
    assert_int_equal(results.count, 3);
    assert_true(near(results.entries[0].score, 8 * 1.5)); /* on the host of the resource */
    assert_true(near(results.entries[1].score, 8 + 4 * 0.5 + 2 * 2 * 0.25));
    assert_true(near(results.entries[2].score, 1));
    assert_int_equal(results.entries[1].statements, 3);
    find_release(&results);
    /* What several documents say counts once, and by resource the best document is shown. */
    made.hits = "8\t\"Red\"\t<http://a.org/x>\t<" P ">\t<http://b.org/1>\n"
                "8\t\"Red\"\t<http://a.org/x>\t<" P ">\t<http://b.org/2>\n"
                "4\t\"Red\"\t<http://a.org/x>\t<http://a.org/q>\t<http://b.org/3>\n"
                "4\t\"Red\"\t<http://a.org/z>\t<http://a.org/q>\t<http://b.org/3>\n";
    assert_int_equal(
        find_made((struct find_request){.text = SLICE("red"), .group = FIND_BY_RESOURCE}, &results),
        STATUS_OK);
    assert_int_equal(results.count, 2);
    assert_true(near(results.entries[0].score, 8 + 4 * 0.5));
    assert_true(slice_is(results.entries[0].document, "http://b.org/1"));
    find_release(&results);
}

/* Classes and times are asked for once, and only where they are needed; without the metadata store
 * there are no times to count, but what is to be limited by them cannot be found. */
static void
test_questions_of_filters_and_facets(void **state)
{
    static const struct {
        const char *text;
        bool facets, fails;
        size_t questions;
        enum status status;
    } cases[] = {{"red", false, false, 0, STATUS_OK},
                 {"red", true, false, 2, STATUS_OK},
                 {"red class:<c:1>", false, false, 1, STATUS_OK},
                 {"red date:2026", false, false, 1, STATUS_OK},
                 {"red class:<c:1> date:2026", true, false, 2, STATUS_OK},
                 {"red domain:nowhere.org class:<c:1> date:2026", true, false, 0, STATUS_OK},
                 {"red class:<c:1>", false, true, 1, STATUS_UNAVAILABLE},
                 {"red date:2026", false, true, 1, STATUS_UNAVAILABLE},
                 {"red", true, true, 1, STATUS_UNAVAILABLE}};
    struct find_results results;
    (void)state;
    made.hits = "3\t\"Red\"\t<s:1>\t<" P ">\t<http://a.org/1>\n";
    made.classes = "{\"s\":{\"value\":\"s:1\"},\"c\":{\"value\":\"c:1\"}}";
    made.times =
        "{\"g\":{\"value\":\"http://a.org/1\"},\"time\":{\"value\":\"2026-11-22T00:00:00Z\"}}";
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct find_request request = {.text = slice_string(cases[i].text),
                                             .facets = cases[i].facets};
        made.queries_fail = cases[i].fails ? STATUS_UNAVAILABLE : STATUS_OK;
        assert_int_equal(find_made(request, &results), cases[i].status);
        assert_int_equal(made.queries_asked, cases[i].questions);
        find_release(&results);
    }
}

/* Only the most frequent values of a kind are told. */
static void
test_facets_of_many_values(void **state)
{
    (void)state;
    for (unsigned hosts = FACET_VALUES; hosts <= FACET_VALUES + 1; hosts++) {
        struct find_results results;
        struct buf lines;
        buf_init(&lines, 1 << 16);
        for (unsigned i = 0; i < hosts; i++) {
            for (unsigned k = 0; k < (i < 3 ? 4 - i : 1); k++) {
                (void)buf_printf(&lines, "1\t\"Red\"\t<s:%u>\t<" P ">\t<http://%c.org/%c>\n", k,
                                 'z' - i, 'a' + k);
            }
        }
        made.hits = lines.data;
        assert_int_equal(
            find_made((struct find_request){.text = SLICE("red"), .facets = true}, &results),
            STATUS_OK);
        const struct find_facet *facet = NULL;
        for (size_t i = 0; i < results.facet_count; i++) {
            assert_int_not_equal(results.facets[i].kind, FILTER_CLASS); /* there are none */
            facet = results.facets[i].kind == FILTER_DOMAIN ? &results.facets[i] : facet;
        }
        assert_non_null(facet);
        assert_int_equal(facet->count, FACET_VALUES);
        assert_int_equal(facet->more, hosts > FACET_VALUES);
        for (unsigned i = 0; i < FACET_VALUES; i++) {
            const char name[] = {i < 3 ? (char)('z' - i) : (char)('z' - hosts + 1 + i - 3),
                                 '.',
                                 'o',
                                 'r',
                                 'g',
                                 '\0'};
            assert_true(slice_is(facet->values[i].value, name));
            assert_int_equal(facet->values[i].count, i < 3 ? 4 - i : 1);
        }
        find_release(&results);
        buf_release(&lines);
    }
}

/* ---- what is said of documents ---- */

static void
find_three(struct find_results *results)
{
    made.hits = "9\t\"Red\"\t<s:x>\t<" P ">\t<http://a.org/1>\n"
                "8\t\"Red\"\t<s:y>\t<" P ">\t<http://a.org/2>\n"
                "7\t\"Red\"\t<s:z>\t<" P ">\t<http://a.org/3>\n";
    made.sizes = "{\"g\":{\"value\":\"http://a.org/1\"},\"n\":{\"value\":\"11\"}},"
                 "{\"g\":{\"value\":\"http://a.org/2\"},\"n\":{\"value\":\"22\"}},"
                 "{\"g\":{\"value\":\"http://a.org/3\"},\"n\":{\"value\":\"33\"}}";
    made.times =
        "{\"g\":{\"value\":\"http://a.org/2\"},\"time\":{\"value\":\"2026-11-22T00:00:00Z\"}},"
        "{\"g\":{\"value\":\"http://a.org/3\"},\"time\":{\"value\":\"2026-11-23T00:00:00Z\"}}";
    assert_int_equal(find_made((struct find_request){.text = SLICE("red")}, results), STATUS_OK);
    assert_int_equal(results->count, 3);
}

static void
test_sizes_and_times(void **state)
{
    struct find_results results;
    struct reason why = {""};
    (void)state;
    find_three(&results);
    assert_int_equal(find_describe_documents(&made_access, &results, 3, 1, &why), STATUS_OK);
    assert_int_equal(made.queries_asked, 0);
    assert_int_equal(find_describe_documents(&made_access, &results, 1, 1, &why), STATUS_OK);
    assert_null(strstr(made.query, "<http://a.org/1>"));
    assert_non_null(strstr(made.query, "<http://a.org/2>"));
    assert_null(strstr(made.query, "<http://a.org/3>"));
    assert_int_equal(results.entries[0].triples, 0);
    assert_int_equal(results.entries[1].triples, 22);
    assert_int_equal(results.entries[2].triples, 0);
    assert_true(slice_is(results.entries[1].changed, "2026-11-22T00:00:00Z"));
    assert_int_equal(find_describe_documents(&made_access, &results, 1, 9, &why), STATUS_OK);
    assert_int_equal(results.entries[2].triples, 33);
    assert_int_equal(results.entries[0].triples + results.entries[0].changed.length, 0);
    made.queries_fail = STATUS_UNAVAILABLE;
    assert_int_equal(find_describe_documents(&made_access, &results, 0, 1, &why),
                     STATUS_UNAVAILABLE);
    find_release(&results);
}

static void
test_order_by_date(void **state)
{
    static const char *const expected[] = {"http://a.org/3", "http://a.org/2", "http://a.org/1"};
    struct find_results results;
    struct reason why = {""};
    (void)state;
    find_three(&results);
    assert_int_equal(find_sort_by_date(&made_access, &results, &why), STATUS_OK);
    for (size_t i = 0; i < 3; i++) {
        assert_true(slice_is(results.entries[i].document, expected[i]));
    }
    find_release(&results);
    /* Of the same time the best stand first. */
    find_three(&results);
    made.times = NULL;
    assert_int_equal(find_sort_by_date(&made_access, &results, &why), STATUS_OK);
    for (size_t i = 0; i < 3; i++) {
        assert_true(slice_is(results.entries[i].document, expected[2 - i]));
    }
    results.entries[0].score = results.entries[1].score = results.entries[2].score = 1;
    results.entries[0].document = SLICE("http://a.org/9");
    assert_int_equal(find_sort_by_date(&made_access, &results, &why), STATUS_OK);
    assert_true(slice_is(results.entries[2].document, "http://a.org/9"));
    made.queries_fail = STATUS_UNAVAILABLE;
    assert_int_equal(find_sort_by_date(&made_access, &results, &why), STATUS_UNAVAILABLE);
    results.count = 0;
    assert_int_equal(find_sort_by_date(&made_access, &results, &why), STATUS_OK);
    results.count = 3;
    find_release(&results);
}

/* ---- queries ---- */

static void
test_queries(void **state)
{
    struct reason why = {""};
    json_t *bindings;
    (void)state;
    made.classes = "{\"a\":{\"type\":\"uri\",\"value\":\"x\"}}";
    assert_int_equal(find_ask(&made_access, SLICE("SELECT"), &bindings, &why), STATUS_OK);
    assert_int_equal(json_array_size(bindings), 1);
    assert_true(slice_is(find_value(json_array_get(bindings, 0), "a"), "x"));
    assert_int_equal(find_value(json_array_get(bindings, 0), "b").length, 0);
    json_decref(bindings);
    made.answer = "{\"boolean\":true}";
    assert_int_equal(find_ask(&made_access, SLICE("ASK"), &bindings, &why), STATUS_UNSUPPORTED);
    made.queries_fail = STATUS_TIMEOUT;
    bindings = (json_t *)&why;
    assert_int_equal(find_ask(&made_access, SLICE("ASK"), &bindings, &why), STATUS_TIMEOUT);
    assert_null(bindings);
    enum { LONG = (16 << 20) + 1 };
    char *answer = memory_alloc(LONG + 1);
    memset(answer, ' ', LONG);
    answer[LONG] = '\0';
    made.queries_fail = STATUS_OK;
    made.answer = answer;
    why.text[0] = '\0';
    assert_int_equal(find_ask(&made_access, SLICE("SELECT"), &bindings, &why), STATUS_LIMIT);
    assert_non_null(strstr(why.text, "16777216 bytes"));
    free(answer);
}

/* Each subject and document is asked for once, blank nodes are not; those that are not asked for
 * any more make the counts lower bounds. */
static void
test_subjects_of_a_question(void **state)
{
    (void)state;
    for (size_t subjects = FIND_SUBJECTS; subjects <= FIND_SUBJECTS + 1; subjects++) {
        struct find_results results;
        struct buf hits;
        buf_init(&hits, 1 << 20);
        (void)buf_append_string(&hits, "9\t\"Red\"\t_:b\t<" P ">\t<g:1>\n");
        for (size_t i = 0; i < 2 * subjects; i++) {
            (void)buf_printf(&hits, "1\t\"Red\"\t<s:%zu>\t<" P ">\t<g:%zu>\n", i / 2, i % 2);
        }
        made.hits = hits.data;
        made.classes = "{\"s\":{\"value\":\"s:1\"},\"c\":{\"value\":\"c:1\"}}";
        const struct find_request request = {
            .text = SLICE("red class:<c:1>"), .rows = 4000, .group = FIND_BY_RESOURCE};
        assert_int_equal(find_made(request, &results), STATUS_OK);
        assert_int_equal(results.count, 1);
        assert_int_equal(results.at_least, subjects > FIND_SUBJECTS);
        const char *first = strstr(made.query, " <s:1> ");
        assert_non_null(first);
        assert_null(strstr(first + 1, " <s:1> "));
        assert_null(strstr(made.query, "_:b"));
        find_release(&results);
        buf_release(&hits);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_values, made_forget),
        cmocka_unit_test_setup(test_values_that_are_iris, made_forget),
        cmocka_unit_test_setup(test_uris, made_forget),
        cmocka_unit_test_setup(test_many_that_are_the_same, made_forget),
        cmocka_unit_test_setup(test_words_are_corrected, made_forget),
        cmocka_unit_test_setup(test_filters_that_find, made_forget),
        cmocka_unit_test_setup(test_documents_in_several_syntaxes, made_forget),
        cmocka_unit_test_setup(test_weights, made_forget),
        cmocka_unit_test_setup(test_questions_of_filters_and_facets, made_forget),
        cmocka_unit_test_setup(test_facets_of_many_values, made_forget),
        cmocka_unit_test_setup(test_sizes_and_times, made_forget),
        cmocka_unit_test_setup(test_order_by_date, made_forget),
        cmocka_unit_test_setup(test_queries, made_forget),
        cmocka_unit_test_setup(test_subjects_of_a_question, made_forget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
