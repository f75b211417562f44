/* Records spread over parts by a hash, so that they can be brought together part by part. They are
 * kept in blocks, in memory as far as it goes, the rest packed by LZ4 in a nameless file for each
 * part, which vanishes with the process. Writing: several threads, each by a writer of its own;
 * parts that are not written to any more may be read by several threads. */
#ifndef DUMPS_SPOOL_H
#define DUMPS_SPOOL_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/status.h"

enum { SPOOL_PARTS = 256, SPOOL_LEVELS = 7 };

/* The room that all spools of a task may take together. */
struct spool_room {
    const char *folder;
    uint64_t memory, disk; /* bytes */
    size_t block;          /* bytes of a block */
    _Atomic uint64_t memory_used, disk_used, disk_peak;
};

struct spool;
/* level: which byte of the hash, from the high end, chooses the part. */
struct spool *spool_new(struct spool_room *room, unsigned level);
void spool_free(struct spool *spool);

/* The writer of one thread. Records of one writer keep their order within a part. Free before the
 * spool. */
struct spool_writer;
struct spool_writer *spool_writer_new(struct spool *spool);
void spool_writer_free(struct spool_writer *writer);
/* Adds a record whose bytes are put to *at. LIMIT past the room, SYSTEM when a file cannot be made
 * or written. */
enum status spool_make(struct spool_writer *writer, uint64_t hash, size_t length, char **at,
                       struct reason *why);
enum status spool_add(struct spool_writer *writer, uint64_t hash, struct slice record,
                      struct reason *why);
/* After the last add of the writer. */
enum status spool_flush(struct spool_writer *writer, struct reason *why);
uint64_t spool_part_bytes(const struct spool *spool, unsigned part); /* unpacked */
/* The part's first blocks, as many as are `most` bytes; *whole: those were all. */
enum status spool_load(const struct spool *spool, unsigned part, struct buf *bytes, size_t most,
                       bool *whole, struct reason *why);
/* Calls out every record of a part, in order. */
typedef enum status spool_visit(void *context, struct slice record, struct reason *why);
enum status spool_walk(struct spool *spool, unsigned part, spool_visit *visit, void *context,
                       struct reason *why);
void spool_forget(struct spool *spool, unsigned part); /* frees what it takes */

/* Takes the next record off loaded bytes; false at the end. */
bool spool_next(struct slice *bytes, struct slice *record);

#endif
