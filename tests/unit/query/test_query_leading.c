/* The first rows by the values of a predicate: the second time only the objects that they have are
 * read, which gives the same rows as sorting all; another commit is seen. */
#include "tests/unit/index/index_fixture.h"

#include "index/query/query.h"

enum { SUBJECTS = 3000, FEW_QUADS = 1200 };
#define PREFIXES "PREFIX : <http://example.org/> "

static struct partition *partition;
static struct buf given, sorted;
static char folder[SCRATCH_SIZE];

/* Numbers and moments are equal to others that are written in another way, labels come in no order
 * of their identifiers. */
static void
add_graph(unsigned graph, unsigned from, unsigned until)
{
    struct reason why = {""};
    struct buf text;
    struct index_batch *batch = index_batch_new(partition);
    buf_init(&text, 16 << 20);
    for (unsigned i = from; i < until; i++) {
        char subject[64];
        snprintf(subject, sizeof subject, "<http://example.org/s%u> <http://example.org/", i);
        (void)buf_printf(&text, "%slabel> \"%u\" .\n", subject, i * 7919 % 3001);
        (void)buf_printf(&text, "%snumber> \"%s%u\"^^<http://www.w3.org/2001/XMLSchema#%s> .\n",
                         subject, i % 3 == 1 ? "0" : "", i / 4, i % 3 == 2 ? "decimal" : "integer");
        (void)buf_printf(
            &text,
            "%sat> \"2020-01-%02uT%02u:00:00%s\"^^<http://www.w3.org/2001/XMLSchema#dateTime> .\n",
            subject, 1 + i % 28, i % 24, i % 2 ? "Z" : "+01:00");
    }
    (void)fixture_add(batch, graph, 1, &text);
    must(index_batch_commit(batch, &why), &why);
    index_batch_free(batch);
    buf_release(&text);
}

static enum status
add_row(void *context, const struct term *terms, size_t n, struct reason *why)
{
    struct buf *out = context;
    for (size_t i = 0; i < n; i++) {
        must(nquads_write_term(out, &terms[i]), why);
        (void)buf_append_char(out, i + 1 < n ? '\t' : '\n');
    }
    return STATUS_OK;
}

/* Returns how many quads were read. */
static uint64_t
ask(const char *text, struct buf *out)
{
    struct reason why = {""};
    struct query *query;
    struct partition_reader *reader;
    struct query_report report = {0};
    const struct query_options options = {.scratch_folder = folder, .now_ms = 1};
    const struct query_sink sink = {.context = out, .row = add_row};
    char *whole = NULL;
    assert_true(asprintf(&whole, PREFIXES "%s", text) > 0);
    buf_reset(out);
    must(partition_reader_open(&reader, partition, &why), &why);
    must(query_prepare(&query, slice_string(whole), SLICE(""), &why), &why);
    must(query_run(query, partition_reader_source(reader), &options, &sink, &report, &why), &why);
    query_free(query);
    partition_reader_close(reader);
    free(whole);
    return report.scanned;
}

/* The expression hides from the sort that it is a variable of the scan. */
static const struct {
    const char *asked, *sorted;
} pairs[] = {
    {"SELECT ?s ?l { ?s :label ?l } ORDER BY ?l ?s LIMIT 10",
     "SELECT ?s ?l { ?s :label ?l } ORDER BY STR(?l) ?s LIMIT 10"},
    {"SELECT ?s ?l { ?s :label ?l } ORDER BY DESC(?l) ?s LIMIT 10 OFFSET 20",
     "SELECT ?s ?l { ?s :label ?l } ORDER BY DESC(STR(?l)) ?s LIMIT 10 OFFSET 20"},
    {"SELECT ?n ?s { ?s :number ?n } ORDER BY ?n DESC(?s) LIMIT 7",
     "SELECT ?n ?s { ?s :number ?n } ORDER BY COALESCE(?n, 0) DESC(?s) LIMIT 7"},
    {"SELECT ?n ?s { ?s :number ?n } ORDER BY DESC(?n) ?s LIMIT 7",
     "SELECT ?n ?s { ?s :number ?n } ORDER BY DESC(COALESCE(?n, 0)) ?s LIMIT 7"},
    {"SELECT ?s ?t { ?s :at ?t } ORDER BY DESC(?t) ?s LIMIT 12",
     "SELECT ?s ?t { ?s :at ?t } ORDER BY DESC(COALESCE(?t, 0)) ?s LIMIT 12"},
    {"SELECT ?s ?t { ?s :at ?t } ORDER BY ?t DESC(?s) LIMIT 12",
     "SELECT ?s ?t { ?s :at ?t } ORDER BY COALESCE(?t, 0) DESC(?s) LIMIT 12"},
};

static void
check_all(bool again)
{
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const uint64_t all = ask(pairs[i].sorted, &sorted);
        const uint64_t read = ask(pairs[i].asked, &given);
        assert_true(sorted.length > 0);
        if (!slice_equal(buf_slice(&given), buf_slice(&sorted))) {
            fail_msg("%s: %.*s instead of %.*s", pairs[i].asked, SLICE_PRINT(buf_slice(&given)),
                     SLICE_PRINT(buf_slice(&sorted)));
        }
        if (again && (read > FEW_QUADS || all < SUBJECTS)) {
            fail_msg("%s: %llu quads were read of %llu", pairs[i].asked, (unsigned long long)read,
                     (unsigned long long)all);
        }
    }
}

static void
test_first_rows_are_known_the_next_time(void **state)
{
    (void)state;
    add_graph(1, 0, SUBJECTS);
    check_all(false);
    check_all(true);
    /* Some of the first rows are in several graphs, and there are others. */
    add_graph(2, SUBJECTS - 40, SUBJECTS + 40);
    check_all(false);
    check_all(true);
}

static int
set_up(void **state)
{
    struct partition_options options;
    struct reason why = {""};
    (void)state;
    assert_true(scratch_folder(folder, "test_query_leading"));
    partition_options_default(&options, folder);
    options.cache_bytes = 64 << 20;
    options.disk_reserve = 0;
    must(partition_open(&partition, &options, &why), &why);
    buf_init(&given, 1 << 20);
    buf_init(&sorted, 1 << 20);
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    buf_release(&given);
    buf_release(&sorted);
    partition_close(partition);
    fixture_run("rm -r %s%s", folder, "");
    return 0;
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_first_rows_are_known_the_next_time)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
