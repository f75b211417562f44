/* When a run has to end: its time is up, or nobody wants its answer any more. */
#ifndef INDEX_QUERY_MEMORY_DEADLINE_H
#define INDEX_QUERY_MEMORY_DEADLINE_H

#include "index/query/query.h"

struct deadline {
    const struct query_options *options;
    uint64_t at_ms; /* monotonic; 0: never */
};

/* The time begins now. The options must outlive it. */
void deadline_begin(struct deadline *deadline, const struct query_options *options);
/* Time, cancellation and others' turns; cheap enough for every batch and scan. */
enum status deadline_check(const void *deadline, struct reason *why);

#endif
