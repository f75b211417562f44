#include "index/write/partition_private.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/memory.h"
#include "base/system/log.h"
#include "base/system/watchdog.h"
#include "index/write/gathering.h"

enum {
    MEBIBYTE = 1 << 20,
    NODE_LISTS_BYTES = 32 * MEBIBYTE,
    IDLE_S = 30,
    DISK_WAIT_S = 2,
    GATHERED_PAUSES = 6, /* a crawl's batches come with pauses, a large one takes its time */
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
                                          .checkpoint_bytes = (uint64_t)256 * MEBIBYTE,
                                          .change_bytes = (uint64_t)16 * MEBIBYTE,
                                          .disk_reserve = (uint64_t)64 * MEBIBYTE,
                                          .build_from = 100000,
                                          .pause_s = 5};
}

/* ---- the keeper: keyword index and checkpoints ---- */

/* Holds what the keeper is to do. */
struct duty {
    uint64_t limit; /* terms below */
    bool checkpoint;
    bool write;    /* words from memory, though there is room */
    bool bring_in; /* what waits or is gathered, since nothing follows it */
};

/* Between two batches. AGAIN: no room on the disk now. */
static enum status
write_words(struct partition *partition, struct reason *why)
{
    partition_lock_writer(partition);
    const enum status status =
        literals_write_step(partition->literals, partition->staging_held > 0, why);
    pthread_mutex_unlock(&partition->writer);
    return status == STATUS_FULL ? STATUS_AGAIN : status;
}

/* Quads that wait since the last start, or of an import that ended early. */
static enum status
merge_rest(struct partition *partition, struct reason *why)
{
    const enum status status = partition_merge_staged(partition, NULL, why);
    return partition_waits(partition, status) ? STATUS_AGAIN : status;
}

/* A step, unless a batch has come: then changes are brought in with each. */
static enum status
flush_step(struct partition *partition, bool *more, struct reason *why)
{
    pthread_mutex_lock(&partition->mutex);
    const bool goes_on = !partition->checkpoint_due && !partition->stopping;
    pthread_mutex_unlock(&partition->mutex);
    *more = false;
    TRY(goes_on ? gathering_flush_some(partition, more, why) : STATUS_OK);
    return environment_checkpoint(partition->environment, false, why);
}

static enum status
flush_gathered(struct partition *partition, struct reason *why)
{
    enum status status = STATUS_OK;
    for (bool more = true; more && status == STATUS_OK;) {
        partition_lock_writer(partition);
        status = flush_step(partition, &more, why);
        pthread_mutex_unlock(&partition->writer);
    }
    return partition_waits(partition, status) ? STATUS_AGAIN : status;
}

static enum status
keep(struct partition *partition, const struct duty *duty, struct reason *why)
{
    if (duty->bring_in) {
        TRY(merge_rest(partition, why));
        TRY(flush_gathered(partition, why));
    }
    TRY(literals_catch_up(partition->literals, lexicon_nodes(partition->lexicon), duty->limit,
                          why));
    if (literals_to_write(partition->literals, duty->write)) {
        TRY(write_words(partition, why));
    }
    if (!duty->checkpoint) {
        return STATUS_OK;
    }
    const enum status status = environment_checkpoint(partition->environment, false, why);
    return status == STATUS_FULL && !environment_is_broken(partition->environment) ? STATUS_AGAIN
                                                                                   : status;
}

/* Until woken; false after so long. */
static bool
wait_for_work(struct partition *partition, unsigned seconds)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += seconds;
    return pthread_cond_timedwait(&partition->wake, &partition->mutex, &until) == 0;
}

/* Tells whether words that have room in memory are to be written. */
static bool
wants_words(const struct partition *partition, bool idle)
{
    return idle || partition->stopping ||
           (partition->literals_written < partition->words_until &&
            partition->literals_next >= partition->words_until);
}

static bool
is_done(const struct partition *partition, bool all)
{
    return partition->literals_next == partition->totals.terms + 1 && !partition->checkpoint_due &&
           !literals_to_write(partition->literals, all);
}

/* After a failure; false when the keeper cannot go on. */
static bool
note_failure(struct partition *partition, enum status status, const struct reason *why)
{
    if (status == STATUS_AGAIN && !partition->stopping) {
        log_warning("index keeper waits", "why=%s", why->text);
        partition->words_until = 0;
        partition->checkpoint_due = true;
        pthread_cond_broadcast(&partition->settled);
        (void)wait_for_work(partition, DISK_WAIT_S);
        return true;
    }
    log_error("index keeper failed", "why=%s", why->text);
    partition->failed = status;
    partition->failure = *why;
    return false;
}

/* Returns how long nothing may come until what waits or is gathered is brought into the trees.
 * *waits: there is something. */
static unsigned
pause_of(const struct partition *partition, bool *waits)
{
    const bool gathered = snapshots_health(partition->snapshots, NULL) == STATUS_OK &&
                          snapshots_gathered_changes(partition->snapshots) > 0;
    const bool staged = staging_rows(partition->staging) > 0;
    *waits = staged || gathered;
    return staged ? partition->pause_s : gathered ? GATHERED_PAUSES * partition->pause_s : IDLE_S;
}

static void *
keeper(void *argument)
{
    struct partition *partition = argument;
    bool idle = false;
    bool due = false; /* nothing came after the quads that wait */
    bool well = true;
    pthread_mutex_lock(&partition->mutex);
    while (well) {
        const bool all = wants_words(partition, idle);
        bool waits;
        const unsigned pause_s = pause_of(partition, &waits);
        if (is_done(partition, all) && !(due && waits)) {
            pthread_cond_broadcast(&partition->settled);
            if (partition->stopping) {
                break;
            }
            const bool nothing = !wait_for_work(partition, pause_s);
            due = nothing && waits && !atomic_load(&partition->more_come);
            if (nothing && !waits && !idle) {
                pthread_mutex_unlock(&partition->mutex);
                (void)malloc_trim(0); /* what large batches left */
                pthread_mutex_lock(&partition->mutex);
            }
            idle = nothing && !waits;
            continue;
        }
        const struct duty duty = {partition->totals.terms + 1, partition->checkpoint_due, all,
                                  due && !partition->stopping};
        due = false;
        partition->checkpoint_due = false;
        pthread_mutex_unlock(&partition->mutex);
        struct reason why = {""};
        const enum status status = keep(partition, &duty, &why);
        pthread_mutex_lock(&partition->mutex);
        partition->literals_next = literals_next(partition->literals);
        partition->literals_written = literals_written(partition->literals);
        pthread_cond_broadcast(&partition->settled);
        well = status == STATUS_OK || note_failure(partition, status, &why);
    }
    pthread_cond_broadcast(&partition->settled);
    pthread_mutex_unlock(&partition->mutex);
    return NULL;
}

enum status
partition_settle(struct partition *partition, struct reason *why)
{
    pthread_mutex_lock(&partition->mutex);
    const uint64_t limit = partition->totals.terms + 1;
    watchdog_pause();
    while (partition->literals_next < limit && partition->failed == STATUS_OK) {
        pthread_cond_wait(&partition->settled, &partition->mutex);
    }
    watchdog_resume();
    pthread_mutex_unlock(&partition->mutex);
    return partition_health(partition, why);
}

enum status
partition_write_words(struct partition *partition, struct reason *why)
{
    pthread_mutex_lock(&partition->mutex);
    const uint64_t until = partition->totals.terms + 1;
    partition->words_until = until > partition->words_until ? until : partition->words_until;
    pthread_cond_signal(&partition->wake);
    watchdog_pause();
    while (partition->literals_written < until && partition->words_until >= until &&
           partition->failed == STATUS_OK) {
        pthread_cond_wait(&partition->settled, &partition->mutex);
    }
    watchdog_resume();
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
    partition->literals_next = literals_next(partition->literals);
    partition->literals_written = literals_written(partition->literals);
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
    pthread_mutex_init(&partition->mutex, NULL);
    pthread_mutex_init(&partition->writer, NULL);
    pthread_mutex_init(&partition->maintenance, NULL);
    pthread_cond_init(&partition->wake, NULL);
    pthread_cond_init(&partition->settled, NULL);
    partition->folder = memory_string(options->folder);
    partition->pause_s = options->pause_s;
    partition->build_from = options->build_from;
    partition->snapshots = snapshots_new(options->snapshot_memory);
    partition->triple_counts = triple_count_cache_new();
    partition->node_lists = node_lists_new(NODE_LISTS_BYTES);
    partition->marks = change_marks_new();
    partition->keys = partition_keys_new();
    partition->digests = term_digests_new();
    partition->gather_most = options->snapshot_memory / 2 / CHANGE_MEMORY;
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
    staging_close(partition->staging);
    tree_close(partition->statistics);
    environment_close(partition->environment);
    snapshots_free(partition->snapshots);
    triple_count_cache_free(partition->triple_counts);
    node_lists_free(partition->node_lists);
    change_marks_free(partition->marks);
    partition_keys_free(partition->keys);
    term_digests_free(partition->digests);
    pthread_cond_destroy(&partition->wake);
    pthread_cond_destroy(&partition->settled);
    pthread_mutex_destroy(&partition->mutex);
    pthread_mutex_destroy(&partition->writer);
    pthread_mutex_destroy(&partition->maintenance);
    free(partition->folder);
    free(partition);
}
