#ifndef TESTS_UNIT_FEDERATION_KEPT_COUNTS_H
#define TESTS_UNIT_FEDERATION_KEPT_COUNTS_H

int kept_counts_run(void);

#endif
