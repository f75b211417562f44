/* A part of test_index_partition that has a file of its own: runs its tests, returns how many
 * failed. */
#ifndef TESTS_UNIT_INDEX_INDEX_STEPS_H
#define TESTS_UNIT_INDEX_INDEX_STEPS_H

int index_steps_run(void);

#endif
