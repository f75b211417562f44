/* Records spread over parts by a hash, so that they can be brought together part by part. They are
 * kept in blocks packed by LZ4, in memory as far as it goes, the rest in a nameless file for each
 * part, which vanishes with the process. Writing: one thread; parts that are not written to any
 * more may be read by several threads. */
#ifndef DUMPS_SPOOL_H
#define DUMPS_SPOOL_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/status.h"

enum { SPOOL_PARTS = 256, SPOOL_LEVELS = 7 };

/* What all spools of a task may take together. */
struct spool_room {
    const char *folder;
    uint64_t memory, disk; /* bytes */
    _Atomic uint64_t memory_used, disk_used, disk_peak;
};

struct spool;
/* level: which byte of the hash, from the high end, chooses the part. */
struct spool *spool_new(struct spool_room *room, unsigned level);
void spool_free(struct spool *spool);

/* LIMIT past the room, SYSTEM when a file cannot be made or written. */
enum status spool_add(struct spool *spool, uint64_t hash, struct slice record, struct reason *why);
/* After the last add. */
enum status spool_flush(struct spool *spool, struct reason *why);
uint64_t spool_part_bytes(const struct spool *spool, unsigned part); /* unpacked */
/* The part's first blocks, as many as the buffer's maximum takes; *whole: those were all. */
enum status spool_load(const struct spool *spool, unsigned part, struct buf *bytes, bool *whole,
                       struct reason *why);
/* Calls out every record of a part, in order. */
typedef enum status spool_visit(void *context, struct slice record, struct reason *why);
enum status spool_walk(struct spool *spool, unsigned part, spool_visit *visit, void *context,
                       struct reason *why);
void spool_forget(struct spool *spool, unsigned part); /* frees what it takes */

/* Takes the next record off loaded bytes; false at the end. */
bool spool_next(struct slice *bytes, struct slice *record);

#endif
