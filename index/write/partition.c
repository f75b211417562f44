#include "index/write/partition_state.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/memory.h"
#include "index/write/gathering.h"

enum {
    MEBIBYTE = 1 << 20,
    NODE_LISTS_BYTES = 32 * MEBIBYTE,
    CHANGE_MEMORY = sizeof(struct quad_change) + ORDER_COUNT * sizeof(uint32_t)
};

void
partition_options_default(struct partition_options *options, const char *folder)
{
    *options = (struct partition_options){.folder = folder,
                                          .cache_bytes = (uint64_t)256 * MEBIBYTE,
                                          .term_memory = (uint64_t)64 * MEBIBYTE,
                                          .block_memory = (uint64_t)64 * MEBIBYTE,
                                          .words_memory = (uint64_t)256 * MEBIBYTE,
                                          .snapshot_memory = (uint64_t)256 * MEBIBYTE,
                                          .count_memory = (uint64_t)128 * MEBIBYTE,
                                          .checkpoint_bytes = (uint64_t)256 * MEBIBYTE,
                                          .change_bytes = (uint64_t)16 * MEBIBYTE,
                                          .disk_reserve = (uint64_t)64 * MEBIBYTE,
                                          .build_from = 100000,
                                          .pause_s = 5};
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
                                                    .no_sync = options->no_sync};
    TRY(environment_open(&partition->environment, &environment, why));
    TRY(tree_open(&partition->statistics, partition->environment, "statistics", why));
    TRY(statistics_open(partition->statistics, partition->environment, &partition->totals, why));
    TRY(staging_open(&partition->staging, options->folder, partition->statistics, why));
    TRY(characteristic_sets_open(&partition->sets, partition->statistics, why));
    if (getrandom(&partition->incarnation, sizeof(partition->incarnation), 0) !=
        sizeof(partition->incarnation)) {
        return status_fail_errno(why, "no random bytes");
    }
    partition->first_batches = partition->totals.batches;
    TRY(change_log_open(&partition->change_log, partition->environment, partition->statistics,
                        options->change_bytes, partition->totals.batches, why));
    TRY(tree_open(&partition->documents, partition->environment, "documents", why));
    TRY(quads_open(&partition->quads, partition->environment, why));
    TRY(lexicon_open(&partition->lexicon, partition->environment, options->term_memory,
                     options->block_memory, why));
    TRY(gathering_open(partition, why));
    partition->totals.terms = nodes_next(lexicon_nodes(partition->lexicon)) - 1;
    TRY(partition_check_whole(partition, why));
    TRY(literals_open(&partition->literals, partition->environment, options->words_memory,
                      options->build_from, why));
    return keeper_start(partition, why);
}

enum status
partition_open(struct partition **result, const struct partition_options *options,
               struct reason *why)
{
    struct partition *partition = memory_new(sizeof(*partition));
    partition->announce = -1;
    pthread_mutex_init(&partition->mutex, NULL);
    pthread_mutex_init(&partition->writer, NULL);
    pthread_mutex_init(&partition->maintenance, NULL);
    keeper_init(&partition->keeper, options->pause_s);
    partition->folder = memory_string(options->folder);
    partition->build_from = options->build_from;
    partition->snapshots = snapshots_new(options->snapshot_memory);
    partition->triple_counts = triple_count_cache_new(options->count_memory);
    partition->node_lists = node_lists_new(NODE_LISTS_BYTES);
    partition->marks = change_marks_new();
    partition->keys = partition_keys_new();
    partition->digests = term_digests_new();
    partition->gathered.most = options->snapshot_memory / 2 / CHANGE_MEMORY;
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
    keeper_stop(partition);
    literals_close(partition->literals);
    lexicon_close(partition->lexicon);
    quads_close(partition->quads);
    tree_close(partition->documents);
    change_log_close(partition->change_log);
    characteristic_sets_close(partition->sets);
    staging_close(partition->staging);
    tree_close(partition->statistics);
    environment_close(partition->environment);
    snapshots_free(partition->snapshots);
    triple_count_cache_free(partition->triple_counts);
    node_lists_free(partition->node_lists);
    change_marks_free(partition->marks);
    partition_keys_free(partition->keys);
    term_digests_free(partition->digests);
    pthread_mutex_destroy(&partition->mutex);
    pthread_mutex_destroy(&partition->writer);
    pthread_mutex_destroy(&partition->maintenance);
    free(partition->folder);
    free(partition);
}
