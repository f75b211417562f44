/* How much a test tries. Checkers make everything slower, and `make check` has run the whole test
 * before them: with QUADRILLE_BRIEF set it is less. */
#ifndef TESTS_UNIT_BRIEF_H
#define TESTS_UNIT_BRIEF_H

#include <stdint.h>
#include <stdlib.h>

static inline uint64_t
brief(uint64_t usual, uint64_t less)
{
    return getenv("QUADRILLE_BRIEF") != NULL ? less : usual;
}

#endif
