/* Where rows come from, and operators that hand them on: the order and ranges of scans, lookups
 * that go on from one another, last objects, answers of partitions, slices, unions and options. */
#include <string.h>

#include "index/query/operators/leaps.h"
#include "index/query/operators/scan_range.h"
#include "tests/unit/query_operators/operator_stand.h"

enum { WIDTH = 5, QUADS_MOST = 3000 };

/* ---- quads of a test in the one order that it is about ---- */

static struct {
    struct quad_oids quads[QUADS_MOST];
    size_t count;
    bool by_object; /* else by subject */
    unsigned scans, closed, skips;
    size_t read;
} array;

struct quad_scan {
    struct quad_oids pattern;
    size_t at;
};

static int
compare_oids(oid a, oid b)
{
    return (a > b) - (a < b);
}

static int
compare_quads(const struct quad_oids *a, const struct quad_oids *b)
{
    const int first = array.by_object ? compare_oids(a->predicate, b->predicate)
                                      : compare_oids(a->subject, b->subject);
    const int second = array.by_object ? compare_oids(a->object, b->object)
                                       : compare_oids(a->predicate, b->predicate);
    return first ? first : second;
}

static enum status
array_scan(void *context, const struct quad_oids *pattern, enum quad_order order,
           struct quad_scan **scan, struct reason *why)
{
    static struct quad_scan only;
    (void)context;
    (void)why;
    assert_int_equal(order, array.by_object ? ORDER_POCS : ORDER_SPOC);
    assert_int_equal(array.scans, array.closed);
    array.scans++;
    only = (struct quad_scan){.pattern = *pattern};
    *scan = &only;
    return STATUS_OK;
}

static enum status
array_next(struct quad_scan *scan, struct quad_oids *rows, size_t most, size_t *n,
           struct reason *why)
{
    (void)why;
    for (*n = 0; *n < most && scan->at < array.count; scan->at++) {
        const struct quad_oids *quad = &array.quads[scan->at];
        if (!scan->pattern.predicate || quad->predicate == scan->pattern.predicate) {
            rows[(*n)++] = *quad;
        }
    }
    array.read += *n;
    return STATUS_OK;
}

static void
array_close(struct quad_scan *scan)
{
    (void)scan;
    array.closed++;
}

static void
array_skip(struct quad_scan *scan, const struct quad_oids *quad)
{
    array.skips++;
    while (scan->at < array.count && compare_quads(&array.quads[scan->at], quad) < 0) {
        scan->at++;
    }
}

static struct quad_source
array_source(bool by_object)
{
    memset(&array, 0, sizeof array);
    array.by_object = by_object;
    return (struct quad_source){.scan = array_scan,
                                .scan_next = array_next,
                                .scan_close = array_close,
                                .scan_skip = array_skip};
}

static void
array_add(oid subject, oid predicate, oid object)
{
    const struct quad_oids quad = {subject, predicate, object, 1};
    assert_true(array.count < QUADS_MOST);
    assert_true(array.count == 0 || compare_quads(&array.quads[array.count - 1], &quad) <= 0);
    array.quads[array.count++] = quad;
}

/* ---- lookups that go on from one another ---- */

/* From the eighth subject on that ascends, one scan serves them all. */
static void
ascending_subjects_share_a_scan(void **state)
{
    (void)state;
    for (oid predicate = 0; predicate < 4; predicate++) {
        for (size_t most = 1; most < 70; most += 1 + most * 2) {
            const struct quad_source source = array_source(false);
            struct leaps leaps = {.source = &source};
            struct reason why = {""};
            for (oid subject = 1; subject < 120; subject++) {
                for (oid i = 0; i < (subject % 10 == 0 ? 150 : subject % 4); i++) {
                    array_add(subject, 1 + (i * 3) / 150 + (subject % 10 ? i : 0), i);
                }
            }
            for (int round = 0; round < 2; round++) {
                unsigned ascents = 0;
                for (oid subject = 2; subject < 130; subject += 1 + subject % 5) {
                    const struct quad_oids pattern = {.subject = subject, .predicate = predicate};
                    struct quad_oids quads[80];
                    bool taken;
                    size_t n, given = 0, wanted = 0;
                    assert_int_equal(leaps_begin(&leaps, &pattern, &taken, &why), STATUS_OK);
                    assert_int_equal(taken, ++ascents >= 8);
                    if (!taken) {
                        continue;
                    }
                    do {
                        assert_int_equal(leaps_next(&leaps, quads, most, &n, &why), STATUS_OK);
                        assert_true(n <= most);
                        for (size_t i = 0; i < n; i++) {
                            assert_true(quads[i].subject == subject &&
                                        (!predicate || quads[i].predicate == predicate));
                        }
                        given += n;
                    } while (n > 0);
                    for (size_t i = 0; i < array.count; i++) {
                        wanted += array.quads[i].subject == subject &&
                                  (!predicate || array.quads[i].predicate == predicate);
                    }
                    assert_int_equal(given, wanted);
                }
                assert_int_equal(array.scans, 1 + (unsigned)round);
            }
            /* What is behind the last subject was not read, nor what lies between two far ones. */
            leaps_end(&leaps);
            assert_int_equal(array.closed, 2);
            assert_true(leaps.open == NULL && leaps.subject == OID_NONE && leaps.ascents == 0);
        }
    }
}

/* A subject that does not ascend ends the row of them; other patterns leave it as it is. */
static void
other_lookups_have_their_own_scans(void **state)
{
    struct quad_source source = array_source(false);
    struct leaps leaps = {.source = &source};
    struct reason why = {""};
    bool taken;
    (void)state;
    for (oid subject = 1; subject < 40; subject++) {
        array_add(subject, 1, 1);
    }
    for (oid subject = 1; subject <= 8; subject++) {
        assert_int_equal(leaps_begin(&leaps, &(struct quad_oids){.subject = subject}, &taken, &why),
                         STATUS_OK);
    }
    assert_true(taken);
    static const struct quad_oids others[] = {{0, 1, 0, 0}, {9, 1, 1, 0}, {9, 1, 0, 1}};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(leaps_begin(&leaps, &others[i], &taken, &why), STATUS_OK);
        assert_false(taken);
    }
    assert_int_equal(leaps_begin(&leaps, &(struct quad_oids){.subject = 9}, &taken, &why),
                     STATUS_OK);
    assert_true(taken);
    assert_int_equal(array.closed, 0);
    assert_int_equal(leaps_begin(&leaps, &(struct quad_oids){.subject = 9}, &taken, &why),
                     STATUS_OK);
    assert_false(taken);
    assert_int_equal(array.closed, 1);
    leaps_end(&leaps);
    source.scan_skip = NULL;
    for (oid subject = 1; subject <= 9; subject++) {
        assert_int_equal(leaps_begin(&leaps, &(struct quad_oids){.subject = subject}, &taken, &why),
                         STATUS_OK);
        assert_false(taken);
    }
    assert_int_equal(array.scans, 1);
}

/* ---- last objects ---- */

/* Behind the object that is found, with it, stand as many as are wanted, and not many more; it is
 * found without reading the others. */
static void
last_objects_are_found_by_halves(void **state)
{
    static const uint64_t wanted[] = {1, 2, 10, 100, 199, 200, 201, 1024, 1025};
    static const size_t times[] = {1, 3, 14};
    (void)state;
    for (size_t turn = 0; turn < 3; turn++) {
        for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
            struct stand stand;
            struct reason why = {""};
            oid from = 1;
            stand_open(&stand, "", "SELECT * {}", WIDTH, 0);
            stand.source = array_source(true);
            array_add(1, 6, 50000);
            array_add(1, 7, 999);
            for (oid object = 0; object < 200; object++) {
                for (oid subject = 0; subject < times[turn]; subject++) {
                    array_add(subject, 7, 1000 + 37 * object);
                }
            }
            array_add(1, 7, 100000);
            const struct oid_span span = {.first = 1000, .low = 1000, .high = 9000, .last = 90000};
            assert_int_equal(last_objects(&stand.run, 7, &span, wanted[i], &from, &why), STATUS_OK);
            if (wanted[i] > 200) {
                assert_int_equal(from, OID_NONE);
            } else {
                const size_t behind = from >= 1000 ? 200 - (from - 1000) / 37 : 0;
                assert_true(from >= 1000 && (from - 1000) % 37 == 0);
                assert_in_range(behind, wanted[i], 4 * wanted[i] + 64);
            }
            assert_int_equal(array.scans, array.closed);
            assert_true(wanted[i] <= 1024 ? stand.checks > 0 : array.scans == 0);
            stand_close(&stand);
        }
    }
}

/* ---- the order and the ranges of scans ---- */

static void
unions_are_read_where_doubles_stand_together(void **state)
{
    static const struct {
        struct quad_oids pattern;
        enum duplicates_kind kind;
        enum quad_order order;
    } orders[] = {
        {{0, 0, 0, 0}, DUPLICATES_SIDE_BY_SIDE, ORDER_SPOC},
        {{5, 0, 0, 0}, DUPLICATES_SIDE_BY_SIDE, ORDER_SPOC},
        {{0, 6, 0, 0}, DUPLICATES_BY_SUBJECT, ORDER_POCS},
        {{0, 6, 7, 0}, DUPLICATES_BY_SUBJECT, ORDER_POCS},
        {{5, 6, 0, 0}, DUPLICATES_SIDE_BY_SIDE, ORDER_SPOC},
        {{0, 0, 7, 0}, DUPLICATES_SIDE_BY_SIDE, ORDER_OSPC},
        {{5, 0, 7, 0}, DUPLICATES_SIDE_BY_SIDE, ORDER_OSPC},
        {{5, 6, 7, 0}, DUPLICATES_SIDE_BY_SIDE, ORDER_SPOC},
    };
    static const oid ids[] = {8, 9};
    (void)state;
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        for (unsigned turn = 0; turn < 48; turn++) {
            static const enum quad_order wishes[] = {ORDER_COUNT, ORDER_POCS, ORDER_CSPO};
            const struct scan_spec spec = {.graph = {.kind = turn % 2 ? PLACE_SLOT : PLACE_NONE},
                                           .graphs = {.kind = turn / 2 % 4 == 0   ? GRAPHS_ALL
                                                              : turn / 2 % 4 == 1 ? GRAPHS_ONE
                                                                                  : GRAPHS_SET,
                                                      .ids = ids,
                                                      .count = turn / 2 % 4 == 0   ? 0
                                                               : turn / 2 % 4 == 3 ? 2
                                                                                   : 1},
                                           .duplicates = turn / 8 % 2,
                                           .order = wishes[turn / 16],
                                           .any_predicate = turn % 3 == 0};
            struct quad_oids pattern = orders[i].pattern;
            enum quad_order order;
            const enum duplicates_kind kind = scan_order(&spec, &pattern, &order);
            enum duplicates_kind wanted = DUPLICATES_NONE;
            enum quad_order read = ORDER_COUNT;
            if (turn % 2 == 0 && turn / 2 % 4 > 0) {
                wanted = turn / 2 % 4 == 3 ? DUPLICATES_ANYWHERE : DUPLICATES_NONE;
            } else if (turn % 2 == 0 && !spec.duplicates) {
                wanted = spec.order == ORDER_CSPO ? DUPLICATES_SIDE_BY_SIDE : orders[i].kind;
                read = orders[i].order;
            }
            const bool wishes_one = spec.order != ORDER_COUNT;
            assert_int_equal(kind, wanted);
            assert_int_equal(order, wishes_one ? spec.order : read);
            assert_int_equal(pattern.predicate,
                             wishes_one && spec.any_predicate ? 0 : orders[i].pattern.predicate);
            assert_true(pattern.subject == orders[i].pattern.subject &&
                        pattern.object == orders[i].pattern.object);
        }
    }
}

static struct {
    enum status status;
    unsigned place, asked;
    struct quad_oids pattern;
    enum quad_order order;
    size_t most;
} division;

static enum status
divide(void *context, const struct quad_oids *pattern, enum quad_order order,
       struct quad_cuts *cuts, struct reason *why)
{
    (void)context;
    division.asked++;
    division.pattern = *pattern;
    division.order = order;
    division.most = cuts->count;
    cuts->place = division.place;
    cuts->count = 2;
    return division.status == STATUS_OK ? STATUS_OK
                                        : status_fail(why, division.status, "not divided");
}

#define DIVIDED "PREFIX : <http://example.org/> SELECT * { ?s :p ?o . ?x ?y :b . ?s :none ?x }"

static void
scans_are_cut_where_doubles_stay_together(void **state)
{
    static const oid ids[] = {8, 9};
    static const struct {
        size_t pattern;
        enum graph_kind graphs;
        size_t count;
        bool slot, duplicates;
        enum scan_key key;
        unsigned place;
        enum status status, told;
        size_t cuts;
        uint32_t column; /* 0 subject .. 3 graph, 4: none */
        bool asked;
    } cases[] = {
        {0, GRAPHS_ALL, 0, false, true, 0, 2, STATUS_OK, STATUS_OK, 2, 2, true},
        {0, GRAPHS_ALL, 0, false, true, 0, 0, STATUS_OK, STATUS_OK, 2, 0, true},
        {0, GRAPHS_ALL, 0, false, true, 0, 3, STATUS_OK, STATUS_OK, 2, 4, true},
        {0, GRAPHS_ALL, 0, false, false, 0, 2, STATUS_OK, STATUS_OK, 2, 2, true},
        {0, GRAPHS_ALL, 0, false, false, 0, 3, STATUS_OK, STATUS_OK, 0, 4, true},
        {0, GRAPHS_ALL, 0, false, false, 0, 0, STATUS_OK, STATUS_OK, 0, 4, true},
        {1, GRAPHS_ALL, 0, false, false, 0, 0, STATUS_OK, STATUS_OK, 2, 0, true},
        {1, GRAPHS_ALL, 0, false, false, 0, 1, STATUS_OK, STATUS_OK, 2, 1, true},
        {1, GRAPHS_ALL, 0, false, false, 0, 3, STATUS_OK, STATUS_OK, 0, 4, true},
        {0, GRAPHS_ALL, 0, true, false, 0, 3, STATUS_OK, STATUS_OK, 2, 3, true},
        {0, GRAPHS_SET, 2, true, false, 0, 2, STATUS_OK, STATUS_OK, 2, 2, true},
        {0, GRAPHS_ONE, 1, false, false, 0, 0, STATUS_OK, STATUS_OK, 2, 0, true},
        {0, GRAPHS_SET, 2, false, true, 0, 2, STATUS_OK, STATUS_OK, 0, 4, false},
        {0, GRAPHS_ALL_BUT, 1, false, true, 0, 2, STATUS_OK, STATUS_OK, 0, 4, false},
        {0, GRAPHS_ALL, 0, false, true, SCAN_KEY_SUBJECT, 2, STATUS_OK, STATUS_OK, 0, 4, false},
        {2, GRAPHS_ALL, 0, false, true, 0, 2, STATUS_OK, STATUS_OK, 0, 4, false},
        {0, GRAPHS_ALL, 0, false, true, 0, 2, STATUS_UNSUPPORTED, STATUS_OK, 0, 4, true},
        {0, GRAPHS_ALL, 0, false, true, 0, 2, STATUS_SYSTEM, STATUS_SYSTEM, 0, 4, true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct stand stand;
        struct reason why = {""};
        stand_open(&stand, "@prefix : <http://example.org/> . :a :p :b .", DIVIDED, WIDTH, 0);
        stand.source.divide = divide;
        memset(&division, 0, sizeof division);
        division.place = cases[i].place;
        division.status = cases[i].status;
        const struct algebra *algebra = stand.query->algebra;
        while (algebra->kind != ALGEBRA_PATTERNS) {
            algebra = algebra->left;
        }
        const struct pattern *pattern = &algebra->patterns[cases[i].pattern];
        const struct place graph = {cases[i].slot ? PLACE_SLOT : PLACE_NONE, WIDTH - 1};
        const struct scan_spec spec = {.pattern = *pattern,
                                       .graphs = {cases[i].graphs, ids, cases[i].count},
                                       .graph = graph,
                                       .duplicates = cases[i].duplicates,
                                       .order = ORDER_COUNT,
                                       .key = cases[i].key,
                                       .weight = NUMBER_NONE};
        struct operator* scan = scan_new(&stand.run, unit_new(&stand.run), &spec, 8);
        struct operator* second = scan_new(&stand.run, scan, &spec, 8);
        struct quad_cuts cuts = {.count = 9};
        uint32_t slot = NUMBER_NONE;
        assert_int_equal(scan_divide(scan, &cuts, &slot, &why), cases[i].told);
        assert_int_equal(cuts.count, cases[i].cuts);
        assert_int_equal(division.asked, cases[i].asked);
        const struct place places[] = {pattern->subject, pattern->predicate, pattern->object,
                                       graph};
        if (cases[i].cuts) {
            assert_int_equal(slot,
                             cases[i].column == 4 ? NUMBER_NONE : places[cases[i].column].number);
        }
        if (cases[i].asked) {
            assert_int_equal(division.most, 9);
            assert_int_equal(division.pattern.subject, OID_NONE);
            assert_int_equal(division.pattern.predicate != OID_NONE, cases[i].pattern == 0);
            assert_int_equal(division.pattern.object != OID_NONE, cases[i].pattern == 1);
            assert_int_equal(division.pattern.graph,
                             cases[i].graphs == GRAPHS_ONE ? ids[0] : OID_NONE);
        }
        /* Only what begins a pipeline is cut, and by a source that can. */
        cuts.count = 9;
        assert_int_equal(scan_divide(second, &cuts, &slot, &why), STATUS_OK);
        assert_int_equal(cuts.count, 0);
        stand.source.divide = NULL;
        cuts.count = 9;
        assert_int_equal(scan_divide(scan, &cuts, &slot, &why), STATUS_OK);
        assert_int_equal(cuts.count, 0);
        assert_int_equal(division.asked, cases[i].asked);
        stand_close(&stand);
    }
}

static void
objects_are_picked(void **state)
{
    static const struct triple_count objects[] = {{3, 1}, {5, 1}, {8, 1}, {20, 1}};
    static const oid read[] = {1, 3, 3, 4, 5, 6, 7, 8, 8, 9};
    struct quad_oids quads[10];
    (void)state;
    for (size_t count = 0; count <= 10; count++) {
        size_t at = 0, kept = 0;
        for (size_t i = 0; i < count; i++) {
            quads[i] = (struct quad_oids){100 + i, 2, read[i], 1};
        }
        const size_t picked = scan_pick_objects(objects, 4, &at, quads, count);
        for (size_t i = 0; i < count; i++) {
            if (read[i] == 3 || read[i] == 5 || read[i] == 8) {
                assert_int_equal(quads[kept].subject, 100 + i);
                assert_int_equal(quads[kept++].object, read[i]);
            }
        }
        assert_int_equal(picked, kept);
        const oid last = count ? read[count - 1] : 0;
        assert_int_equal(at, last > 8 ? 3 : last > 5 ? 2 : last > 3 ? 1 : 0);
    }
}

/* ---- answers of partitions ---- */

struct share_scan {
    size_t at;
};
static struct {
    struct share_scan scan;
    size_t rows, columns;
    unsigned opened, closed;
} partitions;

static enum status
share(void *context, const struct share_request *request, struct share_scan **scan,
      struct reason *why)
{
    (void)context;
    (void)why;
    partitions.opened++;
    partitions.columns = request->columns;
    partitions.scan.at = 0;
    *scan = &partitions.scan;
    return STATUS_OK;
}

static enum status
share_rows(struct share_scan *scan, oid *rows, size_t most, size_t *n, struct reason *why)
{
    (void)why;
    const size_t left = partitions.rows - scan->at;
    *n = left < most ? left : most;
    for (size_t i = 0; i < *n * partitions.columns; i++) {
        rows[i] = 100 * (scan->at + i / partitions.columns) + i % partitions.columns + 1;
    }
    scan->at += *n;
    return STATUS_OK;
}

static void
share_close(struct share_scan *scan)
{
    assert_ptr_equal(scan, &partitions.scan);
    partitions.closed++;
}

static void
partitions_answer_in_columns(void **state)
{
    static const uint32_t columns[] = {3, 0};
    (void)state;
    for (size_t rows = 0; rows < 20; rows += 1 + rows / 2) {
        for (size_t wide = 0; wide <= 2; wide += 2) {
            struct stand stand;
            struct given found;
            struct batch *batch;
            struct reason why = {""};
            stand_open(&stand, "", "SELECT * {}", WIDTH, 0);
            given_init(&found, WIDTH);
            memset(&partitions, 0, sizeof partitions);
            partitions.rows = rows;
            stand.source.share = share;
            stand.source.share_next = share_rows;
            stand.source.share_close = share_close;
            stand.run.base_row[2] = 77;
            const struct share_request request = {.columns = wide};
            struct operator* operator= share_new(&stand.run, &request, columns, 4);
            for (unsigned again = 1; again <= 2; again++) {
                take_rows(&stand, operator, & found);
                assert_int_equal(found.count, rows);
                for (size_t i = 0; i < rows; i++) {
                    const oid *row = given_row(&found, i);
                    assert_int_equal(row[3], wide ? 100 * i + 1 : 0);
                    assert_int_equal(row[0], wide ? 100 * i + 2 : 0);
                    assert_true(row[1] == 0 && row[2] == 77);
                }
                assert_true(partitions.opened == again && partitions.closed == again);
                assert_int_equal(stand.run.report.scanned, again * rows);
                assert_int_equal(stand.run.report.scans, again);
                given_release(&found);
                operator_reset(operator);
            }
            /* What is given up in the midst is closed once. */
            assert_int_equal(operator_next(operator, & batch, &why), STATUS_OK);
            operator_reset(operator);
            assert_int_equal(partitions.closed, 3);
            stand.cancel = true;
            assert_int_equal(operator_next(operator, & batch, &why), STATUS_CANCELLED);
            assert_int_equal(partitions.opened, 3);
            stand_close(&stand);
            assert_int_equal(partitions.closed, 3);
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ascending_subjects_share_a_scan),
        cmocka_unit_test(other_lookups_have_their_own_scans),
        cmocka_unit_test(last_objects_are_found_by_halves),
        cmocka_unit_test(unions_are_read_where_doubles_stand_together),
        cmocka_unit_test(scans_are_cut_where_doubles_stay_together),
        cmocka_unit_test(objects_are_picked),
        cmocka_unit_test(partitions_answer_in_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
