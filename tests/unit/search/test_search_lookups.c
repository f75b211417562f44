/* Lookups by value and URI, corrections, weights, what is said of documents, values that are shared
 * and lines, with an index made up here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <math.h>

#include "base/memory.h"
#include "search/find_private.h"
#include "tests/unit/search/made_index.h"

#define LABEL "<http://www.w3.org/2000/01/rdf-schema#label>"
#define P "http://a.org/p"

static int
forget(void **state)
{
    (void)state;
    made = (struct made_index){.hits = NULL};
    return 0;
}

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
    assert_int_equal(results.count, 0);
    find_release(&results);
    made.words_fail = STATUS_UNAVAILABLE;
    assert_int_equal(find_made((struct find_request){.text = SLICE("zzzzz")}, &results),
                     STATUS_UNAVAILABLE);
    find_release(&results);
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
    assert_int_equal(find_ask(&made_access, SLICE("ASK"), &bindings, &why), STATUS_TIMEOUT);
    assert_null(bindings);
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

/* ---- values that are shared ---- */

static json_t *
shared_values(bool *more)
{
    struct reason why = {""};
    json_t *answer, *values;
    assert_int_equal(find_shared_values(&made_access, &answer, &why), STATUS_OK);
    *more = json_is_true(json_object_get(answer, "more"));
    values = json_incref(json_object_get(answer, "values"));
    json_decref(answer);
    return values;
}

#define SHARED(value, resources)                                             \
    "{\"property\":{\"type\":\"uri\",\"value\":\"http://xmlns.com/foaf/0.1/" \
    "mbox\"},\"value\":" value                                               \
    ",\"one\":{\"type\":\"uri\",\"value\":\"s:1\"},\"resources\":{\"value\":\"" resources "\"}}"

static void
test_shared_values(void **state)
{
    static const struct {
        const char *value, *set_aside;
        int resources;
    } expected[] = {{"<http://x.org/>", NULL, 1000},
                    {"\"x\"@en", "shared", 1001},
                    {"\"5\"^^<http://www.w3.org/2001/XMLSchema#integer>", NULL, 2},
                    {"_:b1", NULL, 2},
                    {"\"\"", "refused", 2}};
    bool more;
    (void)state;
    static const char shared[] =
        SHARED("{\"type\":\"uri\",\"value\":\"http://x.org/\"}", "1000") "," SHARED(
            "{\"type\":\"literal\",\"value\":\"x\",\"xml:lang\":\"en\"}",
            "1001") "," SHARED("{\"type\":\"literal\",\"value\":\"5\",\"datatype\":"
                               "\"http://www.w3.org/2001/XMLSchema#integer\"}",
                               "2") "," SHARED("{\"type\":\"bnode\",\"value\":\"b1\"}",
                                               "2") "," SHARED("{\"type\":\"literal\",\"value\":"
                                                               "\"\"}",
                                                               "2");
    made.shared = shared;
    json_t *values = shared_values(&more);
    assert_int_equal(json_array_size(values), 5);
    assert_false(more);
    for (size_t i = 0; i < 5; i++) {
        const json_t *value = json_array_get(values, i);
        const char *set_aside = json_string_value(json_object_get(value, "setAside"));
        assert_string_equal(json_string_value(json_object_get(value, "value")), expected[i].value);
        assert_string_equal(json_string_value(json_object_get(value, "property")),
                            "<http://xmlns.com/foaf/0.1/mbox>");
        assert_string_equal(json_string_value(json_object_get(value, "one")), "<s:1>");
        assert_int_equal(json_integer_value(json_object_get(value, "resources")),
                         expected[i].resources);
        assert_string_equal(set_aside != NULL ? set_aside : "",
                            expected[i].set_aside != NULL ? expected[i].set_aside : "");
    }
    json_decref(values);
    made.queries_fail = STATUS_UNAVAILABLE;
    struct reason why = {""};
    json_t *answer;
    assert_int_equal(find_shared_values(&made_access, &answer, &why), STATUS_UNAVAILABLE);
    assert_null(answer);
}

static void
test_more_shared_values_than_are_told(void **state)
{
    (void)state;
    for (size_t count = FIND_SHARED_VALUES; count <= FIND_SHARED_VALUES + 1; count++) {
        struct buf text;
        bool more;
        buf_init(&text, 1 << 20);
        for (size_t i = 0; i < count; i++) {
            (void)buf_append_string(&text, i > 0 ? "," : "");
            (void)buf_append_string(&text, SHARED("{\"type\":\"uri\",\"value\":\"s:x\"}", "3"));
        }
        made.shared = text.data;
        json_t *values = shared_values(&more);
        assert_int_equal(json_array_size(values), FIND_SHARED_VALUES);
        assert_int_equal(more, count > FIND_SHARED_VALUES);
        json_decref(values);
        buf_release(&text);
    }
}

/* ---- lines ---- */

static enum status
append(void *buffer, struct slice bytes, struct reason *why)
{
    return made.queries_fail == STATUS_OK
               ? buf_append_slice(buffer, bytes)
               : status_fail(why, made.queries_fail, "the reader is away");
}

static void
expect_lines(const char *words, uint32_t limit, const char *lines, bool expected_cut)
{
    struct reason why = {""};
    struct buf out;
    bool cut = !expected_cut;
    buf_init(&out, 1 << 16);
    made.searches = 0;
    assert_int_equal(find_lines(&made_access, slice_string(words), limit, append, &out, &cut, &why),
                     STATUS_OK);
    assert_string_equal(out.data != NULL ? out.data : "", lines);
    assert_int_equal(cut, expected_cut);
    assert_int_equal(made.searches, 1);
    buf_release(&out);
}

/* Scores are the literals', whatever the property; of the same score in the order of the quads. */
static void
test_lines(void **state)
{
    (void)state;
    made.hits = "3\t\"Red\"\t<s:b>\t<" P ">\t<http://a.org/2>\n"
                "3\t\"Red\"\t<s:a>\t" LABEL "\t<http://a.org/1>\n"
                "4\t\"Red\"@en\t<s:b>\t" LABEL "\t<http://a.org/2>\n"
                "9\t\"Red\"\t<s:c>\t<" P ">\t<http://b.org/3>\n";
#define FIRST "4.0000\t\"Red\"@en\t<s:b>\t" LABEL "\t<http://a.org/2>\n"
#define SECOND "3.0000\t\"Red\"\t<s:a>\t" LABEL "\t<http://a.org/1>\n"
#define THIRD "3.0000\t\"Red\"\t<s:b>\t<" P ">\t<http://a.org/2>\n"
    expect_lines("red domain:a.org", 9, FIRST SECOND THIRD, false);
    expect_lines("red domain:a.org", 2, FIRST SECOND, false);
    expect_lines("red domain:nowhere.org", 2, "", false);
    assert_int_equal(made.limit, 100001);
    expect_lines("red lang:en", 7, made.hits, false); /* the index knows languages itself */
    assert_int_equal(made.limit, 7);
    struct reason why = {""};
    struct buf out;
    bool cut;
    buf_init(&out, 1 << 16);
    made.queries_fail = STATUS_UNAVAILABLE;
    assert_int_equal(
        find_lines(&made_access, SLICE("red domain:a.org"), 2, append, &out, &cut, &why),
        STATUS_UNAVAILABLE);
    assert_int_equal(find_lines(&made_access, SLICE("red domain:"), 2, append, &out, &cut, &why),
                     STATUS_BAD_INPUT);
    buf_release(&out);
}

static void
test_lines_of_what_was_not_all_looked_through(void **state)
{
    enum { ALL = 100001 };
    struct buf hits, out;
    struct reason why = {""};
    bool cut;
    (void)state;
    buf_init(&hits, 16 << 20);
    buf_init(&out, 1 << 16);
    for (size_t i = 0; i < ALL; i++) {
        (void)buf_append_string(&hits, i % 50000 == 0 ? "1\t\"R\"\t<s:a>\t<p:p>\t<http://a.org/>\n"
                                                      : "1\t\"R\"\t<s:a>\t<p:p>\t<g:1>\n");
    }
    made.hits = hits.data;
    for (uint32_t limit = 1; limit <= 3; limit++) {
        buf_reset(&out);
        assert_int_equal(
            find_lines(&made_access, SLICE("r domain:a.org"), limit, append, &out, &cut, &why),
            STATUS_OK);
        assert_int_equal(cut, limit > 2); /* two of the first 100,000 pass */
    }
    buf_release(&hits);
    buf_release(&out);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_values, forget),
        cmocka_unit_test_setup(test_values_that_are_iris, forget),
        cmocka_unit_test_setup(test_uris, forget),
        cmocka_unit_test_setup(test_many_that_are_the_same, forget),
        cmocka_unit_test_setup(test_words_are_corrected, forget),
        cmocka_unit_test_setup(test_filters_that_find, forget),
        cmocka_unit_test_setup(test_weights, forget),
        cmocka_unit_test_setup(test_sizes_and_times, forget),
        cmocka_unit_test_setup(test_order_by_date, forget),
        cmocka_unit_test_setup(test_queries, forget),
        cmocka_unit_test_setup(test_subjects_of_a_question, forget),
        cmocka_unit_test_setup(test_shared_values, forget),
        cmocka_unit_test_setup(test_more_shared_values_than_are_told, forget),
        cmocka_unit_test_setup(test_lines, forget),
        cmocka_unit_test_setup(test_lines_of_what_was_not_all_looked_through, forget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
