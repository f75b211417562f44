#include "web/ping/ping_limits.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"

enum { ROWS = 2, ROW = 1 << 13 };
static const double HOUR_MS = 3600000;

struct count {
    double taken; /* share of what an hour allows, at the time of when_ms */
    uint64_t when_ms;
};

struct ping_limits {
    struct count counts[ROWS][ROW];
};

struct ping_limits *
ping_limits_new(void)
{
    return memory_new(sizeof(struct ping_limits));
}

void
ping_limits_free(struct ping_limits *limits)
{
    free(limits);
}

static struct count *
count_of(struct ping_limits *limits, unsigned row, uint64_t who)
{
    return &limits->counts[row][(who >> (row * 32)) % ROW];
}

static double
taken_now(const struct count *count, uint64_t now_ms)
{
    const uint64_t since = now_ms > count->when_ms ? now_ms - count->when_ms : 0;
    return fmax(0, count->taken - (double)since / HOUR_MS);
}

static double
least_taken(struct ping_limits *limits, uint64_t who, uint64_t now_ms)
{
    double least = taken_now(count_of(limits, 0, who), now_ms);
    for (unsigned row = 1; row < ROWS; row++) {
        least = fmin(least, taken_now(count_of(limits, row, who), now_ms));
    }
    return least;
}

uint64_t
ping_limits_take(struct ping_limits *limits, const struct ping_claim *claims, size_t count,
                 uint64_t now_ms)
{
    double over = 0;
    for (size_t i = 0; i < count; i++) {
        const double wanted =
            claims[i].most > 0 ? (double)claims[i].n / (double)claims[i].most : INFINITY;
        over = fmax(over, least_taken(limits, claims[i].who, now_ms) + wanted - 1);
    }
    if (over > 1e-9) { /* nobody waits longer than it takes until all is free */
        return (uint64_t)fmax(1, ceil(fmin(over, 1) * HOUR_MS / 1000));
    }
    for (size_t i = 0; i < count; i++) {
        for (unsigned row = 0; row < ROWS; row++) {
            struct count *one = count_of(limits, row, claims[i].who);
            one->taken = taken_now(one, now_ms) + (double)claims[i].n / (double)claims[i].most;
            one->when_ms = now_ms;
        }
    }
    return 0;
}
