#include "stages/fetch_rests.h"

#include <stddef.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/memory.h"

enum { SWEEP_LEAST = 1024 };

struct rest {
    uint64_t host, due_ms;
    bool busy;
    struct rests_turn *first, *last; /* in line */
};

struct rests {
    struct map at; /* host -> place in the list */
    struct rest *list;
    size_t count, capacity, sweep_at;
};

struct rests *
rests_new(void)
{
    struct rests *rests = memory_zero(1, sizeof *rests);
    rests->sweep_at = SWEEP_LEAST;
    map_init(&rests->at);
    return rests;
}

void
rests_free(struct rests *rests)
{
    if (rests != NULL) {
        map_release(&rests->at);
        free(rests->list);
        free(rests);
    }
}

/* Drops who rests no more. It runs when the list has doubled. */
static void
sweep(struct rests *rests, uint64_t now_ms)
{
    for (size_t i = 0; i < rests->count;) {
        const struct rest *rest = &rests->list[i];
        if (rest->busy || rest->first != NULL || rest->due_ms > now_ms) {
            i++;
            continue;
        }
        map_remove(&rests->at, rest->host);
        rests->list[i] = rests->list[--rests->count];
        if (i < rests->count) {
            map_set(&rests->at, rests->list[i].host, (uint32_t)i);
        }
    }
    rests->sweep_at = 2 * rests->count + SWEEP_LEAST;
}

static struct rest *
rest_of(struct rests *rests, uint64_t host, uint64_t now_ms)
{
    uint32_t at = map_get(&rests->at, host);
    if (at != (uint32_t)MAP_NONE) {
        return &rests->list[at];
    }
    if (rests->count >= rests->sweep_at) {
        sweep(rests, now_ms);
    }
    if (rests->count == rests->capacity) {
        rests->capacity = rests->capacity == 0 ? SWEEP_LEAST : 2 * rests->capacity;
        rests->list = memory_resize(rests->list, rests->capacity, sizeof *rests->list);
    }
    at = (uint32_t)rests->count++;
    rests->list[at] = (struct rest){.host = host};
    map_set(&rests->at, host, at);
    return &rests->list[at];
}

uint64_t
rests_wait_ms(const struct rests *rests, uint64_t host, uint64_t now_ms)
{
    const uint32_t at = map_get(&rests->at, host);
    if (at == (uint32_t)MAP_NONE) {
        return 0;
    }
    const struct rest *rest = &rests->list[at];
    return rest->due_ms > now_ms ? rest->due_ms - now_ms : 0;
}

bool
rests_is_busy(const struct rests *rests, uint64_t host)
{
    const uint32_t at = map_get(&rests->at, host);
    return at != (uint32_t)MAP_NONE && rests->list[at].busy;
}

void
rests_line_up(struct rests *rests, uint64_t host, struct rests_turn *turn)
{
    struct rest *rest = &rests->list[map_get(&rests->at, host)];
    turn->next = NULL;
    if (rest->first == NULL) {
        rest->first = turn;
    } else {
        rest->last->next = turn;
    }
    rest->last = turn;
}

struct rests_turn *
rests_leave(struct rests *rests, uint64_t host)
{
    const uint32_t at = map_get(&rests->at, host);
    struct rests_turn *turn = NULL;
    if (at != (uint32_t)MAP_NONE) {
        turn = rests->list[at].first;
        rests->list[at].first = turn != NULL ? turn->next : NULL;
    }
    return turn;
}

struct rests_turn *
rests_next(struct rests *rests, uint64_t host)
{
    return rests_is_busy(rests, host) ? NULL : rests_leave(rests, host);
}

void
rests_begin(struct rests *rests, uint64_t host, uint64_t now_ms)
{
    rest_of(rests, host, now_ms)->busy = true;
}

void
rests_end(struct rests *rests, uint64_t host, uint64_t now_ms)
{
    rest_of(rests, host, now_ms)->busy = false;
}

void
rests_until(struct rests *rests, uint64_t host, uint64_t due_ms, uint64_t now_ms)
{
    struct rest *rest = rest_of(rests, host, now_ms);
    rest->due_ms = rest->due_ms > due_ms ? rest->due_ms : due_ms;
}
