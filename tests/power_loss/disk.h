/* Makes what a disk may hold after the power failed, from a trace (trace.h).
 *
 * The model is what POSIX promises and no more. Of a file, what was synced is there. Since then
 * each unit of its bytes (a sector of 512 bytes; of the pages of a database 4 KiB unless they are
 * torn, its limit that docs/POWER.md states) is as some write left it, whatever other units are;
 * the size is one that it had, and bytes that no write reached are zeros. Of a folder, the names
 * are there that it had when it was synced; of what happened to them since, anything. A file has no
 * name by being synced: that takes the folder's sync. A rename happens whole or not at all. */
#ifndef TESTS_POWER_LOSS_DISK_H
#define TESTS_POWER_LOSS_DISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/slice.h"

struct disk_trace;
struct disk_trace *disk_trace_read(const char *path); /* NULL: told on standard error */
void disk_trace_free(struct disk_trace *trace);
size_t disk_operations(const struct disk_trace *trace);

/* How many marks are among the first `at` operations. */
size_t disk_marks(const struct disk_trace *trace, size_t at);
/* The n-th mark's text. *at: the operations up to it, itself included. False: there is none. */
bool disk_mark(const struct disk_trace *trace, size_t n, struct slice *text, size_t *at);

/* How many writes there are of pages of databases, and the operations up to the n-th, itself
 * included.
 */
size_t disk_page_writes(const struct disk_trace *trace);
size_t disk_page_write(const struct disk_trace *trace, size_t n);

enum disk_fate {
    DISK_CHANCE,    /* each file and folder its own way */
    DISK_LOST,      /* whatever was not synced */
    DISK_LOST_LONG, /* the same, but files have their last size */
    DISK_KEPT,      /* everything, as after a kill */
    DISK_EARLIER,   /* as it was a while before, but for what was synced since */
    DISK_ONE_LOST,  /* all but one file's or folder's */
    DISK_ONE_LONG,  /* the same, but the file has its last size */
    DISK_ONE_KEPT,  /* only one file's or folder's */
    DISK_MIXED,     /* each unit of each file its own way */
    DISK_FATES
};

struct disk_cut {
    size_t at; /* so many operations happened */
    enum disk_fate fate;
    uint64_t seed;
    size_t without; /* the site of syncs that did nothing; SIZE_MAX: all did */
    size_t victim;  /* with one lost or kept: of the operation that names it; SIZE_MAX: by chance */
    bool torn;      /* pages of databases by sectors, too */
};

/* Makes the state in an empty folder; false on failure, which is told on standard error. */
bool disk_build(const struct disk_trace *trace, const struct disk_cut *cut, const char *folder);

/* ---- the places in the code that sync ---- */

/* Looks for them, which the others below need. */
void disk_find_sites(struct disk_trace *trace);
size_t disk_sites(const struct disk_trace *trace);
/* Returns what is synced, and by which calls, as "queue/storage/run_write.c:264 sync_all". */
const char *disk_site_name(const struct disk_trace *trace, size_t site);
size_t disk_site_syncs(const struct disk_trace *trace, size_t site);
/* The n-th sync of that site: the operations before it; SIZE_MAX: there is none. */
size_t disk_site_at(const struct disk_trace *trace, size_t site, size_t n);

#endif
