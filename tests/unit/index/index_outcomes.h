/* Tests what a batch makes of each document, and its terms; a part of test_index_partition. */
#ifndef TESTS_UNIT_INDEX_INDEX_OUTCOMES_H
#define TESTS_UNIT_INDEX_INDEX_OUTCOMES_H

int index_outcomes_run(void);

#endif
