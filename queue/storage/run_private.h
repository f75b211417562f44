/* The bytes of a run, and its filter: shared by run_write.c and run_read.c. */
#ifndef QUEUE_STORAGE_RUN_PRIVATE_H
#define QUEUE_STORAGE_RUN_PRIVATE_H

#include "queue/storage/run.h"

enum {
    RUN_VERSION = 1,
    RUN_BLOCK_HEADER = 9, /* u32 CRC-32 of the rest, u8 coding, u32 length when not compressed */
    RUN_BLOCK_MAXIMUM = 1 << 20,
    RUN_FOOTER = 84,
    RUN_ZSTD_LEVEL = 1
};
#define RUN_MAGIC "QRUN"

enum run_coding { RUN_PLAIN, RUN_ZSTD };

/* 32 bytes: one bit in each word. */
struct filter_block {
    uint32_t words[8];
};
struct run_filter {
    struct filter_block *blocks;
    uint64_t count;
};

static inline uint64_t
run_filter_blocks(uint64_t prefixes)
{
    return prefixes * RUN_FILTER_BITS / (8 * sizeof(struct filter_block)) + 1;
}
uint64_t run_filter_hash(const uint8_t *key, size_t length);
void run_filter_add(struct run_filter *filter, uint64_t hash);
bool run_filter_has(const struct run_filter *filter, uint64_t hash);

/* The footer of a run. */
struct run_footer {
    struct run_shape shape;
    struct run_totals totals;
    uint64_t blocks;
    uint64_t index_at, index_length;
    uint64_t filter_at, filter_blocks;
    uint32_t index_check, filter_check;
};

#endif
