/* The cache of counts; a part of test_triple_counts. */
#ifndef TESTS_UNIT_INDEX_KEPT_TRIPLE_COUNTS_H
#define TESTS_UNIT_INDEX_KEPT_TRIPLE_COUNTS_H

int kept_triple_counts_run(void);

#endif
