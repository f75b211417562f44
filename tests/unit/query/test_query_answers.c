/* Answers to queries of all forms over a few QUERY_PEOPLE, and what the parser says to what is
 * wrong. */
#include <string.h>

#include "tests/unit/query/path_model.h"
#include "tests/unit/query/query_case.h"
#include "tests/unit/query_parts/query_corners.h"

#define PREFIXES "PREFIX : <http://example.org/> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> "

static void
test_answers(void **state)
{
    static const struct query_case cases[] = {
        {PREFIXES "SELECT ?x ?g { VALUES ?x { 1 2 } GRAPH ?g {} } ORDER BY ?x ?g",
         "?x\t?g\n1\t<http://example.org/g1>\n1\t<http://example.org/"
         "g2>\n1\t<urn:x-test:default>\n2\t<http://example.org/g1>\n2\t<http://example.org/"
         "g2>\n2\t<urn:x-test:default>\n"},
        {PREFIXES "SELECT ?x ?g FROM NAMED :g2 FROM NAMED :none { VALUES ?x { 1 2 } GRAPH ?g {} } "
                  "ORDER BY ?x ?g",
         "?x\t?g\n1\t<http://example.org/g2>\n2\t<http://example.org/g2>\n"},
        {PREFIXES "SELECT ?x { VALUES ?x { 1 2 } GRAPH :g1 {} } ORDER BY ?x", "?x\n1\n2\n"},
        {PREFIXES "SELECT ?x { VALUES ?x { 1 2 } GRAPH :none {} } ORDER BY ?x", "?x\n"},
        {PREFIXES "SELECT ?x FROM NAMED :g2 { VALUES ?x { 1 2 } GRAPH :g1 {} } ORDER BY ?x",
         "?x\n"},
        {PREFIXES "SELECT (SUM(?a) AS ?s) (AVG(?a) AS ?v) (MIN(?a) AS ?i) (MAX(?a) AS ?j) "
                  "(COUNT(?a) AS ?c) (SAMPLE(?z) AS ?sa) { ?x :age ?a }",
         "?s\t?v\t?i\t?j\t?c\t?sa\n55.5\t27.75\t25.5\t30\t2\t\n"},
        {PREFIXES
         "SELECT (SUM(?n) AS ?s) (AVG(?n) AS ?v) (MIN(?n) AS ?i) (MAX(?n) AS ?m) { ?x :name ?n }",
         "?s\t?v\t?i\t?m\n\t\t\"Ann\"\t\"Bob\"@en\n"},
        {PREFIXES "SELECT (GROUP_CONCAT(?l; SEPARATOR=\"|\") AS ?t) { { SELECT ?l { ?x :likes ?l } "
                  "ORDER BY ?l } }",
         "?t\n\"coffee and tea|tea\"\n"},
        {PREFIXES "SELECT ?x (COUNT(*) AS ?n) (COUNT(DISTINCT ?p) AS ?d) { ?x ?p ?o } GROUP BY ?x "
                  "HAVING (COUNT(*) > 2) ORDER BY DESC(?n) ?x",
         "?x\t?n\t?d\n<http://example.org/ann>\t5\t4\n<http://example.org/bob>\t5\t5\n"},
        {PREFIXES "SELECT (AVG(?a) AS ?v) (SUM(?a) AS ?s) (MIN(?a) AS ?m) { ?x :none ?a }",
         "?v\t?s\t?m\n0\t0\t\n"},
        {PREFIXES "SELECT ?x { ?x :knows+ :dan } ORDER BY ?x",
         "?x\n<http://example.org/ann>\n<http://example.org/bob>\n<http://example.org/cid>\n"},
        {PREFIXES "SELECT ?x { ?x :knows* :dan } ORDER BY ?x",
         "?x\n<http://example.org/ann>\n<http://example.org/bob>\n<http://example.org/cid>\n<http:/"
         "/example.org/dan>\n"},
        {PREFIXES "SELECT ?x { ?x :knows? :cid } ORDER BY ?x",
         "?x\n<http://example.org/ann>\n<http://example.org/bob>\n<http://example.org/cid>\n"},
        {PREFIXES "SELECT ?x ?y { ?x (:knows/:knows) ?y } ORDER BY ?x ?y",
         "?x\t?y\n<http://example.org/ann>\t<http://example.org/cid>\n<http://example.org/"
         "ann>\t<http://example.org/dan>\n<http://example.org/bob>\t<http://example.org/dan>\n"},
        {PREFIXES "SELECT ?x ?y { ?x ^:knows ?y } ORDER BY ?x ?y",
         "?x\t?y\n<http://example.org/bob>\t<http://example.org/ann>\n<http://example.org/"
         "cid>\t<http://example.org/ann>\n<http://example.org/cid>\t<http://example.org/"
         "bob>\n<http://example.org/dan>\t<http://example.org/cid>\n"},
        {PREFIXES "SELECT ?y { :ann !(:name|:age|^:knows) ?y } ORDER BY ?y",
         "?y\n<http://example.org/bob>\n<http://example.org/cid>\n\"tea\"\n"},
        {PREFIXES "SELECT ?y { :cid !(^:knows) ?y } ORDER BY ?y", "?y\n"},
        {PREFIXES "SELECT ?y { :cid !(^:name|:name) ?y } ORDER BY ?y",
         "?y\n<http://example.org/ann>\n<http://example.org/bob>\n<http://example.org/dan>\n"},
        {PREFIXES "SELECT ?y { :cid !^:name ?y } ORDER BY ?y",
         "?y\n<http://example.org/ann>\n<http://example.org/bob>\n"},
        {PREFIXES "SELECT ?y { :cid (!(:name|^:name))+ ?y } ORDER BY ?y",
         "?y\n<http://example.org/ann>\n<http://example.org/bob>\n<http://example.org/cid>\n<http:/"
         "/example.org/dan>\n<mailto:bob@example.org>\n25.5\n30\n\"coffee and tea\"\n\"tea\"\n"},
        {PREFIXES "SELECT ?y { :cid (!^:name)+ ?y } ORDER BY ?y",
         "?y\n<http://example.org/ann>\n<http://example.org/bob>\n"},
        {PREFIXES "SELECT ?x ?y { ?x (!(:name|:age|:likes))+ ?y } ORDER BY ?x ?y",
         "?x\t?y\n<http://example.org/ann>\t<http://example.org/bob>\n<http://example.org/"
         "ann>\t<http://example.org/cid>\n<http://example.org/ann>\t<http://example.org/"
         "dan>\n<http://example.org/ann>\t<mailto:bob@example.org>\n<http://example.org/"
         "bob>\t<http://example.org/cid>\n<http://example.org/bob>\t<http://example.org/"
         "dan>\n<http://example.org/bob>\t<mailto:bob@example.org>\n<http://example.org/"
         "cid>\t<http://example.org/dan>\n"},
        {PREFIXES "SELECT ?y { GRAPH :g1 { :ann (:knows|:likes)* ?y } } ORDER BY ?y",
         "?y\n<http://example.org/ann>\n<http://example.org/bob>\n\"tea\"\n"},
        {PREFIXES "SELECT ?x { ?x (:knows|^:knows)* :ann } ORDER BY ?x",
         "?x\n<http://example.org/ann>\n<http://example.org/bob>\n<http://example.org/cid>\n<http:/"
         "/example.org/dan>\n"},
        {PREFIXES "SELECT (COUNT(*) AS ?n) { ?x (:knows)* ?y }", "?n\n18\n"},
        {PREFIXES "SELECT ?x { ?x :knows* ?x . ?x :name ?n } ORDER BY ?x",
         "?x\n<http://example.org/ann>\n<http://example.org/bob>\n<http://example.org/cid>\n"},
        {PREFIXES "SELECT ?x { SERVICE SILENT <http://none/> { ?x ?y ?z } }", "?x\n\n"},
        {PREFIXES "SELECT ?x { SERVICE <http://none/> { ?x ?y ?z } }",
         "!SERVICE: queries to other services are not sent"},
        {PREFIXES "SELECT ?x ?y { ?x :age ?a . ?y :age ?b FILTER(?a < ?b) }",
         "?x\t?y\n<http://example.org/bob>\t<http://example.org/ann>\n"},
        {PREFIXES "SELECT DISTINCT ?p { ?x ?p ?o } ORDER BY ?p LIMIT 2 OFFSET 1",
         "?p\n<http://example.org/knows>\n<http://example.org/likes>\n"},
        {PREFIXES "SELECT REDUCED ?p { :ann ?p ?o } ORDER BY ?p",
         "?p\n<http://example.org/age>\n<http://example.org/knows>\n<http://example.org/"
         "knows>\n<http://example.org/likes>\n<http://example.org/name>\n"},
        {PREFIXES "SELECT ?x { ?x :name ?n } ORDER BY DESC(?n) LIMIT 1",
         "?x\n<http://example.org/bob>\n"},
        {PREFIXES "SELECT ?x { ?x :name ?n } ORDER BY STRLEN(?n) DESC(?x) LIMIT 2",
         "?x\n<http://example.org/cid>\n<http://example.org/bob>\n"},
        {PREFIXES "CONSTRUCT { ?x :hasName ?n . ?x :u ?unbound . ?n :p ?x } WHERE { ?x :name ?n }",
         "<http://example.org/ann> <http://example.org/hasName> \"Ann\" "
         ".\n<http://example.org/bob> <http://example.org/hasName> \"Bob\"@en "
         ".\n<http://example.org/cid> <http://example.org/hasName> \"Cid\" .\n"},
        {PREFIXES "DESCRIBE :ann",
         "<http://example.org/ann> <http://example.org/name> \"Ann\" .\n<http://example.org/ann> "
         "<http://example.org/age> \"30\"^^<http://www.w3.org/2001/XMLSchema#integer> "
         ".\n<http://example.org/ann> <http://example.org/knows> <http://example.org/bob> "
         ".\n<http://example.org/ann> <http://example.org/knows> <http://example.org/cid> "
         ".\n<http://example.org/ann> <http://example.org/likes> \"tea\" .\n"},
        {PREFIXES "DESCRIBE ?x { ?x :mail ?m }",
         "<http://example.org/bob> <http://example.org/name> \"Bob\"@en "
         ".\n<http://example.org/bob> <http://example.org/age> "
         "\"25.5\"^^<http://www.w3.org/2001/XMLSchema#decimal> .\n<http://example.org/bob> "
         "<http://example.org/knows> <http://example.org/cid> .\n<http://example.org/bob> "
         "<http://example.org/mail> <mailto:bob@example.org> .\n<http://example.org/bob> "
         "<http://example.org/likes> \"coffee and tea\" .\n"},
        /* A path is searched for each row anew. */
        {PREFIXES "SELECT ?x ?y { VALUES ?x { :ann :bob :cid } ?x :knows+ ?y } ORDER BY ?x ?y",
         "?x\t?y\n<http://example.org/ann>\t<http://example.org/bob>\n<http://example.org/"
         "ann>\t<http://example.org/cid>\n<http://example.org/ann>\t<http://example.org/"
         "dan>\n<http://example.org/bob>\t<http://example.org/cid>\n<http://example.org/"
         "bob>\t<http://example.org/dan>\n<http://example.org/cid>\t<http://example.org/dan>\n"},
        {PREFIXES "SELECT ?x ?y { VALUES ?y { :cid :dan :cid } ?x :knows+ ?y } ORDER BY ?x ?y",
         "?x\t?y\n<http://example.org/ann>\t<http://example.org/cid>\n<http://example.org/"
         "ann>\t<http://example.org/cid>\n<http://example.org/ann>\t<http://example.org/"
         "dan>\n<http://example.org/bob>\t<http://example.org/cid>\n<http://example.org/"
         "bob>\t<http://example.org/cid>\n<http://example.org/bob>\t<http://example.org/"
         "dan>\n<http://example.org/cid>\t<http://example.org/dan>\n"},
        {PREFIXES "SELECT ?x ?y { VALUES ?x { :ann :bob } ?x (:knows|:mail)* ?y } ORDER BY ?x ?y",
         "?x\t?y\n<http://example.org/ann>\t<http://example.org/ann>\n<http://example.org/"
         "ann>\t<http://example.org/bob>\n<http://example.org/ann>\t<http://example.org/"
         "cid>\n<http://example.org/ann>\t<http://example.org/dan>\n<http://example.org/"
         "ann>\t<mailto:bob@example.org>\n<http://example.org/bob>\t<http://example.org/"
         "bob>\n<http://example.org/bob>\t<http://example.org/cid>\n<http://example.org/"
         "bob>\t<http://example.org/dan>\n<http://example.org/bob>\t<mailto:bob@example.org>\n"},
        {PREFIXES "SELECT ?x ?y { VALUES ?x { :ann :bob } ?x !(:name|:age) ?y } ORDER BY ?x ?y",
         "?x\t?y\n<http://example.org/ann>\t<http://example.org/bob>\n<http://example.org/"
         "ann>\t<http://example.org/cid>\n<http://example.org/ann>\t\"tea\"\n<http://example.org/"
         "bob>\t<http://example.org/cid>\n<http://example.org/"
         "bob>\t<mailto:bob@example.org>\n<http://example.org/bob>\t\"coffee and tea\"\n"},
        {PREFIXES "SELECT ?x ?y { VALUES ?x { :ann :bob :cid } ?x :knows? ?y } ORDER BY ?x ?y",
         "?x\t?y\n<http://example.org/ann>\t<http://example.org/ann>\n<http://example.org/"
         "ann>\t<http://example.org/bob>\n<http://example.org/ann>\t<http://example.org/"
         "cid>\n<http://example.org/bob>\t<http://example.org/bob>\n<http://example.org/"
         "bob>\t<http://example.org/cid>\n<http://example.org/cid>\t<http://example.org/"
         "cid>\n<http://example.org/cid>\t<http://example.org/dan>\n"},
        {PREFIXES "SELECT ?x ?y { VALUES ?x { :ann :bob } OPTIONAL { ?x :knows/:knows+ ?y } } "
                  "ORDER BY ?x ?y",
         "?x\t?y\n<http://example.org/ann>\t<http://example.org/cid>\n<http://example.org/"
         "ann>\t<http://example.org/dan>\n<http://example.org/ann>\t<http://example.org/"
         "dan>\n<http://example.org/bob>\t<http://example.org/dan>\n"},
        {PREFIXES "SELECT ?x { VALUES (?x ?y) { (:ann :dan) (:bob :ann) (:cid :dan) (:dan :dan) } "
                  "?x :knows+ ?y } ORDER BY ?x",
         "?x\n<http://example.org/ann>\n<http://example.org/cid>\n"},
        {PREFIXES "SELECT ?g ?x ?y { VALUES ?x { :ann :bob } GRAPH ?g { ?x (:knows|:likes)+ ?y } } "
                  "ORDER BY ?g ?x ?y",
         "?g\t?x\t?y\n<http://example.org/g1>\t<http://example.org/ann>\t<http://example.org/"
         "bob>\n<http://example.org/g1>\t<http://example.org/ann>\t\"tea\"\n<http://example.org/"
         "g2>\t<http://example.org/ann>\t\"tea\"\n<http://example.org/g2>\t<http://example.org/"
         "bob>\t\"coffee and "
         "tea\"\n<urn:x-test:default>\t<http://example.org/ann>\t<http://example.org/"
         "bob>\n<urn:x-test:default>\t<http://example.org/ann>\t<http://example.org/"
         "cid>\n<urn:x-test:default>\t<http://example.org/ann>\t<http://example.org/"
         "dan>\n<urn:x-test:default>\t<http://example.org/bob>\t<http://example.org/"
         "cid>\n<urn:x-test:default>\t<http://example.org/bob>\t<http://example.org/dan>\n"},
    };
    (void)state;
    QUERY_CASES(QUERY_PEOPLE, NULL, cases);
}

static void
test_syntax(void **state)
{
    static const struct query_case cases[] = {
        {PREFIXES "SELECT ?x { ?x :age 25.5 . }", "?x\n<http://example.org/bob>\n"},
        {PREFIXES "SELECT ?x { ?x :age 30., 30 }",
         "!line 1, column 103: expected a triple, a pattern, '.' or '}', found ','"},
        {PREFIXES "ASK { :ann :age 30. }", "true\n"},
        {PREFIXES "ASK { :ann :age +30 }", "true\n"},
        {PREFIXES "ASK { :ann :age 030 }", "false\n"},
        {PREFIXES "SELECT (1 -1 AS ?a) (2+3 AS ?b) (2 *-3 AS ?c) (1.5e1 AS ?d) (.5 AS ?e) (-.5e0 "
                  "AS ?f) (1.e1 AS ?g) {}",
         "?a\t?b\t?c\t?d\t?e\t?f\t?g\n0\t5\t-6\t1.5e1\t.5\t-.5e0\t\"1.e1\"^^<http://www.w3.org/"
         "2001/XMLSchema#double>\n"},
        {PREFIXES "SELECT (\"a\\tb\\\"\\\\\\u00E4\\U0001F600\" AS ?a) ('''x'y''z''' AS ?b) "
                  "(\"\"\"x\"y\"\"\" AS ?c) ('it' AS ?d) {}",
         "?a\t?b\t?c\t?d\n\"a\\tb\\\"\\\\ä😀\"\t\"x'y''z\"\t\"x\\\"y\"\t\"it\"\n"},
        {PREFIXES "SELECT (\"a\"@en-US AS ?a) (\"a\"^^xsd:string AS ?b) "
                  "(\"5\"^^<http://www.w3.org/2001/XMLSchema#integer> AS ?c) {}",
         "?a\t?b\t?c\n\"a\"@en-us\t\"a\"\t5\n"},
        {PREFIXES "SELECT (\"a AS ?a) {}", "!line 1, column 88: a string that does not end"},
        {PREFIXES "SELECT (\"\"\"a\" AS ?a) {}", "!line 1, column 88: a string that does not end"},
        {PREFIXES "SELECT (\"\\q\" AS ?a) {}", "!line 1, column 89: a bad escape in a string"},
        {PREFIXES "SELECT (\"\\uD800\" AS ?a) {}", "!character 89: a bad \\u escape"},
        {PREFIXES "SELECT (\"a\"@ AS ?a) {}",
         "!line 1, column 91: expected a language tag after '@'"},
        {PREFIXES "SELECT (\"a\"@1 AS ?a) {}",
         "!line 1, column 91: expected a language tag after '@'"},
        {PREFIXES "SELECT (\"a\"^^5 AS ?a) {}", "!line 1, column 93: expected an IRI, found '5'"},
        {PREFIXES "SELECT ?x { ?x :na\\me \"Ann\" }",
         "!line 1, column 98: a bad escape in a prefixed name"},
        {PREFIXES "SELECT ?x { ?x :n%41me \"Ann\" }", "?x\n"},
        {PREFIXES "SELECT ?x { ?x :n%4 \"Ann\" }",
         "!line 1, column 97: expected two hexadecimal digits after '%'"},
        {PREFIXES "SELECT ?x { ?x : \"Ann\" }", "?x\n"},
        {PREFIXES "SELECT ?x { ?x none:name \"Ann\" }",
         "!line 1, column 95: the prefix 'none:' is not declared"},
        {PREFIXES "SELECT ?x { ?x <name> \"Ann\" }", "?x\n<http://example.org/ann>\n"},
        {PREFIXES "SELECT ?x { ?x <na me> \"Ann\" }",
         "!line 1, column 95: expected a predicate, found '<'"},
        {PREFIXES "SELECT ?x { ?x <name \"Ann\" }",
         "!line 1, column 95: expected a predicate, found '<'"},
        {PREFIXES "SELECT ?x { _: :name ?x }",
         "!line 1, column 94: expected a blank node label after '_:'"},
        {PREFIXES "SELECT ?x { _:a.b :name ?x } ORDER BY ?x LIMIT 1", "?x\n\"Ann\"\n"},
        {PREFIXES "SELECT ?x { ?x $y \"Ann\" }", "?x\n<http://example.org/ann>\n"},
        {PREFIXES "SELECT ? { ?x ?y \"Ann\" }",
         "!line 1, column 87: expected a variable, '(' or '*', found '?'"},
        {PREFIXES "SELECT ?x { ?x ?y \"Ann\" ~ }",
         "!line 1, column 104: a character that SPARQL does not have here"},
        {PREFIXES "SELECT ?x { ?x ?y & \"Ann\" }",
         "!line 1, column 98: a character that SPARQL does not have here"},
        {PREFIXES "SELECT ?x { ?x ?y | \"Ann\" }",
         "!line 1, column 98: expected a variable, an IRI, a literal or a blank node, found '|'"},
        {PREFIXES "SELECT ?x { ?x ?y ^ \"Ann\" }",
         "!line 1, column 98: expected a variable, an IRI, a literal or a blank node, found '^'"},
        {PREFIXES "SELECT ?x { ?x foo \"Ann\" }",
         "!line 1, column 95: expected a predicate, found 'foo'"},
        {PREFIXES "SELECT ?x { ?x ?y \"Ann\" } # comment", "?x\n<http://example.org/ann>\n"},
        {PREFIXES "SELECT ?x { ?x ?y \"Ann\" ", "!line 1, column 104: expected a triple, a "
                                                "pattern, '.' or '}', found the end of the query"},
        {PREFIXES "SELECT ?x { ?x ?y \"Ann\" } }",
         "!line 1, column 106: expected the end of the query, found '}'"},
        {PREFIXES "SELECT ?x { ?x ?y \"Ann\" } LIMIT",
         "!line 1, column 111: expected an integer, found the end of the query"},
        {PREFIXES "SELECT ?x { ?x ?y \"Ann\" } LIMIT -1",
         "!line 1, column 112: expected an integer, found '-'"},
        {PREFIXES "SELECT ?x { ?x ?y \"Ann\" } LIMIT 0", "?x\n"},
        {PREFIXES "SELECT ?x { ?x ?y \"Ann\" } OFFSET 1", "?x\n"},
        {PREFIXES "SELECT ?x { ?x ?y \"Ann\" } LIMIT 1 OFFSET 0", "?x\n<http://example.org/ann>\n"},
        {PREFIXES "SELECT ?x { ?x ?y \"Ann\" } OFFSET 0 LIMIT 1", "?x\n<http://example.org/ann>\n"},
        {PREFIXES "SELECT ?x { ?x ?y \"Ann\" } LIMIT 1 LIMIT 2",
         "!line 1, column 114: expected the end of the query, found 'LIMIT'"},
        {PREFIXES "SELECT ?x ?x { ?x ?y \"Ann\" }", "?x\n<http://example.org/ann>\n"},
        {PREFIXES "SELECT (?y AS ?x) { ?x ?y \"Ann\" }",
         "!line 1, column 87: ?x is already in scope"},
        {PREFIXES "SELECT (1 AS ?z) (?z + 1 AS ?w) {}", "?z\t?w\n1\t2\n"},
        {PREFIXES "SELECT (?z + 1 AS ?w) (1 AS ?z) {}", "?w\t?z\n\t1\n"},
        {PREFIXES "SELECT ?x (COUNT(*) AS ?n) { ?x ?y \"Ann\" }",
         "!line 1, column 87: ?x is neither grouped nor aggregated"},
        {PREFIXES "SELECT ?y (COUNT(*) AS ?n) { ?x ?y \"Ann\" } GROUP BY ?x",
         "!line 1, column 87: ?y is neither grouped nor aggregated"},
        {PREFIXES "SELECT (COUNT(COUNT(*)) AS ?n) { ?x ?y \"Ann\" }",
         "!line 1, column 94: an aggregate cannot be used here"},
        {PREFIXES "SELECT * { ?x ?y \"Ann\" } GROUP BY ?x",
         "!line 1, column 116: SELECT * cannot be used with GROUP BY or aggregates"},
        {PREFIXES "SELECT ?x { ?x ?y \"Ann\" BIND(1 AS ?x) }",
         "!line 1, column 114: ?x is already in scope"},
        {PREFIXES "SELECT ?x { FILTER(COUNT(*) > 1) }",
         "!line 1, column 99: an aggregate cannot be used here"},
        {PREFIXES
         "SELECT ?n { ?x :name ?n FILTER(?n = \"Ann\" || ?n = \"Cid\") FILTER REGEX(?n, \"C\") }",
         "?n\n\"Cid\"\n"},
        {PREFIXES "SELECT ?n { ?x :name ?n FILTER(?n IN (\"Ann\")) }", "?n\n\"Ann\"\n"},
        {PREFIXES "SELECT ?n { ?x :name ?n FILTER NOT EXISTS { ?x :age ?a } }", "?n\n\"Cid\"\n"},
        {PREFIXES "SELECT ?n { ?x :name ?n FILTER ?n }",
         "!line 1, column 111: expected an expression, found '?n'"},
        {PREFIXES "SELECT ?n { ?x :name ?n FILTER(!BOUND(?z) && (?n != \"Ann\")) } ORDER BY ?n",
         "?n\n\"Cid\"\n\"Bob\"@en\n"},
        {PREFIXES "SELECT ?n { ?x :name ?n . VALUES ?n { \"Ann\" \"Cid\" } }",
         "?n\n\"Ann\"\n\"Cid\"\n"},
        {PREFIXES "SELECT ?n { ?x :name ?n } VALUES ?n { \"Ann\" }", "?n\n\"Ann\"\n"},
        {PREFIXES "SELECT ?n { ?x :name ?n } VALUES (?x ?n) { (:ann UNDEF) (UNDEF \"Cid\") } ",
         "?n\n\"Ann\"\n\"Cid\"\n"},
        {PREFIXES "SELECT ?n { ?x :name ?n } VALUES (?x ?n) { (:ann) }",
         "!line 1, column 123: a row of 1 values for 2 variables"},
        {PREFIXES "SELECT ?n { ?x :name ?n } VALUES () { () }",
         "?n\n\"Ann\"\n\"Bob\"@en\n\"Cid\"\n"},
        {PREFIXES "SELECT ?n { VALUES ?n { _:a } }",
         "!line 1, column 104: expected an IRI, a literal or UNDEF, found '_:a'"},
        {PREFIXES "SELECT ?o { [ :name \"Ann\" ; :age ?o ] }", "?o\n30\n"},
        {PREFIXES "SELECT ?o { [] :age ?o } ORDER BY ?o", "?o\n25.5\n30\n"},
        {PREFIXES "SELECT ?o { [ :knows [ :name \"Cid\" ] ] :name ?o } ORDER BY ?o",
         "?o\n\"Ann\"\n\"Bob\"@en\n"},
        {PREFIXES "SELECT ?x { (1 ?x) :p :q }", "?x\n"},
        {PREFIXES "SELECT ?x { ?x a :C }", "?x\n"},
        {PREFIXES "SELECT ?x { ?x :name \"Ann\" ; ; :age 30 ; }", "?x\n<http://example.org/ann>\n"},
        {PREFIXES "SELECT ?x { ?x :knows :bob, :cid }", "?x\n<http://example.org/ann>\n"},
        {PREFIXES "SELECT ?x { ?x :knows :bob, }",
         "!line 1, column 108: expected a variable, an IRI, a literal or a blank node, found '}'"},
        {PREFIXES "SELECT ?x { ?x ; }", "!line 1, column 95: expected a predicate, found ';'"},
        {PREFIXES "SELECT ?x { { ?x :age 30 } UNION { ?x :age 25.5 } UNION { ?x :name \"Cid\" } } "
                  "ORDER BY ?x",
         "?x\n<http://example.org/ann>\n<http://example.org/bob>\n<http://example.org/cid>\n"},
        {PREFIXES "SELECT ?x { { SELECT ?x { ?x :name ?n } ORDER BY ?n LIMIT 1 } }",
         "?x\n<http://example.org/ann>\n"},
        {PREFIXES "SELECT ?x { OPTIONAL { ?x :mail ?m } MINUS { ?x :age 30 } }",
         "?x\n<http://example.org/bob>\n"},
        {PREFIXES "SELECT ?x WHERE { GRAPH ?g { ?x :likes ?t } GRAPH :g2 { ?x :likes \"tea\" } } "
                  "ORDER BY ?x",
         "?x\n<http://example.org/ann>\n<http://example.org/ann>\n"},
        {PREFIXES "ASK WHERE { ?x :name \"Ann\" }", "true\n"},
        {PREFIXES "ASK FROM :g1 { ?x :name \"Ann\" }", "false\n"},
        {PREFIXES "CONSTRUCT WHERE { ?x :mail ?m }",
         "<http://example.org/bob> <http://example.org/mail> <mailto:bob@example.org> .\n"},
        {PREFIXES "CONSTRUCT { ?x :p _:b } WHERE { ?x :mail ?m }",
         "<http://example.org/bob> <http://example.org/p> _:new0x0 .\n"},
        {PREFIXES "CONSTRUCT { ?x ?n ?m } WHERE { ?x :mail ?m ; :name ?n }", ""},
        {PREFIXES "CONSTRUCT { \"x\" :p ?m } WHERE { ?x :mail ?m }", ""},
        {PREFIXES "INSERT DATA { :a :b :c }",
         "!line 1, column 80: expected SELECT, CONSTRUCT, DESCRIBE or ASK, found 'INSERT'"},
        {PREFIXES "SELEC ?x { }",
         "!line 1, column 80: expected SELECT, CONSTRUCT, DESCRIBE or ASK, found 'SELEC'"},
        {PREFIXES "BASE <http://example.org/> SELECT ?x { ?x <name> \"Ann\" }",
         "?x\n<http://example.org/ann>\n"},
        {PREFIXES "PREFIX n: <http://example.org/na> SELECT ?x { ?x n:me \"Ann\" }",
         "?x\n<http://example.org/ann>\n"},
        {PREFIXES "PREFIX n <http://example.org/na> SELECT ?x { ?x n:me \"Ann\" }",
         "!line 1, column 87: expected a prefix with its colon, found 'n'"},
        {PREFIXES "SELECT ?x { ?x (:knows|:none)/:name \"Cid\" } ORDER BY ?x",
         "?x\n<http://example.org/ann>\n<http://example.org/bob>\n"},
        {PREFIXES "SELECT ?x { ?x ^(:knows/:knows) ?y } ORDER BY ?x",
         "?x\n<http://example.org/cid>\n<http://example.org/dan>\n<http://example.org/dan>\n"},
        {PREFIXES "SELECT ?x { ?x :knows{1,2} ?y }",
         "!line 1, column 101: expected a variable, an IRI, a literal or a blank node, found '{'"},
        {PREFIXES "SELECT ?x { ?x !:name|:name \"Ann\" } ORDER BY ?x",
         "?x\n<http://example.org/ann>\n"},
        {PREFIXES "SELECT ?x { ?x (!(:name) \"Ann\" }",
         "!line 1, column 105: expected ')', found '\"Ann\"'"},
        {PREFIXES "SELECT ?x { ?x !() \"Ann\" }", "?x\n<http://example.org/ann>\n"},
        {PREFIXES "SELECT ?x { ?x (:knows)+* :dan }",
         "!line 1, column 104: expected a variable, an IRI, a literal or a blank node, found '*'"},
        {PREFIXES "SELECT (STRLEN() AS ?x) {}",
         "!line 1, column 88: STRLEN does not take 0 arguments"},
        {PREFIXES "SELECT (STRLEN(\"a\", \"b\") AS ?x) {}",
         "!line 1, column 88: STRLEN does not take 2 arguments"},
        {PREFIXES "SELECT (IF(1, 2) AS ?x) {}", "!line 1, column 88: IF does not take 2 arguments"},
        {PREFIXES "SELECT (<http://www.w3.org/2001/XMLSchema#integer>(\"7\") AS ?x) {}", "?x\n7\n"},
        {PREFIXES "SELECT (nofunction(1) AS ?x) {}",
         "!line 1, column 88: expected an expression, found 'nofunction'"},
        {PREFIXES "SELECT (COUNT(DISTINCT *) AS ?n) { ?x :likes ?y }", "?n\n2\n"},
        {PREFIXES "SELECT (GROUP_CONCAT(?n; SEPARATOR=5) AS ?x) { ?y :name ?n }",
         "!line 1, column 115: expected a string, found '5'"},
        {PREFIXES "SELECT (1 IN 2 AS ?x) {}", "!line 1, column 93: expected '(', found '2'"},
        {PREFIXES "SELECT (1 < 2 < 3 AS ?x) {}", "!line 1, column 94: expected AS, found '<'"},
        {PREFIXES
         "SELECT (1 + 2 * 3 - 4 / 2 AS ?x) (-2 * -3 AS ?y) (!true || true && false AS ?z) {}",
         "?x\t?y\t?z\n\"5\"^^<http://www.w3.org/2001/XMLSchema#decimal>\t6\t\"false\"^^<http://"
         "www.w3.org/2001/XMLSchema#boolean>\n"},
        {PREFIXES "SELECT ?x { ?x :name ?n } GROUP BY (STRLEN(?n) AS ?l)",
         "!line 1, column 87: ?x is neither grouped nor aggregated"},
        {PREFIXES "SELECT ?l (COUNT(?n) AS ?c) { ?x :name ?n } GROUP BY (STRLEN(?n) AS ?l)",
         "?l\t?c\n3\t3\n"},
        {PREFIXES "SELECT (STRLEN(?n) AS ?l) { ?x :name ?n } GROUP BY STRLEN(?n)",
         "!line 1, column 87: the expression of ?l uses a variable that is neither grouped nor "
         "aggregated"},
        {PREFIXES "SELECT ?x { ?x :name ?n } ORDER BY ASC(?n) ",
         "?x\n<http://example.org/ann>\n<http://example.org/cid>\n<http://example.org/bob>\n"},
        {PREFIXES "SELECT ?x { ?x :name ?n } ORDER BY",
         "!line 1, column 114: expected a variable or an expression, found the end of the query"},
        {PREFIXES "SELECT ?x { ?x :name ?n } HAVING (?n > 1)",
         "!line 1, column 87: ?x is neither grouped nor aggregated"},
        {PREFIXES
         "SELECT (EXISTS { ?x :name \"Ann\" } AS ?e) (NOT EXISTS { ?x :name \"Ann\" } AS ?f) {}",
         "?e\t?f\n\"true\"^^<http://www.w3.org/2001/XMLSchema#boolean>\t\"false\"^^<http://"
         "www.w3.org/2001/XMLSchema#boolean>\n"},
    };
    (void)state;
    QUERY_CASES(QUERY_PEOPLE, NULL, cases);
}

static void
test_formats_of_answers(void **state)
{
    static const struct {
        const char *format, *query, *output;
    } cases[] = {
        {"json", PREFIXES "ASK { :ann :age 30 }", "{\"head\":{},\"boolean\":true}\n"},
        {"json", PREFIXES "ASK { :ann :age 31 }", "{\"head\":{},\"boolean\":false}\n"},
        {"xml", PREFIXES "ASK { :ann :age 31 }",
         "<?xml version=\"1.0\"?>\n<sparql "
         "xmlns=\"http://www.w3.org/2005/sparql-results#\">\n<head/>\n<boolean>false</boolean>\n</"
         "sparql>\n"},
        {"xml", PREFIXES "ASK { :ann :age 30 }",
         "<?xml version=\"1.0\"?>\n<sparql "
         "xmlns=\"http://www.w3.org/2005/sparql-results#\">\n<head/>\n<boolean>true</boolean>\n</"
         "sparql>\n"},
        {"xml", PREFIXES "SELECT ?o ?u { :bob :mail ?o OPTIONAL { ?o :q ?u } }",
         "<?xml version=\"1.0\"?>\n<sparql "
         "xmlns=\"http://www.w3.org/2005/sparql-results#\">\n<head><variable name=\"o\"/><variable "
         "name=\"u\"/></head>\n<results>\n<result><binding "
         "name=\"o\"><uri>mailto:bob@example.org</uri></binding></result>\n</results>\n</"
         "sparql>\n"},
        {"csv", PREFIXES "ASK { :ann :age 30 }", "true\n"},
        {"table", PREFIXES "ASK { :ann :age 30 }", "true\n"},
    };
    const struct query_options options = {0};
    struct memory_source *source = query_case_source(QUERY_PEOPLE);
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buf out;
        buf_init(&out, 1 << 16);
        (void)query_case_output(source, cases[i].query, cases[i].format, &options, &out);
        assert_string_equal(out.data, cases[i].output);
        buf_release(&out);
    }
    memory_source_free(source);
}

/* ---- graphs that a query reads ---- */

static void
note_graph(void *context, struct slice graph)
{
    (void)buf_printf(context, "%.*s ", SLICE_PRINT(graph));
}

/* So that a partition which has them all can answer alone. */
static void
test_graphs_that_are_read(void **state)
{
    static const struct {
        const char *query, *graphs, *named, *default_graph, *visited; /* NULL: cannot be told */
    } cases[] = {
        {"SELECT * { ?s ?p ?o }", "", "", "", NULL},
        {"SELECT * { ?s ?p ?o }", "", "", "a:d", "a:d "},
        {"SELECT * { ?s ?p ?o }", "a:1\na:2\n", "", "a:d", "a:1 a:2 "},
        {"SELECT * { ?s ?p ?o }", "a:1\na:2", "a:3", "", "a:1 a:2 "},
        {"SELECT * { ?s ?p ?o }", "a\nb", "", "", "a b "},
        {"SELECT * { ?s ?p ?o }", "", "a:3", "a:d", ""},
        {"SELECT * FROM <a:f> FROM <a:g> { ?s ?p ?o }", "", "", "a:d", "a:f a:g "},
        {"SELECT * FROM <a:f> { ?s ?p ?o }", "a:1", "", "a:d", "a:1 "},
        {"SELECT * FROM NAMED <a:f> { ?s ?p ?o }", "", "", "a:d", ""},
        {"SELECT * FROM NAMED <a:f> { GRAPH ?g { ?s ?p ?o } }", "", "", "", "a:f "},
        {"SELECT * FROM NAMED <a:f> { GRAPH ?g { ?s ?p ?o } }", "a:1", "a:2\na:3", "", "a:2 a:3 "},
        {"SELECT * { GRAPH ?g { ?s ?p ?o } }", "", "", "a:d", NULL},
        {"SELECT * { GRAPH <a:c> { ?s ?p ?o } }", "", "", "", "a:c "},
        {"SELECT * { GRAPH <a:c> { ?s ?p ?o } }", "", "", "a:d", "a:c "},
        {"SELECT * { GRAPH <a:c> { ?s ?p ?o } ?s ?q ?x }", "", "", "a:d", "a:c a:d "},
        {"SELECT * { GRAPH <a:c> { ?s ?p ?o } OPTIONAL { GRAPH <a:e> { ?s ?p ?o } } }", "", "", "",
         "a:c a:e "},
        {"SELECT * { GRAPH <a:c> { ?s ?p ?o FILTER EXISTS { ?s ?x ?y } } }", "", "", "", "a:c "},
        {"SELECT * { GRAPH <a:c> { ?s ?p ?o } FILTER EXISTS { ?s ?x ?y } }", "", "", "", NULL},
        {"SELECT * { GRAPH <a:c> { ?s ?p ?o } FILTER(1 + 1 = 2 && NOT EXISTS { ?s ?x ?y }) }", "",
         "", "", NULL},
        {"SELECT * { GRAPH <a:c> { ?s ?p ?o } FILTER(?s = 1 || EXISTS { GRAPH <a:e> { ?s ?x ?y } "
         "}) }",
         "", "", "", "a:e a:c "},
        {"SELECT * { GRAPH <a:c> { ?s ?p ?o } } ORDER BY (EXISTS { ?s ?x ?y })", "", "", "", NULL},
        {"SELECT ?k { GRAPH <a:c> { ?s ?p ?o } } GROUP BY (EXISTS { ?s ?x ?y } AS ?k)", "", "", "",
         NULL},
        {"SELECT (SUM(IF(EXISTS { ?s ?x ?y }, 1, 0)) AS ?k) { GRAPH <a:c> { ?s ?p ?o } }", "", "",
         "", NULL},
        {"SELECT * { GRAPH <a:c> { ?s ?p ?o } SERVICE <a:s> { ?s ?p ?o } }", "", "", "a:d", NULL},
        {"SELECT * { GRAPH <a:c> { ?s <urn:x-quadrille:query#matches> \"x\" } }", "", "", "", NULL},
        {"SELECT * { GRAPH <urn:x-quadrille:query#provenance> { ?s ?p ?o } }", "", "", "", NULL},
        {"SELECT * { GRAPH <urn:x-quadrille:query#identity> { ?s ?p ?o } }", "", "", "", NULL},
        {"DESCRIBE <a:x> FROM <a:f>", "", "", "a:d", NULL},
        {"SELECT * { VALUES ?x { 1 } }", "", "", "", ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct query_options options = {.graphs = slice_string(cases[i].graphs),
                                              .named_graphs = slice_string(cases[i].named),
                                              .default_graph =
                                                  slice_string(cases[i].default_graph)};
        struct query *query;
        struct reason why = {""};
        struct buf visited;
        buf_init(&visited, 4096);
        (void)buf_append_string(&visited, "");
        assert_int_equal(
            query_prepare(&query, slice_string(cases[i].query), SLICE(CASE_BASE), &why), STATUS_OK);
        const bool told = query_graphs(query, &options, note_graph, &visited);
        if (told != (cases[i].visited != NULL) ||
            (told && strcmp(visited.data, cases[i].visited) != 0)) {
            fail_msg("%s: %d %s", cases[i].query, told, visited.data);
        }
        query_free(query);
        buf_release(&visited);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answers),
        cmocka_unit_test(test_syntax),
        cmocka_unit_test(test_formats_of_answers),
        cmocka_unit_test(test_graphs_that_are_read),
        cmocka_unit_test(paths_reach_what_they_should),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) + query_corners_run();
}
