#include "index/statistics/predicate_sets.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/digest.h"
#include "base/memory.h"

void
predicate_sets_release(struct predicate_sets *sets)
{
    free(sets->sets);
    free(sets->predicates);
    free(sets->rows);
    map_release(&sets->by_predicates);
    *sets = (struct predicate_sets){0};
}

/* NULL: it is not there, and *hash is where it would go. */
static struct predicate_set *
find(const struct predicate_sets *sets, const oid *predicates, size_t count, uint64_t *hash)
{
    uint32_t at;
    for (*hash = digest_local(slice_of((const char *)predicates, count * sizeof(oid)));
         (at = map_get(&sets->by_predicates, *hash)) != (uint32_t)MAP_NONE; ++*hash) {
        struct predicate_set *set = &sets->sets[at];
        if (set->count == count &&
            memcmp(sets->predicates + set->first, predicates, count * sizeof(oid)) == 0) {
            return set;
        }
    }
    return NULL;
}

struct predicate_set *
predicate_sets_find(const struct predicate_sets *sets, const oid *predicates, size_t count)
{
    uint64_t hash;
    return find(sets, predicates, count, &hash);
}

static void
make_room(struct predicate_sets *sets, size_t count)
{
    sets->sets = array_grow(sets->sets, sets->count, &sets->capacity, sizeof(*sets->sets));
    if (sets->used + count > sets->room) {
        sets->room = 2 * (sets->used + count) + 256;
        sets->predicates = memory_resize(sets->predicates, sets->room, sizeof(*sets->predicates));
        sets->rows = memory_resize(sets->rows, sets->room, sizeof(*sets->rows));
    }
}

struct predicate_set *
predicate_sets_add(struct predicate_sets *sets, const oid *predicates, size_t count)
{
    uint64_t hash;
    struct predicate_set *set = find(sets, predicates, count, &hash);
    if (set != NULL) {
        return set;
    }
    make_room(sets, count);
    map_set(&sets->by_predicates, hash, (uint32_t)sets->count);
    set = &sets->sets[sets->count++];
    *set = (struct predicate_set){.first = sets->used, .count = count};
    for (size_t i = 0; i < count; i++) {
        sets->predicates[sets->used] = predicates[i];
        sets->rows[sets->used++] = 0;
        set->signature |= predicate_bit(predicates[i]);
    }
    return set;
}

int64_t *
predicate_set_rows(const struct predicate_sets *sets, const struct predicate_set *set,
                   oid predicate)
{
    const oid *predicates = sets->predicates + set->first;
    size_t low = 0;
    size_t high = set->count;
    if ((set->signature & predicate_bit(predicate)) == 0) {
        return NULL;
    }
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (predicates[middle] < predicate) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < set->count && predicates[low] == predicate ? &sets->rows[set->first + low] : NULL;
}
