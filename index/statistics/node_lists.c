#include "index/statistics/node_lists.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { PLACES_LEAST = 1024, LISTS_LEAST = 4096, FRACTION_OF_ONE = 16, TABLES_MOST = 32 };

/* Where a node's list is: `count` entries of lists from `first` on. node OID_NONE: free. */
struct place {
    oid node;
    uint32_t first, count;
};

/* The nodes of one listing. */
struct table {
    struct node_listing listing;
    struct place *places;
    size_t room, used;
};

struct node_lists {
    pthread_mutex_t mutex;
    uint64_t version;
    size_t bytes_most;
    struct table tables[TABLES_MOST];
    size_t table_count;
    struct triple_count *lists;
    size_t count, room;
};

struct node_lists *
node_lists_new(size_t bytes)
{
    struct node_lists *kept = memory_new(sizeof *kept);
    pthread_mutex_init(&kept->mutex, NULL);
    kept->bytes_most = bytes;
    return kept;
}

static void
forget(struct node_lists *kept)
{
    for (size_t i = 0; i < kept->table_count; i++) {
        free(kept->tables[i].places);
    }
    free(kept->lists);
    kept->lists = NULL;
    kept->count = kept->room = kept->table_count = 0;
}

void
node_lists_free(struct node_lists *kept)
{
    if (kept != NULL) {
        forget(kept);
        pthread_mutex_destroy(&kept->mutex);
        free(kept);
    }
}

/* NULL: no list of these is kept. */
static struct table *
find_table(struct node_lists *kept, const struct node_listing *listing)
{
    for (size_t i = 0; i < kept->table_count; i++) {
        struct table *table = &kept->tables[i];
        if (table->listing.place == listing->place &&
            table->listing.predicate == listing->predicate &&
            table->listing.other == listing->other) {
            return table;
        }
    }
    return NULL;
}

static struct table *
make_table(struct node_lists *kept, const struct node_listing *listing)
{
    struct table *table = find_table(kept, listing);
    if (table == NULL) {
        if (kept->table_count == TABLES_MOST) {
            forget(kept);
        }
        table = &kept->tables[kept->table_count++];
        *table = (struct table){.listing = *listing};
    }
    return table;
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
recall_all(struct node_lists *kept, struct list_recall *recall)
{
    const struct table *table = find_table(kept, &recall->listing);
    size_t given = 0;
    for (size_t i = 0; i < recall->count; i++) {
        const struct place *place =
            table != NULL && table->room > 0 ? find_place(table, recall->nodes[i]) : NULL;
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
node_lists_recall(struct node_lists *kept, uint64_t version, struct list_recall *recall)
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
bytes_of(const struct node_lists *kept)
{
    size_t bytes = kept->room * sizeof *kept->lists;
    for (size_t i = 0; i < kept->table_count; i++) {
        bytes += kept->tables[i].room * sizeof(struct place);
    }
    return bytes;
}

/* Doubles the table when it is half full. False: there is no room for that. */
static bool
reserve_place(struct node_lists *kept, struct table *table)
{
    if (2 * table->used < table->room) {
        return true;
    }
    const size_t room = table->room > 0 ? 2 * table->room : PLACES_LEAST;
    if (bytes_of(kept) + room * sizeof(struct place) > kept->bytes_most) {
        return false;
    }
    struct table grown = {table->listing, memory_zero(room, sizeof(struct place)), room,
                          table->used};
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
reserve_list(struct node_lists *kept, size_t count)
{
    if (count <= kept->room - kept->count) {
        return true;
    }
    size_t room = kept->room > 0 ? 2 * kept->room : LISTS_LEAST;
    while (room - kept->count < count) {
        room *= 2;
    }
    const size_t others = bytes_of(kept) - kept->room * sizeof *kept->lists;
    const size_t most =
        kept->bytes_most > others ? (kept->bytes_most - others) / sizeof *kept->lists : 0;
    room = room > most / 2 ? most : room;
    if (room < kept->count + count || room > UINT32_MAX) {
        return false;
    }
    kept->lists = memory_resize(kept->lists, room, sizeof *kept->lists);
    kept->room = room;
    return true;
}

static bool
reserve(struct node_lists *kept, struct table *table, size_t count)
{
    return reserve_place(kept, table) && reserve_list(kept, count);
}

void
node_lists_keep(struct node_lists *kept, uint64_t version, const struct node_listing *listing,
                oid node, const struct triple_count *counts, size_t count)
{
    if (count * sizeof *counts > kept->bytes_most / FRACTION_OF_ONE) {
        return;
    }
    pthread_mutex_lock(&kept->mutex);
    if (version > kept->version) {
        forget(kept);
        kept->version = version;
    }
    struct table *table = version == kept->version ? make_table(kept, listing) : NULL;
    bool room = table != NULL && reserve(kept, table, count);
    if (table != NULL && !room) {
        forget(kept);
        table = make_table(kept, listing);
        room = reserve(kept, table, count);
    }
    struct place *found = room ? find_place(table, node) : NULL;
    /* A list takes the place of an empty one that said it was asked for. */
    if (found != NULL && (found->node == OID_NONE || found->count < count)) {
        table->used += found->node == OID_NONE;
        *found = (struct place){node, (uint32_t)kept->count, (uint32_t)count};
        if (count > 0) {
            memcpy(kept->lists + kept->count, counts, count * sizeof *counts);
        }
        kept->count += count;
    }
    pthread_mutex_unlock(&kept->mutex);
}
