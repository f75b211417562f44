/* A stage without queue, metadata store and clock: the linker puts functions of batch_stand_ins.c
 * in the place of these, so nothing waits. They write down what was done, in order. */
#ifndef TESTS_UNIT_STAGES_WORK_BATCH_STAND_INS_H
#define TESTS_UNIT_STAGES_WORK_BATCH_STAND_INS_H

#include <stdbool.h>

#include "config/process_state.h"
#include "stages/skeleton/stage_run.h"

enum { BATCH = 3, DELAY_MS = 50, GATHER_MS = 20, REST_MS = 100, REST_LEAST_MS = 30, TEXT = 4096 };

extern uint64_t now_ms;
extern char said[TEXT];              /* what was done since it was last expected */
extern size_t completions_count;     /* batches that the queue has not answered */
extern metastore_put_done *put_done; /* of the metadata that were not answered; NULL: none */
extern enum status flush_status;
extern bool quiet;               /* what is put is no record, and nobody reads it */
extern bool waits[WAIT_COUNT];   /* as the process says of itself */
extern enum status *told_at_end; /* of a child, in shared memory */

extern const struct stage_spec index_spec, detect_spec, extract_spec, fetch_spec;
extern const struct stage_spec started_spec; /* extract, which writes down what is started */

/* Opens a stage of a node of the cluster whose text this is; self NULL: of the only one. */
void open_run_in(struct stage_run *run, const struct stage_spec *spec, struct slice cluster,
                 const char *self);
void open_run(struct stage_run *run, const struct stage_spec *spec);
/* Closes it; no job and no batch may be left. */
void close_run(struct stage_run *run);
/* Gives the stage a job, http://h.example/ID. */
struct stage_job *start_job(struct stage_run *run, uint64_t id, uint8_t flags);
/* Gives it n jobs from this number on, and ends them. */
void end_some(struct stage_run *run, uint64_t first, size_t n);

/* Fails unless this is what was done, and forgets it. */
void expect(const char *text);
/* Answer the oldest completion, and the metadata. */
void answer(enum status status);
void answer_metadata(enum status status);
/* Returns what stands behind the last slash of a URI, until the next call. */
const char *last_part(struct slice uri);

#endif
