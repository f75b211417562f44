#include "base/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"

/* Blocks form a list, the one in use first; each is twice as large as the one before, up to the
 * usual size, since thousands of jobs are small and in memory together. A request larger than half
 * a usual block gets one of its own behind the first, so that the rest of the first is not wasted.
 * The first fits into what malloc keeps by thread. */
enum { ARENA_BLOCK_BYTES = 32 << 10, ARENA_FIRST_BYTES = 960, ARENA_ALIGNMENT = 16 };

struct arena_block {
    struct arena_block *next;
    size_t capacity, used;
    _Alignas(ARENA_ALIGNMENT) char bytes[];
};

void
arena_init(struct arena *arena, size_t maximum)
{
    *arena = (struct arena){.maximum = maximum};
}

static struct arena_block *
block_new(size_t capacity)
{
    struct arena_block *block = memory_alloc(sizeof *block + capacity);
    block->next = NULL;
    block->capacity = capacity;
    block->used = 0;
    return block;
}

static size_t
next_capacity(const struct arena_block *head, size_t least)
{
    size_t capacity = head ? 2 * head->capacity : ARENA_FIRST_BYTES;
    while (capacity < least) {
        capacity *= 2;
    }
    return capacity < ARENA_BLOCK_BYTES ? capacity : ARENA_BLOCK_BYTES;
}

void *
arena_alloc(struct arena *arena, size_t size)
{
    if (size > SIZE_MAX / 2 || (arena->maximum && size > arena->maximum)) {
        return NULL;
    }
    const size_t rounded =
        size ? (size + ARENA_ALIGNMENT - 1) & ~(size_t)(ARENA_ALIGNMENT - 1) : ARENA_ALIGNMENT;
    if (arena->maximum && rounded > arena->maximum - arena->used) {
        return NULL;
    }
    struct arena_block *block = arena->head;
    if (!block || rounded > block->capacity - block->used) {
        const bool large = rounded > ARENA_BLOCK_BYTES / 2;
        block = block_new(large ? rounded : next_capacity(block, rounded));
        if (large && arena->head) {
            block->next = arena->head->next;
            arena->head->next = block;
        } else {
            block->next = arena->head;
            arena->head = block;
        }
    }
    void *memory = block->bytes + block->used;
    block->used += rounded;
    arena->used += rounded;
    return memory;
}

void *
arena_zero(struct arena *arena, size_t size)
{
    void *memory = arena_alloc(arena, size);
    if (memory) {
        memset(memory, 0, size);
    }
    return memory;
}

struct slice
arena_copy(struct arena *arena, struct slice slice)
{
    char *copy = slice.length < SIZE_MAX ? arena_alloc(arena, slice.length + 1) : NULL;
    if (!copy) {
        return (struct slice){NULL, 0};
    }
    if (slice.length > 0) {
        memcpy(copy, slice.at, slice.length);
    }
    copy[slice.length] = '\0';
    return (struct slice){copy, slice.length};
}

struct slice
arena_printf(struct arena *arena, const char *format, ...)
{
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    const int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    char *text = length < 0 ? NULL : arena_alloc(arena, (size_t)length + 1);
    if (text) {
        (void)vsnprintf(text, (size_t)length + 1, format, arguments);
    }
    va_end(arguments);
    return text ? (struct slice){text, (size_t)length} : (struct slice){NULL, 0};
}

static void
blocks_free(struct arena_block *block)
{
    while (block) {
        struct arena_block *next = block->next;
        free(block);
        block = next;
    }
}

void
arena_reset(struct arena *arena)
{
    struct arena_block *kept = NULL;
    if (arena->head) {
        struct arena_block *rest = arena->head->next;
        if (arena->head->capacity <= ARENA_BLOCK_BYTES) {
            kept = arena->head;
            kept->next = NULL;
            kept->used = 0;
        } else {
            free(arena->head);
        }
        blocks_free(rest);
    }
    arena->head = kept;
    arena->used = 0;
}

void
arena_release(struct arena *arena)
{
    blocks_free(arena->head);
    arena->head = NULL;
    arena->used = 0;
}
