/* The cache of single terms: what it finds, what it gives up, and who reads it meanwhile. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "index/terms/term_cache.h"

enum { MEMORY = 256 << 10, TEXT_MAXIMUM = 64 << 10 };

/* Every number has a text of its own, of a length of its own. */
static struct term
term_of(uint64_t number, char text[128])
{
    const int length =
        snprintf(text, 128, "http://example.org/%llu/%.*s", (unsigned long long)number,
                 (int)(number % 50), "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz");
    return term_iri(slice_of(text, (size_t)length));
}

static void
put(struct term_cache *cache, uint64_t number)
{
    char text[128];
    struct buf entry;
    const struct term term = term_of(number, text);
    buf_init(&entry, TEXT_MAXIMUM);
    node_block_put(&entry, &term);
    term_cache_put(cache, number, buf_slice(&entry));
    buf_release(&entry);
}

/* Returns whether it is there; then it is the right one. */
static bool
finds(struct term_cache *cache, uint64_t number)
{
    char text[128];
    struct reason why = {""};
    struct arena arena;
    struct term term;
    const struct term expected = term_of(number, text);
    arena_init(&arena, 0);
    const enum status status = term_cache_find(cache, number, OID_KIND_IRI, &arena, &term, &why);
    const bool right = status == STATUS_OK && term_equal(&term, &expected);
    assert_true(right || status == STATUS_NOT_FOUND);
    arena_release(&arena);
    return right;
}

static unsigned
found_of(struct term_cache *cache, uint64_t first, uint64_t last)
{
    unsigned found = 0;
    for (uint64_t number = first; number <= last; number++) {
        found += finds(cache, number);
    }
    return found;
}

static void
nothing_is_there_at_first(void **state)
{
    (void)state;
    struct term_cache *cache = term_cache_new(MEMORY);
    assert_int_equal(found_of(cache, 1, 100), 0);
    term_cache_free(cache);
}

/* Some 64 bytes each. */
static void
memory_is_used(void **state)
{
    (void)state;
    struct term_cache *cache = term_cache_new(MEMORY);
    for (uint64_t number = 1; number <= 1500; number++) {
        put(cache, number);
    }
    assert_in_range(found_of(cache, 1, 1500), 1450, 1500);
    for (uint64_t number = 1501; number <= 20000; number++) {
        put(cache, number);
    }
    assert_int_equal(found_of(cache, 1, 1500), 0);
    assert_in_range(found_of(cache, 1501, 20000), 1500, MEMORY / 64);
    assert_true(finds(cache, 20000));
    term_cache_free(cache);
}

static void
what_is_asked_for_stays(void **state)
{
    (void)state;
    struct term_cache *cache = term_cache_new(MEMORY);
    put(cache, 7);
    unsigned found = 0;
    for (uint64_t number = 100; number < 50000; number++) {
        put(cache, number);
        if (number % 100 == 0 && finds(cache, 7)) {
            found++;
        } else if (number % 100 == 0) {
            put(cache, 7);
        }
    }
    assert_in_range(found, 494, 499); /* first come, first gone: 485 */
    term_cache_free(cache);
}

static void
kinds_and_sizes_are_checked(void **state)
{
    (void)state;
    static char text[TEXT_MAXIMUM];
    struct term_cache *cache = term_cache_new(MEMORY);
    struct reason why = {""};
    struct arena arena;
    struct buf entry;
    struct term term;
    arena_init(&arena, 0);
    put(cache, 1);
    assert_int_equal(term_cache_find(cache, 1, OID_KIND_STRING, &arena, &term, &why),
                     STATUS_CORRUPT);
    arena_release(&arena);
    arena_init(&arena, 8);
    assert_int_equal(term_cache_find(cache, 1, OID_KIND_IRI, &arena, &term, &why), STATUS_LIMIT);
    buf_init(&entry, 2 * TEXT_MAXIMUM);
    memset(text, 'x', sizeof text);
    const struct term large = term_literal(slice_of(text, sizeof text));
    node_block_put(&entry, &large);
    term_cache_put(cache, 2, buf_slice(&entry));
    assert_int_equal(term_cache_find(cache, 2, OID_KIND_STRING, &arena, &term, &why),
                     STATUS_NOT_FOUND);
    assert_true(finds(cache, 1));
    buf_release(&entry);
    arena_release(&arena);
    term_cache_free(cache);
}

static void *
read_and_write(void *argument)
{
    struct term_cache *cache = argument;
    for (uint64_t i = 0; i < 30000; i++) {
        const uint64_t number = 1 + i * 7919 % 4000;
        if (!finds(cache, number)) {
            put(cache, number);
        }
    }
    return NULL;
}

static void
threads_share_it(void **state)
{
    (void)state;
    enum { THREADS = 4 };
    struct term_cache *cache = term_cache_new(MEMORY);
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, read_and_write, cache), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    term_cache_free(cache);
}

/* The table of places grows with what is kept, and loses little of it. */
static void
it_grows_with_what_is_kept(void **state)
{
    (void)state;
    enum { LARGE = 8 << 20, ALL = 20000, EACH = 100 };
    struct term_cache *cache = term_cache_new(LARGE);
    for (uint64_t number = 1; number <= ALL; number++) {
        put(cache, number);
        if (number % EACH == 0 && number <= 40 * EACH) {
            assert_in_range(found_of(cache, 1, number), number - number / 20, number);
        }
    }
    assert_in_range(found_of(cache, 1, ALL), ALL - ALL / 20, ALL);
    for (uint64_t number = 1; number <= ALL; number++) {
        put(cache, number); /* again: another entry for the same number */
    }
    assert_in_range(found_of(cache, 1, ALL), ALL - ALL / 20, ALL);
    term_cache_free(cache);
}

static void
what_is_asked_for_often_drives_nothing_out(void **state)
{
    (void)state;
    enum { FEW = 500, OFTEN = 5000 };
    struct term_cache *cache = term_cache_new(MEMORY);
    for (uint64_t number = 1; number <= FEW; number++) {
        put(cache, number);
    }
    const unsigned before = found_of(cache, 1, FEW);
    assert_in_range(before, FEW - FEW / 50, FEW);
    for (uint64_t number = 1; number <= FEW; number += 17) {
        for (unsigned i = 0; i < OFTEN; i++) {
            (void)finds(cache, number);
        }
    }
    assert_int_equal(found_of(cache, 1, FEW), before);
    term_cache_free(cache);
}

/* An entry may have an eighth of the room where it goes, of which there are 16. Most of the memory
 * is room for entries. */
static void
large_entries_are_not_kept(void **state)
{
    (void)state;
    enum { PARTS = 16, SHARE = 8, SIZES = 40 };
    for (size_t size = 1; size <= SIZES; size++) {
        struct term_cache *cache = term_cache_new(MEMORY * size / 8);
        const size_t room = term_cache_room(cache);
        assert_in_range(room, MEMORY * size / 8 / 2, MEMORY * size / 8 * 3 / 4);
        assert_int_equal(room % PARTS, 0);
        char *text = calloc(1, room);
        assert_non_null(text);
        const size_t most = room / PARTS / SHARE;
        for (uint64_t number = 1; number < 50; number++) {
            assert_true(term_cache_put(cache, number, slice_of(text, most)));
            assert_true(term_cache_put(cache, number + 100, slice_of(text, 1)));
            assert_false(term_cache_put(cache, number, slice_of(text, most + 1)));
            assert_false(term_cache_put(cache, number, slice_of(text, room)));
        }
        free(text);
        term_cache_free(cache);
    }
}

/* Who gives back what he never had does no harm. */
static void
what_never_was_is_let_go(void **state)
{
    (void)state;
    term_cache_free(NULL);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_there_at_first),
        cmocka_unit_test(memory_is_used),
        cmocka_unit_test(what_is_asked_for_stays),
        cmocka_unit_test(kinds_and_sizes_are_checked),
        cmocka_unit_test(it_grows_with_what_is_kept),
        cmocka_unit_test(what_is_asked_for_often_drives_nothing_out),
        cmocka_unit_test(large_entries_are_not_kept),
        cmocka_unit_test(threads_share_it),
        cmocka_unit_test(what_never_was_is_let_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
