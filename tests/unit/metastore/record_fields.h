/* A part of test_metastore_record that has a file of its own: runs its tests, returns how many
 * failed. */
#ifndef TESTS_UNIT_METASTORE_RECORD_FIELDS_H
#define TESTS_UNIT_METASTORE_RECORD_FIELDS_H

int record_fields_run(void);

#endif
