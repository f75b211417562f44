/* Remembers which triples of a union of graphs a scan has given already: in each graph that has it
 * a triple comes once more.
 *
 * Where the graph is the last of the scan's order, duplicates stand side by side. The orders that
 * begin with the predicate are sorted by graph before subject; there the subjects of the present
 * predicate and object are remembered. Documents that were loaded one after the other have subjects
 * that mostly ascend as well, and as long as each comes after all before, they are a list, not a
 * table.
 */
#ifndef INDEX_QUERY_OPERATORS_DUPLICATES_H
#define INDEX_QUERY_OPERATORS_DUPLICATES_H

#include "index/query/operators/operator.h"

enum duplicates_kind {
    DUPLICATES_NONE,
    DUPLICATES_SIDE_BY_SIDE,
    DUPLICATES_BY_SUBJECT, /* within one object */
    DUPLICATES_ANYWHERE
};

struct duplicates {
    struct run *run;
    const struct graphs *graphs; /* of the scan */
    enum duplicates_kind kind;
    bool many; /* patterns at once: the memory is the source's to bound */
    bool asks; /* there was no room to remember one: the index is asked until all are forgotten */
    struct quad_oids last;
    oid *ascending; /* subjects that came after all before */
    size_t count, room;
    struct row_table others; /* and those that did not; of the present predicate and object */
    struct row_table seen;   /* triples */
};

void duplicates_init(struct duplicates *duplicates, struct run *run, const struct graphs *graphs);
void duplicates_release(struct duplicates *duplicates);
/* A scan begins. */
void duplicates_begin(struct duplicates *duplicates, enum duplicates_kind kind, bool many);
/* Forgets the quads that were given: they are no duplicates of those that come. */
void duplicates_forget(struct duplicates *duplicates);
/* Tells whether the quad was already given, and remembers it. next: what follows it in the scan,
 * NULL where that is not known; graph: which one of a set is being read. */
enum status duplicates_look_up(struct duplicates *duplicates, const struct quad_oids *quad,
                               const struct quad_oids *next, size_t graph, bool *duplicate,
                               struct reason *why);

static inline enum status
duplicates_find(struct duplicates *duplicates, const struct quad_oids *quad,
                const struct quad_oids *next, size_t graph, bool *duplicate, struct reason *why)
{
    const struct quad_oids last = duplicates->last;
    *duplicate = false;
    if (duplicates->kind == DUPLICATES_NONE) {
        return STATUS_OK;
    }
    if (duplicates->kind != DUPLICATES_SIDE_BY_SIDE) {
        return duplicates_look_up(duplicates, quad, next, graph, duplicate, why);
    }
    duplicates->last = *quad;
    *duplicate = last.subject == quad->subject && last.predicate == quad->predicate &&
                 last.object == quad->object;
    return STATUS_OK;
}

#endif
