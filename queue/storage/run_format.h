/* The bytes of a run, which FORMAT.md describes: what run_write.c writes and run_read.c reads. */
#ifndef QUEUE_STORAGE_RUN_FORMAT_H
#define QUEUE_STORAGE_RUN_FORMAT_H

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

/* The footer of a run, as it is in memory. */
struct run_footer {
    struct run_shape shape;
    struct run_totals totals;
    uint64_t blocks;
    uint64_t index_at, index_length;
    uint64_t filter_at, filter_blocks;
    uint32_t index_check, filter_check;
};

#endif
