#include "index/write/gathering.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/system/log.h"
#include "index/statistics/statistics.h"

enum {
    TREES = 5,            /* that get the changes later */
    FASTER = 2,           /* a flush ends when half as much has come as is flushed */
    PER_BLOCK = 16,       /* changes gathered for each block of a tree, at most */
    FLUSH_CHANGES = 50000 /* of a transaction without a batch */
};
static const struct slice record_key = {"G", 1};

/* ---- the start ---- */

static enum status
read_batch(struct change_reader *reader, const struct change_batch *batch,
           struct change_block *block, struct change_set **set, struct reason *why)
{
    struct quad_change *changes = NULL;
    size_t count = 0, capacity = 0;
    enum status status;
    while ((status = change_reader_block(reader, block, why)) == STATUS_OK) {
        if (count + block->count > capacity) {
            capacity = 2 * (count + block->count);
            changes = memory_resize(changes, capacity, sizeof(*changes));
        }
        for (size_t i = 0; i < block->count; i++) {
            changes[count++] =
                (struct quad_change){row_quad(&block->rows[i], ORDER_CSPO), block->removed[i]};
        }
    }
    if (status != STATUS_END) {
        free(changes);
        return status;
    }
    *set = change_set_new(changes, count);
    (*set)->batch = batch->position.batch;
    return STATUS_OK;
}

static enum status
read_batches(struct partition *partition, struct change_reader *reader, struct reason *why)
{
    struct change_block *block = memory_alloc(sizeof(*block));
    struct change_batch batch;
    struct change_set *set;
    enum status status;
    while ((status = change_reader_batch(reader, &batch, why)) == STATUS_OK &&
           (status = read_batch(reader, &batch, block, &set, why)) == STATUS_OK) {
        snapshots_gathered(partition->snapshots, set);
    }
    free(block);
    return status == STATUS_END ? STATUS_OK : status;
}

enum status
gathering_open(struct partition *partition, struct reason *why)
{
    struct change_reader *reader;
    const enum status found =
        statistics_read(partition->statistics, record_key, &partition->gathered.from, 1, why);
    if (found == STATUS_NOT_FOUND) {
        return STATUS_OK;
    }
    TRY(found);
    if (partition->gathered.from == 0) {
        return STATUS_OK;
    }
    change_log_keep(partition->change_log, partition->gathered.from);
    TRY(change_reader_open_at(&reader, partition->change_log, partition->gathered.from, why));
    const enum status status = read_batches(partition, reader, why);
    change_reader_close(reader);
    if (status == STATUS_CORRUPT || status == STATUS_STALE) {
        log_error("changes that the trees lack cannot be read", "why=%s", why->text);
        struct reason missing;
        (void)status_fail(&missing, STATUS_CORRUPT,
                          "what was gathered for the trees cannot be read: a page of changes.db is "
                          "damaged");
        snapshots_set_missing(partition->snapshots, &missing);
        return STATUS_OK;
    }
    return status;
}

/* ---- in a transaction ---- */

/* A batch with as many changes as may be gathered goes into all trees at once. */
static size_t
most_gathered(const struct partition *partition)
{
    const uint64_t changes = PER_BLOCK * quads_blocks(partition->quads);
    return changes < partition->gathered.most ? changes : partition->gathered.most;
}

static bool
is_to_be_gathered(const struct commit *commit)
{
    const struct partition *partition = commit->partition;
    return commit->gathers && commit->set->count < most_gathered(partition) &&
           change_log_holds(partition->change_log, commit->set->count);
}

/* From here on all that is gathered is one set to be flushed. */
static void
begin_flush(struct partition *partition)
{
    snapshots_flush(partition->snapshots);
    partition->gathered.flushed = (struct quads_progress){0};
}

/* So many changes of trees. */
static enum status
flush(struct commit *commit, size_t changes, struct reason *why)
{
    struct partition *partition = commit->partition;
    const struct change_set *set = snapshots_flushing(partition->snapshots);
    commit->progress = partition->gathered.flushed;
    return set == NULL ? STATUS_OK
                       : quads_flush(partition->quads, commit->transaction, set, &commit->progress,
                                     changes, &commit->flushed, why);
}

static enum status
write_record(struct commit *commit, struct reason *why)
{
    struct partition *partition = commit->partition;
    const uint64_t from = snapshots_gathered_from(partition->snapshots, commit->flushed);
    commit->gathered_from = from;
    change_log_keep(partition->change_log, from);
    if (from == partition->gathered.from) {
        return STATUS_OK;
    }
    struct latch *latch = tree_latch(partition->statistics);
    latch_enter_writing(latch);
    const enum status status =
        statistics_write(partition->statistics, commit->transaction, record_key, &from, 1, why);
    latch_leave(latch);
    return status;
}

enum status
gathering_apply(struct commit *commit, struct reason *why)
{
    struct partition *partition = commit->partition;
    struct snapshots *snapshots = partition->snapshots;
    struct change_set *set = commit->set;
    const bool gathers = is_to_be_gathered(commit);
    TRY(snapshots_health(snapshots, why));
    if (gathers ? snapshots_gathered_changes(snapshots) > most_gathered(partition) &&
                      snapshots_flushing(snapshots) == NULL
                : snapshots_gathered_from(snapshots, false) > 0) {
        begin_flush(partition);
    }
    TRY(flush(commit, gathers ? set->count * TREES * FASTER : SIZE_MAX, why));
    set->batch = commit->totals.batches + 1;
    partition_keys_note(partition->keys, set);
    snapshots_publish(snapshots, set, gathers);
    partition_mark(partition, set);
    commit->published = true;
    TRY(write_record(commit, why));
    return gathers
               ? quads_apply_graphs(partition->quads, commit->transaction, set, why)
               : quads_apply(partition->quads, commit->transaction, set, commit->build_from, why);
}

static void
note_progress(struct commit *commit)
{
    struct partition *partition = commit->partition;
    partition->gathered.from = commit->gathered_from;
    partition->gathered.flushed = commit->flushed ? (struct quads_progress){0} : commit->progress;
}

void
gathering_end(struct commit *commit, bool committed)
{
    snapshots_end(commit->partition->snapshots, committed, commit->flushed);
    if (committed) {
        note_progress(commit);
    }
}

/* ---- without a batch ---- */

/* A crash may undo it: then it is done again. */
static enum status
flush_step(struct commit *commit, struct reason *why)
{
    struct environment *environment = commit->partition->environment;
    enum status status = flush(commit, FLUSH_CHANGES, why);
    if (status == STATUS_OK) {
        status = write_record(commit, why);
    }
    if (status == STATUS_OK) {
        return transaction_commit_unsynced(commit->transaction, why);
    }
    environment_close_latches(environment);
    transaction_abort(commit->transaction);
    environment_open_latches(environment);
    return status;
}

enum status
gathering_flush_some(struct partition *partition, bool *more, struct reason *why)
{
    struct commit commit = {.partition = partition};
    struct snapshots *snapshots = partition->snapshots;
    *more = false;
    TRY(snapshots_health(snapshots, why));
    if (snapshots_gathered_from(snapshots, false) == 0) {
        return STATUS_OK;
    }
    if (snapshots_flushing(snapshots) == NULL) {
        begin_flush(partition);
    }
    enum { CHANGE_BYTES = 4096 };
    TRY(transaction_begin(&commit.transaction, partition->environment,
                          (uint64_t)FLUSH_CHANGES * CHANGE_BYTES, why));
    TRY(flush_step(&commit, why));
    if (commit.flushed) {
        snapshots_flushed(snapshots);
    }
    note_progress(&commit);
    *more = snapshots_gathered_from(snapshots, false) > 0;
    return STATUS_OK;
}
