/* The cache of unpacked blocks of terms: what it finds, and how much it keeps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "index/terms/node_cache.h"

enum { MEMORY = 256 << 10, CELL = 64, TEXT_MAXIMUM = 32 << 10 };

/* One term, whose number names its cell and whose text has so many bytes. */
static void
put(struct node_cache *cache, struct node_block *block, uint64_t number, size_t length)
{
    static char text[TEXT_MAXIMUM];
    struct reason why = {""};
    memset(text, 'x', length);
    snprintf(text, sizeof text, "%08u", (unsigned)number);
    text[8] = 'x';
    const struct term term = term_literal(slice_of(text, length));
    buf_reset(&block->raw);
    node_block_put(&block->raw, &term);
    block->first = number;
    block->count = 1;
    assert_int_equal(node_block_index(block, &why), STATUS_OK);
    node_cache_put(cache, number, block);
}

/* How many of so many blocks of a size are found after all were put in. */
static unsigned
kept(unsigned blocks, size_t length)
{
    struct node_cache *cache = node_cache_new(MEMORY);
    struct node_block block;
    struct arena arena;
    struct reason why = {""};
    unsigned found = 0;
    node_block_init(&block);
    arena_init(&arena, 0);
    for (unsigned i = 1; i <= blocks; i++) {
        put(cache, &block, (uint64_t)i * CELL, length);
    }
    for (unsigned i = 1; i <= blocks; i++) {
        struct term term;
        char number[9];
        snprintf(number, sizeof number, "%08u", i * CELL);
        const enum status status =
            node_cache_find(cache, (uint64_t)i * CELL, OID_KIND_STRING, &arena, &term, &why);
        if (status == STATUS_NOT_FOUND) {
            continue;
        }
        assert_int_equal(status, STATUS_OK);
        assert_int_equal(term.value.length, length);
        assert_memory_equal(term.value.at, number, 8);
        found++;
    }
    arena_release(&arena);
    node_block_release(&block);
    node_cache_free(cache);
    return found;
}

static void
memory_is_used(void **state)
{
    (void)state;
    assert_in_range(kept(80, 2000), 72, 80);
}

static void
memory_is_kept_within(void **state)
{
    (void)state;
    const unsigned found = kept(400, 16000);
    assert_in_range(found, 8, MEMORY / 16000);
}

static void
room_is_told(void **state)
{
    struct node_cache *cache = node_cache_new(MEMORY);
    struct node_block block;
    (void)state;
    node_block_init(&block);
    assert_true(node_cache_has_room(cache, CELL));
    put(cache, &block, CELL, 2000);
    put(cache, &block, CELL + 1, 2000);
    assert_false(node_cache_has_room(cache, CELL + 2)); /* both places are taken */
    assert_true(node_cache_has_room(cache, (uint64_t)9 * CELL));
    node_cache_free(cache);
    cache = node_cache_new(1);
    assert_false(node_cache_has_room(cache, CELL));
    node_block_release(&block);
    node_cache_free(cache);
}

static void
neighbours_are_told_apart(void **state)
{
    (void)state;
    struct node_cache *cache = node_cache_new(MEMORY);
    struct node_block block;
    struct arena arena;
    struct reason why = {""};
    struct term term;
    node_block_init(&block);
    arena_init(&arena, 0);
    for (int i = 0; i < 4; i++) {
        put(cache, &block, CELL, TEXT_MAXIMUM - 1);
    }
    assert_int_equal(node_cache_find(cache, CELL, OID_KIND_STRING, &arena, &term, &why), STATUS_OK);
    assert_int_equal(node_cache_find(cache, CELL + 1, OID_KIND_STRING, &arena, &term, &why),
                     STATUS_NOT_FOUND);
    arena_release(&arena);
    node_block_release(&block);
    node_cache_free(cache);
}

/* Who gives back what he never had does no harm. */
static void
what_never_was_is_let_go(void **state)
{
    (void)state;
    node_cache_free(NULL);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_used),
        cmocka_unit_test(memory_is_kept_within),
        cmocka_unit_test(room_is_told),
        cmocka_unit_test(neighbours_are_told_apart),
        cmocka_unit_test(what_never_was_is_let_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
