/* Remembers which rows were there before: a hash table, and when that has no room, a sort.
 *
 * A row is new or seen while the table holds all keys. Once it cannot grow, rows that are not in
 * it are deferred: they come back from row_set_next, each key once, in the order in which they
 * were put. */
#ifndef INDEX_QUERY_MEMORY_ROW_SET_H
#define INDEX_QUERY_MEMORY_ROW_SET_H

#include "index/query/memory/row_table.h"
#include "store/sorter.h"

enum row_state { ROW_NEW, ROW_SEEN, ROW_DEFERRED };

struct row_set {
    struct row_table table;
    struct spill *spill;
    struct sorter by_key;   /* key, sequence, payload */
    struct sorter by_order; /* sequence, key, payload */
    size_t keys, payload;   /* words */
    size_t compared[2];     /* words that the sorters compare */
    uint64_t *record;
    uint64_t sequence;
    bool sorted;
};

void row_set_init(struct row_set *set, struct spill *spill, const char *what, size_t keys,
                  size_t payload);
void row_set_reset(struct row_set *set);
void row_set_release(struct row_set *set);
/* payload: comes back with a deferred row; may be NULL when there is none. */
enum status row_set_put(struct row_set *set, const oid *key, const oid *payload,
                        enum row_state *state, struct reason *why);
/* After the last put: deferred rows; *key NULL at the end. They live until the next call. */
enum status row_set_next(struct row_set *set, const oid **key, const oid **payload,
                         struct reason *why);

#endif
