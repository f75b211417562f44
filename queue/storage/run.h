/* A run: records sorted by key in a file that never changes (FORMAT.md, "Runs"). Written once
 * from beginning to end, then read in any order.
 *
 * In memory a run costs the first key of each block and a filter of about ten bits for each
 * distinct beginning of a key: a split block Bloom filter (Putze, Sanders, Singler 2007; as in
 * Apache Parquet), of which one cache line is touched, and which is wrong for about 1 % of what is
 * not there and never for what is. Everything read from the file is checked by CRC-32 and against
 * its bounds. A run may be read by many threads, a cursor by one.
 */
#ifndef QUEUE_STORAGE_RUN_H
#define QUEUE_STORAGE_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/slice.h"
#include "base/status.h"

enum { RUN_KEY_MAXIMUM = 40, RUN_VALUE_MAXIMUM = 512 << 10 };

/* The properties that all runs of a tree have in common. */
struct run_shape {
    uint8_t key_length;
    uint8_t filter_length; /* bytes of the key that the filter knows */
    bool compress;         /* blocks, by Zstandard (RFC 8878) */
    uint32_t block_length; /* a block is closed when it has so many bytes, not compressed */
};

struct run_totals {
    uint64_t records, removed; /* removed: those that say so, included in records */
    uint64_t prefixes;         /* distinct beginnings of keys */
    uint64_t bytes;            /* of the file */
};

/* ---- writing ---- */

/* Called before each write(2), fsync(2) and the like; for tests. 0, or the errno to fail with. */
typedef int run_fault(void *context);

struct run_writer;
/* prefixes: at most so many distinct beginnings of keys will come. */
enum status run_writer_open(struct run_writer **writer, const char *path,
                            const struct run_shape *shape, uint64_t prefixes, run_fault *fault,
                            void *fault_context, struct reason *why);
/* Keys ascend. */
enum status run_writer_add(struct run_writer *writer, struct slice key, struct slice value,
                           bool removed, struct reason *why);
/* Durable at OK, the name in its folder included. FULL: no room. Frees the writer always; the file
 * stays, good or not. */
enum status run_writer_finish(struct run_writer *writer, struct run_totals *totals,
                              struct reason *why);
void run_writer_drop(struct run_writer *writer);

/* ---- reading ---- */

struct run;
/* CORRUPT: it is damaged, or not of that shape. */
enum status run_open(struct run **run, const char *path, const struct run_shape *shape,
                     struct reason *why);
void run_close(struct run *run);
struct run_totals run_totals(const struct run *run);
size_t run_key_length(const struct run *run);
size_t run_memory(const struct run *run); /* bytes */
/* False: no key of the run begins like this one. */
bool run_may_have(const struct run *run, struct slice key);

/* key, value and removed are of the record at which the cursor stands, until it moves. */
struct run_cursor {
    const struct run *run; /* NULL: none yet; memory stays from run to run */
    size_t block;          /* SIZE_MAX: none is read */
    const uint8_t *at, *end;
    uint8_t *stored, *plain;
    size_t stored_capacity, plain_capacity;
    uint8_t key[RUN_KEY_MAXIMUM];
    struct slice value;
    bool removed;
    bool ended; /* stands past the last record */
};

void run_cursor_init(struct run_cursor *cursor);
void run_cursor_release(struct run_cursor *cursor);
/* Goes to the first key that is not less. */
enum status run_seek(struct run_cursor *cursor, const struct run *run, struct slice key,
                     struct reason *why);
enum status run_next(struct run_cursor *cursor, struct reason *why);

#endif
