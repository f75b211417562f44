/* How stages gather jobs: how long they wait before they ask again, and after they flushed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

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

/* A job and what it puts are copies; as many are put as it likes. */
static void
jobs_are_copies(void **state)
{
    enum { MANY = 200, FIELDS = 5 };
    static const char *const texts[FIELDS] = {"http://h.example/1", "http://h.example",
                                              "http://v.example/v", "data", "pace"};
    struct stage_run run;
    char bytes[FIELDS][32];
    (void)state;
    for (size_t i = 0; i < FIELDS; i++) {
        snprintf(bytes[i], sizeof bytes[i], "%s", texts[i]);
    }
    const struct job from = {.key = {.stage = STAGE_INDEX, .id = 9},
                             .uri = slice_string(bytes[0]),
                             .lane_name = slice_string(bytes[1]),
                             .via = slice_string(bytes[2]),
                             .data = slice_string(bytes[3]),
                             .pace = slice_string(bytes[4]),
                             .priority = 7,
                             .depth = 3};
    open_run(&run, &index_spec);
    struct held_job *held = held_job_new(&run, &from);
    for (size_t i = 0; i < MANY; i++) {
        stage_output(&held->public, &from);
        stage_put_meta(&held->public, from.lane_name, from.data);
    }
    memset(bytes, 'x', sizeof bytes);
    assert_int_equal(held->output_count, MANY);
    assert_int_equal(held->put_count, MANY);
    for (size_t i = 0; i <= MANY; i++) {
        const struct job *copy = i < MANY ? &held->outputs[i] : &held->public.job;
        assert_true(slice_is(copy->uri, texts[0]));
        assert_true(slice_is(copy->lane_name, texts[1]));
        assert_true(slice_is(copy->via, texts[2]));
        assert_true(slice_is(copy->data, texts[3]));
        assert_true(slice_is(copy->pace, texts[4]));
        assert_int_equal(copy->key.id, 9);
        assert_int_equal(copy->priority, 7);
        assert_int_equal(copy->depth, 3);
        assert_true(i == MANY || slice_is(held->puts[i].key, texts[1]));
        assert_true(i == MANY || slice_is(held->puts[i].fields, texts[3]));
    }
    held_job_free(held);
    close_run(&run);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(asks_seldom_without_backlog),
        cmocka_unit_test(backlog_and_hosts_do_not_wait),
        cmocka_unit_test(rests_grow_with_batches),
        cmocka_unit_test(sleeps_until_jobs_can_be_asked_for),
        cmocka_unit_test(jobs_are_copies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) + stage_batches_run() + stage_metadata_run() +
           stage_timers_run();
}
