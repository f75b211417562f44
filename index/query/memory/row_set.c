#include "index/query/memory/row_set.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

void
row_set_init(struct row_set *set, struct spill *spill, const char *what, size_t keys,
             size_t payload)
{
    *set = (struct row_set){
        .spill = spill, .keys = keys, .payload = payload, .compared = {keys + 1, 1}};
    row_table_init(&set->table, spill->account, what, keys, keys);
    sorter_init(&set->by_key, spill, what, sorter_compare_words, &set->compared[0], UINT64_MAX);
    sorter_init(&set->by_order, spill, what, sorter_compare_words, &set->compared[1], UINT64_MAX);
    set->record = memory_alloc((keys + payload + 1) * sizeof *set->record);
}

void
row_set_reset(struct row_set *set)
{
    row_table_reset(&set->table);
    sorter_reset(&set->by_key);
    sorter_reset(&set->by_order);
    set->sequence = 0;
    set->sorted = false;
}

void
row_set_release(struct row_set *set)
{
    if (set->spill) {
        row_table_release(&set->table);
        sorter_release(&set->by_key);
        sorter_release(&set->by_order);
        free(set->record);
        set->record = NULL;
    }
}

static void
copy_words(uint64_t *to, const oid *from, size_t words)
{
    if (words) {
        memcpy(to, from, words * sizeof *to);
    }
}

enum status
row_set_put(struct row_set *set, const oid *key, const oid *payload, enum row_state *state,
            struct reason *why)
{
    const bool deferring = set->sequence > 0;
    if (row_table_find(&set->table, key) != SIZE_MAX) {
        *state = ROW_SEEN;
        return STATUS_OK;
    }
    if (!deferring && spill_may_take(set->spill, row_table_growth(&set->table))) {
        *state = ROW_NEW;
        return row_table_add(&set->table, key, why);
    }
    *state = ROW_DEFERRED;
    copy_words(set->record, key, set->keys);
    set->record[set->keys] = set->sequence++;
    copy_words(set->record + set->keys + 1, payload, set->payload);
    return sorter_add(&set->by_key, set->record, set->keys + 1 + set->payload, why);
}

/* The first of each key, into their order. */
static enum status
keep_first(struct row_set *set, struct reason *why)
{
    const size_t keys = set->keys, words = keys + 1 + set->payload;
    bool some = false;
    TRY(sorter_end(&set->by_key, why));
    for (;;) {
        const uint64_t *record;
        TRY(sorter_next(&set->by_key, &record, why));
        if (!record) {
            break;
        }
        if (some && memcmp(record, set->record + 1, keys * sizeof *record) == 0) {
            continue;
        }
        some = true;
        copy_words(set->record + 1, record, keys);
        set->record[0] = record[keys];
        copy_words(set->record + 1 + keys, record + keys + 1, set->payload);
        TRY(sorter_add(&set->by_order, set->record, words, why));
    }
    sorter_release(&set->by_key);
    return sorter_end(&set->by_order, why);
}

enum status
row_set_next(struct row_set *set, const oid **key, const oid **payload, struct reason *why)
{
    const uint64_t *record = NULL;
    if (set->sequence > 0 && !set->sorted) {
        /* Nothing is looked up any more. */
        row_table_release(&set->table);
        TRY(keep_first(set, why));
        set->sorted = true;
    }
    if (set->sorted) {
        TRY(sorter_next(&set->by_order, &record, why));
    }
    *key = record ? record + 1 : NULL;
    *payload = record ? record + 1 + set->keys : NULL;
    return STATUS_OK;
}
