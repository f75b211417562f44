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
    uint64_t last; /* version of the newest set ever */
    uint64_t committed;
    uint64_t oldest_readable; /* snapshots of smaller versions have ended */
    size_t bytes, memory;
    struct snapshot *open;
};

struct snapshots *
snapshots_new(size_t memory)
{
    struct snapshots *snapshots = memory_zero(1, sizeof(*snapshots));
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
snapshots_publish(struct snapshots *snapshots, struct change_set *set)
{
    latch_enter_writing(&snapshots->latch);
    pthread_mutex_lock(&snapshots->mutex);
    set->version = ++snapshots->last;
    set->next = snapshots->newest;
    snapshots->newest = set;
    snapshots->bytes += change_set_bytes(set);
    drop_sets(snapshots);
    pthread_mutex_unlock(&snapshots->mutex);
    latch_leave(&snapshots->latch);
}

void
snapshots_end(struct snapshots *snapshots, bool applied)
{
    latch_enter_writing(&snapshots->latch);
    pthread_mutex_lock(&snapshots->mutex);
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
}

/* other NULL: the committed version. */
static struct snapshot *
open_version(struct snapshots *snapshots, const struct snapshot *other, bool held)
{
    struct snapshot *snapshot = memory_zero(1, sizeof(*snapshot));
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

void
row_vector_reserve(struct row_vector *vector, size_t count)
{
    if (count > vector->capacity) {
        vector->capacity = count + count / 2;
        vector->rows = memory_resize(vector->rows, vector->capacity, sizeof(*vector->rows));
    }
}

void
row_vector_release(struct row_vector *vector)
{
    free(vector->rows);
    *vector = (struct row_vector){0};
}

/* Takes back the changes [first, last) of one set. */
static void
take_back(const struct change_set *set, enum quad_order order, size_t first, size_t last,
          struct row_vector *rows)
{
    const size_t most = rows->count + (last - first);
    struct row_vector result = {0};
    row_vector_reserve(&result, most);
    size_t at = 0;
    for (size_t i = first; i < last; i++) {
        const struct row row = change_row(set, order, i);
        int comparison = 1;
        while (at < rows->count && (comparison = row_compare(&rows->rows[at], &row)) < 0) {
            result.rows[result.count++] = rows->rows[at++];
        }
        if (at < rows->count && comparison == 0) {
            at++;
        }
        if (change_removed(set, order, i)) {
            result.rows[result.count++] = row;
        }
    }
    while (at < rows->count) {
        result.rows[result.count++] = rows->rows[at++];
    }
    row_vector_release(rows);
    *rows = result;
}

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
    for (; !ended && set != NULL && set->version > snapshot->version; set = set->next) {
        const size_t first = change_set_find(set, order, from);
        const size_t last = to ? change_set_find_from(set, order, to, first) : set->count;
        if (first < last) {
            take_back(set, order, first, last, rows);
        }
    }
    latch_leave(&snapshots->latch);
    return !ended ? STATUS_OK
                  : status_fail(why, STATUS_STALE,
                                "the index has changed too much since this query began; ask again");
}
