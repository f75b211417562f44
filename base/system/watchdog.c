#include "base/system/watchdog.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/status.h"
#include "base/system/clock.h"

enum { FEED_EVERY_MS = 250 };

static uint64_t limit_ms, fed_ms;
static _Thread_local bool watched;
static _Thread_local unsigned pauses;

static void
bite(int number)
{
    static const char text[] =
        "event=standstill reason=\"the loop stood still for stage.watchdog\"\n";
    (void)number;
    (void)!write(STDERR_FILENO, text, sizeof text - 1);
    _exit(EXIT_SYSTEM);
}

/* 0 stops the timer. */
static void
set_timer(uint64_t ms)
{
    const struct itimerval timer = {
        .it_value = {(time_t)(ms / 1000), (suseconds_t)(ms % 1000 * 1000)}};
    (void)setitimer(ITIMER_REAL, &timer, NULL);
}

void
watchdog_start(uint64_t limit)
{
    limit_ms = limit;
    watched = limit > 0;
    fed_ms = clock_monotonic_ms();
    (void)signal(SIGALRM, bite);
    set_timer(limit_ms);
}

void
watchdog_feed(void)
{
    if (!watched || pauses > 0) {
        return;
    }
    const uint64_t now = clock_monotonic_ms();
    const uint64_t every = limit_ms / 4 < FEED_EVERY_MS ? limit_ms / 4 : FEED_EVERY_MS;
    if (now >= fed_ms + every) {
        fed_ms = now;
        set_timer(limit_ms);
    }
}

int
watchdog_wait_ms(int wait_ms)
{
    const uint64_t most = limit_ms / 2;
    if (!watched || (wait_ms >= 0 && (uint64_t)wait_ms <= most)) {
        return wait_ms;
    }
    return (int)most;
}

void
watchdog_pause(void)
{
    if (watched && pauses++ == 0) {
        set_timer(0);
    }
}

void
watchdog_resume(void)
{
    if (watched && --pauses == 0) {
        fed_ms = clock_monotonic_ms();
        set_timer(limit_ms);
    }
}
