#include "tests/unit/index_provenance/provenance_calls.h"
#include "tests/unit/index_provenance/provenance_bed.h"

#include "base/memory.h"

/* ---- memory ---- */

static void
begin_small(size_t memory)
{
    const struct provenance_settings settings = settings_of(memory);
    begin();
    end();
    begin_with(&settings);
}

static const char *const too_many = "!LIMIT: the query touches too many terms of metadata";

/* Terms, keys of records with nodes, and records of the archive count together. */
static void
terms_take_memory(void **state)
{
    (void)state;
    static const struct told_record records[] = {
        {"uhttp://a.example/1", "http://known.example/1 " P7 " _:n\n" ARCHIVED " " P7 " _:n"},
    };
    static const char *const terms[] = {QUERY_PROVENANCE, ARCHIVED},
                             *const keys[] = {"uhttp://a.example/1"}, *const owners[] = {ARCHIVED};
    const size_t most = bytes_of(terms, 2) + bytes_of(keys, 1) + bytes_of(owners, 1);
    for (size_t less = 0; less < 2; less++) {
        begin_small(most - less);
        told.records = records;
        told.count = 1;
        if (less == 0) {
            rows(NULL, P7, NULL,
                 "http://known.example/1 " P7 " _:p0n\n" ARCHIVED " " P7 " _:p0n\n");
        } else {
            rows(NULL, P7, NULL, too_many);
        }
        end();
    }
    /* A term is refused when those before it have used up everything. */
    for (size_t less = 0; less < 2; less++) {
        oid id;
        struct reason why = {""};
        const struct term iri = term_iri(SLICE("http://other.example/"));
        begin_small(bytes_of(terms, 1) - less);
        assert_int_equal(source->lookup(source->context, &iri, &id, &why),
                         less == 0 ? STATUS_OK : STATUS_LIMIT);
        assert_string_equal(why.text, less == 0 ? "" : too_many + strlen("!LIMIT: "));
        end();
    }
    /* So is what a record of the archive belongs to. */
    begin_small(bytes_of(terms, 1));
    told.records = records;
    told.count = 1;
    rows(NULL, P7, NULL, too_many);
    end();
}

/* ---- beside the other source ---- */

static void
inner_rows(const struct quad_oids *pattern, enum quad_order order, size_t expected)
{
    struct quad_scan *scan;
    struct quad_oids found[8];
    struct reason why = {""};
    size_t n;
    assert_int_equal(source->scan(source->context, pattern, order, &scan, &why), STATUS_OK);
    size_t total = 0;
    do {
        assert_int_equal(source->scan_next(scan, found, 1, &n, &why), STATUS_OK);
        if (n > 0) {
            assert_int_equal(n, 1);
            assert_true(found[0].subject == pattern->subject && found[0].object == 100 + total);
        }
        total += n;
    } while (n > 0);
    assert_int_equal(total, expected);
    source->scan_close(scan);
}

static void
other_graphs_are_the_other_source_s(void **state)
{
    (void)state;
    struct reason why = {""};
    struct quad_scan *scan = NULL;
    uint64_t count;
    double subjects, all;
    begin();
    const oid own = id_of("http://a.example/");
    inner_rows(&(struct quad_oids){1, 2, 0, 4}, ORDER_CSPO, 2);
    inner_rows(&(struct quad_oids){1, 0, 3, 0}, ORDER_COUNT, 2);
    told_calls("inner 1 2 0 4 order 3\ninner 1 0 3 0 order 6\n");
    /* It has no such terms. */
    const struct quad_oids strange[] = {
        {own, 0, 0, 0}, {0, own, 0, 0}, {0, 0, own, 0}, {0, 0, 0, own}, {own, own, own, 0}};
    for (size_t i = 0; i < sizeof strange / sizeof strange[0]; i++) {
        inner_rows(&strange[i], ORDER_SPOC, 0);
        count = 1;
        assert_int_equal(source->estimate(source->context, &strange[i], &count, &why), STATUS_OK);
        assert_int_equal(count, 0);
    }
    told_calls("");
    assert_int_equal(
        source->estimate(source->context, &(struct quad_oids){1, 2, 3, 4}, &count, &why),
        STATUS_OK);
    assert_int_equal(count, 7777);
    told_calls("estimate 1 2 3 4\n");
    /* Failures come back, and leave nothing open. */
    told.inner_scans = STATUS_CORRUPT;
    assert_int_equal(
        source->scan(source->context, &(struct quad_oids){.subject = 1}, ORDER_COUNT, &scan, &why),
        STATUS_CORRUPT);
    assert_null(scan);
    assert_string_equal(why.text, "no scan");
    told.estimates = STATUS_CORRUPT;
    assert_int_equal(
        source->estimate(source->context, &(struct quad_oids){1, 0, 0, 0}, &count, &why),
        STATUS_CORRUPT);
    /* Triples of records come in no order. */
    for (enum quad_order order = ORDER_SPOC; order < ORDER_COUNT; order++) {
        const struct quad_oids pattern = {.graph = graph};
        scan = (struct quad_scan *)&told;
        assert_int_equal(source->scan(source->context, &pattern, order, &scan, &why),
                         STATUS_UNSUPPORTED);
        assert_string_equal(why.text, "triples of records have no order");
        assert_null(scan);
    }
    source->scan_close(NULL);
    /* What it searches is its own; it may keep no joint statistics. */
    struct text_scan *texts;
    assert_int_equal(source->search(source->context, SLICE("tea"), 12, &texts, &why), STATUS_LIMIT);
    assert_string_equal(why.text, "too many words");
    assert_ptr_equal(source->search_next, told_source.search_next);
    assert_ptr_equal(source->search_close, told_source.search_close);
    assert_null(source->estimate_star);
    end();

    struct quad_source with_stars = told_source;
    struct provenance_settings settings = settings_of(PLENTY);
    with_stars.estimate_star = told_estimate_star;
    settings.source = &with_stars;
    told.estimates = STATUS_OK;
    buf_reset(&told.calls);
    begin_with(&settings);
    const oid stars[] = {3, 4, id_of("http://a.example/")};
    assert_int_equal(source->estimate_star(source->context, stars, 2, &subjects, &all, &why),
                     STATUS_OK);
    assert_true(subjects == 5 && all == 6);
    told_calls("star of 2 from 3\n");
    assert_int_equal(source->estimate_star(source->context, stars, 3, &subjects, &all, &why),
                     STATUS_OK);
    assert_true(subjects == 0 && all == 0);
    told_calls("");
    const oid first[] = {stars[2], 3};
    subjects = all = 1;
    assert_int_equal(source->estimate_star(source->context, first, 2, &subjects, &all, &why),
                     STATUS_OK);
    assert_true(subjects == 0 && all == 0);
    told_calls("");
    told.estimates = STATUS_SYSTEM;
    assert_int_equal(source->estimate_star(source->context, stars, 1, &subjects, &all, &why),
                     STATUS_SYSTEM);
    end();
}

/* A record is taken to have 80 triples, 2 of a predicate; all records, as many as there are quads,
 * and a thousand. */
static void
estimates_of_the_graph(void **state)
{
    (void)state;
    struct reason why = {""};
    begin();
    rows("http://a.example/1", P0, NULL, "http://a.example/1 " P0 " _:p0fetch\n");
    buf_reset(&told.calls);
    const oid node = id_of("_:p0fetch"), p = id_of(P0), a = id_of("http://a.example/1");
    const struct {
        struct quad_oids pattern;
        uint64_t rows;
    } cases[] = {
        {{a, 0, 0, graph}, 80},    {{a, p, 0, graph}, 2},    {{node, p, 0, graph}, 2},
        {{0, 0, node, graph}, 80}, {{0, p, node, graph}, 2}, {{0, p, a, graph}, 8777},
        {{0, 0, 0, graph}, 8777},  {{0, p, 0, graph}, 8777}, {{0, 0, 5, graph}, 8777},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint64_t count = 1;
        assert_int_equal(source->estimate(source->context, &cases[i].pattern, &count, &why),
                         STATUS_OK);
        assert_int_equal(count, cases[i].rows);
    }
    told_calls("estimate 0 0 0 0\nestimate 0 0 0 0\nestimate 0 0 0 0\nestimate 0 0 0 0\n");
    uint64_t count;
    told.estimates = STATUS_SYSTEM;
    assert_int_equal(
        source->estimate(source->context, &(struct quad_oids){.graph = graph}, &count, &why),
        STATUS_SYSTEM);
    end();
}

/* ---- many patterns ---- */

static struct quad_source many_source;

static void
begin_many(bool with_many)
{
    struct provenance_settings settings = settings_of(PLENTY);
    begin();
    end();
    many_source = told_source;
    many_source.scan_many = with_many ? told_scan_many : NULL;
    many_source.scan_many_next = with_many ? told_scan_many_next : NULL;
    settings.source = &many_source;
    begin_with(&settings);
}

/* Compares how many rows each pattern has, as "0:2 1:1", or "!" and the reason. */
static void
many(const struct quad_oids *patterns, size_t count, bool graphs, size_t most, const char *expected)
{
    struct reason why = {""};
    struct quad_scan *scan;
    struct quad_oids found[8];
    uint32_t numbers[8];
    size_t n = 1, of_last = 0;
    uint32_t last = 0;
    struct buf out;
    buf_init(&out, 1 << 20);
    enum status status = source->scan_many(source->context, patterns, count, graphs, &scan, &why);
    assert_int_equal(status, STATUS_OK);
    while (n > 0 && status == STATUS_OK) {
        memset(numbers, 0xff, sizeof numbers);
        status = source->scan_many_next(scan, found, numbers, most, &n, &why);
        for (size_t i = 0; status == STATUS_OK && i < n; i++) {
            assert_in_range(numbers[i], last, count - 1);
            assert_true(patterns[numbers[i]].graph == found[i].graph);
            if (numbers[i] != last && of_last > 0) {
                (void)buf_printf(&out, "%u:%zu ", last, of_last);
                of_last = 0;
            }
            last = numbers[i];
            of_last++;
        }
    }
    if (of_last > 0) {
        (void)buf_printf(&out, "%u:%zu ", last, of_last);
    }
    if (status == STATUS_OK) { /* there is no more at the end */
        assert_int_equal(source->scan_many_next(scan, found, numbers, most, &n, &why), STATUS_OK);
        assert_int_equal(n, 0);
    } else {
        (void)buf_printf(&out, "!%s: %s", status_name(status), why.text);
    }
    source->scan_close(scan);
    (void)buf_append_char(&out, '\0');
    assert_string_equal(out.data, expected);
    buf_release(&out);
}

/* Patterns of the graph are opened together, and their records asked for in one go; others go to
 * the other source, neighbours together. */
static void
many_patterns_are_asked_in_groups(void **state)
{
    (void)state;
    static const char *const expected[] = {
        "inner 1 0 0 4 order 6\ninner 2 0 0 0 order 6\ninner 3 0 0 0 order 6\n"
        "inner 5 0 0 0 order 6\nopen\n"
        "get 3: uhttp://a.example/1 hhttp://a.example uhttp://a.example/2\n",
        "many 1 0 0 4 of 2 with graphs\nopen\n"
        "get 3: uhttp://a.example/1 hhttp://a.example uhttp://a.example/2\n"
        "many 3 0 0 0 of 1 with graphs\nmany 5 0 0 0 of 1 with graphs\n"};
    for (size_t round = 0; round < 8; round++) {
        const bool with_many = round % 2 == 1;
        const size_t most = (size_t)1 << round / 2;
        begin_many(with_many);
        const oid one = id_of("http://a.example/1"), two = id_of("http://a.example/2"),
                  none = id_of("\"x"), host = id_of("http://a.example");
        const struct quad_oids patterns[] = {
            {1, 0, 0, 4},       {2, 0, 0, 0},        {one, 0, 0, graph}, {none, 0, 0, graph},
            {two, 0, 0, 4},     {host, 0, 0, graph}, {0, two, 0, 4},     {0, 0, two, 4},
            {two, 0, 0, graph}, {3, 0, 0, 0},        {4, 0, 0, two},     {5, 0, 0, 0}};
        many(patterns, 12, true, most, "0:2 1:2 2:2 5:1 8:1 9:2 11:2 ");
        told_calls(expected[with_many]);
        many(patterns + 1, 1, false, most, "0:2 ");
        told_calls(with_many ? "many 2 0 0 0 of 1\n" : "inner 2 0 0 0 order 6\n");
        many(patterns + 3, 1, false, most, "");
        many(patterns, 0, false, most, "");
        told_calls("");
        end();
    }
}

/* A thousand and some at a time. */
static void
very_many_patterns_are_opened_in_turn(void **state)
{
    (void)state;
    enum { MANY = 1500 };
    struct quad_oids *patterns = memory_zero(MANY, sizeof *patterns);
    struct quad_oids found[64];
    uint32_t numbers[64];
    struct reason why = {""};
    struct quad_scan *scan;
    size_t next = 0, n = 1;
    begin_many(true);
    for (size_t i = 0; i < MANY; i++) {
        char iri[40];
        snprintf(iri, sizeof iri, "http://a.example/%zu", i % 3 == 0 ? 1 : 10 + i);
        patterns[i] = (struct quad_oids){.subject = id_of(iri), .graph = graph};
    }
    assert_int_equal(source->scan_many(source->context, patterns, MANY, true, &scan, &why),
                     STATUS_OK);
    while (n > 0) {
        assert_int_equal(source->scan_many_next(scan, found, numbers, 64, &n, &why), STATUS_OK);
        assert_true(n == 2 || next == MANY / 3);
        for (size_t i = 0; i < n; i++) {
            assert_int_equal(numbers[i], 3 * next);
        }
        next += n / 2;
    }
    assert_int_equal(next, MANY / 3);
    source->scan_close(scan);
    /* The record that is known already is not asked for again. */
    told_calls("open\nget 1024: uhttp://a.example/1\nget 318: uhttp://a.example/1034\n");
    end();
    free(patterns);
}

static void
many_patterns_that_fail(void **state)
{
    (void)state;
    begin_many(true);
    const oid one = id_of("http://a.example/1"), own = id_of("http://a.example/");
    const struct quad_oids patterns[] = {{one, 0, 0, graph}, {1, 0, 0, graph}, {2, 0, 0, 0}};
    told.resolves = STATUS_CORRUPT;
    many(patterns, 3, true, 4, "!CORRUPT: the term is damaged");
    told.resolves = STATUS_OK;
    told.inner_scans = STATUS_SYSTEM;
    many(patterns, 3, true, 4, "0:2 !SYSTEM: no scan");
    told.inner_scans = STATUS_OK;
    told.inner_reads = STATUS_SYSTEM;
    many(patterns, 3, true, 4, "0:2 !SYSTEM: no rows");
    told.gets = STATUS_UNAVAILABLE;
    const struct quad_oids others[] = {{own, 0, 0, graph}};
    many(others, 1, true, 4, "!UNAVAILABLE: metadata: the disk is broken");
    told.inner_reads = told.gets = STATUS_OK;
    end();
    begin_many(false);
    const struct quad_oids again[] = {{id_of("http://a.example/1"), 0, 0, graph}, {1, 0, 0, 0}};
    told.inner_reads = STATUS_SYSTEM;
    many(again, 2, true, 4, "0:2 !SYSTEM: no rows");
    told.inner_reads = STATUS_OK;
    told.inner_scans = STATUS_SYSTEM;
    many(again, 2, true, 4, "!SYSTEM: no scan");
    end();
}

static void
which_patterns_are_better_asked_together(void **state)
{
    (void)state;
    begin_many(true);
    many_source.rather_many = NULL;
    assert_true(source->rather_many(source->context, OID_NONE));
    assert_true(source->rather_many(source->context, 4));
    assert_true(source->rather_many(source->context, graph));
    many_source.rather_many = told_rather_many;
    assert_false(source->rather_many(source->context, 4));
    assert_false(source->rather_many(source->context, OID_NONE));
    assert_true(source->rather_many(source->context, graph));
    told.rather = true;
    assert_true(source->rather_many(source->context, 4));
    told_calls("rather 4\nrather 0\nrather 4\n");
    many_source.scan_many = NULL;
    assert_false(source->rather_many(source->context, 4));
    assert_true(source->rather_many(source->context, graph));
    end();
}

/* Before a query has named the graph there is none, also not for patterns of any graph. */
static void
a_graph_that_nobody_named(void **state)
{
    (void)state;
    const struct provenance_settings settings = settings_of(PLENTY);
    provenance = provenance_new(&settings);
    source = provenance_source(provenance);
    assert_false(source->rather_many(source->context, OID_NONE));
    inner_rows(&(struct quad_oids){0}, ORDER_COUNT, 2);
    told_calls("inner 0 0 0 0 order 6\n");
    provenance_free(provenance);
    provenance_free(NULL);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, told_begin, told_end)

int
provenance_calls(void)
{
    const struct CMUnitTest tests[] = {
        CASE(terms_take_memory),
        CASE(other_graphs_are_the_other_source_s),
        CASE(estimates_of_the_graph),
        CASE(many_patterns_are_asked_in_groups),
        CASE(very_many_patterns_are_opened_in_turn),
        CASE(many_patterns_that_fail),
        CASE(which_patterns_are_better_asked_together),
        CASE(a_graph_that_nobody_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
