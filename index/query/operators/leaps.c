#include "index/query/operators/leaps.h"

/* So many subjects in order may be chance. */
enum { ASCENTS_LEAST = 8 };

void
leaps_end(struct leaps *leaps)
{
    if (leaps->open) {
        leaps->source->scan_close(leaps->open);
        leaps->open = NULL;
    }
    leaps->ascents = 0;
    leaps->subject = OID_NONE;
    leaps->at = leaps->count = 0;
}

/* Negative: the quad comes before those of the pattern; 0: it is one of them. */
static inline int
place_of(const struct quad_oids *quad, const struct quad_oids *pattern)
{
    if (quad->subject != pattern->subject) {
        return quad->subject < pattern->subject ? -1 : 1;
    }
    if (pattern->predicate == OID_NONE || quad->predicate == pattern->predicate) {
        return 0;
    }
    return quad->predicate < pattern->predicate ? -1 : 1;
}

enum status
leaps_begin(struct leaps *leaps, const struct quad_oids *pattern, bool *taken, struct reason *why)
{
    const struct quad_oids all = {0};
    const oid before = leaps->subject;
    *taken = false;
    if (!leaps->source->scan_skip || !pattern->subject || pattern->object || pattern->graph) {
        return STATUS_OK;
    }
    if (pattern->subject <= before) {
        leaps_end(leaps);
    }
    leaps->subject = pattern->subject;
    leaps->pattern = *pattern;
    if (++leaps->ascents < ASCENTS_LEAST) {
        return STATUS_OK;
    }
    *taken = true;
    if (!leaps->open) {
        TRY(leaps->source->scan(leaps->source->context, &all, ORDER_SPOC, &leaps->open, why));
    }
    while (leaps->at < leaps->count && place_of(&leaps->quads[leaps->at], pattern) < 0) {
        leaps->at++;
    }
    if (leaps->at == leaps->count) {
        leaps->source->scan_skip(leaps->open, pattern);
    }
    return STATUS_OK;
}

enum status
leaps_next(struct leaps *leaps, struct quad_oids *quads, size_t most, size_t *n, struct reason *why)
{
    *n = 0;
    while (*n == 0) {
        if (leaps->at == leaps->count) {
            leaps->at = 0;
            TRY(leaps->source->scan_next(leaps->open, leaps->quads, LEAP_QUADS, &leaps->count,
                                         why));
            if (leaps->count == 0) {
                return STATUS_OK;
            }
        }
        while (leaps->at < leaps->count && *n < most &&
               place_of(&leaps->quads[leaps->at], &leaps->pattern) == 0) {
            quads[(*n)++] = leaps->quads[leaps->at++];
        }
        if (leaps->at < leaps->count) {
            return STATUS_OK;
        }
    }
    return STATUS_OK;
}
