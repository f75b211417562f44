#include <stdlib.h>

#include "base/memory.h"
#include "index/query/operators/hash_join.h"

/* ---- lists ---- */

enum { ENTRIES_LEAST = 256 };
/* Entries that are put into a table in the time of a lookup in their list, which is by halves; and
 * the rows of a scan for each of those in a range. */
enum { LOOKUPS = 3, RANGED = 8 };

static inline bool
is_equal(const struct join_list *list, const struct triple_count *entry,
         const struct triple_count *key)
{
    return entry->value == key->value && (!list->two || entry->triples == key->triples);
}

size_t
join_list_find(struct join_list *list, const oid *row)
{
    const struct triple_count *entries = list->list;
    const struct triple_count key = {row[list->slots[0]], list->two ? row[list->slots[1]] : 0};
    const bool back = list->at > 0 && !count_is_before(&entries[list->at - 1], &key, list->two);
    size_t from = back ? 0 : list->at, to = from, step = 1;
    while (to < list->count && count_is_before(&entries[to], &key, list->two)) {
        from = to + 1;
        to = list->count - to > step ? to + step : list->count;
        step *= 2;
    }
    list->at = counts_find(entries, from, to, &key, list->two);
    return list->at < list->count && is_equal(list, &entries[list->at], &key) ? list->at : SIZE_MAX;
}

uint64_t
join_list_number(const struct join_list *list, size_t at)
{
    size_t end = at + 1;
    if (!list->two) {
        return list->list[at].triples;
    }
    while (end < list->count && is_equal(list, &list->list[end], &list->list[at])) {
        end++;
    }
    return end - at;
}

/* Appends a key with its number to an own list, or adds the number to that of the same key. False:
 * the key does not ascend, or there is no room. */
static bool
join_list_add(struct join_list *list, struct spill *spill, oid key, uint64_t number)
{
    struct triple_count *last = list->count ? &list->own[list->count - 1] : NULL;
    if (last && last->value >= key) {
        return last->value == key && !__builtin_add_overflow(last->triples, number, &last->triples);
    }
    if (list->count == list->room) {
        const size_t room = list->room ? 2 * list->room : ENTRIES_LEAST;
        const size_t growth = (room - list->room) * sizeof *list->own;
        if (!spill_may_take(spill, growth) ||
            memory_take(spill->account, growth, "joins", NULL) != STATUS_OK) {
            return false;
        }
        list->own = memory_resize(list->own, room, sizeof *list->own);
        list->room = room;
    }
    list->own[list->count++] = (struct triple_count){key, number};
    list->list = list->own;
    return true;
}

/* Drops the list, and gives the memory of an own one back. */
static void
join_list_release(struct join_list *list, struct memory_account *account)
{
    memory_give(account, list->room * sizeof *list->own);
    free(list->own);
    *list = (struct join_list){0};
}

/* ---- tables and files ---- */

/* Moves the table into files. */
static enum status
spill_table(struct hash_join *join, struct reason *why)
{
    join->spilled = memory_new(sizeof *join->spilled);
    join_spill_init(join->spilled, &join->operator.run->spill, join->keys, join->stored_count,
                    join->operator.run->width);
    for (size_t i = 0; i < join->table.count; i++) {
        TRY(join_spill_build(join->spilled, row_table_row(&join->table, i), why));
    }
    row_table_release(&join->table);
    return STATUS_OK;
}

/* A key that is all of its row is stored once with the number of its rows. */
static enum status
store_weight(struct hash_join *join, struct reason *why)
{
    bool added;
    size_t at;
    TRY(row_table_put(&join->table, join->stored, &added, &at, why));
    if (!added) {
        join->table.rows[at * join->table.width + join->count] += join->stored[join->count];
    }
    return STATUS_OK;
}

static enum status
store(struct hash_join *join, struct reason *why)
{
    bool added;
    size_t at;
    if (!join->spilled &&
        !spill_may_take(&join->operator.run->spill, row_table_growth(&join->table))) {
        TRY(spill_table(join, why));
    }
    if (join->spilled) {
        return join_spill_build(join->spilled, join->stored, why);
    }
    if (join->count > join->keys) {
        return row_table_add(&join->table, join->stored, why);
    }
    return join->spec.weight != NUMBER_NONE ? store_weight(join, why)
           : counts_once(join) ? row_table_put(&join->table, join->stored, &added, &at, why)
                               : row_table_add(&join->table, join->stored, why);
}

void
hash_join_forget_files(struct hash_join *join)
{
    if (join->spilled) {
        join_spill_release(join->spilled);
        free(join->spilled);
        join->spilled = NULL;
    }
}

void
hash_join_give_filter(struct hash_join *join, const struct key_filter *filter)
{
    struct operator* input = join->operator.input;
    const uint32_t slot = join->slots[join->filter_key];
    if (scan_can_filter(input, slot)) {
        scan_set_filter(input, filter, slot);
    } else {
        counts_set_filter(input, filter, slot);
    }
}

void
hash_join_drop_filter(struct hash_join *join)
{
    if (join->filter.words) {
        hash_join_give_filter(join, NULL);
        key_filter_release(&join->filter);
        memory_give(&join->operator.run->account, join->filter_bytes);
    }
}

/* Lets the scan that the input is leave out what has no match, where such rows are dropped. */
static enum status
set_filter(struct hash_join *join, struct reason *why)
{
    struct run *run = join->operator.run;
    const size_t bytes = key_filter_size(&join->table);
    if (join->filter_key == join->keys || bytes == 0 || !spill_may_take(&run->spill, bytes)) {
        return STATUS_OK;
    }
    TRY(memory_take(&run->account, bytes, join->table.what, why));
    join->filter_bytes = bytes;
    key_filter_fill(&join->filter, &join->table, join->filter_key);
    hash_join_give_filter(join, &join->filter);
    return STATUS_OK;
}

/* Makes room for about as many rows as are expected, if that is not much. */
static enum status
reserve(struct hash_join *join, struct reason *why)
{
    enum { LEAST = 256, MOST = 32768 };
    const double expected = join->operator.only->estimate;
    const size_t rows = expected < MOST ? (size_t)expected : MOST;
    const size_t bytes = row_table_growth_to(&join->table, rows);
    return rows >= LEAST && bytes && spill_may_take(&join->operator.run->spill, bytes)
               ? row_table_reserve(&join->table, rows, why)
               : STATUS_OK;
}

/* Tells whether the rows come in the order of the slot, and then of the object's (NUMBER_NONE:
 * any): they are kept counts, or what joins have left of such. */
static enum status
ascends(struct operator* operator, uint32_t slot, uint32_t object, bool *ascends,
        struct reason *why)
{
    const struct triple_count *list;
    size_t count;
    while (hash_join_sifts(operator)) {
        operator= operator->input;
    }
    TRY(counts_kept(operator, slot, &list, &count, why));
    *ascends = list && (object == NUMBER_NONE || counts_object(operator) == object);
    return STATUS_OK;
}

/* A guess of the rows that are looked up. */
static double
input_rows(const struct hash_join *join)
{
    const struct operator* operator= join->operator.input;
    const double rows = operator->estimate;
    for (; operator; operator= operator->input) {
        const struct scan_spec *spec = scan_spec_of(operator);
        if (spec && spec->objects.first) {
            return rows / RANGED;
        }
    }
    return rows;
}

/* Where both sides are in the order of the key, they are gone through side by side; what the source
 * keeps of the built one is the list, or its rows make one. What is kept serves few rows in
 * another order, too. */
static enum status
take_list(struct hash_join *join, struct reason *why)
{
    struct operator* built = join->operator.only;
    struct join_list *list = &join->list;
    const uint32_t object = counts_object(built);
    const bool two = join->keys == 2;
    const uint32_t key = join->slots[two && join->slots[0] == object ? 1 : 0];
    bool ascending;
    join_list_release(list, &join->operator.run->account);
    join->listing = false;
    const bool fits = two ? join->sifts && (object == join->slots[0] || object == join->slots[1])
                          : join->keys == 1;
    if (join->count > 2 || !fits) {
        return STATUS_OK;
    }
    TRY(ascends(join->operator.input, key, two ? object : NUMBER_NONE, &ascending, why));
    if (!ascending && two) {
        return STATUS_OK;
    }
    list->two = two;
    list->slots[0] = key;
    list->slots[1] = object;
    if (two || object == (join->count == 2 ? join->slots[1] : NUMBER_NONE)) {
        TRY(counts_kept(built, key, &list->list, &list->count, why));
    }
    join->beside = ascending;
    if (!ascending && input_rows(join) * LOOKUPS > (double)list->count) {
        list->list = NULL;
        list->count = 0;
    }
    if (ascending && !list->list && join->sifts && !two) {
        TRY(ascends(built, key, NUMBER_NONE, &join->listing, why));
    }
    return STATUS_OK;
}

/* Goes on with a table, when a row does not come in the order of the key or the list has no room.
 */
static enum status
end_listing(struct hash_join *join, struct reason *why)
{
    const bool weighted = join->stored_count > join->count;
    struct join_list *list = &join->list;
    const oid present[2] = {join->stored[0], weighted ? join->stored[1] : 0};
    join->listing = false;
    for (size_t i = 0; i < list->count; i++) {
        join->stored[0] = list->own[i].value;
        join->stored[1] = weighted ? list->own[i].triples : join->stored[1];
        TRY(store(join, why));
    }
    join_list_release(list, &join->operator.run->account);
    memcpy(join->stored, present, (weighted ? 2 : 1) * sizeof *present);
    return STATUS_OK;
}

/* Stores a row of the built side. */
static enum status
take_row(struct hash_join *join, const oid *row, struct reason *why)
{
    const bool weighted = join->stored_count > join->count;
    take_columns(join, row, join->count);
    if (weighted) {
        join->stored[join->count] = row_weight(row, join->spec.weight);
    }
    if (join->listing && join_list_add(&join->list, &join->operator.run->spill, join->stored[0],
                                       weighted ? join->stored[join->count] : 1)) {
        return STATUS_OK;
    }
    TRY(join->listing ? end_listing(join, why) : STATUS_OK);
    return store(join, why);
}

enum status
hash_join_build(struct hash_join *join, struct reason *why)
{
    const struct run *run = join->operator.run;
    struct batch *batch;
    hash_join_forget_files(join);
    row_table_reset(&join->table);
    TRY(take_list(join, why));
    if (!join->list.list) {
        TRY(join->listing ? STATUS_OK : reserve(join, why));
        operator_reset(join->operator.only);
        do {
            TRY(operator_next(join->operator.only, &batch, why));
            for (size_t i = 0; i < batch->count; i++) {
                TRY(take_row(join, batch_row(run, batch, i), why));
            }
        } while (batch->count > 0);
    }
    join->built = true;
    if (join->list.list && join->beside &&
        (join->spec.mode == HASH_JOIN || join->spec.mode == HASH_SEMI)) {
        counts_keep_beside(join->operator.input, join->list.list, join->list.count);
    }
    return join->spilled     ? join_spill_built(join->spilled, why)
           : join->list.list ? STATUS_OK
                             : set_filter(join, why);
}

void
hash_join_release(struct hash_join *join)
{
    hash_join_forget_files(join);
    hash_join_drop_filter(join);
    join_list_release(&join->list, &join->operator.run->account);
    row_table_release(&join->table);
}
