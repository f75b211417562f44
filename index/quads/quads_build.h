/* Writing one tree of quads anew, as a merge of its rows and the changes: the step of quads_apply
 * for a tree of which most blocks change. The writer's thread. */
#ifndef INDEX_QUADS_QUADS_BUILD_H
#define INDEX_QUADS_QUADS_BUILD_H

#include "index/quads/quads.h"

/* Tells in *pays whether building the tree anew costs less than changing its blocks. */
enum status quads_build_pays(struct quads *quads, enum quad_order order,
                             const struct change_set *set, bool *pays, struct reason *why);
/* Builds it; the transaction's commit puts it into use. */
enum status quads_build(struct quads *quads, enum quad_order order, struct transaction *transaction,
                        const struct change_set *set, struct reason *why);

#endif
