#include "index/write/keeper.h"

#include <malloc.h>
#include <time.h>

#include "base/system/log.h"
#include "base/system/watchdog.h"
#include "index/write/gathering.h"

enum {
    IDLE_S = 30,
    DISK_WAIT_S = 2,
    GATHERED_PAUSES = 6 /* a crawl's batches come with pauses, a large one takes its time */
};

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
        literals_write_step(partition->literals, partition->staged.held > 0, why);
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
    const bool goes_on = !partition->keeper.checkpoint_due && !partition->keeper.stopping;
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
    return pthread_cond_timedwait(&partition->keeper.wake, &partition->mutex, &until) == 0;
}

/* Tells whether words that have room in memory are to be written. */
static bool
wants_words(const struct partition *partition, bool idle)
{
    return idle || partition->keeper.stopping ||
           (partition->keeper.written < partition->keeper.words_until &&
            partition->keeper.next >= partition->keeper.words_until);
}

static bool
is_done(const struct partition *partition, bool all)
{
    return partition->keeper.next == partition->totals.terms + 1 &&
           !partition->keeper.checkpoint_due && !literals_to_write(partition->literals, all);
}

/* After a failure; false when the keeper cannot go on. */
static bool
note_failure(struct partition *partition, enum status status, const struct reason *why)
{
    if (status == STATUS_AGAIN && !partition->keeper.stopping) {
        log_warning("index keeper waits", "why=%s", why->text);
        partition->keeper.words_until = 0;
        partition->keeper.checkpoint_due = true;
        pthread_cond_broadcast(&partition->keeper.settled);
        (void)wait_for_work(partition, DISK_WAIT_S);
        return true;
    }
    log_error("index keeper failed", "why=%s", why->text);
    partition->keeper.failed = status;
    partition->keeper.failure = *why;
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
    return staged     ? partition->keeper.pause_s
           : gathered ? GATHERED_PAUSES * partition->keeper.pause_s
                      : IDLE_S;
}

static void *
keeper_run(void *argument)
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
            pthread_cond_broadcast(&partition->keeper.settled);
            if (partition->keeper.stopping) {
                break;
            }
            const bool nothing = !wait_for_work(partition, pause_s);
            due = nothing && waits && !atomic_load(&partition->keeper.more_come);
            if (nothing && !waits && !idle) {
                pthread_mutex_unlock(&partition->mutex);
                (void)malloc_trim(0); /* what large batches left */
                pthread_mutex_lock(&partition->mutex);
            }
            idle = nothing && !waits;
            continue;
        }
        const struct duty duty = {partition->totals.terms + 1, partition->keeper.checkpoint_due,
                                  all, due && !partition->keeper.stopping};
        due = false;
        partition->keeper.checkpoint_due = false;
        pthread_mutex_unlock(&partition->mutex);
        struct reason why = {""};
        const enum status status = keep(partition, &duty, &why);
        pthread_mutex_lock(&partition->mutex);
        partition->keeper.next = literals_next(partition->literals);
        partition->keeper.written = literals_written(partition->literals);
        pthread_cond_broadcast(&partition->keeper.settled);
        well = status == STATUS_OK || note_failure(partition, status, &why);
    }
    pthread_cond_broadcast(&partition->keeper.settled);
    pthread_mutex_unlock(&partition->mutex);
    return NULL;
}

enum status
partition_settle(struct partition *partition, struct reason *why)
{
    pthread_mutex_lock(&partition->mutex);
    const uint64_t limit = partition->totals.terms + 1;
    watchdog_pause();
    while (partition->keeper.next < limit && partition->keeper.failed == STATUS_OK) {
        pthread_cond_wait(&partition->keeper.settled, &partition->mutex);
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
    partition->keeper.words_until =
        until > partition->keeper.words_until ? until : partition->keeper.words_until;
    pthread_cond_signal(&partition->keeper.wake);
    watchdog_pause();
    while (partition->keeper.written < until && partition->keeper.words_until >= until &&
           partition->keeper.failed == STATUS_OK) {
        pthread_cond_wait(&partition->keeper.settled, &partition->mutex);
    }
    watchdog_resume();
    pthread_mutex_unlock(&partition->mutex);
    return partition_health(partition, why);
}

uint64_t
keeper_words(struct partition *partition)
{
    pthread_mutex_lock(&partition->mutex);
    const uint64_t next = partition->keeper.next;
    pthread_mutex_unlock(&partition->mutex);
    return next;
}

enum status
partition_health(struct partition *partition, struct reason *why)
{
    pthread_mutex_lock(&partition->mutex);
    const enum status status = partition->keeper.failed;
    const struct reason failure = partition->keeper.failure;
    pthread_mutex_unlock(&partition->mutex);
    return status == STATUS_OK ? STATUS_OK : status_fail(why, status, "%s", failure.text);
}

void
keeper_note_commit(struct partition *partition)
{
    partition->keeper.checkpoint_due = true;
    pthread_cond_signal(&partition->keeper.wake);
}

void
keeper_expect(struct partition *partition, bool more)
{
    atomic_store(&partition->keeper.more_come, more);
}

/* ---- life ---- */

void
keeper_init(struct keeper *keeper, unsigned pause_s)
{
    pthread_cond_init(&keeper->wake, NULL);
    pthread_cond_init(&keeper->settled, NULL);
    keeper->pause_s = pause_s;
}

enum status
keeper_start(struct partition *partition, struct reason *why)
{
    struct keeper *keeper = &partition->keeper;
    keeper->next = literals_next(partition->literals);
    keeper->written = literals_written(partition->literals);
    if (pthread_create(&keeper->thread, NULL, keeper_run, partition) != 0) {
        return status_fail(why, STATUS_SYSTEM, "cannot start a thread");
    }
    keeper->runs = true;
    return STATUS_OK;
}

void
keeper_stop(struct partition *partition)
{
    struct keeper *keeper = &partition->keeper;
    if (keeper->runs) {
        pthread_mutex_lock(&partition->mutex);
        keeper->stopping = true;
        pthread_cond_signal(&keeper->wake);
        pthread_mutex_unlock(&partition->mutex);
        pthread_join(keeper->thread, NULL);
    }
    pthread_cond_destroy(&keeper->wake);
    pthread_cond_destroy(&keeper->settled);
}
