#include "tests/unit/moved_clock.h"

#include <stdatomic.h>

#include "base/system/clock.h"

uint64_t __real_clock_monotonic_ms(void);
uint64_t __real_clock_wall_ms(void);
uint64_t __wrap_clock_monotonic_ms(void);
uint64_t __wrap_clock_wall_ms(void);

static atomic_uint_fast64_t moved_ms; /* any thread may look at the clock */
static atomic_uint_fast64_t stopped_monotonic_ms, stopped_wall_ms; /* 0: they go */

void
clock_move(uint64_t ms)
{
    moved_ms += ms;
}

void
clock_stop(void)
{
    stopped_monotonic_ms = __real_clock_monotonic_ms();
    stopped_wall_ms = __real_clock_wall_ms();
}

void
clock_go(void)
{
    stopped_monotonic_ms = stopped_wall_ms = 0;
}

uint64_t
__wrap_clock_monotonic_ms(void)
{
    const uint64_t now =
        stopped_monotonic_ms != 0 ? stopped_monotonic_ms : __real_clock_monotonic_ms();
    return now + moved_ms;
}

uint64_t
__wrap_clock_wall_ms(void)
{
    return (stopped_wall_ms != 0 ? stopped_wall_ms : __real_clock_wall_ms()) + moved_ms;
}
