/* Whoever stands still is ended; whoever waits is not. Each case runs in a process of its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/status.h"
#include "base/system/clock.h"
#include "base/system/watchdog.h"

/* PATIENT_MS: for those that must not be ended, on a machine that lets them wait. */
enum { LIMIT_MS = 200, LONGER_MS = 500, PATIENT_MS = 2500 };

/* ---- when the timer is set, by a clock of the test's own ---- */

static struct {
    bool plays;
    uint64_t now_ms;
    unsigned sets;
    struct itimerval timer; /* as it was set last */
} told;

int __wrap_setitimer(int which, const struct itimerval *timer, struct itimerval *old);
int __real_setitimer(int which, const struct itimerval *timer, struct itimerval *old);
uint64_t __wrap_clock_monotonic_ms(void);
uint64_t __real_clock_monotonic_ms(void);

int
__wrap_setitimer(int which, const struct itimerval *timer, struct itimerval *old)
{
    if (!told.plays) {
        return __real_setitimer(which, timer, old);
    }
    assert_int_equal(which, ITIMER_REAL);
    told.timer = *timer;
    told.sets++;
    return 0;
}

uint64_t
__wrap_clock_monotonic_ms(void)
{
    return told.plays ? told.now_ms : __real_clock_monotonic_ms();
}

/* That the timer has been set so many times, the last time to this. */
static void
was_set(unsigned times, uint64_t ms)
{
    assert_int_equal(told.sets, times);
    assert_int_equal(told.timer.it_value.tv_sec * 1000 + told.timer.it_value.tv_usec / 1000, ms);
    assert_in_range(told.timer.it_value.tv_usec, 0, 999999);
    assert_int_equal(told.timer.it_value.tv_usec % 1000, 0);
    assert_int_equal(told.timer.it_interval.tv_sec, 0);
    assert_int_equal(told.timer.it_interval.tv_usec, 0);
}

static int
play(void **state)
{
    (void)state;
    memset(&told, 0, sizeof told);
    told.plays = true;
    told.now_ms = 5000;
    return 0;
}

static int
play_no_more(void **state)
{
    (void)state;
    watchdog_start(0);
    (void)signal(SIGALRM, SIG_DFL);
    told.plays = false;
    return 0;
}

/* A fed dog's timer begins anew, but not at each of the many calls. */
static void
is_fed_a_few_times_a_second(void **state)
{
    static const struct {
        uint64_t limit, every;
    } cases[] = {{60500, 250}, {1000, 250}, {1004, 250}, {996, 249}, {400, 100}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        told.sets = 0;
        watchdog_start(cases[i].limit);
        was_set(1, cases[i].limit);
        for (unsigned feeds = 1; feeds <= 3; feeds++) {
            told.now_ms += cases[i].every - 1;
            watchdog_feed();
            was_set(feeds, cases[i].limit);
            told.now_ms++;
            watchdog_feed();
            was_set(feeds + 1, cases[i].limit);
        }
    }
}

static void
pauses_while_it_is_waited(void **state)
{
    (void)state;
    watchdog_start(60000);
    was_set(1, 60000);
    watchdog_pause();
    was_set(2, 0);
    told.now_ms += 90000;
    watchdog_feed();
    watchdog_pause();
    watchdog_resume();
    watchdog_feed();
    was_set(2, 0);
    watchdog_resume();
    was_set(3, 60000);
    told.now_ms += 249; /* it was fed when the wait ended */
    watchdog_feed();
    was_set(3, 60000);
    told.now_ms++;
    watchdog_feed();
    was_set(4, 60000);
}

static void
does_nothing_where_nobody_is_watched(void **state)
{
    (void)state;
    watchdog_start(0);
    was_set(1, 0);
    told.now_ms += 90000;
    watchdog_feed();
    watchdog_pause();
    watchdog_resume();
    was_set(1, 0);
    assert_int_equal(watchdog_wait_ms(-1), -1);
    assert_int_equal(watchdog_wait_ms(70000), 70000);
}

static void
cuts_waits_to_half_its_limit(void **state)
{
    (void)state;
    watchdog_start(60000);
    assert_int_equal(watchdog_wait_ms(0), 0);
    assert_int_equal(watchdog_wait_ms(29999), 29999);
    assert_int_equal(watchdog_wait_ms(30000), 30000);
    assert_int_equal(watchdog_wait_ms(30001), 30000);
    assert_int_equal(watchdog_wait_ms(-1), 30000);
}

static void
says_why_it_bites(void **state)
{
    static const char text[] =
        "event=standstill reason=\"the loop stood still for stage.watchdog\"\n";
    char said[2 * sizeof text];
    int ends[2], how;
    size_t length = 0;
    (void)state;
    assert_int_equal(pipe(ends), 0);
    const pid_t pid = fork();
    if (pid == 0) {
        (void)dup2(ends[1], STDERR_FILENO);
        watchdog_start(60000);
        (void)raise(SIGALRM);
        _exit(EXIT_DONE);
    }
    (void)close(ends[1]);
    for (ssize_t n = 1; n > 0; length += (size_t)n) {
        n = read(ends[0], said + length, sizeof said - length);
        assert_true(n >= 0);
    }
    assert_int_equal(waitpid(pid, &how, 0), pid);
    assert_true(WIFEXITED(how) && WEXITSTATUS(how) == EXIT_SYSTEM);
    assert_int_equal(length, sizeof text - 1);
    assert_memory_equal(said, text, length);
    (void)close(ends[0]);
}

/* ---- as time passes ---- */

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

#define CASE(name) cmocka_unit_test_setup_teardown(name, play, play_no_more)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(is_fed_a_few_times_a_second),
        CASE(pauses_while_it_is_waited),
        CASE(does_nothing_where_nobody_is_watched),
        CASE(cuts_waits_to_half_its_limit),
        CASE(says_why_it_bites),
        cmocka_unit_test(bites_who_stands_still_and_no_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
