/* What several partitions estimate and evaluate together, and one for itself. */
#include "tests/unit/index_service/service_world.h"

/* Takes the lines of lists of nodes out of a plan. */
static void
leave_out_lists(struct buf *plan)
{
    struct buf all;
    buf_init(&all, SERVICE_ANSWER);
    buf_append_slice(&all, buf_slice(plan));
    buf_reset(plan);
    for (struct slice rest = buf_slice(&all); rest.length > 0;) {
        const struct slice line = slice_take(&rest, '\n');
        if (!slice_starts(line, SLICE("listed of"))) {
            (void)buf_printf(plan, "%.*s\n", SLICE_PRINT(line));
        }
    }
    buf_release(&all);
}

/* Several partitions estimate as if all were in one, which alone keeps lists of nodes. */
void
partitions_estimate_stars(void **state)
{
    static const char join[] = "SELECT * { ?s <http://p.example/1> ?a ; <http://p.example/2> ?b ;"
                               " <http://p.example/3> ?c }";
    (void)state;
    struct buf plans[2];
    for (size_t i = 0; i < 2; i++) {
        struct service_world world;
        struct reason why = {""};
        buf_init(&plans[i], SERVICE_ANSWER);
        service_world_start(&world, i == 0 ? 1 : SERVICE_PARTITIONS);
        must(index_query(world.client, slice_string(join), "",
                         &(struct index_query_options){.answer = INDEX_ANSWER_PLAN}, fixture_append,
                         &plans[i], &why),
             &why);
        leave_out_lists(&plans[i]);
        service_world_stop(&world);
    }
    assert_string_equal(plans[1].data, plans[0].data);
    buf_release(&plans[0]);
    buf_release(&plans[1]);
}

static int
compare_lines(const void *a, const void *b)
{
    return slice_compare(*(const struct slice *)a, *(const struct slice *)b);
}

static void
sort_lines(struct buf *text)
{
    struct slice *lines = calloc(text->length + 1, sizeof *lines);
    struct buf sorted;
    size_t count = 0;
    buf_init(&sorted, SERVICE_ANSWER);
    for (struct slice rest = buf_slice(text); rest.length > 0; count++) {
        const size_t end = slice_find(rest, '\n') + 1;
        lines[count] = slice_of(rest.at, end);
        rest = slice_of(rest.at + end, rest.length - end);
    }
    qsort(lines, count, sizeof *lines, compare_lines);
    for (size_t i = 0; i < count; i++) {
        (void)buf_append_slice(&sorted, lines[i]);
    }
    free(lines);
    buf_release(text);
    *text = sorted;
}

#define P "<http://p.example/"
#define IN_GRAPHS "{ GRAPH ?g { ?s " P "1> ?a ; " P "2> ?b } }"

/* shared: words of the plan that say what partitions do; NULL: nothing. */
static const struct {
    const char *query, *shared;
} shared_queries[] = {
    {"SELECT (COUNT(*) AS ?n) " IN_GRAPHS, "parts of aggregates"},
    {"SELECT (COUNT(*) AS ?n) (SUM(?a) AS ?m) (MIN(?a) AS ?l) { GRAPH ?g { ?s <urn:none> ?a } }",
     "parts of aggregates"},
    {"SELECT ?a (COUNT(?b) AS ?n) (AVG(STRLEN(STR(?b))) AS ?m) " IN_GRAPHS " GROUP BY ?a",
     "parts of aggregates"},
    {"SELECT ?k (SUM(?o) AS ?n) (MAX(STR(?o)) AS ?m) { GRAPH ?g { ?s " P "3> ?o } } "
     "GROUP BY (isLITERAL(?o) AS ?k)",
     "parts of aggregates"},
    {"SELECT (SUM(?o) AS ?n) (AVG(?o) AS ?m) { GRAPH ?g { ?s ?p ?o FILTER(isNUMERIC(?o)) } }",
     "parts of aggregates"},
    {"SELECT ?g (COUNT(DISTINCT ?a) AS ?n) " IN_GRAPHS " GROUP BY ?g", "partitions rows"},
    {"SELECT (COUNT(DISTINCT ?s) AS ?n) { ?s ?p ?o FILTER(isIRI(?s)) }", "different values"},
    /* Counted by digests of values. */
    {"SELECT (COUNT(DISTINCT ?s) AS ?n) { ?s ?p ?o }", "tally values of 1"},
    {"SELECT (COUNT(DISTINCT ?p) AS ?n) { ?s ?p ?o }", "tally values of 1"},
    {"SELECT (COUNT(DISTINCT ?o) AS ?n) { ?s ?p ?o }", "tally values of 1"},
    {"SELECT (COUNT(DISTINCT ?o) AS ?n) { ?s " P "1> ?o }", "tally values of 1"},
    {"SELECT (COUNT(DISTINCT ?o) AS ?n) { ?s <urn:none> ?o }", "tally values of 1"},
    {"SELECT (COUNT(*) AS ?n) { ?s " P "1> ?a . ?x " P "2> ?a }", "tally values of 2"},
    {"SELECT (COUNT(*) AS ?n) (COUNT(DISTINCT ?s) AS ?m) (COUNT(?b) AS ?l) "
     "{ ?s " P "1> ?a ; " P "2> ?b ; ?p ?c }",
     "tally values of 3"},
    {"SELECT (COUNT(*) AS ?n) { ?s ?p ?o . ?o ?q ?t }", "tally values of 2"},
    {"SELECT (COUNT(?b) AS ?n) { ?s " P "1> ?a OPTIONAL { ?s " P "2> ?b } }", "tally values of 2"},
    {"SELECT (?n + 1 AS ?m) { { SELECT (COUNT(DISTINCT ?s) AS ?n) { ?s ?p ?o } } }",
     "tally values of 1"},
    {"SELECT ?p (COUNT(DISTINCT ?s) AS ?n) { ?s ?p ?o } GROUP BY ?p", "different values"},
    {"SELECT (MAX(STR(?o)) AS ?m) { ?s ?p ?o }", "parts of aggregates"},
    {"SELECT DISTINCT ?p { ?s ?p ?o }", "partitions rows"},
    {"SELECT DISTINCT ?s { ?s " P "1> ?o FILTER(isLITERAL(?o)) }", "partitions rows"},
    {"SELECT ?s ?o { ?s " P "1> ?o FILTER(isLITERAL(?o)) }", "partitions rows"},
    {"SELECT ?s ?p ?o { ?s ?p ?o } ORDER BY ?o ?p ?s LIMIT 7 OFFSET 3",
     "partitions rows, at most 10 of each"},
    {"SELECT ?s ?a ?b ?g " IN_GRAPHS " ORDER BY ?b ?s ?a ?g LIMIT 9",
     "partitions rows, at most 9 of each"},
    {"SELECT * { GRAPH ?g { ?s " P "1> ?a OPTIONAL { ?s " P "2> ?b } "
     "FILTER NOT EXISTS { ?s " P "4> ?c } } }",
     "partitions rows"},
    {"SELECT * { GRAPH ?g { ?s " P "1> ?a } ?s " P "2> ?b }", "partitions rows"},
    {"SELECT * { GRAPH ?g { ?s " P "1> ?a OPTIONAL { ?s " P "2> ?g } } }", "partitions rows"},
    {"SELECT (COUNT(*) AS ?n) { GRAPH ?g { ?s " P "1> ?a FILTER(!BOUND(?g)) BIND(?g AS ?b) } }",
     "parts of aggregates"},
    {"SELECT * { GRAPH ?g { ?s " P "1> ?a OPTIONAL { ?g ?p ?b } } ?s " P "2> ?c }",
     "partitions rows"},
    {"SELECT * { GRAPH ?g { ?s " P "1> ?a OPTIONAL { ?s " P "2> ?g } } FILTER(?g != ?a) "
     "OPTIONAL { GRAPH ?g { ?s " P "3> ?b MINUS { ?s " P "4> ?g } } } }",
     "partitions rows"},
    {"ASK { GRAPH ?g { ?s " P "1> ?a ; " P "2> ?b } }", "partitions rows, at most 1 of each"},
    {"SELECT (NOW() - ?t AS ?d) { { SELECT (MAX(NOW()) AS ?t) { GRAPH ?g { ?s ?p ?o } } } }",
     "parts of aggregates"},
    /* Not: triples that lie apart, or are in several partitions. */
    {"SELECT * { ?s " P "1> ?a ; " P "2> ?b }", NULL},
    {"SELECT (SUM(?a) AS ?n) { ?s " P "1> ?a . ?x " P "2> ?a }", NULL},
    {"SELECT (COUNT(*) AS ?n) { ?s " P "1> ?a ; " P "2> ?a }", NULL},
    {"SELECT (COUNT(*) AS ?n) { ?s ?p ?s . ?s ?q ?o }", NULL},
    {"SELECT (COUNT(DISTINCT ?a) AS ?n) { ?s " P "1> ?a . ?s ?p ?b }", NULL},
    {"SELECT (COUNT(*) AS ?n) { ?s ?p ?o FILTER EXISTS { ?s " P "2> ?b } }", NULL},
    {"SELECT (COUNT(DISTINCT ?b) AS ?n) { ?s " P "1> ?a . ?a ?p ?b }", NULL},
};

/* Three partitions answer what one does, whoever evaluates it. */
void
partitions_evaluate_their_share(void **state)
{
    enum { COUNT = sizeof shared_queries / sizeof *shared_queries };
    (void)state;
    struct buf answers[2][COUNT], plan;
    buf_init(&plan, SERVICE_ANSWER);
    for (size_t i = 0; i < 2; i++) {
        struct service_world world;
        service_world_start(&world, i == 0 ? 1 : SERVICE_PARTITIONS);
        for (size_t k = 0; k < COUNT; k++) {
            struct reason why = {""};
            const struct index_query_options options = {.answer = INDEX_ANSWER_PLAN};
            const char *shared = shared_queries[k].shared;
            buf_init(&answers[i][k], SERVICE_ANSWER);
            service_world_query(&world, shared_queries[k].query, "csv", &answers[i][k]);
            sort_lines(&answers[i][k]);
            if (i == 0) {
                continue;
            }
            if (!slice_equal(buf_slice(&answers[1][k]), buf_slice(&answers[0][k]))) {
                fail_msg("%s\n%.*s\nnot\n%.*s", shared_queries[k].query,
                         SLICE_PRINT(buf_slice(&answers[1][k])),
                         SLICE_PRINT(buf_slice(&answers[0][k])));
            }
            buf_reset(&plan);
            must(index_query(world.client, slice_string(shared_queries[k].query), "", &options,
                             fixture_append, &plan, &why),
                 &why);
            if (shared ? !strstr(plan.data, shared) : strstr(plan.data, "partitions") != NULL) {
                fail_msg("%s\n%s", shared_queries[k].query, plan.data);
            }
        }
        service_world_stop(&world);
    }
    for (size_t k = 0; k < COUNT; k++) {
        buf_release(&answers[0][k]);
        buf_release(&answers[1][k]);
    }
    buf_release(&plan);
}

/* It needs no other: they may be down. */
void
partition_of_the_graphs_answers_alone(void **state)
{
    enum { DOCUMENT = 3 };
    (void)state;
    struct service_world world;
    struct reason why = {""};
    struct buf out, expected;
    char uri[64], text[256];
    buf_init(&out, SERVICE_ANSWER);
    buf_init(&expected, SERVICE_ANSWER);
    fixture_uri(DOCUMENT, uri);
    fixture_canonical(&service_documents[DOCUMENT], 1, &expected);
    service_world_start(&world, SERVICE_PARTITIONS);
    for (size_t i = 0; i < world.count; i++) {
        if (!service_owns(&world, i, DOCUMENT)) {
            service_stop(world.services[i]);
            world.services[i] = NULL;
        }
    }
    snprintf(text, sizeof text, "SELECT ?s ?p ?o { GRAPH <%s> { ?s ?p ?o } }", uri);
    service_world_query(&world, text, "csv", &out);
    assert_int_equal(service_lines(&out), service_lines(&expected) + 1);
    snprintf(text, sizeof text, "SELECT ?s ?p ?o FROM <%s> { ?s ?p ?o FILTER EXISTS { ?s ?q ?n } }",
             uri);
    service_world_query(&world, text, "csv", &out);
    assert_int_equal(service_lines(&out), service_lines(&expected) + 1);
    snprintf(text, sizeof text, "SELECT * { GRAPH <%s> { ?s ?p ?o } ?s ?q ?n }", uri);
    assert_int_not_equal(index_query(world.client, slice_string(text), "csv",
                                     &(struct index_query_options){.timeout_ms = 1000},
                                     fixture_append, &out, &why),
                         STATUS_OK);
    service_world_stop(&world);
    buf_release(&out);
    buf_release(&expected);
}
