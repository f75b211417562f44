#include "queue/frontier/upcoming_jobs.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/memory.h"

enum {
    NONE = -1,
    HEAD_JOBS = 16,        /* read at a time */
    HEAD_BYTES = 16 << 10, /* or so many bytes of them */
    LANE_PREFIX = 9        /* bytes of a job's key */
};

/* A job in a head's memory, its record behind it. */
struct held {
    uint64_t rank, id;
    uint32_t length;
    bool gone;
};

struct head {
    uint64_t place;        /* by which it is found: place_of */
    uint64_t rank, id;     /* where reading goes on */
    char *jobs;            /* NULL: none is left */
    uint32_t used, at;     /* bytes; those before `at` were handed out */
    uint32_t older, newer; /* by last reading; free: `older` is the next free one */
    bool exhausted;        /* nothing follows but what upcoming_ready tells */
};

struct upcoming_jobs {
    size_t limit, bytes;
    struct head *heads;
    uint32_t count, capacity, free, oldest, newest;
    struct map by_place;
};

struct upcoming_jobs *
upcoming_new(size_t bytes)
{
    struct upcoming_jobs *upcoming = memory_new(sizeof *upcoming);
    upcoming->limit = bytes;
    upcoming->free = upcoming->oldest = upcoming->newest = (uint32_t)NONE;
    map_init(&upcoming->by_place);
    return upcoming;
}

void
upcoming_free(struct upcoming_jobs *upcoming)
{
    if (upcoming != NULL) {
        for (uint32_t i = 0; i < upcoming->count; i++) {
            free(upcoming->heads[i].jobs);
        }
        free(upcoming->heads);
        map_release(&upcoming->by_place);
        free(upcoming);
    }
}

/* Lanes are fingerprints, so two places that meet by accident are as unlikely as two such lanes. */
static uint64_t
place_of(uint64_t lane, enum upcoming_class class)
{
    return class == UPCOMING_USUAL ? lane : lane ^ 0x5bd1e9955bd1e995u;
}

static enum upcoming_class
class_of(uint64_t rank)
{
    return rank >= RANK_SITEMAP ? UPCOMING_SITEMAP : UPCOMING_USUAL;
}

static void
unlink_head(struct upcoming_jobs *upcoming, uint32_t at)
{
    const struct head *head = &upcoming->heads[at];
    if (head->older != (uint32_t)NONE) {
        upcoming->heads[head->older].newer = head->newer;
    } else {
        upcoming->oldest = head->newer;
    }
    if (head->newer != (uint32_t)NONE) {
        upcoming->heads[head->newer].older = head->older;
    } else {
        upcoming->newest = head->older;
    }
}

static void
link_newest(struct upcoming_jobs *upcoming, uint32_t at)
{
    struct head *head = &upcoming->heads[at];
    head->older = upcoming->newest;
    head->newer = (uint32_t)NONE;
    if (upcoming->newest != (uint32_t)NONE) {
        upcoming->heads[upcoming->newest].newer = at;
    } else {
        upcoming->oldest = at;
    }
    upcoming->newest = at;
}

static void
clear_jobs(struct upcoming_jobs *upcoming, struct head *head)
{
    upcoming->bytes -= head->jobs == NULL ? 0 : HEAD_JOBS + head->used;
    free(head->jobs);
    head->jobs = NULL;
    head->used = head->at = 0;
}

static void
drop(struct upcoming_jobs *upcoming, uint32_t at)
{
    struct head *head = &upcoming->heads[at];
    clear_jobs(upcoming, head);
    unlink_head(upcoming, at);
    map_remove(&upcoming->by_place, head->place);
    upcoming->bytes -= sizeof *head;
    head->older = upcoming->free;
    upcoming->free = at;
}

static uint32_t
add(struct upcoming_jobs *upcoming, uint64_t place, enum upcoming_class class)
{
    uint32_t at = upcoming->free;
    if (at != (uint32_t)NONE) {
        upcoming->free = upcoming->heads[at].older;
    } else {
        if (upcoming->count == upcoming->capacity) {
            upcoming->capacity = upcoming->capacity == 0 ? 64 : 2 * upcoming->capacity;
            upcoming->heads =
                memory_resize(upcoming->heads, upcoming->capacity, sizeof *upcoming->heads);
        }
        at = upcoming->count++;
    }
    upcoming->heads[at] =
        (struct head){.place = place, .rank = class == UPCOMING_SITEMAP ? RANK_SITEMAP : 0};
    upcoming->bytes += sizeof upcoming->heads[at];
    map_set(&upcoming->by_place, place, at);
    link_newest(upcoming, at);
    return at;
}

/* ---- reading ---- */

struct filling {
    const struct leases *leases;
    enum upcoming_class class;
    struct head *head;
    uint32_t count, capacity;
    bool more;
};

static bool
take(void *context, struct slice key_bytes, struct slice record)
{
    struct filling *filling = context;
    struct head *head = filling->head;
    struct job_key key;
    job_key_read((const uint8_t *)key_bytes.at, &key);
    if (class_of(key.rank) != filling->class) {
        return false;
    }
    if (filling->count == HEAD_JOBS || head->used >= HEAD_BYTES) {
        filling->more = true;
        return false;
    }
    head->rank = key.rank;
    head->id = key.id + 1;
    if (leases_find(filling->leases, key.id) != (uint32_t)LEASE_NONE) {
        return true;
    }
    const struct held held = {.rank = key.rank, .id = key.id, .length = (uint32_t)record.length};
    const size_t needs = head->used + sizeof held + record.length;
    if (needs > filling->capacity) {
        filling->capacity = (uint32_t)(2 * needs);
        head->jobs = memory_resize(head->jobs, filling->capacity, 1);
    }
    memcpy(head->jobs + head->used, &held, sizeof held);
    memcpy(head->jobs + head->used + sizeof held, record.at, record.length);
    head->used = (uint32_t)needs;
    filling->count++;
    return true;
}

static enum status
fill(struct upcoming_jobs *upcoming, const struct upcoming_source *source, uint64_t lane,
     enum upcoming_class class, uint32_t at, struct reason *why)
{
    struct head *head = &upcoming->heads[at];
    struct filling filling = {.leases = source->leases, .class = class, .head = head};
    const struct job_key from = {
        .stage = STAGE_FETCH, .lane = lane, .rank = head->rank, .id = head->id};
    uint8_t bytes[JOB_KEY_SIZE];
    job_key_write(&from, bytes);
    clear_jobs(upcoming, head);
    const enum status status = frontier_scan_within(source->frontier, TREE_FETCH,
                                                    slice_of((const char *)bytes, sizeof bytes),
                                                    LANE_PREFIX, take, &filling, why);
    head->exhausted = !filling.more;
    if (head->jobs != NULL) {
        head->jobs = memory_resize(head->jobs, head->used, 1);
        upcoming->bytes += HEAD_JOBS + head->used;
    }
    return status;
}

/* The first that is still there. */
static bool
first_held(struct head *head, struct held *held)
{
    while (head->at < head->used) {
        memcpy(held, head->jobs + head->at, sizeof *held);
        if (!held->gone) {
            return true;
        }
        head->at += (uint32_t)sizeof *held + held->length;
    }
    return false;
}

enum status
upcoming_next(struct upcoming_jobs *upcoming, const struct upcoming_source *source, uint64_t lane,
              enum upcoming_class class, struct job_key *key, struct slice *record,
              struct reason *why)
{
    const uint64_t place = place_of(lane, class);
    struct held held;
    uint32_t at = map_get(&upcoming->by_place, place);
    *record = (struct slice){NULL, 0};
    if (at == (uint32_t)MAP_NONE) {
        at = add(upcoming, place, class);
    }
    if (!first_held(&upcoming->heads[at], &held)) {
        if (!upcoming->heads[at].exhausted) {
            TRY(fill(upcoming, source, lane, class, at, why));
            unlink_head(upcoming, at);
            link_newest(upcoming, at);
        }
        if (!first_held(&upcoming->heads[at], &held)) {
            drop(upcoming, at);
            return STATUS_OK;
        }
        while (upcoming->bytes > upcoming->limit && upcoming->oldest != at) {
            drop(upcoming, upcoming->oldest);
        }
    }
    const struct head *head = &upcoming->heads[at];
    *key = (struct job_key){.stage = STAGE_FETCH, .lane = lane, .rank = held.rank, .id = held.id};
    *record = slice_of(head->jobs + head->at + sizeof held, held.length);
    return STATUS_OK;
}

bool
upcoming_pop(struct upcoming_jobs *upcoming, uint64_t lane, enum upcoming_class class)
{
    const uint32_t at = map_get(&upcoming->by_place, place_of(lane, class));
    struct held held;
    struct head *head = at == (uint32_t)MAP_NONE ? NULL : &upcoming->heads[at];
    if (head != NULL && first_held(head, &held)) {
        head->at += (uint32_t)sizeof held + held.length;
        if (first_held(head, &held)) {
            return false;
        }
        clear_jobs(upcoming, head);
    }
    return true;
}

/* ---- what commits change ---- */

static struct head *
head_before(struct upcoming_jobs *upcoming, const struct job_key *key)
{
    const uint32_t at = map_get(&upcoming->by_place, place_of(key->lane, class_of(key->rank)));
    return at == (uint32_t)MAP_NONE ? NULL : &upcoming->heads[at];
}

static bool
precedes(uint64_t rank, uint64_t id, const struct job_key *key)
{
    return rank < key->rank || (rank == key->rank && id < key->id);
}

/* In front of the place where reading goes on: what is held from there on is read again. */
void
upcoming_ready(struct upcoming_jobs *upcoming, const struct job_key *key)
{
    struct head *head = head_before(upcoming, key);
    if (head == NULL) {
        return;
    }
    head->exhausted = false;
    if (!precedes(key->rank, key->id, &(struct job_key){.rank = head->rank, .id = head->id})) {
        return;
    }
    uint32_t at = head->at;
    while (at < head->used) {
        struct held held;
        memcpy(&held, head->jobs + at, sizeof held);
        if (!precedes(held.rank, held.id, key)) {
            break;
        }
        at += (uint32_t)sizeof held + held.length;
    }
    if (head->jobs != NULL) {
        upcoming->bytes -= head->used - at;
        head->used = at;
    }
    head->rank = key->rank;
    head->id = key->id;
}

void
upcoming_gone(struct upcoming_jobs *upcoming, const struct job_key *key)
{
    struct head *head = head_before(upcoming, key);
    for (uint32_t at = head == NULL ? 0 : head->at; head != NULL && at < head->used;) {
        struct held held;
        memcpy(&held, head->jobs + at, sizeof held);
        if (held.rank == key->rank && held.id == key->id) {
            held.gone = true;
            memcpy(head->jobs + at, &held, sizeof held);
            return;
        }
        at += (uint32_t)sizeof held + held.length;
    }
}
