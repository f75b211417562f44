/* How much memory the process has from malloc. */
#ifndef TESTS_UNIT_MEMORY_IN_USE_H
#define TESTS_UNIT_MEMORY_IN_USE_H

#include <malloc.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/memory.h"

static inline size_t
memory_in_use(void)
{
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

/* Sanitizers and valgrind bring a malloc of their own, of which the library's counts nothing. */
static inline bool
memory_is_counted(void)
{
    enum { SOME = 1 << 20 };
    const size_t before = memory_in_use();
    char *some = memory_zero(SOME, 1);
    const size_t after = memory_in_use();
    free(some);
    return after >= before + SOME;
}

/* Does something so many times that what it leaves behind each time cannot hide among what malloc
 * keeps; tells whether it leaves nothing. True also where nothing is counted. */
static inline bool
leaves_no_memory(void (*does)(void))
{
    enum { BEFORE = 20, TIMES = 100, NOISE = 8 * TIMES }; /* less than the least piece each time */
    if (!memory_is_counted()) {
        return true;
    }
    for (int i = 0; i < BEFORE; i++) {
        does();
    }
    const size_t before = memory_in_use();
    for (int i = 0; i < TIMES; i++) {
        does();
    }
    return memory_in_use() < before + NOISE;
}

#endif
