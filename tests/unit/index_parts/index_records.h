/* index_records.c: tests of records of the index's trees; returns how many failed. */
#ifndef TESTS_UNIT_INDEX_PARTS_INDEX_RECORDS_H
#define TESTS_UNIT_INDEX_PARTS_INDEX_RECORDS_H

int index_records_run(void);

#endif
