/* What is said of queries that are none: where they go wrong, and what would have been right
 * there. */
#include "tests/unit/query/query_case.h"

static const struct {
    const char *query, *reason;
} mistakes[] = {
    {"SELECT", "line 1, column 7: expected a variable, '(' or '*', found the end of the query"},
    {"SELECT * ", "line 1, column 10: expected '{', found the end of the query"},
    {"SELECT * {",
     "line 1, column 11: expected a triple, a pattern, '.' or '}', found the end of the query"},
    {"SELECT * { ?s", "line 1, column 14: expected a predicate, found the end of the query"},
    {"SELECT * { ?s ?p",
     "line 1, column 17: expected a variable, an IRI, a literal or a blank node, found the end of "
     "the query"},
    {"SELECT * { ?s ?p ?o",
     "line 1, column 20: expected a triple, a pattern, '.' or '}', found the end of the query"},
    {"SELECT * { ?s ?p ?o ;",
     "line 1, column 22: expected a triple, a pattern, '.' or '}', found the end of the query"},
    {"SELECT * { ?s ?p ?o , }",
     "line 1, column 23: expected a variable, an IRI, a literal or a blank node, found '}'"},
    {"SELECT * { ?s ?p ?o ?q }",
     "line 1, column 21: expected a triple, a pattern, '.' or '}', found '?q'"},
    {"SELECT * { \"a\" ?p }",
     "line 1, column 19: expected a variable, an IRI, a literal or a blank node, found '}'"},
    {"SELECT * { ?s \"a\" ?o }", "line 1, column 15: expected a predicate, found '\"a\"'"},
    {"SELECT * { ?s _:b ?o }", "line 1, column 15: expected a predicate, found '_:b'"},
    {"SELECT * { ?s :p ?o }", "line 1, column 15: the prefix ':' is not declared"},
    {"SELECT * { ?s <a b> ?o }", "line 1, column 15: expected a predicate, found '<'"},
    {"SELECT * { ?s <a> 'b }", "line 1, column 19: a string that does not end"},
    {"SELECT * { ?s <a> 'b\\q' }", "line 1, column 21: a bad escape in a string"},
    {"SELECT * { ?s <a> \"b\"@ }", "line 1, column 22: expected a language tag after '@'"},
    {"SELECT * { ?s <a> \"b\"^^ }", "line 1, column 25: expected an IRI, found '}'"},
    {"SELECT * { ?s <a> 1.2.3 . }",
     "line 1, column 22: expected a triple, a pattern, '.' or '}', found '.3'"},
    {"SELECT * { ?s <a> 1e }",
     "line 1, column 20: expected a triple, a pattern, '.' or '}', found 'e'"},
    {"SELECT * { ?s <a> [ }", "line 1, column 21: expected a predicate, found '}'"},
    {"SELECT * { ?s <a> ( 1 2 }",
     "line 1, column 25: expected a variable, an IRI, a literal or a blank node, found '}'"},
    {"SELECT * { [] }", "line 1, column 15: expected a predicate, found '}'"},
    {"SELECT * { ?s <a>/ ?o }", "line 1, column 20: expected a property path, found '?o'"},
    {"SELECT * { ?s (<a> ?o }", "line 1, column 20: expected ')', found '?o'"},
    {"SELECT * { ?s !?p ?o }", "line 1, column 16: expected an IRI, found '?p'"},
    {"SELECT * { ?s ^ ?o }", "line 1, column 17: expected a property path, found '?o'"},
    {"SELECT * { ?s <a>{1} ?o }",
     "line 1, column 18: expected a variable, an IRI, a literal or a blank node, found '{'"},
    {"SELECT (1 AS ?s) (2 AS ?s) { }", "line 1, column 18: ?s is already in scope"},
    {"SELECT (1 AS ?s) { ?s ?p ?o }", "line 1, column 8: ?s is already in scope"},
    {"SELECT (1 ?s) { }", "line 1, column 11: expected AS, found '?s'"},
    {"SELECT (1 AS 2) { }", "line 1, column 14: expected a variable after AS, found '2'"},
    {"SELECT () { }", "line 1, column 8: expected a variable, '(' or '*', found '()'"},
    {"SELECT DISTINCT { }", "line 1, column 17: expected a variable, '(' or '*', found '{'"},
    {"SELECT * { } GROUP BY ?s",
     "line 1, column 25: SELECT * cannot be used with GROUP BY or aggregates"},
    {"SELECT ?o { ?s ?p ?o } GROUP BY ?s",
     "line 1, column 8: ?o is neither grouped nor aggregated"},
    {"SELECT (COUNT(*) AS ?n) ?o { ?s ?p ?o }",
     "line 1, column 25: ?o is neither grouped nor aggregated"},
    {"SELECT (COUNT(COUNT(*)) AS ?n) { ?s ?p ?o }",
     "line 1, column 15: an aggregate cannot be used here"},
    {"SELECT * { FILTER(COUNT(*) > 1) }", "line 1, column 19: an aggregate cannot be used here"},
    {"SELECT * { FILTER(?x }", "line 1, column 22: expected ')', found '}'"},
    {"SELECT * { FILTER ?x }", "line 1, column 19: expected an expression, found '?x'"},
    {"SELECT * { FILTER(nothing(1)) }",
     "line 1, column 19: expected an expression, found 'nothing'"},
    {"SELECT * { FILTER(STRLEN()) }", "line 1, column 19: STRLEN does not take 0 arguments"},
    {"SELECT * { FILTER(STRLEN(1, 2)) }", "line 1, column 19: STRLEN does not take 2 arguments"},
    {"SELECT * { FILTER(SUBSTR(1)) }", "line 1, column 19: SUBSTR does not take 1 arguments"},
    {"SELECT * { FILTER(BOUND(1)) }", "line 1, column 25: expected a variable, found '1'"},
    {"SELECT * { FILTER(BOUND(?x, ?y)) }", "line 1, column 27: expected ')', found ','"},
    {"SELECT * { FILTER(EXISTS ?x) }", "line 1, column 26: expected '{', found '?x'"},
    {"SELECT * { FILTER(1 IN 2) }", "line 1, column 24: expected '(', found '2'"},
    {"SELECT * { FILTER(1 NOT 2) }", "line 1, column 25: expected IN, found '2'"},
    {"SELECT * { FILTER(1 +) }", "line 1, column 22: expected an expression, found ')'"},
    {"SELECT * { FILTER(1 && ) }", "line 1, column 24: expected an expression, found ')'"},
    {"SELECT * { FILTER(! ) }", "line 1, column 21: expected an expression, found ')'"},
    {"SELECT * { FILTER(IF(1, 2)) }", "line 1, column 19: IF does not take 2 arguments"},
    {"SELECT * { FILTER(COALESCE 1) }", "line 1, column 28: expected '(', found '1'"},
    {"SELECT * { BIND(1 ?x) }", "line 1, column 19: expected AS, found '?x'"},
    {"SELECT * { BIND(1 AS x) }", "line 1, column 22: expected a variable after AS, found 'x'"},
    {"SELECT * { ?x ?p ?o BIND(1 AS ?x) }", "line 1, column 31: ?x is already in scope"},
    {"SELECT * { OPTIONAL ?x }", "line 1, column 21: expected '{', found '?x'"},
    {"SELECT * { GRAPH \"a\" { } }",
     "line 1, column 18: expected a variable or an IRI, found '\"a\"'"},
    {"SELECT * { GRAPH ?g ?x }", "line 1, column 21: expected '{', found '?x'"},
    {"SELECT * { { ?s ?p ?o } UNION }", "line 1, column 31: expected '{', found '}'"},
    {"SELECT * { MINUS }", "line 1, column 18: expected '{', found '}'"},
    {"SELECT * { SERVICE { } }", "line 1, column 20: expected a variable or an IRI, found '{'"},
    {"SELECT * { VALUES ?x 1 }", "line 1, column 22: expected '{', found '1'"},
    {"SELECT * { VALUES ?x { ?y } }",
     "line 1, column 24: expected an IRI, a literal or UNDEF, found '?y'"},
    {"SELECT * { VALUES (?x ?y) { (1) } }", "line 1, column 29: a row of 1 values for 2 variables"},
    {"SELECT * { VALUES (?x ?y) { (1 2 3) } }",
     "line 1, column 29: a row of 3 values for 2 variables"},
    {"SELECT * { VALUES (?x) { 1 } }", "line 1, column 26: expected '(', found '1'"},
    {"SELECT * { VALUES x { 1 } }", "line 1, column 19: expected '(', found 'x'"},
    {"SELECT * { } VALUES ?x { 1 } ?y",
     "line 1, column 30: expected the end of the query, found '?y'"},
    {"SELECT * { } LIMIT", "line 1, column 19: expected an integer, found the end of the query"},
    {"SELECT * { } LIMIT -1", "line 1, column 20: expected an integer, found '-'"},
    {"SELECT * { } LIMIT 1 LIMIT 2",
     "line 1, column 22: expected the end of the query, found 'LIMIT'"},
    {"SELECT * { } OFFSET ?x", "line 1, column 21: expected an integer, found '?x'"},
    {"SELECT * { } ORDER BY",
     "line 1, column 22: expected a variable or an expression, found the end of the query"},
    {"SELECT * { } ORDER ?x", "line 1, column 20: expected BY, found '?x'"},
    {"SELECT * { } ORDER BY DESC", "line 1, column 27: expected '(', found the end of the query"},
    {"SELECT * { } GROUP BY",
     "line 1, column 22: expected a variable or an expression, found the end of the query"},
    {"SELECT * { } HAVING",
     "line 1, column 20: expected an expression, found the end of the query"},
    {"SELECT * FROM { }", "line 1, column 15: expected an IRI, found '{'"},
    {"SELECT * FROM NAMED ?g { }", "line 1, column 21: expected an IRI, found '?g'"},
    {"SELECT * { { SELECT } }", "line 1, column 21: expected a variable, '(' or '*', found '}'"},
    {"SELECT * { { SELECT ?x { ?x ?p ?o } LIMIT } }",
     "line 1, column 43: expected an integer, found '}'"},
    {"ASK", "line 1, column 4: expected '{', found the end of the query"},
    {"ASK { ?s ?p }",
     "line 1, column 13: expected a variable, an IRI, a literal or a blank node, found '}'"},
    {"CONSTRUCT { ?s ?p ?o }", "line 1, column 23: expected '{', found the end of the query"},
    {"CONSTRUCT { ?s ?p } WHERE { ?s ?p ?o }",
     "line 1, column 19: expected a variable, an IRI, a literal or a blank node, found '}'"},
    {"CONSTRUCT WHERE { ?s ?p ?o FILTER(?o) }", "line 1, column 28: expected '}', found 'FILTER'"},
    {"CONSTRUCT { GRAPH ?g { ?s ?p ?o } } WHERE { }",
     "line 1, column 13: expected '}', found 'GRAPH'"},
    {"DESCRIBE",
     "line 1, column 9: expected a variable, an IRI or '*', found the end of the query"},
    {"DESCRIBE \"a\"", "line 1, column 10: expected a variable, an IRI or '*', found '\"a\"'"},
    {"PREFIX", "line 1, column 7: expected a prefix with its colon, found the end of the query"},
    {"PREFIX a <b> SELECT * { }", "line 1, column 8: expected a prefix with its colon, found 'a'"},
    {"PREFIX a: SELECT * { }", "line 1, column 11: expected an IRI in < >, found 'SELECT'"},
    {"PREFIX : <a> SELECT * { ?s :p%2 ?o }",
     "line 1, column 30: expected two hexadecimal digits after '%'"},
    {"PREFIX : <a> SELECT * { ?s :p\\x ?o }", "line 1, column 30: a bad escape in a prefixed name"},
    {"BASE SELECT * { }", "line 1, column 6: expected an IRI in < > after BASE, found 'SELECT'"},
    {"BASE <a> SELEC * { }",
     "line 1, column 10: expected SELECT, CONSTRUCT, DESCRIBE or ASK, found 'SELEC'"},
    {"INSERT DATA { }",
     "line 1, column 1: expected SELECT, CONSTRUCT, DESCRIBE or ASK, found 'INSERT'"},
    {"SELECT * { ?s ?p ?o } }", "line 1, column 23: expected the end of the query, found '}'"},
    {"SELECT * { ? ?p ?o }",
     "line 1, column 12: expected a triple, a pattern, '.' or '}', found '?'"},
    {"SELECT * { ?s ?p $ }", "line 1, column 18: a character that SPARQL does not have here"},
    {"SELECT * { ?s ?p & }", "line 1, column 18: a character that SPARQL does not have here"},
    {"SELECT * { ?s ?p 'a'^'b' }",
     "line 1, column 21: expected a triple, a pattern, '.' or '}', found '^'"},
};

static void
mistakes_are_told_where_they_are(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        struct query *query = NULL;
        struct reason why = {{0}};
        /* A copy of its own, so that reading past the end is found. */
        const size_t length = strlen(mistakes[i].query);
        char *copy = malloc(length + 1);
        memcpy(copy, mistakes[i].query, length);
        const enum status status =
            query_prepare(&query, slice_of(copy, length), SLICE(CASE_BASE), &why);
        free(copy);
        if (status != STATUS_BAD_INPUT || strcmp(why.text, mistakes[i].reason) != 0) {
            fail_msg("%s: %s", mistakes[i].query, why.text);
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(mistakes_are_told_where_they_are)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
