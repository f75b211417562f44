/* Functions that stand in for others: a test whose build.mk names `name` in test_x_WRAPS is linked
 * so that its calls come to what STAND_IN(type, name, parameters) defines. `__real_name` is the
 * other. */
#ifndef TESTS_UNIT_STAND_IN_H
#define TESTS_UNIT_STAND_IN_H

#define STAND_IN(type, name, parameters) \
    type __wrap_##name parameters;       \
    type __wrap_##name parameters

#endif
