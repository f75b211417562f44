/* Numbers to small numbers, beside an array; sets; and things that are found by more than a number.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/map.h"

static void
test_map_against_an_array(void **state)
{
    enum { KEYS = 300, STEPS = 200000 };
    uint32_t expected[KEYS];
    struct map map;
    unsigned seed = 1;
    (void)state;
    memset(expected, 0xff, sizeof expected);
    map_init(&map);
    for (int i = 0; i < STEPS; i++) {
        const uint32_t key = (uint32_t)rand_r(&seed) % KEYS;
        /* many keys share their home: multiples of a large power of two */
        const uint64_t wide = (uint64_t)key << (key % 3 * 20);
        if (rand_r(&seed) % 2 == 0) {
            map_set(&map, wide, (uint32_t)i);
            expected[key] = (uint32_t)i;
        } else {
            map_remove(&map, wide);
            expected[key] = (uint32_t)MAP_NONE;
        }
        const uint32_t look = (uint32_t)rand_r(&seed) % KEYS;
        assert_int_equal(map_get(&map, (uint64_t)look << (look % 3 * 20)), expected[look]);
    }
    map_clear(&map);
    assert_int_equal(map_get(&map, 0), (uint32_t)MAP_NONE);
    map_release(&map);
}

static void
test_large_maps_are_freed_when_cleared(void **state)
{
    struct map map = {0};
    (void)state;
    for (int round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < 100000; i++) {
            map_set(&map, i, i + 1);
        }
        assert_int_equal(map.count, 100000);
        for (uint32_t i = 0; i < 100000; i++) {
            assert_int_equal(map_get(&map, i), i + 1);
        }
        map_clear(&map);
        assert_int_equal(map.count, 0);
        assert_null(map.keys);
    }
    map_release(&map);
}

static void
test_set_tells_what_is_new(void **state)
{
    struct map set = {0};
    (void)state;
    for (int round = 0; round < 2; round++) {
        for (uint64_t i = 0; i < 1000; i++) {
            assert_int_equal(map_add(&set, i * i << 32), round == 0);
        }
    }
    map_remove(&set, 0);
    assert_true(map_add(&set, 0));
    map_remove(&set, 5); /* not there */
    assert_int_equal(set.count, 1000);
    map_release(&set);
}

/* Thirty words under one of two hashes each. */
static void
test_words_whose_hashes_are_equal(void **state)
{
    enum { WORDS = 30 };
    char words[WORDS][8];
    struct map map = {0};
    (void)state;
    for (int round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < WORDS; i++) {
            char word[8] = {(char)('a' + i)};
            uint64_t hash = i % 2;
            uint32_t at;
            while ((at = map_get(&map, hash)) != (uint32_t)MAP_NONE &&
                   strcmp(words[at], word) != 0) {
                hash++;
            }
            assert_int_equal(at, round == 0 ? (uint32_t)MAP_NONE : i);
            if (round == 0) {
                map_set(&map, hash, i);
                memcpy(words[i], word, sizeof word);
            }
        }
    }
    map_release(&map);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_map_against_an_array),
        cmocka_unit_test(test_large_maps_are_freed_when_cleared),
        cmocka_unit_test(test_set_tells_what_is_new),
        cmocka_unit_test(test_words_whose_hashes_are_equal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
