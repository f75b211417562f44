#include "queue/frontier/lane_heads.h"

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
    bool exhausted;        /* nothing follows but what lane_heads_ready tells */
};

struct lane_heads {
    size_t limit, bytes;
    struct head *lane_heads;
    uint32_t count, capacity, free, oldest, newest;
    struct map by_place;
};

struct lane_heads *
lane_heads_new(size_t bytes)
{
    struct lane_heads *lane_heads = memory_zero(1, sizeof *lane_heads);
    lane_heads->limit = bytes;
    lane_heads->free = lane_heads->oldest = lane_heads->newest = (uint32_t)NONE;
    map_init(&lane_heads->by_place);
    return lane_heads;
}

void
lane_heads_free(struct lane_heads *lane_heads)
{
    if (lane_heads != NULL) {
        for (uint32_t i = 0; i < lane_heads->count; i++) {
            free(lane_heads->lane_heads[i].jobs);
        }
        free(lane_heads->lane_heads);
        map_release(&lane_heads->by_place);
        free(lane_heads);
    }
}

/* Lanes are fingerprints, so two places that meet by accident are as unlikely as two such lanes. */
static uint64_t
place_of(uint64_t lane, enum lane_heads_class class)
{
    return class == HEADS_USUAL ? lane : lane ^ 0x5bd1e9955bd1e995u;
}

static enum lane_heads_class
class_of(uint64_t rank)
{
    return rank >= RANK_SITEMAP ? HEADS_SITEMAP : HEADS_USUAL;
}

static void
unlink_head(struct lane_heads *lane_heads, uint32_t at)
{
    const struct head *head = &lane_heads->lane_heads[at];
    if (head->older != (uint32_t)NONE) {
        lane_heads->lane_heads[head->older].newer = head->newer;
    } else {
        lane_heads->oldest = head->newer;
    }
    if (head->newer != (uint32_t)NONE) {
        lane_heads->lane_heads[head->newer].older = head->older;
    } else {
        lane_heads->newest = head->older;
    }
}

static void
link_newest(struct lane_heads *lane_heads, uint32_t at)
{
    struct head *head = &lane_heads->lane_heads[at];
    head->older = lane_heads->newest;
    head->newer = (uint32_t)NONE;
    if (lane_heads->newest != (uint32_t)NONE) {
        lane_heads->lane_heads[lane_heads->newest].newer = at;
    } else {
        lane_heads->oldest = at;
    }
    lane_heads->newest = at;
}

static void
clear_jobs(struct lane_heads *lane_heads, struct head *head)
{
    lane_heads->bytes -= head->jobs == NULL ? 0 : HEAD_JOBS + head->used;
    free(head->jobs);
    head->jobs = NULL;
    head->used = head->at = 0;
}

static void
drop(struct lane_heads *lane_heads, uint32_t at)
{
    struct head *head = &lane_heads->lane_heads[at];
    clear_jobs(lane_heads, head);
    unlink_head(lane_heads, at);
    map_remove(&lane_heads->by_place, head->place);
    lane_heads->bytes -= sizeof *head;
    head->older = lane_heads->free;
    lane_heads->free = at;
}

static uint32_t
add(struct lane_heads *lane_heads, uint64_t place, enum lane_heads_class class)
{
    uint32_t at = lane_heads->free;
    if (at != (uint32_t)NONE) {
        lane_heads->free = lane_heads->lane_heads[at].older;
    } else {
        if (lane_heads->count == lane_heads->capacity) {
            lane_heads->capacity = lane_heads->capacity == 0 ? 64 : 2 * lane_heads->capacity;
            lane_heads->lane_heads = memory_resize(lane_heads->lane_heads, lane_heads->capacity,
                                                   sizeof *lane_heads->lane_heads);
        }
        at = lane_heads->count++;
    }
    lane_heads->lane_heads[at] =
        (struct head){.place = place, .rank = class == HEADS_SITEMAP ? RANK_SITEMAP : 0};
    lane_heads->bytes += sizeof lane_heads->lane_heads[at];
    map_set(&lane_heads->by_place, place, at);
    link_newest(lane_heads, at);
    return at;
}

/* ---- reading ---- */

struct filling {
    const struct leases *leases;
    enum lane_heads_class class;
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
fill(struct lane_heads *lane_heads, const struct lane_heads_source *source, uint64_t lane,
     enum lane_heads_class class, uint32_t at, struct reason *why)
{
    struct head *head = &lane_heads->lane_heads[at];
    struct filling filling = {.leases = source->leases, .class = class, .head = head};
    const struct job_key from = {
        .stage = STAGE_FETCH, .lane = lane, .rank = head->rank, .id = head->id};
    uint8_t bytes[JOB_KEY_SIZE];
    job_key_write(&from, bytes);
    clear_jobs(lane_heads, head);
    const enum status status = frontier_scan_within(source->frontier, TREE_FETCH,
                                                    slice_of((const char *)bytes, sizeof bytes),
                                                    LANE_PREFIX, take, &filling, why);
    head->exhausted = !filling.more;
    if (head->jobs != NULL) {
        head->jobs = memory_resize(head->jobs, head->used, 1);
        lane_heads->bytes += HEAD_JOBS + head->used;
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
lane_heads_next(struct lane_heads *lane_heads, const struct lane_heads_source *source,
                uint64_t lane, enum lane_heads_class class, struct job_key *key,
                struct slice *record, struct reason *why)
{
    const uint64_t place = place_of(lane, class);
    struct held held;
    uint32_t at = map_get(&lane_heads->by_place, place);
    *record = (struct slice){NULL, 0};
    if (at == (uint32_t)MAP_NONE) {
        at = add(lane_heads, place, class);
    }
    if (!first_held(&lane_heads->lane_heads[at], &held)) {
        if (!lane_heads->lane_heads[at].exhausted) {
            TRY(fill(lane_heads, source, lane, class, at, why));
            unlink_head(lane_heads, at);
            link_newest(lane_heads, at);
        }
        if (!first_held(&lane_heads->lane_heads[at], &held)) {
            drop(lane_heads, at);
            return STATUS_OK;
        }
        while (lane_heads->bytes > lane_heads->limit && lane_heads->oldest != at) {
            drop(lane_heads, lane_heads->oldest);
        }
    }
    const struct head *head = &lane_heads->lane_heads[at];
    *key = (struct job_key){.stage = STAGE_FETCH, .lane = lane, .rank = held.rank, .id = held.id};
    *record = slice_of(head->jobs + head->at + sizeof held, held.length);
    return STATUS_OK;
}

bool
lane_heads_pop(struct lane_heads *lane_heads, uint64_t lane, enum lane_heads_class class)
{
    const uint32_t at = map_get(&lane_heads->by_place, place_of(lane, class));
    struct held held;
    struct head *head = at == (uint32_t)MAP_NONE ? NULL : &lane_heads->lane_heads[at];
    if (head != NULL && first_held(head, &held)) {
        head->at += (uint32_t)sizeof held + held.length;
        if (first_held(head, &held)) {
            return false;
        }
        clear_jobs(lane_heads, head);
    }
    return true;
}

/* ---- what commits change ---- */

static struct head *
head_before(struct lane_heads *lane_heads, const struct job_key *key)
{
    const uint32_t at = map_get(&lane_heads->by_place, place_of(key->lane, class_of(key->rank)));
    return at == (uint32_t)MAP_NONE ? NULL : &lane_heads->lane_heads[at];
}

static bool
precedes(uint64_t rank, uint64_t id, const struct job_key *key)
{
    return rank < key->rank || (rank == key->rank && id < key->id);
}

/* In front of the place where reading goes on: what is held from there on is read again. */
void
lane_heads_ready(struct lane_heads *lane_heads, const struct job_key *key)
{
    struct head *head = head_before(lane_heads, key);
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
        lane_heads->bytes -= head->used - at;
        head->used = at;
    }
    head->rank = key->rank;
    head->id = key->id;
}

void
lane_heads_gone(struct lane_heads *lane_heads, const struct job_key *key)
{
    struct head *head = head_before(lane_heads, key);
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
