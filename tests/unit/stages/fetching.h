/* Two fetch programs between real daemons and the web of tests/unit/fetch_web.h. Needs the programs
 * beside the tests (../bin). */
#ifndef TESTS_UNIT_STAGES_FETCHING_H
#define TESTS_UNIT_STAGES_FETCHING_H

#include "base/buf.h"
#include "metastore/metastore_client.h"
#include "queue/client/queue_client.h"
#include "tests/unit/fetch_web.h"
#include "tests/unit/scratch.h"

extern char fetching_directory[SCRATCH_SIZE];

/* False: they are not built. */
bool fetching_find_programs(void);
/* Of the whole program. */
int fetching_start(void **state);
int fetching_stop(void **state);

/* Puts a URI to the queue of fetch. */
void fetching_put(const char *uri, uint8_t flags);
void fetching_put_at(const char *uri, uint8_t flags, uint16_t depth);
/* Until the queue of fetch is empty. */
void fetching_wait(void);
void fetching_wait_for_request(const char *what);

/* What a record of the metadata store begins with; "": it has no such field. */
void fetching_check(const char *key, enum meta_field field, const char *expected);
/* UINT64_MAX: the record has none. */
uint64_t fetching_number(const char *key, enum meta_field field);
uint64_t fetching_depth(const char *key);

struct found_jobs {
    const char *uri;
    unsigned n;
    struct job job;
    struct buf data, reason;
};

/* The jobs of a URI in a stage and state; the last one's data and reason, which are to be released.
 */
struct found_jobs fetching_look(enum stage stage, const char *state, const char *uri);
unsigned fetching_count_jobs(enum stage stage, const char *state, const char *uri);
/* Returns what the queue knows of a URI and its host. */
struct queue_explanation fetching_explain(const char *uri);
/* The host is set aside with so many URIs. */
void fetching_check_aside(const char *origin, unsigned jobs, const char *cause);

#endif
