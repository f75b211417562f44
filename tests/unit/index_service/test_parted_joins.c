/* Joins that partitions evaluate each for the nodes that no other partition has, and that are put
 * together for the nodes that several have (index/query/plan/share_split.c, plan_share.c): three
 * partitions say what one says. */
#include "tests/unit/index_service/served_partitions.h"

enum { SUBJECTS = 1800, GRAPHS = 40, APART = 9, ANSWER_MOST = 1 << 24 };

static char folder[SCRATCH_SIZE];

/* Subject i has all that is said of it in one graph; but of each APART-th a value lies in another
 * graph. Some know others, and some values are nodes. */
static void
put_subject(unsigned i, unsigned graph, struct buf *quads)
{
    char uri[64];
    fixture_uri(graph, uri);
    if (i % GRAPHS == graph) {
        (void)buf_printf(quads, "<a:s%u> <a:name> \"n%u\" <%s> .\n", i, i / 2, uri);
        (void)buf_printf(
            quads, "<a:s%u> <a:size> \"%u\"^^<http://www.w3.org/2001/XMLSchema#integer> <%s> .\n",
            i, i % 50, uri);
        (void)buf_printf(quads, "<a:s%u> <a:knows> <a:s%u> <%s> .\n", i, (i * 7 + 3) % SUBJECTS,
                         uri);
        if (i % 4 != 0) {
            (void)buf_printf(quads, "<a:s%u> <a:kind> <a:k%u> <%s> .\n", i, i % 5, uri);
        }
    }
    const bool apart = i % APART == 0;
    if ((apart ? (i + 1) % GRAPHS : i % GRAPHS) == graph) {
        (void)buf_printf(quads, "<a:s%u> <a:mail> \"m%u\" <%s> .\n", i, i, uri);
    }
    if (apart && (i + 2) % GRAPHS == graph) { /* said twice */
        (void)buf_printf(quads, "<a:s%u> <a:name> \"n%u\" <%s> .\n", i, i / 2, uri);
    }
}

static void
put_graph(void *context, unsigned graph, const char *uri, struct buf *quads)
{
    (void)context, (void)uri;
    for (unsigned i = 0; i < SUBJECTS; i++) {
        put_subject(i, graph, quads);
    }
}

static const struct {
    const char *query;
    bool parted;
} queries[] = {
    {"SELECT ?s ?n ?m { ?s <a:name> ?n ; <a:mail> ?m } ORDER BY ?s", true},
    {"SELECT ?s ?n ?m { ?s <a:name> ?n OPTIONAL { ?s <a:kind> ?m } } ORDER BY ?s", true},
    {"SELECT ?s ?n { ?s <a:name> ?n ; <a:size> ?z MINUS { ?s <a:kind> ?k } } ORDER BY ?s", true},
    {"SELECT ?n (COUNT(?m) AS ?c) { ?s <a:name> ?n ; <a:mail> ?m } GROUP BY ?n ORDER BY ?n", true},
    {"SELECT (SUM(?z) AS ?c) (MAX(?m) AS ?x) { ?s <a:size> ?z ; <a:mail> ?m }", true},
    {"SELECT ?z (AVG(STRLEN(?m)) AS ?c) (MIN(?n) AS ?x) "
     "{ ?s <a:size> ?z ; <a:mail> ?m ; <a:name> ?n } GROUP BY ?z ORDER BY ?z",
     true},
    {"SELECT DISTINCT ?m { ?s <a:name> ?n ; <a:mail> ?m } ORDER BY ?m", true},
    {"SELECT DISTINCT ?z ?k { ?s <a:size> ?z ; <a:kind> ?k ; <a:mail> ?m } ORDER BY ?z ?k", true},
    {"SELECT ?s ?m { ?s <a:name> ?n ; <a:mail> ?m } ORDER BY DESC(?m) LIMIT 12", true},
    {"SELECT ?o ?s ?m { ?s <a:knows> ?o . ?o <a:mail> ?m } ORDER BY ?o ?s", false},
    {"SELECT ?o (COUNT(*) AS ?c) { ?s <a:knows> ?o . ?o <a:mail> ?m ; <a:name> ?n } GROUP BY ?o "
     "ORDER BY ?o",
     false},
    {"SELECT ?s ?m { VALUES ?k { <a:k0> <a:k3> } ?s <a:kind> ?k ; <a:mail> ?m ; <a:name> ?n } "
     "ORDER BY ?s ?m",
     false},
    {"SELECT ?s ?m { ?s <a:name> ?n ; <a:mail> ?m FILTER(?n < \"n2\") } ORDER BY ?s", true},
    {"SELECT ?s ?o ?m { ?s <a:knows> ?o ; <a:mail> ?m . ?o <a:name> ?n } ORDER BY ?s ?o", false},
};

static void
three_partitions_say_what_one_says(void **state)
{
    enum { COUNT = sizeof queries / sizeof *queries };
    struct buf answers[2][COUNT], plan;
    (void)state;
    buf_init(&plan, ANSWER_MOST);
    for (size_t i = 0; i < 2; i++) {
        static struct served served; /* its threads outlive a test that fails */
        served_start(&served, folder, i == 0 ? 1 : SERVED_MOST);
        served_fill(&served, GRAPHS, put_graph, NULL);
        for (size_t k = 0; k < COUNT; k++) {
            struct index_query_options options = {.timeout_ms = 60000};
            struct reason why = {""};
            buf_init(&answers[i][k], ANSWER_MOST);
            if (index_query(served.client, slice_string(queries[k].query), "csv", &options,
                            fixture_append, &answers[i][k], &why) != STATUS_OK) {
                fail_msg("%s: %s", queries[k].query, why.text);
            }
            if (i == 0) {
                assert_true(answers[0][k].length > 10);
                continue;
            }
            if (!slice_equal(buf_slice(&answers[1][k]), buf_slice(&answers[0][k]))) {
                fail_msg("%s\n%.2000s\nnot\n%.2000s", queries[k].query, answers[1][k].data,
                         answers[0][k].data);
            }
            buf_reset(&plan);
            options.answer = INDEX_ANSWER_PLAN;
            must(index_query(served.client, slice_string(queries[k].query), "", &options,
                             fixture_append, &plan, &why),
                 &why);
            if ((strstr(plan.data, "of nodes of one partition") != NULL) != queries[k].parted) {
                fail_msg("%s\n%s", queries[k].query, plan.data);
            }
        }
        served_stop(&served);
    }
    for (size_t k = 0; k < COUNT; k++) {
        buf_release(&answers[0][k]);
        buf_release(&answers[1][k]);
    }
    buf_release(&plan);
}

static int
make_folder(void **state)
{
    (void)state;
    return scratch_folder(folder, "parted-joins") ? 0 : -1;
}

static int
remove_folder(void **state)
{
    (void)state;
    fixture_run("rm -rf %s%s", folder, "");
    return 0;
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(
        three_partitions_say_what_one_says, make_folder, remove_folder)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
