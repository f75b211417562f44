/* A Berkeley DB environment in a folder of its own, as the queue, the metadata store and the index
 * have one: held by one process at a time, recovered at each opening, and what its errors mean.
 *
 * DB_PRIVATE keeps all regions in this process, so kill -9 leaves nothing but the log and the
 * trees, which recovery makes agree. There is no lock subsystem: the caller keeps readers and the
 * writer apart. Pages have 4 KiB, which a disk writes whole: a torn page cannot be recovered.
 * docs/POWER.md says what is synced when.
 */
#ifndef STORE_DATABASE_H
#define STORE_DATABASE_H

#include <db.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/slice.h"
#include "base/status.h"

struct database_options {
    const char *folder; /* made when missing */
    uint64_t cache_bytes;
    uint32_t log_file_bytes; /* each opening writes zeros to what is left of the latest */
    uint32_t log_buffer_bytes;
    uint32_t lock_wait_ms; /* how long to wait for another owner to go */
    mode_t file_mode;      /* of files; folders may also be entered by who may read them */
    bool no_sync;          /* a crash of the machine may lose the latest commits */
    bool threads;          /* several use its handles */
};

struct database {
    DB_ENV *environment; /* NULL: not open */
    char *folder;
    int lock;
    mode_t file_mode;
    bool threads;
    bool broken; /* nothing can be written until it is opened again; the caller may set it */
};

/* Makes the folder and takes its lock. DENIED: another process has it. After a failure of this or
 * of database_open, too, the database is to be closed. */
enum status database_hold(struct database *database, const struct database_options *options,
                          struct reason *why);
/* FULL: recovery fails, probably for want of room. */
enum status database_open(struct database *database, const struct database_options *options,
                          struct reason *why);
/* Its trees are closed. With a checkpoint unless it is broken. */
void database_close(struct database *database);

/* A tree in the file of that name. flags: of DB->open. Each page of a tree that is made has a
 * checksum, so that one which was written in part is noticed. *tree is NULL after a failure.
 * UNSUPPORTED: its pages have another size. */
enum status database_open_tree(struct database *database, DB **tree, const char *file,
                               uint32_t flags, struct reason *why);

/* The checksum of the library's log records and pages: h = 33 h + byte over all bytes, from 0,
 * modulo 2^32 (Chris Torek's; hash/hash_func.c of Berkeley DB 5.3). The library computes it byte
 * after byte, a nanosecond each, which was 6 % of what a crawl takes; this gives the same number by
 * eight bytes at a time. It has the library's name for it and its parameters, and the dynamic
 * linker takes a program's definition before a library's, as of malloc. Where the library was built
 * with other names nothing calls this, and nothing else changes. Any thread. */
uint32_t database_checksum(const void *unused, const void *bytes,
                           uint32_t length) __asm__("__ham_func4");

/* Returns what an error of the library means: FULL, CORRUPT or SYSTEM. After DB_RUNRECOVERY it is
 * broken. / */
enum status database_failed(struct database *database, int error, struct reason *why,
                            const char *what);

/* Bytes that are free on its disk. */
enum status database_room(const struct database *database, uint64_t *bytes, struct reason *why);

static inline DBT
database_bytes(struct slice bytes)
{
    return (DBT){.data = (void *)(uintptr_t)bytes.at, .size = (uint32_t)bytes.length};
}

#endif
