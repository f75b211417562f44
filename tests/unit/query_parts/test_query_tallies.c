/* Counts that a source of several partitions tells by values (index/query/plan/share_tally.c):
 * which queries are answered so, with what, and that they say what the rows themselves say. */
#include "tests/unit/query/plan_case.h"

enum { SUBJECTS = 60, ROWS_MOST = 4096, UNTOLD = 0 };
#define TALLY "tally"

/* A source that counts by values, and what it was asked. */
static struct {
    const struct quad_source *plain;
    struct quad_source source;
    unsigned asked, different;
    size_t memory;         /* of the last request */
    enum status status;    /* what it says instead of counting */
    uint64_t numbers;      /* in place of every number; 0: those that there are */
    uint64_t estimates[3]; /* of what has :p, :q and anything else; 0: as they are */
    oid predicates[2];     /* :p and :q */
} told;

static int
compare_rows(const void *left, const void *right)
{
    return memcmp(left, right, sizeof(struct quad_oids));
}

static int
compare_values(const void *left, const void *right)
{
    const struct value_count *a = left, *b = right;
    return term_digest_compare(&a->value, &b->value);
}

static oid
place_of(const struct quad_oids *row, enum triple_place place)
{
    return place == TRIPLE_SUBJECT     ? row->subject
           : place == TRIPLE_PREDICATE ? row->predicate
                                       : row->object;
}

/* Reads the different triples that match. */
static size_t
read_triples(const struct quad_oids *pattern, struct quad_oids *rows)
{
    const struct quad_source *plain = told.plain;
    struct reason why = {{0}};
    struct quad_scan *scan;
    size_t count = 0, more = 1, different = 0;
    if (!quad_is_of_source(pattern)) {
        return 0;
    }
    assert_int_equal(plain->scan(plain->context, pattern, ORDER_COUNT, &scan, &why), STATUS_OK);
    while (more > 0) {
        assert_true(count < ROWS_MOST);
        assert_int_equal(plain->scan_next(scan, rows + count, ROWS_MOST - count, &more, &why),
                         STATUS_OK);
        count += more;
    }
    plain->scan_close(scan);
    for (size_t i = 0; i < count; i++) {
        rows[i].graph = OID_NONE;
    }
    qsort(rows, count, sizeof *rows, compare_rows);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || compare_rows(&rows[i], &rows[i - 1]) != 0) {
            rows[different++] = rows[i];
        }
    }
    return different;
}

static enum status
count_told(void *context, const struct count_request *request, bool different,
           struct value_count **counts, size_t *count, struct reason *why)
{
    static struct quad_oids rows[ROWS_MOST];
    (void)context;
    told.asked++;
    told.different += different;
    told.memory = request->memory;
    assert_int_equal(request->pattern.graph, OID_NONE);
    assert_int_equal(request->check(request->check_context, why), STATUS_OK);
    if (told.status != STATUS_OK && told.asked > 1) {
        return status_fail(why, told.status, "values cannot be told");
    }
    const size_t triples = read_triples(&request->pattern, rows);
    struct value_count *list = calloc(triples + 1, sizeof *list);
    *count = 0;
    for (size_t i = 0; i < triples; i++) {
        const oid value = place_of(&rows[i], request->by);
        size_t k = 0;
        while (k < *count && list[k].value.low != value) {
            k++;
        }
        *count += k == *count;
        list[k].value = (struct term_digest){value * 0x9e3779b97f4a7c15, value};
        list[k].triples++;
    }
    for (size_t k = 0; k < *count && (different || told.numbers > 0); k++) {
        list[k].triples = different ? 7 : told.numbers; /* any but 0 is allowed */
    }
    qsort(list, *count, sizeof *list, compare_values);
    *counts = list;
    return STATUS_OK;
}

static enum status
share_nothing(void *context, const struct share_request *request, struct share_scan **scan,
              struct reason *why)
{
    (void)context, (void)request, (void)scan;
    return status_fail(why, STATUS_UNSUPPORTED, "rows are asked for");
}

static enum status
estimate_told(void *context, const struct quad_oids *pattern, uint64_t *rows, struct reason *why)
{
    const size_t i = pattern->predicate == told.predicates[0]   ? 0
                     : pattern->predicate == told.predicates[1] ? 1
                                                                : 2;
    (void)context;
    if (told.estimates[i] > 0) {
        *rows = told.estimates[i];
        return STATUS_OK;
    }
    return told.plain->estimate(told.plain->context, pattern, rows, why);
}

static struct memory_source *memory;

static int
open_source(void **state)
{
    static const char *const names[] = {"http://example.org/p", "http://example.org/q"};
    struct reason why = {{0}};
    struct buf trig;
    (void)state;
    buf_init(&trig, 1 << 20);
    (void)buf_append_string(&trig, "@prefix : <http://example.org/> .\n");
    for (unsigned i = 0; i < SUBJECTS; i++) {
        (void)buf_printf(&trig, ":g%u { :s%u :p :v%u , :w%u . }\n", i % 3, i, i % 7, i % 5);
        (void)buf_printf(&trig, ":g%u { :s%u :p :v%u . }\n", i % 2, i, i % 7);
        if (i % 2 == 0) {
            (void)buf_printf(&trig, ":g1 { :s%u :q :v%u , \"%u\" , :s%u . }\n", i, i % 3, i,
                             (i + 1) % SUBJECTS);
        }
        if (i % 3 == 0) {
            (void)buf_printf(&trig, ":g2 { :s%u :r :s%u ; :self :s%u . }\n", i, i / 3, i);
        }
    }
    memory = query_case_source(trig.data);
    buf_release(&trig);
    memset(&told, 0, sizeof told);
    told.plain = memory_source_table(memory);
    told.source = *told.plain;
    told.source.share = share_nothing;
    told.source.count_values = count_told;
    told.source.estimate = estimate_told;
    for (size_t i = 0; i < 2; i++) {
        const struct term term = term_iri(slice_string(names[i]));
        assert_int_equal(told.plain->lookup(told.plain->context, &term, &told.predicates[i], &why),
                         STATUS_OK);
    }
    return 0;
}

static int
close_source(void **state)
{
    (void)state;
    memory_source_free(memory);
    return 0;
}

static struct query *
prepare(const char *text)
{
    struct query *query;
    struct reason why = {{0}};
    char *whole = NULL;
    assert_true(asprintf(&whole, PREFIXES "%s", text) > 0);
    if (query_prepare(&query, slice_string(whole), SLICE(""), &why) != STATUS_OK) {
        fail_msg("%s: %s", whole, why.text);
    }
    free(whole);
    return query;
}

static enum status
answer(const struct quad_source *source, const char *text, const struct query_options *options,
       struct query_report *report, struct buf *out)
{
    struct query *query = prepare(text);
    struct result_writer *writer;
    struct reason why = {{0}};
    result_writer_open(&writer, RESULT_TSV, query_case_piece, out);
    enum status status =
        query_run(query, source, options, result_writer_sink(writer), report, &why);
    if (status == STATUS_OK) {
        status = result_writer_finish(writer, &why);
    } else {
        (void)buf_append_string(out, why.text);
    }
    result_writer_free(writer);
    query_free(query);
    return status;
}

static void
explain(const char *text, const struct query_options *options, struct buf *plan)
{
    struct query *query = prepare(text);
    struct reason why = {{0}};
    buf_reset(plan);
    if (query_explain(query, &told.source, options, false, plan, &why) != STATUS_OK) {
        fail_msg("%s: %s", text, why.text);
    }
    query_free(query);
}

struct tally_case {
    const char *query;
    unsigned patterns; /* whose values are told; UNTOLD: rows are asked for */
};

/* What is told by values says what the rows say; asked: one list for each pattern. */
static void
check_told(const struct tally_case *wanted)
{
    const struct query_options options = {.now_ms = 1};
    struct query_report report = {0};
    struct buf expected, said;
    buf_init(&expected, 1 << 16);
    buf_init(&said, 1 << 16);
    assert_int_equal(answer(told.plain, wanted->query, &options, NULL, &expected), STATUS_OK);
    told.asked = 0;
    const enum status status = answer(&told.source, wanted->query, &options, &report, &said);
    if (status != STATUS_OK || strcmp(said.data, expected.data) != 0) {
        fail_msg("%s\n%s\nnot\n%s", wanted->query, said.data, expected.data);
    }
    assert_int_equal(told.asked, wanted->patterns);
    assert_int_equal(report.scans, wanted->patterns);
    assert_int_equal(report.scanned, 0);
    buf_release(&expected);
    buf_release(&said);
}

static void
check_plan(const struct tally_case *wanted)
{
    const struct query_options options = {.now_ms = 1};
    char line[64] = TALLY;
    struct buf plan;
    buf_init(&plan, 1 << 16);
    told.asked = 0;
    explain(wanted->query, &options, &plan);
    if (wanted->patterns != UNTOLD) {
        snprintf(line, sizeof line, TALLY " values of %u patterns in all partitions (about 1 rows)",
                 wanted->patterns);
    }
    if ((strstr(plan.data, line) != NULL) != (wanted->patterns != UNTOLD)) {
        fail_msg("%s\n%s", wanted->query, plan.data);
    }
    assert_int_equal(told.asked, wanted->patterns);
    buf_release(&plan);
}

static void
check_cases(const struct tally_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        check_plan(&cases[i]);
        if (cases[i].patterns != UNTOLD) {
            check_told(&cases[i]);
        }
    }
}

#define CHECK_CASES(cases) check_cases(cases, sizeof(cases) / sizeof *(cases))

/* One variable in common, wherever it stands, and different values of one pattern. */
static void
counts_are_told_by_values(void **state)
{
    static const struct tally_case cases[] = {
        {"SELECT (COUNT(*) AS ?n) { ?s :p ?x ; :q ?y }", 2},
        {"SELECT (COUNT(?y) AS ?n) { ?s :p ?x ; :q ?y }", 2},
        {"SELECT (COUNT(?s) AS ?n) { ?s :p ?x . ?t :q ?x }", 2},
        {"SELECT (COUNT(*) AS ?n) { ?s :q ?t . ?t :p ?x }", 2},
        {"SELECT (COUNT(*) AS ?n) { ?s :q ?t . ?t :p ?x . ?t :q ?y . ?u :r ?t }", 4},
        {"SELECT (COUNT(*) AS ?n) { ?s :p :v3 ; :q ?y ; ?p :s6 }", 3},
        {"SELECT (COUNT(*) AS ?n) { ?s ?p ?o . ?t ?p :v1 }", 2},
        {"SELECT (COUNT(*) AS ?n) { ?s :p ?x ; :none ?y }", 2},
        {"SELECT (COUNT(*) AS ?n) { { ?s :p ?x } { ?s :q ?y } }", 2},
        {"SELECT (COUNT(DISTINCT ?o) AS ?n) { ?s :p ?o }", 1},
        {"SELECT (COUNT(DISTINCT ?s) AS ?n) { ?s :q ?o }", 1},
        {"SELECT (COUNT(DISTINCT ?p) AS ?n) { ?s ?p ?o }", 1},
        {"SELECT (COUNT(DISTINCT ?o) AS ?n) (COUNT(DISTINCT ?o) AS ?m) { ?s :p ?o }", 1},
        {"SELECT (COUNT(DISTINCT ?s) AS ?n) { ?s :p ?x ; :q ?y }", 2},
        {"SELECT (COUNT(DISTINCT ?s) AS ?n) (COUNT(*) AS ?m) { ?s :p ?x ; :q ?y }", 2},
        {"SELECT (COUNT(*) AS ?m) (COUNT(DISTINCT ?s) AS ?n) { ?s :p ?x ; :q ?y }", 2},
        {"SELECT (COUNT(*) AS ?m) (COUNT(DISTINCT ?s) AS ?n) { ?s :r ?x ; :self ?y }", 2},
        {"SELECT (COUNT(?y) AS ?n) { ?s :p ?x OPTIONAL { ?s :q ?y } }", 2},
        {"SELECT (COUNT(?y) AS ?n) (COUNT(?z) AS ?m) { ?s :p ?x OPTIONAL { ?s :q ?y ; :r ?z } }",
         3},
        {"SELECT (COUNT(*) AS ?n) { ?s :p ?a , ?b , ?c , ?d ; :q ?e , ?f , ?g ; :r ?h }", 8},
    };
    (void)state;
    CHECK_CASES(cases);
}

/* What values by themselves do not tell. */
static void
other_counts_ask_for_rows(void **state)
{
    static const struct tally_case cases[] = {
        {"SELECT (COUNT(*) AS ?n) { ?s :p ?a , ?b , ?c , ?d ; :q ?e , ?f , ?g ; :r ?h , ?i }",
         UNTOLD},
        {"SELECT (COUNT(*) AS ?n) { ?s :p ?x }", UNTOLD},
        {"SELECT (COUNT(?s) AS ?n) { ?s :p ?x }", UNTOLD},
        {"SELECT (COUNT(DISTINCT ?o) AS ?n) (COUNT(*) AS ?m) { ?s :p ?o }", UNTOLD},
        {"SELECT (COUNT(DISTINCT ?o) AS ?n) (COUNT(DISTINCT ?s) AS ?m) { ?s :p ?o }", UNTOLD},
        {"SELECT ?s (COUNT(*) AS ?n) { ?s :p ?x ; :q ?y } GROUP BY ?s", UNTOLD},
        {"SELECT (COUNT(DISTINCT ?x) AS ?n) { ?s :p ?x ; :q ?y }", UNTOLD},
        {"SELECT (COUNT(DISTINCT *) AS ?n) { ?s :p ?x ; :q ?y }", UNTOLD},
        {"SELECT (COUNT(DISTINCT STR(?s)) AS ?n) { ?s :p ?x }", UNTOLD},
        {"SELECT (COUNT(STR(?s)) AS ?n) { ?s :p ?x ; :q ?y }", UNTOLD},
        {"SELECT (COUNT(1) AS ?n) { ?s :p ?x ; :q ?y }", UNTOLD},
        {"SELECT (COUNT(?none) AS ?n) { ?s :p ?x ; :q ?y }", UNTOLD},
        {"SELECT (COUNT(*) AS ?n) (SUM(?y) AS ?m) { ?s :p ?x ; :q ?y }", UNTOLD},
        {"SELECT (SAMPLE(?x) AS ?m) { ?s :p ?x ; :q ?y }", UNTOLD},
        {"SELECT (COUNT(*) AS ?n) { ?s :p ?x ; :q ?x }", UNTOLD},
        {"SELECT (COUNT(*) AS ?n) { ?s :q ?t . ?t :p ?x . ?u :q ?x }", UNTOLD},
        {"SELECT (COUNT(*) AS ?n) { ?s :self ?s ; :q ?y }", UNTOLD},
        {"SELECT (COUNT(DISTINCT ?s) AS ?n) { ?s :self ?s }", UNTOLD},
        {"SELECT (COUNT(DISTINCT ?s) AS ?n) { ?s :p ?x . ?t :q ?y }", UNTOLD},
        {"SELECT (COUNT(*) AS ?n) { ?s :p+ ?x ; :q ?y }", UNTOLD},
        {"SELECT (COUNT(*) AS ?n) { ?s :p ?x ; :q ?y . ?s :r+ ?z }", UNTOLD},
        {"SELECT (COUNT(*) AS ?n) { ?s :p ?x ; :q ?y VALUES ?s { :s1 :s2 } }", UNTOLD},
        {"SELECT (COUNT(*) AS ?n) { ?s :p ?x ; :q ?y FILTER(?x != :v1) }", UNTOLD},
        {"SELECT (COUNT(*) AS ?n) { { ?s :p ?x FILTER(?x != :v1) } { ?s :q ?y } }", UNTOLD},
        {"SELECT (COUNT(*) AS ?n) { { ?s :p ?x } { ?s :q ?y FILTER(?y != :v1) } }", UNTOLD},
        {"SELECT (COUNT(DISTINCT ?s) AS ?n) { { ?s :p ?x } UNION { ?s :q ?x } }", UNTOLD},
        {"SELECT (COUNT(DISTINCT ?s) AS ?n) { ?s :p ?x MINUS { ?s :q ?y } }", UNTOLD},
        {"SELECT (COUNT(DISTINCT ?s) AS ?n) { VALUES ?s { :s1 } }", UNTOLD},
        {"SELECT (COUNT(*) AS ?n) { ?y q:matches '8' . ?s :q ?y }", UNTOLD},
        {"SELECT (COUNT(*) AS ?n) { GRAPH ?g { ?s :p ?x ; :q ?y } }", UNTOLD},
        {"SELECT (COUNT(*) AS ?n) FROM :g1 { ?s :p ?x ; :q ?y }", UNTOLD},
        /* Where OPTIONAL finds nothing a solution counts all the same. */
        {"SELECT (COUNT(*) AS ?n) { ?s :p ?x OPTIONAL { ?s :q ?y } }", UNTOLD},
        {"SELECT (COUNT(?x) AS ?n) { ?s :p ?x OPTIONAL { ?s :q ?y } }", UNTOLD},
        {"SELECT (COUNT(?s) AS ?n) { ?s :p ?x OPTIONAL { ?s :q ?y } }", UNTOLD},
        {"SELECT (COUNT(DISTINCT ?s) AS ?n) { ?s :p ?x OPTIONAL { ?s :q ?y } }", UNTOLD},
        {"SELECT (COUNT(DISTINCT ?y) AS ?n) { ?s :p ?x OPTIONAL { ?t :q ?y } }", UNTOLD},
        {"SELECT (COUNT(?y) AS ?n) (COUNT(*) AS ?m) { ?s :p ?x OPTIONAL { ?s :q ?y } }", UNTOLD},
        {"SELECT (COUNT(*) AS ?m) (COUNT(?y) AS ?n) { ?s :p ?x OPTIONAL { ?s :q ?y } }", UNTOLD},
        {"SELECT (COUNT(?y) AS ?n) { ?s :p ?x OPTIONAL { ?s :q ?y FILTER(?y != :v1) } }", UNTOLD},
        {"SELECT (COUNT(?z) AS ?n) { ?s :p ?x OPTIONAL { ?s :q ?y } OPTIONAL { ?s :r ?z } }",
         UNTOLD},
        {"SELECT (COUNT(?z) AS ?n) { ?s :p ?x OPTIONAL { ?s :r ?z OPTIONAL { ?s :q ?y } } }",
         UNTOLD},
        {"SELECT (COUNT(?y) AS ?n) { { ?s :p ?x OPTIONAL { ?s :q ?y } } { ?s :r ?z } }", UNTOLD},
        {"SELECT (COUNT(?y) AS ?n) { { ?s :r ?z } { ?s :p ?x OPTIONAL { ?s :q ?y } } }", UNTOLD},
    };
    (void)state;
    CHECK_CASES(cases);
}

/* A pattern with many times another's rows is better looked up, unless all are few. */
static void
uneven_patterns_are_looked_up(void **state)
{
    static const struct {
        uint64_t first, second;
        bool tallied;
    } cases[] = {
        {1, 4096, true},    {1, 4097, false},     {4096, 1, true},   {4097, 1, false},
        {100, 6400, true},  {100, 6401, false},   {6400, 100, true}, {6401, 100, false},
        {9999, 9999, true}, {1 << 30, 64, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        told.estimates[0] = cases[i].first;
        told.estimates[1] = cases[i].second;
        check_plan(&(struct tally_case){"SELECT (COUNT(*) AS ?n) { ?s :p ?x ; :q ?y }",
                                        cases[i].tallied ? 2 : UNTOLD});
    }
    told.estimates[0] = told.estimates[1] = 0;
}

/* What cannot be told, or needs more than 63 bits, is counted by rows; what fails, fails. */
static void
what_cannot_be_told_is_counted_otherwise(void **state)
{
    static const char query[] = "SELECT (COUNT(*) AS ?n) { ?s :p ?x ; :q ?y }";
    static const char one[] = "SELECT (COUNT(*) AS ?n) { :s0 :p ?x . :s5 :p ?x }";
    static const enum status others[] = {STATUS_LIMIT, STATUS_UNSUPPORTED};
    const struct query_options options = {.now_ms = 1};
    struct buf out;
    (void)state;
    buf_init(&out, 1 << 16);
    for (size_t i = 0; i < 2; i++) {
        told.status = others[i];
        explain(query, &options, &out);
        assert_null(strstr(out.data, TALLY));
    }
    told.status = STATUS_SYSTEM;
    told.asked = 0;
    buf_reset(&out);
    assert_int_equal(answer(&told.source, query, &options, NULL, &out), STATUS_SYSTEM);
    assert_non_null(strstr(out.data, "values cannot be told"));
    told.status = STATUS_OK;

    told.numbers = (uint64_t)3037000499; /* its square has 63 bits */
    buf_reset(&out);
    assert_int_equal(answer(&told.source, one, &options, NULL, &out), STATUS_OK);
    assert_string_equal(out.data, "?n\n9223372030926249001\n");
    told.numbers++;
    explain(one, &options, &out);
    assert_null(strstr(out.data, TALLY));
    told.numbers = (uint64_t)3037000499 / 2; /* the sum over all values has more */
    explain(query, &options, &out);
    assert_null(strstr(out.data, TALLY));
    told.numbers = 0;
    buf_release(&out);
}

/* The patterns share a sixteenth of the query's memory, or 64 MiB. */
static void
lists_have_a_share_of_the_memory(void **state)
{
    static const struct {
        size_t memory, each;
    } cases[] = {
        {32 << 20, 1 << 20},
        {(size_t)1 << 30, 32 << 20},
        {((size_t)1 << 30) - (1 << 16), (32 << 20) - (1 << 11)},
        {(size_t)1 << 32, 32 << 20},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct query_options options = {.memory = cases[i].memory};
        struct query_report report = {0};
        struct buf out;
        buf_init(&out, 1 << 16);
        told.different = 0;
        assert_int_equal(answer(&told.source, "SELECT (COUNT(*) AS ?n) { ?s :p ?x ; :q ?y }",
                                &options, &report, &out),
                         STATUS_OK);
        assert_int_equal(told.memory, cases[i].each);
        assert_int_equal(told.different, 0);
        assert_in_range(report.memory, 2 * cases[i].each, 2 * cases[i].each + (1 << 20));
        buf_reset(&out);
        assert_int_equal(answer(&told.source, "SELECT (COUNT(DISTINCT ?x) AS ?n) { :s1 :p ?x }",
                                &options, NULL, &out),
                         STATUS_OK);
        assert_int_equal(told.memory, 2 * cases[i].each);
        assert_int_equal(told.different, 1);
        buf_release(&out);
    }
}

/* Only a source that counts values, of several partitions, is asked. */
static void
other_sources_are_not_asked(void **state)
{
    const struct query_options options = {.now_ms = 1};
    struct buf plan;
    (void)state;
    buf_init(&plan, 1 << 16);
    told.source.count_values = NULL;
    explain("SELECT (COUNT(*) AS ?n) { ?s :p ?x ; :q ?y }", &options, &plan);
    assert_null(strstr(plan.data, TALLY));
    told.source.count_values = count_told;
    told.source.share = NULL;
    explain("SELECT (COUNT(*) AS ?n) { ?s :p ?x ; :q ?y }", &options, &plan);
    assert_null(strstr(plan.data, TALLY));
    told.source.share = share_nothing;
    buf_release(&plan);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_are_told_by_values),
        cmocka_unit_test(other_counts_ask_for_rows),
        cmocka_unit_test(uneven_patterns_are_looked_up),
        cmocka_unit_test(what_cannot_be_told_is_counted_otherwise),
        cmocka_unit_test(lists_have_a_share_of_the_memory),
        cmocka_unit_test(other_sources_are_not_asked),
    };
    return cmocka_run_group_tests(tests, open_source, close_source);
}
