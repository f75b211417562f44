/* Several sorted levels read as one: the newest record of each key, in ascending order. */
#ifndef QUEUE_STORAGE_RUN_MERGE_H
#define QUEUE_STORAGE_RUN_MERGE_H

#include "queue/storage/run.h"
#include "queue/storage/sorted_map.h"

enum { MERGE_SOURCES = 64 };

struct merge_source {
    const struct ordered *map; /* else a run */
    struct ordered_cursor ordered;
    struct run_cursor run;
    struct slice key; /* where it stands; at NULL: past its end */
};

/* key, value and removed are of the present record, until the next call. */
struct merge {
    struct merge_source sources[MERGE_SOURCES]; /* newest first */
    size_t count;
    struct slice key, value;
    bool removed, ended;
};

void merge_init(struct merge *merge);
void merge_release(struct merge *merge);
/* Again without sources; their memory stays. */
void merge_reset(struct merge *merge);
/* Newest first, at the first key that is not less than `from`; what is added must outlive the
 * merge. At most MERGE_SOURCES. */
void merge_add_map(struct merge *merge, const struct ordered *map, struct slice from);
enum status merge_add_run(struct merge *merge, const struct run *run, struct slice from,
                          struct reason *why);
/* After the last source was added, and to go on. */
enum status merge_next(struct merge *merge, struct reason *why);

#endif
