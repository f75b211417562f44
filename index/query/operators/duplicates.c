#include "index/query/operators/duplicates.h"

#include <stdlib.h>

#include "base/memory.h"

enum { ROOM_FIRST = 256 };
static const char what[] = "triples in several documents";

void
duplicates_init(struct duplicates *duplicates, struct run *run, const struct graphs *graphs)
{
    *duplicates = (struct duplicates){.run = run, .graphs = graphs};
    row_table_init(&duplicates->seen, &run->account, what, 3, 3);
    row_table_init(&duplicates->others, &run->account, what, 1, 1);
}

void
duplicates_release(struct duplicates *duplicates)
{
    row_table_release(&duplicates->seen);
    row_table_release(&duplicates->others);
    memory_give(&duplicates->run->account, duplicates->room * sizeof *duplicates->ascending);
    free(duplicates->ascending);
    duplicates->ascending = NULL;
    duplicates->count = duplicates->room = 0;
}

void
duplicates_begin(struct duplicates *duplicates, enum duplicates_kind kind, bool many)
{
    duplicates->kind = kind;
    duplicates->many = many;
    duplicates->last = (struct quad_oids){0};
}

void
duplicates_forget(struct duplicates *duplicates)
{
    duplicates->asks = false;
    duplicates->count = 0;
    if (duplicates->seen.count) {
        row_table_reset(&duplicates->seen);
    }
    if (duplicates->others.count) {
        row_table_reset(&duplicates->others);
    }
}

/* Where there is no room to remember what was given: whether the triple is another graph's to give,
 * of a union that with the least identifier, of a set the one that is read first. */
static enum status
earlier_has(struct duplicates *duplicates, const struct quad_oids *quad, size_t graph,
            bool *duplicate, struct reason *why)
{
    struct run *run = duplicates->run;
    const struct graphs *graphs = duplicates->graphs;
    const struct quad_oids pattern = {quad->subject, quad->predicate, quad->object, OID_NONE};
    struct quad_oids found[8];
    struct quad_scan *triples;
    size_t count = 1;
    run->report.scans++;
    TRY(run->source->scan(run->source->context, &pattern, ORDER_COUNT, &triples, why));
    enum status status = STATUS_OK;
    while (status == STATUS_OK && count && !*duplicate) {
        status = run->source->scan_next(triples, found, 8, &count, why);
        for (size_t i = 0; status == STATUS_OK && i < count; i++) {
            bool earlier = graphs->kind == GRAPHS_ALL && found[i].graph < quad->graph;
            for (size_t k = 0; graphs->kind == GRAPHS_SET && k < graph; k++) {
                earlier = earlier || graphs->ids[k] == found[i].graph;
            }
            *duplicate = *duplicate || earlier;
        }
    }
    run->source->scan_close(triples);
    return status;
}

/* Tells whether there is room for so many bytes more; if not, nothing is remembered any more, since
 * a triple that was given unremembered must not be looked for. */
static bool
has_room(struct duplicates *duplicates, size_t bytes)
{
    duplicates->asks =
        duplicates->asks || (!duplicates->many && !spill_may_take(&duplicates->run->spill, bytes));
    return !duplicates->asks;
}

static enum status
append(struct duplicates *duplicates, oid subject, struct reason *why)
{
    if (duplicates->count == duplicates->room) {
        const size_t room = duplicates->room ? duplicates->room * 2 : ROOM_FIRST;
        const size_t bytes = (room - duplicates->room) * sizeof subject;
        TRY(memory_take(&duplicates->run->account, bytes, what, why));
        duplicates->ascending = memory_resize(duplicates->ascending, room, sizeof subject);
        duplicates->room = room;
    }
    duplicates->ascending[duplicates->count++] = subject;
    return STATUS_OK;
}

static bool
is_listed(const struct duplicates *duplicates, oid subject)
{
    size_t low = 0, high = duplicates->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (duplicates->ascending[middle] < subject) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < duplicates->count && duplicates->ascending[low] == subject;
}

static enum status
find_in(struct duplicates *duplicates, struct row_table *table, const struct quad_oids *quad,
        size_t graph, bool *duplicate, struct reason *why)
{
    const oid key[3] = {quad->subject, quad->predicate, quad->object};
    bool added;
    size_t at;
    if (!has_room(duplicates, row_table_growth(table))) {
        *duplicate = row_table_find(table, key) != SIZE_MAX;
        return *duplicate ? STATUS_OK : earlier_has(duplicates, quad, graph, duplicate, why);
    }
    TRY(row_table_put(table, key, &added, &at, why));
    *duplicate = !added;
    return STATUS_OK;
}

static enum status
find_subject(struct duplicates *duplicates, const struct quad_oids *quad, size_t graph,
             bool *duplicate, struct reason *why)
{
    const size_t growth = duplicates->count == duplicates->room
                              ? (duplicates->room + ROOM_FIRST) * sizeof *duplicates->ascending
                              : 0;
    if ((duplicates->count == 0 || quad->subject > duplicates->ascending[duplicates->count - 1]) &&
        has_room(duplicates, growth)) {
        return append(duplicates, quad->subject, why);
    }
    *duplicate = is_listed(duplicates, quad->subject);
    return *duplicate ? STATUS_OK
                      : find_in(duplicates, &duplicates->others, quad, graph, duplicate, why);
}

enum status
duplicates_look_up(struct duplicates *duplicates, const struct quad_oids *quad,
                   const struct quad_oids *next, size_t graph, bool *duplicate, struct reason *why)
{
    const struct quad_oids *last = &duplicates->last;
    if (duplicates->kind == DUPLICATES_ANYWHERE) {
        return find_in(duplicates, &duplicates->seen, quad, graph, duplicate, why);
    }
    const bool begins = last->object != quad->object || last->predicate != quad->predicate;
    duplicates->last = *quad;
    if (begins) {
        duplicates_forget(duplicates);
        /* A quad that is the only one with its predicate and object, as most labels are, need not
         * be remembered. */
        if (next && (next->object != quad->object || next->predicate != quad->predicate)) {
            return STATUS_OK;
        }
    }
    return find_subject(duplicates, quad, graph, duplicate, why);
}
