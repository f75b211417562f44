/* Joins give what the pairs of all rows of both sides give, with little memory as with much, in
 * small batches as in large ones, and again after a reset. */
#include <string.h>

#include "base/memory.h"
#include "index/query/operators/hash_join.h"
#include "tests/unit/query_operators/operator_stand.h"

/* ---- all pairs ---- */

enum { WIDTH = 6, WEIGHT = 5 };

static bool
agrees(const oid *a, const oid *b, size_t columns)
{
    for (size_t i = 0; i < columns; i++) {
        if (a[i] && b[i] && a[i] != b[i]) {
            return false;
        }
    }
    return true;
}

static void
merge_rows(const oid *a, const oid *b, bool weighs, oid *merged)
{
    for (size_t i = 0; i < WEIGHT; i++) {
        merged[i] = a[i] ? a[i] : b[i];
    }
    merged[WEIGHT] = weighs ? (a[WEIGHT] ? a[WEIGHT] : 1) * (b[WEIGHT] ? b[WEIGHT] : 1) : a[WEIGHT];
}

static uint64_t seed;

static unsigned
any(unsigned below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(seed >> 33) % below;
}

/* ---- merge joins ---- */

static void
merge_all(const struct given *left, const struct given *right, bool weighs, struct given *all)
{
    for (size_t i = 0; i < left->count; i++) {
        for (size_t k = 0; k < right->count; k++) {
            const oid *a = given_row(left, i), *b = given_row(right, k);
            oid merged[WIDTH];
            if (a[0] == b[0] && agrees(a, b, WEIGHT)) {
                merge_rows(a, b, weighs, merged);
                given_add(all, merged, WIDTH);
            }
        }
    }
}

static struct slots
slots_from(uint64_t bits)
{
    return (struct slots){{bits}};
}

static struct operator* merge_join(struct stand *stand, struct operator* left,
                                   struct operator* right, bool weighs, size_t batch_rows)
{
    const struct slots columns = slots_from(1 | 1 << 2 | 1 << 3);
    struct operator* join = merge_join_new(&stand->run, left, right, &columns, 0,
                                           weighs ? WEIGHT : NUMBER_NONE, batch_rows);
    assert_non_null(join);
    return join;
}

/* For each key as many rows as its size says; column 2 may be bound on both sides. */
static void
make_side(struct given *side, const unsigned *sizes, size_t keys, size_t own)
{
    for (size_t key = 0; key < keys; key++) {
        for (unsigned i = 0; i < sizes[key]; i++) {
            oid row[WIDTH] = {10 + key, 0, any(3) ? 0 : 1 + any(2), 0, 0, any(4)};
            row[own] = 1 + i;
            given_add(side, row, WIDTH);
        }
    }
}

static const unsigned few[] = {1, 2, 0, 3, 1, 2, 2, 1, 2};
static const unsigned many[] = {15, 16, 17, 1, 256, 257, 0, 513, 1500};
enum { KEYS = sizeof few / sizeof *few };

static void
merged_rows_are_all_pairs(void **state)
{
    static const size_t batches[] = {1, 7, BATCH_ROWS};
    (void)state;
    for (unsigned turn = 0; turn < 24; turn++) {
        const size_t batch_rows = batches[turn % 3];
        const bool little = turn / 3 % 2, weighs = turn / 6 % 2, turned = turn / 12;
        struct stand stand;
        struct given left, right, wanted, found;
        seed = turn;
        stand_open(&stand, "", "SELECT * {}", WIDTH, little ? 80 << 10 : 0);
        given_init(&left, WIDTH);
        given_init(&right, WIDTH);
        given_init(&wanted, WIDTH);
        given_init(&found, WIDTH);
        make_side(&left, turned ? many : few, KEYS, 1);
        make_side(&right, turned ? few : many, KEYS, 3);
        merge_all(&left, &right, weighs, &wanted);
        const size_t before = stand.run.account.used;
        struct operator* inner = give_rows(&stand, &right, batch_rows);
        struct operator* join =
            merge_join(&stand, give_rows(&stand, &left, 5), inner, weighs, batch_rows);
        take_rows(&stand, join, &found);
        given_sort(&wanted);
        given_sort(&found);
        assert_same_rows(&found, &wanted, "merge join");
        if (little && !turned) {
            assert_true(stand.run.spill.highest > 0);
        }
        /* A reset in the midst of a group that is in files; then all again. */
        struct batch *batch;
        struct reason why = {""};
        for (int half = 0; half < 2; half++) {
            operator_reset(join);
            for (size_t rows = 0; rows < wanted.count * (half + 1) / 2 - batch_rows;
                 rows += batch->count) {
                assert_int_equal(operator_next(join, &batch, &why), STATUS_OK);
                assert_true(batch->count > 0);
            }
        }
        /* And one in the midst of the first group. */
        operator_reset(join);
        assert_int_equal(operator_next(join, &batch, &why), STATUS_OK);
        operator_reset(join);
        assert_int_equal(given_resets(inner), 4);
        given_release(&found);
        take_rows(&stand, join, &found);
        given_sort(&found);
        assert_same_rows(&found, &wanted, "merge join after a reset");
        assert_true(stand.run.account.used > before);
        stand_close(&stand);
        given_release(&left);
        given_release(&right);
        given_release(&wanted);
        given_release(&found);
    }
}

/* A group stays in memory as long as it is small, whatever else takes the memory. */
static void
small_groups_stay_in_memory(void **state)
{
    (void)state;
    for (unsigned more = 0; more < 2; more++) {
        struct stand stand;
        struct given left, right, found;
        stand_open(&stand, "", "SELECT * {}", WIDTH, 1 << 20);
        given_init(&left, WIDTH);
        given_init(&right, WIDTH);
        given_init(&found, WIDTH);
        GIVE(&left, 1, 1);
        for (oid i = 0; i < 256 + more; i++) {
            GIVE(&right, 1, 0, 0, 1 + i);
        }
        stand.run.spill.share = 0;
        struct operator* join = merge_join(&stand, give_rows(&stand, &left, 1),
                                           give_rows(&stand, &right, 256), false, 256);
        take_rows(&stand, join, &found);
        assert_int_equal(found.count, 256 + more);
        for (oid i = 0; i < found.count; i++) {
            assert_int_equal(given_row(&found, i)[3], 1 + i);
        }
        /* One row more than that goes to a file, and it alone. */
        assert_int_equal(stand.run.spill.highest, more * 3 * sizeof(oid));
        stand_close(&stand);
        given_release(&left);
        given_release(&right);
        given_release(&found);
    }
}

static void
merged_numbers_have_their_bound(void **state)
{
    struct stand stand;
    struct given left, right;
    struct reason why = {""};
    (void)state;
    stand_open(&stand, "", "SELECT * {}", WIDTH, 0);
    given_init(&left, WIDTH);
    given_init(&right, WIDTH);
    GIVE(&left, 1, 1, 0, 0, 0, (oid)1 << 32);
    GIVE(&right, 1, 0, 0, 1, 0, (oid)1 << 32);
    assert_int_equal(take_failing(merge_join(&stand, give_rows(&stand, &left, 1),
                                             give_rows(&stand, &right, 1), true, 8),
                                  &why),
                     STATUS_LIMIT);
    assert_string_equal(why.text, "more rows than can be counted");
    stand_close(&stand);
    given_release(&left);
    given_release(&right);
}

/* Pairs that do not agree make no rows; the deadline is looked at all the same. */
static void
merging_can_be_cancelled(void **state)
{
    (void)state;
    for (unsigned group = 0; group < 2; group++) {
        for (unsigned cancelled = 0; cancelled < 2; cancelled++) {
            struct stand stand;
            struct given left, right;
            struct reason why = {""};
            struct batch *batch;
            stand_open(&stand, "", "SELECT * {}", WIDTH, 0);
            given_init(&left, WIDTH);
            given_init(&right, WIDTH);
            for (unsigned i = 0; i < (group ? 1 : 100); i++) {
                GIVE(&left, 3, 0, 1);
            }
            for (unsigned i = 0; i < (group ? 8191 + 1 : 100); i++) {
                GIVE(&right, group ? 2 : 3, 0, 2);
            }
            stand.cancel_at = cancelled;
            struct operator* join = merge_join(&stand, give_rows(&stand, &left, 3),
                                               give_rows(&stand, &right, 4), false, 8);
            assert_int_equal(operator_next(join, &batch, &why),
                             cancelled ? STATUS_CANCELLED : STATUS_OK);
            assert_int_equal(stand.checks, cancelled ? 1 : 2);
            stand_close(&stand);
            given_release(&left);
            given_release(&right);
        }
    }
}

/* ---- hash joins ---- */

struct hash_case {
    uint64_t keys, shared, built;
    bool weighs;
};

/* The input binds columns 0 to 2, the built side 0, 1, 2 and 3. */
static const struct hash_case hash_cases[] = {
    {1, 0, 1 | 1 << 3, false},
    {1, 0, 1 | 1 << 3, true},
    {1, 0, 1, false},
    {1, 0, 1, true},
    {3, 0, 3, false},
    {3, 0, 3, true},
    {3, 0, 3 | 1 << 3, false},
    {3, 1 << 2, 7 | 1 << 3, true},
    {1, 1 << 2, 5, false},
    {1, 1 << 2, 5 | 1 << 3, true},
    {0, 1 << 2, 4 | 1 << 3, false},
    {0, 1 << 2, 4, true},
    {0, 0, 1 << 3, true},
    {0, 1 << 1 | 1 << 2, 6, false},
};
enum { HASH_CASES = sizeof hash_cases / sizeof *hash_cases };

static void
hash_all(const struct hash_case *hash, enum hash_mode mode, bool tests, const struct given *input,
         const struct given *built, struct given *all)
{
    for (size_t i = 0; i < input->count; i++) {
        const oid *row = given_row(input, i);
        bool matched = false;
        for (size_t k = 0; k < built->count; k++) {
            const oid *other = given_row(built, k);
            oid merged[WIDTH], taken[WIDTH] = {0};
            bool shares = hash->keys != 0, agree = true;
            for (size_t c = 0; c < WEIGHT; c++) {
                const bool is_key = hash->keys >> c & 1, is_shared = hash->shared >> c & 1;
                if (is_key || is_shared) {
                    agree = agree && (row[c] == other[c] || (is_shared && (!row[c] || !other[c])));
                    shares = shares || (row[c] && other[c]);
                }
                taken[c] = hash->built >> c & 1 ? other[c] : 0;
            }
            taken[WEIGHT] = other[WEIGHT];
            merge_rows(row, taken, hash->weighs, merged);
            if (!agree || (mode >= HASH_MINUS && !shares) || (tests && merged[2] == 0)) {
                continue;
            }
            matched = true;
            if (mode < HASH_MINUS) {
                given_add(all, merged, WIDTH);
            }
        }
        if (mode == HASH_SEMI ? matched : mode != HASH_JOIN && !matched) {
            given_add(all, row, WIDTH);
        }
    }
}

/* Rows that are alike become one that stands for them all, as it may in any join with numbers. */
static void
add_up(struct given *rows, bool weighs)
{
    size_t kept = 0;
    given_sort(rows);
    for (size_t i = 0; weighs && i < rows->count; i++) {
        oid *row = given_row(rows, i), *last = kept ? given_row(rows, kept - 1) : NULL;
        row[WEIGHT] = row[WEIGHT] ? row[WEIGHT] : 1;
        if (last && memcmp(last, row, WEIGHT * sizeof *row) == 0) {
            last[WEIGHT] += row[WEIGHT];
        } else {
            memmove(given_row(rows, kept++), row, WIDTH * sizeof *row);
        }
    }
    rows->count = weighs ? kept : rows->count;
}

static void
make_hash_sides(const struct hash_case *hash, size_t count, struct given *input,
                struct given *built)
{
    const unsigned values = hash->keys ? 40 : 6;
    for (size_t i = 0; i < count; i++) {
        oid row[WIDTH] = {1 + any(values), 1 + any(2), 1 + any(3), 0, 1 + i, any(4)};
        for (size_t c = 0; c < 3; c++) {
            if (hash->shared >> c & 1 && any(4) == 0) {
                row[c] = 0;
            }
        }
        given_add(input, row, WIDTH);
    }
    for (size_t i = 0; i < count; i++) {
        oid row[WIDTH] = {1 + any(values), 1 + any(2), 1 + any(3), any(5), 0, any(4)};
        for (size_t c = 0; c < 3; c++) {
            if (!(hash->built >> c & 1) || (hash->shared >> c & 1 && any(4) == 0)) {
                row[c] = 0;
            }
        }
        given_add(built, row, WIDTH);
    }
}

static const struct expression *
find_expression(const struct algebra *algebra)
{
    if (!algebra || algebra->kind == ALGEBRA_LEFT_JOIN) {
        return algebra ? algebra->expression : NULL;
    }
    const struct expression *found = find_expression(algebra->left);
    return found ? found : find_expression(algebra->right);
}

#define TESTING "SELECT * { ?a ?b ?c OPTIONAL { ?a ?p ?o FILTER(BOUND(?c)) } }"

static void
check_hash_join(const struct hash_case *hash, enum hash_mode mode, unsigned turn)
{
    static const size_t batches[] = {1, 7, BATCH_ROWS};
    const size_t batch_rows = batches[turn % 3];
    const bool little = turn / 3 % 2, tests = turn % 2 && mode == HASH_LEFT_JOIN,
               rebuild = turn % 2;
    struct stand stand;
    struct given input, built, wanted, found;
    char what[80];
    snprintf(what, sizeof what, "mode %d of case %zu, turn %u", (int)mode,
             (size_t)(hash - hash_cases), turn);
    seed = turn + (uint64_t)mode;
    stand_open(&stand, "", TESTING, WIDTH, little ? 512 << 10 : 0);
    given_init(&input, WIDTH);
    given_init(&built, WIDTH);
    given_init(&wanted, WIDTH);
    given_init(&found, WIDTH);
    make_hash_sides(hash, hash->keys ? 120 : 70, &input, &built);
    hash_all(hash, mode, tests, &input, &built, &wanted);
    const struct hash_spec spec = {.mode = mode,
                                   .keys = slots_from(hash->keys),
                                   .shared = slots_from(hash->shared),
                                   .built = slots_from(hash->built),
                                   .expression =
                                       tests ? find_expression(stand.query->algebra) : NULL,
                                   .rebuild = rebuild,
                                   .weight = hash->weighs ? WEIGHT : NUMBER_NONE};
    assert_true(!tests || spec.expression);
    if (little) {
        stand.run.spill.share = 0;
    }
    struct operator* inner = give_rows(&stand, &built, batch_rows);
    struct operator* join =
        hash_join_new(&stand.run, give_rows(&stand, &input, batch_rows), inner, &spec, batch_rows);
    assert_non_null(join);
    assert_false(hash_join_can_lend(join));
    take_rows(&stand, join, &found);
    add_up(&wanted, hash->weighs);
    add_up(&found, hash->weighs);
    assert_same_rows(&found, &wanted, what);
    assert_int_equal(given_resets(inner), 1);
    assert_int_equal(stand.run.spill.highest > 0, little);
    assert_int_equal(hash_join_can_lend(join), !little && !rebuild);
    /* Once more from the middle; the built side is read again only where it may have changed. */
    struct batch *batch;
    struct reason why = {""};
    operator_reset(join);
    assert_int_equal(operator_next(join, &batch, &why), STATUS_OK);
    operator_reset(join);
    if (rebuild) {
        given_release(&built);
        given_release(&wanted);
        struct given none;
        given_init(&none, WIDTH);
        make_hash_sides(hash, 70, &none, &built);
        hash_all(hash, mode, tests, &input, &built, &wanted);
        add_up(&wanted, hash->weighs);
        given_release(&none);
    }
    given_release(&found);
    take_rows(&stand, join, &found);
    add_up(&found, hash->weighs);
    assert_same_rows(&found, &wanted, what);
    assert_int_equal(given_resets(inner), rebuild ? 3 : 1);
    stand_close(&stand);
    given_release(&input);
    given_release(&built);
    given_release(&wanted);
    given_release(&found);
}

static void
hashed_rows_are_all_pairs(void **state)
{
    (void)state;
    for (size_t i = 0; i < HASH_CASES; i++) {
        for (int mode = HASH_JOIN; mode <= HASH_SEMI; mode++) {
            for (unsigned turn = 0; turn < 6; turn++) {
                check_hash_join(&hash_cases[i], (enum hash_mode)mode, turn);
            }
        }
    }
}

/* Rows that have no match make none; the deadline is looked at all the same, once in 4096 pairs. */
static void
hashing_can_be_cancelled(void **state)
{
    (void)state;
    for (int turn = 0; turn < 2; turn++) {
        const bool files = turn;
        struct stand stand;
        struct given input, built;
        struct reason why = {""};
        struct batch *batch;
        stand_open(&stand, "", "SELECT * {}", WIDTH, 1 << 20);
        given_init(&input, WIDTH);
        given_init(&built, WIDTH);
        for (unsigned i = 0; i < 100; i++) {
            GIVE(&input, 0, 0, 1);
            GIVE(&built, 0, 0, 2);
        }
        const struct hash_spec spec = {.mode = HASH_JOIN,
                                       .shared = slots_from(4),
                                       .built = slots_from(4),
                                       .weight = NUMBER_NONE};
        struct operator* join = hash_join_new(&stand.run, give_rows(&stand, &input, 100),
                                              give_rows(&stand, &built, 100), &spec, 8);
        if (files) {
            stand.run.spill.share = 0;
        }
        assert_int_equal(operator_next(join, &batch, &why), STATUS_OK);
        assert_int_equal(batch->count, 0);
        assert_in_range(stand.checks, 2, files ? 400 : 2);
        /* Each time it is looked at as often; the last time is past all but some of the pairs. */
        const unsigned before = stand.checks;
        operator_reset(join);
        assert_int_equal(operator_next(join, &batch, &why), STATUS_OK);
        stand.cancel_at = 2 * stand.checks - before;
        operator_reset(join);
        assert_int_equal(operator_next(join, &batch, &why), STATUS_CANCELLED);
        assert_int_equal(stand.checks, stand.cancel_at);
        stand_close(&stand);
        given_release(&input);
        given_release(&built);
    }
}

/* Numbers that no longer fit end a join, whether rows are made or counted where they are, in memory
 * or in files. */
static void
hashed_numbers_have_their_bound(void **state)
{
    (void)state;
    for (int turn = 0; turn < 8; turn++) {
        const bool sifts = turn % 2, files = turn / 2 % 2, fits = turn / 4;
        struct stand stand;
        struct given input, built, found;
        struct reason why = {""};
        stand_open(&stand, "", "SELECT * {}", WIDTH, 1 << 20);
        given_init(&input, WIDTH);
        given_init(&built, WIDTH);
        given_init(&found, WIDTH);
        GIVE(&input, 1, 0, 0, 0, 0, (oid)1 << 32);
        GIVE(&built, 1, 0, 0, sifts ? 0 : 5, 0, ((oid)1 << 32) - fits);
        const struct hash_spec spec = {.mode = HASH_JOIN,
                                       .keys = slots_from(1),
                                       .built = slots_from(sifts ? 1 : 1 | 1 << 3),
                                       .weight = WEIGHT};
        struct operator* join = hash_join_new(&stand.run, give_rows(&stand, &input, 1),
                                              give_rows(&stand, &built, 1), &spec, 8);
        assert_int_equal(hash_join_sifts(join), sifts);
        if (files) {
            stand.run.spill.share = 0;
        }
        if (fits) {
            take_rows(&stand, join, &found);
            assert_int_equal(found.count, 1);
            assert_true(given_row(&found, 0)[WEIGHT] == ((oid)1 << 32) * (((oid)1 << 32) - 1));
        } else {
            assert_int_equal(take_failing(join, &why), STATUS_LIMIT);
            assert_string_equal(why.text, "more rows than can be counted");
        }
        stand_close(&stand);
        given_release(&input);
        given_release(&built);
        given_release(&found);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(merged_rows_are_all_pairs),
        cmocka_unit_test(small_groups_stay_in_memory),
        cmocka_unit_test(merged_numbers_have_their_bound),
        cmocka_unit_test(merging_can_be_cancelled),
        cmocka_unit_test(hashing_can_be_cancelled),
        cmocka_unit_test(hashed_numbers_have_their_bound),
        cmocka_unit_test(hashed_rows_are_all_pairs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
