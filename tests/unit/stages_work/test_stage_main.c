/* The life of a stage process (stages/skeleton/stage.c): its arguments, what it opens, when it asks
 * for jobs, how it ends. */
#include <stdlib.h>
#include <unistd.h>

#include "tests/unit/memory_in_use.h"
#include "tests/unit/open_descriptors.h"
#include "tests/unit/stages_work/stage_process.h"

enum { TEXT = 512 };

/* ---- arguments and opening ---- */

static void
arguments_are_checked(void **state)
{
    static const char *const wrong[][3] = {{"--number", "0"},    {"--number", "4097"},
                                           {"--number", "-1"},   {"operand", NULL},
                                           {"--nonsense", NULL}, {"--set", "no.such=1"}};
    char *without[] = {"quadrille-test", NULL};
    char *help[] = {"quadrille-test", "--version", NULL};
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        process.told = STATUS_OK;
        assert_int_equal(run_main(NULL, wrong[i]), EXIT_MISUSE);
        assert_int_equal(process.told, STATUS_MISUSE);
        assert_null(process.running);
        buf_reset(&process.trace);
    }
    assert_int_equal(stage_main(&process.spec, 1, without), EXIT_MISUSE);
    assert_trace("");
    process.told = STATUS_COUNT;
    assert_int_equal(stage_main(&process.spec, 2, help), EXIT_DONE);
    assert_trace("");
    assert_int_equal(process.told, STATUS_COUNT); /* that was no run */
}

static void
what_cannot_be_opened_ends_it(void **state)
{
    static const struct {
        enum status queue, store, stage;
        const char *trace;
    } cases[] = {{STATUS_SYSTEM, 0, 0, "begins detect.1\nopen queue /queue.sock as detect.1\n"},
                 {0, STATUS_SYSTEM, 0,
                  "begins detect.1\nopen queue /queue.sock as detect.1\nopen 1 stores as "
                  "detect.1\nclose queue\n"},
                 {0, 0, STATUS_SYSTEM, OPENED "close\nclose queue\nclose stores\n"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        process.queue_open_status = cases[i].queue;
        process.store_open_status = cases[i].store;
        process.open_status = cases[i].stage;
        assert_int_equal(run_main(NULL, NULL), EXIT_SYSTEM);
        assert_int_equal(process.told, STATUS_SYSTEM);
        assert_trace(cases[i].trace);
    }
}

static void
a_process_that_cannot_hear_signals_does_not_begin(void **state)
{
    (void)state;
    process.no_descriptors = true;
    assert_int_equal(run_main(NULL, NULL), EXIT_SYSTEM);
    process.no_descriptors = false;
    assert_int_equal(process.told, STATUS_SYSTEM);
    buf_reset(&process.trace);
}

static void
it_says_that_it_is_ready(void **state)
{
    int pipes[2];
    char number[16], bytes[4];
    (void)state;
    assert_int_equal(pipe(pipes), 0);
    snprintf(number, sizeof number, "%d", pipes[1]);
    const char *const more[] = {"--ready-fd", number, "--set", "stage.watchdog=7", NULL};
    static const struct turn script[] = {{16, end_by_signal, OPENED "watchdog 7000\nready\n"},
                                         {0, NULL, NULL}};
    assert_int_equal(run_main(script, more), EXIT_DONE);
    assert_int_equal(process.told, STATUS_OK);
    assert_trace(ENDED);
    assert_int_equal(read(pipes[0], bytes, sizeof bytes), 1); /* and its other end is closed */
    assert_int_equal(bytes[0], '\n');
    assert_int_equal(read(pipes[0], bytes, sizeof bytes), 0);
    close(pipes[0]);
}

static void
check_settings(void)
{
    assert_int_equal(process.running->reserving.window, 77);
    assert_int_equal(process.running->batches.most, 77);
    assert_int_equal(process.running->batches.rest_least_ms, 0);
    assert_int_equal(process.running->batches.rest_most_ms, 9);
    assert_int_equal(stage_worker_number(process.running), 4096);
    assert_string_equal(stage_worker_name(process.running), "fetch.4096");
    assert_string_equal(stage_directory(process.running), process.folder);
    assert_int_equal(stage_assignments(process.running)->count, 1);
    assert_int_equal(stage_scope(process.running), 17);
    assert_ptr_equal(stage_metastore(process.running), &store_there);
    assert_int_equal(cluster_node_count(stage_cluster(process.running)), 1);
    assert_ptr_equal(stage_options(process.running), process.running->options);
    end_by_signal();
}

static void
check_own_settings(void)
{
    assert_int_equal(process.running->reserving.window, WINDOW);
    assert_int_equal(process.running->batches.most, 4);
    assert_int_equal(process.running->batches.rest_least_ms, 250);
    assert_int_equal(process.running->batches.rest_most_ms, 0);
    assert_int_equal(process.running->batches.delay_ms, 100);
    assert_int_equal(process.running->batches.gather_ms, 100);
    assert_int_equal(process.running->job_memory, 64 << 20);
    end_by_signal();
}

static void
settings_are_those_of_the_stage(void **state)
{
    static const char *const more[] = {"--number", "4096", "--set", "fetch.window=77", NULL};
    static const struct turn fetch[] = {
        {16, check_settings,
         "begins fetch.4096\nopen queue /queue.sock as fetch.4096\nopen 1 stores as fetch.4096\n"
         "watch 60\nwatch 61\nwatch 62\nopen\nwatchdog 300000\nready\n"},
        {0, NULL, NULL}};
    static const struct turn detect[] = {
        {16, check_own_settings, OPENED "watchdog 300000\nready\n"}, {0, NULL, NULL}};
    (void)state;
    assert_int_equal(run_main(detect, NULL), EXIT_DONE);
    buf_reset(&process.trace);
    process.spec.stage = STAGE_FETCH;
    process.spec.window_option = "fetch.window";
    process.spec.batch = 0;
    process.spec.rest_ms = 9;
    assert_int_equal(run_main(fetch, more), EXIT_DONE);
    assert_trace(ENDED);
}

/* Detect and transform may work for a node from another machine. */
static void
helpers_ask_the_queue_of_their_node(void **state)
{
    static const struct {
        enum stage stage;
        const char *queue;
        bool may;
    } cases[] = {{STAGE_FETCH, "queue=tcp://127.0.0.1:7", false},
                 {STAGE_DETECT, "queue=tcp://127.0.0.1:7", true},
                 {STAGE_TRANSFORM, "queue=tcp://127.0.0.1:7", true},
                 {STAGE_INDEX, "queue=tcp://127.0.0.1:7", false},
                 {STAGE_EXTRACT, "queue=tcp://127.0.0.1:7", false},
                 {STAGE_DETECT, "", false}};
    (void)state;
    process.open_status = STATUS_SYSTEM; /* that is far enough */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[TEXT], wanted[TEXT];
        snprintf(text, sizeof text, "node a %s metastore=tcp://127.0.0.1:8\nhelper m2\n",
                 cases[i].queue);
        write_cluster(text);
        process.spec.stage = cases[i].stage;
        assert_int_equal(run_main(NULL, NULL), cases[i].may ? EXIT_SYSTEM : EXIT_MISUSE);
        const char *const name = stage_name(cases[i].stage);
        snprintf(wanted, sizeof wanted, "begins %s.1\nopen queue tcp://127.0.0.1:7 as %s.1@m2\n",
                 name, name);
        assert_true(process.trace.length > 0);
        assert_int_equal(strstr(process.trace.data, wanted) == process.trace.data, cases[i].may);
        buf_reset(&process.trace);
    }
}

/* ---- starting jobs ---- */

static bool
see(void *context, const struct job *job)
{
    buf_printf(&process.trace, "waits %llu\n", (unsigned long long)job->key.id);
    return job->key.id < *(const uint64_t *)context;
}

static void
look_at_waiting(void)
{
    uint64_t last = 3;
    stage_waiting(process.running, see, &last);
    last = 99;
    stage_waiting(process.running, see, &last);
}

static void
give_four(void)
{
    process.start_takes_ms = 11;
    give_jobs(1, 4, "");
}

static void
give_three_of_twenty(void)
{
    process.start_takes_ms = 20;
    give_jobs(1, 3, "");
}

/* Jobs are started for twenty milliseconds at a time, so that others are served. */
static void
jobs_are_started_for_a_slice_of_time(void **state)
{
    static const struct turn exact[] = {{16, nothing, READY},
                                        {-1, give_three_of_twenty, ASKED},
                                        {0, nothing, "goes on\nstart 1\nstart 2\ndone 1\ndone 2\n"},
                                        {40, end_by_signal, "start 3\ndone 3\n"},
                                        {0, NULL, NULL}};
    static const struct turn script[] = {
        {16, nothing, READY},
        {-1, give_four, ASKED},
        {0, look_at_waiting, "goes on\nstart 1\nstart 2\ndone 1\ndone 2\n"},
        {56, end_by_signal, "waits 3\nwaits 3\nwaits 4\nstart 3\nstart 4\ndone 3\ndone 4\n"},
        {0, NULL, NULL}};
    (void)state;
    assert_int_equal(run_main(script, NULL), EXIT_DONE);
    assert_trace(ENDED);
    assert_int_equal(run_main(exact, NULL), EXIT_DONE);
    assert_trace(ENDED);
}

static void
give_three_slow(void)
{
    process.start_takes_ms = 50; /* one in a slice */
    give_jobs(1, 3, "");
}

static void
give_two_more(void)
{
    give_jobs(4, 2, "");
}

/* What comes while others wait is started behind them; none is forgotten. */
static void
jobs_come_behind_those_that_wait(void **state)
{
    static const struct turn script[] = {
        {16, nothing, READY},
        {-1, give_three_slow, ASKED},
        {0, nothing, "goes on\nstart 1\ndone 1\n"},
        {0, give_two_more, "start 2\ndone 2\nreserve detect 0: 7 in 10000\n"},
        {0, nothing, "goes on\nstart 3\ndone 3\n"},
        {0, nothing, "start 4\ndone 4\nreserve detect 0: 7 in 10000\n"},
        {-1, end_by_signal, "start 5\ndone 5\n"},
        {50, give_two, "reserve detect 0: 0 in 0\n"},
        {0, NULL, NULL}};
    (void)state;
    assert_int_equal(run_main(script, NULL), EXIT_DONE);
}

static void
give_damaged(void)
{
    give_jobs(1, 1, "\177");
}

static void
damaged_documents_are_buried(void **state)
{
    static const struct turn script[] = {
        {16, nothing, READY},
        {-1, give_damaged, ASKED},
        {100, end_by_signal,
         "goes on\nbury 1: the job's data is not a document record of a known version\n"},
        {0, NULL, NULL}};
    (void)state;
    assert_int_equal(run_main(script, NULL), EXIT_DONE);
}

/* ---- the end ---- */

static void
give_one_more(void)
{
    process.running->reserving.jobs_taken = 1000000 - 2;
    give_jobs(1, 1, "");
}

static void
the_last(void)
{
    process.now_ms += 100;
}

static void
after_hours(void)
{
    process.now_ms += 10000000;
    end_one();
}

static void
give_last(void)
{
    give_jobs(2, 1, ""); /* with these two it has had a million */
}

/* After a million jobs a process ends, when all that it has has ended. */
static void
processes_retire(void **state)
{
    static const struct turn script[] = {{16, nothing, READY},
                                         {-1, give_one_more, ASKED},
                                         {100, the_last, "goes on\nstart 1\n"},
                                         {-1, give_last, "reserve detect 0: 7 in 10000\n"},
                                         {50, after_hours, "goes on\nstart 2\n"},
                                         {50, after_hours, "done 2\n"},
                                         {0, NULL, NULL}};
    (void)state;
    process.ends_at_once = false;
    assert_int_equal(run_main(script, NULL), EXIT_DONE);
    assert_trace("done 1\n" ENDED);
}

static void
almost_ten_seconds(void)
{
    process.now_ms += 9999;
    end_by_signal(); /* a second one makes it no later */
}

/* A job that does not end is left to its lease. */
static void
ends_are_waited_for_ten_seconds(void **state)
{
    static const struct turn script[] = {{16, nothing, READY},
                                         {-1, give_two, ASKED},
                                         {100, end_by_signal, "goes on\nstart 1\nstart 2\n"},
                                         {50, almost_ten_seconds, ""},
                                         {50, a_millisecond, ""},
                                         {0, NULL, NULL}};
    (void)state;
    process.ends_at_once = false;
    assert_int_equal(run_main(script, NULL), EXIT_DONE);
    assert_trace(ENDED);
    for (size_t i = 0; i < process.held_count; i++) {
        held_job_free((struct held_job *)process.held[i]);
    }
}

/* ---- run by a command ---- */

static void
fifty(void)
{
    process.now_ms += 50;
    assert_int_equal(process.running->reserving.window, WINDOW);
}

static void
somebody_wants(void)
{
    process.now_ms += 50;
    process.claimed = true;
    process.settings_status = STATUS_BAD_INPUT;
}

static void
with_settings(void)
{
    static const struct opt *const tables[] = {stage_option_table, NULL};
    process.now_ms += 50;
    process.settings_status = STATUS_OK;
    process.settings = opt_set_new(tables);
}

static void
nobody_wants(void)
{
    process.now_ms += 100;
    process.claimed = false;
}

static void
jobs_are_taken_while_somebody_wants_them(void **state)
{
    static const char *const more[] = {"--when-wanted", NULL};
    static const struct turn script[] = {
        {16, nothing,
         "begins detect.1\nopen wanted\nopen queue /queue.sock as detect.1\n"
         "open 1 stores as detect.1\nwatch 60\nwatch 61\nwatch 62\nopen\n"
         "watchdog 300000\nready\n"},
        {50, fifty, ""},
        {50, somebody_wants, ""},
        {50, with_settings, ""}, /* which could not be read */
        {-1, give_two, "reserve detect 0: 8 in 1000\n"},
        {100, nobody_wants, TWO},
        {50, end_by_signal, ""},
        {0, NULL, NULL}};
    (void)state;
    assert_int_equal(run_main(script, more), EXIT_DONE);
    assert_trace("watchdog 0\nclose\nclose queue\nclose stores\nclose wanted\n");
}

/* ---- what is left ---- */

/* A run gives back its memory and its descriptors, also of settings that others took the place
 * of. */
static void
nothing_is_left_of_a_run(void **state)
{
    enum { WARM = 20, RUNS = 40, LEAST = 5000 /* of settings */ };
    static const struct opt *const tables[] = {stage_option_table, NULL};
    static const char *const more[] = {"--when-wanted", NULL};
    static const struct turn script[] = {
        {0, nothing, NULL}, {0, give_two, NULL}, {0, end_by_signal, NULL}, {0, NULL, NULL}};
    size_t before = 0;
    size_t descriptors = 0;
    (void)state;
    if (!memory_is_counted()) {
        skip();
    }
    for (int i = 0; i < RUNS; i++) {
        if (i == WARM) {
            before = memory_in_use();
            descriptors = open_descriptors();
        }
        process.claimed = true;
        process.settings = opt_set_new(tables);
        assert_int_equal(run_main(script, more), EXIT_DONE);
        buf_reset(&process.trace);
    }
    assert_int_equal(open_descriptors(), descriptors);
    assert_true(memory_in_use() < before + (RUNS - WARM) * LEAST);
}

int
main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, process_set_up, process_tear_down)
    const struct CMUnitTest tests[] = {
        CASE(arguments_are_checked),
        CASE(what_cannot_be_opened_ends_it),
        CASE(a_process_that_cannot_hear_signals_does_not_begin),
        CASE(it_says_that_it_is_ready),
        CASE(settings_are_those_of_the_stage),
        CASE(helpers_ask_the_queue_of_their_node),
        CASE(jobs_are_asked_for_at_a_pace),
        CASE(requests_are_not_small),
        CASE(a_window_of_one_is_filled),
        CASE(what_cannot_leave_stops_requests),
        CASE(refused_reserves_are_repeated),
        CASE(it_wakes_for_whoever_is_first),
        CASE(it_does_not_sleep_while_somebody_has_something),
        CASE(full_windows_ask_for_nothing),
        CASE(jobs_are_started_for_a_slice_of_time),
        CASE(jobs_come_behind_those_that_wait),
        CASE(damaged_documents_are_buried),
        CASE(processes_retire),
        CASE(ends_are_waited_for_ten_seconds),
        CASE(jobs_are_taken_while_somebody_wants_them),
        CASE(nothing_is_left_of_a_run),
    };
    return cmocka_run_group_tests_name("stage_main", tests, NULL, NULL) + stage_surroundings_run();
}
