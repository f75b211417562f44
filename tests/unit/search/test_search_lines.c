/* Values that resources share, and searches as lines, with an index made up here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/search/made_index.h"

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
        cmocka_unit_test_setup(test_shared_values, made_forget),
        cmocka_unit_test_setup(test_more_shared_values_than_are_told, made_forget),
        cmocka_unit_test_setup(test_lines, made_forget),
        cmocka_unit_test_setup(test_lines_of_what_was_not_all_looked_through, made_forget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
