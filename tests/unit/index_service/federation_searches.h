/* Keyword search over several partitions; a part of test_share. */
#ifndef TESTS_UNIT_INDEX_SERVICE_FEDERATION_SEARCHES_H
#define TESTS_UNIT_INDEX_SERVICE_FEDERATION_SEARCHES_H

int federation_searches_run(void);

#endif
