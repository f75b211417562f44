#include "rdf/core/scratch.h"

#include <stdlib.h>

#include "base/memory.h"

enum { BLOCK_SIZE = 32 << 10 };

struct scratch_block {
    struct scratch_block *before, *after;
    size_t size;
    char bytes[];
};

static struct scratch_block *
block_new(struct scratch_block *before, size_t size)
{
    struct scratch_block *block = memory_alloc(sizeof *block + size);
    block->before = before;
    block->after = NULL;
    block->size = size;
    return block;
}

static void
blocks_free(struct scratch_block *block)
{
    while (block != NULL) {
        struct scratch_block *after = block->after;
        free(block);
        block = after;
    }
}

void
scratch_init(struct scratch *scratch)
{
    scratch->block = block_new(NULL, BLOCK_SIZE);
    scratch->used = 0;
}

void
scratch_release(struct scratch *scratch)
{
    struct scratch_block *first = scratch->block;
    while (first != NULL && first->before != NULL) {
        first = first->before;
    }
    blocks_free(first);
    scratch->block = NULL;
}

char *
scratch_take(struct scratch *scratch, size_t size)
{
    if (size > scratch->block->size - scratch->used) {
        struct scratch_block *block = scratch->block;
        if (block->after == NULL || block->after->size < size) {
            blocks_free(block->after);
            block->after = block_new(block, size > BLOCK_SIZE ? size : BLOCK_SIZE);
        }
        scratch->block = block->after;
        scratch->used = 0;
    }
    char *at = scratch->block->bytes + scratch->used;
    scratch->used += size;
    return at;
}

void
scratch_shorten(struct scratch *scratch, size_t by)
{
    scratch->used -= by;
}

struct slice
scratch_copy(struct scratch *scratch, struct slice slice)
{
    char *at = scratch_take(scratch, slice.length);
    if (slice.length > 0) {
        memcpy(at, slice.at, slice.length);
    }
    return slice_of(at, slice.length);
}

struct slice
scratch_join(struct scratch *scratch, struct slice a, struct slice b)
{
    char *at = scratch_take(scratch, a.length + b.length);
    if (a.length > 0) {
        memcpy(at, a.at, a.length);
    }
    if (b.length > 0) {
        memcpy(at + a.length, b.at, b.length);
    }
    return slice_of(at, a.length + b.length);
}
