#include "index/query/query.h"
#include "index/query/update.h"
#include "tests/unit/query/grammar_tokens.h"
#include "tests/unit/query/query_case.h"

/* What is wrong, and where. */
static void
test_errors_name_line_and_column(void **state)
{
    static const struct query_case cases[] = {
        {"", "!line 1, column 1: expected SELECT, CONSTRUCT, DESCRIBE or ASK, found the end of "
             "the query"},
        {"SELECT ?s WHERE {\n  ?s ?p }", "!line 2, column 9: expected a variable, an IRI, a "
                                         "literal or a blank node, found '}'"},
        {"SELECT (foaf:name AS ?p) {}", "?p\n<http://xmlns.com/foaf/0.1/name>\n"},
        {"PREFIX foaf: <a:> SELECT (foaf:name AS ?p) {}", "?p\n<a:name>\n"},
        {"SELECT ?s { ?s ex:p ?o }", "!line 1, column 16: the prefix 'ex:' is not declared"},
        {"SELECT * { ?s ?p \"x }", "!line 1, column 18: a string that does not end"},
        {"SELECT * { ?s ?p \"x\n\" }", "!line 1, column 20: a line ends inside a string"},
        {"SELECT * { ?s ?p \"\xC3\xA9\\x\" }", "!line 1, column 20: a bad escape in a string"},
        {"SELECT ?s { ?s ?p ?o } LIMIT x", "!line 1, column 30: expected an integer, found 'x'"},
        {"SELECT ?s { ?s ?p ?o } }", "!line 1, column 24: expected the end of the query, found "
                                     "'}'"},
        {"SELECT (?o AS ?s) { ?s ?p ?o }", "!line 1, column 8: ?s is already in scope"},
        {"SELECT * { ?s ?p ?o BIND(1 AS ?o) }", "!line 1, column 31: ?o is already in scope"},
        {"SELECT ?s ?o { ?s ?p ?o } GROUP BY ?s",
         "!line 1, column 11: ?o is neither grouped nor aggregated"},
        {"SELECT (?o + 1 AS ?x) { ?s ?p ?o } GROUP BY ?s",
         "!line 1, column 8: the expression of ?x uses a variable that is neither grouped nor "
         "aggregated"},
        {"SELECT * { ?s ?p ?o } GROUP BY ?s",
         "!line 1, column 34: SELECT * cannot be used with GROUP BY or aggregates"},
        {"SELECT (SUM(COUNT(*)) AS ?x) { ?s ?p ?o }",
         "!line 1, column 13: an aggregate cannot be used here"},
        {"SELECT ?s { ?s ?p ?o FILTER(COUNT(?o) > 1) }",
         "!line 1, column 29: an aggregate cannot be used here"},
        {"SELECT * { _:a ?p ?o { _:a ?q ?r } }",
         "!line 1, column 24: the label _:a belongs to another basic graph pattern"},
        {"SELECT * { VALUES (?a ?b) { (1) } }",
         "!line 1, column 29: a row of 1 values for 2 variables"},
        {"SELECT * { ?s ?p ?o FILTER(STRLEN(?s, 1) > 2) }",
         "!line 1, column 28: STRLEN does not take 2 arguments"},
        {"CONSTRUCT { ?s <a:p>+ ?o } { ?s ?p ?o }",
         "!line 1, column 21: expected a variable, an IRI, a literal or a blank node, found '+'"},
        {"SELECT * { ?s <a:p> ?o . . }",
         "!line 1, column 26: expected a triple, a pattern, '.' or '}', found '.'"},
        {"ASK { ?s ?p ?o } ORDER BY", "!line 1, column 26: expected a variable or an expression, "
                                      "found the end of the query"},
        {"SELECT * { ?s ?p \xFF }", "!the query is not valid UTF-8"},
        {"PREFIX a:b <a:> ASK {}",
         "!line 1, column 8: expected a prefix with its colon, found 'a:b'"},
        {"PREFIX ?a <a:> ASK {}",
         "!line 1, column 8: expected a prefix with its colon, found '?a'"},
        {"PREFIX <a:> ASK {}", "!line 1, column 8: expected a prefix with its colon, found '<a:>'"},
        {"PREFIX ( <a:> ASK {}", "!line 1, column 8: expected a prefix with its colon, found '('"},
        {"PREFIX a: b: ASK {}", "!line 1, column 11: expected an IRI in < >, found 'b:'"},
    };
    (void)state;
    QUERY_CASES("", NULL, cases);
}

static void
test_forms_that_are_right(void **state)
{
    static const struct query_case cases[] = {
        {"#c\nPREFIX : <a:> PREFIX p.q: <b:>\nask{:s a p.q:t.u,:1:2,:%41\\~;}", "false\n"},
        {"ASK { [] <a:p> (1 -2.5 +1e3 \"\"\"x\"\"\" 'y'@EN true <rel> [ a [] ] ()) }", "false\n"},
        {"ASK { FILTER(1 < 2 && !(-1 > +2) || 1-1=0) }", "true\n"},
        {"ASK { ?s ^<a:p>/(<a:q>|!(a|^<a:r>))* ?o ; !a ?x }", "false\n"},
        {"ASK { VALUES () { () } VALUES ?x { UNDEF } }", "true\n"},
        {"ASK { {} UNION { SELECT * { } } OPTIONAL {} MINUS {} }", "true\n"},
        {"SELECT (1 AS ?x) (?x + 1 AS ?y) {} VALUES ?z { <a:z> }", "?x\t?y\n1\t2\n"},
        {"SELECT ?a { BIND(\"\\u0041\\n\" AS ?a) }", "?a\n\"A\\n\"\n"},
        {"BASE <http://b.example/x/> SELECT ?a { BIND(<../y> AS ?a) }",
         "?a\n<http://b.example/y>\n"},
    };
    (void)state;
    QUERY_CASES("", NULL, cases);
}

/* Names with all that may stand in them, and what a selection says. */
static void
test_selections(void **state)
{
    static const struct query_case cases[] = {
        {"PREFIX : <a:> SELECT (:a\\,b\\~\\#\\%c AS ?p) {}", "?p\n<a:a,b~#%c>\n"},
        {"PREFIX : <a:> SELECT (:\\_\\-\\.\\!\\$\\&\\'\\(\\)\\*\\+\\;\\=\\/\\?\\@ AS ?p) {}",
         "?p\n<a:_-.!$&'()*+;=/?@>\n"},
        {"PREFIX : <a:> SELECT (:%4a%2Fx.y:z AS ?p) {}", "?p\n<a:%4a%2Fx.y:z>\n"},
        {"PREFIX : <a:> SELECT (:1.2 AS ?p) (: AS ?q) {}", "?p\t?q\n<a:1.2>\t<a:>\n"},
        {"PREFIX : <a:> SELECT * { VALUES ?x { :a:b :c. } }",
         "!line 1, column 45: expected an IRI, a literal or UNDEF, found '.'"},
        {"PREFIX : <a:> SELECT (:%4g AS ?p) {}",
         "!line 1, column 24: expected two hexadecimal digits after '%'"},
        {"SELECT ?x { VALUES ?x { 1 2 3 } } LIMIT 2", "?x\n1\n2\n"},
        {"SELECT ?x { VALUES ?x { 1 2 3 } } OFFSET 1", "?x\n2\n3\n"},
        {"SELECT ?x { VALUES ?x { 1 2 3 } } OFFSET 1 LIMIT 1", "?x\n2\n"},
        {"SELECT ?x { VALUES ?x { 1 2 3 } } LIMIT 0", "?x\n"},
        {"SELECT ?x { VALUES ?x { 1 } } LIMIT 999999999999999999", "?x\n1\n"},
        {"SELECT ?x { VALUES ?x { 1 } } LIMIT 1000000000000000000",
         "!line 1, column 37: expected an integer, found '1000000000000000000'"},
        {"SELECT ?x { VALUES ?x { 1 } } LIMIT 1 LIMIT 1",
         "!line 1, column 39: expected the end of the query, found 'LIMIT'"},
        {"SELECT ?x ?x { VALUES ?x { 1 } }", "?x\n1\n"},
        {"SELECT (1 AS ?x) ?x {}", "?x\n1\n"},
        {"SELECT ?x (1 AS ?x) {}", "!line 1, column 11: ?x is already in scope"},
        {"SELECT DISTINCT ?x { VALUES (?x ?y) { (1 2) (1 3) } }", "?x\n1\n"},
        {"SELECT REDUCED ?x { VALUES (?x ?y) { (1 2) (1 3) } }", "?x\n1\n1\n"},
        {"SELECT * { VALUES (?b ?a) { (1 2) } }", "?b\t?a\n1\t2\n"},
        {"SELECT * { VALUES ?x { 2 1 3 } } ORDER BY ?x", "?x\n1\n2\n3\n"},
        {"SELECT * { VALUES ?x { 2 1 3 } } ORDER BY DESC(?x)", "?x\n3\n2\n1\n"},
        {"SELECT * { VALUES ?x { 2 1 3 } } ORDER BY ASC(-?x)", "?x\n3\n2\n1\n"},
        {"SELECT * { VALUES ?x { 2 1 3 } } ORDER BY (?x = 2) ABS(?x - 4)", "?x\n3\n1\n2\n"},
        {"SELECT ?k (SUM(?v) AS ?n) { VALUES (?k ?v) { (1 2) (2 5) (1 4) } } GROUP BY ?k ORDER BY "
         "?k",
         "?k\t?n\n1\t6\n2\t5\n"},
        {"SELECT ?p (COUNT(*) AS ?n) { VALUES ?k { 1 2 3 } } GROUP BY (?k > 1 AS ?p) ORDER BY ?n",
         "?p\t?n\n\"false\"^^<http://www.w3.org/2001/XMLSchema#boolean>\t1\n"
         "\"true\"^^<http://www.w3.org/2001/XMLSchema#boolean>\t2\n"},
        {"SELECT (COUNT(*) AS ?n) { VALUES ?k { 1 2 3 } } GROUP BY (?k > 1) ORDER BY ?n",
         "?n\n1\n2\n"},
        {"SELECT (COUNT(*) AS ?n) { VALUES ?k { 1 2 3 } } GROUP BY (?k) HAVING (?k > 1) (?k < 3)",
         "?n\n1\n"},
        {"SELECT (COUNT(*) AS ?n) { VALUES ?k { 1 2 3 } } HAVING (COUNT(*) > 3)", "?n\n"},
        {"SELECT ?x { { SELECT (?y AS ?x) { VALUES ?y { 1 2 } } OFFSET 1 } } VALUES ?x { 2 3 }",
         "?x\n2\n"},
        {"SELECT ?y { { SELECT (?y AS ?x) { VALUES ?y { 1 2 } } } }", "?y\n\n\n"},
        {"SELECT * { { SELECT * { VALUES (?b ?a) { (1 2) } } LIMIT 1 } VALUES ?c { 3 } }",
         "?b\t?a\t?c\n1\t2\t3\n"},
        {"ASK { VALUES ?x { 1 } } OFFSET 1", "false\n"},
        {"ASK { VALUES ?x { 1 } } VALUES ?x { 2 }", "false\n"},
    };
    (void)state;
    QUERY_CASES("", NULL, cases);
}

/* Hostile depth and width end in a reason; what is merely long is answered. */
static void
test_bounds(void **state)
{
    static const struct {
        const char *before, *repeated, *after;
        int answered; /* so often */
    } cases[] = {{"ASK ", "{", "", 0},
                 {"ASK { FILTER", "(", "", 0},
                 {"ASK { FILTER(", "!", "", 0},
                 {"ASK { ?s ?p ", "[ ?p ", "", 0},
                 {"ASK { ?s ", "(", "", 0},
                 {"ASK { FILTER(1", "+1", ")}", 900},
                 {"ASK { ?s <a:p>", "/<a:p>", " ?o }", 480},
                 {"ASK {{}", " UNION {}", "}", 900},
                 {"ASK {", "OPTIONAL {?s ?p ?o}", "}", 480}};
    struct memory_source *source = query_case_source("");
    const struct query_options options = {0};
    (void)state;
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        const size_t at = i / 2;
        const bool hostile = i % 2 == 0;
        struct buf text, out;
        if (!hostile && cases[at].answered == 0) {
            continue;
        }
        buf_init(&text, 1 << 20);
        buf_init(&out, 1 << 20);
        buf_append_string(&text, cases[at].before);
        for (int k = 0; k < (hostile ? 20000 : cases[at].answered); k++) {
            buf_append_string(&text, cases[at].repeated);
        }
        buf_append_string(&text, cases[at].after);
        assert_int_equal(query_case_output(source, text.data, "tsv", &options, &out),
                         hostile ? STATUS_LIMIT : STATUS_OK);
        assert_int_equal(out.data[0] == '!', hostile);
        buf_release(&text);
        buf_release(&out);
    }
    memory_source_free(source);
}

/* What some rows leave unbound is compatible with everything. */
static void
test_rows_without_a_value(void **state)
{
    static const struct query_case cases[] = {
        {"SELECT ?x { VALUES ?x { 1 UNDEF } VALUES ?x { 2 1 } } ORDER BY ?x", "?x\n1\n1\n2\n"},
        {"SELECT ?x { VALUES ?x { UNDEF 1 } VALUES ?x { 2 1 } } ORDER BY ?x", "?x\n1\n1\n2\n"},
        {"SELECT ?x { VALUES ?x { 2 1 } VALUES ?x { 1 UNDEF } } ORDER BY ?x", "?x\n1\n1\n2\n"},
        {"SELECT ?x ?y { VALUES (?x ?y) { (1 UNDEF) (UNDEF 2) } VALUES (?x ?y) { (1 2) (1 3) (4 2) "
         "} } ORDER BY ?x ?y",
         "?x\t?y\n1\t2\n1\t2\n1\t3\n4\t2\n"},
        {"SELECT ?x ?y { VALUES ?x { 1 2 } OPTIONAL { VALUES (?x ?y) { (1 5) (UNDEF 6) } } } ORDER "
         "BY ?x ?y",
         "?x\t?y\n1\t5\n1\t6\n2\t6\n"},
        {"SELECT ?x ?y { VALUES (?x ?y) { (1 UNDEF) (2 3) } OPTIONAL { VALUES ?y { 3 4 } } } ORDER "
         "BY ?x ?y",
         "?x\t?y\n1\t3\n1\t4\n2\t3\n"},
        {"SELECT ?x { VALUES ?x { 1 2 } MINUS { VALUES ?x { 2 UNDEF } } }", "?x\n1\n"},
        {"SELECT ?x { VALUES ?x { 1 2 } MINUS { VALUES ?y { 1 } } }", "?x\n1\n2\n"},
        {"SELECT ?x { VALUES (?x ?y) { (1 UNDEF) (2 UNDEF) } MINUS { VALUES (?x ?y) { (1 7) } } }",
         "?x\n2\n"},
        {"SELECT ?x { VALUES ?x { 1 UNDEF 2 } FILTER(BOUND(?x)) }", "?x\n1\n2\n"},
        {"SELECT ?x { VALUES ?x { 1 UNDEF 2 } FILTER(!BOUND(?x)) }", "?x\n\n"},
        {"SELECT (COUNT(?x) AS ?n) (COUNT(*) AS ?m) { VALUES ?x { 1 UNDEF 1 } }", "?n\t?m\n2\t3\n"},
        {"SELECT (COUNT(DISTINCT ?x) AS ?n) (COUNT(DISTINCT *) AS ?m) { VALUES ?x { 1 UNDEF 1 } }",
         "?n\t?m\n1\t2\n"},
        {"SELECT ?x (COUNT(*) AS ?n) { VALUES ?x { 1 UNDEF 1 UNDEF UNDEF } } GROUP BY ?x ORDER BY "
         "?n",
         "?x\t?n\n1\t2\n\t3\n"},
        {"SELECT DISTINCT ?x { VALUES ?x { 1 UNDEF 1 UNDEF } } ORDER BY ?x", "?x\n\n1\n"},
        {"SELECT ?x ?z { VALUES ?x { 1 UNDEF } BIND(COALESCE(?x, 9) AS ?z) } ORDER BY ?z",
         "?x\t?z\n1\t1\n\t9\n"},
        {"SELECT ?x { { VALUES ?x { 1 } } UNION { VALUES ?y { 2 } } VALUES ?x { 1 3 } } ORDER BY "
         "?x",
         "?x\n1\n1\n3\n"},
        {"SELECT ?x { VALUES ?x { 1 2 } FILTER NOT EXISTS { VALUES ?x { 2 3 } } }", "?x\n1\n"},
        {"SELECT ?x { VALUES ?x { 1 2 } FILTER EXISTS { VALUES ?x { 2 3 } } }", "?x\n2\n"},
        {"SELECT ?x { VALUES ?x { 1 UNDEF } FILTER EXISTS { VALUES ?x { 2 3 } } }", "?x\n\n"},
    };
    (void)state;
    QUERY_CASES("", NULL, cases);
}

/* Who gives back what he never had does no harm. */
static void
what_never_was_is_let_go(void **state)
{
    (void)state;
    query_free(NULL);
    update_free(NULL);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_errors_name_line_and_column),
        cmocka_unit_test(test_forms_that_are_right),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_selections),
        cmocka_unit_test(test_rows_without_a_value),
        cmocka_unit_test(no_token_is_read_over),
        cmocka_unit_test(what_never_was_is_let_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
