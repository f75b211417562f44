#include "index/quads/snapshot.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "index/trees/latch.h"

struct snapshot {
    struct snapshots *owner;
    uint64_t version;
    bool held;
    struct snapshot *next, *previous;
};

struct snapshots {
    struct latch latch;        /* readers go through the sets, the writer takes some out */
    pthread_mutex_t mutex;     /* guards everything but the sets' contents */
    struct change_set *newest; /* linked to older ones */
    struct change_set *dropped;
    struct memtable gathered;
    struct reason missing; /* why no tree but CSPO can be read; empty: all can */
    uint64_t last;         /* version of the newest set ever */
    uint64_t committed;
    uint64_t oldest_readable; /* snapshots of smaller versions have ended */
    size_t bytes, memory;
    struct snapshot *open;
};

struct snapshots *
snapshots_new(size_t memory)
{
    struct snapshots *snapshots = memory_new(sizeof(*snapshots));
    latch_init(&snapshots->latch);
    pthread_mutex_init(&snapshots->mutex, NULL);
    snapshots->memory = memory;
    return snapshots;
}

void
snapshots_free(struct snapshots *snapshots)
{
    if (snapshots == NULL) {
        return;
    }
    while (snapshots->newest != NULL) {
        struct change_set *next = snapshots->newest->next;
        change_set_free(snapshots->newest);
        snapshots->newest = next;
    }
    snapshots_tidy(snapshots);
    for (size_t i = 0; i < snapshots->gathered.count; i++) {
        change_set_free(snapshots->gathered.sets[i]);
    }
    pthread_mutex_destroy(&snapshots->mutex);
    latch_release(&snapshots->latch);
    free(snapshots);
}

/* Takes out the sets that no snapshot takes back any more. */
static void
drop_sets(struct snapshots *snapshots)
{
    uint64_t needed = snapshots->committed;
    for (const struct snapshot *s = snapshots->open; s != NULL; s = s->next) {
        if (s->version < needed && s->version >= snapshots->oldest_readable) {
            needed = s->version;
        }
    }
    struct change_set **link = &snapshots->newest;
    while (*link != NULL && (*link)->version > needed) {
        link = &(*link)->next;
    }
    while (*link != NULL) {
        struct change_set *set = *link;
        *link = set->next;
        snapshots->bytes -= change_set_bytes(set);
        set->next = snapshots->dropped;
        snapshots->dropped = set;
    }
}

void
snapshots_tidy(struct snapshots *snapshots)
{
    pthread_mutex_lock(&snapshots->mutex);
    struct change_set *set = snapshots->dropped;
    snapshots->dropped = NULL;
    pthread_mutex_unlock(&snapshots->mutex);
    while (set != NULL) {
        struct change_set *next = set->next;
        change_set_free(set);
        set = next;
    }
}

void
snapshots_publish(struct snapshots *snapshots, struct change_set *set, bool gathered)
{
    struct memtable *table = &snapshots->gathered;
    latch_enter_writing(&snapshots->latch);
    if (gathered && set->count > 0) {
        table->sets[table->count++] = change_set_use(set);
    }
    pthread_mutex_lock(&snapshots->mutex);
    set->version = ++snapshots->last;
    set->next = snapshots->newest;
    snapshots->newest = set;
    snapshots->bytes += change_set_bytes(set);
    drop_sets(snapshots);
    pthread_mutex_unlock(&snapshots->mutex);
    latch_leave(&snapshots->latch);
}

/* Inside the latch. Takes out the set that was brought in; it is to be freed outside of it. */
static struct change_set *
take_flushed(struct memtable *table)
{
    struct change_set *set = table->sets[0];
    table->count--;
    memmove(table->sets, table->sets + 1, table->count * sizeof(struct change_set *));
    table->flushing = false;
    return set;
}

/* Two neighbouring sets become one; the readers have them until that is made. */
static void
join_sets(struct snapshots *snapshots, size_t at)
{
    struct memtable *table = &snapshots->gathered;
    struct change_set *older = table->sets[at], *newer = table->sets[at + 1];
    struct change_set *both = change_set_join(older, newer);
    latch_enter_writing(&snapshots->latch);
    table->sets[at] = both;
    table->count--;
    memmove(table->sets + at + 1, table->sets + at + 2,
            (table->count - at - 1) * sizeof(struct change_set *));
    latch_leave(&snapshots->latch);
    change_set_free(older);
    change_set_free(newer);
}

/* So that readers have few sets to look into, and each change is seldom copied. */
static void
join_last(struct snapshots *snapshots)
{
    const struct memtable *table = &snapshots->gathered;
    const size_t first = table->flushing ? 1 : 0;
    while (table->count >= first + 2 &&
           table->sets[table->count - 2]->count < 2 * table->sets[table->count - 1]->count) {
        join_sets(snapshots, table->count - 2);
    }
}

void
snapshots_flush(struct snapshots *snapshots)
{
    struct memtable *table = &snapshots->gathered;
    while (table->count > 1) {
        join_sets(snapshots, table->count - 2);
    }
    table->flushing = true;
}

const struct change_set *
snapshots_flushing(const struct snapshots *snapshots)
{
    return snapshots->gathered.flushing ? snapshots->gathered.sets[0] : NULL;
}

void
snapshots_flushed(struct snapshots *snapshots)
{
    latch_enter_writing(&snapshots->latch);
    struct change_set *set = take_flushed(&snapshots->gathered);
    latch_leave(&snapshots->latch);
    change_set_free(set);
}

void
snapshots_gathered(struct snapshots *snapshots, struct change_set *set)
{
    struct memtable *table = &snapshots->gathered;
    if (set->count == 0) {
        change_set_free(set);
        return;
    }
    table->sets[table->count++] = set;
    join_last(snapshots);
}

void
snapshots_set_missing(struct snapshots *snapshots, const struct reason *why)
{
    snapshots->missing = *why;
}

size_t
snapshots_gathered_changes(struct snapshots *snapshots)
{
    latch_enter_reading(&snapshots->latch);
    const size_t count = memtable_changes(&snapshots->gathered, 0);
    latch_leave(&snapshots->latch);
    return count;
}

uint64_t
snapshots_gathered_from(struct snapshots *snapshots, bool flushed)
{
    const struct memtable *table = &snapshots->gathered;
    const size_t first = flushed ? 1 : 0;
    return table->count > first ? table->sets[first]->batch : 0;
}

enum status
snapshots_health(struct snapshots *snapshots, struct reason *why)
{
    return snapshots->missing.text[0] != '\0'
               ? status_fail(why, STATUS_CORRUPT, "%s", snapshots->missing.text)
               : STATUS_OK;
}

void
snapshots_end(struct snapshots *snapshots, bool applied, bool flushed)
{
    struct memtable *table = &snapshots->gathered;
    struct change_set *done = NULL, *undone = NULL;
    latch_enter_writing(&snapshots->latch);
    pthread_mutex_lock(&snapshots->mutex);
    if (applied && flushed) {
        done = take_flushed(table);
    }
    if (!applied && table->count > 0 && table->sets[table->count - 1] == snapshots->newest) {
        undone = table->sets[--table->count];
    }
    if (applied) {
        snapshots->committed = snapshots->last;
    } else {
        struct change_set *set = snapshots->newest;
        snapshots->newest = set->next;
        snapshots->last--;
        snapshots->bytes -= change_set_bytes(set);
        change_set_free(set);
    }
    drop_sets(snapshots);
    if (snapshots->bytes > snapshots->memory) {
        /* Readers of before this set are given up from the oldest on, until it fits. */
        const struct change_set *set = snapshots->newest;
        size_t kept = 0;
        while (set != NULL && kept + change_set_bytes(set) <= snapshots->memory) {
            kept += change_set_bytes(set);
            set = set->next;
        }
        snapshots->oldest_readable = set != NULL ? set->version : 0;
        for (const struct snapshot *s = snapshots->open; s != NULL; s = s->next) {
            if (s->held && s->version < snapshots->oldest_readable) {
                snapshots->oldest_readable = s->version;
            }
        }
        drop_sets(snapshots);
    }
    pthread_mutex_unlock(&snapshots->mutex);
    latch_leave(&snapshots->latch);
    change_set_free(done);
    change_set_free(undone);
    join_last(snapshots);
}

/* other NULL: the committed version. */
static struct snapshot *
open_version(struct snapshots *snapshots, const struct snapshot *other, bool held)
{
    struct snapshot *snapshot = memory_new(sizeof(*snapshot));
    snapshot->owner = snapshots;
    snapshot->held = held;
    pthread_mutex_lock(&snapshots->mutex);
    snapshot->version = other != NULL ? other->version : snapshots->committed;
    snapshot->next = snapshots->open;
    if (snapshots->open != NULL) {
        snapshots->open->previous = snapshot;
    }
    snapshots->open = snapshot;
    pthread_mutex_unlock(&snapshots->mutex);
    return snapshot;
}

struct snapshot *
snapshot_open(struct snapshots *snapshots)
{
    return open_version(snapshots, NULL, false);
}

struct snapshot *
snapshot_share(const struct snapshot *other)
{
    return open_version(other->owner, other, false);
}

struct snapshot *
snapshot_hold(struct snapshots *snapshots)
{
    return open_version(snapshots, NULL, true);
}

const struct change_set *
snapshot_next(const struct snapshot *held)
{
    struct snapshots *snapshots = held->owner;
    pthread_mutex_lock(&snapshots->mutex);
    const struct change_set *set = snapshots->newest;
    while (set != NULL && set->version > held->version + 1) {
        set = set->next;
    }
    if (held->version == snapshots->committed) {
        set = NULL;
    }
    pthread_mutex_unlock(&snapshots->mutex);
    return set;
}

void
snapshot_go_on(struct snapshot *held)
{
    pthread_mutex_lock(&held->owner->mutex);
    held->version++;
    pthread_mutex_unlock(&held->owner->mutex);
}

uint64_t
snapshots_committed(struct snapshots *snapshots)
{
    pthread_mutex_lock(&snapshots->mutex);
    const uint64_t committed = snapshots->committed;
    pthread_mutex_unlock(&snapshots->mutex);
    return committed;
}

uint64_t
snapshot_version(const struct snapshot *snapshot)
{
    return snapshot->version;
}

void
snapshot_close(struct snapshot *snapshot)
{
    if (snapshot == NULL) {
        return;
    }
    struct snapshots *snapshots = snapshot->owner;
    pthread_mutex_lock(&snapshots->mutex);
    if (snapshot->previous != NULL) {
        snapshot->previous->next = snapshot->next;
    } else {
        snapshots->open = snapshot->next;
    }
    if (snapshot->next != NULL) {
        snapshot->next->previous = snapshot->previous;
    }
    pthread_mutex_unlock(&snapshots->mutex);
    free(snapshot);
}

/* ---- rows ---- */

enum status
snapshot_restore(struct snapshot *snapshot, enum quad_order order, const struct row *from,
                 const struct row *to, struct row_vector *rows, struct reason *why)
{
    struct snapshots *snapshots = snapshot->owner;
    latch_enter_reading(&snapshots->latch);
    pthread_mutex_lock(&snapshots->mutex);
    const bool ended = snapshot->version < snapshots->oldest_readable;
    const struct change_set *set = snapshots->newest;
    pthread_mutex_unlock(&snapshots->mutex);
    if (!ended) {
        memtable_restore(&snapshots->gathered, order, from, to, rows);
    }
    for (; !ended && set != NULL && set->version > snapshot->version; set = set->next) {
        const size_t first = change_set_find(set, order, from);
        const size_t last = to ? change_set_find_from(set, order, to, first) : set->count;
        if (first < last) {
            rows_change(set, order, first, last, true, rows);
        }
    }
    latch_leave(&snapshots->latch);
    if (order != ORDER_CSPO) {
        TRY(snapshots_health(snapshots, why));
    }
    return !ended ? STATUS_OK
                  : status_fail(why, STATUS_STALE,
                                "the index has changed too much since this query began; ask again");
}
