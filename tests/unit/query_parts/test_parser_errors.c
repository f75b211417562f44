/* What the parsers of queries and updates say of texts that are wrong: line, column, what was
 * expected there, and what stood there instead; and how much they take. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/memory.h"
#include "index/query/algebra/algebra.h"
#include "index/query/query.h"
#include "index/query/update.h"

struct wrong {
    const char *text, *said; /* "": nothing is wrong */
};

/* The text is a copy of its own, so that reading past its end is found. */
static enum status
prepare(const char *text, bool update, struct reason *why)
{
    struct query *query = NULL;
    struct update *operations = NULL;
    const size_t length = strlen(text);
    char *copy = memory_alloc(length);
    memcpy(copy, text, length);
    why->text[0] = '\0';
    const struct slice whole = slice_of(copy, length);
    const enum status status = update ? update_prepare(&operations, whole, SLICE("http://a/b"), why)
                                      : query_prepare(&query, whole, SLICE("http://a/b"), why);
    assert_int_equal(why->text[0] == '\0', status == STATUS_OK);
    assert_int_equal((update ? (void *)operations : (void *)query) == NULL, status != STATUS_OK);
    query_free(query);
    update_free(operations);
    free(copy);
    return status;
}

static const char *
said_of(const char *text, bool update)
{
    static struct reason why;
    (void)prepare(text, update, &why);
    return why.text;
}

static void
check(const struct wrong *cases, size_t count, bool update)
{
    for (size_t i = 0; i < count; i++) {
        struct reason why;
        const enum status status = prepare(cases[i].text, update, &why);
        if (strcmp(why.text, cases[i].said) != 0) {
            fail_msg("%s: \"%s\" in place of \"%s\"", cases[i].text, why.text, cases[i].said);
        }
        assert_int_equal(status, cases[i].said[0] == '\0' ? STATUS_OK : STATUS_BAD_INPUT);
    }
}

static void
queries_that_are_wrong(void **state)
{
    static const struct wrong cases[] = {
        {"BASE x ASK {}", "line 1, column 6: expected an IRI in < > after BASE, found 'x'"},
        {"BASE <x> PREFIX : <y> ASK { :z a :z }", ""},
        {"SELECT {}", "line 1, column 8: expected a variable, '(' or '*', found '{'"},
        {"SELECT ?a", "line 1, column 10: expected '{', found the end of the query"},
        {"SELECT DISTINCT REDUCED ?a {}",
         "line 1, column 17: expected a variable, '(' or '*', found 'REDUCED'"},
        {"SELECT (1 ?a) {}", "line 1, column 11: expected AS, found '?a'"},
        {"SELECT (1 AS a) {}", "line 1, column 14: expected a variable after AS, found 'a'"},
        {"SELECT (1 AS ?a {}", "line 1, column 17: expected ')', found '{'"},
        {"SELECT * FROM {}", "line 1, column 15: expected an IRI, found '{'"},
        {"SELECT * FROM NAMED ?g {}", "line 1, column 21: expected an IRI, found '?g'"},
        {"SELECT * WHERE ?s", "line 1, column 16: expected '{', found '?s'"},
        {"SELECT * { GRAPH { } }", "line 1, column 18: expected a variable or an IRI, found '{'"},
        {"SELECT * { GRAPH 1 { } }", "line 1, column 18: expected a variable or an IRI, found '1'"},
        {"SELECT * { GRAPH ?g ?s }", "line 1, column 21: expected '{', found '?s'"},
        {"SELECT * { SERVICE SILENT \"x\" {} }",
         "line 1, column 27: expected a variable or an IRI, found '\"x\"'"},
        {"SELECT * { BIND 1 AS ?x }", "line 1, column 17: expected '(', found '1'"},
        {"SELECT * { BIND(1 AS x) }", "line 1, column 22: expected a variable after AS, found 'x'"},
        {"SELECT * { BIND(1 AS ?x }", "line 1, column 25: expected ')', found '}'"},
        {"SELECT * { BIND(1, ?x) }", "line 1, column 18: expected AS, found ','"},
        {"SELECT * { VALUES { 1 } }", "line 1, column 19: expected '(', found '{'"},
        {"SELECT * { VALUES (1) { (1) } }", "line 1, column 20: expected ')', found '1'"},
        {"SELECT * { VALUES (?x ?x) { (1 1) } }", "line 1, column 23: a variable twice in VALUES"},
        {"SELECT * { VALUES ?x { ?y } }",
         "line 1, column 24: expected an IRI, a literal or UNDEF, found '?y'"},
        {"SELECT * { VALUES ?x { _:a } }",
         "line 1, column 24: expected an IRI, a literal or UNDEF, found '_:a'"},
        {"SELECT * { VALUES ?x ( 1 ) }", "line 1, column 22: expected '{', found '('"},
        {"SELECT * { VALUES (?x) { 1 } }", "line 1, column 26: expected '(', found '1'"},
        {"SELECT * { VALUES (?x) { (1 } }",
         "line 1, column 29: expected an IRI, a literal or UNDEF, found '}'"},
        {"SELECT * { VALUES (?x ?y) { (1 2 3) } }",
         "line 1, column 29: a row of 3 values for 2 variables"},
        {"SELECT * { VALUES () { (1) } }", "line 1, column 24: a row of 1 values for 0 variables"},
        {"SELECT * { OPTIONAL ?s }", "line 1, column 21: expected '{', found '?s'"},
        {"SELECT * { {} UNION ?s }", "line 1, column 21: expected '{', found '?s'"},
        {"SELECT * { MINUS }", "line 1, column 18: expected '{', found '}'"},
        {"SELECT * { FILTER ?x }", "line 1, column 19: expected an expression, found '?x'"},
        {"SELECT * { FILTER }", "line 1, column 19: expected an expression, found '}'"},
        {"SELECT * { FILTER EXISTS ?x }", "line 1, column 26: expected '{', found '?x'"},
        {"SELECT * { FILTER NOT ?x }", "line 1, column 23: expected EXISTS, found '?x'"},
        {"SELECT * { FILTER(?x IN ?y) }", "line 1, column 25: expected '(', found '?y'"},
        {"SELECT * { FILTER(?x NOT ?y) }", "line 1, column 26: expected IN, found '?y'"},
        {"SELECT * { FILTER(1 + ) }", "line 1, column 23: expected an expression, found ')'"},
        {"SELECT * { FILTER(1 = 2 = 3) }", "line 1, column 25: expected ')', found '='"},
        {"SELECT * { FILTER(nothing(1)) }",
         "line 1, column 19: expected an expression, found 'nothing'"},
        {"SELECT * { FILTER(BOUND(1)) }", "line 1, column 25: expected a variable, found '1'"},
        {"SELECT * { FILTER(IF(1, 2)) }", "line 1, column 19: IF does not take 2 arguments"},
        {"SELECT * { FILTER(COUNT(*) > 1) }",
         "line 1, column 19: an aggregate cannot be used here"},
        {"SELECT * { ?s ?p }",
         "line 1, column 18: expected a variable, an IRI, a literal or a blank node, found '}'"},
        {"SELECT * { ?s }", "line 1, column 15: expected a predicate, found '}'"},
        {"SELECT * { \"x\" ?p ?o . ",
         "line 1, column 24: expected a triple, a pattern, '.' or '}', found the end of the query"},
        {"SELECT * { ?s \"x\" ?o }", "line 1, column 15: expected a predicate, found '\"x\"'"},
        {"SELECT * { ?s _:b ?o }", "line 1, column 15: expected a predicate, found '_:b'"},
        {"SELECT * { ?s ?p ?o , }",
         "line 1, column 23: expected a variable, an IRI, a literal or a blank node, found '}'"},
        {"SELECT * { ?s ?p ?o ; ; ?q }",
         "line 1, column 28: expected a variable, an IRI, a literal or a blank node, found '}'"},
        {"SELECT * { [ ?p ?o }", "line 1, column 20: expected ']', found '}'"},
        {"SELECT * { ( 1 2 }",
         "line 1, column 18: expected a variable, an IRI, a literal or a blank node, found '}'"},
        {"SELECT * { ( ) }", "line 1, column 16: expected a predicate, found '}'"},
        {"SELECT * { ?s !(<a:p>|?q) ?o }", "line 1, column 23: expected an IRI, found '?q'"},
        {"SELECT * { ?s (<a:p> ?o }", "line 1, column 22: expected ')', found '?o'"},
        {"SELECT * { ?s <a:p>/ ?o }", "line 1, column 22: expected a property path, found '?o'"},
        {"SELECT * { ?s !b ?o }", "line 1, column 16: expected an IRI, found 'b'"},
        {"SELECT * { ?s !(a|b) ?o }", "line 1, column 19: expected an IRI, found 'b'"},
        {"SELECT * { ?s ^ ?o }", "line 1, column 17: expected a property path, found '?o'"},
        {"SELECT * { ?s <a:p>** ?o }",
         "line 1, column 21: expected a variable, an IRI, a literal or a blank node, found '*'"},
        {"SELECT * { ?s ?p ?o } GROUP ?s", "line 1, column 29: expected BY, found '?s'"},
        {"SELECT (1 AS ?x) { ?s ?p ?o } GROUP BY",
         "line 1, column 39: expected a variable or an expression, found the end of the query"},
        {"SELECT ?s { ?s ?p ?o } HAVING",
         "line 1, column 30: expected an expression, found the end of the query"},
        {"SELECT * { ?s ?p ?o } ORDER ?s", "line 1, column 29: expected BY, found '?s'"},
        {"SELECT * { ?s ?p ?o } ORDER BY ASC",
         "line 1, column 35: expected '(', found the end of the query"},
        {"SELECT * { ?s ?p ?o } LIMIT -1", "line 1, column 29: expected an integer, found '-'"},
        {"SELECT * { ?s ?p ?o } LIMIT 1.5", "line 1, column 29: expected an integer, found '1.5'"},
        {"SELECT * { ?s ?p ?o } LIMIT 99999999999999999999",
         "line 1, column 29: expected an integer, found '99999999999999999999'"},
        {"SELECT * { ?s ?p ?o } OFFSET",
         "line 1, column 29: expected an integer, found the end of the query"},
        {"SELECT * { ?s ?p ?o } LIMIT 1 LIMIT 2",
         "line 1, column 31: expected the end of the query, found 'LIMIT'"},
        {"SELECT * { ?s ?p ?o } VALUES",
         "line 1, column 29: expected '(', found the end of the query"},
        {"CONSTRUCT ?s { ?s ?p ?o }", "line 1, column 11: expected WHERE, found '?s'"},
        {"CONSTRUCT { ?s ?p }",
         "line 1, column 19: expected a variable, an IRI, a literal or a blank node, found '}'"},
        {"CONSTRUCT WHERE { FILTER(1) }", "line 1, column 19: expected '}', found 'FILTER'"},
        {"CONSTRUCT WHERE { GRAPH ?g { ?s ?p ?o } }",
         "line 1, column 19: expected '}', found 'GRAPH'"},
        {"CONSTRUCT { GRAPH ?g { ?s ?p ?o } } WHERE { ?s ?p ?o }",
         "line 1, column 13: expected '}', found 'GRAPH'"},
        {"DESCRIBE",
         "line 1, column 9: expected a variable, an IRI or '*', found the end of the query"},
        {"DESCRIBE \"x\"", "line 1, column 10: expected a variable, an IRI or '*', found '\"x\"'"},
        {"DESCRIBE ?x <a:b> {",
         "line 1, column 20: expected a triple, a pattern, '.' or '}', found the end of the query"},
        {"ASK", "line 1, column 4: expected '{', found the end of the query"},
        {"ASK { ?s ?p ?o } x", "line 1, column 18: expected the end of the query, found 'x'"},
        {"INSERT DATA {}",
         "line 1, column 1: expected SELECT, CONSTRUCT, DESCRIBE or ASK, found 'INSERT'"},
        {"SELECT * { { SELECT ?x { } ORDER } }", "line 1, column 34: expected BY, found '}'"},
        {"SELECT * { { SELECT ?x } }", "line 1, column 24: expected '{', found '}'"},
        {"SELECT * { ?s ?p ex:o }", "line 1, column 18: the prefix 'ex:' is not declared"},
        {"SELECT * { ?s ?p <a b> }",
         "line 1, column 18: expected a variable, an IRI, a literal or a blank node, found '<'"},
        {"SELECT * { ?s ?p <a",
         "line 1, column 18: expected a variable, an IRI, a literal or a blank node, found '<'"},
        {"SELECT * { ?s ?p \"a\"@ }", "line 1, column 21: expected a language tag after '@'"},
        {"SELECT * { ?s ?p \"a\"@12 }", "line 1, column 21: expected a language tag after '@'"},
        {"SELECT * { ?s ?p \"a\"@en- }", "line 1, column 21: expected a language tag after '@'"},
        {"SELECT * { ?s ?p \"a\"^^ }", "line 1, column 24: expected an IRI, found '}'"},
        {"SELECT * { ?s ?p \"a\"^^1 }", "line 1, column 23: expected an IRI, found '1'"},
        {"SELECT * { ?s ?p '''a' }", "line 1, column 18: a string that does not end"},
        {"SELECT * { ?s ?p 'a\\", "line 1, column 18: a string that does not end"},
        {"SELECT * { ?s ?p 1e }",
         "line 1, column 19: expected a triple, a pattern, '.' or '}', found 'e'"},
        {"SELECT * { ?s ?p 1.e }",
         "line 1, column 20: expected a triple, a pattern, '.' or '}', found 'e'"},
        {"SELECT * { ?s ?p +x }",
         "line 1, column 18: expected a variable, an IRI, a literal or a blank node, found '+'"},
        {"SELECT * { ?s ?p .5 . ?s ?p -.5e-3 . ?s ?p 1.}", ""},
        {"SELECT * { ? ?p 1 }",
         "line 1, column 12: expected a triple, a pattern, '.' or '}', found '?'"},
        {"SELECT * { $x ?p 1 }", ""},
        {"SELECT * { _: ?p 1 }", "line 1, column 14: expected a blank node label after '_:'"},
        {"SELECT * { _:a. ?p 1 }", "line 1, column 15: expected a predicate, found '.'"},
        {"SELECT * { _:-a ?p 1 }", "line 1, column 14: expected a blank node label after '_:'"},
        {"PREFIX a: <a:> SELECT * { a:b. a:c a:d.e }",
         "line 1, column 30: expected a predicate, found '.'"},
        {"PREFIX a: <a:> SELECT * { a:b\\x a:c a:d }",
         "line 1, column 30: a bad escape in a prefixed name"},
        {"PREFIX a: <a:> SELECT * { a:b%4 a:c a:d }",
         "line 1, column 30: expected two hexadecimal digits after '%'"},
        {"PREFIX a: <a:> SELECT * { a:b\\", "line 1, column 30: a bad escape in a prefixed name"},
        {"PREFIX a: <a:> SELECT * { a:b%",
         "line 1, column 30: expected two hexadecimal digits after '%'"},
        {"PREFIX a. : <a:> ASK {}",
         "line 1, column 8: expected a prefix with its colon, found 'a'"},
        {"SELECT * { ?s ?p \\u00zz }", "character 18: a bad \\u escape"},
        {"SELECT * { ?s ?p \\", "line 1, column 18: a character that SPARQL does not have here"},
        {"SELECT * { ?s & ?o }", "line 1, column 15: a character that SPARQL does not have here"},
        {"SELECT * { FILTER(1 & 2) }",
         "line 1, column 21: a character that SPARQL does not have here"},
        {"SELECT * { FILTER(1 | 2) }", "line 1, column 21: expected ')', found '|'"},
        {"SELECT * { ?s @p ?o }", "line 1, column 15: expected a predicate, found '@p'"},
        {"SELECT * { ?s ?p ?o\n}\n\n  #x\n ~",
         "line 5, column 2: a character that SPARQL does not have here"},
        {"SELECT", "line 1, column 7: expected a variable, '(' or '*', found the end of the query"},
        {"SELECT * ", "line 1, column 10: expected '{', found the end of the query"},
        {"SELECT * {",
         "line 1, column 11: expected a triple, a pattern, '.' or '}', found the end of the query"},
        {"SELECT * { ?s", "line 1, column 14: expected a predicate, found the end of the query"},
        {"SELECT * { ?s ?p", "line 1, column 17: expected a variable, an IRI, a literal or a blank "
                             "node, found the end of the query"},
        {"SELECT * { ?s ?p ?o",
         "line 1, column 20: expected a triple, a pattern, '.' or '}', found the end of the query"},
        {"SELECT * { ?s ?p ?o ;",
         "line 1, column 22: expected a triple, a pattern, '.' or '}', found the end of the query"},
        {"SELECT * { ?s ?p ?o ?q }",
         "line 1, column 21: expected a triple, a pattern, '.' or '}', found '?q'"},
        {"SELECT * { \"a\" ?p }",
         "line 1, column 19: expected a variable, an IRI, a literal or a blank node, found '}'"},
        {"SELECT * { ?s \"a\" ?o }", "line 1, column 15: expected a predicate, found '\"a\"'"},
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
        {"SELECT * { FILTER(?x }", "line 1, column 22: expected ')', found '}'"},
        {"SELECT * { FILTER(STRLEN()) }", "line 1, column 19: STRLEN does not take 0 arguments"},
        {"SELECT * { FILTER(STRLEN(1, 2)) }",
         "line 1, column 19: STRLEN does not take 2 arguments"},
        {"SELECT * { FILTER(SUBSTR(1)) }", "line 1, column 19: SUBSTR does not take 1 arguments"},
        {"SELECT * { FILTER(BOUND(?x, ?y)) }", "line 1, column 27: expected ')', found ','"},
        {"SELECT * { FILTER(EXISTS ?x) }", "line 1, column 26: expected '{', found '?x'"},
        {"SELECT * { FILTER(1 IN 2) }", "line 1, column 24: expected '(', found '2'"},
        {"SELECT * { FILTER(1 NOT 2) }", "line 1, column 25: expected IN, found '2'"},
        {"SELECT * { FILTER(1 +) }", "line 1, column 22: expected an expression, found ')'"},
        {"SELECT * { FILTER(1 && ) }", "line 1, column 24: expected an expression, found ')'"},
        {"SELECT * { FILTER(! ) }", "line 1, column 21: expected an expression, found ')'"},
        {"SELECT * { FILTER(COALESCE 1) }", "line 1, column 28: expected '(', found '1'"},
        {"SELECT * { BIND(1 ?x) }", "line 1, column 19: expected AS, found '?x'"},
        {"SELECT * { ?x ?p ?o BIND(1 AS ?x) }", "line 1, column 31: ?x is already in scope"},
        {"SELECT * { OPTIONAL ?x }", "line 1, column 21: expected '{', found '?x'"},
        {"SELECT * { GRAPH \"a\" { } }",
         "line 1, column 18: expected a variable or an IRI, found '\"a\"'"},
        {"SELECT * { GRAPH ?g ?x }", "line 1, column 21: expected '{', found '?x'"},
        {"SELECT * { { ?s ?p ?o } UNION }", "line 1, column 31: expected '{', found '}'"},
        {"SELECT * { SERVICE { } }", "line 1, column 20: expected a variable or an IRI, found '{'"},
        {"SELECT * { VALUES ?x 1 }", "line 1, column 22: expected '{', found '1'"},
        {"SELECT * { VALUES (?x ?y) { (1) } }",
         "line 1, column 29: a row of 1 values for 2 variables"},
        {"SELECT * { VALUES x { 1 } }", "line 1, column 19: expected '(', found 'x'"},
        {"SELECT * { } VALUES ?x { 1 } ?y",
         "line 1, column 30: expected the end of the query, found '?y'"},
        {"SELECT * { } LIMIT",
         "line 1, column 19: expected an integer, found the end of the query"},
        {"SELECT * { } LIMIT -1", "line 1, column 20: expected an integer, found '-'"},
        {"SELECT * { } LIMIT 1 LIMIT 2",
         "line 1, column 22: expected the end of the query, found 'LIMIT'"},
        {"SELECT * { } OFFSET ?x", "line 1, column 21: expected an integer, found '?x'"},
        {"SELECT * { } ORDER BY",
         "line 1, column 22: expected a variable or an expression, found the end of the query"},
        {"SELECT * { } ORDER ?x", "line 1, column 20: expected BY, found '?x'"},
        {"SELECT * { } ORDER BY DESC",
         "line 1, column 27: expected '(', found the end of the query"},
        {"SELECT * { } GROUP BY",
         "line 1, column 22: expected a variable or an expression, found the end of the query"},
        {"SELECT * { } HAVING",
         "line 1, column 20: expected an expression, found the end of the query"},
        {"SELECT * FROM { }", "line 1, column 15: expected an IRI, found '{'"},
        {"SELECT * FROM NAMED ?g { }", "line 1, column 21: expected an IRI, found '?g'"},
        {"SELECT * { { SELECT } }",
         "line 1, column 21: expected a variable, '(' or '*', found '}'"},
        {"SELECT * { { SELECT ?x { ?x ?p ?o } LIMIT } }",
         "line 1, column 43: expected an integer, found '}'"},
        {"ASK { ?s ?p }",
         "line 1, column 13: expected a variable, an IRI, a literal or a blank node, found '}'"},
        {"CONSTRUCT { ?s ?p ?o }", "line 1, column 23: expected '{', found the end of the query"},
        {"CONSTRUCT { ?s ?p } WHERE { ?s ?p ?o }",
         "line 1, column 19: expected a variable, an IRI, a literal or a blank node, found '}'"},
        {"CONSTRUCT WHERE { ?s ?p ?o FILTER(?o) }",
         "line 1, column 28: expected '}', found 'FILTER'"},
        {"CONSTRUCT { GRAPH ?g { ?s ?p ?o } } WHERE { }",
         "line 1, column 13: expected '}', found 'GRAPH'"},
        {"DESCRIBE \"a\"", "line 1, column 10: expected a variable, an IRI or '*', found '\"a\"'"},
        {"PREFIX",
         "line 1, column 7: expected a prefix with its colon, found the end of the query"},
        {"PREFIX a <b> SELECT * { }",
         "line 1, column 8: expected a prefix with its colon, found 'a'"},
        {"PREFIX a: SELECT * { }", "line 1, column 11: expected an IRI in < >, found 'SELECT'"},
        {"PREFIX : <a> SELECT * { ?s :p%2 ?o }",
         "line 1, column 30: expected two hexadecimal digits after '%'"},
        {"PREFIX : <a> SELECT * { ?s :p\\x ?o }",
         "line 1, column 30: a bad escape in a prefixed name"},
        {"BASE SELECT * { }",
         "line 1, column 6: expected an IRI in < > after BASE, found 'SELECT'"},
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
    (void)state;
    check(cases, sizeof cases / sizeof cases[0], false);
}

static void
updates_that_are_wrong(void **state)
{
    static const struct wrong cases[] = {
        {"", ""},
        {"SELECT * {}",
         "line 1, column 1: expected an operation such as INSERT, DELETE or LOAD, found 'SELECT'"},
        {"INSERT", "line 1, column 7: expected '{', found the end of the query"},
        {"INSERT DATA", "line 1, column 12: expected '{', found the end of the query"},
        {"INSERT DATA { ?s ?p ?o }", "line 1, column 15: no variable can stand in DATA"},
        {"INSERT DATA { GRAPH ?g { <a:b> <a:c> 1 } }",
         "line 1, column 21: no variable can stand in DATA"},
        {"INSERT DATA { GRAPH 1 { <a:b> <a:c> 1 } }",
         "line 1, column 21: expected a graph's IRI or a variable, found '1'"},
        {"INSERT DATA { GRAPH { <a:b> <a:c> 1 } }",
         "line 1, column 21: expected a graph's IRI or a variable, found '{'"},
        {"INSERT DATA { GRAPH <a:g> <a:b> }", "line 1, column 27: expected '{', found '<a:b>'"},
        {"INSERT DATA { <a:b> <a:c> }",
         "line 1, column 27: expected a variable, an IRI, a literal or a blank node, found '}'"},
        {"INSERT DATA { <a:b> <a:c>/<a:d> 1 }",
         "line 1, column 26: expected a variable, an IRI, a literal or a blank node, found '/'"},
        {"INSERT DATA { <a:b> <a:c> 1",
         "line 1, column 28: expected '}', found the end of the query"},
        {"INSERT DATA { GRAPH <a:g> { <a:b> <a:c> 1 } . <a:b> <a:c> 2 . GRAPH <a:h> {} }", ""},
        {"INSERT DATA { <a:b> <a:c> 1 } DELETE DATA { }",
         "line 1, column 31: expected ';', found 'DELETE'"},
        {"INSERT DATA { <a:b> <a:c> 1 } ; ; ",
         "line 1, column 33: expected an operation such as INSERT, DELETE or LOAD, found ';'"},
        {"INSERT DATA { } ; DELETE DATA { _:a <a:c> 1 }",
         "line 1, column 33: no blank node can stand in what is deleted"},
        {"DELETE DATA { [] <a:c> 1 }",
         "line 1, column 15: no blank node can stand in what is deleted"},
        {"DELETE WHERE { _:a ?p ?o }",
         "line 1, column 16: no blank node can stand in what is deleted"},
        {"DELETE WHERE { ?s ?p ?o FILTER(1) }", "line 1, column 25: expected '}', found 'FILTER'"},
        {"DELETE WHERE { GRAPH \"g\" { ?s ?p ?o } }",
         "line 1, column 22: expected a graph's IRI or a variable, found '\"g\"'"},
        {"DELETE { ?s ?p ?o } WHERE",
         "line 1, column 26: expected '{', found the end of the query"},
        {"DELETE { ?s ?p _:b } WHERE { ?s ?p ?o }",
         "line 1, column 16: no blank node can stand in what is deleted"},
        {"DELETE { ?s ?p ?o }", "line 1, column 20: expected WHERE, found the end of the query"},
        {"INSERT { ?s ?p ?o } USING { }", "line 1, column 27: expected an IRI, found '{'"},
        {"INSERT { ?s ?p ?o } USING NAMED 1 WHERE { }",
         "line 1, column 33: expected an IRI, found '1'"},
        {"INSERT { ?s ?p _:a } WHERE { _:a ?p ?s }", ""},
        {"INSERT { _:a ?p 1 } WHERE { ?s ?p 1 } ; INSERT { _:a ?p 2 } WHERE { ?s ?p 2 }", ""},
        {"WITH ?g DELETE { ?s ?p ?o } WHERE { ?s ?p ?o }",
         "line 1, column 6: expected an IRI, found '?g'"},
        {"WITH <a:g> CLEAR ALL", "line 1, column 12: expected DELETE or INSERT, found 'CLEAR'"},
        {"WITH <a:g> WHERE { ?s ?p ?o }",
         "line 1, column 12: expected DELETE or INSERT, found 'WHERE'"},
        {"LOAD", "line 1, column 5: expected an IRI, found the end of the query"},
        {"LOAD ?x", "line 1, column 6: expected an IRI, found '?x'"},
        {"LOAD SILENT <a:b> INTO <a:c>", "line 1, column 24: expected GRAPH, found '<a:c>'"},
        {"LOAD SILENT <a:b> INTO GRAPH",
         "line 1, column 29: expected an IRI, found the end of the query"},
        {"LOAD <a:b> INTO GRAPH <a:c>", ""},
        {"CLEAR", "line 1, column 6: expected GRAPH, found the end of the query"},
        {"CLEAR <a:g>", "line 1, column 7: expected GRAPH, found '<a:g>'"},
        {"CLEAR SILENT GRAPH 1", "line 1, column 20: expected an IRI, found '1'"},
        {"DROP x", "line 1, column 6: expected GRAPH, found 'x'"},
        {"DROP SILENT ALL ; CLEAR NAMED ; CLEAR DEFAULT", ""},
        {"CREATE <a:g>", "line 1, column 8: expected GRAPH, found '<a:g>'"},
        {"CREATE SILENT GRAPH <a:g>", ""},
        {"ADD <a:g> <a:h>", "line 1, column 11: expected TO, found '<a:h>'"},
        {"ADD <a:g> TO", "line 1, column 13: expected an IRI, found the end of the query"},
        {"MOVE DEFAULT TO ALL", "line 1, column 17: expected an IRI, found 'ALL'"},
        {"COPY NAMED TO <a:g>", "line 1, column 6: expected an IRI, found 'NAMED'"},
        {"COPY SILENT GRAPH <a:g> TO DEFAULT", ""},
        {"PREFIX a: <b:> INSERT DATA { a:b a:c a:d } ; PREFIX a: <c:> DELETE DATA { a:b a:c a:d }",
         ""},
        {"BASE 1 CLEAR ALL", "line 1, column 6: expected an IRI in < > after BASE, found '1'"},
        {"CLEAR ALL ; x",
         "line 1, column 13: expected an operation such as INSERT, DELETE or LOAD, found 'x'"},
        {"CLEAR ALL ;\n PREFIX a <b:>",
         "line 2, column 9: expected a prefix with its colon, found 'a'"},
        {"INSERT DATA { <a:b> <a:c> \xff }", "the query is not valid UTF-8"},
    };
    (void)state;
    check(cases, sizeof cases / sizeof cases[0], true);
}

/* ---- bounds ---- */

/* What is said of a text with spaces behind it, as long as that. */
static const char *
said_of_padded(const char *text, size_t length, bool update)
{
    char *padded = memory_alloc(length + 1);
    memset(padded, ' ', length);
    memcpy(padded, text, strlen(text));
    padded[length] = '\0';
    const char *said = said_of(padded, update);
    free(padded);
    return said;
}

static void
texts_nest_as_deep_as_they_may(void **state)
{
    static const struct {
        const char *before, *open, *middle, *close;
        size_t levels; /* those before count too */
    } cases[] = {
        {"ASK ", "{", "", "}", 100},
        {"ASK { FILTER", "(", "1", ")", 99},
        {"ASK { FILTER(", "!", "1", "", 98},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (size_t depth = 1; depth <= NESTING_MAXIMUM + 1; depth++) {
            struct buf text;
            buf_init(&text, 1 << 16);
            (void)buf_append_string(&text, cases[i].before);
            for (size_t level = 0; level < depth; level++) {
                (void)buf_append_string(&text, cases[i].open);
            }
            (void)buf_append_string(&text, cases[i].middle);
            for (size_t level = 0; level < depth; level++) {
                (void)buf_append_string(&text, cases[i].close);
            }
            (void)buf_append_string(&text, i == 0 ? "" : i == 1 ? "}" : ")}");
            (void)buf_append_char(&text, '\0');
            const char *said = said_of(text.data, false);
            assert_string_equal(
                said, depth <= cases[i].levels ? "" : "the query nests deeper than 100 levels");
            buf_release(&text);
        }
    }
}

static void
texts_are_bounded(void **state)
{
    (void)state;
    assert_string_equal(said_of_padded("ASK {}", QUERY_TEXT_MAXIMUM, false), "");
    assert_string_equal(said_of_padded("ASK {}", QUERY_TEXT_MAXIMUM + 1, false),
                        "the query is longer than 1048576 bytes");
    assert_string_equal(said_of_padded("CLEAR ALL", UPDATE_TEXT_MAXIMUM, true), "");
    assert_string_equal(said_of_padded("CLEAR ALL", UPDATE_TEXT_MAXIMUM + 1, true),
                        "the update is longer than 16777216 bytes");
}

static void
prefixes_are_bounded(void **state)
{
    (void)state;
    for (size_t count = 1024; count <= 1025; count++) {
        struct buf text;
        buf_init(&text, 1 << 16);
        for (size_t i = 0; i < count; i++) {
            (void)buf_append_string(&text, "PREFIX a: <a:> ");
        }
        (void)buf_append_string(&text, "ASK {}");
        (void)buf_append_char(&text, '\0');
        assert_string_equal(said_of(text.data, false),
                            count == 1024 ? "" : "the query is too large or too deep");
        buf_release(&text);
    }
}

/* Graphs of FROM are those that were written, in their order, however many. */
static void
datasets_are_as_they_were_written(void **state)
{
    (void)state;
    for (size_t count = 1; count <= 20; count++) {
        struct buf text;
        struct query *query;
        buf_init(&text, 1 << 16);
        (void)buf_append_string(&text, "ASK ");
        for (size_t i = 0; i < count; i++) {
            (void)buf_printf(&text, "FROM <a:%zu> FROM NAMED <b:%zu> ", i, i);
        }
        (void)buf_append_string(&text, "{ <c:d> <c:e> <c:f> }");
        assert_int_equal(query_prepare(&query, buf_slice(&text), SLICE(""), NULL), STATUS_OK);
        assert_int_equal(query->from_count, count);
        assert_int_equal(query->from_named_count, count);
        for (size_t i = 0; i < count; i++) {
            char from[16], named[16];
            snprintf(from, sizeof from, "a:%zu", i);
            snprintf(named, sizeof named, "b:%zu", i);
            assert_true(slice_is(query->constants[query->from[i]].value, from));
            assert_true(slice_is(query->constants[query->from_named[i]].value, named));
        }
        query_free(query);
        buf_release(&text);
    }
}

/* Rows of VALUES, too. */
static void
tables_are_as_they_were_written(void **state)
{
    (void)state;
    for (size_t count = 0; count <= 40; count++) {
        struct buf text;
        struct query *query;
        buf_init(&text, 1 << 16);
        (void)buf_append_string(&text, "SELECT ?x ?y {} VALUES (?x ?y) { ");
        for (size_t i = 0; i < count; i++) {
            (void)buf_printf(&text, "(<a:%zu> <b:%zu>) ", i, i);
        }
        (void)buf_append_string(&text, "}");
        assert_int_equal(query_prepare(&query, buf_slice(&text), SLICE(""), NULL), STATUS_OK);
        for (size_t i = 0; i < count; i++) {
            char iri[2][16];
            snprintf(iri[0], sizeof iri[0], "a:%zu", i);
            snprintf(iri[1], sizeof iri[1], "b:%zu", i);
            assert_true(query_mentions(query, slice_string(iri[0])));
            assert_true(query_mentions(query, slice_string(iri[1])));
        }
        assert_int_equal(query->constant_count, 2 * count);
        query_free(query);
        buf_release(&text);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(queries_that_are_wrong),
        cmocka_unit_test(updates_that_are_wrong),
        cmocka_unit_test(texts_nest_as_deep_as_they_may),
        cmocka_unit_test(texts_are_bounded),
        cmocka_unit_test(prefixes_are_bounded),
        cmocka_unit_test(datasets_are_as_they_were_written),
        cmocka_unit_test(tables_are_as_they_were_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
