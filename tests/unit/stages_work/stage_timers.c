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
#include "tests/unit/stages_work/batch_stand_ins.h"
#include "tests/unit/stages_work/stage_batches.h"

enum { TIMERS = 40, STEPS = 4000 };

static struct events events;
static uint64_t due_ms[TIMERS];
static unsigned again;

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

int
stage_timers_run(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(timers_come_when_they_are_due),
        cmocka_unit_test(timers_for_now_wait_for_the_next_round),
        cmocka_unit_test(who_is_ready_is_called),
        cmocka_unit_test(a_number_is_used_again),
    };
    return cmocka_run_group_tests_name("timers", tests, NULL, NULL);
}
