/* A part of test_stage_pace that has a file of its own: runs its tests, returns how many failed. */
#ifndef TESTS_UNIT_STAGES_STAGE_BATCHES_H
#define TESTS_UNIT_STAGES_STAGE_BATCHES_H

int stage_batches_run(void);

#endif
