/* This part reads what single quads say of identity. */
#ifndef IDENTITY_EDGES_H
#define IDENTITY_EDGES_H

#include "identity/identity.h"

/* Takes one edge. */
typedef enum status edge_visit(void *context, const struct identity_edge *edge, struct reason *why);
/* Calls visit for all that a quad says of identity; values are not looked at yet. undefined:
 * whether nothing defines its property. */
enum status edges_of(struct identity *identity, const struct quad_oids *quad, edge_visit *visit,
                     void *context, bool *undefined, bool *cut, struct reason *why);
static inline bool
rule_is_inverse(enum identity_rule rule)
{
    return rule == IDENTITY_INVERSE_FUNCTIONAL || rule == IDENTITY_INVERSE_CARDINALITY;
}

#endif
