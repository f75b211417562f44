/* Workers and what they hold: in memory only (PROTOCOL.md "Leases").
 * Workers are numbers from 0; a number stays a worker's while it is known. */
#ifndef QUEUE_FRONTIER_LEASES_H
#define QUEUE_FRONTIER_LEASES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/digest.h"
#include "base/slice.h"
#include "queue/client/job.h"

enum { LEASE_NONE = -1, WORKER_NONE = -1, WORKER_ANSWERS = 8 };

struct lease {
    struct job_key key;
    uint8_t fingerprint[FINGERPRINT_SIZE]; /* of the URI */
    uint64_t generation;
    uint64_t deadline_ms; /* monotonic */
    uint64_t request;     /* the RESERVE that gave it; 0: announced by TOUCH */
    uint32_t worker;
    uint32_t next, previous; /* of the same worker */
    uint16_t depth, attempt, deaths;
};

struct worker {
    char *name;
    uint64_t fingerprint;              /* fingerprint64 of the name */
    uint64_t incarnation, previous;    /* 0: not heard of since the daemon started */
    uint64_t answered[WORKER_ANSWERS]; /* RESERVEs that were answered, a ring */
    uint32_t answered_at;
    uint32_t first, count; /* leases */
    uint32_t suspects;     /* leases of jobs whose worker died before */
    uint64_t heard_ms;     /* monotonic */
    bool stored;           /* has a row in `workers` */
    bool announced;        /* has said what it holds since the daemon started */
    bool used;
};

struct leases;

struct leases *leases_new(void);
void leases_free(struct leases *leases);

uint32_t leases_worker_find(const struct leases *leases, struct slice name);
uint32_t leases_worker_add(struct leases *leases, struct slice name);
/* Must hold nothing. */
void leases_worker_remove(struct leases *leases, uint32_t worker);
struct worker *leases_worker(struct leases *leases, uint32_t worker);
uint32_t leases_worker_end(const struct leases *leases); /* numbers below may be used */

/* The lease is a copy of *lease, under worker. The id must not be leased. */
void leases_add(struct leases *leases, const struct lease *lease);
uint32_t leases_find(const struct leases *leases, uint64_t id);
struct lease *leases_at(struct leases *leases, uint32_t at);
void leases_remove(struct leases *leases, uint32_t at);
size_t leases_count(const struct leases *leases, enum stage stage);

/* Returns how many jobs a worker may hold together with one of so many deaths. */
uint32_t leases_company(uint16_t deaths);
/* The least of it over all that a worker holds. */
uint32_t leases_worker_company(struct leases *leases, uint32_t worker);

#endif
