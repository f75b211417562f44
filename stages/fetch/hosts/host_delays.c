#include "stages/fetch/hosts/host_delays.h"

#include <stddef.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/memory.h"

enum { SWEEP_LEAST = 1024 };

struct rest {
    uint64_t host, due_ms;
    bool busy;
    struct host_delays_turn *first, *last; /* in line */
    unsigned tasks;
    struct pace pace;
};

struct host_delays {
    struct map at; /* host -> place in the list */
    struct rest *list;
    size_t count, capacity, sweep_at;
};

struct host_delays *
host_delays_new(void)
{
    struct host_delays *host_delays = memory_new(sizeof *host_delays);
    host_delays->sweep_at = SWEEP_LEAST;
    map_init(&host_delays->at);
    return host_delays;
}

void
host_delays_free(struct host_delays *host_delays)
{
    if (host_delays != NULL) {
        map_release(&host_delays->at);
        free(host_delays->list);
        free(host_delays);
    }
}

/* Drops who rests no more. It runs when the list has doubled. */
static void
sweep(struct host_delays *host_delays, uint64_t now_ms)
{
    for (size_t i = 0; i < host_delays->count;) {
        const struct rest *rest = &host_delays->list[i];
        if (rest->busy || rest->tasks > 0 || rest->first != NULL || rest->due_ms > now_ms) {
            i++;
            continue;
        }
        map_remove(&host_delays->at, rest->host);
        host_delays->list[i] = host_delays->list[--host_delays->count];
        if (i < host_delays->count) {
            map_set(&host_delays->at, host_delays->list[i].host, (uint32_t)i);
        }
    }
    host_delays->sweep_at = 2 * host_delays->count + SWEEP_LEAST;
}

static struct rest *
rest_of(struct host_delays *host_delays, uint64_t host, uint64_t now_ms)
{
    uint32_t at = map_get(&host_delays->at, host);
    if (at != (uint32_t)MAP_NONE) {
        return &host_delays->list[at];
    }
    if (host_delays->count >= host_delays->sweep_at) {
        sweep(host_delays, now_ms);
    }
    if (host_delays->count == host_delays->capacity) {
        host_delays->capacity =
            host_delays->capacity == 0 ? SWEEP_LEAST : 2 * host_delays->capacity;
        host_delays->list =
            memory_resize(host_delays->list, host_delays->capacity, sizeof *host_delays->list);
    }
    at = (uint32_t)host_delays->count++;
    host_delays->list[at] = (struct rest){.host = host};
    map_set(&host_delays->at, host, at);
    return &host_delays->list[at];
}

void
host_delays_join(struct host_delays *host_delays, uint64_t host, const struct pace *handed,
                 uint64_t now_ms)
{
    struct rest *rest = rest_of(host_delays, host, now_ms);
    if (rest->tasks++ == 0) {
        rest->pace = *handed;
    }
}

void
host_delays_part(struct host_delays *host_delays, uint64_t host)
{
    rest_of(host_delays, host, 0)->tasks--;
}

struct pace *
host_delays_pace(struct host_delays *host_delays, uint64_t host)
{
    return &rest_of(host_delays, host, 0)->pace;
}

uint64_t
host_delays_wait_ms(const struct host_delays *host_delays, uint64_t host, uint64_t now_ms)
{
    const uint32_t at = map_get(&host_delays->at, host);
    if (at == (uint32_t)MAP_NONE) {
        return 0;
    }
    const struct rest *rest = &host_delays->list[at];
    return rest->due_ms > now_ms ? rest->due_ms - now_ms : 0;
}

bool
host_delays_is_busy(const struct host_delays *host_delays, uint64_t host)
{
    const uint32_t at = map_get(&host_delays->at, host);
    return at != (uint32_t)MAP_NONE && host_delays->list[at].busy;
}

void
host_delays_line_up(struct host_delays *host_delays, uint64_t host, struct host_delays_turn *turn)
{
    struct rest *rest = &host_delays->list[map_get(&host_delays->at, host)];
    turn->next = NULL;
    if (rest->first == NULL) {
        rest->first = turn;
    } else {
        rest->last->next = turn;
    }
    rest->last = turn;
}

struct host_delays_turn *
host_delays_leave(struct host_delays *host_delays, uint64_t host)
{
    const uint32_t at = map_get(&host_delays->at, host);
    struct host_delays_turn *turn = NULL;
    if (at != (uint32_t)MAP_NONE) {
        turn = host_delays->list[at].first;
        host_delays->list[at].first = turn != NULL ? turn->next : NULL;
    }
    return turn;
}

struct host_delays_turn *
host_delays_next(struct host_delays *host_delays, uint64_t host)
{
    return host_delays_is_busy(host_delays, host) ? NULL : host_delays_leave(host_delays, host);
}

void
host_delays_begin(struct host_delays *host_delays, uint64_t host, uint64_t now_ms)
{
    rest_of(host_delays, host, now_ms)->busy = true;
}

void
host_delays_end(struct host_delays *host_delays, uint64_t host, uint64_t now_ms)
{
    rest_of(host_delays, host, now_ms)->busy = false;
}

void
host_delays_until(struct host_delays *host_delays, uint64_t host, uint64_t due_ms, uint64_t now_ms)
{
    struct rest *rest = rest_of(host_delays, host, now_ms);
    rest->due_ms = rest->due_ms > due_ms ? rest->due_ms : due_ms;
}
