/* A partition: its stores, and the state of each of the parts that work on them. partition.c opens
 * the stores, which are constant from then on and say themselves who may use them;
 * partition_state.c has the lock, the totals and what is announced; a part's own state is in a
 * struct of its name. */
#ifndef INDEX_WRITE_PARTITION_STATE_H
#define INDEX_WRITE_PARTITION_STATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "index/changes/change_log.h"
#include "index/quads/quads.h"
#include "index/statistics/node_lists.h"
#include "index/statistics/triple_counts.h"
#include "index/terms/lexicon.h"
#include "index/terms/term_digests.h"
#include "index/words/literals.h"
#include "index/write/keeper.h"
#include "index/write/partition.h"
#include "index/write/partition_keys.h"
#include "index/write/staging.h"

struct partition {
    struct environment *environment;
    struct snapshots *snapshots;
    struct quads *quads;
    struct lexicon *lexicon;
    struct tree *documents, *statistics;
    struct characteristic_sets *sets;
    struct change_log *change_log;
    struct staging *staging;
    struct literals *literals; /* the keeper's; searches open their own view */
    struct triple_count_cache *triple_counts;
    struct node_lists *node_lists;
    struct change_marks *marks; /* partition_mark */
    struct partition_keys *keys;
    struct term_digests *digests;
    char *folder;
    uint64_t incarnation;   /* a random number of this opening */
    uint64_t first_batches; /* totals.batches at the start: snapshot versions count from there */
    size_t build_from;      /* partition_options.build_from */

    pthread_mutex_t mutex; /* guards totals, announce and the keeper's state */
    struct totals totals;  /* as committed */
    int announce;          /* eventfd: partition_announce_to */
    struct keeper keeper;

    /* Held by a batch while it writes, by verify for moments; guards what follows. */
    pthread_mutex_t writer; /* taken by partition_lock_writer */
    struct gathering_state {
        size_t most;                   /* changes */
        uint64_t from;                 /* the record G; 0: nothing is gathered */
        struct quads_progress flushed; /* of what snapshots_flushing gives, as committed */
    } gathered;                        /* gathering.c */
    struct staging_state {
        uint64_t merged; /* quads that were new, since somebody asked */
        unsigned held;   /* no quads may wait: partition_hold_staging */
    } staged;            /* staging_merge.c */

    _Atomic enum status writes; /* how the last batch went */

    /* Held by backup and by compact, so that one of them runs at a time. */
    pthread_mutex_t maintenance;
};

/* ---- partition_state.c ---- */

/* Waits for `writer`, however long whoever has it needs. */
void partition_lock_writer(struct partition *partition);
/* The writer tells of a commit. */
void partition_committed(struct partition *partition, const struct totals *totals);
/* Returns the totals as committed. */
struct totals partition_totals(struct partition *partition);

/* ---- partition_needs.c ---- */

/* Notes what a set changes that is published and not committed yet. */
void partition_mark(struct partition *partition, const struct change_set *set);

/* ---- partition_whole.c ---- */

/* CORRUPT, naming the tree, when one that holds something of every quad is empty although there are
 * quads: its file was removed or lost. Without an order that a dump does not read there is only
 * that left, and queries and batches end with CORRUPT. */
enum status partition_check_whole(const struct partition *partition, struct reason *why);

/* ---- staging_merge.c ---- */

/* Between hold and release nothing waits on the disk, so that copies are whole. Not with `writer`
 * held. */
enum status partition_hold_staging(struct partition *partition, struct reason *why);
void partition_release_staging(struct partition *partition);

/* ---- partition_reader.c ---- */

/* Has the reader see the state of now on, and keep each later commit until it goes on to it. */
void partition_reader_hold(struct partition_reader *reader);
struct snapshot *partition_reader_snapshot(const struct partition_reader *reader);

#endif
