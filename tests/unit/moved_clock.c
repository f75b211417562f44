#include "tests/unit/moved_clock.h"

#include "base/clock.h"

uint64_t __real_clock_monotonic_ms(void);
uint64_t __real_clock_wall_ms(void);
uint64_t __wrap_clock_monotonic_ms(void);
uint64_t __wrap_clock_wall_ms(void);

static uint64_t moved_ms;

void
clock_move(uint64_t ms)
{
    moved_ms += ms;
}

uint64_t
__wrap_clock_monotonic_ms(void)
{
    return __real_clock_monotonic_ms() + moved_ms;
}

uint64_t
__wrap_clock_wall_ms(void)
{
    return __real_clock_wall_ms() + moved_ms;
}
