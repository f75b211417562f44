/* Answers of a partition's streams, byte by byte; a part of test_cursor. */
#ifndef TESTS_UNIT_INDEX_SERVICE_DIRECT_ANSWERS_H
#define TESTS_UNIT_INDEX_SERVICE_DIRECT_ANSWERS_H

int direct_answers_run(void);

#endif
