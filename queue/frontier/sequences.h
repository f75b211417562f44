/* The lanes of all stages but fetch, whose jobs go out in the order in which they came, many at a
 * time: how far each has come, and which jobs before that place are ready again. In memory only.
 * One thread. */
#ifndef QUEUE_FRONTIER_SEQUENCES_H
#define QUEUE_FRONTIER_SEQUENCES_H

#include <stdbool.h>
#include <stdint.h>

#include "queue/client/job.h"

struct sequences;
struct sequence;

struct sequences *sequences_new(uint32_t index_partitions);
void sequences_free(struct sequences *sequences); /* NULL is allowed */
/* NULL: the stage has no such lane (fetch has none at all). */
struct sequence *sequences_find(struct sequences *sequences, uint8_t stage, uint64_t lane);

/* Returns the last job that was reached; its id is 0 when none was. */
struct job_key sequence_cursor(const struct sequence *sequence);
/* The sequence has come to this job. */
void sequence_reach(struct sequence *sequence, const struct job_key *key);
/* A job appeared, or went back. */
void sequence_ready(struct sequence *sequence, uint64_t id);
/* Gives the first job before the cursor that became ready again; false: there is none. */
bool sequence_returned(const struct sequence *sequence, struct job_key *key);
/* That one needs no further look. */
void sequence_pop_returned(struct sequence *sequence);

#endif
