/* Sorts: the order is right, and equal items keep theirs. Those that may be ended ask often enough
 * whether to go on, and a refusal ends them wherever it comes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "index/sort/key_sort.h"
#include "index/sort/oid_sort.h"

enum { MANY = 300000, DIGITS = 3, COMPARED_MOST = 16 * SORT_STEP };

static struct sort_item items[MANY], spare[MANY];
static size_t asked, refused_at; /* 0: never */
static size_t compared, compared_most;

static enum status
ask(const void *context, struct reason *why)
{
    assert_ptr_equal(context, items);
    compared_most = compared > compared_most ? compared : compared_most;
    compared = 0;
    asked++;
    return asked == refused_at ? status_fail(why, STATUS_CANCELLED, "refused") : STATUS_OK;
}

static const struct sort_check check = {ask, items};

static int
compare(const void *a, const void *b)
{
    const struct sort_item *left = a, *right = b;
    compared++;
    return left->key != right->key ? (left->key > right->key) - (left->key < right->key)
                                   : (left->index > right->index) - (left->index < right->index);
}

/* Keys of three digits of 11 bits, each several times. */
static void
fill(size_t count)
{
    uint64_t seed = count + 1;
    for (size_t i = 0; i < count; i++) {
        seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        items[i] = (struct sort_item){(seed >> 40) * 257 & ((UINT64_C(1) << 33) - 1), (uint32_t)i};
    }
    asked = compared = compared_most = 0;
}

static void
expect_sorted(const struct sort_item *sorted, size_t count)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        assert_true(i == 0 || compare(&sorted[i - 1], &sorted[i]) < 0);
        sum += sorted[i].index;
    }
    assert_int_equal(sum, count < 2 ? 0 : (uint64_t)count * (count - 1) / 2);
}

static void
items_come_in_order(void **state)
{
    static const size_t counts[] = {0, 1, 2, 64, 65, 4096, 4097, 8192, 12289, 65536, MANY};
    struct reason why;
    struct sort_item *sorted;
    (void)state;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        fill(counts[i]);
        assert_int_equal(checked_sort(items, counts[i], sizeof *items, compare, &check, &why),
                         STATUS_OK);
        assert_true(asked >= counts[i] / SORT_STEP);
        assert_true(compared_most <= COMPARED_MOST && compared <= COMPARED_MOST);
        expect_sorted(items, counts[i]);
        fill(counts[i]);
        assert_int_equal(oid_sort_checked(items, spare, counts[i], &check, &sorted, &why),
                         STATUS_OK);
        assert_true(asked >= (1 + 2 * DIGITS) * (counts[i] / SORT_STEP));
        expect_sorted(sorted, counts[i]);
        fill(counts[i]);
        expect_sorted(oid_sort(items, spare, counts[i]), counts[i]);
        assert_int_equal(asked, 0);
    }
}

static void
a_refusal_ends_a_sort(void **state)
{
    struct reason why;
    struct sort_item *sorted;
    enum status statuses[2] = {STATUS_CANCELLED, STATUS_CANCELLED};
    size_t refusals[2] = {0, 0};
    (void)state;
    for (refused_at = 1; statuses[0] != STATUS_OK || statuses[1] != STATUS_OK; refused_at++) {
        for (int radix = 0; radix < 2; radix++) {
            fill(MANY);
            statuses[radix] = radix
                                  ? oid_sort_checked(items, spare, MANY, &check, &sorted, &why)
                                  : checked_sort(items, MANY, sizeof *items, compare, &check, &why);
            if (statuses[radix] != STATUS_OK) {
                assert_int_equal(statuses[radix], STATUS_CANCELLED);
                assert_int_equal(asked, refused_at);
                refusals[radix]++;
            }
        }
    }
    refused_at = 0;
    assert_true(refusals[0] > MANY / SORT_STEP && refusals[1] > 2 * DIGITS * (MANY / SORT_STEP));
}

/* Only digits that differ are sorted by, whichever they are; each pass asks once in so many items.
 */
static void
each_pass_asks(void **state)
{
    static const struct {
        uint64_t mask;
        unsigned digits;
    } masks[] = {
        {0, 0},
        {1, 1},
        {UINT64_C(1) << 63, 1},
        {UINT64_C(0x7ff) << 11, 1},
        {UINT64_C(3) << 10, 2},
        {UINT64_C(0x7ff) << 33 | UINT64_C(0x7ff) << 55, 2},
        {UINT64_MAX >> 9, 5},
        {UINT64_MAX, 6},
    };
    static const size_t counts[] = {65, SORT_STEP - 1, SORT_STEP, SORT_STEP + 1, 2 * SORT_STEP};
    struct reason why;
    struct sort_item *sorted;
    (void)state;
    for (size_t i = 0; i < sizeof masks / sizeof *masks; i++) {
        for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
            const size_t count = counts[k], steps = (count + SORT_STEP - 1) / SORT_STEP;
            uint64_t seed = i;
            for (size_t at = 0; at < count; at++) {
                seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
                items[at] = (struct sort_item){(UINT64_C(0x123456789abcdef0) & ~masks[i].mask) |
                                                   (seed & masks[i].mask),
                                               (uint32_t)at};
            }
            items[0].key |= masks[i].mask;
            items[1].key &= ~masks[i].mask;
            asked = 0;
            assert_int_equal(oid_sort_checked(items, spare, count, &check, &sorted, &why),
                             STATUS_OK);
            assert_int_equal(asked, steps * (1 + 2 * masks[i].digits));
            assert_ptr_equal(sorted, masks[i].digits % 2 ? spare : items);
            expect_sorted(sorted, count);
        }
    }
}

/* ---- byte strings ---- */

enum { KEYS_MOST = 3000, KEY_LENGTH = 700 };
static char texts[KEYS_MOST][KEY_LENGTH];

/* Strings of few different bytes, zeros among them, behind the same first bytes; many are equal,
 * or others' beginnings. */
static void
byte_strings_come_in_order(void **state)
{
    static const size_t counts[] = {0, 1, 2, 11, 12, 13, 14, 40, 700, KEYS_MOST};
    static const size_t prefixes[] = {0, 1, 7, 8, 9, 500, 511, 512, 513, 530};
    static struct slice keys[KEYS_MOST];
    static uint32_t order[KEYS_MOST];
    uint64_t seed = 1;
    (void)state;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        for (size_t k = 0; k < sizeof prefixes / sizeof *prefixes; k++) {
            const size_t count = prefixes[k] > 500 && counts[i] > 700 ? 700 : counts[i];
            for (size_t at = 0; at < count; at++) {
                seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
                const size_t more = (seed >> 33) % 20;
                memset(texts[at], 'x', prefixes[k]);
                for (size_t byte = 0; byte < more; byte++) {
                    texts[at][prefixes[k] + byte] = "\0a\377"[(seed >> (34 + byte)) % 3];
                }
                keys[at] = slice_of(texts[at], prefixes[k] + more);
                order[at] = UINT32_MAX;
            }
            key_sort(keys, order, count);
            uint64_t sum = 0;
            for (size_t at = 0; at < count; at++) {
                assert_true(order[at] < count);
                const int compared_keys =
                    at == 0 ? -1 : slice_compare(keys[order[at - 1]], keys[order[at]]);
                if (compared_keys > 0 || (compared_keys == 0 && order[at - 1] >= order[at])) {
                    fail_msg("%zu keys behind %zu bytes: the order is wrong at %zu", count,
                             prefixes[k], at);
                }
                sum += order[at];
            }
            assert_int_equal(sum, count < 2 ? 0 : count * (count - 1) / 2);
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_come_in_order),
        cmocka_unit_test(a_refusal_ends_a_sort),
        cmocka_unit_test(each_pass_asks),
        cmocka_unit_test(byte_strings_come_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
