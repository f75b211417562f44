/* The change log alone, beside a model; a part of test_index_changes. */
#ifndef TESTS_UNIT_INDEX_CHANGE_LOG_H
#define TESTS_UNIT_INDEX_CHANGE_LOG_H

int index_change_log_run(void);

#endif
