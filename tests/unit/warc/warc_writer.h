/* Parts of test_warc that have files of their own: each runs its tests, returns how many failed. */
#ifndef TESTS_UNIT_WARC_WARC_WRITER_H
#define TESTS_UNIT_WARC_WARC_WRITER_H

int warc_records_run(void);
int warc_members_run(void);
int warc_faults_run(void);

#endif
