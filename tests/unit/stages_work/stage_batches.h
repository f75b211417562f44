/* Parts of test_stage_pace that have files of their own: each runs its tests and returns how many
 * failed. */
#ifndef TESTS_UNIT_STAGES_WORK_STAGE_BATCHES_H
#define TESTS_UNIT_STAGES_WORK_STAGE_BATCHES_H

int stage_batches_run(void);
int stage_metadata_run(void);
int stage_timers_run(void);

#endif
