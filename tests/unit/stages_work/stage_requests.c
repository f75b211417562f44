/* When a stage process asks for jobs, and how long it sleeps. */
#include "tests/unit/stages_work/stage_process.h"

static void
give_all(void)
{
    give_jobs(11, WINDOW, "");
}

static void
clients_have_something(void)
{
    process.client_ready(process.client_context, 1);
}

static void
almost_a_tenth(void)
{
    process.now_ms += 99;
}

static void
sixteen(void)
{
    process.now_ms += 16;
}

#define EIGHT                                                                         \
    "goes on\nstart 11\nstart 12\nstart 13\nstart 14\nstart 15\nstart 16\nstart 17\n" \
    "start 18\n"

/* What came is started in the same turn. Who got less than he asked for waits longer. */
void
jobs_are_asked_for_at_a_pace(void **state)
{
    static const struct turn script[] = {
        {16, nothing, READY},
        {-1, give_two, ASKED}, /* the queue tells when there are some */
        {100, almost_a_tenth, TWO},
        {16, a_millisecond, ""},
        {-1, give_all, ASKED},
        {16, sixteen,
         EIGHT "done 11\ndone 12\ndone 13\ndone 14\ndone 15\ndone 16\ndone 17\ndone 18\n"},
        {-1, end_by_signal, ASKED},
        {50, nothing, "reserve detect 0: 0 in 0\n"},
        {50, give_two, ""}, /* it is recalled once */
        {0, NULL, NULL}};
    (void)state;
    assert_int_equal(run_main(script, NULL), EXIT_DONE);
    assert_trace("goes on\nrelease 1: the process is stopping, no attempt\n"
                 "release 2: the process is stopping, no attempt\n" ENDED);
}

static void
end_two(void)
{
    process.now_ms += 1000;
    stage_done(process.held[--process.held_count]);
    stage_done(process.held[--process.held_count]);
}

static void
one_aside(void)
{
    process.now_ms += 1000;
    stage_set_aside(process.held[0], true);
}

static void
two_aside(void)
{
    process.now_ms += 1000;
    stage_set_aside(process.held[1], true);
}

/* Fewer than a quarter of the window are asked for only when nothing is in hand. */
void
requests_are_not_small(void **state)
{
    static const struct turn script[] = {
        {16, nothing, READY},
        {-1, give_all, ASKED},
        {-1, end_one, EIGHT}, /* the window is full */
        {16, one_aside, "done 18\n"},
        {-1, end_by_signal, "reserve detect 0: 2 in 10000\n"},
        {50, give_two, "reserve detect 0: 0 in 0\n"},
        {50, end_two,
         "goes on\nrelease 1: the process is stopping, no attempt\n"
         "release 2: the process is stopping, no attempt\n"},
        {50, two_aside, "done 17\ndone 16\n"},
        {50, end_two, ""},
        {50, end_two, "done 15\ndone 14\n"},
        {50, end_one, "done 13\ndone 12\n"},
        {0, NULL, NULL}};
    (void)state;
    process.ends_at_once = false;
    assert_int_equal(run_main(script, NULL), EXIT_DONE);
    assert_trace("done 11\n" ENDED);
}

static void
set_lane(void)
{
    process.running->reserving.window = 1;
    stage_set_lane(process.running, 5);
}

static void
give_one(void)
{
    process.now_ms += 16;
    give_jobs(1, 1, "");
}

void
a_window_of_one_is_filled(void **state)
{
    static const struct turn script[] = {{16, set_lane, READY},
                                         {-1, give_one, "reserve detect 5: 1 in 10000\n"},
                                         {16, sixteen, "goes on\nstart 1\ndone 1\n"},
                                         {-1, end_by_signal, "reserve detect 5: 1 in 10000\n"},
                                         {50, give_one, "reserve detect 5: 0 in 0\n"},
                                         {0, NULL, NULL}};
    (void)state;
    assert_int_equal(run_main(script, NULL), EXIT_DONE);
}

/* A full window asks for nothing, however small it is. */
void
full_windows_ask_for_nothing(void **state)
{
    static const struct turn script[] = {
        {16, set_lane, READY},
        {-1, give_one, "reserve detect 5: 1 in 10000\n"},
        {-1, sixteen, "goes on\nstart 1\n"},
        {-1, end_one, ""},
        {-1, end_by_signal, "done 1\nreserve detect 5: 1 in 10000\n"},
        {50, give_one, "reserve detect 5: 0 in 0\n"},
        {0, NULL, NULL}};
    (void)state;
    process.ends_at_once = false;
    assert_int_equal(run_main(script, NULL), EXIT_DONE);
}

static void
hold_batch(void)
{
    process.running->batches.held = 1;
}

static void
let_batch_go(void)
{
    process.running->batches.held = 0;
}

static void
many_ended(void)
{
    process.running->batches.ended_count = 4 * WINDOW;
}

static void
fewer_ended(void)
{
    process.running->batches.ended_count = 4 * WINDOW - 1;
}

static void
none_ended(void)
{
    process.running->batches.ended_count = 0;
    end_by_signal();
}

/* While a batch waits for room, or too many jobs wait to leave, no more are asked for. */
void
what_cannot_leave_stops_requests(void **state)
{
    static const struct turn script[] = {
        {16, hold_batch, READY},
        {-1, let_batch_go, ""},
        {-1, nothing, ASKED},
        {-1, hold_batch, ""},
        {-1, give_two, ""},
        {-1, let_batch_go, "goes on\n"}, /* nor is anything started */
        {100, many_ended, "start 1\nstart 2\ndone 1\ndone 2\n"},
        {100, almost_a_tenth, ""},
        {16, a_millisecond, ""},
        {16, fewer_ended, ""},
        {-1, none_ended, ASKED},
        {50, give_two, "reserve detect 0: 0 in 0\n"},
        {0, NULL, NULL}};
    (void)state;
    assert_int_equal(run_main(script, NULL), EXIT_DONE);
}

static void
refuse_reserve(void)
{
    const struct reason why = {"the disk is full"};
    process.reserved(process.reserved_context, STATUS_FULL, NULL, 0, &why);
}

static void
cancel_reserve(void)
{
    const struct reason why = {"closed"};
    process.now_ms += 1;
    process.reserved(process.reserved_context, STATUS_CANCELLED, NULL, 0, &why);
}

static void
half_a_second(void)
{
    process.now_ms += 499;
}

void
refused_reserves_are_repeated(void **state)
{
    static const struct turn script[] = {{16, nothing, READY},
                                         {-1, refuse_reserve, ASKED},
                                         {500, half_a_second, "waits 2 FULL the disk is full\n"},
                                         {16, a_millisecond, ""},
                                         {-1, cancel_reserve, ASKED},
                                         {500, end_by_signal, ""},
                                         {0, NULL, NULL}};
    (void)state;
    assert_int_equal(run_main(script, NULL), EXIT_DONE);
    assert_trace(ENDED);
}

static void
clients_are_due(void)
{
    process.now_ms += 100;
    process.queue_wait_ms = 7;
    process.store_wait_ms = 9;
}

static void
stores_have_something(void)
{
    process.queue_wait_ms = -1;
    process.store_wait_ms = 0;
}

static void
queue_has_something(void)
{
    process.queue_wait_ms = 0;
    process.store_wait_ms = 3;
}

static void
queue_is_due_while_paced(void)
{
    give_two();
    process.queue_wait_ms = 0;
    process.store_wait_ms = 3;
}

static void
batch_is_due(void)
{
    process.queue_wait_ms = process.store_wait_ms = 20;
    process.batch_wait = 6;
}

/* It sleeps until the first of all has something to do, and asks only who has. */
void
it_wakes_for_whoever_is_first(void **state)
{
    static const struct turn script[] = {{16, clients_are_due, READY},
                                         {7, stores_have_something, ASKED},
                                         {0, queue_has_something, "process stores\nprocess\n"},
                                         {0, clients_have_something, "process stores\nprocess\n"},
                                         {0, batch_is_due, "process stores\nprocess\n"},
                                         {6, clients_have_something, ""},
                                         {6, nothing, "process stores\nprocess\n"},
                                         {6, end_by_signal, ""},
                                         {0, NULL, NULL}};
    (void)state;
    assert_int_equal(run_main(script, NULL), EXIT_DONE);
    assert_trace(ENDED); /* the queue never answered: it is not waited for */
}

/* Who has something to do now is not kept waiting by the pace of requests. */
void
it_does_not_sleep_while_somebody_has_something(void **state)
{
    static const struct turn script[] = {{16, nothing, READY},
                                         {-1, queue_is_due_while_paced, ASKED},
                                         {0, end_by_signal, TWO "process stores\nprocess\n"},
                                         {0, NULL, NULL}};
    (void)state;
    assert_int_equal(run_main(script, NULL), EXIT_DONE);
}
