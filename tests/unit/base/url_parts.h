/* A part of test_url that has a file of its own: runs its tests, returns how many failed. */
#ifndef TESTS_UNIT_BASE_URL_PARTS_H
#define TESTS_UNIT_BASE_URL_PARTS_H

int url_parts_run(void);
int url_keys_run(void);

#endif
