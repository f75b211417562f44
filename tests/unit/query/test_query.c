#include "tests/unit/query/plan_case.h"

static void
test_patterns_and_filters(void **state)
{
    static const struct query_case cases[] = {
        {PREFIXES "SELECT ?n { ?x :name ?n } ORDER BY ?n", "?n\n\"Ann\"\n\"Cid\"\n\"Bob\"@en\n"},
        {PREFIXES "SELECT ?a ?b { ?a :knows ?b . ?b :knows ?c } ORDER BY ?a ?b",
         "?a\t?b\n<http://example.org/ann>\t<http://example.org/bob>\n"
         "<http://example.org/ann>\t<http://example.org/cid>\n"
         "<http://example.org/bob>\t<http://example.org/cid>\n"},
        {PREFIXES "SELECT ?x { ?x :age ?a FILTER(?a > 26 && ISNUMERIC(?a)) }",
         "?x\n<http://example.org/ann>\n"},
        {PREFIXES "SELECT ?x { ?x :name ?n FILTER(?x = :bob) }", "?x\n<http://example.org/bob>\n"},
        {PREFIXES "SELECT ?x { ?x :name ?n FILTER(?x IN (:bob, :nobody, :bob)) }",
         "?x\n<http://example.org/bob>\n"},
        {PREFIXES "SELECT ?x { ?x :name ?n FILTER(REGEX(?n, '^c', 'i')) }",
         "?x\n<http://example.org/cid>\n"},
        {PREFIXES "SELECT ?x { ?x :nothing ?n }", "?x\n"},
        {PREFIXES "SELECT ?x { ?x ?p ?x }", "?x\n"},
        {PREFIXES "ASK { :ann :age 30 }", "true\n"},
        {PREFIXES "ASK { :ann :age 31 }", "false\n"},
        {PREFIXES "SELECT ?x ?m { ?x :name ?n OPTIONAL { ?x :mail ?m } } ORDER BY ?x",
         "?x\t?m\n<http://example.org/ann>\t\n"
         "<http://example.org/bob>\t<mailto:bob@example.org>\n<http://example.org/cid>\t\n"},
        {PREFIXES "SELECT ?x { { ?x :mail ?m } UNION { ?x :age 30 } } ORDER BY ?x",
         "?x\n<http://example.org/ann>\n<http://example.org/bob>\n"},
        {PREFIXES "SELECT ?x { ?x :name ?n MINUS { ?x :age ?a } }",
         "?x\n<http://example.org/cid>\n"},
        {PREFIXES "SELECT ?x { ?x :name ?n FILTER NOT EXISTS { ?x :age ?a } }",
         "?x\n<http://example.org/cid>\n"},
        {PREFIXES "SELECT ?x { VALUES (?x ?n) { (:ann UNDEF) (:bob \"x\") } ?x :name ?n }",
         "?x\n<http://example.org/ann>\n"},
        {PREFIXES "SELECT ?x ?y { ?x :age ?a BIND(?a * 2 AS ?y) } ORDER BY ?y",
         "?x\t?y\n<http://example.org/bob>\t\"51\"^^<http://www.w3.org/2001/XMLSchema#decimal>\n"
         "<http://example.org/ann>\t60\n"},
    };
    (void)state;
    QUERY_CASES(QUERY_PEOPLE, NULL, cases);
}

/* A filter or an inner OPTIONAL sees only what its own group binds. */
static void
test_scope_of_groups(void **state)
{
    static const struct query_case cases[] = {
        {PREFIXES "SELECT ?x { ?x :age ?a { FILTER(BOUND(?a)) } }", "?x\n"},
        {PREFIXES "SELECT ?x { ?x :age ?a { ?x :knows ?y FILTER(?a > 26) } }", "?x\n"},
        {PREFIXES "SELECT ?x ?v { BIND(1 AS ?v) { BIND(2 AS ?v) } }", "?x\t?v\n"},
        {PREFIXES "SELECT ?x { ?x :mail ?m OPTIONAL { ?y :age 30 FILTER(?m = ?y) } }",
         "?x\n<http://example.org/bob>\n"},
        {PREFIXES "SELECT ?a ?c { :ann :age ?a OPTIONAL { :nobody :age ?b OPTIONAL { :bob :age "
                  "?c } } }",
         "?a\t?c\n30\t\n"},
    };
    (void)state;
    QUERY_CASES(QUERY_PEOPLE, NULL, cases);
}

static void
test_union_of_graphs_has_no_duplicates(void **state)
{
    static const struct query_case cases[] = {
        {PREFIXES "SELECT ?x ?y { ?x :likes ?y } ORDER BY ?y",
         "?x\t?y\n<http://example.org/bob>\t\"coffee and tea\"\n"
         "<http://example.org/ann>\t\"tea\"\n"},
        {PREFIXES "SELECT ?x { ?x :likes \"tea\" }", "?x\n<http://example.org/ann>\n"},
        {PREFIXES "SELECT ?y { :ann :likes ?y }", "?y\n\"tea\"\n"},
        {PREFIXES "SELECT ?p { :ann ?p \"tea\" }", "?p\n<http://example.org/likes>\n"},
        {PREFIXES "SELECT (COUNT(*) AS ?n) { ?x ?p ?y }", "?n\n12\n"},
        {PREFIXES "SELECT (COUNT(*) AS ?n) { ?x ?p \"tea\" }", "?n\n1\n"},
        {PREFIXES "SELECT (COUNT(*) AS ?n) { ?x !:knows \"tea\" }", "?n\n1\n"},
        {PREFIXES "SELECT ?g { GRAPH ?g { ?x :likes \"tea\" } } ORDER BY ?g",
         "?g\n<http://example.org/g1>\n<http://example.org/g2>\n"},
        {PREFIXES "SELECT ?g { GRAPH ?g {} } ORDER BY ?g",
         "?g\n<http://example.org/g1>\n<http://example.org/g2>\n<urn:x-test:default>\n"},
        {PREFIXES "SELECT ?y { GRAPH :g2 { ?x :likes ?y } } ORDER BY ?y",
         "?y\n\"coffee and tea\"\n\"tea\"\n"},
        {PREFIXES "SELECT ?g ?n { GRAPH ?g { SELECT (COUNT(*) AS ?n) { ?x :likes ?y } } } ORDER "
                  "BY ?g",
         "?g\t?n\n<http://example.org/g1>\t1\n<http://example.org/g2>\t2\n"
         "<urn:x-test:default>\t0\n"},
        {PREFIXES "SELECT ?y FROM :g1 FROM :g2 { ?x :likes ?y } ORDER BY ?y",
         "?y\n\"coffee and tea\"\n\"tea\"\n"},
        {PREFIXES "SELECT ?g ?y FROM NAMED :g1 { GRAPH ?g { ?x :likes ?y } }",
         "?g\t?y\n<http://example.org/g1>\t\"tea\"\n"},
        {PREFIXES "ASK FROM NAMED :g1 { ?x :likes ?y }", "false\n"},
    };
    (void)state;
    QUERY_CASES(QUERY_PEOPLE, NULL, cases);
}

/* ---- the variable of GRAPH ---- */

static const char graphs[] = "@prefix : <http://example.org/> .\n"
                             ":g1 { :s :p :g1, :g2, \"x\" . :g1 :q 1 . :s :r :t }\n"
                             ":g2 { :s :p :g1 . :g2 :q 2 . :t :p :s }\n";

/* Groups that mention ?g in every place where a variable can stand. */
static const char *const groups[] = {
    "?s :p ?o OPTIONAL { ?s :p ?g }",
    "?s :p ?o OPTIONAL { ?g :q ?v }",
    "?s :p ?o FILTER(?g = :g1)",
    "?s :p ?o FILTER(!BOUND(?g))",
    "?s :p ?o MINUS { ?s :p ?g }",
    "?s :p ?o MINUS { ?g :q ?v }",
    "?s :p ?g MINUS { ?g :q 1 }",
    "?s :p ?o FILTER EXISTS { ?s :p ?g }",
    "?s :p ?o FILTER NOT EXISTS { ?g :q ?v }",
    "?s :p ?o BIND(?g AS ?x)",
    "?s :p ?o BIND(:g1 AS ?g)",
    "?s :p ?o VALUES ?g { :g1 UNDEF }",
    "?s :p ?o OPTIONAL { VALUES ?g { :g1 } }",
    "{ ?s :p ?o } UNION { ?s :p ?g }",
    "{ ?s :p ?o FILTER(?g = :g1) } UNION { ?s :p ?g }",
    "{ SELECT ?s { ?s :p ?g } }",
    "{ SELECT ?s ?g { ?s :p ?g } }",
    "{ SELECT (COUNT(?g) AS ?n) { ?s :p ?o OPTIONAL { ?s :p ?g } } }",
    "?s :p ?o { SELECT (MAX(?v) AS ?g) { ?a :q ?v } }",
    "?s :p ?o GRAPH ?g { ?s :q ?v }",
    "?s :p ?o GRAPH ?h { ?g :q ?v }",
    "?s :p ?o OPTIONAL { GRAPH ?g { ?a :q ?v } }",
    "?s :p ?o GRAPH ?h { ?s :p ?h OPTIONAL { ?s :p ?g } }",
    "GRAPH ?g { ?s :p ?o OPTIONAL { ?s :p ?g } }",
    "?s :p ?o OPTIONAL { ?s :r ?v FILTER(?g = :g1) }",
    "?s :p ?o OPTIONAL { ?s :p ?g OPTIONAL { ?g :q ?v } }",
    "?s :p ?o OPTIONAL { ?s :p ?g } OPTIONAL { ?g :q ?v }",
    "?s :p ?o OPTIONAL { ?t :r ?v FILTER(?v = ?o) } OPTIONAL { ?s :p ?g }",
    "?s :p ?g . ?s :p ?o",
    "?s :p ?g OPTIONAL { ?g :q ?v }",
    "?s :p ?g FILTER(?g != :g2)",
    "?s (:p/:q?) ?o OPTIONAL { ?s :p ?g }",
    "OPTIONAL { ?s :p ?g }",
    "FILTER(?g = :g1)",
    "BIND(?g AS ?x)",
    "VALUES ?g { :g1 }",
};

/* GRAPH ?g is defined as this: for each graph its solutions, joined with its name. */
#define EACH_GRAPH                                                                         \
    "{ { GRAPH :g1 { %s } } VALUES ?g { :g1 } } UNION { { GRAPH :g2 { %s } } VALUES ?g { " \
    ":g2 } }"

#define ALL "?g ?s ?o ?v ?x ?h ?a ?t ?number"

/* This stands around the group and its definition. */
static const char *const around[] = {
    "SELECT " ALL " { %s }",
    "SELECT " ALL " { %s FILTER(?g = :g1) }",
    "SELECT " ALL " { VALUES ?g { :g1 :none } %s }",
    "SELECT " ALL " { ?x :p ?g %s }",
    "SELECT " ALL " { ?g :q ?number OPTIONAL { %s } }",
    "SELECT " ALL " { ?g :q ?number MINUS { %s } }",
    "SELECT DISTINCT ?g ?s ?n { %s }",
    "SELECT ?g (COUNT(*) AS ?rows) { %s } GROUP BY ?g",
};

static int
compare_lines(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The lines sorted, which are cut out of *text. */
static size_t
sorted_lines(char *text, char **lines, size_t most)
{
    size_t count = 0;
    for (char *at = text; *at != '\0' && count < most; count++) {
        lines[count] = at;
        at += strcspn(at, "\n");
        if (*at != '\0') {
            *at++ = '\0';
        }
    }
    qsort(lines, count, sizeof *lines, compare_lines);
    return count;
}

static void
print_lines(char *const *lines, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        print_error("%s\n", lines[i]);
    }
    print_error("\n");
}

static void
answer(struct memory_source *source, const char *form, const char *pattern, struct buf *out)
{
    static const struct query_options options = {.now_ms = 1700000000000};
    char text[2048] = PREFIXES;
    const char *gap = strstr(form, "%s");
    const size_t length = strlen(text);
    buf_reset(out);
    snprintf(text + length, sizeof text - length, "%.*s%s%s", (int)(gap - form), form, pattern,
             gap + 2);
    query_case_output(source, text, "tsv", &options, out);
    buf_append_char(out, '\0');
    if (out->data[0] == '!') {
        fail_msg("%s\n%s", text, out->data);
    }
}

static void
test_graph_binds_its_variable_outside(void **state)
{
    enum { LINES = 1000 };
    static const struct query_case cases[] = {
        {PREFIXES "SELECT * { GRAPH ?g { ?s :p ?o OPTIONAL { ?s :p ?g } FILTER(?o = \"x\") } }",
         "?g\t?s\t?o\n<http://example.org/g1>\t<http://example.org/s>\t\"x\"\n"},
        {PREFIXES "SELECT * { GRAPH ?g { ?s :q ?o FILTER(?g = :g1) } }", "?g\t?s\t?o\n"},
        /* EXISTS puts the value in everywhere. */
        {PREFIXES "SELECT * { ?g :q ?n FILTER EXISTS { GRAPH ?g { ?s :p ?o FILTER(?g = :g1) } } }",
         "?g\t?n\n<http://example.org/g1>\t1\n"},
        {PREFIXES "SELECT * { ?g :q ?n FILTER EXISTS { GRAPH ?g { ?s :p ?o OPTIONAL { ?s :p ?g . "
                  "?g :q ?v } FILTER(!BOUND(?v)) } } }",
         "?g\t?n\n<http://example.org/g2>\t2\n"},
        {PREFIXES "SELECT * { GRAPH ?g { :s :r ?o BIND(?g AS ?x) } }",
         "?g\t?o\t?x\n<http://example.org/g1>\t<http://example.org/t>\t\n"},
    };
    struct memory_source *source = query_case_source(graphs);
    char each[1024], within[512], *lines[2][LINES];
    struct buf out[2];
    (void)state;
    buf_init(&out[0], 1 << 20);
    buf_init(&out[1], 1 << 20);
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        snprintf(within, sizeof within, "GRAPH ?g { %s }", groups[i]);
        snprintf(each, sizeof each, EACH_GRAPH, groups[i], groups[i]);
        for (size_t k = 0; k < sizeof around / sizeof *around; k++) {
            answer(source, around[k], within, &out[0]);
            answer(source, around[k], each, &out[1]);
            const size_t count = sorted_lines(out[0].data, lines[0], LINES);
            const size_t expected = sorted_lines(out[1].data, lines[1], LINES);
            bool same = count == expected;
            for (size_t n = 0; n < count && same; n++) {
                same = strcmp(lines[0][n], lines[1][n]) == 0;
            }
            if (!same) {
                print_lines(lines[0], count);
                print_lines(lines[1], expected);
                fail_msg("%s of %s", around[k], within);
            }
        }
    }
    memory_source_free(source);
    buf_release(&out[0]);
    buf_release(&out[1]);
    QUERY_CASES(graphs, NULL, cases);
}

static void
test_default_graph_can_be_one(void **state)
{
    static const struct query_case one[] = {
        {PREFIXES "SELECT (COUNT(*) AS ?n) { ?x ?p ?y }", "?n\n10\n"},
        {PREFIXES "SELECT DISTINCT ?g { GRAPH ?g { ?x ?p ?y } } ORDER BY ?g",
         "?g\n<http://example.org/g1>\n<http://example.org/g2>\n"},
    };
    static const struct query_case only[] = {
        {PREFIXES "SELECT ?p { ?x ?p ?y } ORDER BY ?p",
         "?p\n<http://example.org/knows>\n<http://example.org/likes>\n"},
        {PREFIXES "SELECT DISTINCT ?g { GRAPH ?g { ?x ?p ?y } }", "?g\n<http://example.org/g1>\n"},
    };
    const struct query_options default_graph = {.default_graph = SLICE("urn:x-test:default")};
    const struct query_options only_graph = {.only_graph = SLICE("http://example.org/g1")};
    (void)state;
    QUERY_CASES(QUERY_PEOPLE, &default_graph, one);
    QUERY_CASES(QUERY_PEOPLE, &only_graph, only);
}

static void
test_groups_and_order(void **state)
{
    static const struct query_case cases[] = {
        {PREFIXES "SELECT ?x (COUNT(?y) AS ?n) { ?x :knows ?y } GROUP BY ?x HAVING(COUNT(*) > 0) "
                  "ORDER BY DESC(?n) ?x LIMIT 2",
         "?x\t?n\n<http://example.org/ann>\t2\n<http://example.org/bob>\t1\n"},
        {PREFIXES "SELECT (SUM(?a) AS ?s) (AVG(?a) AS ?v) (MIN(?a) AS ?l) (MAX(?a) AS ?h) { ?x "
                  ":age ?a }",
         "?s\t?v\t?l\t?h\n55.5\t27.75\t25.5\t30\n"},
        {PREFIXES "SELECT (GROUP_CONCAT(?n; SEPARATOR='|') AS ?all) { SELECT ?n { ?x :name ?m "
                  "BIND(STR(?m) AS ?n) } ORDER BY ?n }",
         "?all\n\"Ann|Bob|Cid\"\n"},
        {PREFIXES "SELECT (COUNT(*) AS ?n) (SUM(?x) AS ?s) (AVG(?x) AS ?a) (MIN(?x) AS ?m) { ?x "
                  ":none ?y }",
         "?n\t?s\t?a\t?m\n0\t0\t0\t\n"},
        {PREFIXES "SELECT ?y (COUNT(*) AS ?n) { ?x :none ?y } GROUP BY ?y", "?y\t?n\n"},
        {PREFIXES "SELECT (COUNT(DISTINCT ?y) AS ?n) (COUNT(DISTINCT *) AS ?m) { ?x :knows ?y }",
         "?n\t?m\n3\t4\n"},
        {PREFIXES "SELECT DISTINCT ?y { ?x :knows ?y } ORDER BY DESC(?y) OFFSET 1 LIMIT 1",
         "?y\n<http://example.org/cid>\n"},
        {"SELECT ?v { VALUES ?v { \"b\" 10 <a:z> 9.5 UNDEF true \"a\" 1e1 } } ORDER BY ?v",
         "?v\n\n<a:z>\n\"true\"^^<http://www.w3.org/2001/XMLSchema#boolean>\n9.5\n10\n1e1\n"
         "\"a\"\n\"b\"\n"},
    };
    (void)state;
    QUERY_CASES(QUERY_PEOPLE, NULL, cases);
}

static void
test_paths(void **state)
{
    static const struct query_case cases[] = {
        {PREFIXES "SELECT ?y { :ann :knows+ ?y } ORDER BY ?y",
         "?y\n<http://example.org/bob>\n<http://example.org/cid>\n<http://example.org/dan>\n"},
        {PREFIXES "SELECT ?y { ?y :knows* :cid } ORDER BY ?y",
         "?y\n<http://example.org/ann>\n<http://example.org/bob>\n<http://example.org/cid>\n"},
        {PREFIXES "SELECT ?n { :ann :knows/:knows?/:name ?n } ORDER BY ?n",
         "?n\n\"Cid\"\n\"Cid\"\n\"Bob\"@en\n"},
        {PREFIXES "SELECT ?y { :dan ^:knows/(:mail|:name) ?y }", "?y\n\"Cid\"\n"},
        {PREFIXES "SELECT ?y { :absent :knows* ?y }", "?y\n<http://example.org/absent>\n"},
        {PREFIXES "SELECT ?y { :bob !(:name|:age|^:knows) ?y } ORDER BY ?y",
         "?y\n<http://example.org/cid>\n<mailto:bob@example.org>\n\"coffee and tea\"\n"},
        {PREFIXES "ASK { :ann (:knows/:knows)+ :dan }", "true\n"},
    };
    (void)state;
    QUERY_CASES(QUERY_PEOPLE, NULL, cases);
}

static void
test_graph_forms(void **state)
{
    static const struct query_case cases[] = {
        {PREFIXES "CONSTRUCT { ?y :known [] . ?m :of ?y . \"x\" :p ?y } { ?x :knows ?y OPTIONAL { "
                  "?y :mail ?m } FILTER(?x = :ann) } ",
         "<http://example.org/bob> <http://example.org/known> _:new0x0 .\n"
         "<mailto:bob@example.org> <http://example.org/of> <http://example.org/bob> .\n"
         "<http://example.org/cid> <http://example.org/known> _:new1x0 .\n"},
        {PREFIXES "CONSTRUCT WHERE { ?x :likes \"tea\" }",
         "<http://example.org/ann> <http://example.org/likes> \"tea\" .\n"},
        {PREFIXES "DESCRIBE ?x { ?x :knows :dan }",
         "<http://example.org/cid> <http://example.org/name> \"Cid\" .\n"
         "<http://example.org/cid> <http://example.org/knows> <http://example.org/dan> .\n"},
        {PREFIXES "DESCRIBE :nobody", ""},
    };
    static const struct query_case nested[] = {
        {PREFIXES "DESCRIBE :a", "<http://example.org/a> <http://example.org/p> _:b .\n"
                                 "_:b <http://example.org/q> \"1\" .\n"},
    };
    (void)state;
    QUERY_CASES(QUERY_PEOPLE, NULL, cases);
    QUERY_CASES("@prefix : <http://example.org/> . :a :p _:b . _:b :q \"1\" . :c :p :a .", NULL,
                nested);
}

static void
test_text_search(void **state)
{
    static const struct query_case cases[] = {
        {PREFIXES "SELECT ?x ?s { ?l q:matches \"tea\" ; q:score ?s . ?x :likes ?l } ORDER BY ?x",
         "?x\t?s\n<http://example.org/ann>\t1.0E0\n<http://example.org/bob>\t1.0E0\n"},
        {PREFIXES "SELECT ?x { ?x :likes ?l . ?l q:matches \"coffee tea\" }",
         "?x\n<http://example.org/bob>\n"},
        {PREFIXES "SELECT ?x { ?x :likes ?l . ?l q:score ?s }",
         "!q:score needs a variable, and q:matches for the same literal in the same group"},
    };
    (void)state;
    QUERY_CASES(QUERY_PEOPLE, NULL, cases);
}

static void
test_limits(void **state)
{
    static const struct query_case memory[] = {
        {"SELECT DISTINCT ?a ?b ?c { ?a ?p ?x . ?b ?q ?y . ?c ?r ?z . ?d ?s ?w }",
         "?a\t?b\t?c\n!the query needs more than its 0 MiB of memory (batches of rows)"},
    };
    static const struct query_case rows[] = {
        {PREFIXES "SELECT ?x { ?x :knows ?y } ORDER BY ?x",
         "?x\n<http://example.org/ann>\n<http://example.org/ann>\n"},
    };
    const struct query_options little = {.memory = 20000}, two = {.rows = 2};
    atomic_bool cancel = true;
    const struct query_options cancelled = {.cancel = &cancel};
    struct memory_source *source = query_case_source(QUERY_PEOPLE);
    struct buf out;
    (void)state;
    QUERY_CASES(QUERY_PEOPLE, &two, rows);
    buf_init(&out, 1 << 20);
    assert_int_equal(query_case_output(source, memory[0].query, "tsv", &little, &out),
                     STATUS_LIMIT);
    assert_int_equal(query_case_output(source, memory[0].query, "tsv", &cancelled, &out),
                     STATUS_CANCELLED);
    const struct query_options short_time = {.timeout_ms = 30, .memory = (size_t)1 << 32};
    assert_int_equal(query_case_output(source,
                                       "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i "
                                       ". ?j ?k ?l . ?m ?n1 ?o . ?p ?q ?r . ?s ?t ?u "
                                       "FILTER(CONCAT(STR(?a), STR(?b), STR(?c), STR(?d), "
                                       "STR(?e), STR(?f), STR(?g), STR(?h), STR(?i), STR(?j), "
                                       "STR(?k), STR(?l), STR(?m), STR(?n1), STR(?o), STR(?p), "
                                       "STR(?q), STR(?r), STR(?s), STR(?t), STR(?u)) = '') }",
                                       "tsv", &short_time, &out),
                     STATUS_TIMEOUT);
    buf_release(&out);
    memory_source_free(source);
}

static void
test_explain(void **state)
{
    struct memory_source *source = query_case_source(QUERY_PEOPLE);
    struct query *query;
    struct reason why = {{0}};
    struct buf out;
    const struct query_options options = {0};
    (void)state;
    buf_init(&out, 1 << 16);
    const struct slice text =
        SLICE(PREFIXES "SELECT ?n { ?x :name ?n . ?x :mail ?m OPTIONAL { ?x :age ?a } "
                       "FILTER(ISIRI(?m)) } LIMIT 3");
    assert_int_equal(query_prepare(&query, text, (struct slice){NULL, 0}, &why), STATUS_OK);
    assert_int_equal(query_explain(query, memory_source_table(source), &options, false, &out, &why),
                     STATUS_OK);
    assert_string_equal(out.data, "last step first\n"
                                  "slice offset 0, limit 3 (about 1 rows)\n"
                                  "optional (about 2 rows)\n"
                                  "  scan ?x <http://example.org/age> ?a (about 2 rows)\n"
                                  "scan ?x <http://example.org/name> ?n (about 2 rows)\n"
                                  "filter (about 1 rows)\n"
                                  "scan ?x <http://example.org/mail> ?m (about 1 rows)\n");
    query_free(query);
    buf_release(&out);
    memory_source_free(source);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_patterns_and_filters),
        cmocka_unit_test(test_scope_of_groups),
        cmocka_unit_test(test_union_of_graphs_has_no_duplicates),
        cmocka_unit_test(test_graph_binds_its_variable_outside),
        cmocka_unit_test(test_default_graph_can_be_one),
        cmocka_unit_test(test_groups_and_order),
        cmocka_unit_test(test_paths),
        cmocka_unit_test(test_graph_forms),
        cmocka_unit_test(test_text_search),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_explain),
        cmocka_unit_test(plans_have_their_shapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
