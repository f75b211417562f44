/* A query whose time is over, or that nobody wants any more, ends soon, whatever its plan is doing:
 * what it still computes is measured in processor time, beside that of reading and hashing all
 * quads once, so that neither the machine nor what else it does decides. */
#include "index/statistics/triple_counts.h"
#include "tests/unit/brief.h"
#include "tests/unit/index/index_fixture.h"

#include <time.h>

#include "index/query/query.h"

enum { GRAPHS = 6, SUBJECTS = 1000 /* of each graph */, TRIES = 6, PART = 2 };
#define PREFIXES                                                                      \
    "PREFIX : <http://example.org/> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> " \
    "PREFIX q: <urn:x-quadrille:query#> "

/* One at least for each operator and way to join; those that are worth it go on in files, too. */
static const struct shape {
    const char *text;
    bool spills;
} shapes[] = {
    {"SELECT (COUNT(*) AS ?n) { ?s ?p ?o }", false},
    {"SELECT ?p (COUNT(*) AS ?n) { ?s ?p ?o } GROUP BY ?p", false},
    {"SELECT ?o (COUNT(*) AS ?n) { ?s :class ?o } GROUP BY ?o", false},
    {"SELECT (COUNT(DISTINCT ?s) AS ?n) { ?s ?p ?o }", true},
    {"SELECT ?s (COUNT(DISTINCT ?o) AS ?n) { ?s ?p ?o } GROUP BY ?s", true},
    {"SELECT ?s (GROUP_CONCAT(STR(?o)) AS ?n) { ?s ?p ?o } GROUP BY ?s", true},
    {"SELECT (SUM(?a) AS ?n) { ?s :label ?l BIND(STRLEN(?l) AS ?a) }", false},
    {"SELECT * { ?s :number ?o FILTER(?o > 100 && ?o < 90000) }", false},
    {"SELECT * { ?s :date ?o FILTER(?o > '2020-01-01T00:00:00Z'^^xsd:dateTime) }", false},
    {"SELECT * { ?s :label ?o FILTER(REGEX(?o, '9.*8')) }", false},
    {"SELECT * { ?a :knows ?x . ?b :knows ?x FILTER(STR(?a) = 'x') }", true},
    {"SELECT (COUNT(*) AS ?n) { ?s :label ?l ; :knows ?k ; :number ?m }", true},
    {"SELECT (COUNT(*) AS ?n) { ?a :knows ?x . ?x :class :C1 }", false},
    {"SELECT * { ?s :class :C1 ; :label ?l ; :number ?d } LIMIT 5000", false},
    {"SELECT * { ?s :class :C0 OPTIONAL { ?s :number ?d } OPTIONAL { ?s :knows ?k } }", true},
    {"SELECT * { { ?s :label ?l } UNION { ?s :number ?l } }", false},
    {"SELECT * { ?s :label ?l MINUS { ?s :knows ?d } }", true},
    {"SELECT * { ?s :label ?l FILTER NOT EXISTS { ?s :knows ?d } }", true},
    {"SELECT * { ?s :label ?l FILTER EXISTS { ?s :knows ?d } }", true},
    {"SELECT * { ?s :label ?l FILTER NOT EXISTS { ?x :label ?l FILTER(?x != ?s) } }", false},
    {"SELECT * { ?a :next+ ?b }", false},
    {"SELECT * { GRAPH ?g { ?s :label ?l ; :class ?c } }", true},
    {"SELECT * { GRAPH ?g { { SELECT ?s { ?s :label ?l } LIMIT 1000 } } }", false},
    {"SELECT * { GRAPH ?g { ?s ?p ?o VALUES ?p { :label :number } } }", false},
    {"SELECT * { ?l q:matches 'label' . ?s :label ?l }", false},
    {"SELECT * { { SELECT ?s (COUNT(*) AS ?n) { ?s ?p ?o } GROUP BY ?s } ?s :label ?l }", true},
    {"SELECT DISTINCT ?s ?p { ?s ?p ?o }", true},
    {"SELECT DISTINCT ?o { ?s ?p ?o } ORDER BY DESC(?o)", true},
    {"SELECT * { ?s :label ?l } ORDER BY DESC(?l) ?s LIMIT 10", false},
    {"SELECT * { ?s :date ?t } ORDER BY DESC(?t) LIMIT 10", false},
    {"SELECT * { ?s ?p ?o } ORDER BY DESC(?o) ?s", true},
    {"CONSTRUCT { ?s :is ?o } { ?s ?p ?o }", true},
    {"SELECT * { ?a :knows ?x . ?b :knows ?x . ?b :number ?n }", true},
    {"SELECT ?p (COUNT(*) AS ?n) { ?s :class :C1 . ?s ?p ?o } GROUP BY ?p", false},
};

static void
add_graph(struct index_batch *batch, unsigned graph)
{
    struct buf text;
    buf_init(&text, 16 << 20);
    for (unsigned i = 0; i < SUBJECTS; i++) {
        const unsigned s = graph * SUBJECTS + i;
        char subject[64];
        snprintf(subject, sizeof subject, "<http://example.org/s%u> <http://example.org/", s);
        (void)buf_printf(&text, "%sclass> <http://example.org/C%u> .\n", subject, s % 5);
        (void)buf_printf(&text, "%slabel> \"label %u\" .\n", subject, s * 7919 % 10007);
        (void)buf_printf(&text, "%snumber> \"%u\"^^<http://www.w3.org/2001/XMLSchema#integer> .\n",
                         subject, s);
        (void)buf_printf(&text, "%snext> <http://example.org/s%u> .\n", subject,
                         s % 20 ? s - 1 : s);
        (void)buf_printf(&text,
                         "%sdate> \"20%02u-%02u-0%uT00:00:%02uZ\""
                         "^^<http://www.w3.org/2001/XMLSchema#dateTime> .\n",
                         subject, s % 30, 1 + s % 12, 1 + s % 9, s % 60);
        if (s % 3 == 0) {
            (void)buf_printf(&text, "%sknows> <http://example.org/s%u> .\n", subject, s / 60);
        }
    }
    (void)fixture_add(batch, graph, 1, &text);
    buf_release(&text);
}

static struct quad_source source;

static enum status
count_anew(void *context, const struct count_request *request, struct triple_count **counts,
           size_t *count, struct reason *why)
{
    (void)context;
    return triple_counts_read(&source, request, counts, count, why);
}

static size_t
recall_nothing(void *context, struct list_recall *recall)
{
    (void)context;
    memset(recall->known, 0, recall->count * sizeof *recall->known);
    memset(recall->ends, 0, recall->count * sizeof *recall->ends);
    return recall->count;
}

static double
processor_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* Looks at the flag so far, the one at which it is set (0: none), and when that was. */
static struct {
    unsigned looks, stop_at;
    double stopped;
    atomic_bool cancel;
} watch;

static void
look(void *context)
{
    (void)context;
    if (++watch.looks == watch.stop_at) {
        watch.stopped = processor_ms();
        watch.cancel = true;
    }
}

/* Returns the processor time from the flag on, or from the start on where it is not set. */
static double
run(const struct shape *shape, bool files, const char *folder, unsigned stop_at,
    uint64_t timeout_ms, enum status *status)
{
    const struct query_options options = {.step = look,
                                          .cancel = &watch.cancel,
                                          .timeout_ms = timeout_ms,
                                          .memory = files ? 1 << 20 : 512 << 20,
                                          .scratch_folder = folder};
    const struct query_sink sink = {0};
    struct query *query;
    struct reason why = {{0}};
    char *whole = NULL;
    assert_true(asprintf(&whole, PREFIXES "%s", shape->text) > 0);
    must(query_prepare(&query, slice_string(whole), SLICE(""), &why), &why);
    watch.looks = 0;
    watch.stop_at = stop_at;
    watch.cancel = false;
    watch.stopped = processor_ms();
    *status = query_run(query, &source, &options, &sink, NULL, &why);
    const double passed = processor_ms() - watch.stopped;
    query_free(query);
    free(whole);
    return passed;
}

/* Returns what a run does after its end was called for, at the least of some tries, since an
 * interruption may be counted among it. A run may look less often than the one before, since the
 * block of a tree that this one kept comes alone, and the rows behind it in other pieces: then it
 * is stopped at its last look. */
static void
check_end(const struct shape *shape, bool files, const char *folder, unsigned stop_at,
          uint64_t timeout_ms, double most)
{
    const enum status wanted = timeout_ms ? STATUS_TIMEOUT : STATUS_CANCELLED;
    double least = 1e9;
    for (int i = 0; i < TRIES && least > most; i++) {
        enum status status;
        const double passed = run(shape, files, folder, stop_at, timeout_ms, &status);
        if (watch.looks < stop_at) {
            stop_at = watch.looks;
            continue;
        }
        least = passed < least ? passed : least;
        if (status != wanted && !(timeout_ms && status == STATUS_OK)) {
            fail_msg("%s: %s", shape->text, status_name(status));
        }
    }
    if (least > most) {
        fail_msg("%s%s: stopped at look %u of %u, time %u ms, and went on for %.1f ms of %.1f",
                 shape->text, files ? ", in files" : "", stop_at, watch.looks, (unsigned)timeout_ms,
                 least, most);
    }
}

static void
check_shape(const struct shape *shape, bool files, const char *folder, double most)
{
    enum status status;
    (void)run(shape, files, folder, 0, 0, &status);
    if (status != STATUS_OK) {
        fail_msg("%s%s: %s", shape->text, files ? ", in files" : "", status_name(status));
    }
    const unsigned looks = watch.looks;
    assert_true(looks > 2);
    for (unsigned quarter = 0; quarter <= 4; quarter += (unsigned)brief(1, 2)) {
        const unsigned stop_at = 1 + (looks - 1) * quarter / 4;
        check_end(shape, files, folder, stop_at, 0, most);
    }
    /* The millisecond before is work, too. */
    check_end(shape, files, folder, 0, 1, most + 2);
}

static void
every_plan_ends_soon(void **state)
{
    char folder[SCRATCH_SIZE];
    struct reason why = {""};
    struct partition_reader *reader;
    (void)state;
    assert_true(scratch_folder(folder, "test_query_stops"));
    struct partition *partition = fixture_open(folder, 64 << 20);
    struct index_batch *batch = index_batch_new(partition);
    for (unsigned graph = 0; graph < GRAPHS; graph++) {
        add_graph(batch, graph);
    }
    must(index_batch_commit(batch, &why), &why);
    index_batch_free(batch);
    must(partition_reader_open(&reader, partition, &why), &why);
    source = *partition_reader_source(reader);
    source.count_triples = count_anew;
    source.release_counts = NULL;
    source.recall_lists = recall_nothing;

    const struct shape all = {"SELECT DISTINCT ?s ?p ?o { ?s ?p ?o }", false};
    double unit = 1e9;
    for (int i = 0; i < 3; i++) {
        enum status status;
        const double passed = run(&all, false, folder, 0, 0, &status);
        unit = passed < unit ? passed : unit;
    }
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        check_shape(&shapes[i], false, folder, unit / PART);
        if (shapes[i].spills) {
            check_shape(&shapes[i], true, folder, unit / PART);
        }
    }
    partition_reader_close(reader);
    partition_close(partition);
    fixture_run("rm -r %s%s", folder, "");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_plan_ends_soon)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
