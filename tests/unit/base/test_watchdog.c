/* Whoever stands still is ended; whoever waits is not. Each case runs in a process of its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/status.h"
#include "base/system/clock.h"
#include "base/system/watchdog.h"

/* PATIENT_MS: for those that must not be ended, on a machine that lets them wait. */
enum { LIMIT_MS = 200, LONGER_MS = 500, PATIENT_MS = 2500 };

static pid_t
start(void (*what)(void))
{
    const pid_t pid = fork();
    if (pid == 0) {
        const int null = open("/dev/null", O_WRONLY);
        (void)dup2(null, STDERR_FILENO);
        what();
        _exit(EXIT_DONE);
    }
    return pid;
}

static int
end_of(pid_t pid)
{
    int how;
    assert_int_equal(waitpid(pid, &how, 0), pid);
    assert_true(WIFEXITED(how));
    return WEXITSTATUS(how);
}

static void
stand_still(void)
{
    watchdog_start(LIMIT_MS);
    (void)poll(NULL, 0, 20 * LONGER_MS);
}

static void
stand_still_after_waits(void)
{
    watchdog_start(LIMIT_MS);
    watchdog_pause();
    watchdog_pause();
    (void)poll(NULL, 0, LONGER_MS);
    watchdog_resume();
    (void)poll(NULL, 0, LONGER_MS); /* the outer wait goes on */
    watchdog_resume();
    (void)poll(NULL, 0, 20 * LONGER_MS);
    _exit(EXIT_MISUSE);
}

static void
wait_inside(void)
{
    watchdog_start(PATIENT_MS);
    watchdog_pause();
    (void)poll(NULL, 0, PATIENT_MS * 5 / 4);
    watchdog_resume();
    watchdog_start(0);
    (void)poll(NULL, 0, PATIENT_MS * 5 / 4); /* it is not watched any more */
}

/* A loop with nothing to do but to wait for a peer that is not there. */
static void
wait_in_loop(void)
{
    watchdog_start(PATIENT_MS);
    for (const uint64_t until = clock_monotonic_ms() + PATIENT_MS * 3 / 2;
         clock_monotonic_ms() < until;) {
        (void)poll(NULL, 0, watchdog_wait_ms(-1));
        watchdog_feed();
    }
}

static void *
pause_for_ever(void *nothing)
{
    watchdog_pause();
    return nothing;
}

/* What another thread waits for says nothing of the watched one. */
static void
stand_still_beside_another(void)
{
    pthread_t other;
    watchdog_start(LIMIT_MS);
    if (pthread_create(&other, NULL, pause_for_ever, NULL) == 0) {
        (void)pthread_join(other, NULL);
        (void)poll(NULL, 0, 20 * LONGER_MS);
    }
}

/* All at a time, since they mostly wait. */
static void
bites_who_stands_still_and_no_other(void **state)
{
    (void)state;
    void (*const still[])(void) = {stand_still, stand_still_after_waits,
                                   stand_still_beside_another};
    void (*const waiting[])(void) = {wait_inside, wait_in_loop};
    enum { STILL = sizeof still / sizeof *still, WAITING = sizeof waiting / sizeof *waiting };
    pid_t pids[STILL + WAITING];
    for (size_t i = 0; i < STILL + WAITING; i++) {
        pids[i] = start(i < STILL ? still[i] : waiting[i - STILL]);
    }
    for (size_t i = 0; i < STILL + WAITING; i++) {
        assert_int_equal(end_of(pids[i]), i < STILL ? EXIT_SYSTEM : EXIT_DONE);
    }
}

static void
cuts_no_wait_that_is_short(void **state)
{
    (void)state;
    assert_int_equal(watchdog_wait_ms(-1), -1);
    watchdog_start(60000);
    assert_int_equal(watchdog_wait_ms(50), 50);
    assert_int_equal(watchdog_wait_ms(0), 0);
    assert_true(watchdog_wait_ms(-1) > 0 && watchdog_wait_ms(-1) <= 60000 / 2);
    watchdog_start(0);
    assert_int_equal(watchdog_wait_ms(-1), -1);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bites_who_stands_still_and_no_other),
        cmocka_unit_test(cuts_no_wait_that_is_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
