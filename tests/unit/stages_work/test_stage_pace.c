/* How stages gather jobs: how long they wait before they ask again, and after they flushed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "stages/skeleton/stage_run.h"
#include "tests/unit/stages_work/batch_stand_ins.h"
#include "tests/unit/stages_work/stage_batches.h"

enum { LEAST = 16, MOST = 100 };

static void
asks_seldom_without_backlog(void **state)
{
    (void)state;
    for (size_t came = 0; came < 256; came++) {
        assert_int_equal(stage_pace_ms(STAGE_DETECT, 256, came), MOST);
    }
}

static void
backlog_and_hosts_do_not_wait(void **state)
{
    (void)state;
    assert_int_equal(stage_pace_ms(STAGE_DETECT, 64, 64), LEAST);
    assert_int_equal(stage_pace_ms(STAGE_FETCH, 256, 100), LEAST);
}

static void
rests_grow_with_batches(void **state)
{
    (void)state;
    assert_int_equal(batch_rest_ms(1, 0, 500), 4);
    assert_int_equal(batch_rest_ms(1, 250, 500), 250);
    assert_int_equal(batch_rest_ms(100, 250, 500), 400);
    assert_int_equal(batch_rest_ms(2000, 250, 500), 500);
    assert_int_equal(batch_rest_ms(2000, 250, 0), 250);
    assert_int_equal(batch_rest_ms(2000, 0, 0), 0);
}

/* How long the loop sleeps for what is to be asked for: no time while jobs wait that may start,
 * until something else happens while nothing may be asked for, else as long as the pace says. */
static void
sleeps_until_jobs_can_be_asked_for(void **state)
{
    enum { NOW = 1000, WINDOW = 8 };
    static const struct {
        bool waiting, held, stopping, asking;
        size_t running, aside;
        uint64_t again_ms;
        int wait_ms;
    } rows[] = {{true, false, false, false, 0, 0, 0, 0},
                {true, false, true, true, 9, 0, NOW + 99, 0},
                {true, true, false, false, 0, 0, 0, -1},
                {false, true, false, false, 0, 0, 0, -1},
                {false, false, true, false, 0, 0, 0, -1},
                {false, false, false, true, 0, 0, 0, -1},
                {false, false, false, false, WINDOW, 0, 0, -1},
                {false, false, false, false, WINDOW - 1, 0, 0, LEAST},
                {false, false, false, false, WINDOW, 1, 0, LEAST},
                {false, false, false, false, WINDOW + 1, 1, 0, -1},
                {false, false, false, false, 0, 0, NOW - 1, LEAST},
                {false, false, false, false, 0, 0, NOW + LEAST, LEAST},
                {false, false, false, false, 0, 0, NOW + LEAST + 1, LEAST + 1},
                {false, false, false, false, 0, 0, NOW + 500, 500}};
    struct held_job job = {0};
    (void)state;
    now_ms = NOW;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct stage_run run = {.stopping = rows[i].stopping,
                                      .reserving = {.waiting = rows[i].waiting ? &job : NULL,
                                                    .asking = rows[i].asking,
                                                    .window = WINDOW,
                                                    .again_ms = rows[i].again_ms},
                                      .batches.held = rows[i].held,
                                      .jobs = {.running = rows[i].running, .aside = rows[i].aside}};
        assert_int_equal(reserve_wait_ms(&run), rows[i].wait_ms);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(asks_seldom_without_backlog),
        cmocka_unit_test(backlog_and_hosts_do_not_wait),
        cmocka_unit_test(rests_grow_with_batches),
        cmocka_unit_test(sleeps_until_jobs_can_be_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) + stage_batches_run() + stage_metadata_run() +
           stage_timers_run();
}
