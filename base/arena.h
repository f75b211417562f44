/* Memory with one lifetime: a job, a document, a query. Freed all at once.
 *
 * An arena has a maximum; passing it is reported by NULL, so that one hostile document
 * cannot take the machine. Blocks are 16-byte aligned. Not thread-safe.
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>

#include "base/slice.h"

struct arena_block;
struct arena {
    struct arena_block *head;
    size_t used;    /* bytes handed out since the last reset */
    size_t maximum; /* 0: no maximum */
};

void arena_init(struct arena *arena, size_t maximum);
void *arena_alloc(struct arena *arena, size_t size); /* not zeroed; NULL past the maximum */
void *arena_zero(struct arena *arena, size_t size);  /* zeroed; NULL past the maximum */
/* Copies; the copy is NUL-terminated as a courtesy. {NULL, 0} past the maximum. */
struct slice arena_copy(struct arena *arena, struct slice slice);
struct slice arena_printf(struct arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void arena_reset(struct arena *arena); /* keeps one block for the next job */
void arena_release(struct arena *arena);

#endif
