/* Memory as a stack: take, remember a mark, take more, go back to the mark.
 * Nothing taken ever moves. For parsers, whose terms die in the order they came.
 */
#ifndef RDF_CORE_SCRATCH_H
#define RDF_CORE_SCRATCH_H

#include <stddef.h>

#include "base/slice.h"

struct scratch_block;
struct scratch {
    struct scratch_block *block; /* the one in use; its predecessors and a successor linked */
    size_t used;                 /* bytes of it */
};
struct scratch_mark {
    struct scratch_block *block;
    size_t used;
};

void scratch_init(struct scratch *scratch);
void scratch_release(struct scratch *scratch);
char *scratch_take(struct scratch *scratch, size_t size); /* not aligned; never NULL */
/* Gives back the end of what was taken last. */
void scratch_shorten(struct scratch *scratch, size_t by);
struct slice scratch_copy(struct scratch *scratch, struct slice slice);
struct slice scratch_join(struct scratch *scratch, struct slice a, struct slice b);

static inline struct scratch_mark
scratch_mark(const struct scratch *scratch)
{
    return (struct scratch_mark){scratch->block, scratch->used};
}

static inline void
scratch_rewind(struct scratch *scratch, struct scratch_mark mark)
{
    scratch->block = mark.block;
    scratch->used = mark.used;
}

#endif
