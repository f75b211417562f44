#include "index/statistics/node_predicates.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { PLACES_LEAST = 1024, LISTS_LEAST = 4096, FRACTION_OF_ONE = 16 };

/* Where a node's list is: `count` entries of lists from `first` on. node OID_NONE: free. */
struct place {
    oid node;
    uint32_t first, count;
};

/* The nodes of one place of triples. */
struct table {
    struct place *places;
    size_t room, used;
};

struct node_predicates {
    pthread_mutex_t mutex;
    uint64_t version;
    size_t bytes_most;
    struct table subjects, objects;
    struct triple_count *lists;
    size_t count, room;
};

struct node_predicates *
node_predicates_new(size_t bytes)
{
    struct node_predicates *kept = memory_zero(1, sizeof *kept);
    pthread_mutex_init(&kept->mutex, NULL);
    kept->bytes_most = bytes;
    return kept;
}

static void
forget(struct node_predicates *kept)
{
    free(kept->subjects.places);
    free(kept->objects.places);
    free(kept->lists);
    kept->subjects = kept->objects = (struct table){0};
    kept->lists = NULL;
    kept->count = kept->room = 0;
}

void
node_predicates_free(struct node_predicates *kept)
{
    if (kept != NULL) {
        forget(kept);
        pthread_mutex_destroy(&kept->mutex);
        free(kept);
    }
}

static struct table *
table_of(struct node_predicates *kept, enum triple_place place)
{
    return place == TRIPLE_OBJECT ? &kept->objects : &kept->subjects;
}

/* The node's place, or the free one where it belongs; the table has room. */
static struct place *
find_place(const struct table *table, oid node)
{
    const uint64_t hash = node * UINT64_C(0x9E3779B97F4A7C15);
    size_t at = (hash ^ hash >> 32) & (table->room - 1);
    while (table->places[at].node != OID_NONE && table->places[at].node != node) {
        at = (at + 1) & (table->room - 1);
    }
    return &table->places[at];
}

/* ---- finding ---- */

static size_t
recall_all(struct node_predicates *kept, struct predicate_recall *recall)
{
    const struct table *table = table_of(kept, recall->place);
    size_t given = 0;
    for (size_t i = 0; i < recall->count; i++) {
        const struct place *place = table->room > 0 ? find_place(table, recall->nodes[i]) : NULL;
        const bool known = place != NULL && place->node != OID_NONE;
        if (known && place->count > recall->most - given) {
            return i;
        }
        recall->known[i] = known;
        if (known && place->count > 0) {
            memcpy(recall->counts + given, kept->lists + place->first,
                   place->count * sizeof *kept->lists);
            given += place->count;
        }
        recall->ends[i] = given;
    }
    return recall->count;
}

size_t
node_predicates_recall(struct node_predicates *kept, uint64_t version,
                       struct predicate_recall *recall)
{
    size_t done = recall->count;
    pthread_mutex_lock(&kept->mutex);
    if (version == kept->version) {
        done = recall_all(kept, recall);
    } else {
        memset(recall->known, 0, recall->count * sizeof *recall->known);
        memset(recall->ends, 0, recall->count * sizeof *recall->ends);
    }
    pthread_mutex_unlock(&kept->mutex);
    return done;
}

/* ---- keeping ---- */

static size_t
bytes_of(const struct node_predicates *kept)
{
    return (kept->subjects.room + kept->objects.room) * sizeof(struct place) +
           kept->room * sizeof *kept->lists;
}

/* Doubles the table when it is half full. False: there is no room for that. */
static bool
reserve_place(struct node_predicates *kept, struct table *table)
{
    if (2 * table->used < table->room) {
        return true;
    }
    const size_t room = table->room > 0 ? 2 * table->room : PLACES_LEAST;
    if (bytes_of(kept) + room * sizeof(struct place) > kept->bytes_most) {
        return false;
    }
    struct table grown = {memory_zero(room, sizeof(struct place)), room, table->used};
    for (size_t i = 0; i < table->room; i++) {
        if (table->places[i].node != OID_NONE) {
            *find_place(&grown, table->places[i].node) = table->places[i];
        }
    }
    free(table->places);
    *table = grown;
    return true;
}

/* Makes room for a list. False: there is none. */
static bool
reserve_list(struct node_predicates *kept, size_t count)
{
    if (count <= kept->room - kept->count) {
        return true;
    }
    size_t room = kept->room > 0 ? 2 * kept->room : LISTS_LEAST;
    while (room - kept->count < count) {
        room *= 2;
    }
    if (bytes_of(kept) + room * sizeof *kept->lists > kept->bytes_most || room > UINT32_MAX) {
        return false;
    }
    kept->lists = memory_resize(kept->lists, room, sizeof *kept->lists);
    kept->room = room;
    return true;
}

static bool
reserve(struct node_predicates *kept, struct table *table, size_t count)
{
    return reserve_place(kept, table) && reserve_list(kept, count);
}

void
node_predicates_keep(struct node_predicates *kept, uint64_t version, enum triple_place place,
                     oid node, const struct triple_count *counts, size_t count)
{
    if (count * sizeof *counts > kept->bytes_most / FRACTION_OF_ONE) {
        return;
    }
    pthread_mutex_lock(&kept->mutex);
    struct table *table = table_of(kept, place);
    if (version > kept->version) {
        forget(kept);
        kept->version = version;
    }
    bool room = version == kept->version && reserve(kept, table, count);
    if (version == kept->version && !room) {
        forget(kept);
        room = reserve(kept, table, count);
    }
    struct place *found = room ? find_place(table, node) : NULL;
    if (found != NULL && found->node == OID_NONE) {
        *found = (struct place){node, (uint32_t)kept->count, (uint32_t)count};
        if (count > 0) {
            memcpy(kept->lists + kept->count, counts, count * sizeof *counts);
        }
        kept->count += count;
        table->used++;
    }
    pthread_mutex_unlock(&kept->mutex);
}
