#include "stages/fetch_crowd.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/memory.h"

enum { PLACES = 1 << 16 };

struct known {
    uint64_t host, address;
};

struct crowd {
    pthread_mutex_t lock;
    uint32_t limit;
    struct map count; /* address -> transfers; not there: none */
    struct known *known;
};

struct crowd *
crowd_new(uint32_t limit)
{
    struct crowd *crowd = memory_zero(1, sizeof *crowd);
    crowd->limit = limit;
    crowd->known = memory_zero(PLACES, sizeof *crowd->known);
    map_init(&crowd->count);
    pthread_mutex_init(&crowd->lock, NULL);
    return crowd;
}

void
crowd_free(struct crowd *crowd)
{
    if (crowd != NULL) {
        map_release(&crowd->count);
        pthread_mutex_destroy(&crowd->lock);
        free(crowd->known);
        free(crowd);
    }
}

static uint32_t
count_at(const struct crowd *crowd, uint64_t address)
{
    const uint32_t count = map_get(&crowd->count, address);
    return count == (uint32_t)MAP_NONE ? 0 : count;
}

bool
crowd_is_full(struct crowd *crowd, uint64_t address)
{
    pthread_mutex_lock(&crowd->lock);
    const bool full = crowd->limit > 0 && address != 0 && count_at(crowd, address) >= crowd->limit;
    pthread_mutex_unlock(&crowd->lock);
    return full;
}

void
crowd_move(struct crowd *crowd, uint64_t from, uint64_t to)
{
    pthread_mutex_lock(&crowd->lock);
    const uint32_t count = from != 0 ? count_at(crowd, from) : 0;
    if (count == 1) {
        map_remove(&crowd->count, from);
    } else if (count > 1) {
        map_set(&crowd->count, from, count - 1);
    }
    if (to != 0) {
        map_set(&crowd->count, to, count_at(crowd, to) + 1);
    }
    pthread_mutex_unlock(&crowd->lock);
}

void
crowd_learn(struct crowd *crowd, uint64_t host, uint64_t address)
{
    pthread_mutex_lock(&crowd->lock);
    crowd->known[host % PLACES] = (struct known){host, address};
    pthread_mutex_unlock(&crowd->lock);
}

uint64_t
crowd_address(struct crowd *crowd, uint64_t host)
{
    pthread_mutex_lock(&crowd->lock);
    const struct known known = crowd->known[host % PLACES];
    pthread_mutex_unlock(&crowd->lock);
    return known.host == host ? known.address : 0;
}
