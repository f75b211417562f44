/* Inside of a partition: shared by partition.c (life), batch_commit.c, partition_reader.c,
 * index/maintenance/verify.c. */
#ifndef INDEX_WRITE_PARTITION_PRIVATE_H
#define INDEX_WRITE_PARTITION_PRIVATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "index/changes/change_log.h"
#include "index/quads/quads.h"
#include "index/statistics/node_lists.h"
#include "index/statistics/triple_counts.h"
#include "index/terms/lexicon.h"
#include "index/terms/term_digests.h"
#include "index/words/literals.h"
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
    struct triple_count_cache *triple_counts;
    struct node_lists *node_lists;
    struct change_marks *marks; /* partition_mark */
    struct partition_keys *keys;
    struct term_digests *digests;
    uint64_t incarnation;   /* a random number of this opening */
    uint64_t first_batches; /* totals.batches at the start: snapshot versions count from there */
    char *folder;

    pthread_mutex_t mutex; /* guards what follows */
    struct totals totals;  /* as committed */
    int announce;          /* eventfd: partition_announce_to */
    bool stopping;
    enum status failed; /* of the keeper; its reason: */
    struct reason failure;
    pthread_cond_t wake, settled;
    uint64_t literals_next, literals_written;
    uint64_t words_until; /* wanted of literals_written */
    bool checkpoint_due;

    /* Held by a batch while it writes, by verify for moments. */
    pthread_mutex_t writer; /* taken by partition_lock_writer */
    struct staging *staging;
    uint64_t merged;       /* quads that were new, since somebody asked */
    unsigned staging_held; /* no quads may wait: partition_hold_staging */
    atomic_bool more_come; /* a batch that will wait is being gathered */
    uint32_t pause_s;
    size_t build_from;
    size_t gather_most;            /* changes: gathering.h */
    uint64_t gathered_from;        /* the record G */
    struct quads_progress flushed; /* of what snapshots_flushing gives, as committed */

    _Atomic enum status writes; /* how the last batch went */

    /* Held by backup and by compact, so that one of them runs at a time. */
    pthread_mutex_t maintenance;

    struct literals *literals; /* the keeper's; searches open their own view */
    pthread_t keeper;
    bool keeper_runs;
};

/* OK while the keeper is well. */
enum status partition_health(struct partition *partition, struct reason *why);
/* Waits for `writer`, however long whoever has it needs. */
void partition_lock_writer(struct partition *partition);
/* Waits until no words of what is committed are in memory alone, or the disk is full. Not with
 * `writer` held. */
enum status partition_write_words(struct partition *partition, struct reason *why);
/* From hold to release nothing waits on the disk: for copies. Not with `writer` held. */
enum status partition_hold_staging(struct partition *partition, struct reason *why);
void partition_release_staging(struct partition *partition);
/* Notes what a set changes that is published and not committed yet. */
/* CORRUPT, naming the tree, when one that holds something of every quad is empty although there are
 * quads: its file was removed or lost. Without an order that a dump does not read there is only
 * that left, and queries and batches end with CORRUPT. */
enum status partition_check_whole(const struct partition *partition, struct reason *why);
void partition_mark(struct partition *partition, const struct change_set *set);
/* The writer tells of a commit. */
void partition_committed(struct partition *partition, const struct totals *totals);

struct partition_reader {
    struct partition *partition;
    struct snapshot *snapshot;
    struct recent_blocks *recent;
    struct nodes_reader *nodes;
    uint64_t total; /* quads when the snapshot was taken */
    struct quad_source source;
};

/* Compares a census of all documents with the counts of hosts, sets of predicates and subjects that
 * are recorded. `say` gets a line for each difference and a last one when there is no more to
 * report. The caller keeps the writer away. */
typedef enum status statistics_say(void *context, bool wrong, const char *text, struct reason *why);
enum status statistics_compare(struct partition *partition, const struct census *census,
                               statistics_say *say, void *context, struct reason *why);

#endif
