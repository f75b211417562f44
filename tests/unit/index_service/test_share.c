/* Which parts of a query several partitions may evaluate each for itself, and which not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "index/query/plan/share_parts.h"
#include "index/query/query.h"
#include "tests/unit/index_service/federation_searches.h"

struct case_of_kind {
    const char *pattern;
    enum share_kind kind;
};

static struct query *
prepare(const char *start, const char *rest)
{
    char text[1024];
    struct query *query;
    struct reason why = {""};
    snprintf(text, sizeof text, "%s%s", start, rest);
    if (query_prepare(&query, slice_string(text), SLICE(""), &why) != STATUS_OK) {
        fail_msg("%s\n%s", text, why.text);
    }
    return query;
}

static const struct algebra *
find(const struct algebra *node, enum algebra_kind kind)
{
    while (node && node->kind != kind) {
        node = node->left;
    }
    return node;
}

static void
check_kinds(const struct case_of_kind *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct query *query = prepare("SELECT * ", cases[i].pattern);
        const struct algebra *node = query->algebra;
        node = node->kind == ALGEBRA_PROJECT ? node->left : node;
        const enum share_kind kind = share_kind_of(query, node);
        if (kind != cases[i].kind) {
            fail_msg("%s is of kind %d, not %d", cases[i].pattern, kind, cases[i].kind);
        }
        query_free(query);
    }
}

static void
test_a_graph_lies_whole_in_one_partition(void **state)
{
    static const struct case_of_kind cases[] = {
        {"{ GRAPH ?g { ?s ?p ?o } }", SHARE_BAG},
        {"{ GRAPH ?g { ?s <p> ?x . ?x <q> ?y } }", SHARE_BAG},
        {"{ GRAPH ?g { ?s <p>+ ?x } }", SHARE_BAG},
        {"{ GRAPH ?g { ?s <p> ?x OPTIONAL { ?x <q> ?y } MINUS { ?s <r> ?z } } }", SHARE_BAG},
        {"{ GRAPH ?g { ?s <p> ?x FILTER NOT EXISTS { ?x <q> ?y } } }", SHARE_BAG},
        {"{ GRAPH ?g { { SELECT ?s { ?s <p> ?x } LIMIT 3 } } }", SHARE_BAG},
        {"{ GRAPH ?g { ?s <p> ?x } FILTER(?x > 3) BIND(STR(?x) AS ?y) }", SHARE_BAG},
        {"{ GRAPH ?g { ?s <p> ?x } VALUES ?x { 1 2 } }", SHARE_BAG},
        {"{ { GRAPH ?g { ?s <p> ?x } } UNION { GRAPH ?h { ?s <q> ?x } } }", SHARE_BAG},
        {"{ GRAPH ?g { ?s <p> ?x } GRAPH ?g { ?x <q> ?y } }", SHARE_BAG},
        {"{ GRAPH ?g { ?s <p> ?x } OPTIONAL { GRAPH ?g { ?x <q> ?y } } }", SHARE_BAG},
        {"{ GRAPH ?g { ?s <p> ?x } MINUS { GRAPH ?g { ?s <q> ?y } } }", SHARE_BAG},
        /* These patterns meet across graphs. */
        {"{ GRAPH ?g { ?s <p> ?x } GRAPH ?h { ?x <q> ?y } }", SHARE_NOT},
        {"{ GRAPH ?g { ?s <p> ?x } OPTIONAL { GRAPH ?h { ?x <q> ?y } } }", SHARE_NOT},
        {"{ GRAPH ?g { ?s <p> ?x } OPTIONAL { ?x <q> ?y } }", SHARE_NOT},
        {"{ GRAPH ?g { ?s <p> ?x } MINUS { ?s <q> ?y } }", SHARE_NOT},
        {"{ GRAPH ?g { ?s <p> ?x } ?x <q> ?y }", SHARE_NOT},
        {"{ GRAPH ?g { ?s <p> ?x } FILTER EXISTS { ?x <q> ?y } }", SHARE_NOT},
        {"{ GRAPH ?g { ?s <p> ?x GRAPH ?h { ?x <q> ?y } } }", SHARE_NOT},
        {"{ GRAPH ?g { ?s <p> ?x FILTER EXISTS { GRAPH ?h { ?x <q> ?y } } } }", SHARE_NOT},
        {"{ GRAPH <g> { ?s <p> ?x } }", SHARE_NOT},
        {"{ VALUES ?x { 1 } OPTIONAL { GRAPH ?g { ?s <p> ?x } } }", SHARE_NOT},
        {"{ VALUES ?x { 1 } MINUS { GRAPH ?g { ?s <p> ?x } } }", SHARE_NOT},
        /* These are not the same everywhere. */
        {"{ GRAPH ?g { ?s <p> ?x } FILTER(RAND() < 0.5) }", SHARE_NOT},
        {"{ GRAPH ?g { ?s <p> ?x BIND(BNODE() AS ?b) } }", SHARE_NOT},
        {"{ GRAPH ?g { ?x q:matches 'word' . ?s ?p ?x } }", SHARE_NOT},
        {"{ GRAPH ?g { SERVICE SILENT <s> { ?s <p> ?x } } }", SHARE_NOT},
    };
    (void)state;
    check_kinds(cases, sizeof cases / sizeof *cases);
}

static void
test_a_triple_may_be_in_several(void **state)
{
    static const struct case_of_kind cases[] = {
        {"{ ?s ?p ?o }", SHARE_SET},
        {"{ ?s <p> ?x FILTER(?x > 3) BIND(STR(?x) AS ?y) }", SHARE_SET},
        {"{ SELECT DISTINCT ?p { ?s ?p ?o } }", SHARE_SET},
        {"{ SELECT ?p { ?s ?p ?o } }", SHARE_DUPLICATES},
        {"{ { ?s <p> ?x } UNION { ?s <q> ?x } }", SHARE_DUPLICATES},
        {"{ { ?s <p> ?x } UNION { GRAPH ?g { ?s <q> ?x } } }", SHARE_DUPLICATES},
        {"{ ?s <p> ?x VALUES ?x { 1 1 } }", SHARE_DUPLICATES},
        {"{ { GRAPH ?g { ?s <p> ?x } } UNION { VALUES ?x { 1 } } }", SHARE_DUPLICATES},
        {"{ VALUES ?x { 1 } }", SHARE_CONSTANT},
        /* Triples that lie apart. */
        {"{ ?s <p> ?x . ?s <q> ?y }", SHARE_NOT},
        {"{ ?s <p> ?x . ?x <q> ?y }", SHARE_NOT},
        {"{ ?s <p> ?x OPTIONAL { ?s <q> ?y } }", SHARE_NOT},
        {"{ ?s <p>+ ?x }", SHARE_NOT},
        {"{ ?s <p> ?x FILTER EXISTS { ?s <q> ?y } }", SHARE_NOT},
        {"{ ?x q:matches 'word' }", SHARE_NOT},
        /* How many there are is known when all are. */
        {"{ SELECT ?p { GRAPH ?g { ?s ?p ?o } } LIMIT 3 }", SHARE_NOT},
        {"{ SELECT (COUNT(*) AS ?n) { GRAPH ?g { ?s ?p ?o } } }", SHARE_NOT},
        {"{ SELECT ?p (COUNT(*) AS ?n) { GRAPH ?g { ?s ?p ?o } } GROUP BY ?p }", SHARE_NOT},
        {"{ SELECT ?g (COUNT(*) AS ?n) { GRAPH ?g { ?s ?p ?o } } GROUP BY ?g }", SHARE_BAG},
        {"{ SELECT (?g AS ?h) (COUNT(*) AS ?n) { GRAPH ?g { ?s ?p ?o } } GROUP BY ?g }", SHARE_BAG},
        {"{ SELECT DISTINCT ?g ?p { GRAPH ?g { ?s ?p ?o } } }", SHARE_BAG},
        {"{ SELECT DISTINCT ?p { GRAPH ?g { ?s ?p ?o } } }", SHARE_SET},
    };
    (void)state;
    check_kinds(cases, sizeof cases / sizeof *cases);
}

static void
test_groups(void **state)
{
    static const struct {
        const char *query;
        enum share_grouping grouping;
        size_t columns; /* of parts without the keys */
    } cases[] = {
        {"(COUNT(*) AS ?n) { GRAPH ?g { ?s ?p ?o } }", SHARE_GROUP_PARTS, 1},
        {"?p (SUM(?o) AS ?n) (AVG(?o) AS ?m) { GRAPH ?g { ?s ?p ?o } } GROUP BY ?p",
         SHARE_GROUP_PARTS, 3},
        {"(MIN(?o) AS ?n) (MAX(?o) AS ?m) (SAMPLE(?o) AS ?l) { ?s ?p ?o }", SHARE_GROUP_PARTS, 3},
        {"(MAX(DISTINCT ?o) AS ?m) { ?s ?p ?o }", SHARE_GROUP_PARTS, 1},
        {"?p { ?s ?p ?o } GROUP BY ?p", SHARE_GROUP_PARTS, 0},
        {"(COUNT(DISTINCT ?o) AS ?m) { ?s ?p ?o }", SHARE_GROUP_VALUES, 0},
        {"?p (SUM(DISTINCT ?o) AS ?m) { GRAPH ?g { ?s ?p ?o } } GROUP BY ?p", SHARE_GROUP_VALUES,
         0},
        /* How often something came counts, and something else does not. */
        {"(COUNT(DISTINCT ?o) AS ?m) (COUNT(?o) AS ?n) { GRAPH ?g { ?s ?p ?o } }", SHARE_GROUP_NOT,
         0},
        {"(GROUP_CONCAT(?o) AS ?m) { GRAPH ?g { ?s ?p ?o } }", SHARE_GROUP_NOT, 0},
        {"(COUNT(DISTINCT *) AS ?m) { GRAPH ?g { ?s ?p ?o } }", SHARE_GROUP_NOT, 0},
        {"(COUNT(*) AS ?n) { ?s ?p ?o . ?o ?q ?x }", SHARE_GROUP_NOT, 0},
        {"(SUM(RAND()) AS ?n) { GRAPH ?g { ?s ?p ?o } }", SHARE_GROUP_NOT, 0},
        {"(SUM(?o) AS ?n) { VALUES ?o { 1 2 } }", SHARE_GROUP_NOT, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct query *query = prepare("SELECT ", cases[i].query);
        const struct algebra *group = find(query->algebra, ALGEBRA_GROUP);
        assert_non_null(group);
        const enum share_grouping grouping = share_grouping_of(query, group);
        if (grouping != cases[i].grouping) {
            fail_msg("%s is grouped %d, not %d", cases[i].query, grouping, cases[i].grouping);
        }
        if (grouping == SHARE_GROUP_PARTS) {
            assert_int_equal(share_hidden(group), cases[i].columns);
        }
        query_free(query);
    }
}

/* A variable that each pattern mentions; it must be a subject, since objects may be literals. */
static void
test_joins_are_parted_by_a_node(void **state)
{
    enum { NOT = -1 };
    static const struct {
        const char *pattern, *slot;
        int places;
    } cases[] = {
        {"{ ?s <p> ?x ; <q> ?y }", "s", KEYS_SUBJECTS},
        {"{ ?s <p> ?x ; ?q ?y FILTER(?x > ?y) BIND(STR(?x) AS ?z) }", "s", KEYS_SUBJECTS},
        {"{ ?s <p> ?x . ?x <q> ?y }", "x", KEYS_NODES},
        {"{ ?s <p> ?x . ?x <q> ?s }", "s", KEYS_NODES},
        {"{ ?s <p> ?x ; <q> ?y OPTIONAL { ?s <r> ?z } }", "s", KEYS_SUBJECTS},
        {"{ ?s <p> ?x MINUS { ?s <r> ?z ; <t> ?u } }", "s", KEYS_SUBJECTS},
        {"{ { ?s <p> ?x } UNION { ?s <q> ?x } }", "s", KEYS_SUBJECTS},
        {"{ VALUES ?x { 1 2 } ?s <p> ?x ; <q> ?y }", "s", KEYS_SUBJECTS},
        {"{ ?s <p> ?x ; <q> ?y } ORDER BY ?x", NULL, NOT},
        {"{ { SELECT ?s { ?s <p> ?x } GROUP BY ?s } ?s <q> ?y }", NULL, NOT},
        {"{ { SELECT DISTINCT ?s ?x { ?s <p> ?x } } ?s <q> ?y }", NULL, NOT},
        {"{ { SELECT DISTINCT ?x { ?s <p> ?x } } ?x <q> ?y }", NULL, NOT},
        {"{ ?s <p> ?x . ?t <q> ?x }", NULL, NOT},
        {"{ ?s <p> ?x . ?x <q> ?y . ?y <r> ?z }", NULL, NOT},
        {"{ ?s <p> ?x OPTIONAL { ?x <q> ?y } }", NULL, NOT},
        {"{ ?s <p> ?x MINUS { ?t <q> ?x } }", NULL, NOT},
        {"{ { ?s <p> ?x } UNION { ?t <q> ?x } }", NULL, NOT},
        {"{ VALUES ?s { <a> } OPTIONAL { ?s <p> ?x } }", NULL, NOT},
        {"{ ?s <p> ?x ; <q>+ ?y }", NULL, NOT},
        {"{ ?s <p> ?x ; <q> ?y FILTER(RAND() > 0.5) }", NULL, NOT},
        {"{ ?s <p> ?x ; <q> ?y FILTER EXISTS { ?s <r> ?z } }", NULL, NOT},
        {"{ ?s <p> ?x ; <q> ?y . ?y q:matches 'word' }", NULL, NOT},
        {"{ GRAPH ?g { ?s <p> ?x ; <q> ?y } }", NULL, NOT},
        {"{ { SELECT ?s { ?s <p> ?x } LIMIT 3 } ?s <q> ?y }", NULL, NOT},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct query *query = prepare("SELECT * ", cases[i].pattern);
        const struct algebra *node = query->algebra;
        struct share_split split;
        node = node->kind == ALGEBRA_PROJECT ? node->left : node;
        const bool splits = share_split_of(query, node, &split);
        if (splits != (cases[i].places != NOT)) {
            fail_msg("%s is %sdivided", cases[i].pattern, splits ? "" : "not ");
        }
        if (splits) {
            assert_true(slice_is(query->slot_names[split.slot], cases[i].slot));
            assert_int_equal(split.places, cases[i].places);
        }
        query_free(query);
    }
}

/* What stands above a join is the partitions' too where it keeps the variable. */
static void
test_selections_are_parted_by_what_they_keep(void **state)
{
    static const struct {
        const char *query;
        bool divided;
    } cases[] = {
        {"?s ?x { ?s <p> ?x ; <q> ?y }", true},
        {"?x { ?s <p> ?x ; <q> ?y }", false},
        {"DISTINCT ?s ?x { ?s <p> ?x ; <q> ?y }", true},
        {"DISTINCT ?x { ?s <p> ?x ; <q> ?y }", false},
        {"?s (COUNT(*) AS ?n) { ?s <p> ?x ; <q> ?y } GROUP BY ?s", true},
        {"?x (COUNT(*) AS ?n) { ?s <p> ?x ; <q> ?y } GROUP BY ?x", false},
        {"?s ?x { ?s <p> ?x ; <q> ?y } LIMIT 5", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct query *query = prepare("SELECT ", cases[i].query);
        struct share_split split;
        if (share_split_of(query, query->algebra, &split) != cases[i].divided) {
            fail_msg("%s is %sdivided", cases[i].query, cases[i].divided ? "not " : "");
        }
        query_free(query);
    }
}

/* Parts of aggregates add up when each value counts in one partition. */
static void
test_groups_are_parted_by_a_node(void **state)
{
    static const struct {
        const char *query;
        bool divided;
    } cases[] = {
        {"(COUNT(*) AS ?n) { ?s <p> ?x ; <q> ?y }", true},
        {"?x (AVG(?y) AS ?n) { ?s <p> ?x ; <q> ?y } GROUP BY ?x", true},
        {"(COUNT(DISTINCT ?s) AS ?n) { ?s <p> ?x ; <q> ?y }", true},
        {"(MAX(DISTINCT ?x) AS ?n) { ?s <p> ?x ; <q> ?y }", true},
        {"?s (COUNT(DISTINCT ?x) AS ?n) { ?s <p> ?x ; <q> ?y } GROUP BY ?s", true},
        {"(COUNT(DISTINCT ?x) AS ?n) { ?s <p> ?x ; <q> ?y }", false},
        {"(GROUP_CONCAT(?x) AS ?n) { ?s <p> ?x ; <q> ?y }", false},
        {"(SUM(RAND()) AS ?n) { ?s <p> ?x ; <q> ?y }", false},
        {"(COUNT(*) AS ?n) { ?s <p> ?x . ?t <q> ?x }", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct query *query = prepare("SELECT ", cases[i].query);
        struct share_split split;
        if (share_split_group(query, find(query->algebra, ALGEBRA_GROUP), &split) !=
            cases[i].divided) {
            fail_msg("%s is %sdivided", cases[i].query, cases[i].divided ? "not " : "");
        }
        query_free(query);
    }
}

static void
test_numbers_name_nodes(void **state)
{
    (void)state;
    struct query *query =
        prepare("", "SELECT ?g (COUNT(*) AS ?n) { GRAPH ?g { ?s <p> ?o OPTIONAL { ?s <q> ?x } } "
                    "{ ?a <r> ?b } UNION { ?a <t> ?g } } GROUP BY ?g ORDER BY ?n LIMIT 3");
    size_t count = 0;
    for (const struct algebra *node; (node = share_node(query, (uint32_t)count)); count++) {
        assert_int_equal(share_number(query, node), count);
    }
    assert_true(count > 8);
    const struct algebra other = {.kind = ALGEBRA_UNIT};
    assert_int_equal(share_number(query, &other), NUMBER_NONE);
    query_free(query);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_graph_lies_whole_in_one_partition),
        cmocka_unit_test(test_a_triple_may_be_in_several),
        cmocka_unit_test(test_groups),
        cmocka_unit_test(test_joins_are_parted_by_a_node),
        cmocka_unit_test(test_selections_are_parted_by_what_they_keep),
        cmocka_unit_test(test_groups_are_parted_by_a_node),
        cmocka_unit_test(test_numbers_name_nodes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) + federation_searches_run();
}
