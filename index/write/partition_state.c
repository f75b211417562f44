/* The state that all who write to a partition share: its lock, totals and version. */
#include <unistd.h>

#include "base/system/watchdog.h"
#include "index/write/partition_state.h"

void
partition_committed(struct partition *partition, const struct totals *totals)
{
    nodes_committed(lexicon_nodes(partition->lexicon));
    pthread_mutex_lock(&partition->mutex);
    partition->totals = *totals;
    keeper_note_commit(partition);
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

void
partition_version(struct partition *partition, struct partition_version *version)
{
    version->words = keeper_words(partition);
    version->commits = snapshots_committed(partition->snapshots);
}

void
partition_lock_writer(struct partition *partition)
{
    watchdog_pause();
    pthread_mutex_lock(&partition->writer);
    watchdog_resume();
}

struct totals
partition_totals(struct partition *partition)
{
    pthread_mutex_lock(&partition->mutex);
    const struct totals totals = partition->totals;
    pthread_mutex_unlock(&partition->mutex);
    return totals;
}

void
partition_stats(struct partition *partition, struct partition_stats *stats)
{
    stats->totals = partition_totals(partition);
    stats->bytes = environment_bytes(partition->environment);
    stats->writes = atomic_load(&partition->writes);
}

bool
partition_waits(const struct partition *partition, enum status status)
{
    return (status == STATUS_FULL || status == STATUS_CORRUPT) &&
           !environment_is_broken(partition->environment);
}
