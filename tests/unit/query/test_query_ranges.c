/* A query that is helped with gives the same rows in the same order as one that is not, whoever
 * evaluates which ranges of its scan: none but its own thread, one that helps, one that helps and
 * leaves again and again, both at once. */
#include "tests/unit/index/index_fixture.h"

#include <pthread.h>

#include "index/query/query.h"

enum { GRAPHS = 4, SUBJECTS = 2000 /* of each graph */, GATHERED_BYTES = 256 << 10 };
#define PREFIXES "PREFIX : <http://example.org/> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> "

/* ranges: that the plan has them. */
static const struct shape {
    const char *text;
    bool ranges;
} shapes[] = {
    {"SELECT (COUNT(DISTINCT ?s) AS ?n) { ?s ?p ?o }", true},
    {"SELECT (COUNT(DISTINCT ?o) AS ?n) (MAX(?o) AS ?m) { ?s ?p ?o }", true},
    {"SELECT ?s (COUNT(*) AS ?n) { ?s ?p ?o } GROUP BY ?s", false},
    {"SELECT ?g (COUNT(*) AS ?n) { GRAPH ?g { ?s ?p ?o } } GROUP BY ?g", true},
    {"SELECT ?g (COUNT(DISTINCT ?s) AS ?n) { GRAPH ?g { ?s ?p ?o } } GROUP BY ?g", true},
    {"SELECT (COUNT(*) AS ?n) { ?s :label ?l FILTER(CONTAINS(?l, '7')) }", true},
    {"SELECT (COUNT(*) AS ?n) { ?s :label ?l FILTER(CONTAINS(?l, 'nowhere')) }", true},
    {"SELECT (MIN(?l) AS ?a) (SAMPLE(?l) AS ?b) { ?s :label ?l FILTER(CONTAINS(?l, 'nowhere')) }",
     true},
    {"SELECT ?x (COUNT(*) AS ?n) { ?s :label ?l BIND(CONCAT(SUBSTR(?l, 1, 7), '!') AS ?x) } "
     "GROUP BY ?x",
     true},
    {"SELECT ?x (COUNT(*) AS ?n) { ?s :label ?l BIND(?l AS ?x) } GROUP BY ?x", false},
    {"SELECT (MIN(?x) AS ?a) (MAX(?x) AS ?b) (SAMPLE(?x) AS ?c) "
     "{ ?s :label ?l BIND(CONCAT(?l, '!') AS ?x) }",
     true},
    {"SELECT (COUNT(DISTINCT ?x) AS ?n) { ?s :label ?l BIND(SUBSTR(?l, 1, 8) AS ?x) }", true},
    /* From the second asking on both sides are kept, and are gone through side by side. */
    {"SELECT ?c (COUNT(*) AS ?n) { ?s :class ?c ; :knows ?k } GROUP BY ?c ORDER BY ?c", false},
    {"SELECT (COUNT(*) AS ?n) { ?s :label ?l ; :number ?k }", true},
    {"SELECT (COUNT(*) AS ?n) { ?s :knows ?k . ?k :label ?l }", true},
    {"SELECT (COUNT(*) AS ?n) { ?s :label ?l OPTIONAL { ?s :knows ?k } }", true},
    {"SELECT ?c (COUNT(DISTINCT ?p) AS ?n) { ?s :class ?c . ?s ?p ?o } GROUP BY ?c", true},
    {"SELECT ?c (COUNT(*) AS ?n) { ?s :class ?c OPTIONAL { ?s :knows ?k } } GROUP BY ?c", true},
    {"SELECT (COUNT(?k) AS ?n) { ?s :label ?l OPTIONAL { ?s :knows ?k } }", true},
    {"SELECT (COUNT(*) AS ?n) { ?s :label ?l OPTIONAL { ?s :knows ?k } FILTER(!BOUND(?k)) }", true},
    {"SELECT (COUNT(*) AS ?n) { ?s :label ?l ; :number ?k ; :knows ?b }", true},
    {"SELECT (COUNT(*) AS ?n) { GRAPH ?g { ?s :class :C0 ; :knows ?k } }", false},
    {"SELECT (COUNT(*) AS ?n) { GRAPH ?g { ?s :label ?l ; :number ?k ; :knows ?b } }", false},
    {"SELECT ?g (COUNT(*) AS ?n) { GRAPH ?g { ?s :label ?l ; :knows ?k } } GROUP BY ?g", false},
    {"SELECT ?k (COUNT(*) AS ?n) { ?s :label ?l ; :number ?k ; :class ?c } GROUP BY ?k", false},
    {"SELECT (COUNT(?k) AS ?n) { ?s :label ?c OPTIONAL { ?s :knows ?k FILTER(?k != :s1) } }", true},
    {"SELECT (COUNT(*) AS ?n) { ?s :label ?l MINUS { ?s :knows ?d } }", true},
    {"SELECT (COUNT(*) AS ?n) { ?s :label ?l FILTER NOT EXISTS { ?s :knows ?d } }", true},
    {"SELECT (COUNT(*) AS ?n) { ?s :label ?l FILTER EXISTS { ?x :label ?l FILTER(?x != ?s) } }",
     true},
    {"SELECT ?o (COUNT(*) AS ?n) { VALUES ?p { :label :number :none } ?s ?p ?o } GROUP BY ?o "
     "ORDER BY DESC(?n) ?o LIMIT 7",
     false},
    {"SELECT ?s ?l { ?s :label ?l } ORDER BY DESC(?l) ?s LIMIT 10", false},
    {"SELECT ?s ?l { ?s :label ?l } ORDER BY DESC(?l) ?s LIMIT 1500", true},
    {"SELECT ?s ?l { ?s :label ?l } ORDER BY STRLEN(?l) LIMIT 10 OFFSET 5", true},
    {"SELECT ?s ?x { ?s ?p ?o BIND(CONCAT(STR(?o), '!') AS ?x) } ORDER BY ?x ?s LIMIT 10", true},
    {"SELECT ?s ?n { ?s :number ?n } ORDER BY DESC(?n) LIMIT 10", false},
    {"SELECT ?s ?l { ?s :label ?l FILTER(CONTAINS(?l, '77')) } LIMIT 50", true},
    {"SELECT ?s ?l { ?s :label ?l FILTER(CONTAINS(?l, '7') && STRLEN(?l) < 10) } LIMIT 50 OFFSET "
     "900",
     true},
    {"SELECT ?s ?l { ?s :label ?l FILTER(CONTAINS(?l, 'nowhere')) } LIMIT 5", true},
    {"SELECT (COUNT(*) AS ?n) { { SELECT ?s { ?s :label ?l } } ?s :class ?c FILTER(STR(?c) != '') "
     "}",
     true},
    {"SELECT (COUNT(*) AS ?n) FROM <http://host0.example/document/0> "
     "{ ?s :label ?l FILTER(CONTAINS(?l, '7')) }",
     true},
    /* These are never cut: sums may be rounded otherwise, others are not the same each time. */
    {"SELECT (SUM(?n) AS ?all) { ?s :number ?n }", false},
    {"SELECT (COUNT(*) AS ?n) { ?s :label ?l FILTER(RAND() >= 0) }", false},
    {"SELECT (GROUP_CONCAT(?c) AS ?n) { ?s :class ?c }", false},
    {"SELECT (COUNT(*) AS ?n) { { SELECT ?s { ?s :label ?l } LIMIT 3 } ?s :class ?c }", false},
    {"SELECT (COUNT(*) AS ?n) FROM <http://host0.example/document/0> "
     "FROM <http://host1.example/document/1> { ?s :label ?l FILTER(CONTAINS(?l, '7')) }",
     false},
    {"SELECT * FROM :g0 FROM :g1 { ?s :label ?l FILTER(CONTAINS(?l, '77')) } LIMIT 5", false},
};

/* Some triples are in every graph. */
static void
add_graph(struct index_batch *batch, unsigned graph, unsigned subjects)
{
    struct buf text;
    buf_init(&text, 16 << 20);
    for (unsigned i = 0; i < subjects; i++) {
        const unsigned s = i % 5 == 0 ? i : graph * SUBJECTS + i;
        char subject[64];
        snprintf(subject, sizeof subject, "<http://example.org/s%u> <http://example.org/", s);
        (void)buf_printf(&text, "%sclass> <http://example.org/C%u> .\n", subject, s % 5);
        (void)buf_printf(&text, "%slabel> \"label %u\" .\n", subject, s * 7919 % 3001);
        (void)buf_printf(&text, "%snumber> \"%u\"^^<http://www.w3.org/2001/XMLSchema#integer> .\n",
                         subject, s);
        if (s % 3 == 0) {
            (void)buf_printf(&text, "%sknows> <http://example.org/s%u> .\n", subject, s / 60);
        }
    }
    (void)fixture_add(batch, graph, 1, &text);
    buf_release(&text);
}

/* ---- who helps ---- */

enum manner {
    ALONE,     /* there is nobody */
    AT_ONCE,   /* all that is left, before the run goes on */
    RELUCTANT, /* the same, but wanted elsewhere again and again */
    BUSY,      /* free when asked, but not to be had */
    BESIDE     /* another thread */
};

struct other {
    enum manner manner;
    struct partition_reader *reader;
    unsigned begun, looks;
    query_help *help;
    void *argument;
    pthread_t thread;
};

static bool
is_free(void *context)
{
    (void)context;
    return true;
}

static void *
help_beside(void *context)
{
    struct other *other = context;
    other->help(other->argument, partition_reader_source(other->reader));
    return NULL;
}

static bool
begin(void *context, query_help *help, void *argument)
{
    struct other *other = context;
    other->begun++;
    other->help = help;
    other->argument = argument;
    if (other->manner == BUSY) {
        return false;
    }
    if (other->manner == BESIDE) {
        assert_int_equal(pthread_create(&other->thread, NULL, help_beside, other), 0);
    } else {
        (void)help_beside(other);
    }
    return true;
}

static void
end(void *context)
{
    struct other *other = context;
    if (other->manner == BESIDE) {
        pthread_join(other->thread, NULL);
    }
}

static bool
is_wanted(void *context)
{
    struct other *other = context;
    return other->manner == RELUCTANT && ++other->looks % 50 == 0;
}

/* ---- asking ---- */

static enum status
add_row(void *context, const struct term *terms, size_t n, struct reason *why)
{
    struct buf *out = context;
    (void)why;
    for (size_t i = 0; i < n; i++) {
        if (terms[i].kind != TERM_NONE) {
            must(nquads_write_term(out, &terms[i]), why);
        }
        (void)buf_append_char(out, i + 1 < n ? '\t' : '\n');
    }
    return STATUS_OK;
}

struct asked {
    struct partition_reader *reader;
    struct other other;
    struct query_helper helper;
    struct query_options options;
    char folder[SCRATCH_SIZE];
};

static void
choose_manner(struct asked *asked, enum manner manner)
{
    struct partition_reader *other = asked->other.reader;
    asked->other = (struct other){.manner = manner, .reader = other};
    asked->helper = (struct query_helper){.context = &asked->other,
                                          .rows_least = 100,
                                          .is_free = is_free,
                                          .begin = begin,
                                          .end = end,
                                          .is_wanted = is_wanted};
    asked->options = (struct query_options){.memory = 512 << 20,
                                            .scratch_folder = asked->folder,
                                            .now_ms = 1,
                                            .helper = manner == ALONE ? NULL : &asked->helper};
}

static struct query *
prepare(const struct shape *shape)
{
    struct reason why = {""};
    struct query *query;
    char *whole = NULL;
    assert_true(asprintf(&whole, PREFIXES "%s", shape->text) > 0);
    must(query_prepare(&query, slice_string(whole), SLICE(""), &why), &why);
    free(whole);
    return query;
}

static void
ask(struct asked *asked, const struct shape *shape, struct buf *out)
{
    struct reason why = {""};
    const struct query_sink sink = {.context = out, .row = add_row};
    struct query *query = prepare(shape);
    buf_reset(out);
    must(query_run(query, partition_reader_source(asked->reader), &asked->options, &sink, NULL,
                   &why),
         &why);
    query_free(query);
}

static bool
has_ranges(struct asked *asked, const struct shape *shape)
{
    struct reason why = {""};
    struct query *query = prepare(shape);
    struct buf plan;
    buf_init(&plan, 1 << 20);
    must(query_explain(query, partition_reader_source(asked->reader), &asked->options, false, &plan,
                       &why),
         &why);
    const bool found = memmem(plan.data, plan.length, "ranges ", 7) != NULL;
    buf_release(&plan);
    query_free(query);
    return found;
}

/* ---- the tests ---- */

static struct asked asked;
static struct partition *partition;
static struct buf wanted, given;

static void
check_manner(const struct shape *shape, enum manner manner)
{
    choose_manner(&asked, manner);
    ask(&asked, shape, &given);
    if (!slice_equal(buf_slice(&given), buf_slice(&wanted))) {
        fail_msg("%s, manner %d: %.*s instead of %.*s", shape->text, manner,
                 SLICE_PRINT(buf_slice(&given)), SLICE_PRINT(buf_slice(&wanted)));
    }
    if ((asked.other.begun > 0) != shape->ranges) {
        fail_msg("%s: was helped with %u times", shape->text, asked.other.begun);
    }
}

static void
help_changes_nothing(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        choose_manner(&asked, ALONE);
        ask(&asked, &shapes[i], &wanted);
        choose_manner(&asked, AT_ONCE);
        if (has_ranges(&asked, &shapes[i]) != shapes[i].ranges) {
            fail_msg("%s: %s", shapes[i].text, shapes[i].ranges ? "no ranges" : "ranges");
        }
        for (enum manner manner = AT_ONCE; manner <= BESIDE; manner++) {
            check_manner(&shapes[i], manner);
        }
    }
}

/* Where what ranges give has no room, the rows come without them. */
static void
little_memory_is_enough(void **state)
{
    static const struct shape shape = {"SELECT ?s ?p (COUNT(*) AS ?n) { ?s ?p ?o } GROUP BY ?s ?p",
                                       true};
    (void)state;
    choose_manner(&asked, ALONE);
    ask(&asked, &shape, &wanted);
    for (size_t memory = 512 << 10; memory <= 4 << 20; memory *= 2) {
        for (enum manner manner = AT_ONCE; manner <= BESIDE; manner++) {
            choose_manner(&asked, manner);
            asked.options.memory = memory;
            ask(&asked, &shape, &given);
            assert_int_equal(given.length, wanted.length);
        }
    }
}

static void
query_that_is_helped_with_ends_soon(void **state)
{
    static const struct shape shape = {"SELECT ?s (COUNT(*) AS ?n) { ?s ?p ?o } GROUP BY ?s", true};
    atomic_bool cancel = true;
    struct reason why = {""};
    const struct query_sink sink = {0};
    (void)state;
    choose_manner(&asked, BESIDE);
    asked.options.cancel = &cancel;
    struct query *query = prepare(&shape);
    assert_int_equal(
        query_run(query, partition_reader_source(asked.reader), &asked.options, &sink, NULL, &why),
        STATUS_CANCELLED);
    query_free(query);
}

/* Most quads are in the trees, the last graph's are gathered for them. */
static void
fill(void)
{
    struct partition_options options;
    struct reason why = {""};
    fixture_options(&options, asked.folder);
    options.cache_bytes = 64 << 20;
    options.snapshot_memory = GATHERED_BYTES;
    must(partition_open(&partition, &options, &why), &why);
    struct index_batch *batch = index_batch_new(partition);
    for (unsigned graph = 0; graph < GRAPHS; graph++) {
        add_graph(batch, graph, SUBJECTS);
    }
    must(index_batch_commit(batch, &why), &why);
    index_batch_reset(batch);
    add_graph(batch, GRAPHS, SUBJECTS / 10);
    must(index_batch_commit(batch, &why), &why);
    index_batch_free(batch);
}

static int
set_up(void **state)
{
    struct reason why = {""};
    (void)state;
    assert_true(scratch_folder(asked.folder, "test_query_ranges"));
    fill();
    must(partition_reader_open(&asked.reader, partition, &why), &why);
    asked.other.reader = partition_reader_share(asked.reader);
    buf_init(&wanted, 64 << 20);
    buf_init(&given, 64 << 20);
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    buf_release(&wanted);
    buf_release(&given);
    partition_reader_close(asked.other.reader);
    partition_reader_close(asked.reader);
    partition_close(partition);
    fixture_run("rm -r %s%s", asked.folder, "");
    return 0;
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(help_changes_nothing),
                                       cmocka_unit_test(little_memory_is_enough),
                                       cmocka_unit_test(query_that_is_helped_with_ends_soon)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
