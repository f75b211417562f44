/* Lookups of subjects that ascend, by one scan that goes over what lies between them. Each block is
 * read once from its first wanted subject on, and nothing is opened for each lookup.
 *
 * Whether subjects ascend is seen from the lookups; it takes some of them in order until leaping
 * begins, and one out of order ends it. For the lookups of one operator.
 */
#ifndef INDEX_QUERY_OPERATORS_LEAPS_H
#define INDEX_QUERY_OPERATORS_LEAPS_H

#include "index/query/operators/operator.h"

enum { LEAP_QUADS = 128 };

struct leaps {
    const struct quad_source *source;
    struct quad_scan *open; /* all quads by subject, predicate and object */
    oid subject;            /* that was looked up last */
    unsigned ascents;       /* lookups in a row of which each had a greater one */
    struct quad_oids pattern;
    struct quad_oids quads[LEAP_QUADS]; /* read ahead */
    size_t at, count;
};

/* Begins a lookup. *leaps: leaps_next gives its quads; else the caller is to scan. */
enum status leaps_begin(struct leaps *leaps, const struct quad_oids *pattern, bool *taken,
                        struct reason *why);
/* Up to `most` quads of the lookup; *n = 0 at the end. */
enum status leaps_next(struct leaps *leaps, struct quad_oids *quads, size_t most, size_t *n,
                       struct reason *why);
/* Lookups begin anew. */
void leaps_end(struct leaps *leaps);

#endif
