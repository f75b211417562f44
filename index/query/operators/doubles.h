/* Which triples of a union of graphs a scan has given already: in each graph that has it a triple
 * comes once more.
 *
 * Where the graph is the last of the scan's order, doubles stand side by side. The orders that
 * begin with the predicate are sorted by graph before subject; there the subjects of the present
 * predicate and object are remembered. Documents that were loaded one after the other have subjects
 * that mostly ascend as well, and as long as each comes after all before, they are a list, not a
 * table.
 */
#ifndef INDEX_QUERY_OPERATORS_DOUBLES_H
#define INDEX_QUERY_OPERATORS_DOUBLES_H

#include "index/query/operators/operator.h"

enum doubles_kind {
    DOUBLES_NONE,
    DOUBLES_SIDE_BY_SIDE,
    DOUBLES_BY_SUBJECT, /* within one object */
    DOUBLES_ANYWHERE
};

struct doubles {
    struct run *run;
    const struct graphs *graphs; /* of the scan */
    enum doubles_kind kind;
    bool many; /* patterns at once: the memory is the source's to bound */
    bool asks; /* there was no room to remember one: the index is asked until all are forgotten */
    struct quad_oids last;
    oid *ascending; /* subjects that came after all before */
    size_t count, room;
    struct row_table others; /* and those that did not; of the present predicate and object */
    struct row_table seen;   /* triples */
};

void doubles_init(struct doubles *doubles, struct run *run, const struct graphs *graphs);
void doubles_release(struct doubles *doubles);
/* A scan begins. */
void doubles_begin(struct doubles *doubles, enum doubles_kind kind, bool many);
/* Forgets the quads that were given: they are no duplicates of those that come. */
void doubles_forget(struct doubles *doubles);
/* Tells whether the quad was already given, and remembers it. next: what follows it in the scan,
 * NULL where that is not known; graph: which one of a set is being read. */
enum status doubles_look_up(struct doubles *doubles, const struct quad_oids *quad,
                            const struct quad_oids *next, size_t graph, bool *doubled,
                            struct reason *why);

static inline enum status
doubles_find(struct doubles *doubles, const struct quad_oids *quad, const struct quad_oids *next,
             size_t graph, bool *doubled, struct reason *why)
{
    const struct quad_oids last = doubles->last;
    *doubled = false;
    if (doubles->kind == DOUBLES_NONE) {
        return STATUS_OK;
    }
    if (doubles->kind != DOUBLES_SIDE_BY_SIDE) {
        return doubles_look_up(doubles, quad, next, graph, doubled, why);
    }
    doubles->last = *quad;
    *doubled = last.subject == quad->subject && last.predicate == quad->predicate &&
               last.object == quad->object;
    return STATUS_OK;
}

#endif
