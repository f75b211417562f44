/* Pools of workers and their orders; parts of test_worker. */
#ifndef TESTS_UNIT_STAGES_SANDBOX_WORKER_POOLS_H
#define TESTS_UNIT_STAGES_SANDBOX_WORKER_POOLS_H

/* Stands in for the kernel's Landlock, unless it is NULL. */
typedef long landlock_kernel(long number, long a, long b, long c, long d);
extern landlock_kernel *landlock_stand_in;

/* While worker_faults_run runs: the next process that anybody forks cannot be had. */
void fail_next_fork(int error);

/* Each returns how many tests failed. */
int worker_pools_run(void);
int worker_orders_run(void);
int worker_faults_run(void);
int fork_requests_run(void); /* by worker_faults_run */

#endif
