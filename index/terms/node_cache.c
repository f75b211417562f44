#include "index/terms/node_cache.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/memory.h"

enum {
    WAYS = 2,
    LOCKS = 64,
    CELL_SHIFT = 6,         /* numbers that share a pair of places */
    PLACE_BYTES = 3 << 10,  /* of a usual block with its offsets */
    BLOCK_BYTES = 64 << 10, /* larger ones are not kept */
};

struct set {
    struct node_block ways[WAYS];
    uint8_t older; /* the way to give up */
};

struct node_cache {
    size_t memory, count;
    atomic_size_t used; /* bytes */
    atomic_size_t hand; /* set that is next to give up a block */
    struct set *sets;
    pthread_mutex_t locks[LOCKS];
};

struct node_cache *
node_cache_new(size_t memory)
{
    struct node_cache *cache = memory_new(sizeof(*cache));
    cache->memory = memory;
    cache->count = memory / (WAYS * PLACE_BYTES) + 1;
    cache->sets = memory_zero(cache->count, sizeof(*cache->sets));
    for (int i = 0; i < LOCKS; i++) {
        pthread_mutex_init(&cache->locks[i], NULL);
    }
    return cache;
}

void
node_cache_free(struct node_cache *cache)
{
    if (cache == NULL) {
        return;
    }
    for (size_t i = 0; i < cache->count; i++) {
        for (int way = 0; way < WAYS; way++) {
            node_block_release(&cache->sets[i].ways[way]);
        }
    }
    for (int i = 0; i < LOCKS; i++) {
        pthread_mutex_destroy(&cache->locks[i]);
    }
    free(cache->sets);
    free(cache);
}

/* Neighbouring cells lie in neighbouring sets: no number is special. */
static size_t
set_of(const struct node_cache *cache, uint64_t number)
{
    return (size_t)((number >> CELL_SHIFT) % cache->count);
}

enum status
node_cache_find(struct node_cache *cache, uint64_t number, enum oid_kind kind, struct arena *arena,
                struct term *term, struct reason *why)
{
    const size_t at = set_of(cache, number);
    struct set *set = &cache->sets[at];
    enum status status = STATUS_NOT_FOUND;
    pthread_mutex_lock(&cache->locks[at % LOCKS]);
    for (uint8_t way = 0; way < WAYS && status == STATUS_NOT_FOUND; way++) {
        if (node_block_has(&set->ways[way], number)) {
            set->older = way ^ 1;
            status = node_block_copy(&set->ways[way], number, kind, arena, term, why);
        }
    }
    pthread_mutex_unlock(&cache->locks[at % LOCKS]);
    return status;
}

static size_t
bytes_of(const struct node_block *block)
{
    return block->raw.capacity + block->room * sizeof(*block->offsets);
}

/* Where blocks are larger than usual there are too many: sets in turn give up one. */
static void
make_room(struct node_cache *cache)
{
    for (size_t i = 0; i < 2 * cache->count && atomic_load(&cache->used) > cache->memory; i++) {
        const size_t at = atomic_fetch_add(&cache->hand, 1) % cache->count;
        struct set *set = &cache->sets[at];
        struct node_block block;
        node_block_init(&block);
        pthread_mutex_lock(&cache->locks[at % LOCKS]);
        const uint8_t way = set->ways[set->older].first != 0 ? set->older : set->older ^ 1;
        const struct node_block empty = block;
        block = set->ways[way];
        set->ways[way] = empty;
        set->older = way;
        atomic_fetch_sub(&cache->used, bytes_of(&block));
        pthread_mutex_unlock(&cache->locks[at % LOCKS]);
        node_block_release(&block);
    }
}

bool
node_cache_has_room(struct node_cache *cache, uint64_t number)
{
    const size_t at = set_of(cache, number);
    const struct set *set = &cache->sets[at];
    pthread_mutex_lock(&cache->locks[at % LOCKS]);
    const bool is_free = set->ways[set->older].first == 0;
    pthread_mutex_unlock(&cache->locks[at % LOCKS]);
    return is_free && atomic_load(&cache->used) + PLACE_BYTES <= cache->memory;
}

void
node_cache_put(struct node_cache *cache, uint64_t number, struct node_block *block)
{
    if (block->raw.length > BLOCK_BYTES) {
        return;
    }
    node_block_trim(block);
    const size_t at = set_of(cache, number);
    struct set *set = &cache->sets[at];
    pthread_mutex_lock(&cache->locks[at % LOCKS]);
    const uint8_t way = set->older;
    const struct node_block old = set->ways[way];
    set->ways[way] = *block;
    set->older = way ^ 1;
    atomic_fetch_add(&cache->used, bytes_of(block) - bytes_of(&old));
    pthread_mutex_unlock(&cache->locks[at % LOCKS]);
    *block = old;
    block->first = 0;
    if (block->raw.maximum == 0) { /* its place was never used */
        node_block_init(block);
    }
    make_room(cache);
}
