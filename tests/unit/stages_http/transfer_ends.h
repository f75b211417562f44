#ifndef TESTS_UNIT_STAGES_HTTP_TRANSFER_ENDS_H
#define TESTS_UNIT_STAGES_HTTP_TRANSFER_ENDS_H

/* Where a transfer connects and how it ends; returns how many tests failed. */
int transfer_ends_run(void);

#endif
