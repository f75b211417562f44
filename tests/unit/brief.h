/* How much a test tries: all of it when it is run by hand and by `make check-whole`; with
 * QUADRILLE_BRIEF set, as `make check` does, less. Its value is another number at each commit, so
 * that the few places that a brief test tries are others at each. */
#ifndef TESTS_UNIT_BRIEF_H
#define TESTS_UNIT_BRIEF_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

static inline uint64_t
brief(uint64_t usual, uint64_t less)
{
    return getenv("QUADRILLE_BRIEF") != NULL ? less : usual;
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
    const char *commit = getenv("QUADRILLE_BRIEF");
    return BRIEF_SANITIZED && commit != NULL && (thing + strtoull(commit, NULL, 10)) % every != 0;
}

/* The place after one, of places 1, 2, 3 ... of which the first and then each step-th is tried. */
static inline uint64_t
brief_next(uint64_t place, uint64_t step)
{
    const char *commit = getenv("QUADRILLE_BRIEF");
    const uint64_t offset = commit != NULL ? strtoull(commit, NULL, 10) % step : 0;
    return place == 1 && offset > 0 ? 1 + offset : place + step;
}

#endif
