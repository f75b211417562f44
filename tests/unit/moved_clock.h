/* Clocks that the test moves on, in the place of the machine's, so that nobody waits for time to
 * pass; periods can be so long that they do not depend on how fast the machine is. For tests whose
 * test_x_PARTS names moved_clock.o and whose test_x_WRAPS names clock_monotonic_ms and
 * clock_wall_ms. */
#ifndef TESTS_UNIT_MOVED_CLOCK_H
#define TESTS_UNIT_MOVED_CLOCK_H

#include <stdint.h>

void clock_move(uint64_t ms);
/* From now on they move by clock_move only, until they are let go. */
void clock_stop(void);
void clock_go(void);

#endif
