/* Timers of a stage beside an array of when each is due: each comes once, when it is due and in
 * that order, also those that were set anew or taken away. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

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

int
stage_timers_run(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(timers_come_when_they_are_due),
        cmocka_unit_test(timers_for_now_wait_for_the_next_round),
    };
    return cmocka_run_group_tests_name("timers", tests, NULL, NULL);
}
