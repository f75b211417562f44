/* How much a test tries: all of it when it is run by hand and by `make check-whole`; with
 * QUADRILLE_BRIEF set, as `make check` does, less. Its value is another number at each commit, so
 * that the few places that a brief test tries are others at each. */
#ifndef TESTS_UNIT_BRIEF_H
#define TESTS_UNIT_BRIEF_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

static inline bool
is_brief(void)
{
    return getenv("QUADRILLE_BRIEF") != NULL;
}

/* 0 where all is tried. */
static inline uint64_t
brief_commit(void)
{
    return is_brief() ? strtoull(getenv("QUADRILLE_BRIEF"), NULL, 10) : 0;
}

static inline uint64_t
brief(uint64_t usual, uint64_t less)
{
    return is_brief() ? less : usual;
}

#if defined(__SANITIZE_ADDRESS__)
enum { BRIEF_SANITIZED = 1 };
#elif defined(__has_feature)
enum { BRIEF_SANITIZED = __has_feature(address_sanitizer) };
#else
enum { BRIEF_SANITIZED = 0 };
#endif

/* Whether a brief test leaves one of several things out, of which it tries each `every`-th under
 * sanitizers, where a process that is forked costs ten times as much. */
static inline bool
brief_leaves_out(uint64_t thing, uint64_t every)
{
    return BRIEF_SANITIZED && is_brief() && (thing + brief_commit()) % every != 0;
}

/* The place after one, of places 1, 2, 3 ... of which the first and then each step-th is tried. */
static inline uint64_t
brief_next(uint64_t place, uint64_t step)
{
    const uint64_t first = brief_commit() % step;
    return place + (place == 1 && first > 0 ? first : step);
}

#endif
