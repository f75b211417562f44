#include "queue/frontier/leases.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/memory.h"

struct leases {
    struct lease *all;
    uint32_t used, capacity, free; /* free ones are linked by next */
    struct map by_id;
    size_t counts[STAGE_COUNT];
    struct worker *workers;
    uint32_t worker_used, worker_capacity;
    struct map worker_by_fingerprint;
};

struct leases *
leases_new(void)
{
    struct leases *leases = memory_new(sizeof *leases);
    leases->free = (uint32_t)LEASE_NONE;
    map_init(&leases->by_id);
    map_init(&leases->worker_by_fingerprint);
    return leases;
}

void
leases_free(struct leases *leases)
{
    if (leases != NULL) {
        for (uint32_t i = 0; i < leases->worker_used; i++) {
            free(leases->workers[i].name);
        }
        map_release(&leases->by_id);
        map_release(&leases->worker_by_fingerprint);
        free(leases->workers);
        free(leases->all);
        free(leases);
    }
}

/* ---- workers ---- */

uint32_t
leases_worker_find(const struct leases *leases, struct slice name)
{
    return map_get(&leases->worker_by_fingerprint, fingerprint64(name));
}

uint32_t
leases_worker_add(struct leases *leases, struct slice name)
{
    uint32_t at = 0;
    while (at < leases->worker_used && leases->workers[at].used) {
        at++;
    }
    if (at == leases->worker_used) {
        if (at == leases->worker_capacity) {
            leases->worker_capacity = at == 0 ? 16 : 2 * at;
            leases->workers =
                memory_resize(leases->workers, leases->worker_capacity, sizeof *leases->workers);
        }
        leases->worker_used++;
    }
    leases->workers[at] = (struct worker){
        .name = memory_string_n(name.at, name.length),
        .fingerprint = fingerprint64(name),
        .first = (uint32_t)LEASE_NONE,
        .used = true,
    };
    map_set(&leases->worker_by_fingerprint, leases->workers[at].fingerprint, at);
    return at;
}

void
leases_worker_remove(struct leases *leases, uint32_t worker)
{
    struct worker *gone = &leases->workers[worker];
    map_remove(&leases->worker_by_fingerprint, gone->fingerprint);
    free(gone->name);
    *gone = (struct worker){.first = (uint32_t)LEASE_NONE};
}

struct worker *
leases_worker(struct leases *leases, uint32_t worker)
{
    return &leases->workers[worker];
}

uint32_t
leases_worker_end(const struct leases *leases)
{
    return leases->worker_used;
}

/* ---- leases ---- */

void
leases_add(struct leases *leases, const struct lease *lease)
{
    uint32_t at = leases->free;
    if (at != (uint32_t)LEASE_NONE) {
        leases->free = leases->all[at].next;
    } else {
        if (leases->used == leases->capacity) {
            leases->capacity = leases->capacity == 0 ? 256 : 2 * leases->capacity;
            leases->all = memory_resize(leases->all, leases->capacity, sizeof *leases->all);
        }
        at = leases->used++;
    }
    struct worker *worker = &leases->workers[lease->worker];
    struct lease *added = &leases->all[at];
    *added = *lease;
    added->previous = (uint32_t)LEASE_NONE;
    added->next = worker->first;
    if (worker->first != (uint32_t)LEASE_NONE) {
        leases->all[worker->first].previous = at;
    }
    worker->first = at;
    worker->count++;
    worker->suspects += lease->deaths > 0;
    leases->counts[lease->key.stage]++;
    map_set(&leases->by_id, lease->key.id, at);
}

uint32_t
leases_find(const struct leases *leases, uint64_t id)
{
    return map_get(&leases->by_id, id);
}

struct lease *
leases_at(struct leases *leases, uint32_t at)
{
    return &leases->all[at];
}

void
leases_remove(struct leases *leases, uint32_t at)
{
    struct lease *gone = &leases->all[at];
    struct worker *worker = &leases->workers[gone->worker];
    if (gone->previous != (uint32_t)LEASE_NONE) {
        leases->all[gone->previous].next = gone->next;
    } else {
        worker->first = gone->next;
    }
    if (gone->next != (uint32_t)LEASE_NONE) {
        leases->all[gone->next].previous = gone->previous;
    }
    worker->count--;
    worker->suspects -= gone->deaths > 0;
    leases->counts[gone->key.stage]--;
    map_remove(&leases->by_id, gone->key.id);
    gone->next = leases->free;
    leases->free = at;
}

size_t
leases_count(const struct leases *leases, enum stage stage)
{
    return leases->counts[stage];
}

/* ---- suspicion ---- */

uint32_t
leases_company(uint16_t deaths)
{
    static const uint32_t company[] = {UINT32_MAX, 16, 4, 1};
    enum { MOST = sizeof company / sizeof company[0] - 1 };
    return company[deaths < MOST ? deaths : MOST];
}

uint32_t
leases_worker_company(struct leases *leases, uint32_t worker)
{
    uint16_t deaths = 0;
    uint32_t suspects = leases->workers[worker].suspects;
    for (uint32_t at = leases->workers[worker].first; suspects > 0; at = leases->all[at].next) {
        suspects -= leases->all[at].deaths > 0;
        deaths = leases->all[at].deaths > deaths ? leases->all[at].deaths : deaths;
    }
    return leases_company(deaths);
}
