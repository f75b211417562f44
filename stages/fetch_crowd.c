#include "stages/fetch_crowd.h"

#include <stdlib.h>

#include "base/memory.h"
#include "queue/map.h"

enum { PLACES = 1 << 16 };

struct known {
    uint64_t host, address;
};

struct crowd {
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
    return crowd;
}

void
crowd_free(struct crowd *crowd)
{
    if (crowd != NULL) {
        map_release(&crowd->count);
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
crowd_is_full(const struct crowd *crowd, uint64_t address)
{
    return crowd->limit > 0 && address != 0 && count_at(crowd, address) >= crowd->limit;
}

void
crowd_enter(struct crowd *crowd, uint64_t address)
{
    if (address != 0) {
        map_set(&crowd->count, address, count_at(crowd, address) + 1);
    }
}

void
crowd_leave(struct crowd *crowd, uint64_t address)
{
    const uint32_t count = count_at(crowd, address);
    if (address == 0 || count == 0) {
        return;
    }
    if (count == 1) {
        map_remove(&crowd->count, address);
    } else {
        map_set(&crowd->count, address, count - 1);
    }
}

void
crowd_learn(struct crowd *crowd, uint64_t host, uint64_t address)
{
    crowd->known[host % PLACES] = (struct known){host, address};
}

uint64_t
crowd_address(const struct crowd *crowd, uint64_t host)
{
    const struct known *known = &crowd->known[host % PLACES];
    return known->host == host ? known->address : 0;
}
