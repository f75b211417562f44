/* A part of test_fetch_http: runs its tests and returns how many failed. */
#ifndef TESTS_UNIT_STAGES_FETCH_ADDRESSES_H
#define TESTS_UNIT_STAGES_FETCH_ADDRESSES_H

/* Which addresses may be connected to. */
int fetch_addresses_run(void);

#endif
