#include "index/quads/memtable.h"

#include <stdlib.h>

#include "base/memory.h"

void
row_vector_reserve(struct row_vector *vector, size_t count)
{
    if (count > vector->capacity) {
        vector->capacity = count + count / 2;
        vector->rows = memory_resize(vector->rows, vector->capacity, sizeof(*vector->rows));
    }
}

void
row_vector_release(struct row_vector *vector)
{
    free(vector->rows);
    *vector = (struct row_vector){0};
}

void
rows_change(const struct change_set *set, enum quad_order order, size_t first, size_t last,
            bool undo, struct row_vector *rows)
{
    const size_t most = rows->count + (last - first);
    struct row_vector result = {0};
    row_vector_reserve(&result, most);
    size_t at = 0;
    for (size_t i = first; i < last; i++) {
        const struct row row = change_row(set, order, i);
        int comparison = 1;
        while (at < rows->count && (comparison = row_compare(&rows->rows[at], &row)) < 0) {
            result.rows[result.count++] = rows->rows[at++];
        }
        if (at < rows->count && comparison == 0) {
            at++;
        }
        if (change_removed(set, order, i) == undo) {
            result.rows[result.count++] = row;
        }
    }
    while (at < rows->count) {
        result.rows[result.count++] = rows->rows[at++];
    }
    row_vector_release(rows);
    *rows = result;
}

void
memtable_restore(const struct memtable *table, enum quad_order order, const struct row *from,
                 const struct row *to, struct row_vector *rows)
{
    for (size_t i = 0; order != ORDER_CSPO && i < table->count; i++) {
        const struct change_set *set = table->sets[i];
        const size_t first = change_set_find(set, order, from);
        const size_t last = to ? change_set_find_from(set, order, to, first) : set->count;
        if (first < last) {
            rows_change(set, order, first, last, false, rows);
        }
    }
}

size_t
memtable_changes(const struct memtable *table, size_t first)
{
    size_t count = 0;
    for (size_t i = first; i < table->count; i++) {
        count += table->sets[i]->count;
    }
    return count;
}
