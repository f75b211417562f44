/* Tests what the sandbox is built of; a part of test_worker. */
#ifndef TESTS_UNIT_STAGES_SANDBOX_SANDBOX_STEPS_H
#define TESTS_UNIT_STAGES_SANDBOX_SANDBOX_STEPS_H

int sandbox_steps_run(void);

#endif
