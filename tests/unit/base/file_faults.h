#ifndef TESTS_UNIT_BASE_FILE_FAULTS_H
#define TESTS_UNIT_BASE_FILE_FAULTS_H

/* Runs the tests in an empty folder, which is empty again afterwards. */
void file_faults(const char *folder);

#endif
