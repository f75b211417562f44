/* One transaction that changes graphs: what the commits of batches (batch_commit.c) and of imported
 * quads that waited (staging_merge.c) have in common, from the moment on when the changes are
 * known. */
#ifndef INDEX_WRITE_GRAPH_TRANSACTION_H
#define INDEX_WRITE_GRAPH_TRANSACTION_H

#include "index/write/batch.h"

struct commit {
    struct partition *partition;
    struct transaction *transaction;
    struct totals totals;   /* as they will be */
    struct change_set *set; /* NULL until the changes are known */
    struct census census;   /* told of subjects and documents */
    size_t build_from;      /* of quads_apply */
    bool gathers;           /* the set need not go into all trees now: gathering.h */
    bool published;
    /* gathering.c's: how far a flush has come, whether it is at its end, and the record G */
    struct quads_progress progress;
    bool flushed;
    uint64_t gathered_from;
};

/* Publishes the set for readers, brings it into the six trees and appends it to the change log.
 * generations: of all graphs that the set changes, at least, in their order. */
enum status commit_quads(struct commit *commit, const struct graph_generation *generations,
                         size_t count, struct reason *why);
/* One batch more, with all counts. The last before commit_end. */
enum status commit_statistics(struct commit *commit, struct reason *why);
/* Commits, or after a failure undoes all, and lets new readers see it. */
enum status commit_end(struct commit *commit, enum status status, struct reason *why);

#endif
