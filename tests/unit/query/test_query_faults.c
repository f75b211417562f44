/* Queries over a source whose calls fail, each one in its turn: the query ends with that failure
 * and its reason, and closes whatever it opened; so it does when it is cancelled at any of its
 * looks; and in whatever memory it gets, it has the same answer or none. */
#include "tests/unit/index/index_fixture.h"

#include <stdatomic.h>

#include "index/query/query.h"
#include "index/query/results/result.h"
#include "index/statistics/triple_counts.h"

enum {
    GRAPHS = 3,
    SUBJECTS = 60,
    STEPS = 60,
    ANSWER = 1 << 24,
    PLENTY = 64 << 20,
    LITTLE = 96 << 10
};
#define PREFIXES                                                                      \
    "PREFIX : <http://example.org/> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> " \
    "PREFIX q: <urn:x-quadrille:query#> "

/* One at least for each operator and way to join. */
static const char *const texts[] = {
    "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }",
    "SELECT ?p (COUNT(*) AS ?n) { ?s ?p ?o } GROUP BY ?p",
    "SELECT (COUNT(DISTINCT ?s) AS ?n) { ?s ?p ?o }",
    "SELECT ?p (COUNT(*) AS ?n) { VALUES ?s { :s1 :s2 :s3 } ?s ?p ?o } GROUP BY ?p",
    "SELECT ?s ?p (COUNT(*) AS ?n) { VALUES ?o { 1 2 3 } ?s ?q ?o . ?s ?p ?x } GROUP BY ?s ?p",
    "SELECT ?s (GROUP_CONCAT(STR(?o)) AS ?n) (MIN(?o) AS ?m) (SAMPLE(?o) AS ?e) (AVG(?o) AS ?a) "
    "{ ?s :number|:label ?o } GROUP BY ?s HAVING (COUNT(?o) > 1)",
    "SELECT (SUM(?a) AS ?n) { ?s :label ?l BIND(STRLEN(?l) AS ?a) }",
    "SELECT * { ?s :number ?o FILTER(?o > 10 && ?o < 90) }",
    "SELECT * { ?s :date ?o FILTER(?o > '2010-01-01T00:00:00Z'^^xsd:dateTime) }",
    "SELECT * { ?s :label ?o FILTER(REGEX(?o, '9.*8')) }",
    "SELECT * { ?a :knows ?x . ?b :knows ?x FILTER(STR(?a) < STR(?b)) }",
    "SELECT (COUNT(*) AS ?n) { ?s :label ?l ; :knows ?k ; :number ?m }",
    "SELECT (COUNT(*) AS ?n) { ?a :knows ?x . ?x :class :C1 }",
    "SELECT * { ?s :class :C1 ; :label ?l ; :number ?d } LIMIT 50",
    "SELECT * { ?s :class :C0 OPTIONAL { ?s :number ?d FILTER(?d > 20) } OPTIONAL { ?s :knows ?k } "
    "}",
    "SELECT * { { ?s :label ?l } UNION { ?s :number ?l } UNION { ?l :knows ?s } }",
    "SELECT * { ?s :label ?l MINUS { ?s :knows ?d } }",
    "SELECT * { ?s :label ?l FILTER NOT EXISTS { ?s :knows ?d } }",
    "SELECT * { ?s :label ?l FILTER EXISTS { ?s :knows ?d . ?d :number ?n FILTER(?n > 0) } }",
    "SELECT * { ?a :next+ ?b }",
    "SELECT * { :s5 :next* ?b . ?b :next?/:class ?c }",
    "SELECT * { ?a (:next|^:knows)+ :s0 }",
    "SELECT * { ?s !(:next|:label) ?o }",
    "SELECT * { GRAPH ?g { ?s :label ?l ; :class ?c } }",
    "SELECT * { GRAPH ?g { { SELECT ?s { ?s :label ?l } ORDER BY ?l LIMIT 10 } } }",
    "SELECT * { GRAPH ?g { ?s ?p ?o VALUES ?p { :label :number :none } } }",
    "SELECT * { ?l q:matches 'label' . ?s :label ?l }",
    "SELECT * { { SELECT ?s (COUNT(*) AS ?n) { ?s ?p ?o } GROUP BY ?s } ?s :label ?l }",
    "SELECT DISTINCT ?o { ?s ?p ?o } ORDER BY DESC(?o)",
    "SELECT * { ?s :label ?l } ORDER BY DESC(?l) ?s LIMIT 10 OFFSET 3",
    "SELECT * { ?s :date ?t } ORDER BY DESC(?t) LIMIT 10",
    "SELECT * { ?s :number ?t } ORDER BY ?t LIMIT 5",
    "CONSTRUCT { ?s :is ?o . _:b :of ?s } { ?s :knows ?o }",
    "DESCRIBE :s1 ?x { ?x :knows :s0 }",
    "ASK { ?s :knows ?o . ?o :number 2 }",
    "SELECT * { ?s :next ?s . ?s ?p ?o }",
    "SELECT * { VALUES (?s ?d) { (:s1 1) (:s2 UNDEF) } ?s :number ?d }",
    "SELECT ?s ?o FROM <http://host0.example/document/0> { ?s :label ?o }",
};
enum { TEXTS = sizeof texts / sizeof *texts };

static char folder[SCRATCH_SIZE];

/* ---- the source ---- */

static const struct quad_source *base;
static struct quad_source source;
static struct {
    unsigned calls, fail_at; /* 0: none fails */
    bool guess;              /* the call that fails is for the plan alone, which may do without */
    size_t open;
} state;

/* Who wants no reason tries something out. */
static enum status
call(struct reason *why)
{
    if (++state.calls != state.fail_at) {
        return STATUS_OK;
    }
    state.guess = state.guess || why == NULL;
    return status_fail(why, STATUS_FULL, "a fault of the test");
}

static enum status
lookup(void *context, const struct term *term, oid *id, struct reason *why)
{
    TRY(call(why));
    return base->lookup(context, term, id, why);
}

static enum status
resolve(void *context, oid id, struct arena *arena, struct term *term, struct reason *why)
{
    TRY(call(why));
    return base->resolve(context, id, arena, term, why);
}

static enum status
scan(void *context, const struct quad_oids *pattern, enum quad_order order, struct quad_scan **made,
     struct reason *why)
{
    TRY(call(why));
    TRY(base->scan(context, pattern, order, made, why));
    state.open++;
    return STATUS_OK;
}

static enum status
scan_next(struct quad_scan *of, struct quad_oids *rows, size_t most, size_t *n, struct reason *why)
{
    TRY(call(why));
    return base->scan_next(of, rows, most, n, why);
}

static void
scan_close(struct quad_scan *of)
{
    state.open--;
    base->scan_close(of);
}

static enum status
estimate(void *context, const struct quad_oids *pattern, uint64_t *rows, struct reason *why)
{
    state.guess = state.guess || state.calls + 1 == state.fail_at;
    TRY(call(why));
    return base->estimate(context, pattern, rows, why);
}

static enum status
count_triples(void *context, const struct count_request *request, struct triple_count **counts,
              size_t *count, struct reason *why)
{
    (void)context;
    TRY(call(why));
    return triple_counts_read(base, request, counts, count, why);
}

/* Nothing is known, so that each query reads. */
static size_t
recall_lists(void *context, struct list_recall *recall)
{
    (void)context;
    memset(recall->known, 0, recall->count * sizeof *recall->known);
    memset(recall->ends, 0, recall->count * sizeof *recall->ends);
    return recall->count;
}

static enum status
search(void *context, struct slice words, uint32_t most, struct text_scan **made,
       struct reason *why)
{
    TRY(call(why));
    TRY(base->search(context, words, most, made, why));
    state.open++;
    return STATUS_OK;
}

static enum status
search_next(struct text_scan *of, oid *literal, double *score, bool *end, struct reason *why)
{
    TRY(call(why));
    return base->search_next(of, literal, score, end, why);
}

static void
search_close(struct text_scan *of)
{
    state.open--;
    base->search_close(of);
}

/* ---- the queries ---- */

static struct {
    unsigned looks, stop_at;
    atomic_bool cancel;
} watch;

static void
look(void *context)
{
    (void)context;
    if (++watch.looks == watch.stop_at) {
        watch.cancel = true;
    }
}

static enum status
take_piece(void *context, struct slice bytes, struct reason *why)
{
    (void)why;
    (void)buf_append_slice(context, bytes);
    return STATUS_OK;
}

/* How the query ends with this much memory; out: its answer. */
static enum status
run(const char *text, uint64_t memory, struct buf *out, struct reason *why)
{
    const struct query_options options = {.step = look,
                                          .cancel = &watch.cancel,
                                          .now_ms = 1700000000000,
                                          .memory = memory,
                                          .scratch_folder = folder};
    struct query *query;
    struct result_writer *writer;
    char *whole = NULL;
    assert_true(asprintf(&whole, PREFIXES "%s", text) > 0);
    must(query_prepare(&query, slice_string(whole), SLICE(""), why), why);
    const enum query_form form = query_form_of(query);
    buf_reset(out);
    result_writer_open(&writer,
                       form == QUERY_SELECT || form == QUERY_ASK ? RESULT_TSV : RESULT_NTRIPLES,
                       take_piece, out);
    state.calls = 0;
    state.guess = false;
    watch.looks = 0;
    watch.cancel = false;
    enum status status = query_run(query, &source, &options, result_writer_sink(writer), NULL, why);
    if (status == STATUS_OK) {
        status = result_writer_finish(writer, why);
    }
    result_writer_free(writer);
    query_free(query);
    free(whole);
    assert_int_equal(state.open, 0);
    return status;
}

static unsigned
step_of(unsigned count)
{
    return 1 + count / STEPS;
}

static void
every_failure_ends_a_query(const char *text, uint64_t memory, struct buf *out)
{
    struct reason why = {""};
    state.fail_at = 0;
    if (run(text, memory, out, &why) == STATUS_LIMIT && memory < PLENTY) {
        return;
    }
    must(run(text, memory, out, &why), &why);
    const unsigned calls = state.calls, looks = watch.looks;
    const size_t length = out->length;
    assert_true(calls > 0);
    for (unsigned at = 1; at <= calls; at += at < STEPS ? 1 : step_of(calls)) {
        struct reason because = {""};
        state.fail_at = at;
        const enum status status = run(text, memory, out, &because);
        const bool told =
            status == STATUS_FULL && strstr(because.text, "a fault of the test") != NULL;
        if (!told && !(state.guess && status == STATUS_OK && out->length == length)) {
            fail_msg("%s: call %u of %u: %s: %s", text, at, calls, status_name(status),
                     because.text);
        }
    }
    state.fail_at = 0;
    for (unsigned at = 1; at < looks; at += step_of(looks)) {
        watch.stop_at = at;
        const enum status status = run(text, memory, out, &why);
        if (status != STATUS_CANCELLED) {
            fail_msg("%s: look %u of %u: %s", text, at, looks, status_name(status));
        }
    }
    watch.stop_at = 0;
}

static struct partition *
fill(void)
{
    struct partition *partition = fixture_open(folder, 16 << 20);
    struct index_batch *batch = index_batch_new(partition);
    struct reason why = {""};
    struct buf text;
    buf_init(&text, 1 << 20);
    for (unsigned graph = 0; graph < GRAPHS; graph++) {
        buf_reset(&text);
        for (unsigned i = 0; i < SUBJECTS; i++) {
            const unsigned s = graph * (SUBJECTS - 5) + i; /* some are in two graphs */
            char subject[64];
            snprintf(subject, sizeof subject, "<http://example.org/s%u> <http://example.org/", s);
            (void)buf_printf(&text, "%sclass> <http://example.org/C%u> .\n", subject, s % 5);
            (void)buf_printf(&text, "%slabel> \"label %u\" .\n", subject, s * 7919 % 1009);
            (void)buf_printf(&text,
                             "%snumber> \"%u\"^^<http://www.w3.org/2001/XMLSchema#integer> .\n",
                             subject, s);
            (void)buf_printf(&text, "%snext> <http://example.org/s%u> .\n", subject,
                             s % 20 ? s - 1 : s);
            (void)buf_printf(&text,
                             "%sdate> \"20%02u-%02u-0%uT00:00:%02uZ\""
                             "^^<http://www.w3.org/2001/XMLSchema#dateTime> .\n",
                             subject, s % 30, 1 + s % 12, 1 + s % 9, s % 60);
            if (s % 3 == 0) {
                (void)buf_printf(&text, "%sknows> <http://example.org/s%u> .\n", subject, s / 20);
            }
        }
        (void)fixture_add(batch, graph, 1, &text);
    }
    must(index_batch_commit(batch, &why), &why);
    index_batch_free(batch);
    buf_release(&text);
    must(partition_settle(partition, &why), &why);
    return partition;
}

static void
with_source(struct partition_reader *reader, bool counts)
{
    base = partition_reader_source(reader);
    source = *base;
    source.lookup = lookup;
    source.resolve = resolve;
    source.scan = scan;
    source.scan_next = scan_next;
    source.scan_close = scan_close;
    source.estimate = estimate;
    source.count_triples = counts ? count_triples : NULL;
    source.release_counts = NULL;
    source.recall_lists = recall_lists;
    source.search = search;
    source.search_next = search_next;
    source.search_close = search_close;
}

static void
every_failure_is_told(void **state_of_group)
{
    struct partition_reader *reader;
    struct reason why = {""};
    struct buf out;
    buf_init(&out, ANSWER);
    must(partition_reader_open(&reader, *state_of_group, &why), &why);
    for (unsigned counts = 0; counts < 2; counts++) {
        with_source(reader, counts);
        for (size_t i = counts; i < TEXTS; i += 1 + counts) {
            every_failure_ends_a_query(texts[i], PLENTY, &out);
            every_failure_ends_a_query(texts[i], LITTLE, &out);
        }
    }
    partition_reader_close(reader);
    buf_release(&out);
}

static void
any_memory_gives_the_answer_or_none(void **state_of_group)
{
    struct partition_reader *reader;
    struct reason why = {""};
    struct buf whole, out;
    buf_init(&whole, ANSWER);
    buf_init(&out, ANSWER);
    must(partition_reader_open(&reader, *state_of_group, &why), &why);
    with_source(reader, true);
    for (size_t i = 0; i < TEXTS; i++) {
        bool answered = false;
        must(run(texts[i], PLENTY, &whole, &why), &why);
        for (uint64_t memory = 1 << 10; memory <= 16 << 20; memory *= 4) {
            struct reason because = {""};
            const enum status status = run(texts[i], memory, &out, &because);
            if (status == STATUS_LIMIT) {
                assert_false(answered); /* with less there was an answer */
                assert_true(because.text[0] != '\0');
                continue;
            }
            must(status, &because);
            answered = true;
            assert_int_equal(out.length, whole.length);
        }
        assert_true(answered);
    }
    partition_reader_close(reader);
    buf_release(&whole);
    buf_release(&out);
}

static int
make(void **state_of_group)
{
    if (!scratch_folder(folder, "test_query_faults")) {
        return -1;
    }
    *state_of_group = fill();
    return 0;
}

static int
unmake(void **state_of_group)
{
    partition_close(*state_of_group);
    fixture_run("rm -r %s%s", folder, "");
    return 0;
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_failure_is_told),
        cmocka_unit_test(any_memory_gives_the_answer_or_none),
    };
    return cmocka_run_group_tests(tests, make, unmake);
}
