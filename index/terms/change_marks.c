#include "index/terms/change_marks.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { PLACES_BITS = 18, PLACES = 1 << PLACES_BITS };

struct change_marks {
    atomic_uint_fast64_t all; /* everything seems to have changed then */
    atomic_uint_fast64_t times[PLACES];
};

struct change_marks *
change_marks_new(void)
{
    return memory_new(sizeof(struct change_marks));
}

void
change_marks_free(struct change_marks *marks)
{
    free(marks);
}

static size_t
place_of(uint64_t thing)
{
    return (size_t)(thing * 0x9E3779B97F4A7C15u >> (64 - PLACES_BITS));
}

void
change_marks_set(struct change_marks *marks, uint64_t thing, uint64_t time)
{
    atomic_store_explicit(&marks->times[place_of(thing)], time, memory_order_release);
}

void
change_marks_set_all(struct change_marks *marks, uint64_t time)
{
    atomic_store_explicit(&marks->all, time, memory_order_release);
}

void
change_needs_add(struct buf *needs, uint64_t thing)
{
    (void)buf_append(needs, &thing, sizeof thing);
}

bool
change_marks_passed(const struct change_marks *marks, struct slice needs, uint64_t time)
{
    bool passed = atomic_load_explicit(&marks->all, memory_order_acquire) > time;
    for (size_t at = 0; at < needs.length && !passed; at += sizeof(uint64_t)) {
        uint64_t thing;
        memcpy(&thing, needs.at + at, sizeof thing);
        passed = atomic_load_explicit(&marks->times[place_of(thing)], memory_order_acquire) > time;
    }
    return passed;
}
