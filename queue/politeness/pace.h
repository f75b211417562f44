/* The pace of a host: what the ends of requests told of it, and how long it rests for that
 * (docs/POLITENESS.md, "Pace"). The queue keeps it, for all processes and over restarts, and hands
 * it out with each job of the host. The worker applies these same functions between the requests of
 * a job, since it must keep the delay before the queue has heard of them. No I/O, no clock; any
 * thread. */
#ifndef QUEUE_POLITENESS_PACE_H
#define QUEUE_POLITENESS_PACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/codec.h"
#include "base/options/opt.h"

/* All is 0 of a host of which nothing is known. */
struct pace {
    uint64_t until_ms;         /* wall time before which it asked not to be asked (Retry-After) */
    uint64_t address;          /* fingerprint of its address; 0: not known, or of no group */
    uint32_t response_ms;      /* smoothed; 0: none was measured */
    uint32_t crawl_delay_ms;   /* as its robots.txt says */
    uint32_t troubles;         /* in a row */
    uint32_t failures;         /* requests in a row that were not answered at all */
    uint32_t address_troubles; /* in a row, of all hosts of its address */
    bool answered;             /* a request, at any time */
};

struct pace_rules {
    uint64_t least_ms;            /* fetch.delay; 0: the host is one's own, only trouble counts */
    uint64_t most_ms;             /* fetch.delay_maximum: of what follows from response times */
    uint64_t factor;              /* fetch.delay_factor */
    uint64_t crawl_delay_most_ms; /* fetch.crawl_delay_maximum */
    uint64_t backoff_ms;          /* fetch.backoff: rest after the first trouble */
    uint64_t backoff_most_ms;     /* fetch.backoff_maximum */
    uint64_t retry_after_most_ms; /* fetch.retry_maximum: more is not waited */
};
struct pace_rules pace_rules_from(const struct opt_set *options);

/* The end of a request to a host. */
enum observed {
    OBSERVED_ANSWER = 1,  /* an answer came, with any status */
    OBSERVED_SILENCE = 2, /* none came, or no connection */
    OBSERVED_TROUBLE = 4  /* of the whole host: 429, 503, no connection, no answer in time */
};
struct observation {
    uint64_t retry_after_ms; /* 0: nothing was said */
    uint32_t milliseconds;   /* until the answer */
    uint8_t what;            /* enum observed */
};

/* Troubles are counted up, and halved by an answer that is none: those of the address, too, when
 * the host was asked itself. */
void pace_note(struct pace *pace, const struct pace_rules *rules,
               const struct observation *observation, uint64_t now_ms);
/* Tells whether a document is at fault, and not its host, when a request for it fails at this
 * attempt: one of its attempts failed before the host answered others. */
bool pace_blames_document(const struct pace *pace, unsigned attempt);
/* Returns the rest from now until the next request. */
uint64_t pace_rest_ms(const struct pace *pace, const struct pace_rules *rules, uint64_t now_ms);
/* Returns how long an answer may take to begin, `most_ms` at most. A host that never answered has
 * half as long each time that it was in trouble. One that does has several times its usual time,
 * but a quarter of the most at least, and twice as long with each attempt. */
uint64_t pace_patience_ms(const struct pace *pace, uint64_t most_ms, unsigned attempt);
/* Returns whether so little has changed that it need not be written: a part of the response time.
 */
bool pace_is_near(const struct pace *pace, const struct pace *written);

/* Its bytes in messages and rows (queue/PROTOCOL.md, `pace`), none when nothing is known. Times are
 * told from now_ms on, since clocks of machines differ; in rows from 0 on. */
void pace_encode(struct buf *out, const struct pace *pace, uint64_t now_ms);
/* Returns false when they are damaged; nothing is known then. */
bool pace_decode(struct slice bytes, uint64_t now_ms, struct pace *pace);

#endif
