/* Timers of a stage beside an array of when each is due: each comes once, when it is due and in
 * that order, also those that were set anew or taken away. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <cmocka.h>

#include "stages/skeleton/stage_events.h"
#include "tests/unit/memory_in_use.h"
#include "tests/unit/stages_work/batch_stand_ins.h"
#include "tests/unit/stages_work/stage_batches.h"

enum { TIMERS = 40, STEPS = 4000 };

static struct events events;
static uint64_t due_ms[TIMERS];
static unsigned again;
static bool epoll_is_asked; /* and comes back at once */
static int epoll_waited_ms;

int __real_epoll_wait(int epoll, struct epoll_event *ready, int most, int wait_ms);
int __wrap_epoll_wait(int epoll, struct epoll_event *ready, int most, int wait_ms);
int
__wrap_epoll_wait(int epoll, struct epoll_event *ready, int most, int wait_ms)
{
    if (!epoll_is_asked) {
        return __real_epoll_wait(epoll, ready, most, wait_ms);
    }
    epoll_waited_ms = wait_ms;
    return 0;
}

static void
comes(void *context)
{
    uint64_t *due = context;
    assert_true(*due <= now_ms);
    for (size_t i = 0; i < TIMERS; i++) {
        assert_true(due_ms[i] >= *due);
    }
    *due = UINT64_MAX;
}

static void
round_now(void)
{
    events_round(&events, 0);
    for (size_t i = 0; i < TIMERS; i++) {
        assert_true(due_ms[i] > now_ms);
    }
}

static void
timers_come_when_they_are_due(void **state)
{
    struct reason why;
    unsigned seed = 1;
    (void)state;
    assert_int_equal(events_open(&events, &why), STATUS_OK);
    for (size_t i = 0; i < TIMERS; i++) {
        due_ms[i] = UINT64_MAX;
    }
    for (int step = 0; step < STEPS; step++) {
        const size_t which = (size_t)rand_r(&seed) % TIMERS;
        const bool none = rand_r(&seed) % 4 == 0;
        const uint64_t delay = 1 + (uint64_t)rand_r(&seed) % 200;
        events_timer(&events, none ? UINT64_MAX : delay, comes, &due_ms[which]);
        due_ms[which] = none ? UINT64_MAX : now_ms + delay;
        if (step % 3 == 0) {
            now_ms += (uint64_t)rand_r(&seed) % 8;
            round_now();
        }
    }
    now_ms += 300;
    round_now();
    for (size_t i = 0; i < TIMERS; i++) {
        assert_true(due_ms[i] == UINT64_MAX);
    }
    events_close(&events);
}

static void
comes_again(void *context)
{
    again++;
    events_timer(&events, 0, comes_again, context);
}

/* Who sets a timer for this very moment holds nothing up; a round waits for the next timer only. */
static void
timers_for_now_wait_for_the_next_round(void **state)
{
    struct reason why;
    (void)state;
    again = 0;
    assert_int_equal(events_open(&events, &why), STATUS_OK);
    events_timer(&events, 0, comes_again, &again);
    for (unsigned round = 1; round <= 3; round++) {
        events_round(&events, -1);
        assert_int_equal(again, round);
    }
    events_timer(&events, 1, comes_again, &again);
    events_round(&events, -1); /* the clock of the test stands */
    assert_int_equal(again, 3);
    now_ms++;
    events_round(&events, -1);
    assert_int_equal(again, 4);
    events_close(&events);
}

struct end {
    int ends[2];
    unsigned calls;
};

static void
reads(void *context, uint32_t epoll_events)
{
    struct end *end = context;
    char byte;
    assert_true((epoll_events & EPOLLIN) != 0);
    assert_int_equal(read(end->ends[0], &byte, 1), 1);
    end->calls++;
}

/* Each that is ready is called once in a round, the first and the last, and no other. */
static void
who_is_ready_is_called(void **state)
{
    enum { ENDS = 3 };
    struct end all[ENDS] = {0};
    struct reason why;
    (void)state;
    assert_int_equal(events_open(&events, &why), STATUS_OK);
    for (size_t i = 0; i < ENDS; i++) {
        assert_int_equal(pipe(all[i].ends), 0);
        events_watch(&events, all[i].ends[0], EPOLLIN, reads, &all[i]);
    }
    for (unsigned which = 0; which < 1 << ENDS; which++) {
        for (size_t i = 0; i < ENDS; i++) {
            all[i].calls = 0;
            assert_int_equal(write(all[i].ends[1], "x", which >> i & 1), which >> i & 1);
        }
        events_round(&events, 0);
        for (size_t i = 0; i < ENDS; i++) {
            assert_int_equal(all[i].calls, which >> i & 1);
        }
    }
    events_close(&events);
    for (size_t i = 0; i < ENDS; i++) {
        close(all[i].ends[0]);
        close(all[i].ends[1]);
    }
}

/* A descriptor that was closed unasked, whose number another has now, is watched for that one. */
static void
a_number_is_used_again(void **state)
{
    struct end first = {0};
    struct end second = {0};
    struct reason why;
    (void)state;
    assert_int_equal(events_open(&events, &why), STATUS_OK);
    assert_int_equal(pipe(first.ends), 0);
    assert_int_equal(pipe(second.ends), 0);
    events_watch(&events, first.ends[0], EPOLLIN, reads, &first);
    close(first.ends[0]);
    assert_int_equal(dup2(second.ends[0], first.ends[0]), first.ends[0]);
    events_watch(&events, first.ends[0], EPOLLIN, reads, &second);
    assert_int_equal(write(second.ends[1], "x", 1), 1);
    events_round(&events, 0);
    assert_int_equal(second.calls, 1);
    events_close(&events);
    close(first.ends[0]);
    close(first.ends[1]);
    close(second.ends[0]);
    close(second.ends[1]);
}

static struct end *first_end, *second_end;

/* Whoever of the two is called first, the other is not watched any more. */
static void
reads_and_lets_go(void *context, uint32_t epoll_events)
{
    struct end *other = context == first_end ? second_end : first_end;
    reads(context, epoll_events);
    events_watch(&events, other->ends[0], 0, NULL, NULL);
}

/* What is not watched any more is not called, not even when it was ready in the same round; it can
 * be watched again. */
static void
who_is_let_go_is_not_called(void **state)
{
    struct end all[2] = {0};
    struct reason why;
    (void)state;
    assert_int_equal(events_open(&events, &why), STATUS_OK);
    first_end = &all[0];
    second_end = &all[1];
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(pipe(all[i].ends), 0);
        assert_int_equal(write(all[i].ends[1], "xyz", 3), 3);
        events_watch(&events, all[i].ends[0], 0, NULL, NULL); /* that is nothing */
        events_watch(&events, all[i].ends[0], EPOLLIN, reads_and_lets_go, &all[i]);
    }
    events_watch(&events, all[1].ends[0] + 1000, 0, NULL, NULL);
    events_round(&events, 0);
    assert_int_equal(all[0].calls + all[1].calls, 1);
    struct end *called = all[0].calls == 1 ? &all[0] : &all[1];
    struct end *other = called == &all[0] ? &all[1] : &all[0];
    events_round(&events, 0);
    assert_int_equal(called->calls, 2);
    assert_int_equal(other->calls, 0);
    struct epoll_event ready[2];
    assert_int_equal(epoll_wait(events.epoll, ready, 2, 0), 1); /* the kernel knows it, too */
    events_watch(&events, other->ends[0], EPOLLIN, reads, other);
    events_watch(&events, called->ends[0], 0, NULL, NULL);
    events_round(&events, 0);
    assert_int_equal(called->calls, 2);
    assert_int_equal(other->calls, 1);
    /* Who is told of anew has another to be called. */
    events_watch(&events, other->ends[0], EPOLLIN, reads, called);
    assert_int_equal(write(called->ends[1], "x", 1), 1);
    events_round(&events, 0);
    assert_int_equal(called->calls, 3);
    assert_int_equal(other->calls, 1);
    events_close(&events);
    assert_int_equal(events.epoll, -1);
    for (size_t i = 0; i < 2; i++) {
        close(all[i].ends[0]);
        close(all[i].ends[1]);
    }
}

/* Watches that come and go leave nothing in memory. */
static void
watches_are_freed(void **state)
{
    enum { TIMES = 5000 };
    struct reason why;
    struct end end = {0};
    (void)state;
    if (!memory_is_counted()) {
        skip();
    }
    assert_int_equal(pipe(end.ends), 0);
    const size_t before = memory_in_use();
    assert_int_equal(events_open(&events, &why), STATUS_OK);
    for (unsigned i = 0; i < TIMES; i++) {
        events_watch(&events, end.ends[0], EPOLLIN, reads, &end);
        events_watch(&events, end.ends[0], EPOLLIN, reads, &end); /* is the same one */
        if (i % 2 == 0) {
            events_watch(&events, end.ends[0], 0, NULL, NULL);
            events_watch(&events, end.ends[1], EPOLLOUT, reads, &end);
            events_watch(&events, end.ends[1], 0, NULL, NULL);
        }
        if (i % 100 == 99 && i < TIMES / 2) { /* those of the second half are freed at the end */
            events_round(&events, 0);
            assert_true(memory_in_use() < before + TIMES);
        }
    }
    events_close(&events);
    assert_true(memory_in_use() < before + TIMES);
    close(end.ends[0]);
    close(end.ends[1]);
}

/* A round waits as long as it is told, or until the next timer; never for longer than a minute. */
static void
rounds_wait_for_who_is_first(void **state)
{
    enum { MINUTE = 60000 };
    static const struct {
        uint64_t timer_ms;
        int told_ms, waits_ms;
    } rows[] = {{0, 7, 0},
                {5, 7, 5},
                {7, 7, 7},
                {9, 7, 7},
                {9, 0, 0},
                {9, -1, 9},
                {MINUTE, -1, MINUTE},
                {MINUTE + 1, -1, MINUTE},
                {UINT64_MAX, 7, 7},
                {UINT64_MAX, -1, -1},
                {UINT64_MAX, 0, 0},
                {2 * MINUTE, MINUTE, MINUTE}};
    struct reason why;
    (void)state;
    assert_int_equal(events_open(&events, &why), STATUS_OK);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        events_timer(&events, rows[i].timer_ms, comes_again, &again);
        epoll_waited_ms = -2;
        epoll_is_asked = true;
        events_round(&events, rows[i].told_ms);
        epoll_is_asked = false;
        assert_int_equal(epoll_waited_ms, rows[i].waits_ms);
        events_timer(&events, UINT64_MAX, comes_again, &again);
    }
    events_close(&events);
}

int
stage_timers_run(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(timers_come_when_they_are_due),
        cmocka_unit_test(timers_for_now_wait_for_the_next_round),
        cmocka_unit_test(who_is_ready_is_called),
        cmocka_unit_test(a_number_is_used_again),
        cmocka_unit_test(who_is_let_go_is_not_called),
        cmocka_unit_test(watches_are_freed),
        cmocka_unit_test(rounds_wait_for_who_is_first),
    };
    return cmocka_run_group_tests_name("timers", tests, NULL, NULL);
}
