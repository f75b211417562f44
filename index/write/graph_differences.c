#include "index/write/graph_differences.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"

/* A row of the graph as it is to be. */
struct new_row {
    struct row row;    /* CSPO */
    uint32_t document; /* of those handed in */
    bool removed, present;
};

struct row_run {
    const struct row *rows;
    size_t count;
};

enum { FEW = 24 /* rows that are sorted in place */ };

void
differences_init(struct differences *differences, struct partition *partition,
                 const struct index_batch *batch, struct census *census, uint64_t old_terms)
{
    *differences = (struct differences){
        .partition = partition, .batch = batch, .census = census, .old_terms = old_terms};
}

void
differences_reserve(struct differences *differences, size_t changes)
{
    differences->capacity = changes + 1;
    differences->changes =
        memory_resize(differences->changes, differences->capacity, sizeof(*differences->changes));
    memory_prefer_large_pages(differences->changes,
                              differences->capacity * sizeof(*differences->changes));
}

void
differences_release(struct differences *differences)
{
    free(differences->rows);
    free(differences->sorted);
    free(differences->items);
    free(differences->spare);
    row_vector_release(&differences->old);
    row_vector_release(&differences->subject);
}

/* ---- new rows ---- */

static void
reserve(struct differences *differences, size_t count)
{
    if (count <= differences->row_capacity) {
        return;
    }
    const size_t capacity = differences->row_capacity = 2 * count;
    free(differences->sorted);
    free(differences->items);
    free(differences->spare);
    differences->rows = memory_resize(differences->rows, capacity, sizeof(*differences->rows));
    differences->sorted = memory_alloc(capacity * sizeof(*differences->sorted));
    differences->items = memory_alloc(capacity * sizeof(*differences->items));
    differences->spare = memory_alloc(capacity * sizeof(*differences->spare));
}

/* Terms that are not stored have no identifier; quads of such ones need not be removed. */
static void
gather(struct differences *differences, const struct batch_document *d, uint32_t document,
       oid graph)
{
    const struct index_batch *batch = differences->batch;
    const struct set_term *terms = batch->terms.terms;
    reserve(differences, differences->row_count + d->count);
    for (size_t i = 0; i < d->count; i++) {
        const struct batch_quad *q = &batch->quads[d->first + i];
        const struct row row = {
            {graph, terms[q->subject].id, terms[q->predicate].id, terms[q->object].id}};
        if (row.place[1] != OID_NONE && row.place[2] != OID_NONE && row.place[3] != OID_NONE) {
            differences->rows[differences->row_count++] =
                (struct new_row){row, document, i < d->removals, false};
        }
    }
}

static void
sort_few(struct new_row *rows, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        const struct new_row row = rows[i];
        size_t at = i;
        for (; at > 0 && row_compare(&rows[at - 1].row, &row.row) > 0; at--) {
            rows[at] = rows[at - 1];
        }
        rows[at] = row;
    }
}

static void
sort_many(struct differences *differences)
{
    struct sort_item *items = differences->items, *spare = differences->spare;
    const size_t count = differences->row_count;
    for (size_t i = 0; i < count; i++) {
        items[i].index = (uint32_t)i;
    }
    for (int place = 3; place > 0; place--) {
        for (size_t i = 0; i < count; i++) {
            items[i].key = differences->rows[items[i].index].row.place[place];
        }
        struct sort_item *sorted = oid_sort(items, spare, count);
        spare = sorted == items ? spare : items;
        items = sorted;
    }
    for (size_t i = 0; i < count; i++) {
        differences->sorted[i] = differences->rows[items[i].index];
    }
    struct new_row *swap = differences->rows;
    differences->rows = differences->sorted;
    differences->sorted = swap;
}

/* Sorts the rows; of equal ones the last stays. */
static void
sort_rows(struct differences *differences)
{
    if (differences->row_count <= FEW) {
        sort_few(differences->rows, differences->row_count);
    } else {
        sort_many(differences);
    }
    struct new_row *rows = differences->rows;
    size_t kept = 0;
    for (size_t i = 0; i < differences->row_count; i++) {
        if (kept > 0 && row_compare(&rows[kept - 1].row, &rows[i].row) == 0) {
            kept--;
        }
        rows[kept++] = rows[i];
    }
    differences->row_count = kept;
}

/* ---- changes ---- */

static void
add_change(struct differences *differences, const struct row *row, bool removed)
{
    differences->changes = array_grow(differences->changes, differences->count,
                                      &differences->capacity, sizeof(*differences->changes));
    differences->changes[differences->count++] =
        (struct quad_change){row_quad(row, ORDER_CSPO), removed};
}

/* All old rows that are not among the new ones go. */
static enum status
replace(struct differences *differences, struct batch_document *d, struct reason *why)
{
    struct row_vector *old = &differences->old;
    const struct row prefix = {{d->graph_id}};
    old->count = 0;
    if (d->known && d->old.quads > 0) {
        TRY(quads_read(differences->partition->quads, ORDER_CSPO, &prefix, 1, old, why));
    }
    size_t at = 0;
    for (size_t i = 0; i < differences->row_count; i++) {
        const struct row *row = &differences->rows[i].row;
        int comparison = 1;
        while (at < old->count && (comparison = row_compare(&old->rows[at], row)) < 0) {
            add_change(differences, &old->rows[at++], true);
            d->result.removed++;
        }
        if (at < old->count && comparison == 0) {
            at++;
        } else {
            add_change(differences, row, false);
            d->result.added++;
        }
    }
    for (; at < old->count; at++) {
        add_change(differences, &old->rows[at], true);
        d->result.removed++;
    }
    return STATUS_OK;
}

static bool
is_new(const struct differences *differences, oid id)
{
    return oid_is_stored(id) && oid_number(id) > differences->old_terms;
}

/* Finds which rows are there already. A row with a term that is new cannot be. */
static enum status
find_present(struct differences *differences, struct reason *why)
{
    struct row_vector *wanted = &differences->old;
    wanted->count = 0;
    row_vector_reserve(wanted, differences->row_count);
    for (size_t i = 0; i < differences->row_count; i++) {
        const struct row *row = &differences->rows[i].row;
        if (!is_new(differences, row->place[1]) && !is_new(differences, row->place[2]) &&
            !is_new(differences, row->place[3])) {
            wanted->rows[wanted->count++] = *row;
        }
    }
    TRY(quads_keep_present(differences->partition->quads, ORDER_CSPO, wanted, why));
    for (size_t i = 0, at = 0; at < wanted->count && i < differences->row_count; i++) {
        if (row_compare(&differences->rows[i].row, &wanted->rows[at]) == 0) {
            differences->rows[i].present = true;
            at++;
        }
    }
    return STATUS_OK;
}

static enum status
patch(struct differences *differences, struct batch_document *const *documents, struct reason *why)
{
    if (documents[0]->known && documents[0]->old.quads > 0) {
        TRY(find_present(differences, why));
    }
    for (size_t i = 0; i < differences->row_count; i++) {
        const struct new_row *row = &differences->rows[i];
        if (row->present == row->removed) {
            struct index_result *result = &documents[row->document]->result;
            add_change(differences, &row->row, row->removed);
            result->removed += row->removed;
            result->added += !row->removed;
        }
    }
    return STATUS_OK;
}

/* ---- subjects ---- */

/* The old rows of the subject, which *at goes on from. Of a patch they are read, since only those
 * that it names were looked up. */
static enum status
rows_before(struct differences *differences, const struct batch_document *d, oid subject,
            size_t *at, struct row_run *rows, struct reason *why)
{
    const struct row_vector *old = &differences->old;
    *rows = (struct row_run){NULL, 0};
    if (!d->known || d->old.quads == 0 || is_new(differences, subject)) {
        return STATUS_OK;
    }
    if (d->patch) {
        const struct row prefix = {{d->graph_id, subject}};
        differences->subject.count = 0;
        TRY(quads_read(differences->partition->quads, ORDER_CSPO, &prefix, 2, &differences->subject,
                       why));
        *rows = (struct row_run){differences->subject.rows, differences->subject.count};
        return STATUS_OK;
    }
    while (*at < old->count && old->rows[*at].place[1] < subject) {
        ++*at;
    }
    rows->rows = old->rows + *at;
    while (*at < old->count && old->rows[*at].place[1] == subject) {
        ++*at;
        rows->count++;
    }
    return STATUS_OK;
}

/* Tells the census of the subjects of the changes from the first on, which are of one graph. */
static enum status
count_subjects(struct differences *differences, const struct batch_document *d, size_t first,
               struct reason *why)
{
    const struct quad_change *changes = differences->changes;
    size_t at = 0;
    for (size_t i = first, end; i < differences->count; i = end) {
        const oid subject = changes[i].quad.subject;
        struct row_run old;
        for (end = i + 1; end < differences->count && changes[end].quad.subject == subject; end++) {
        }
        TRY(rows_before(differences, d, subject, &at, &old, why));
        census_subject(differences->census, old.rows, old.count, changes + i, end - i);
    }
    return STATUS_OK;
}

static void
gather_all(struct differences *differences, struct batch_document *const *documents, size_t n)
{
    differences->row_count = 0;
    for (size_t i = 0; i < n; i++) {
        documents[i]->result.added = documents[i]->result.removed = 0;
        gather(differences, documents[i], (uint32_t)i, documents[0]->graph_id);
    }
    sort_rows(differences);
}

enum status
differences_add(struct differences *differences, struct batch_document *const *documents, size_t n,
                struct reason *why)
{
    gather_all(differences, documents, n);
    const size_t first = differences->count;
    TRY(documents[0]->patch ? patch(differences, documents, why)
                            : replace(differences, documents[0], why));
    return count_subjects(differences, documents[0], first, why);
}

enum status
differences_add_rows(struct differences *differences, struct batch_document *d,
                     const struct row *rows, size_t count, struct reason *why)
{
    struct batch_document *const documents[] = {d};
    const size_t first = differences->count;
    reserve(differences, count);
    for (size_t i = 0; i < count; i++) {
        differences->rows[i] = (struct new_row){.row = rows[i]};
    }
    differences->row_count = count;
    TRY(patch(differences, documents, why));
    return count_subjects(differences, d, first, why);
}

struct row *
differences_sort(struct differences *differences, struct batch_document *const *documents, size_t n,
                 size_t *count)
{
    gather_all(differences, documents, n);
    row_vector_reserve(&differences->old, differences->row_count);
    for (size_t i = 0; i < differences->row_count; i++) {
        differences->old.rows[i] = differences->rows[i].row;
    }
    *count = differences->row_count;
    return differences->old.rows;
}
