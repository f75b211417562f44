/* The first or last rows of an order are those that sorting all rows gives, though most are not
 * read; and subjects looked up one after the other give what a table gives. */
#include "tests/unit/index/index_fixture.h"

#include "index/query/query.h"

enum { GRAPHS = 4, SUBJECTS = 1200 /* of each graph */, KEPT = 40 };
#define PREFIXES "PREFIX : <http://example.org/> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> "

static struct quad_source source;

/* Every tenth subject is in two graphs. Moments are written with Z, with other zones, with
 * fractions, of hour 24, or are no moments; one of them is that of many subjects. */
static void
add_graph(struct index_batch *batch, unsigned graph)
{
    static const char *const zones[] = {"Z", "Z", "+02:00", ".5Z", ".250Z", ""};
    struct buf text;
    buf_init(&text, 16 << 20);
    for (unsigned i = 0; i < SUBJECTS; i++) {
        const unsigned s = i % 10 ? graph * SUBJECTS + i : i;
        const unsigned day = s * 7919 % 997;
        char subject[64];
        snprintf(subject, sizeof subject, "<http://example.org/s%05u> <http://example.org/", s);
        (void)buf_printf(&text, "%sclass> <http://example.org/C%u> .\n", subject, s % 4);
        (void)buf_printf(&text, "%slabel> \"label %u\" .\n", subject, s % 300);
        (void)buf_printf(&text, "%snumber> \"%u\"^^<http://www.w3.org/2001/XMLSchema#integer> .\n",
                         subject, s * 31 % 5003);
        (void)buf_printf(&text,
                         "%smoment> \"20%02u-%02u-%02uT%02u:00:00%s\""
                         "^^<http://www.w3.org/2001/XMLSchema#dateTime> .\n",
                         subject, s % 3 ? day % 26 : 3, s % 3 ? 1 + day % 12 : 5,
                         s % 3 ? 1 + day % 28 : 1, s % 50 ? day % 24 : 24, zones[s % 6]);
        if (s % 97 == 0) {
            (void)buf_printf(&text, "%smoment> \"no moment %u\" .\n", subject, s);
        }
    }
    (void)fixture_add(batch, graph, 1, &text);
    buf_release(&text);
}

struct answer {
    struct buf text;
    unsigned rows, most;
};

static enum status
take_row(void *context, const struct term *terms, size_t n, struct reason *why)
{
    struct answer *answer = context;
    (void)why;
    for (size_t i = 0; answer->rows < answer->most && i < n; i++) {
        (void)nquads_write_term(&answer->text, &terms[i]);
        (void)buf_append_char(&answer->text, i + 1 < n ? ' ' : '\n');
    }
    answer->rows++;
    return STATUS_OK;
}

static void
ask(const char *text, unsigned most, struct answer *answer, struct query_report *report)
{
    const struct query_options options = {.memory = 512 << 20};
    const struct query_sink sink = {.context = answer, .row = take_row};
    struct query *query;
    struct reason why = {{0}};
    *answer = (struct answer){.most = most};
    buf_init(&answer->text, 1 << 20);
    must(query_prepare(&query, slice_string(text), SLICE(""), &why), &why);
    must(query_run(query, &source, &options, &sink, report, &why), &why);
    query_free(query);
}

static void
same_rows(const char *first, const char *second, unsigned most)
{
    struct query_report report;
    struct answer a, b;
    ask(first, most, &a, &report);
    ask(second, most, &b, &report);
    assert_true(a.text.length > 0);
    assert_int_equal(a.text.length, b.text.length);
    assert_memory_equal(a.text.data, b.text.data, a.text.length);
    buf_release(&a.text);
    buf_release(&b.text);
}

static void
first_rows_are_those_of_all(void **state)
{
    static const char *const orders[] = {
        "{ ?s :moment ?t } ORDER BY ?t",
        "{ ?s :moment ?t } ORDER BY DESC(?t)",
        "{ ?s :moment ?t } ORDER BY DESC(?t) ?s",
        "{ ?s :number ?t } ORDER BY ?t DESC(?s)",
        "{ ?s :number ?t } ORDER BY DESC(?t)",
        "{ ?s :number ?t FILTER(?t > 40 && ?t < 4000) } ORDER BY DESC(?t) ?s",
        "{ ?s :number ?t FILTER(40 < ?t && (4000 >= ?t && ?t != 50)) } ORDER BY ?t ?s",
        "{ ?s :number ?t ; :label ?l } ORDER BY ?t ?l ?s",
        "{ ?s :label ?t } ORDER BY ?t ?s",
    };
    (void)state;
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        char some[512], all[512];
        snprintf(some, sizeof some, PREFIXES "SELECT ?s ?t %s LIMIT %d", orders[i], KEPT);
        snprintf(all, sizeof all, PREFIXES "SELECT ?s ?t %s", orders[i]);
        same_rows(some, all, KEPT);
    }
}

static void
the_others_are_not_read(void **state)
{
    static const char *const orders[] = {"?t", "DESC(?t)"};
    (void)state;
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        struct query_report report;
        struct answer answer;
        char text[256];
        snprintf(text, sizeof text, PREFIXES "SELECT ?s { ?s :number ?t } ORDER BY %s LIMIT 5",
                 orders[i]);
        ask(text, KEPT, &answer, &report);
        buf_release(&answer.text);
        assert_int_equal(report.rows, 5);
        assert_in_range(report.scanned, 5, GRAPHS * SUBJECTS / 2);
    }
}

/* Values in a range are counted by a scan over them, and when asked again among those counted. */
static void
ranges_are_counted_once(void **state)
{
    static const char *const ranges[] = {
        ":number ?t FILTER(?t > 40 && ?t < 4000)",
        ":number ?t FILTER(?t <= 7.5)",
        (":moment ?t FILTER(?t >= '2003-05-01T00:00:00Z'^^xsd:dateTime && "
         "?t < '2015-02-03T00:30:00Z'^^xsd:dateTime)"),
    };
    (void)state;
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        struct query_report report;
        struct answer answer;
        char rows[512], counted[512], number[32];
        snprintf(rows, sizeof rows, PREFIXES "SELECT ?s ?t { ?s %s }", ranges[i]);
        snprintf(counted, sizeof counted, PREFIXES "SELECT (COUNT(*) AS ?n) { ?s %s }", ranges[i]);
        ask(rows, KEPT, &answer, &report);
        buf_release(&answer.text);
        snprintf(number, sizeof number, "\"%llu\"^^", (unsigned long long)report.rows);
        for (int again = 0; again < 3; again++) {
            ask(counted, KEPT, &answer, &report);
            assert_memory_equal(answer.text.data, number, strlen(number));
            buf_release(&answer.text);
            /* The numbers were counted for the first range already. */
            assert_int_equal(report.scanned > 0, again == 0 && i != 1);
        }
    }
}

static void
lookups_give_what_a_table_gives(void **state)
{
    (void)state;
    same_rows(PREFIXES "SELECT ?p (COUNT(*) AS ?n) { ?s :class :C1 . ?s ?p ?o } "
                       "GROUP BY ?p ORDER BY ?p",
              PREFIXES "SELECT ?p (COUNT(*) AS ?n) { ?s ?p ?o FILTER EXISTS { ?s :class :C1 } } "
                       "GROUP BY ?p ORDER BY ?p",
              KEPT);
    same_rows(PREFIXES "SELECT ?p (SUM(?o) AS ?n) { ?s :class :C2 . GRAPH ?g { ?s ?p ?o } } "
                       "GROUP BY ?p ORDER BY ?p",
              PREFIXES
              "SELECT ?p (SUM(?o) AS ?n) { GRAPH ?g { ?s ?p ?o } FILTER EXISTS { ?s :class :C2 } } "
              "GROUP BY ?p ORDER BY ?p",
              KEPT);
}

static char folder[SCRATCH_SIZE];
static struct partition *partition;
static struct partition_reader *reader;

static int
fill(void **state)
{
    struct reason why = {""};
    (void)state;
    assert_true(scratch_folder(folder, "test_query_first"));
    partition = fixture_open(folder, 64 << 20);
    struct index_batch *batch = index_batch_new(partition);
    for (unsigned graph = 0; graph < GRAPHS; graph++) {
        add_graph(batch, graph);
    }
    must(index_batch_commit(batch, &why), &why);
    index_batch_free(batch);
    must(partition_reader_open(&reader, partition, &why), &why);
    source = *partition_reader_source(reader);
    return 0;
}

static int
empty(void **state)
{
    (void)state;
    partition_reader_close(reader);
    partition_close(partition);
    fixture_run("rm -r %s%s", folder, "");
    return 0;
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_rows_are_those_of_all),
        cmocka_unit_test(the_others_are_not_read),
        cmocka_unit_test(ranges_are_counted_once),
        cmocka_unit_test(lookups_give_what_a_table_gives),
    };
    return cmocka_run_group_tests(tests, fill, empty);
}
