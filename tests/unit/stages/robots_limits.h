/* Limits of robots.txt; a part of test_robots. */
#ifndef TESTS_UNIT_STAGES_ROBOTS_LIMITS_H
#define TESTS_UNIT_STAGES_ROBOTS_LIMITS_H

int robots_limits_run(void);

#endif
