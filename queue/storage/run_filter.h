/* The filter of a run: whether a prefix of a key may be in it (FORMAT.md). A filter is an array of
 * blocks of 32 bytes; each prefix sets one bit in each word of one block. Whoever reads or writes
 * the run owns the blocks. Thread-safe for reading. */
#ifndef QUEUE_STORAGE_RUN_FILTER_H
#define QUEUE_STORAGE_RUN_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct filter_block {
    uint32_t words[8];
};
struct run_filter {
    struct filter_block *blocks;
    uint64_t count;
};

/* Returns how many blocks so many prefixes get. */
uint64_t run_filter_blocks(uint64_t prefixes);
uint64_t run_filter_hash(const uint8_t *key, size_t length);
void run_filter_add(struct run_filter *filter, uint64_t hash);
/* False: no prefix with this hash was added. */
bool run_filter_has(const struct run_filter *filter, uint64_t hash);

#endif
