/* Outcomes tell what became of jobs, as the queue counts it: each job once, in the transaction that
 * ends it. So the counts hold after any crash, over restarts and repeated messages, and over all
 * crawls in a directory; those of several nodes are added up. */
#ifndef QUEUE_CLIENT_OUTCOMES_H
#define QUEUE_CLIENT_OUTCOMES_H

#include "queue/client/job.h"

/* name, stage, word in JSON, text. New ones stand at the end: they are stored in this order. */
#define OUTCOME_MAP(X)                                                                        \
    X(FETCHED, STAGE_FETCH, "fetched", "fetched (2xx)")                                       \
    X(UNMODIFIED, STAGE_FETCH, "not_modified", "not modified")                                \
    X(REDIRECTED, STAGE_FETCH, "redirected", "redirected")                                    \
    X(REDIRECTED_OUT, STAGE_FETCH, "redirected_out_of_scope", "redirected out of scope")      \
    X(GONE, STAGE_FETCH, "gone", "not there (404, 410)")                                      \
    X(DENIED, STAGE_FETCH, "denied_by_robots", "denied by robots.txt")                        \
    X(REFUSED, STAGE_FETCH, "refused", "refused by our rules (address, traps, covered)")      \
    X(FAILED_STATUS, STAGE_FETCH, "failed_status", "failed: other answers (4xx, 5xx)")        \
    X(FAILED_CONNECTION, STAGE_FETCH, "failed_connection", "failed: name, connection or TLS") \
    X(FAILED_SILENCE, STAGE_FETCH, "failed_silence", "failed: no answer, or half of one")     \
    X(FAILED_ANSWER, STAGE_FETCH, "failed_answer", "failed: answers that are no good")        \
    X(BESIDE, STAGE_FETCH, "beside", "asked for besides (sitemaps, contexts, guesses)")       \
    X(DETECTED, STAGE_DETECT, "detected", "type detected")                                    \
    X(UNKNOWN_TYPE, STAGE_DETECT, "unknown_type", "no transform for the type")                \
    X(NOINDEX, STAGE_DETECT, "noindex", "kept out by its publisher")                          \
    X(TRANSFORMED, STAGE_TRANSFORM, "transformed", "transformed")                             \
    X(BROKEN, STAGE_TRANSFORM, "broken", "could not be read")                                 \
    X(CHANGED, STAGE_INDEX, "indexed", "indexed, new or changed")                             \
    X(UNCHANGED, STAGE_INDEX, "unchanged", "indexed, unchanged")                              \
    X(REMOVED, STAGE_INDEX, "removed", "removed from the index")                              \
    X(STALE, STAGE_INDEX, "stale", "superseded by a later visit")

enum job_outcome {
    OUTCOME_NONE, /* not counted: the job comes again, or is work within */
#define X(name, stage, word, text) OUTCOME_##name,
    OUTCOME_MAP(X)
#undef X
        OUTCOME_COUNT
};

struct outcome_words {
    enum stage stage;
    const char *word, *text;
};
/* Names of outcomes, by enum job_outcome; that of OUTCOME_NONE is empty. */
extern const struct outcome_words outcome_words[OUTCOME_COUNT];

#endif
