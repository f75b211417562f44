/* A hash join: its state, and the building of what the input is looked up in (hash_join_build.c).
 *
 * Where the rows of the input come in the order of the only key, what is built may be a list in
 * that order, too: the counts that the source keeps, or rows that ascend. Then both are gone
 * through side by side, without a table. */
#ifndef INDEX_QUERY_OPERATORS_HASH_JOIN_H
#define INDEX_QUERY_OPERATORS_HASH_JOIN_H

#include "index/query/memory/join_spill.h"
#include "index/query/operators/operator.h"

struct join_list {
    /* Keys with numbers, or with what the built side binds besides; NULL: there is no list. */
    const struct triple_count *list;
    size_t count, at;  /* `at`: where the last key was found */
    bool two;          /* keys of two columns: what stands in place of a number is one, too */
    uint32_t slots[2]; /* of the key's columns */
    struct triple_count *own; /* made of rows, else NULL */
    size_t room;
};

/* The place of the first entry with the row's key; SIZE_MAX: there is none. Keys that ascend from
 * one call to the next are found in few steps. */
size_t join_list_find(struct join_list *list, const oid *row);
/* The number of rows that an entry and those after it with the same key stand for. */
uint64_t join_list_number(const struct join_list *list, size_t at);
/* The next entry with the key of the one at this place, or SIZE_MAX. */
static inline size_t
join_list_next(const struct join_list *list, size_t at)
{
    return at + 1 < list->count && list->list[at + 1].value == list->list[at].value ? at + 1
                                                                                    : SIZE_MAX;
}

/* A stored row holds the keys, then the other columns that may be bound. */
struct hash_join {
    struct operator operator;
    struct hash_spec spec;
    uint32_t *slots; /* of a stored row's columns */
    size_t count, keys;
    struct marks marks;
    size_t stored_count; /* with the weight, which is last */
    struct row_table table;
    oid *stored;
    bool built, borrowed; /* borrowed: the table and the filter are another run's */
    struct batch *input;
    size_t at, match; /* input row; stored row, SIZE_MAX: not begun */
    bool begun, matched;
    struct join_spill *spilled; /* instead of the table */
    bool input_spilled, sifts;
    /* Instead of the table; `listing`: it is being made of rows. */
    struct join_list list;
    bool listing;
    bool beside;              /* the input is in the order of the list */
    struct key_filter filter; /* of the table, for the scan that is the input */
    size_t filter_bytes, filter_key;
};

/* Makes the table, the list or the files. */
enum status hash_join_build(struct hash_join *join, struct reason *why);
/* Frees what was built, but for what belongs to another join. */
void hash_join_release(struct hash_join *join);
/* Drops what is in files, or the filter that the input has. */
void hash_join_forget_files(struct hash_join *join);
void hash_join_drop_filter(struct hash_join *join);
/* A filter (NULL: none) for what the input is, a scan or counts. */
void hash_join_give_filter(struct hash_join *join, const struct key_filter *filter);

bool is_hash_join(const struct operator* operator);

/* Takes the first columns of a stored row from a row. */
static inline void
take_columns(const struct hash_join *join, const oid *row, size_t count)
{
    for (size_t column = 0; column < count; column++) {
        join->stored[column] = row[join->slots[column]];
    }
}

/* Tells whether a row that is nothing but keys counts once. */
static inline bool
counts_once(const struct hash_join *join)
{
    return join->spec.mode == HASH_MINUS || join->spec.mode == HASH_SEMI;
}

#endif
