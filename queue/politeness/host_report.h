/* The report that the end of a job of fetch makes of its host: what the job's requests told, from
 * which the queue learns its pace (pace.h), whether it is in trouble (host_troubles.h), and its
 * address. No I/O; any thread. */
#ifndef QUEUE_POLITENESS_HOST_REPORT_H
#define QUEUE_POLITENESS_HOST_REPORT_H

#include "queue/politeness/pace.h"

/* The findings of a job's requests about its host (ORDER.md, "Hosts in trouble"). */
enum host_word {
    HOST_ANSWERED = 1, /* it answered for a document, with any status */
    HOST_FAILED = 2,   /* it failed, after any answer that is told with this */
    HOST_SILENT = 4,   /* with HOST_FAILED: nobody answered at all, which may be our own fault */
    HOST_RULES = 8,    /* it had answered for its robots.txt before that */
    HOST_FORBIDS = 16  /* with HOST_FAILED: an answer for robots.txt lets nothing be fetched */
};

enum { OBSERVATIONS_MOST = 16, HOST_CAUSE_MAXIMUM = 4096 };

/* All is 0 when nothing is known. */
struct host_report {
    uint8_t words;           /* enum host_word; 0: nothing was told */
    bool asked;              /* a request went out: the host rests */
    bool rules_known;        /* crawl_delay_ms is what its robots.txt says now */
    uint32_t crawl_delay_ms; /* 0: none */
    uint64_t rest_ms;        /* it rests so long at least, asked or not */
    uint64_t address;        /* fingerprint; 0: as it was */
    struct slice cause;      /* HOST_FAILED: text for people */
    struct observation observations[OBSERVATIONS_MOST]; /* of its own requests, in their order */
    unsigned count;
};

/* Appends an observation. When there are more than the most, the latest are kept, since those long
 * before them weigh little. */
void host_report_add(struct host_report *report, const struct observation *observation);
/* Appends its bytes (queue/PROTOCOL.md, `report`): none when nothing is known. */
void host_report_encode(struct buf *out, const struct host_report *report);
/* cause points into bytes, and is cut to its most. False: they are damaged. */
bool host_report_decode(struct slice bytes, struct host_report *report);

#endif
