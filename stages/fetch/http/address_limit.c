#include "stages/fetch/http/address_limit.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/memory.h"

struct address_limit {
    pthread_mutex_t lock;
    uint32_t limit;
    struct map count; /* address -> transfers; not there: none */
};

struct address_limit *
address_limit_new(uint32_t limit)
{
    struct address_limit *address_limit = memory_new(sizeof *address_limit);
    address_limit->limit = limit;
    pthread_mutex_init(&address_limit->lock, NULL);
    return address_limit;
}

void
address_limit_free(struct address_limit *address_limit)
{
    if (address_limit != NULL) {
        map_release(&address_limit->count);
        pthread_mutex_destroy(&address_limit->lock);
        free(address_limit);
    }
}

static uint32_t
count_at(const struct address_limit *address_limit, uint64_t address)
{
    const uint32_t count = map_get(&address_limit->count, address);
    return count == (uint32_t)MAP_NONE ? 0 : count;
}

bool
address_limit_is_full(struct address_limit *address_limit, uint64_t address)
{
    pthread_mutex_lock(&address_limit->lock);
    const bool full = address_limit->limit > 0 && address != 0 &&
                      count_at(address_limit, address) >= address_limit->limit;
    pthread_mutex_unlock(&address_limit->lock);
    return full;
}

void
address_limit_move(struct address_limit *address_limit, uint64_t from, uint64_t to)
{
    pthread_mutex_lock(&address_limit->lock);
    const uint32_t count = from != 0 ? count_at(address_limit, from) : 0;
    if (count == 1) {
        map_remove(&address_limit->count, from);
    } else if (count > 1) {
        map_set(&address_limit->count, from, count - 1);
    }
    if (to != 0) {
        map_set(&address_limit->count, to, count_at(address_limit, to) + 1);
    }
    pthread_mutex_unlock(&address_limit->lock);
}
