#include "queue/heads.h"

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
    bool exhausted;        /* nothing follows but what heads_ready tells */
};

struct heads {
    size_t limit, bytes;
    struct head *heads;
    uint32_t count, capacity, free, oldest, newest;
    struct map by_place;
};

struct heads *
heads_new(size_t bytes)
{
    struct heads *heads = memory_zero(1, sizeof *heads);
    heads->limit = bytes;
    heads->free = heads->oldest = heads->newest = (uint32_t)NONE;
    map_init(&heads->by_place);
    return heads;
}

void
heads_free(struct heads *heads)
{
    if (heads != NULL) {
        for (uint32_t i = 0; i < heads->count; i++) {
            free(heads->heads[i].jobs);
        }
        free(heads->heads);
        map_release(&heads->by_place);
        free(heads);
    }
}

size_t
heads_memory(const struct heads *heads)
{
    return heads->bytes;
}

/* Lanes are fingerprints, so two places that meet by accident are as unlikely as two such lanes. */
static uint64_t
place_of(uint64_t lane, enum heads_class class)
{
    return class == HEADS_USUAL ? lane : lane ^ 0x5bd1e9955bd1e995u;
}

static enum heads_class
class_of(uint64_t rank)
{
    return rank >= RANK_SITEMAP ? HEADS_SITEMAP : HEADS_USUAL;
}

static void
unlink_head(struct heads *heads, uint32_t at)
{
    const struct head *head = &heads->heads[at];
    if (head->older != (uint32_t)NONE) {
        heads->heads[head->older].newer = head->newer;
    } else {
        heads->oldest = head->newer;
    }
    if (head->newer != (uint32_t)NONE) {
        heads->heads[head->newer].older = head->older;
    } else {
        heads->newest = head->older;
    }
}

static void
link_newest(struct heads *heads, uint32_t at)
{
    struct head *head = &heads->heads[at];
    head->older = heads->newest;
    head->newer = (uint32_t)NONE;
    if (heads->newest != (uint32_t)NONE) {
        heads->heads[heads->newest].newer = at;
    } else {
        heads->oldest = at;
    }
    heads->newest = at;
}

static void
clear_jobs(struct heads *heads, struct head *head)
{
    heads->bytes -= head->jobs == NULL ? 0 : HEAD_JOBS + head->used;
    free(head->jobs);
    head->jobs = NULL;
    head->used = head->at = 0;
}

static void
drop(struct heads *heads, uint32_t at)
{
    struct head *head = &heads->heads[at];
    clear_jobs(heads, head);
    unlink_head(heads, at);
    map_remove(&heads->by_place, head->place);
    heads->bytes -= sizeof *head;
    head->older = heads->free;
    heads->free = at;
}

static uint32_t
add(struct heads *heads, uint64_t place, enum heads_class class)
{
    uint32_t at = heads->free;
    if (at != (uint32_t)NONE) {
        heads->free = heads->heads[at].older;
    } else {
        if (heads->count == heads->capacity) {
            heads->capacity = heads->capacity == 0 ? 64 : 2 * heads->capacity;
            heads->heads = memory_resize(heads->heads, heads->capacity, sizeof *heads->heads);
        }
        at = heads->count++;
    }
    heads->heads[at] =
        (struct head){.place = place, .rank = class == HEADS_SITEMAP ? RANK_SITEMAP : 0};
    heads->bytes += sizeof heads->heads[at];
    map_set(&heads->by_place, place, at);
    link_newest(heads, at);
    return at;
}

/* ---- reading ---- */

struct filling {
    const struct leases *leases;
    enum heads_class class;
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
fill(struct heads *heads, const struct heads_source *source, uint64_t lane, enum heads_class class,
     uint32_t at, struct reason *why)
{
    struct head *head = &heads->heads[at];
    struct filling filling = {.leases = source->leases, .class = class, .head = head};
    const struct job_key from = {
        .stage = STAGE_FETCH, .lane = lane, .rank = head->rank, .id = head->id};
    uint8_t bytes[JOB_KEY_SIZE];
    job_key_write(&from, bytes);
    clear_jobs(heads, head);
    const enum status status = frontier_scan_within(source->frontier, TREE_FETCH,
                                                    slice_of((const char *)bytes, sizeof bytes),
                                                    LANE_PREFIX, take, &filling, why);
    head->exhausted = !filling.more;
    if (head->jobs != NULL) {
        head->jobs = memory_resize(head->jobs, head->used, 1);
        heads->bytes += HEAD_JOBS + head->used;
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
heads_next(struct heads *heads, const struct heads_source *source, uint64_t lane,
           enum heads_class class, struct job_key *key, struct slice *record, struct reason *why)
{
    const uint64_t place = place_of(lane, class);
    struct held held;
    uint32_t at = map_get(&heads->by_place, place);
    *record = (struct slice){NULL, 0};
    if (at == (uint32_t)MAP_NONE) {
        at = add(heads, place, class);
    }
    if (!first_held(&heads->heads[at], &held)) {
        if (!heads->heads[at].exhausted) {
            TRY(fill(heads, source, lane, class, at, why));
            unlink_head(heads, at);
            link_newest(heads, at);
        }
        if (!first_held(&heads->heads[at], &held)) {
            drop(heads, at);
            return STATUS_OK;
        }
        while (heads->bytes > heads->limit && heads->oldest != at) {
            drop(heads, heads->oldest);
        }
    }
    const struct head *head = &heads->heads[at];
    *key = (struct job_key){.stage = STAGE_FETCH, .lane = lane, .rank = held.rank, .id = held.id};
    *record = slice_of(head->jobs + head->at + sizeof held, held.length);
    return STATUS_OK;
}

bool
heads_pop(struct heads *heads, uint64_t lane, enum heads_class class)
{
    const uint32_t at = map_get(&heads->by_place, place_of(lane, class));
    struct held held;
    struct head *head = at == (uint32_t)MAP_NONE ? NULL : &heads->heads[at];
    if (head != NULL && first_held(head, &held)) {
        head->at += (uint32_t)sizeof held + held.length;
        if (first_held(head, &held)) {
            return false;
        }
        clear_jobs(heads, head);
    }
    return true;
}

/* ---- what commits change ---- */

static struct head *
head_before(struct heads *heads, const struct job_key *key)
{
    const uint32_t at = map_get(&heads->by_place, place_of(key->lane, class_of(key->rank)));
    return at == (uint32_t)MAP_NONE ? NULL : &heads->heads[at];
}

static bool
precedes(uint64_t rank, uint64_t id, const struct job_key *key)
{
    return rank < key->rank || (rank == key->rank && id < key->id);
}

/* In front of the place where reading goes on: what is held from there on is read again. */
void
heads_ready(struct heads *heads, const struct job_key *key)
{
    struct head *head = head_before(heads, key);
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
        heads->bytes -= head->used - at;
        head->used = at;
    }
    head->rank = key->rank;
    head->id = key->id;
}

void
heads_gone(struct heads *heads, const struct job_key *key)
{
    struct head *head = head_before(heads, key);
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
