/* The tree "statistics" by its records (index/statistics/): sets of predicates as they are written,
 * changed, estimated with and found malformed, and the counts beside them. */
#include "tests/unit/index_parts/index_parts.h"

#include "tests/unit/index_parts/statistics_fixture.h"

#include "base/varint.h"
#include "tests/unit/memory_in_use.h"

static struct characteristic_sets *sets;

int
open_statistics(void **state)
{
    if (open_tree(state) != 0) {
        return -1;
    }
    must(characteristic_sets_open(&sets, tree, &why), &why);
    return 0;
}

int
close_statistics(void **state)
{
    characteristic_sets_close(sets);
    sets = NULL;
    return close_tree(state);
}

/* ---- records that are wrong ---- */

/* Writes numbers as the record, and tells how reading the sets goes then. */
static enum status
reload_with(struct slice key, const uint64_t *numbers, size_t n)
{
    uint8_t value[100 * VARINT_MAXIMUM], *at = value;
    for (size_t i = 0; i < n; i++) {
        at = varint_put(at, numbers[i]);
    }
    put_bytes(key, value, (size_t)(at - value));
    const enum status status = characteristic_sets_reload(sets, &why);
    remove_key(key);
    return status;
}

void
malformed_sets_are_refused(void **state)
{
    uint8_t bytes[STATISTIC_KEY_SIZE];
    const struct slice key = statistic_key(STATISTIC_SET, 7, bytes);
    const uint64_t good[] = {3, 2, 5, 10, 8, 20};
    uint64_t wrong[100] = {3, SET_PREDICATES_MOST};
    (void)state;
    assert_int_equal(reload_with(key, good, 6), STATUS_OK);
    for (size_t n = 0; n < 6; n++) {
        assert_int_equal(reload_with(key, good, n), STATUS_CORRUPT);
    }
    for (size_t i = 2; i < 100; i++) {
        wrong[i] = 8;
    }
    assert_int_equal(reload_with(key, wrong, 2 + 2 * SET_PREDICATES_MOST), STATUS_OK);
    assert_int_equal(reload_with(key, wrong, 3 + 2 * SET_PREDICATES_MOST), STATUS_CORRUPT);
    wrong[1]++;
    assert_int_equal(reload_with(key, wrong, 4 + 2 * SET_PREDICATES_MOST), STATUS_CORRUPT);
    const uint64_t none[] = {3, 0}, first_is_0[] = {3, 1, 0, 1}, again[] = {3, 2, 8, 1, 0, 1},
                   back[] = {3, 2, 8, 1, UINT64_MAX - 3, 1};
    assert_int_equal(reload_with(key, none, 2), STATUS_CORRUPT);
    assert_int_equal(reload_with(key, first_is_0, 4), STATUS_OK);
    assert_int_equal(reload_with(key, again, 6), STATUS_CORRUPT);
    assert_int_equal(reload_with(key, back, 6), STATUS_CORRUPT);
    assert_int_equal(reload_with(SLICE("S1234567"), good, 6), STATUS_CORRUPT);
    assert_int_equal(reload_with(SLICE("S123456789"), good, 6), STATUS_CORRUPT);
    /* What comes after the sets is none. */
    assert_int_equal(reload_with(SLICE("T1234567"), good, 6), STATUS_OK);
    /* Two records of one set are one too many. */
    uint8_t other[STATISTIC_KEY_SIZE], value[] = {3, 1, 5, 1};
    put_bytes(key, value, sizeof value);
    const uint64_t one[] = {1, 1, 5, 1}, different[] = {1, 1, 6, 1};
    assert_int_equal(reload_with(statistic_key(STATISTIC_SET, 9, other), one, 4), STATUS_CORRUPT);
    assert_int_equal(reload_with(statistic_key(STATISTIC_SET, 9, other), different, 4), STATUS_OK);
    remove_key(key);
    const uint64_t three[] = {1, 2, 3};
    assert_int_equal(reload_with(SLICE("S"), three, 2), STATUS_OK);
    assert_int_equal(reload_with(SLICE("S"), three, 1), STATUS_CORRUPT);
    assert_int_equal(reload_with(SLICE("S"), three, 3), STATUS_CORRUPT);
}

/* ---- changes ---- */

/* Applies one set's difference: its predicates are first, first + step, ... with so many rows each.
 */
static enum status
change(unsigned first, unsigned step, size_t count, int64_t subjects, int64_t rows)
{
    struct predicate_sets differences = {0};
    oid predicates[SET_PREDICATES_MOST + 1];
    for (size_t i = 0; i < count; i++) {
        predicates[i] = predicate(first + step * (unsigned)i);
    }
    struct predicate_set *set = predicate_sets_add(&differences, predicates, count);
    set->subjects = subjects;
    for (size_t i = 0; i < count; i++) {
        differences.rows[set->first + i] = rows;
    }
    struct transaction *transaction = begun();
    const enum status status = characteristic_sets_apply(sets, transaction, &differences, &why);
    if (status == STATUS_OK) {
        must(transaction_commit(transaction, &why), &why);
    } else {
        transaction_abort(transaction);
        must(characteristic_sets_reload(sets, &why), &why);
    }
    predicate_sets_release(&differences);
    return status;
}

/* Now, and after everything was read again. */
static void
expect_totals(uint64_t held, uint64_t subjects, uint64_t large, uint64_t other)
{
    for (int i = 0; i < 2; i++) {
        struct characteristic_totals totals;
        characteristic_sets_totals(sets, &totals);
        assert_int_equal(totals.sets, held);
        assert_int_equal(totals.subjects, subjects);
        assert_int_equal(totals.large, large);
        assert_int_equal(totals.other, other);
        if (i == 0) {
            must(characteristic_sets_reload(sets, &why), &why);
        }
    }
}

/* How many subjects the record with the number has; -1: there is none. */
static int64_t
subjects_of_record(uint64_t number)
{
    uint8_t key[STATISTIC_KEY_SIZE], value[1000];
    size_t length = sizeof value;
    uint64_t subjects = 0;
    const enum status status =
        tree_get(tree, NULL, statistic_key(STATISTIC_SET, number, key), value, &length, &why);
    if (status == STATUS_NOT_FOUND) {
        return -1;
    }
    must(status, &why);
    assert_non_null(varint_get(value, value + length, &subjects));
    return (int64_t)subjects;
}

void
sets_change_by_differences(void **state)
{
    (void)state;
    assert_int_equal(change(1, 1, 2, 5, 6), STATUS_OK);
    assert_int_equal(change(1, 1, 3, 2, 2), STATUS_OK);
    assert_int_equal(change(1, 1, 4, 0, 0), STATUS_OK); /* which is none */
    expect_totals(2, 7, 0, 0);
    assert_int_equal(subjects_of_record(1), 5);
    assert_int_equal(subjects_of_record(2), 2);
    assert_int_equal(subjects_of_record(3), -1);
    assert_int_equal(change(1, 1, 2, -2, -3), STATUS_OK);
    assert_int_equal(change(1, 1, 2, 0, 1), STATUS_OK); /* only rows */
    assert_int_equal(subjects_of_record(1), 3);
    expect_totals(2, 5, 0, 0);
    /* There are 3 subjects with 4 rows of each predicate. */
    assert_int_equal(change(1, 1, 2, -4, -4), STATUS_CORRUPT);
    assert_int_equal(change(1, 1, 2, -3, -5), STATUS_CORRUPT);
    expect_totals(2, 5, 0, 0);
    assert_int_equal(change(1, 1, 2, -3, -4), STATUS_OK);
    expect_totals(1, 2, 0, 0);
    assert_int_equal(subjects_of_record(1), 0); /* it stays until room is needed */
    assert_int_equal(change(1, 1, 2, 1, 1), STATUS_OK);
    assert_int_equal(subjects_of_record(1), 1);
    assert_int_equal(change(5, 1, 1, 1, 1), STATUS_OK);
    assert_int_equal(subjects_of_record(3), 1);
    /* While there is room, a new set takes that of no other. */
    assert_int_equal(change(5, 1, 1, -1, -1), STATUS_OK);
    assert_int_equal(change(6, 1, 1, 1, 1), STATUS_OK);
    assert_int_equal(subjects_of_record(3), 0);
    assert_int_equal(subjects_of_record(4), 1);
    /* A set that is not there has nothing to lose. */
    assert_int_equal(change(8, 1, 2, -1, -1), STATUS_CORRUPT);
    expect_totals(3, 4, 0, 0);
}

void
subjects_of_large_sets_are_only_counted(void **state)
{
    (void)state;
    assert_int_equal(change(1, 1, SET_PREDICATES_MOST, 1, 1), STATUS_OK);
    expect_totals(1, 1, 0, 0);
    assert_int_equal(change(1, 1, SET_PREDICATES_MOST + 1, 3, 3), STATUS_OK);
    expect_totals(1, 4, 3, 0);
    assert_int_equal(change(2, 1, SET_PREDICATES_MOST + 1, -2, -2), STATUS_OK);
    expect_totals(1, 2, 1, 0);
    assert_int_equal(change(2, 1, SET_PREDICATES_MOST + 1, -2, -2), STATUS_CORRUPT);
    expect_totals(1, 2, 1, 0);
    assert_int_equal(change(2, 1, SET_PREDICATES_MOST + 1, -1, -1), STATUS_OK);
    expect_totals(1, 1, 0, 0);
}

/* ---- estimates ---- */

static void
put_count(unsigned number, uint64_t quads, uint64_t subjects)
{
    uint8_t key[STATISTIC_KEY_SIZE];
    const uint64_t numbers[] = {quads, subjects};
    struct transaction *transaction = begun();
    must(statistics_write(tree, transaction,
                          statistic_key(STATISTIC_PREDICATE, predicate(number), key), numbers, 2,
                          &why),
         &why);
    must(transaction_commit(transaction, &why), &why);
}

static void
expect_star(const unsigned *numbers, size_t count, double subjects, double rows)
{
    oid predicates[10];
    double s = -1, r = -1;
    for (size_t i = 0; i < count; i++) {
        predicates[i] = predicate(numbers[i]);
    }
    for (int i = 0; i < 2; i++) { /* the second time it may be kept */
        must(characteristic_sets_estimate(sets, predicates, count, &s, &r, &why), &why);
        assert_true(s > subjects - 1e-6 && s < subjects + 1e-6);
        assert_true(r > rows - 1e-6 && r < rows + 1e-6);
    }
}

/* Predicates 1 and 65 have one place among what is kept of predicates. Sets: 4 subjects with 1 and
 * 2, 3 rows each of both; 2 subjects with 1, 2, 3. */
void
stars_are_estimated_by_sets_and_by_the_rest(void **state)
{
    static const unsigned one[] = {1}, two[] = {2}, three[] = {3}, both[] = {1, 2},
                          all[] = {1, 2, 3}, twice[] = {1, 1}, far[] = {65}, none[] = {9},
                          many[] = {1, 2, 1, 2, 1, 2, 1};
    (void)state;
    assert_int_equal(change(1, 1, 2, 4, 12), STATUS_OK);
    assert_int_equal(change(1, 1, 3, 2, 2), STATUS_OK);
    expect_star(one, 1, 6, 14);
    expect_star(two, 1, 6, 14);
    expect_star(three, 1, 2, 2);
    expect_star(both, 2, 6, 4 * 9 + 2);
    expect_star(all, 3, 2, 2);
    expect_star(twice, 2, 6, 4 * 9 + 2);
    expect_star(none, 1, 0, 0);
    expect_star(many, 7, 6, 4 * 2187 + 2);
    /* Ten subjects more are in no set: 5 of them with predicate 1, 10 with 65, none with others. */
    assert_int_equal(change(100, 1, SET_PREDICATES_MOST + 1, 10, 10), STATUS_OK);
    put_count(1, 14 + 20, 6 + 5);
    put_count(2, 14, 6);
    put_count(3, 2, 2);
    put_count(65, 40, 10);
    for (int i = 0; i < 2; i++) {
        expect_star(one, 1, 6 + 5, 14 + 20);
        expect_star(far, 1, 10, 40);
    }
    expect_star(both, 2, 6, 4 * 9 + 2);
    expect_star(three, 1, 2, 2);
    expect_star(twice, 2, 6 + 2.5, 4 * 9 + 2 + 40);
    static const unsigned together[] = {1, 65};
    expect_star(together, 2, 5, 10 * 2.0 * 4.0);
    /* A change makes all estimates anew. */
    assert_int_equal(change(100, 1, SET_PREDICATES_MOST + 1, 10, 10), STATUS_OK);
    put_count(1, 14 + 40, 6 + 10);
    assert_int_equal(change(3, 1, 1, 1, 1), STATUS_OK);
    put_count(3, 3, 3);
    expect_star(one, 1, 6 + 10, 14 + 40);
    expect_star(three, 1, 3, 3);
    put_count(1, 14 + 80, 6 + 20);
    must(characteristic_sets_reload(sets, &why), &why);
    expect_star(one, 1, 6 + 20, 14 + 80);
}

void
sets_with_subjects_are_copied(void **state)
{
    struct predicate_sets copy;
    (void)state;
    assert_int_equal(change(1, 1, 2, 4, 12), STATUS_OK);
    assert_int_equal(change(1, 1, 3, 2, 3), STATUS_OK);
    assert_int_equal(change(1, 1, 2, -4, -12), STATUS_OK);
    characteristic_sets_copy(sets, &copy);
    assert_int_equal(copy.count, 1);
    assert_int_equal(copy.sets[0].count, 3);
    assert_int_equal(copy.sets[0].subjects, 2);
    for (unsigned i = 1; i <= 3; i++) {
        assert_int_equal(*predicate_set_rows(&copy, &copy.sets[0], predicate(i)), 3);
    }
    assert_null(predicate_set_rows(&copy, &copy.sets[0], predicate(4)));
    predicate_sets_release(&copy);
}

static void
open_and_close(void)
{
    struct characteristic_sets *opened;
    struct predicate_sets copy;
    must(characteristic_sets_open(&opened, tree, &why), &why);
    must(characteristic_sets_reload(opened, &why), &why);
    characteristic_sets_copy(opened, &copy);
    assert_int_equal(copy.count, 2);
    predicate_sets_release(&copy);
    characteristic_sets_close(opened);
}

void
sets_are_freed(void **state)
{
    (void)state;
    assert_int_equal(change(1, 1, 2, 4, 12), STATUS_OK);
    assert_int_equal(change(1, 1, 3, 2, 3), STATUS_OK);
    assert_true(leaves_no_memory(open_and_close));
}

/* ---- counts ---- */

/* They are gone through in order, whatever else the tree has. */
void
counts_are_gone_through(void **state)
{
    static const unsigned numbers[] = {3, 7, 8, 1000};
    struct statistic_count count;
    uint8_t bytes[STATISTIC_KEY_SIZE];
    oid id = OID_NONE;
    (void)state;
    assert_int_equal(statistics_next(tree, STATISTIC_PREDICATE, &id, &count, &why), STATUS_END);
    for (unsigned i = 0; i < 4; i++) {
        put_count(numbers[i], 10 + i, 20 + i);
    }
    put_bytes(statistic_key(STATISTIC_CLASS, predicate(5), bytes), "\x09", 1);
    for (unsigned i = 0; i < 4; i++) {
        must(statistics_next(tree, STATISTIC_PREDICATE, &id, &count, &why), &why);
        assert_int_equal(id, predicate(numbers[i]));
        assert_int_equal(count.quads, 10 + i);
        assert_int_equal(count.subjects, 20 + i);
    }
    assert_int_equal(statistics_next(tree, STATISTIC_PREDICATE, &id, &count, &why), STATUS_END);
    id = OID_NONE;
    must(statistics_next(tree, STATISTIC_CLASS, &id, &count, &why), &why);
    assert_int_equal(id, predicate(5));
    assert_int_equal(count.quads, 9);
    assert_int_equal(count.subjects, 0);
    assert_int_equal(statistics_next(tree, STATISTIC_CLASS, &id, &count, &why), STATUS_END);
    must(statistics_count(tree, STATISTIC_CLASS, predicate(5), &count, &why), &why);
    assert_int_equal(count.quads, 9);
    must(statistics_count(tree, STATISTIC_PREDICATE, predicate(5), &count, &why), &why);
    assert_int_equal(count.quads, 0);
    assert_int_equal(count.subjects, 0);
    put_bytes(SLICE("C\x7f"), "\x09", 1);
    assert_int_equal(statistics_next(tree, STATISTIC_CLASS, &id, &count, &why), STATUS_CORRUPT);
    put_bytes(statistic_key(STATISTIC_CLASS, predicate(5), bytes), "\x09\x09", 2);
    id = OID_NONE;
    assert_int_equal(statistics_next(tree, STATISTIC_CLASS, &id, &count, &why), STATUS_CORRUPT);
    assert_int_equal(statistics_count(tree, STATISTIC_CLASS, predicate(5), &count, &why),
                     STATUS_CORRUPT);
}

void
hosts_are_gone_through(void **state)
{
    struct host_entry entry = {.length = 3};
    uint8_t key[HOST_MAXIMUM + 2] = "H";
    (void)state;
    memset(key + 1, 'x', sizeof key - 1);
    assert_int_equal(statistics_next_host(tree, true, &entry, &why), STATUS_END);
    put_bytes(SLICE("H"), "\x01\x02", 2);
    put_bytes(SLICE("Hq"), "\x03\x04", 2);
    put_bytes(SLICE("Hqq"), "\x05\x06", 2);
    put_bytes(slice_of((char *)key, HOST_MAXIMUM + 1), "\x07\x08", 2);
    static const size_t lengths[] = {0, 1, 2, HOST_MAXIMUM};
    for (unsigned i = 0; i < 4; i++) {
        must(statistics_next_host(tree, i == 0, &entry, &why), &why);
        assert_int_equal(entry.length, lengths[i]);
        assert_memory_equal(entry.name, i < 3 ? "qq" : (char *)key + 1, lengths[i]);
        assert_int_equal(entry.documents, 1 + 2 * i);
        assert_int_equal(entry.quads, 2 + 2 * i);
    }
    put_bytes(slice_of((char *)key, HOST_MAXIMUM + 2), "\x07\x08", 2);
    assert_int_equal(statistics_next_host(tree, false, &entry, &why), STATUS_CORRUPT);
}

void
totals_come_back(void **state)
{
    const struct totals written = {.quads = 1, .documents = 2, .literals = 3, .batches = 4};
    struct totals totals = {.quads = 9, .terms = 9};
    (void)state;
    must(statistics_totals(tree, &totals, &why), &why);
    assert_int_equal(totals.quads + totals.documents + totals.literals + totals.batches, 0);
    struct transaction *transaction = begun();
    must(statistics_put_totals(tree, transaction, &written, &why), &why);
    must(transaction_commit(transaction, &why), &why);
    must(statistics_totals(tree, &totals, &why), &why);
    assert_int_equal(totals.quads, 1);
    assert_int_equal(totals.documents, 2);
    assert_int_equal(totals.literals, 3);
    assert_int_equal(totals.batches, 4);
    assert_int_equal(totals.terms, 0);
    put_bytes(SLICE("T"), "\x01\x02\x03", 3);
    assert_int_equal(statistics_totals(tree, &totals, &why), STATUS_CORRUPT);
}
