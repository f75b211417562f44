/* Operators that hand rows on: slices, lookups before a table, unions, options, different rows,
 * inline data, and triples that several graphs have. */
#include <string.h>

#include "base/memory.h"
#include "index/query/operators/duplicates.h"
#include "tests/unit/query_operators/operator_stand.h"

enum { WIDTH = 5 };

static void
give_numbers(struct given *rows, size_t count)
{
    given_init(rows, WIDTH);
    for (oid i = 0; i < count; i++) {
        GIVE(rows, 10 + i, i % 3);
    }
}

static void
slices_have_their_offset_and_limit(void **state)
{
    static const uint64_t bounds[] = {0, 1, 3, 4, 5, 9, 10, 11, UINT64_MAX};
    (void)state;
    for (size_t piece = 1; piece <= 4; piece += 3) {
        for (size_t i = 0; i < 8; i++) {
            for (size_t k = 0; k < 9; k++) {
                const uint64_t offset = bounds[i], limit = bounds[k];
                struct stand stand;
                struct given rows, found;
                stand_open(&stand, "", "SELECT * {}", WIDTH, 0);
                give_numbers(&rows, 10);
                given_init(&found, WIDTH);
                struct operator* slice =
                    slice_new(&stand.run, give_rows(&stand, &rows, piece), offset, limit);
                slice->batch_rows = piece;
                for (int again = 0; again < 2; again++) {
                    const uint64_t left = offset < 10 ? 10 - offset : 0;
                    take_rows(&stand, slice, &found);
                    assert_int_equal(found.count, left < limit ? left : limit);
                    for (size_t at = 0; at < found.count; at++) {
                        assert_memory_equal(given_row(&found, at), given_row(&rows, offset + at),
                                            WIDTH * sizeof(oid));
                    }
                    given_release(&found);
                    operator_reset(slice);
                }
                stand_close(&stand);
                given_release(&rows);
            }
        }
    }
}

/* Rows are looked up until that is as much as was allowed; those of later batches go the other way,
 * also after a reset. */
static void
lookups_come_first(void **state)
{
    static const size_t allowed[] = {0, 1, 3, 4, 6, 7, 100};
    (void)state;
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++) {
        struct stand stand;
        struct given rows, found;
        struct operator* ways[2], *seeds[2];
        stand_open(&stand, "", "SELECT * {}", WIDTH, 0);
        give_numbers(&rows, 9);
        given_init(&found, WIDTH);
        static const struct slot_pair pairs[2] = {{0, 3}, {0, 4}};
        for (int way = 0; way < 2; way++) {
            seeds[way] = seed_new(&stand.run);
            ways[way] = project_new(&stand.run, seeds[way], &pairs[way], 1);
        }
        struct operator* input = give_rows(&stand, &rows, 3);
        struct operator* first = lookup_first_new(&stand.run, input, ways, seeds, allowed[i]);
        first->batch_rows = 3;
        assert_int_equal(first->inner_count, 2);
        assert_true(first->inner[0] == ways[0] && first->inner[1] == ways[1]);
        take_rows(&stand, first, &found);
        operator_reset(first);
        take_rows(&stand, first, &found);
        assert_int_equal(found.count, 18);
        for (size_t at = 0; at < 18; at++) {
            const oid *row = given_row(&found, at);
            const bool second = at / 3 * 3 >= allowed[i];
            assert_int_equal(row[0], 10 + at % 9);
            assert_int_equal(row[3], second ? 0 : row[0]);
            assert_int_equal(row[4], second ? row[0] : 0);
        }
        stand_close(&stand);
        given_release(&rows);
        given_release(&found);
    }
}

/* Each batch goes through every branch; of an option the rows without a match come after. */
static void
branches_get_each_batch(void **state)
{
    (void)state;
    for (size_t piece = 1; piece <= 5; piece++) {
        struct stand stand;
        struct given rows, found, options;
        struct operator* branches[2], *seeds[3];
        static const struct slot_pair pairs[2] = {{0, 3}, {0, 4}};
        stand_open(&stand, "", "SELECT * {}", WIDTH, 0);
        give_numbers(&rows, 12);
        given_init(&found, WIDTH);
        given_init(&options, WIDTH);
        for (int i = 0; i < 2; i++) {
            seeds[i] = seed_new(&stand.run);
            branches[i] = project_new(&stand.run, seeds[i], &pairs[i], 1);
        }
        struct operator* all =
            union_new(&stand.run, give_rows(&stand, &rows, piece), branches, seeds, 2);
        all->batch_rows = piece;
        /* An option that has two matches for each row with 1 in its second column. */
        GIVE(&options, 0, 1, 0, 21);
        GIVE(&options, 0, 1, 0, 22);
        const struct hash_spec spec = {.mode = HASH_JOIN,
                                       .keys = {{1 << 1}},
                                       .built = {{1 << 1 | 1 << 3}},
                                       .weight = NUMBER_NONE};
        seeds[2] = seed_new(&stand.run);
        struct operator* inner =
            hash_join_new(&stand.run, seeds[2], give_rows(&stand, &options, 1), &spec, 3);
        const struct slots none = {{0}};
        struct operator* option = left_join_new(&stand.run, give_rows(&stand, &rows, piece), inner,
                                                seeds[2], 4, &none, 3);
        for (int again = 0; again < 2; again++) {
            take_rows(&stand, all, &found);
            assert_int_equal(found.count, 24);
            for (size_t from = 0, at = 0; from < 12; from += piece) {
                const size_t count = 12 - from < piece ? 12 - from : piece;
                for (size_t i = 0; i < 2 * count; i++) {
                    const oid *row = given_row(&found, at++), number = 10 + from + i % count;
                    assert_int_equal(row[0], number);
                    assert_int_equal(row[3], i < count ? number : 0);
                    assert_int_equal(row[4], i < count ? 0 : number);
                }
            }
            given_release(&found);
            take_rows(&stand, option, &found);
            assert_int_equal(found.count, 16);
            size_t at = 0;
            for (size_t from = 0; from < 12; from += piece) {
                const size_t to = from + piece < 12 ? from + piece : 12;
                for (int matched = 1; matched >= 0; matched--) {
                    for (size_t i = from; i < to; i++) {
                        for (int k = 0; (i % 3 == 1) == matched && k < 1 + matched; k++) {
                            const oid *row = given_row(&found, at++);
                            assert_int_equal(row[0], 10 + i);
                            assert_int_equal(row[1], i % 3);
                            assert_int_equal(row[3] != 0, matched);
                        }
                    }
                }
            }
            given_release(&found);
            operator_reset(all);
            operator_reset(option);
        }
        stand_close(&stand);
        given_release(&rows);
        given_release(&options);
    }
}

/* Each different row comes once, the first of it, also where most are put off into files. */
static void
different_rows_come_once(void **state)
{
    static const uint32_t slots[] = {1, 0};
    (void)state;
    for (size_t turn = 0; turn < 8; turn++) {
        const size_t count = 1 + turn % 2;
        struct stand stand;
        struct given rows, found, wanted;
        stand_open(&stand, "", "SELECT * {}", WIDTH, 1 << 20);
        given_init(&rows, WIDTH);
        given_init(&found, WIDTH);
        given_init(&wanted, WIDTH);
        for (oid i = 0; i < 900; i++) {
            bool again = false;
            const oid row[WIDTH] = {i % 7, i * 5 % 220, 1000 + i};
            for (size_t k = 0; k < wanted.count && !again; k++) {
                const oid *other = given_row(&wanted, k);
                again = other[1] == row[1] && (count == 1 || other[0] == row[0]);
            }
            given_add(&rows, row, WIDTH);
            if (!again) {
                given_add(&wanted, row, WIDTH);
            }
        }
        if (turn >= 4) {
            stand.run.spill.share = 0;
        }
        struct operator* distinct = distinct_new(
            &stand.run, give_rows(&stand, &rows, turn % 4 < 2 ? 1 : 100), slots, count, 100);
        for (int again = 0; again < 2; again++) {
            take_rows(&stand, distinct, &found);
            assert_same_rows(&found, &wanted, "distinct");
            given_release(&found);
            operator_reset(distinct);
        }
        stand_close(&stand);
        given_release(&rows);
        given_release(&wanted);
    }
}

static void
sets_of_graphs_have_their_members(void **state)
{
    static const oid ids[] = {5, 9};
    static const struct {
        struct graphs graphs;
        bool has[3]; /* 5, 9, 7 */
    } cases[] = {
        {{GRAPHS_ALL, ids, 0}, {true, true, true}},
        {{GRAPHS_ONE, ids, 1}, {true, false, false}},
        {{GRAPHS_SET, ids, 2}, {true, true, false}},
        {{GRAPHS_SET, ids, 0}, {false, false, false}},
        {{GRAPHS_ALL_BUT, ids, 1}, {false, true, true}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(graphs_have(&cases[i].graphs, 5), cases[i].has[0]);
        assert_int_equal(graphs_have(&cases[i].graphs, 9), cases[i].has[1]);
        assert_int_equal(graphs_have(&cases[i].graphs, 7), cases[i].has[2]);
    }
}

/* ---- triples that several graphs have ---- */

enum { TRIPLES_MOST = 4000 };

static size_t
read_quads(struct stand *stand, const struct quad_oids *pattern, enum quad_order order,
           struct quad_oids *quads)
{
    const struct quad_source *source = &stand->source;
    struct quad_scan *scan;
    struct reason why = {""};
    size_t count = 0, n = 1;
    assert_int_equal(source->scan(source->context, pattern, order, &scan, &why), STATUS_OK);
    while (n > 0) {
        assert_true(count < TRIPLES_MOST);
        assert_int_equal(source->scan_next(scan, quads + count, 50, &n, &why), STATUS_OK);
        count += n;
    }
    source->scan_close(scan);
    return count;
}

static oid
iri_id(struct stand *stand, const char *iri)
{
    const struct term term = term_iri(slice_string(iri));
    struct reason why = {""};
    oid id;
    assert_int_equal(stand->source.lookup(stand->source.context, &term, &id, &why), STATUS_OK);
    assert_true(id != OID_NONE);
    return id;
}

static bool
same_triple(const struct quad_oids *a, const struct quad_oids *b)
{
    return a->subject == b->subject && a->predicate == b->predicate && a->object == b->object;
}

/* Of each triple the first quad that is read is no double, and each other is: with as much memory
 * as is wanted, with some of it, and with none, when the source is asked. kind 0: of all graphs by
 * subject, 1: of all graphs, 2: of a set. */
static void
check_doubles(const char *trig, unsigned memory, unsigned kind, bool knows_next)
{
    struct quad_oids *quads = memory_alloc(2 * TRIPLES_MOST * sizeof *quads);
    struct stand stand;
    struct reason why = {""};
    struct duplicates duplicates;
    size_t ends[3], doubles = 0;
    stand_open(&stand, trig, "SELECT * {}", WIDTH, 1 << 20);
    const oid ids[3] = {iri_id(&stand, "http://example.org/g2"),
                        iri_id(&stand, "http://example.org/g0"),
                        iri_id(&stand, "http://example.org/g3")};
    const struct graphs graphs = {kind == 2 ? GRAPHS_SET : GRAPHS_ALL, ids, 3};
    if (kind == 2) {
        for (size_t i = 0; i < 3; i++) {
            const struct quad_oids pattern = {.graph = ids[i]};
            const size_t from = i ? ends[i - 1] : 0;
            ends[i] = from + read_quads(&stand, &pattern, ORDER_COUNT, quads + from);
        }
    } else {
        const struct quad_oids pattern = {.predicate = iri_id(&stand, "http://example.org/p0")};
        ends[0] = ends[1] = ends[2] = read_quads(&stand, &pattern, ORDER_POCS, quads);
    }
    const size_t before = stand.run.account.used;
    stand.run.spill.share = memory == 0 ? 1 << 20 : memory == 1 ? before + 4096 : 0;
    duplicates_init(&duplicates, &stand.run, &graphs);
    for (int again = 0; again < 2; again++) {
        duplicates_forget(&duplicates);
        for (size_t i = 0; i < ends[2]; i++) {
            const size_t graph = (i >= ends[0]) + (i >= ends[1]);
            const bool last = i + 1 == ends[graph];
            bool told, wanted = false;
            if (i == 0 || i == ends[0] || i == ends[1]) {
                duplicates_begin(&duplicates,
                                 kind == 0 ? DUPLICATES_BY_SUBJECT : DUPLICATES_ANYWHERE, false);
            }
            for (size_t k = 0; k < i && !wanted; k++) {
                wanted = same_triple(&quads[k], &quads[i]);
            }
            assert_int_equal(duplicates_find(&duplicates, &quads[i],
                                             knows_next && !last ? &quads[i + 1] : NULL,
                                             kind == 2 ? graph : 0, &told, &why),
                             STATUS_OK);
            if (told != wanted) {
                fail_msg("kind %u, memory %u: quad %zu of %zu", kind, memory, i, ends[2]);
            }
            doubles += wanted;
        }
    }
    assert_in_range(doubles, 100, 2 * ends[2] - 100);
    if (memory != 1) {
        assert_int_equal(stand.run.report.scans > 0, memory == 2);
        assert_int_equal(duplicates.asks, memory == 2);
    }
    duplicates_release(&duplicates);
    assert_int_equal(stand.run.account.used, before);
    stand_close(&stand);
    free(quads);
}

static void
doubles_are_told(void **state)
{
    struct buf trig;
    uint64_t seed = 5;
    (void)state;
    buf_init(&trig, 1 << 20);
    (void)buf_append_string(&trig, "@prefix : <http://example.org/> .\n");
    for (unsigned i = 0; i < 1600; i++) {
        seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        const unsigned number = (unsigned)(seed >> 33) % 1000;
        (void)buf_printf(&trig, ":g%u { :s%u :p%u :o%u }\n", i % 4, number % 200, number % 5 / 4,
                         number / 500);
    }
    for (unsigned turn = 0; turn < 18; turn++) {
        check_doubles(trig.data, turn % 3, turn / 3 % 3, turn / 9);
    }
    buf_release(&trig);
}

/* ---- inline data ---- */

#define VALUED "SELECT * { VALUES (?a ?b) { (1 2) (1 UNDEF) (UNDEF 3) (4 5) } }"

static const struct algebra *
values_of(const struct algebra *algebra)
{
    while (algebra->kind != ALGEBRA_VALUES) {
        algebra = algebra->left ? algebra->left : algebra->right;
    }
    return algebra;
}

/* Each row of the input with each of the data that it agrees with, what is undefined agreeing with
 * all. */
static void
data_is_joined_with_each_row(void **state)
{
    static const size_t batches[] = {1, 3, 4, 100};
    (void)state;
    for (size_t turn = 0; turn < 8; turn++) {
        struct stand stand;
        struct given rows, found, wanted;
        stand_open(&stand, "", VALUED, WIDTH, 0);
        given_init(&rows, WIDTH);
        given_init(&found, WIDTH);
        given_init(&wanted, WIDTH);
        const struct algebra *values = values_of(stand.query->algebra);
        assert_true(values->slot_count == 2 && values->row_count == 4);
        const uint32_t a = values->slots[0], b = values->slots[1];
        const oid *ids = stand.run.constants;
        for (size_t i = 0; i < 12; i++) {
            static const size_t firsts[] = {SIZE_MAX, 0, 6, 1};
            oid row[WIDTH] = {0};
            const size_t first = firsts[i % 4];
            row[WIDTH - 1] = 1 + i;
            row[a] = first == SIZE_MAX ? 0 : ids[values->constants[first]];
            row[b] = i / 4 == 0 ? 0 : ids[values->constants[i / 4 == 1 ? 1 : 5]];
            given_add(&rows, row, WIDTH);
            for (size_t k = 0; k < 4; k++) {
                const uint32_t *cells = values->constants + 2 * k;
                const oid left = cells[0] == NUMBER_NONE ? 0 : ids[cells[0]];
                const oid right = cells[1] == NUMBER_NONE ? 0 : ids[cells[1]];
                oid merged[WIDTH];
                memcpy(merged, row, sizeof merged);
                if ((left && row[a] && left != row[a]) || (right && row[b] && right != row[b])) {
                    continue;
                }
                merged[a] = left ? left : row[a];
                merged[b] = right ? right : row[b];
                given_add(&wanted, merged, WIDTH);
            }
        }
        struct operator* operator=
            values_new(&stand.run, give_rows(&stand, &rows, 5), values, batches[turn % 4]);
        if (turn >= 4) {
            struct batch *batch;
            struct reason why = {""};
            assert_int_equal(operator_next(operator, & batch, &why), STATUS_OK);
            operator_reset(operator);
        }
        take_rows(&stand, operator, & found);
        assert_same_rows(&found, &wanted, "values");
        stand_close(&stand);
        given_release(&rows);
        given_release(&found);
        given_release(&wanted);
    }
}

/* Data that agrees with no row makes none; the deadline is looked at once in 4096 pairs. */
static void
joining_data_can_be_cancelled(void **state)
{
    struct stand stand;
    struct given rows;
    struct batch *batch;
    struct reason why = {""};
    (void)state;
    stand_open(&stand, "", "SELECT * { VALUES ?a { 1 2 3 4 } }", WIDTH, 0);
    given_init(&rows, WIDTH);
    for (unsigned i = 0; i < 2047; i++) {
        GIVE(&rows, 1, 1, 1);
    }
    given_row(&rows, 0)[0] = 2;
    const struct algebra *values = values_of(stand.query->algebra);
    assert_int_equal(values->slots[0], 0);
    for (int more = 0; more < 2; more++) {
        struct operator* operator= values_new(&stand.run, give_rows(&stand, &rows, 256), values, 8);
        assert_int_equal(operator_next(operator, & batch, &why), STATUS_OK);
        assert_int_equal(batch->count, 0);
        assert_int_equal(stand.checks, more ? 3 : 1);
        GIVE(&rows, 1);
    }
    stand.cancel = true;
    assert_int_equal(operator_next(values_new(&stand.run, give_rows(&stand, &rows, 256), values, 8),
                                   &batch, &why),
                     STATUS_CANCELLED);
    stand_close(&stand);
    given_release(&rows);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slices_have_their_offset_and_limit),
        cmocka_unit_test(lookups_come_first),
        cmocka_unit_test(branches_get_each_batch),
        cmocka_unit_test(different_rows_come_once),
        cmocka_unit_test(doubles_are_told),
        cmocka_unit_test(data_is_joined_with_each_row),
        cmocka_unit_test(joining_data_can_be_cancelled),
        cmocka_unit_test(sets_of_graphs_have_their_members),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
