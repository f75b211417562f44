/* Parts of test_stage_pace that have files of their own: each runs its tests, returns how many
 * failed. */
#ifndef TESTS_UNIT_STAGES_STAGE_BATCHES_H
#define TESTS_UNIT_STAGES_STAGE_BATCHES_H

#include <stdint.h>

extern uint64_t now_ms; /* of the monotonic clock, which a test moves */

int stage_batches_run(void);
int stage_timers_run(void);

#endif
