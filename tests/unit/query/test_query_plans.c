/* How much work plans do, counted in rows and quads and never in time, and that rows which stand
 * for several give the same counts as the rows themselves. */
#include "tests/unit/query/plan_case.h"

static struct counted_answer
run(struct memory_source *source, const char *text, const struct query_options *options,
    struct query_report *report)
{
    struct counted_answer answer = {0};
    const struct query_sink sink = {.context = &answer, .row = plan_take_row};
    const struct query_options usual = {0};
    struct query *query;
    struct reason why = {{0}};
    assert_int_equal(query_prepare(&query, slice_string(text), SLICE(""), &why), STATUS_OK);
    if (query_run(query, memory_source_table(source), options ? options : &usual, &sink, report,
                  &why) != STATUS_OK) {
        fail_msg("%s: %s", text, why.text);
    }
    query_free(query);
    return answer;
}

/* The plan with what each operator gave; the largest number of rows among them. */
static unsigned long long
analyse(struct memory_source *source, const char *text, struct buf *plan)
{
    const struct query_options options = {0};
    struct query *query;
    struct reason why = {{0}};
    unsigned long long most = 0;
    buf_reset(plan);
    assert_int_equal(query_prepare(&query, slice_string(text), SLICE(""), &why), STATUS_OK);
    assert_int_equal(query_explain(query, memory_source_table(source), &options, true, plan, &why),
                     STATUS_OK);
    query_free(query);
    for (const char *at = plan->data; (at = strstr(at, " rows; ")); at++) {
        const unsigned long long rows = strtoull(at + 7, NULL, 10);
        most = rows > most ? rows : most;
    }
    return most;
}

/* Fails when an operator makes more rows. */
static void
makes_at_most(struct memory_source *source, const char *text, unsigned long long limit,
              struct buf *plan)
{
    const unsigned long long most = analyse(source, text, plan);
    if (most > limit) {
        fail_msg("%llu rows at most:\n%s", most, plan->data);
    }
}

/* These may stand in a group, with a variable to group by. */
static const struct {
    const char *pattern, *key;
} counted[] = {
    {"?s :label ?l", "?s"},
    {"?s a ?c", "?c"},
    {"?s ?p ?o", "?p"},
    {"?s a :C1 ; :label ?l", "?s"},
    {"?s a ?c ; :description ?d ; :label ?l", "?c"},
    {"?s :a ?x ; :b ?y", "?s"},
    {"?s :a ?x ; :b ?x", "?x"},
    {"?a :knows ?b . ?b :a ?v", "?b"},
    {"?a :knows ?b . ?b a ?c", "?c"},
    {"?a :knows ?b . ?c :knows ?b . FILTER(?b != :hub)", "?b"},
    {"?s a :C0 OPTIONAL { ?s :description ?d }", "?d"},
    {"?s a :C0 OPTIONAL { ?s :knows ?k . ?k :a ?v }", "?k"},
    {"?s a :C0 OPTIONAL { ?s :description ?d } OPTIONAL { ?s :knows ?k }", "?k"},
    {"?s a :C0 OPTIONAL { ?s :description ?d FILTER(?d > 'e3') }", "?s"},
    {"?s :label ?l FILTER NOT EXISTS { ?s :description ?d }", "?s"},
    {"?s :label ?l FILTER EXISTS { ?s :knows ?k }", "?s"},
    {"?s :label ?l FILTER EXISTS { ?s :description ?d FILTER(?d = CONCAT('d', ?l)) }", "?s"},
    {"?s :label ?l OPTIONAL { ?s :knows ?k } FILTER NOT EXISTS { ?k :a ?v }", "?k"},
    {"?s a ?c FILTER NOT EXISTS { ?s :nothing ?k }", "?c"},
    {"?s :description ?d MINUS { ?s :knows ?k }", "?s"},
    {"{ ?s :knows ?k } UNION { ?s :description ?k }", "?s"},
    {"?s a :C0 { ?s :knows ?k } UNION { ?s :description ?d }", "?k"},
    {"?x :self ?x", "?x"},
    {"?x :self ?y FILTER(?x = ?y)", "?y"},
    {"?s :label ?l BIND(STRLEN(?l) AS ?n)", "?n"},
    {"VALUES ?s { :s1 :s2 :s1 } ?s a ?c", "?s"},
    {"GRAPH ?g { ?s a :C0 ; :label ?l }", "?g"},
    {"GRAPH :g1 { ?s a :C0 ; :label ?l }", "?s"},
    {"{ SELECT DISTINCT ?c { ?s a ?c } } ?t a ?c", "?c"},
    {"{ SELECT ?c { ?s a ?c } LIMIT 7 } ?c ?p ?t", "?c"},
    {"?s :knows/:a ?v", "?v"},
    {"?s :label ?l FILTER(RAND() < 2)", "?s"},
    {"?s :description ?d ; :knows ?k", "?k"},
    {"?s :label ?d . ?k :knows ?s", "?k"},
    {"?s :knows ?k OPTIONAL { ?s :description ?d }", "?k"},
    {"VALUES ?s { :s1 :s2 :hub :s1 :s6 :none 7 } ?s ?p ?o", "?p"},
    {"VALUES ?s { :s1 :s2 :hub :s1 :s6 } ?s ?p ?o", "?s"},
    {"VALUES (?s ?v) { (:s6 1) (:hub 1) (:s6 2) } ?s ?p ?o", "?v"},
    {"VALUES ?s { :s1 :s2 :hub } ?s ?p ?o FILTER(?p != :label)", "?p"},
    {"VALUES ?o { :C1 :hub 7 \"7\" :C1 } ?s ?p ?o", "?p"},
    {"?x :self ?o . ?s ?p ?o . ?o ?t ?r", "?t"},
    {"VALUES ?x { :s0 :s3 } ?x :knows ?s OPTIONAL { ?s ?p ?o }", "?p"},
    {"VALUES ?s { :s1 :hub } { ?s ?p ?o } UNION { ?o ?p ?s }", "?p"},
    {"?x :self ?s GRAPH ?g { ?s ?p ?o }", "?p"},
    {"GRAPH ?g { ?s :label ?l } GRAPH ?h { ?s a :C0 }", "?s"},
    {"GRAPH ?g { ?a :knows ?b } GRAPH ?h { ?b a ?c }", "?c"},
    {"GRAPH ?g { ?s a :C0 } FILTER(?g = :g1)", "?s"},
    {"GRAPH ?g { ?s a :C0 } GRAPH ?g { ?s :label ?l }", "?l"},
    {"GRAPH ?g { ?s a :C0 } OPTIONAL { GRAPH ?h { ?s :description ?d } }", "?h"},
    {"GRAPH ?g { ?s ?p ?g }", "?p"},
    {"?s ?p ?o FILTER(isLiteral(?o))", "?p"},
    {"?s ?p ?o FILTER(isIRI(?o))", "?s"},
    {"?s :knows ?o FILTER(isIRI(?s)) FILTER(?o != :hub)", "?o"},
    {"?s ?p :hub FILTER(isBlank(?s))", "?p"},
};

static void
test_counts_are_those_of_the_rows(void **state)
{
    struct memory_source *source = plan_source();
    const struct query_options little = {
        .memory = 1 << 20, .scratch_folder = "/tmp", .disk = 1 << 30};
    (void)state;
    for (size_t i = 0; i < sizeof counted / sizeof *counted; i++) {
        const char *pattern = counted[i].pattern, *key = counted[i].key;
        char text[7][512];
        snprintf(text[0], 512, PREFIXES "SELECT * { %s }", pattern);
        snprintf(text[1], 512, PREFIXES "SELECT (COUNT(*) AS ?q) { %s }", pattern);
        snprintf(text[2], 512,
                 PREFIXES
                 "SELECT (SUM(?q) AS ?r) { SELECT %s (COUNT(*) AS ?q) { %s } GROUP BY %s }",
                 key, pattern, key);
        snprintf(text[3], 512, PREFIXES "SELECT DISTINCT %s { %s FILTER(BOUND(%s)) }", key, pattern,
                 key);
        snprintf(text[4], 512, PREFIXES "SELECT (COUNT(DISTINCT %s) AS ?q) { %s }", key, pattern);
        snprintf(text[5], 512, PREFIXES "SELECT * { %s FILTER(BOUND(%s)) }", pattern, key);
        snprintf(text[6], 512, PREFIXES "SELECT (COUNT(%s) AS ?q) { %s }", key, pattern);
        const uint64_t rows = run(source, text[0], NULL, NULL).rows;
        const uint64_t bound = run(source, text[5], NULL, NULL).rows;
        for (int with = 0; with < 2; with++) {
            const struct query_options *options = with ? &little : NULL;
            if ((uint64_t)run(source, text[1], options, NULL).number != rows ||
                (uint64_t)run(source, text[2], options, NULL).number != rows ||
                (uint64_t)run(source, text[6], options, NULL).number != bound ||
                run(source, text[3], options, NULL).rows !=
                    (uint64_t)run(source, text[4], options, NULL).number) {
                fail_msg("%s: the counts are not those of its %llu rows", pattern,
                         (unsigned long long)rows);
            }
        }
    }
    memory_source_free(source);
}

/* COUNT of what an OPTIONAL binds asks only whether there is a match: a subject comes once, though
 * some have two descriptions and know two. */
static void
test_counts_of_optionals_make_no_products(void **state)
{
    struct memory_source *source = plan_source();
    struct buf plan;
    (void)state;
    buf_init(&plan, 1 << 16);
    makes_at_most(source,
                  PREFIXES "SELECT (COUNT(?d) AS ?n) (COUNT(?k) AS ?m) { ?s :label ?l "
                           "OPTIONAL { ?s :description ?d } OPTIONAL { ?s :knows ?k } }",
                  PLAN_SUBJECTS, &plan);
    buf_release(&plan);
    memory_source_free(source);
}

/* Both sides of a join come by subject: what has no match on the other makes no row. */
static void
test_kept_sides_are_gone_through_side_by_side(void **state)
{
    struct memory_source *source = plan_source();
    struct buf plan;
    (void)state;
    buf_init(&plan, 1 << 16);
    const char *text = PREFIXES "SELECT ?l (COUNT(*) AS ?n) { ?s a :C1 ; :label ?l } GROUP BY ?l";
    makes_at_most(source, text, PLAN_SUBJECTS / 2, &plan);
    assert_non_null(strstr(plan.data, "counts by ?s, with objects"));
    const struct counted_answer answer = run(source, text, NULL, NULL);
    assert_int_equal(answer.rows, PLAN_SUBJECTS / 3);
    assert_int_equal(answer.number, 1);
    buf_release(&plan);
    memory_source_free(source);
}

static long long
triples_of(struct memory_source *source, const char *nodes, uint64_t *scanned)
{
    struct query_report report;
    char text[512];
    snprintf(text, sizeof text, PREFIXES "SELECT (COUNT(*) AS ?n) { VALUES ?s { %s } ?s ?p ?o }",
             nodes);
    const long long number = run(source, text, NULL, &report).number;
    *scanned = report.scanned;
    return number;
}

/* What a query has read of a node's predicates is read again when something has changed. */
static void
test_predicates_of_nodes_are_kept(void **state)
{
    struct memory_source *source = plan_source();
    struct buf plan;
    uint64_t scanned;
    (void)state;
    buf_init(&plan, 1 << 16);
    (void)analyse(source,
                  PREFIXES "SELECT ?p (COUNT(*) AS ?n) { VALUES ?s { :s4 :s9 } ?s ?p ?o } "
                           "GROUP BY ?p",
                  &plan);
    assert_non_null(strstr(plan.data, "predicates of ?s"));
    buf_release(&plan);
    assert_int_equal(triples_of(source, ":s1 :hub", &scanned), 5 + 3 * PLAN_VALUES);
    assert_int_equal(scanned, 6 + 3 * PLAN_VALUES);
    assert_int_equal(triples_of(source, ":hub :s1 :hub", &scanned), 5 + 6 * PLAN_VALUES);
    assert_int_equal(scanned, 0);
    const struct quad more = {
        term_iri(SLICE("http://example.org/hub")), term_iri(SLICE("http://example.org/d")),
        term_iri(SLICE("http://example.org/e")), term_iri(SLICE("http://example.org/g3"))};
    assert_int_equal(memory_source_add(source, &more, NULL), STATUS_OK);
    assert_int_equal(triples_of(source, ":s1 :hub", &scanned), 6 + 3 * PLAN_VALUES);
    assert_true(scanned > 0);
    memory_source_free(source);
}

/* What DISTINCT drops is not made: the hub has three predicates, of which each has 60 triples, and
 * comes with each of 60 numbers. */
static void
test_distinct_makes_no_products(void **state)
{
    struct memory_source *source = plan_source();
    struct buf plan;
    (void)state;
    buf_init(&plan, 1 << 16);
    assert_in_range(analyse(source, PREFIXES "SELECT DISTINCT ?p { ?s :a ?n . ?s ?p ?o }", &plan),
                    3, 180);
    assert_in_range(analyse(source,
                            PREFIXES "SELECT (COUNT(*) AS ?q) { SELECT DISTINCT ?p { ?s :a ?n . "
                                     "?s ?p ?o } }",
                            &plan),
                    3, 180);
    assert_int_equal(
        run(source, PREFIXES "SELECT DISTINCT ?p { ?s :a ?n . ?s ?p ?o }", NULL, NULL).rows, 3);
    buf_release(&plan);
    memory_source_free(source);
}

/* A star's count is a sum of products: none of 216,000 rows is made. */
static void
test_counts_make_no_products(void **state)
{
    struct memory_source *source = plan_source();
    struct buf plan;
    (void)state;
    buf_init(&plan, 1 << 16);
    const char *const texts[] = {
        PREFIXES "SELECT (COUNT(*) AS ?n) { ?s :a ?x ; :b ?y ; :c ?z }",
        PREFIXES "SELECT ?s (COUNT(?x) AS ?n) { ?s :a ?x ; :b ?y ; :c ?z } GROUP BY ?s",
        PREFIXES "SELECT (COUNT(*) AS ?n) { ?s :a ?x OPTIONAL { ?s :b ?y } OPTIONAL { ?s :c ?z } }",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_int_equal(run(source, texts[i], NULL, NULL).number,
                         PLAN_VALUES * PLAN_VALUES * PLAN_VALUES);
        assert_true(analyse(source, texts[i], &plan) <= PLAN_VALUES);
    }
    /* 1,334 subjects know the hub, which has 60 values. */
    const char *chain = PREFIXES "SELECT (COUNT(*) AS ?n) { ?s :knows ?k . ?k :a ?x . ?k :b ?y }";
    assert_int_equal(run(source, chain, NULL, NULL).number, 1334 * PLAN_VALUES * PLAN_VALUES);
    assert_true(analyse(source, chain, &plan) < 2 * PLAN_SUBJECTS);
    /* Each of them is another row where the values are asked for. */
    assert_int_equal(run(source, PREFIXES "SELECT ?x { ?s :a ?x ; :b ?y }", NULL, NULL).rows,
                     PLAN_VALUES * PLAN_VALUES);
    buf_release(&plan);
    memory_source_free(source);
}

static void
test_first_rows_read_little(void **state)
{
    struct memory_source *source = plan_source();
    const char *const texts[] = {
        PREFIXES "SELECT * { ?s a :C0 ; :label ?l ; :description ?d ; :knows ?k } LIMIT 300",
        PREFIXES "SELECT * { ?s a :C1 OPTIONAL { ?s :label ?l } OPTIONAL { ?s :description ?d } } "
                 "LIMIT 300",
        PREFIXES "SELECT * { ?s :label ?l FILTER NOT EXISTS { ?s :knows ?k } } LIMIT 300",
        PREFIXES "SELECT DISTINCT ?s ?d { ?s :label ?l ; :description ?d } LIMIT 300",
    };
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct query_report report;
        assert_int_equal(run(source, texts[i], NULL, &report).rows, 300);
        if (report.scanned > PLAN_SUBJECTS) {
            fail_msg("%s: %llu quads are read", texts[i], (unsigned long long)report.scanned);
        }
    }
    /* When far more is read than was thought, the rest is joined by a table. */
    struct query_report report;
    assert_int_equal(run(source,
                         PREFIXES "SELECT * { ?s :label ?l FILTER EXISTS { ?s :self ?k } } "
                                  "LIMIT 300",
                         NULL, &report)
                         .rows,
                     1);
    assert_true(report.scans < PLAN_SUBJECTS / 2);
    memory_source_free(source);
}

/* A short list of predicates is looked up with the subjects that another pattern finds; neither is
 * all that these predicates have read, nor all that the subjects have. */
static void
test_listed_predicates_are_looked_up(void **state)
{
    struct memory_source *source = plan_source();
    static const struct {
        const char *text;
        uint64_t rows, most; /* quads read */
    } cases[] = {
        {"GRAPH ?g { :s3 :knows ?x . ?x ?p ?o VALUES ?p { :label :knows } }", 1, 10},
        {"GRAPH ?g { VALUES ?p { :a :label } :s3 :knows ?x . ?x ?p ?o }", 61, 70},
        {"GRAPH ?g { :s3 :knows ?x . ?x ?p ?o FILTER(?p IN (:a, :label)) }", 61, 70},
        {"GRAPH ?g { :s3 :knows ?x } GRAPH ?h { ?x ?p ?o } VALUES ?p { :label :a }", 61, 70},
        {":s3 :knows ?x . ?x ?p ?o VALUES ?p { :label :a }", 61, 70},
        {":s3 :knows ?x OPTIONAL { ?x ?p ?o FILTER(?p IN (:label, :self)) }", 2, 10},
        {"VALUES ?p { :self :c } GRAPH ?g { ?s ?p ?o }", PLAN_VALUES + 4, PLAN_VALUES + 4},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[256];
        struct query_report report;
        snprintf(text, sizeof text, PREFIXES "SELECT * { %s }", cases[i].text);
        assert_int_equal(run(source, text, NULL, &report).rows, cases[i].rows);
        if (report.scanned > cases[i].most) {
            fail_msg("%s: %llu quads are read", text, (unsigned long long)report.scanned);
        }
    }
    memory_source_free(source);
}

static void
test_exists_is_read_once(void **state)
{
    struct memory_source *source = plan_source();
    struct query_report report;
    (void)state;
    const char *const texts[] = {
        PREFIXES
        "SELECT (COUNT(*) AS ?n) { ?s :label ?l FILTER NOT EXISTS { ?s :description ?d } }",
        PREFIXES "SELECT (COUNT(*) AS ?n) { ?s :label ?l FILTER EXISTS { ?s :description ?d } }",
        PREFIXES "SELECT (COUNT(*) AS ?n) { ?s :label ?l MINUS { ?s :description ?d } }",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_int_equal(run(source, texts[i], NULL, &report).number, PLAN_SUBJECTS / 2);
        assert_true(report.scans <= 3);
    }
    memory_source_free(source);
}

/* A join with a class makes, of the 4,000 labels, the rows of its 1,333 subjects, and of few
 * others. */
static void
test_joins_leave_out_what_has_no_match(void **state)
{
    struct memory_source *source = plan_source();
    struct buf plan;
    (void)state;
    buf_init(&plan, 1 << 16);
    const char *const texts[] = {
        PREFIXES "SELECT (COUNT(*) AS ?n) { ?s a :C1 ; :label ?l }",
        PREFIXES "SELECT (COUNT(*) AS ?n) { ?s :label ?l FILTER EXISTS { ?s a :C1 } }",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_int_equal(run(source, texts[i], NULL, NULL).number, PLAN_SUBJECTS / 3);
        makes_at_most(source, texts[i], PLAN_SUBJECTS / 2, &plan);
        assert_non_null(strstr(plan.data, "join"));
    }
    buf_release(&plan);
    memory_source_free(source);
}

/* What DISTINCT leaves is sorted, not what it is given. */
static void
test_distinct_comes_before_order(void **state)
{
    struct memory_source *source = plan_source();
    struct buf plan;
    (void)state;
    buf_init(&plan, 1 << 16);
    const char *text = PREFIXES "SELECT DISTINCT ?p { ?s ?p ?o } ORDER BY DESC(STR(?p))";
    assert_int_equal(run(source, text, NULL, NULL).rows, 8);
    (void)analyse(source, text, &plan);
    assert_non_null(strstr(plan.data, "order 1 keys"));
    assert_true(strstr(plan.data, "order 1 keys") < strstr(plan.data, "distinct"));
    /* By what is not selected it can only be sorted before. */
    text = PREFIXES "SELECT DISTINCT ?p { ?s ?p ?o } ORDER BY ?o";
    (void)analyse(source, text, &plan);
    assert_true(strstr(plan.data, "order 1 keys") > strstr(plan.data, "distinct"));
    buf_release(&plan);
    memory_source_free(source);
}

/* More rows than 64 bits count are an error, no wrong number. */
static void
test_a_count_too_large(void **state)
{
    struct memory_source *source = plan_source();
    struct query *query;
    struct reason why = {{0}};
    struct counted_answer answer = {0};
    const struct query_sink sink = {.context = &answer, .row = plan_take_row};
    const struct query_options options = {0};
    (void)state;
    const char *text = PREFIXES
        "SELECT (COUNT(*) AS ?n) { ?a :label ?b . ?c :label ?d . ?e :label ?f . ?g :label ?h . "
        "?i :label ?j . ?k :label ?l . ?m :label ?o }";
    assert_int_equal(query_prepare(&query, slice_string(text), SLICE(""), &why), STATUS_OK);
    assert_int_equal(query_run(query, memory_source_table(source), &options, &sink, NULL, &why),
                     STATUS_LIMIT);
    query_free(query);
    memory_source_free(source);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts_are_those_of_the_rows),
        cmocka_unit_test(test_predicates_of_nodes_are_kept),
        cmocka_unit_test(test_kept_sides_are_gone_through_side_by_side),
        cmocka_unit_test(test_distinct_makes_no_products),
        cmocka_unit_test(test_counts_make_no_products),
        cmocka_unit_test(test_counts_of_optionals_make_no_products),
        cmocka_unit_test(test_first_rows_read_little),
        cmocka_unit_test(test_listed_predicates_are_looked_up),
        cmocka_unit_test(test_exists_is_read_once),
        cmocka_unit_test(test_joins_leave_out_what_has_no_match),
        cmocka_unit_test(test_distinct_comes_before_order),
        cmocka_unit_test(test_a_count_too_large),
        cmocka_unit_test(test_every_operator_stops),
        cmocka_unit_test(test_kinds_are_told_by_identifiers),
        cmocka_unit_test(test_sets_of_predicates_are_asked_for_once),
        cmocka_unit_test(test_orders_that_are_asked_for),
        cmocka_unit_test(test_rows_are_told_by_sets_of_predicates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
