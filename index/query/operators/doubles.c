#include "index/query/operators/doubles.h"

#include <stdlib.h>

#include "base/memory.h"

enum { ROOM_FIRST = 256 };
static const char what[] = "triples in several documents";

void
doubles_init(struct doubles *doubles, struct run *run, const struct graphs *graphs)
{
    *doubles = (struct doubles){.run = run, .graphs = graphs};
    row_table_init(&doubles->seen, &run->account, what, 3, 3);
    row_table_init(&doubles->others, &run->account, what, 1, 1);
}

void
doubles_release(struct doubles *doubles)
{
    row_table_release(&doubles->seen);
    row_table_release(&doubles->others);
    memory_give(&doubles->run->account, doubles->room * sizeof *doubles->ascending);
    free(doubles->ascending);
    doubles->ascending = NULL;
    doubles->count = doubles->room = 0;
}

void
doubles_begin(struct doubles *doubles, enum doubles_kind kind, bool many)
{
    doubles->kind = kind;
    doubles->many = many;
    doubles->last = (struct quad_oids){0};
}

void
doubles_forget(struct doubles *doubles)
{
    doubles->asks = false;
    doubles->count = 0;
    if (doubles->seen.count) {
        row_table_reset(&doubles->seen);
    }
    if (doubles->others.count) {
        row_table_reset(&doubles->others);
    }
}

/* Where there is no room to remember what was given: whether the triple is another graph's to give,
 * of a union that with the least identifier, of a set the one that is read first. */
static enum status
earlier_has(struct doubles *doubles, const struct quad_oids *quad, size_t graph, bool *doubled,
            struct reason *why)
{
    struct run *run = doubles->run;
    const struct graphs *graphs = doubles->graphs;
    const struct quad_oids pattern = {quad->subject, quad->predicate, quad->object, OID_NONE};
    struct quad_oids found[8];
    struct quad_scan *triples;
    size_t count = 1;
    run->report.scans++;
    TRY(run->source->scan(run->source->context, &pattern, ORDER_COUNT, &triples, why));
    enum status status = STATUS_OK;
    while (status == STATUS_OK && count && !*doubled) {
        status = run->source->scan_next(triples, found, 8, &count, why);
        for (size_t i = 0; status == STATUS_OK && i < count; i++) {
            bool earlier = graphs->kind == GRAPHS_ALL && found[i].graph < quad->graph;
            for (size_t k = 0; graphs->kind == GRAPHS_SET && k < graph; k++) {
                earlier = earlier || graphs->ids[k] == found[i].graph;
            }
            *doubled = *doubled || earlier;
        }
    }
    run->source->scan_close(triples);
    return status;
}

/* Tells whether there is room for so many bytes more; if not, nothing is remembered any more, since
 * a triple that was given unremembered must not be looked for. */
static bool
has_room(struct doubles *doubles, size_t bytes)
{
    doubles->asks =
        doubles->asks || (!doubles->many && !spill_may_take(&doubles->run->spill, bytes));
    return !doubles->asks;
}

static enum status
append(struct doubles *doubles, oid subject, struct reason *why)
{
    if (doubles->count == doubles->room) {
        const size_t room = doubles->room ? doubles->room * 2 : ROOM_FIRST;
        const size_t bytes = (room - doubles->room) * sizeof subject;
        TRY(memory_take(&doubles->run->account, bytes, what, why));
        doubles->ascending = memory_resize(doubles->ascending, room, sizeof subject);
        doubles->room = room;
    }
    doubles->ascending[doubles->count++] = subject;
    return STATUS_OK;
}

static bool
is_listed(const struct doubles *doubles, oid subject)
{
    size_t low = 0, high = doubles->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (doubles->ascending[middle] < subject) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < doubles->count && doubles->ascending[low] == subject;
}

static enum status
find_in(struct doubles *doubles, struct row_table *table, const struct quad_oids *quad,
        size_t graph, bool *doubled, struct reason *why)
{
    const oid key[3] = {quad->subject, quad->predicate, quad->object};
    bool added;
    size_t at;
    if (!has_room(doubles, row_table_growth(table))) {
        *doubled = row_table_find(table, key) != SIZE_MAX;
        return *doubled ? STATUS_OK : earlier_has(doubles, quad, graph, doubled, why);
    }
    TRY(row_table_put(table, key, &added, &at, why));
    *doubled = !added;
    return STATUS_OK;
}

static enum status
find_subject(struct doubles *doubles, const struct quad_oids *quad, size_t graph, bool *doubled,
             struct reason *why)
{
    const size_t growth = doubles->count == doubles->room
                              ? (doubles->room + ROOM_FIRST) * sizeof *doubles->ascending
                              : 0;
    if ((doubles->count == 0 || quad->subject > doubles->ascending[doubles->count - 1]) &&
        has_room(doubles, growth)) {
        return append(doubles, quad->subject, why);
    }
    *doubled = is_listed(doubles, quad->subject);
    return *doubled ? STATUS_OK : find_in(doubles, &doubles->others, quad, graph, doubled, why);
}

enum status
doubles_look_up(struct doubles *doubles, const struct quad_oids *quad, const struct quad_oids *next,
                size_t graph, bool *doubled, struct reason *why)
{
    const struct quad_oids *last = &doubles->last;
    if (doubles->kind == DOUBLES_ANYWHERE) {
        return find_in(doubles, &doubles->seen, quad, graph, doubled, why);
    }
    const bool begins = last->object != quad->object || last->predicate != quad->predicate;
    doubles->last = *quad;
    if (begins) {
        doubles_forget(doubles);
        /* A quad that is the only one with its predicate and object, as most labels are, need not
         * be remembered. */
        if (next && (next->object != quad->object || next->predicate != quad->predicate)) {
            return STATUS_OK;
        }
    }
    return find_subject(doubles, quad, graph, doubled, why);
}
