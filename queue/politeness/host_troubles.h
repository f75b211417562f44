/* Hosts in trouble (ORDER.md, "Hosts in trouble"): what a failure of a lane's host makes of it,
 * and a table of all lanes in trouble, which is all in memory that is needed of them: about 100
 * bytes each; their names and causes are on disk. No I/O, no clock; one thread.
 */
#ifndef QUEUE_POLITENESS_HOST_TROUBLES_H
#define QUEUE_POLITENESS_HOST_TROUBLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/codec.h"
#include "queue/client/job.h"

struct trouble_rules {
    uint32_t failures;                /* in a row, before a host is set aside */
    uint64_t patience_ms;             /* and over so long, if it ever answered */
    uint64_t probe_ms, probe_most_ms; /* until the first probe; the longest interval */
    uint32_t outage_hosts;            /* so many silent ones at a time may be our own fault */
    uint64_t outage_patience_ms;      /* for so long; 0: never */
};

enum trouble_flag { TROUBLE_ASIDE = 1, TROUBLE_SILENT = 2, TROUBLE_DOUBTED = 4 };

struct trouble {
    uint64_t lane;
    uint64_t since_ms, last_ms; /* the first and the latest failure counted */
    uint64_t rest_ms;           /* wall time until which a failure is the same one */
    uint64_t aside_ms;          /* since when it is set aside */
    uint64_t next_ms;           /* when it is asked again: the lane's due time */
    uint32_t failures;          /* in a row; 0: it is in no trouble */
    uint32_t probes;            /* that failed */
    uint8_t flags;              /* enum trouble_flag */
    /* in memory only: of a lane that is set aside, its jobs that are not leased */
    bool counted; /* all; else those before rank, id */
    uint64_t jobs, rank, id;
};

struct trouble_failure {
    uint64_t now_ms, rest_ms; /* how long the host rests by itself */
    bool silent;              /* nobody answered */
    bool forbids;             /* it answered that nothing may be fetched */
    bool answered_before;     /* the host, at any time */
    uint64_t network_ms;      /* when anybody answered last; 0: never */
    uint32_t silent_hosts;    /* FAILING, others */
};
void trouble_fail(struct trouble *trouble, const struct trouble_rules *rules,
                  const struct trouble_failure *failure);
/* Its robots.txt was answered, though nothing else was: if it is set aside, others of its jobs get
 * their turn before it is so again, for a longer time. */
void trouble_doubt(struct trouble *trouble);
/* Asked for by a person: due now. */
void trouble_try(struct trouble *trouble, uint64_t now_ms);

void trouble_encode(struct buf *out, const struct trouble *trouble, struct slice origin,
                    struct slice cause);
bool trouble_decode(struct slice bytes, struct trouble *trouble, struct slice *origin,
                    struct slice *cause);

/* ---- the table ---- */

struct troubles;

struct troubles *troubles_new(void);
void troubles_free(struct troubles *troubles);

/* NULL: the lane is in no trouble. Valid until the next change. */
const struct trouble *troubles_find(const struct troubles *troubles, uint64_t lane);
/* In no order; NULL behind the last. */
const struct trouble *troubles_at(const struct troubles *troubles, size_t i);
/* Takes over what was committed of a host; one without failures is forgotten. Counting its jobs
 * begins when it is set aside. */
void troubles_set(struct troubles *troubles, const struct trouble *trouble);
bool troubles_aside(const struct troubles *troubles, uint64_t lane);

/* A job of a lane became ready, or ceased to be: handed out, or gone. */
void troubles_came(struct troubles *troubles, const struct job_key *key);
void troubles_left(struct troubles *troubles, const struct job_key *key);

/* A lane whose jobs are not all counted; false: there is none. */
bool troubles_uncounted(const struct troubles *troubles, struct job_key *from);
/* So many more were found before the place of `next`; last: there are no others. */
void troubles_count(struct troubles *troubles, const struct job_key *next, uint64_t jobs,
                    bool last);

struct troubles_totals {
    uint64_t failing, aside; /* lanes */
    uint64_t jobs;           /* counted, of those set aside */
    uint32_t silent;         /* FAILING, by silence */
    uint32_t doubted;        /* of these, not set aside because it may be us */
};
struct troubles_totals troubles_totals(const struct troubles *troubles);

#endif
