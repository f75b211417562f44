/* What is known of URIs (queue/frontier/seen.c) without a store: fingerprints that meet in a chain
 * or in a place of the cache, and what the cache does not hold. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/codec.h"
#include "queue/frontier/seen.h"
#include "tests/unit/queue/queue_suites.h"

enum { CACHE_BYTES = 4096 };

struct print {
    uint8_t bytes[FINGERPRINT_SIZE];
};

/* first: by which it is found in a round; second: its place in the cache. */
static struct print
print_of(uint64_t first, uint64_t second)
{
    struct print print;
    memset(print.bytes, 7, sizeof print.bytes);
    codec_write_u64(print.bytes, first);
    codec_write_u64(print.bytes + 8, second);
    return print;
}

static struct seen_entry *
want(struct seen *seen, const struct print *print)
{
    seen_want(seen, print->bytes);
    return seen_entry(seen, print->bytes);
}

static void
know(struct seen *seen, const struct print *print, uint16_t depth)
{
    struct seen_entry *entry = want(seen, print);
    assert_non_null(entry);
    entry->exists = true;
    entry->depth = depth;
    entry->generation = UINT32_MAX;
    entry->flags = SEEN_WAITING;
    entry->rank = 9;
    entry->domains = 0x8001;
    entry->job = UINT64_MAX;
}

/* Several in a round that begin alike are told apart, and wanted twice they are one. */
static void
test_prints_that_begin_alike_are_told_apart(void **state)
{
    enum { ALIKE = 300 }; /* more than there is room for at first */
    struct seen *seen = seen_new(TREE_COUNT, 0);
    (void)state;
    for (uint64_t i = 0; i < ALIKE; i++) {
        const struct print print = print_of(1, i);
        assert_null(seen_entry(seen, print.bytes));
        know(seen, &print, (uint16_t)i);
        assert_int_equal(want(seen, &print)->depth, i);
    }
    for (uint64_t i = 0; i < ALIKE; i++) {
        const struct print print = print_of(1, i);
        assert_int_equal(seen_entry(seen, print.bytes)->depth, i);
    }
    const struct print other = print_of(1, ALIKE), far = print_of(2, 0);
    assert_null(seen_entry(seen, other.bytes));
    assert_null(seen_entry(seen, far.bytes));
    seen_free(seen);
}

/* All that is known stays over rounds, unless the round failed. */
static void
test_what_was_committed_is_known(void **state)
{
    struct seen *seen = seen_new(TREE_COUNT, CACHE_BYTES);
    const struct print print = print_of(1, 1);
    (void)state;
    know(seen, &print, 5);
    seen_settle(seen, false);
    assert_null(seen_entry(seen, print.bytes));
    assert_false(want(seen, &print)->exists);
    know(seen, &print, 5);
    seen_settle(seen, true);
    assert_null(seen_entry(seen, print.bytes)); /* until it is wanted */
    const struct seen_entry *entry = want(seen, &print);
    assert_true(entry->exists);
    assert_false(entry->changed);
    assert_int_equal(entry->depth, 5);
    assert_true(entry->generation == UINT32_MAX);
    assert_int_equal(entry->flags, SEEN_WAITING);
    assert_int_equal(entry->rank, 9);
    assert_int_equal(entry->domains, 0x8001);
    assert_true(entry->job == UINT64_MAX);
    seen_free(seen);
}

/* The later of two that have the same place stays, and is not taken for the other. */
static void
test_a_place_has_one(void **state)
{
    struct seen *seen = seen_new(TREE_COUNT, CACHE_BYTES);
    const uint64_t round = (uint64_t)CACHE_BYTES << 20; /* the same place however many there are */
    const struct print earlier = print_of(1, 3), later = print_of(2, 3 + round);
    const struct print beside = print_of(3, 4);
    (void)state;
    know(seen, &earlier, 5);
    know(seen, &beside, 7);
    seen_settle(seen, true);
    know(seen, &later, 6);
    seen_settle(seen, true);
    assert_false(want(seen, &earlier)->exists);
    assert_int_equal(want(seen, &later)->depth, 6);
    assert_int_equal(want(seen, &beside)->depth, 7);
    seen_settle(seen, true); /* the earlier one, which does not exist, drives nobody out */
    assert_int_equal(want(seen, &later)->depth, 6);
    seen_free(seen);
}

/* What is no more, or has a generation that the cache has no room for, is forgotten there. */
static void
test_what_the_cache_cannot_hold_is_dropped(void **state)
{
    const struct print print = print_of(1, 1);
    (void)state;
    for (int gone = 0; gone < 2; gone++) {
        struct seen *seen = seen_new(TREE_COUNT, CACHE_BYTES);
        know(seen, &print, 5);
        seen_settle(seen, true);
        struct seen_entry *entry = want(seen, &print);
        assert_true(entry->exists);
        entry->exists = gone == 0;
        entry->generation = gone == 0 ? (uint64_t)UINT32_MAX + 1 : 1;
        seen_settle(seen, true);
        assert_false(want(seen, &print)->exists);
        seen_free(seen);
    }
}

/* The cache takes no more memory than it may, and uses half of it at least. */
static void
test_the_cache_has_its_size(void **state)
{
    enum { ENTRIES = 4096, ENTRY_LEAST = 32, ENTRY_MOST = 64 };
    struct seen *seen = seen_new(TREE_COUNT, ENTRIES * ENTRY_MOST);
    size_t kept = 0;
    (void)state;
    for (uint64_t i = 0; i < 4 * ENTRIES; i++) {
        const struct print print = print_of(i, i);
        know(seen, &print, 1);
    }
    seen_settle(seen, true);
    for (uint64_t i = 0; i < 4 * ENTRIES; i++) {
        const struct print print = print_of(i, i);
        kept += want(seen, &print)->exists;
    }
    assert_in_range(kept, ENTRIES, ENTRIES * ENTRY_MOST / ENTRY_LEAST);
    seen_free(seen);
    seen_free(NULL);
}

static void
test_what_is_not_known_was_not_fetched_nearer(void **state)
{
    struct seen_entry entry = {.exists = false};
    (void)state;
    assert_int_equal(seen_fetched(&entry, 0, 5), 0);
    assert_false(entry.changed);
    assert_int_equal(entry.flags, 0);
}

int
seen_alone_run(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_prints_that_begin_alike_are_told_apart),
        cmocka_unit_test(test_what_was_committed_is_known),
        cmocka_unit_test(test_a_place_has_one),
        cmocka_unit_test(test_what_the_cache_cannot_hold_is_dropped),
        cmocka_unit_test(test_the_cache_has_its_size),
        cmocka_unit_test(test_what_is_not_known_was_not_fetched_nearer),
    };
    return cmocka_run_group_tests_name("seen alone", tests, NULL, NULL);
}
