/* Values are known without a look at their terms by identifiers that say them, and by the row
 * before. Such queries ask for no term, and answer what they do by terms. */
#include "index/query/functions/functions.h"
#include "rdf/core/vocabulary.h"
#include "tests/unit/query/query_case.h"

enum { TOLD_MOST = 16 };

/* The values that identifiers say, as those of the test's terms; and terms that were looked at. */
static struct {
    oid ids[TOLD_MOST];
    struct oid_value values[TOLD_MOST];
    size_t count;
    struct quad_source inner;
    unsigned resolved;
} told;

static bool
told_value(oid id, struct oid_value *value)
{
    size_t at = 0;
    while (at < told.count && told.ids[at] != id) {
        at++;
    }
    *value = told.values[at % TOLD_MOST];
    return at < told.count;
}

static oid
told_integer(int64_t integer)
{
    for (size_t i = 0; i < told.count; i++) {
        if (told.values[i].kind == OID_VALUE_INTEGER && told.values[i].integer == integer) {
            return told.ids[i];
        }
    }
    return OID_NONE;
}

static enum status
counted_resolve(void *context, oid id, struct arena *arena, struct term *term, struct reason *why)
{
    told.resolved++;
    return told.inner.resolve(context, id, arena, term, why);
}

static bool
told_before(oid a, oid b)
{
    struct oid_value left, right;
    return told_value(a, &left) && told_value(b, &right) && left.kind == OID_VALUE_INTEGER &&
           right.kind == OID_VALUE_INTEGER && left.integer < right.integer;
}

static bool
told_datatype(oid id, struct slice *iri)
{
    struct oid_value value;
    const bool known = told_value(id, &value);
    *iri = value.kind == OID_VALUE_INTEGER ? SLICE(XSD_NAMESPACE "integer")
           : value.kind == OID_VALUE_DATE  ? SLICE(XSD_NAMESPACE "date")
                                           : SLICE(XSD_NAMESPACE "dateTime");
    return known;
}

/* All literals of the data are told; all else are IRIs. */
static enum term_kind
told_kind(oid id)
{
    struct oid_value value;
    return told_value(id, &value) ? TERM_LITERAL : TERM_IRI;
}

static const char data[] =
    "@prefix : <http://example.org/> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .\n"
    ":a :n 3 . :b :n 20 . :c :n 7 . :d :n 7 .\n"
    ":a :at \"2019-12-31T23:59:58.500Z\"^^xsd:dateTime . :b :at \"2020-03-01\"^^xsd:date .\n"
    ":c :at \"2020-01-02T03:04:05\"^^xsd:dateTime . :e :part 31 , 23 , 59 .";

static const struct {
    const char *text;
    struct oid_value value;
    const char *datatype;
} said[] = {
    {"3", {.kind = OID_VALUE_INTEGER, .integer = 3}, "integer"},
    {"20", {.kind = OID_VALUE_INTEGER, .integer = 20}, "integer"},
    {"31", {.kind = OID_VALUE_INTEGER, .integer = 31}, "integer"},
    {"23", {.kind = OID_VALUE_INTEGER, .integer = 23}, "integer"},
    {"59", {.kind = OID_VALUE_INTEGER, .integer = 59}, "integer"},
    {"7", {.kind = OID_VALUE_INTEGER, .integer = 7}, "integer"},
    {"2019-12-31T23:59:58.500Z",
     {.kind = OID_VALUE_DATE_TIME,
      .year = 2019,
      .month = 12,
      .day = 31,
      .hour = 23,
      .minute = 59,
      .milliseconds = 58500,
      .utc = true},
     "dateTime"},
    {"2020-03-01", {.kind = OID_VALUE_DATE, .year = 2020, .month = 3, .day = 1}, "date"},
    {"2020-01-02T03:04:05",
     {.kind = OID_VALUE_DATE_TIME,
      .year = 2020,
      .month = 1,
      .day = 2,
      .hour = 3,
      .minute = 4,
      .milliseconds = 5000},
     "dateTime"},
};

#define PREFIXES "PREFIX : <http://example.org/> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> "
static const char *const asked[] = {
    "SELECT ?y (COUNT(*) AS ?n) { ?s :at ?d BIND(YEAR(?d) AS ?y) } GROUP BY ?y ORDER BY ?y",
    "SELECT (SUM(MONTH(?d) * 10000 + DAY(?d)) AS ?n) { ?s :at ?d }",
    ("SELECT (SUM(HOURS(?d) * 10000 + MINUTES(?d) * 100 + SECONDS(?d)) AS ?n) { ?s :at ?d "
     "FILTER(HOURS(?d) < 24) }"),
    "SELECT (COUNT(*) AS ?n) { ?s :at ?d FILTER(TIMEZONE(?d) = \"PT0S\"^^xsd:dayTimeDuration) }",
    "SELECT (COUNT(*) AS ?n) { ?s :at ?d FILTER(?d >= \"2020-01-02T03:04:05\"^^xsd:dateTime) }",
    "SELECT (COUNT(*) AS ?n) { ?s :at ?d FILTER(?d = \"2019-12-31T23:59:58.5Z\"^^xsd:dateTime) }",
    "SELECT (SUM(?v) AS ?a) (AVG(?v) AS ?b) { ?s :n ?v FILTER(?v != 3) }",
    "SELECT (COUNT(*) AS ?n) { ?s :n ?v FILTER(?v < 20 && 3 < ?v) }",
    ("SELECT (COUNT(*) AS ?n) { ?s :at ?d BIND(YEAR(?d) AS ?y) BIND(MONTH(?d) AS ?m) BIND(DAY(?d) "
     "AS ?a) BIND(HOURS(?d) AS ?h) BIND(MINUTES(?d) AS ?i) "
     "FILTER(?y = 2019 && ?m = 12 && ?a = 31 && ?h = 23 && ?i = 59) }"),
    "SELECT (COUNT(?h) AS ?n) (COUNT(?i) AS ?m) { ?s :at ?d BIND(HOURS(?d) AS ?h) "
    "BIND(MINUTES(?d) AS ?i) }",
    "SELECT (COUNT(?y) AS ?n) { ?s :n ?v BIND(YEAR(?v) AS ?y) }",
    "SELECT (COUNT(*) + 100 AS ?n) { ?s ?p ?v FILTER(DATATYPE(?v) = xsd:integer) }",
    "SELECT (COUNT(*) + 100 AS ?n) { ?s ?p ?v FILTER(DATATYPE(?v) = xsd:date && LANG(?v) = \"\") }",
    "SELECT (COUNT(*) AS ?n) { ?a :n ?v . ?b :n ?w FILTER(?v >= ?w && !(?w > 7)) }",
    "SELECT (COUNT(*) AS ?n) { ?a :n ?v . ?b :n ?w FILTER(?a != ?b) }",
    "SELECT (COUNT(*) AS ?n) { ?a :n ?v . ?b :n ?w FILTER(?a = ?b) }",
    "SELECT (COUNT(*) AS ?n) { ?a :n ?v FILTER(?a != ?v) }",
    "SELECT (COUNT(*) AS ?n) { ?a :n ?v FILTER(?a = ?v) }",
    "SELECT (MIN(?v) + 100 AS ?a) (MAX(?v) + 100 AS ?b) { ?s :n ?v }",
    "SELECT (COUNT(*) AS ?n) { ?s :n ?v FILTER(ABS(-?v) > 7 && ROUND(?v) > 0) }",
};

/* Answers the query, and returns how many terms it has looked at. */
static unsigned
ask(const struct quad_source *source, const char *text, struct buf *out)
{
    struct query *query;
    struct result_writer *writer;
    const struct query_options options = {0};
    struct reason why = {{0}};
    char *whole = NULL;
    assert_true(asprintf(&whole, PREFIXES "%s", text) > 0);
    buf_reset(out);
    told.resolved = 0;
    assert_int_equal(query_prepare(&query, slice_string(whole), SLICE(""), &why), STATUS_OK);
    result_writer_open(&writer, RESULT_TSV, query_case_piece, out);
    const enum status status =
        query_run(query, source, &options, result_writer_sink(writer), NULL, &why);
    if (status != STATUS_OK || result_writer_finish(writer, &why) != STATUS_OK) {
        fail_msg("%s: %s", text, why.text);
    }
    result_writer_free(writer);
    query_free(query);
    free(whole);
    return told.resolved;
}

static void
find_told(struct memory_source *memory)
{
    told.inner = *memory_source_table(memory);
    told.count = sizeof said / sizeof *said;
    for (size_t i = 0; i < told.count; i++) {
        char datatype[64];
        snprintf(datatype, sizeof datatype, "http://www.w3.org/2001/XMLSchema#%s",
                 said[i].datatype);
        struct term term = term_literal(slice_string(said[i].text));
        term.datatype = slice_string(datatype);
        assert_int_equal(told.inner.lookup(told.inner.context, &term, &told.ids[i], NULL),
                         STATUS_OK);
        assert_true(told.ids[i] != OID_NONE);
        told.values[i] = said[i].value;
    }
}

static void
test_values_are_told_by_identifiers(void **state)
{
    struct memory_source *memory = query_case_source(data);
    struct buf by_terms, by_identifiers;
    (void)state;
    buf_init(&by_terms, 1 << 16);
    buf_init(&by_identifiers, 1 << 16);
    find_told(memory);
    struct quad_source source = told.inner;
    source.resolve = counted_resolve;
    struct quad_source telling = source;
    telling.kind = told_kind;
    telling.value = told_value;
    telling.integer = told_integer;
    telling.before = told_before;
    telling.datatype = told_datatype;
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        const unsigned looked_at = ask(&source, asked[i], &by_terms);
        const unsigned still = ask(&telling, asked[i], &by_identifiers);
        if (strcmp(by_terms.data, by_identifiers.data) != 0 || still > 0 || looked_at == 0) {
            fail_msg("%s: %u and %u looks, %s%s", asked[i], looked_at, still, by_terms.data,
                     by_identifiers.data);
        }
    }
    /* How a value is written is asked of its term. */
    assert_int_equal(ask(&telling, "SELECT (STR(?d) AS ?t) { :a :at ?d }", &by_identifiers), 1);
    assert_string_equal(by_identifiers.data, "?t\n\"2019-12-31T23:59:58.500Z\"\n");
    buf_release(&by_terms);
    buf_release(&by_identifiers);
    memory_source_free(memory);
}

static unsigned calls;

static bool
count_call(struct evaluation *evaluation, const struct expression *call, const oid *row,
           struct value *out)
{
    (void)evaluation, (void)call;
    calls++;
    *out = value_boolean(row[1] == 5);
    return row[1] != 7;
}

/* An expression is evaluated once for rows after each other that are equal in what it mentions. */
static void
test_rows_like_the_one_before(void **state)
{
    enum { ROWS = 7 };
    static const oid rows[ROWS][2] = {{1, 5}, {2, 5}, {2, 6}, {3, 6}, {4, 7}, {5, 7}, {6, 5}};
    static const int tests[ROWS] = {1, 1, 0, 0, -1, -1, 1};
    static const struct function counted = {.name = "counted", .form = count_call};
    struct expression expression = {.kind = EXPRESSION_CALL, .function = &counted};
    struct evaluation evaluation = {0};
    (void)state;
    slots_add(&expression.slots, 1);
    for (int steady = 1; steady >= 0; steady--) {
        struct remembered remembered;
        expression.volatile_value = !steady;
        remembered_prepare(&remembered, &expression);
        calls = 0;
        for (size_t i = 0; i < ROWS; i++) {
            assert_int_equal(remembered_test(&remembered, &evaluation, rows[i]), tests[i]);
        }
        assert_int_equal(calls, steady ? 4 : ROWS);
    }
}

static unsigned id_calls;

static oid
count_id(struct evaluation *evaluation, const struct expression *call, const oid *row)
{
    (void)evaluation, (void)call;
    id_calls++;
    return row[0] + 1000;
}

/* An expression of one variable that is asked for often is evaluated once for each value. */
static void
test_values_come_again(void **state)
{
    /* Where values are kept depends on addresses, and those that meet in a place are told anew:
     * seldom many, and not of each that is remembered. */
    enum { VALUES = 40, ROUNDS = 100, MOST = 600, TRIES = 4 };
    static const struct function counted = {.name = "counted", .id = count_id};
    const struct quad_source source = {0};
    struct expression expression = {.kind = EXPRESSION_CALL, .function = &counted};
    struct memory_account account = {.maximum = 4 << 20};
    struct spill spill;
    struct dictionary dictionary;
    struct evaluation evaluation = {.dictionary = &dictionary};
    struct remembered remembered[TRIES];
    unsigned least = VALUES * ROUNDS;
    (void)state;
    spill_init(&spill, &account, NULL, 0);
    dictionary_init(&dictionary, &source, &spill);
    slots_add(&expression.slots, 0);
    for (int try = 0; try < TRIES; try++) {
        id_calls = 0;
        remembered_prepare(&remembered[try], &expression);
        for (int i = 0; i < ROUNDS; i++) {
            for (oid value = 1; value <= VALUES; value++) {
                assert_int_equal(remembered_id(&remembered[try], &evaluation, &value),
                                 value + 1000);
            }
        }
        assert_true(id_calls >= VALUES);
        least = id_calls < least ? id_calls : least;
    }
    assert_in_range(least, VALUES, MOST);
    evaluation_release(&evaluation);
    dictionary_release(&dictionary);
    spill_release(&spill);
    assert_int_equal(account.used, 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_values_are_told_by_identifiers),
                                       cmocka_unit_test(test_rows_like_the_one_before),
                                       cmocka_unit_test(test_values_come_again)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
