/* Rare forms of queries, and queries that are at their bounds or past them. */
#include "tests/unit/query_parts/query_corners.h"

#include <math.h>
#include <string.h>

#include "index/query/memory/dictionary.h"
#include "index/query/memory/key_filter.h"
#include "index/query/update.h"
#include "index/query/values/moment.h"
#include "index/query/values/value.h"
#include "tests/unit/query/query_case.h"

#define PREFIXES "PREFIX : <http://example.org/> "

static void
forms_within_functions(void **state)
{
    static const struct query_case cases[] = {
        {"SELECT (STRLEN(IF(true, \"ab\", \"c\")) AS ?x) {}", "?x\n2\n"},
        {"SELECT (STRLEN(IF(false, \"ab\", \"c\")) AS ?x) {}", "?x\n1\n"},
        {"SELECT (STRLEN(IF(?u, \"ab\", \"c\")) AS ?x) {}", "?x\n\n"},
        {"SELECT (STRLEN(COALESCE(?u, \"abc\", \"x\")) AS ?x) {}", "?x\n3\n"},
        {"SELECT (STRLEN(COALESCE(\"ab\", ?u)) AS ?x) {}", "?x\n2\n"},
        {"SELECT (STRLEN(COALESCE(?u, ?v)) AS ?x) {}", "?x\n\n"},
        {"SELECT (STRLEN(COALESCE()) AS ?x) {}", "?x\n\n"},
        {"SELECT (?u IN () AS ?x) (IF(1 IN (), 1, 2) AS ?y) (IF(1 NOT IN (), 1, 2) AS ?z) {}",
         "?x\t?y\t?z\n\t2\t1\n"},
        {"SELECT (LANG(?u) AS ?x) (DATATYPE(?u) AS ?y) (STRLEN(LANG(?u)) AS ?z) {}",
         "?x\t?y\t?z\n\t\t\n"},
        {"SELECT (<a:f>(DISTINCT 1, 2) AS ?x) {}", "?x\n\n"},
        {"SELECT (IF(SAMETERM(?a, ?c), 1, 2) AS ?x) (IF(SAMETERM(?a, ?d), 1, 2) AS ?y) "
         "(IF(SAMETERM(?b, ?c), 1, 2) AS ?z) { BIND(BNODE(\"a\") AS ?a) BIND(BNODE() AS ?b) "
         "BIND(BNODE() AS ?c) BIND(BNODE(\"a\") AS ?d) }",
         "?x\t?y\t?z\n2\t1\t2\n"},
        /* A label is of one solution. */
        {"SELECT (COUNT(DISTINCT ?b) AS ?n) { VALUES ?x { 1 2 3 } BIND(BNODE(\"a\") AS ?b) }",
         "?n\n3\n"},
        {"SELECT (GROUP_CONCAT(?b) AS ?c) (SUM(?b) AS ?s) (COUNT(?b) AS ?n) (AVG(?b) AS ?a) { "
         "VALUES ?x { 1 2 } BIND(BNODE() AS ?b) }",
         "?c\t?s\t?n\t?a\n\t\t2\t\n"},
    };
    (void)state;
    QUERY_CASES("", NULL, cases);
}

static void
tokens_that_are_rare(void **state)
{
    static const struct query_case cases[] = {
        {"SELECT * { ?s ?p 1.e }",
         "!line 1, column 20: expected a triple, a pattern, '.' or '}', found 'e'"},
        {"SELECT * { ?s ?p 1.5e }",
         "!line 1, column 21: expected a triple, a pattern, '.' or '}', found 'e'"},
        {"SELECT * { ?s ?p 12e+ }",
         "!line 1, column 20: expected a triple, a pattern, '.' or '}', found 'e'"},
        {"ASK { _:", "!line 1, column 9: expected a blank node label after '_:'"},
        {"SELECT ?", "!line 1, column 8: expected a variable, '(' or '*', found '?'"},
        {"SELECT ?\xC3\x97 {}", "!line 1, column 8: expected a variable, '(' or '*', found '?'"},
        {"SELECT ?\xC3\xA4 { BIND(1 AS ?\xC3\xA4) }", "?\xC3\xA4\n1\n"},
        {"ASK { VALUES ?x { aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeee } }",
         "!line 1, column 19: expected an IRI, a literal or UNDEF, found "
         "'aaaaaaaaaabbbbbbbbbbccccccccccdddddddddd'"},
        {"ASK \"\"\"ab\ncd\"\"\" {}", "!line 1, column 5: expected '{', found '\"\"\"ab'"},
        {"ASK { VALUES ?x { 1 } . FILTER(?x = 1) . {} . }", "true\n"},
        {"SELECT ?x { VALUES ?x { 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 } }",
         "?x\n1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16\n17\n18\n19\n"},
        {PREFIXES "SELECT ?s { :ann q:matches \"tea\" }", "?s\n"},
        {PREFIXES "SELECT ?s { ?l q:matches :ann }", "!q:matches needs its words as a string"},
        {PREFIXES "SELECT ?s { ?l q:matches ?w }", "!q:matches needs its words as a string"},
        {PREFIXES "SELECT ?l { ?l q:matches \"coffee\" }", "?l\n\"coffee and tea\"\n"},
    };
    (void)state;
    QUERY_CASES(QUERY_PEOPLE, NULL, cases);
}

/* Where a plan could take a short way, and must not. */
static void
plans_that_are_rare(void **state)
{
    static const struct query_case cases[] = {
        {PREFIXES "SELECT ?x { ?x :name ?n FILTER(:bob IN (?x, :bob)) } ORDER BY ?x",
         "?x\n<http://example.org/ann>\n<http://example.org/bob>\n<http://example.org/cid>\n"},
        {PREFIXES "SELECT ?x { ?x :name ?n FILTER(:bob = ?x) }", "?x\n<http://example.org/bob>\n"},
        {PREFIXES "SELECT ?x { ?x :name ?n FILTER(SAMETERM(:bob, ?x)) }",
         "?x\n<http://example.org/bob>\n"},
        {PREFIXES "SELECT ?x { ?x :name ?n FILTER(?x IN (:bob, :none, :cid, :bob)) } ORDER BY ?x",
         "?x\n<http://example.org/bob>\n<http://example.org/cid>\n"},
        {PREFIXES "SELECT ?g ?l { GRAPH ?g { { ?s :likes ?l } UNION { VALUES ?l { 1 } } } } ORDER "
                  "BY ?g ?l",
         "?g\t?l\n<http://example.org/g1>\t1\n<http://example.org/g1>\t\"tea\"\n"
         "<http://example.org/g2>\t1\n<http://example.org/g2>\t\"coffee and tea\"\n"
         "<http://example.org/g2>\t\"tea\"\n<urn:x-test:default>\t1\n"},
        {PREFIXES "SELECT ?g ?l { GRAPH ?g { { VALUES ?l { 1 } } UNION { ?s :likes ?l } } } ORDER "
                  "BY DESC(?g) DESC(?l) LIMIT 2",
         "?g\t?l\n<urn:x-test:default>\t1\n<http://example.org/g2>\t\"tea\"\n"},
        {PREFIXES "SELECT ?x { ?x :age ?a VALUES ?a { 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 "
                  "30 } }",
         "?x\n<http://example.org/ann>\n"},
        {PREFIXES "SELECT ?g FROM NAMED :g1 { VALUES ?g { :g1 :g2 } FILTER EXISTS { GRAPH ?g { ?s "
                  ":likes ?l } } }",
         "?g\n<http://example.org/g1>\n"},
        {PREFIXES "SELECT ?y FROM :none { :ann :knows+ ?y }", "?y\n"},
        {PREFIXES "SELECT ?y FROM :none FROM <urn:x-test:default> { :bob :knows+ ?y } ORDER BY ?y",
         "?y\n<http://example.org/cid>\n<http://example.org/dan>\n"},
        {PREFIXES "SELECT ?y FROM :g1 FROM <urn:x-test:default> { :ann :knows* ?y } ORDER BY ?y",
         "?y\n<http://example.org/ann>\n<http://example.org/bob>\n<http://example.org/cid>\n"
         "<http://example.org/dan>\n"},
        {PREFIXES "SELECT ?y { GRAPH :none { :ann :knows? ?y } }",
         "?y\n<http://example.org/ann>\n"},
        {PREFIXES "SELECT (COUNT(*) AS ?n) (SUM(IF(RAND() < 2, 1, 0)) AS ?s) (COUNT(DISTINCT "
                  "IF(RAND() < 2, ?p, ?x)) AS ?d) { ?x ?p ?o }",
         "?n\t?s\t?d\n12\t12\t5\n"},
        {PREFIXES "SELECT (SAMPLE(DISTINCT ?p) AS ?s) (MIN(DISTINCT ?a) AS ?m) (SUM(DISTINCT ?b) "
                  "AS ?t) { ?x :age ?a BIND(1 AS ?b) BIND(:age AS ?p) }",
         "?s\t?m\t?t\n<http://example.org/age>\t25.5\t1\n"},
        {PREFIXES "SELECT (GROUP_CONCAT(DISTINCT ?p; SEPARATOR=',') AS ?s) { { SELECT ?p { ?x "
                  ":knows ?y BIND('k' AS ?p) } } }",
         "?s\n\"k\"\n"},
        {PREFIXES "SELECT ?x { ?x :name ?n { SELECT ?x { ?x :age ?a } ORDER BY DESC(?a) LIMIT 1 } "
                  "}",
         "?x\n<http://example.org/ann>\n"},
        {PREFIXES "SELECT ?x ?n { ?x :knows ?y { SELECT ?y (COUNT(*) AS ?n) { ?z :knows ?y } GROUP "
                  "BY ?y ORDER BY ?z LIMIT 9 } } ORDER BY ?x ?n",
         "?x\t?n\n<http://example.org/ann>\t1\n<http://example.org/ann>\t2\n"
         "<http://example.org/bob>\t2\n<http://example.org/cid>\t1\n"},
    };
    (void)state;
    QUERY_CASES(QUERY_PEOPLE, NULL, cases);
}

/* A string's own datatype may be written; what was computed of times has no term. */
static void
values_without_words(void **state)
{
    struct arena arena;
    struct term term = term_literal(SLICE(" 5 "));
    struct value value;
    (void)state;
    term.datatype = SLICE("http://www.w3.org/2001/XMLSchema#string");
    value_of_term(&term, &value);
    assert_int_equal(value.kind, VALUE_STRING);
    term.datatype = SLICE("http://www.w3.org/2001/XMLSchema#integer");
    value_of_term(&term, &value);
    assert_int_equal(value.kind, VALUE_INTEGER);
    arena_init(&arena, 1 << 16);
    const struct value moment = {.kind = VALUE_DATE}, number = {.kind = VALUE_DOUBLE, .number = 2};
    assert_false(value_term(&moment, &arena, &term));
    assert_true(value_term(&number, &arena, &term));
    assert_true(slice_is(term.value, "2.0E0"));
    arena_release(&arena);
}

/* ---- bounds ---- */

/* `before`, then so often `repeated` with its number, then `after`. */
static void
repeat(struct buf *text, const char *before, const char *repeated, unsigned count,
       const char *after)
{
    buf_reset(text);
    (void)buf_append_string(text, before);
    for (unsigned i = 0; i < count; i++) {
        const char *number = strstr(repeated, "#");
        (void)buf_printf(text, "%.*s%u%s", (int)(number - repeated), repeated, i, number + 1);
    }
    (void)buf_append_string(text, after);
}

static void
answers(const char *text, const char *expected)
{
    const struct query_options options = {.now_ms = 1700000000000};
    struct memory_source *source = query_case_source("");
    struct buf out;
    buf_init(&out, 64 << 20);
    (void)query_case_output(source, text, "tsv", &options, &out);
    assert_string_equal(out.data ? out.data : "", expected);
    buf_release(&out);
    memory_source_free(source);
}

static void
variables_have_their_bound(void **state)
{
    struct buf text;
    (void)state;
    buf_init(&text, 1 << 20);
    repeat(&text, "ASK { VALUES (", "?v# ", 512, ") {} }");
    answers(text.data, "false\n");
    repeat(&text, "ASK { VALUES (", "?v# ", 513, ") {} }");
    answers(text.data, "!the query has more than 512 variables and blank nodes");
    buf_release(&text);
}

static void
labels_of_blank_nodes_have_their_bound(void **state)
{
    struct buf text;
    (void)state;
    buf_init(&text, 1 << 20);
    repeat(&text, "SELECT (BOUND(?x15) AS ?a) (BOUND(?x16) AS ?b) (BOUND(?x17) AS ?c) {",
           "BIND(BNODE(\"#\") AS ?x~) ", 17, "BIND(BNODE(\"3\") AS ?x17) }");
    unsigned number = 0;
    struct buf numbered;
    buf_init(&numbered, 1 << 20);
    for (const char *at = text.data; *at != '\0'; at++) {
        (void)(*at == '~' ? buf_printf(&numbered, "%u", number++)
                          : buf_append_char(&numbered, *at));
    }
    (void)buf_append_char(&numbered, '\0');
    answers(numbered.data, "?a\t?b\t?c\n\"true\"^^<http://www.w3.org/2001/XMLSchema#boolean>\t"
                           "\"false\"^^<http://www.w3.org/2001/XMLSchema#boolean>\t"
                           "\"true\"^^<http://www.w3.org/2001/XMLSchema#boolean>\n");
    buf_release(&numbered);
    buf_release(&text);
}

/* As many labels as there are stand each for a node of its own, wherever they come again. */
static void
many_labels_are_told_apart(void **state)
{
    enum { LABELS = 300 };
    struct buf text, expected;
    (void)state;
    buf_init(&text, 1 << 20);
    buf_init(&expected, 1 << 20);
    (void)buf_append_string(&text, "CONSTRUCT { ");
    for (int again = 0; again < 2; again++) {
        for (int i = 0; i < LABELS; i++) {
            (void)buf_printf(&text, "_:l%d <a:p%d> <a:o%d> . ", i, again, i);
            (void)buf_printf(&expected, "_:new0x%d <a:p%d> <a:o%d> .\n", i, again, i);
        }
    }
    (void)buf_append_string(&text, "} {}");
    answers(text.data, expected.data);
    buf_release(&expected);
    buf_release(&text);
}

static void
texts_have_their_bound(void **state)
{
    struct reason why = {""};
    struct query *query;
    struct update *update;
    char *text = malloc(UPDATE_TEXT_MAXIMUM + 1);
    (void)state;
    memset(text, ' ', UPDATE_TEXT_MAXIMUM + 1);
    memcpy(text, "ASK{}", 5);
    assert_int_equal(query_prepare(&query, slice_of(text, QUERY_TEXT_MAXIMUM), SLICE(""), &why),
                     STATUS_OK);
    query_free(query);
    assert_int_equal(query_prepare(&query, slice_of(text, QUERY_TEXT_MAXIMUM + 1), SLICE(""), &why),
                     STATUS_LIMIT);
    assert_null(query);
    assert_string_equal(why.text, "the query is longer than 1048576 bytes");
    assert_int_equal(
        update_prepare(&update, slice_of(text, UPDATE_TEXT_MAXIMUM + 1), SLICE(""), &why),
        STATUS_LIMIT);
    assert_null(update);
    assert_string_equal(why.text, "the update is longer than 16777216 bytes");
    free(text);
}

static void
operations_have_their_bound(void **state)
{
    static const char operation[] = "CLEAR ALL;";
    struct reason why = {""};
    struct update *update;
    struct buf text;
    (void)state;
    buf_init(&text, 1 << 20);
    for (unsigned i = 0; i < UPDATE_OPERATIONS_MAXIMUM; i++) {
        (void)buf_append_string(&text, operation);
    }
    assert_int_equal(update_prepare(&update, buf_slice(&text), SLICE(""), &why), STATUS_OK);
    update_free(update);
    (void)buf_append_string(&text, operation);
    assert_int_equal(update_prepare(&update, buf_slice(&text), SLICE(""), &why), STATUS_LIMIT);
    assert_null(update);
    assert_string_equal(why.text, "the update has more than 10000 operations");
    buf_release(&text);
}

static void
joined_texts_have_their_bound(void **state)
{
    enum { LENGTH = 500000 };
    struct buf text;
    (void)state;
    buf_init(&text, 1 << 20);
    (void)buf_append_string(&text, "SELECT (STRLEN(GROUP_CONCAT(?x; SEPARATOR='')) AS ?n) { "
                                   "VALUES ?k { 1 2 3 4 5 6 7 8 } VALUES ?j { 1 2 3 4 JK } "
                                   "BIND(IF(?k > 0 && ?j > 0, \"");
    for (int i = 0; i < LENGTH; i++) {
        (void)buf_append_char(&text, 'x');
    }
    (void)buf_append_string(&text, "\", \"\") AS ?x) }");
    char *place = strstr(text.data, "JK");
    memcpy(place, "  ", 2); /* 32 rows */
    answers(text.data, "?n\n16000000\n");
    memcpy(place, "5 ", 2); /* 40 rows */
    answers(text.data, "!a GROUP_CONCAT is longer than 16777216 bytes");
    buf_release(&text);
}

/* ---- datasets and rows ---- */

static void
runs(const char *text, const struct query_options *options, uint64_t rows, uint64_t scans,
     bool truncated)
{
    struct memory_source *source = query_case_source(QUERY_PEOPLE);
    const struct query_sink sink = {0};
    struct query_report report;
    struct query *query;
    struct reason why = {""};
    assert_int_equal(query_prepare(&query, slice_string(text), SLICE(""), &why), STATUS_OK);
    assert_int_equal(query_run(query, memory_source_table(source), options, &sink, &report, &why),
                     STATUS_OK);
    if (report.rows != rows || report.scans != scans || report.truncated != truncated) {
        fail_msg("%s: %llu rows of %llu scans%s", text, (unsigned long long)report.rows,
                 (unsigned long long)report.scans, report.truncated ? ", not all" : "");
    }
    query_free(query);
    memory_source_free(source);
}

/* A graph that is named twice is read once. */
static void
datasets_are_sets(void **state)
{
    const struct query_options none = {0},
                               twice = {.graphs = SLICE("http://example.org/g1\n"
                                                        "http://example.org/g1\n")},
                               two = {.graphs = SLICE("http://example.org/g1\n"
                                                      "http://example.org/g2\n"
                                                      "http://example.org/g1\n")},
                               named = {.named_graphs = SLICE("http://example.org/g2\n")};
    (void)state;
    runs(PREFIXES "SELECT * { ?s :likes ?l }", &none, 2, 1, false);
    runs(PREFIXES "SELECT * { ?s :likes ?l }", &twice, 1, 1, false);
    runs(PREFIXES "SELECT * { ?s :likes ?l }", &two, 2, 2, false);
    runs(PREFIXES "SELECT * { ?s :likes ?l }", &named, 0, 0, false);
    runs(PREFIXES "SELECT * { GRAPH ?g { ?s :likes ?l } }", &named, 2, 1, false);
    runs(PREFIXES "SELECT * FROM :g1 FROM :g1 { ?s :likes ?l }", &none, 1, 1, false);
    runs(PREFIXES "SELECT * FROM :g1 FROM :g2 FROM :g1 { ?s :likes ?l }", &none, 2, 2, false);
    runs(PREFIXES "SELECT * FROM :none { ?s :likes ?l }", &none, 0, 0, false);
    runs(PREFIXES "SELECT * FROM NAMED :g1 FROM NAMED :g1 { GRAPH ?g { ?s :likes ?l } }", &none, 1,
         1, false);
}

static void
rows_end_where_no_more_are_wanted(void **state)
{
    const struct query_options one = {.rows = 1}, three = {.rows = 3}, ten = {.rows = 10};
    (void)state;
    runs(PREFIXES "SELECT * { ?s :likes ?l }", &one, 1, 1, true);
    runs(PREFIXES "SELECT * { ?s :likes ?l }", &three, 2, 1, false);
    runs(PREFIXES "CONSTRUCT { ?s :a ?o . ?o :b ?s } { ?s :knows ?o }", &three, 3, 1, true);
    runs(PREFIXES "CONSTRUCT { ?s :a ?o . ?o :b ?s } { ?s :knows ?o }", &ten, 8, 1, false);
    runs(PREFIXES "DESCRIBE :ann :bob", &three, 3, 1, true);
    runs(PREFIXES "DESCRIBE :ann :bob", &ten, 10, 2, false);
    runs(PREFIXES "DESCRIBE :cid FROM :g1 FROM <urn:x-test:default>", &ten, 2, 2, false);
}

/* ---- memory ---- */

static unsigned looks;

/* A term of a megabyte. */
static enum status
large_term(void *context, oid id, struct arena *arena, struct term *term, struct reason *why)
{
    enum { LENGTH = 1 << 20 };
    char *text = arena_alloc(arena, LENGTH);
    (void)context, (void)why;
    looks++;
    memset(text, (int)('a' + id), LENGTH);
    *term = term_literal(slice_of(text, LENGTH));
    return STATUS_OK;
}

/* Terms of more than 8 MiB are forgotten together, and looked at again. */
static void
a_dictionary_forgets_what_is_much(void **state)
{
    struct memory_account account = {.maximum = 64 << 20};
    const struct quad_source source = {.resolve = large_term};
    struct dictionary dictionary;
    struct spill spill;
    struct term term;
    struct reason why;
    (void)state;
    spill_init(&spill, &account, NULL, 0);
    dictionary_init(&dictionary, &source, &spill);
    for (oid id = 1; id <= 8; id++) {
        assert_int_equal(dictionary_term(&dictionary, id, &term, &why), STATUS_OK);
        dictionary_trim(&dictionary);
    }
    assert_int_equal(dictionary_term(&dictionary, 3, &term, &why), STATUS_OK);
    assert_int_equal(looks, 8);
    assert_int_equal(dictionary.trims, 0);
    assert_int_equal(dictionary_term(&dictionary, 9, &term, &why), STATUS_OK);
    dictionary_trim(&dictionary);
    assert_int_equal(dictionary.trims, 1);
    assert_int_equal(dictionary.resolved.used, 0);
    assert_int_equal(dictionary_term(&dictionary, 3, &term, &why), STATUS_OK);
    assert_int_equal(term.value.at[5], 'a' + 3);
    assert_int_equal(looks, 10);
    dictionary_release(&dictionary);
    spill_release(&spill);
}

static void
tables_have_their_bounds(void **state)
{
    struct memory_account account = {.maximum = SIZE_MAX};
    struct row_table table;
    struct reason why = {""};
    (void)state;
    row_table_init(&table, &account, "a test", 2, 1);
    assert_int_equal(row_table_reserve(&table, UINT32_MAX, &why), STATUS_LIMIT);
    assert_string_equal(why.text, "the query holds too many rows (a test)");
    assert_int_equal(account.used, 0);
    /* A filter has sixteen bits a key, a power of two, from 1,024 bits up to 4,194,304. */
    static const struct {
        size_t count, bytes;
    } filters[] = {{0, 128},    {64, 128},          {65, 256},         {128, 256},
                   {129, 512},  {1 << 17, 1 << 18}, {131073, 1 << 19}, {262144, 1 << 19},
                   {262145, 0}, {1 << 24, 0}};
    for (size_t i = 0; i < sizeof filters / sizeof *filters; i++) {
        table.count = filters[i].count;
        assert_int_equal(key_filter_size(&table), filters[i].bytes);
    }
}

/* ---- days ---- */

/* From year to year, over leap years and centuries, each day has as many seconds. */
static void
days_follow_each_other(void **state)
{
    static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    enum { FIRST = -401, LAST = 402, DAY = 86400 };
    double before = NAN;
    (void)state;
    for (int year = FIRST; year <= LAST; year++) {
        const bool leap = year % 400 == 0 || (year % 4 == 0 && year % 100 != 0);
        for (int month = 1; month <= 12; month++) {
            for (int day = 1; day <= lengths[month - 1] + (leap && month == 2); day++) {
                const struct moment moment = {
                    .year = year, .month = month, .day = day, .has_zone = true};
                const double seconds = moment_seconds(&moment);
                if (before == before && seconds != before + DAY) {
                    fail_msg("%d-%d-%d: %f", year, month, day, seconds - before);
                }
                before = seconds;
            }
        }
    }
    const struct moment moment = {.year = 2000,
                                  .month = 3,
                                  .day = 1,
                                  .hour = 5,
                                  .minute = 7,
                                  .second = {85, 1},
                                  .has_zone = true,
                                  .zone = 90};
    const struct moment whole = {.year = 2000, .month = 3, .day = 1, .has_zone = true};
    assert_true(moment_seconds(&moment) - moment_seconds(&whole) ==
                5 * 3600 + 7 * 60 + 8.5 - 90 * 60);
}

static void
moments_that_are_none(void **state)
{
    static const struct {
        const char *text;
        enum moment_kind kind;
        bool good;
    } cases[] = {
        {"2011-01-1", MOMENT_DATE, false},
        {"2011-01-10", MOMENT_DATE, true},
        {"2011-1-10", MOMENT_DATE, false},
        {"2011-0110", MOMENT_DATE, false},
        {"201101-10", MOMENT_DATE, false},
        {"123456789012-01-01", MOMENT_DATE, true},
        {"1234567890123-01-01", MOMENT_DATE, false},
        {"2011-00-01", MOMENT_DATE, false},
        {"2011-13-01", MOMENT_DATE, false},
        {"2011-12-00", MOMENT_DATE, false},
        {"2011-12-32", MOMENT_DATE, false},
        {"2011-12-31", MOMENT_DATE, true},
        {"10:00:00", MOMENT_TIME, true},
        {"1:00:00", MOMENT_TIME, false},
        {"10-00:00", MOMENT_TIME, false},
        {"10:0:00", MOMENT_TIME, false},
        {"10:00-00", MOMENT_TIME, false},
        {"10:00:1", MOMENT_TIME, false},
        {"10:00:12.", MOMENT_TIME, false},
        {"10:00:12.5", MOMENT_TIME, true},
        {"10:00:+9", MOMENT_TIME, false},
        {"10:00:-9", MOMENT_TIME, false},
        {"10:00:.9", MOMENT_TIME, false},
        {"10:00:60", MOMENT_TIME, false},
        {"10:00:59", MOMENT_TIME, true},
        {"10:59:00", MOMENT_TIME, true},
        {"10:60:00", MOMENT_TIME, false},
        {"23:00:00", MOMENT_TIME, true},
        {"24:00:00", MOMENT_TIME, true},
        {"24:00:00.5", MOMENT_TIME, false},
        {"24:01:00", MOMENT_TIME, false},
        {"25:00:00", MOMENT_TIME, false},
        {"10:00:00+14:00", MOMENT_TIME, true},
        {"10:00:00+14:01", MOMENT_TIME, false},
        {"10:00:00-13:59", MOMENT_TIME, true},
        {"10:00:00+13:60", MOMENT_TIME, false},
        {"10:00:00+1:00", MOMENT_TIME, false},
        {"10:00:00+0100", MOMENT_TIME, false},
        {"10:00:00+01:0", MOMENT_TIME, false},
        {"10:00:00*01:00", MOMENT_TIME, false},
        {"10:00:00+01:00x", MOMENT_TIME, false},
        {"10:00:00Zx", MOMENT_TIME, false},
        {"10:00:00Z", MOMENT_TIME, true},
        {"2011-01-10 10:00:00", MOMENT_DATE_TIME, false},
        {"2011-01-10", MOMENT_DATE_TIME, false},
        {"2011-01-10T10:00", MOMENT_DATE_TIME, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct moment moment;
        char copy[64]; /* with a digit behind, which is not to be read */
        snprintf(copy, sizeof copy, "%s00", cases[i].text);
        if (moment_parse(slice_of(copy, strlen(cases[i].text)), cases[i].kind, &moment) !=
            cases[i].good) {
            fail_msg("%s", cases[i].text);
        }
    }
    struct moment moment;
    assert_true(moment_parse(SLICE("-0044-12-31T24:00:00-05:30"), MOMENT_DATE_TIME, &moment));
    assert_true(moment.year == -43 && moment.month == 1 && moment.day == 1 && moment.hour == 0 &&
                moment.minute == 0 && moment.has_zone && moment.zone == -330);
    assert_true(moment_parse(SLICE("24:00:00"), MOMENT_TIME, &moment));
    assert_true(moment.year == 1972 && moment.month == 12 && moment.day == 31 && moment.hour == 0 &&
                !moment.has_zone && moment.zone == 0);
}

int
query_corners_run(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forms_within_functions),
        cmocka_unit_test(tokens_that_are_rare),
        cmocka_unit_test(plans_that_are_rare),
        cmocka_unit_test(values_without_words),
        cmocka_unit_test(variables_have_their_bound),
        cmocka_unit_test(labels_of_blank_nodes_have_their_bound),
        cmocka_unit_test(many_labels_are_told_apart),
        cmocka_unit_test(texts_have_their_bound),
        cmocka_unit_test(operations_have_their_bound),
        cmocka_unit_test(joined_texts_have_their_bound),
        cmocka_unit_test(datasets_are_sets),
        cmocka_unit_test(rows_end_where_no_more_are_wanted),
        cmocka_unit_test(a_dictionary_forgets_what_is_much),
        cmocka_unit_test(tables_have_their_bounds),
        cmocka_unit_test(days_follow_each_other),
        cmocka_unit_test(moments_that_are_none),
    };
    return cmocka_run_group_tests_name("query_corners", tests, NULL, NULL);
}
