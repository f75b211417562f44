#include "index/partition_private.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/memory.h"

enum { MEBIBYTE = 1 << 20 };

void
partition_options_default(struct partition_options *options, const char *folder)
{
    *options = (struct partition_options){.folder = folder,
                                          .cache_bytes = (uint64_t)256 * MEBIBYTE,
                                          .term_memory = (uint64_t)64 * MEBIBYTE,
                                          .snapshot_memory = (uint64_t)256 * MEBIBYTE,
                                          .checkpoint_bytes = (uint64_t)256 * MEBIBYTE,
                                          .change_bytes = (uint64_t)32 * MEBIBYTE,
                                          .disk_reserve = (uint64_t)64 * MEBIBYTE};
}

/* ---- the keeper: keyword index and checkpoints ---- */

static enum status
keep(struct partition *partition, uint64_t limit, bool checkpoint, struct reason *why)
{
    bool done = false;
    pthread_mutex_lock(&partition->keeping);
    enum status status = literals_catch_up(partition->literals, lexicon_nodes(partition->lexicon),
                                           limit, &done, why);
    pthread_mutex_unlock(&partition->keeping);
    if (status == STATUS_OK && checkpoint) {
        status = environment_checkpoint(partition->environment, false, why);
    }
    return status;
}

static void *
keeper(void *argument)
{
    struct partition *partition = argument;
    pthread_mutex_lock(&partition->mutex);
    while (partition->failed == STATUS_OK) {
        const uint64_t limit = partition->totals.terms + 1;
        const bool work = partition->literals_next != limit || partition->checkpoint_due;
        if (!work) {
            pthread_cond_broadcast(&partition->settled);
            if (partition->stopping) {
                break;
            }
            pthread_cond_wait(&partition->wake, &partition->mutex);
            continue;
        }
        const bool checkpoint = partition->checkpoint_due;
        partition->checkpoint_due = false;
        pthread_mutex_unlock(&partition->mutex);
        struct reason why = {""};
        const enum status status = keep(partition, limit, checkpoint, &why);
        pthread_mutex_lock(&partition->mutex);
        partition->literals_next = literals_next(partition->literals);
        if (status != STATUS_OK) {
            log_error("index keeper failed", "why=%s", why.text);
            partition->failed = status;
            partition->failure = why;
        }
    }
    pthread_cond_broadcast(&partition->settled);
    pthread_mutex_unlock(&partition->mutex);
    return NULL;
}

void
partition_committed(struct partition *partition, const struct totals *totals)
{
    pthread_mutex_lock(&partition->mutex);
    partition->totals = *totals;
    partition->checkpoint_due = true;
    pthread_cond_signal(&partition->wake);
    if (partition->announce >= 0) {
        const uint64_t one = 1;
        const ssize_t written = write(partition->announce, &one, sizeof(one));
        (void)written;
    }
    pthread_mutex_unlock(&partition->mutex);
}

void
partition_announce_to(struct partition *partition, int event)
{
    pthread_mutex_lock(&partition->mutex);
    partition->announce = event;
    pthread_mutex_unlock(&partition->mutex);
}

void
partition_position(struct partition *partition, struct change_position *position, uint64_t *first)
{
    change_log_state(partition->change_log, position, first);
}

enum status
partition_health(struct partition *partition, struct reason *why)
{
    pthread_mutex_lock(&partition->mutex);
    const enum status status = partition->failed;
    const struct reason failure = partition->failure;
    pthread_mutex_unlock(&partition->mutex);
    return status == STATUS_OK ? STATUS_OK : status_fail(why, status, "%s", failure.text);
}

enum status
partition_settle(struct partition *partition, struct reason *why)
{
    pthread_mutex_lock(&partition->mutex);
    const uint64_t limit = partition->totals.terms + 1;
    while (partition->literals_next < limit && partition->failed == STATUS_OK) {
        pthread_cond_wait(&partition->settled, &partition->mutex);
    }
    pthread_mutex_unlock(&partition->mutex);
    return partition_health(partition, why);
}

/* ---- life ---- */

static enum status
open_parts(struct partition *partition, const struct partition_options *options, struct reason *why)
{
    const struct environment_options environment = {.folder = options->folder,
                                                    .cache_bytes = options->cache_bytes,
                                                    .checkpoint_bytes = options->checkpoint_bytes,
                                                    .disk_reserve = options->disk_reserve,
                                                    .lock_wait_ms = options->lock_wait_ms,
                                                    .page_size = options->page_size,
                                                    .no_sync = options->no_sync};
    TRY(environment_open(&partition->environment, &environment, why));
    TRY(tree_open(&partition->statistics, partition->environment, "statistics", why));
    TRY(statistics_open(partition->statistics, partition->environment, &partition->totals, why));
    TRY(characteristic_sets_open(&partition->sets, partition->statistics, why));
    partition->first_batches = partition->totals.batches;
    TRY(change_log_open(&partition->change_log, partition->environment, &partition->gate,
                        partition->statistics, options->change_bytes, partition->totals.batches,
                        why));
    TRY(tree_open(&partition->documents, partition->environment, "documents", why));
    TRY(quads_open(&partition->quads, partition->environment, &partition->gate, why));
    TRY(lexicon_open(&partition->lexicon, partition->environment, &partition->gate,
                     options->term_memory, why));
    partition->totals.terms = nodes_next(lexicon_nodes(partition->lexicon)) - 1;
    TRY(literals_open(&partition->literals, options->folder, why));
    partition->literals_next = literals_next(partition->literals);
    if (pthread_create(&partition->keeper, NULL, keeper, partition) != 0) {
        return status_fail(why, STATUS_SYSTEM, "cannot start a thread");
    }
    partition->keeper_runs = true;
    return STATUS_OK;
}

enum status
partition_open(struct partition **result, const struct partition_options *options,
               struct reason *why)
{
    struct partition *partition = memory_zero(1, sizeof(*partition));
    partition->announce = -1;
    gate_init(&partition->gate);
    pthread_mutex_init(&partition->mutex, NULL);
    pthread_mutex_init(&partition->writer, NULL);
    pthread_mutex_init(&partition->care, NULL);
    pthread_mutex_init(&partition->keeping, NULL);
    pthread_cond_init(&partition->wake, NULL);
    pthread_cond_init(&partition->settled, NULL);
    partition->folder = memory_string(options->folder);
    partition->snapshots = snapshots_new(options->snapshot_memory);
    const enum status status = open_parts(partition, options, why);
    if (status != STATUS_OK) {
        partition_close(partition);
        partition = NULL;
    }
    *result = partition;
    return status;
}

void
partition_close(struct partition *partition)
{
    if (partition == NULL) {
        return;
    }
    if (partition->keeper_runs) {
        pthread_mutex_lock(&partition->mutex);
        partition->stopping = true;
        pthread_cond_signal(&partition->wake);
        pthread_mutex_unlock(&partition->mutex);
        pthread_join(partition->keeper, NULL);
    }
    literals_close(partition->literals);
    lexicon_close(partition->lexicon);
    quads_close(partition->quads);
    tree_close(partition->documents);
    change_log_close(partition->change_log);
    characteristic_sets_close(partition->sets);
    tree_close(partition->statistics);
    environment_close(partition->environment);
    snapshots_free(partition->snapshots);
    pthread_cond_destroy(&partition->wake);
    pthread_cond_destroy(&partition->settled);
    pthread_mutex_destroy(&partition->mutex);
    pthread_mutex_destroy(&partition->writer);
    pthread_mutex_destroy(&partition->care);
    pthread_mutex_destroy(&partition->keeping);
    gate_release(&partition->gate);
    free(partition->folder);
    free(partition);
}

void
partition_stats(struct partition *partition, struct partition_stats *stats)
{
    pthread_mutex_lock(&partition->mutex);
    stats->totals = partition->totals;
    stats->literals_indexed = partition->literals_next - 1;
    pthread_mutex_unlock(&partition->mutex);
    stats->bytes = environment_bytes(partition->environment);
}
