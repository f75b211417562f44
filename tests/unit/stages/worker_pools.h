/* Pools of workers; a part of test_worker. */
#ifndef TESTS_UNIT_STAGES_WORKER_POOLS_H
#define TESTS_UNIT_STAGES_WORKER_POOLS_H

/* Returns how many tests failed. */
int worker_pools_run(void);

#endif
