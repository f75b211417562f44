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

/* Hostile depth and width end in a reason. */
static void
test_bounds(void **state)
{
    static const struct {
        const char *before, *repeated, *after;
    } cases[] = {{"ASK ", "{", ""},
                 {"ASK { FILTER", "(", ""},
                 {"ASK { FILTER(", "!", ""},
                 {"ASK { ?s ?p ", "[ ?p ", ""},
                 {"ASK { ?s ", "(", ""},
                 {"ASK { FILTER(1", "+1", ")}"},
                 {"ASK { ?s <a:p>", "/<a:p>", " ?o }"},
                 {"ASK {{}", " UNION {}", "}"},
                 {"ASK {", "OPTIONAL {?s ?p ?o}", "}"}};
    struct memory_source *source = query_case_source("");
    const struct query_options options = {0};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buf text, out;
        buf_init(&text, 1 << 20);
        buf_init(&out, 1 << 20);
        buf_append_string(&text, cases[i].before);
        for (int k = 0; k < 20000; k++) {
            buf_append_string(&text, cases[i].repeated);
        }
        buf_append_string(&text, cases[i].after);
        assert_int_equal(query_case_output(source, text.data, "tsv", &options, &out), STATUS_LIMIT);
        assert_int_equal(out.data[0], '!');
        buf_release(&text);
        buf_release(&out);
    }
    memory_source_free(source);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_errors_name_line_and_column),
        cmocka_unit_test(test_forms_that_are_right),
        cmocka_unit_test(test_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
