/* Decides how fast a host may be asked, beyond what its robots.txt says: slower when it answers
 * slowly (response times, smoothed), and ever more slowly while it fails or asks for patience
 * (back-off, doubled for each trouble in a row; each good answer halves the count). The same for
 * addresses, where trouble counts when hosts of it fail one after the other. No I/O, no clock; one
 * thread.
 *
 * A table has a fixed number of places; who comes later takes a place over. What is forgotten is
 * learned anew, or read from the host's record. */
#ifndef STAGES_FETCH_HOSTS_HOST_PACE_H
#define STAGES_FETCH_HOSTS_HOST_PACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pace {
    uint64_t of;          /* fingerprint of an origin or an address; 0: an empty place */
    uint64_t looked;      /* when it was looked for: for the table itself */
    uint64_t until_ms;    /* wall time before which it asked not to be asked (Retry-After) */
    uint64_t noted_ms;    /* the response time that the host's record has */
    uint32_t response_ms; /* smoothed; 0: none was measured */
    uint32_t troubles;    /* in a row */
    uint32_t failures;    /* requests in a row that were not answered at all */
    bool answered;        /* a request, since the process began */
};

struct pace_rules {
    uint64_t least_ms;            /* fetch.delay; 0: the host is one's own, only trouble counts */
    uint64_t most_ms;             /* fetch.delay_maximum: of what follows from response times */
    uint64_t factor;              /* fetch.delay_factor */
    uint64_t backoff_ms;          /* fetch.backoff: rest after the first trouble */
    uint64_t backoff_most_ms;     /* fetch.backoff_maximum */
    uint64_t retry_after_most_ms; /* fetch.retry_maximum: more is not waited */
};

struct paces;
struct paces *paces_new(size_t places);
void paces_free(struct paces *paces); /* NULL is allowed */
/* Its place, emptied when another was there. of: not 0. Valid until the next call. */
struct pace *paces_find(struct paces *paces, uint64_t of);

/* An answer that came after milliseconds. */
void pace_answered(struct pace *pace, uint32_t milliseconds);
/* 429, 503, no connection, no answer in time. retry_after_ms: 0 when nothing was said. */
void pace_troubled(struct pace *pace, const struct pace_rules *rules, uint64_t retry_after_ms,
                   uint64_t now_ms);
/* Notes the end of a request: whether an answer came, with any status. */
void pace_heard(struct pace *pace, bool answer);
/* Whether a document is at fault, and not its host, when a request for it fails at this attempt:
 * one of its attempts failed before the host answered others. */
bool pace_blames_document(const struct pace *pace, unsigned attempt);
/* Returns the rest from now until the next request. */
uint64_t pace_rest_ms(const struct pace *pace, const struct pace_rules *rules, uint64_t now_ms);
/* Returns how much of the rest comes from trouble, for people and for the record; 0 when there is
 * none. */
uint64_t pace_backoff_ms(const struct pace *pace, const struct pace_rules *rules);
/* Returns how long an answer may take to begin, `most_ms` at most. A host that never answered has
 * half as long each time that it was in trouble. One that does has several times its usual time,
 * but a quarter of the most at least, and twice as long with each attempt. */
uint64_t pace_patience_ms(const struct pace *pace, uint64_t most_ms, unsigned attempt);
/* Returns whether the response time differs by a quarter and 50 ms from the one that was noted
 * last, and notes it then. */
bool pace_worth_noting(struct pace *pace);

#endif
