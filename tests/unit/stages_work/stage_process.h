/* A stage process (stages/skeleton/stage.c) among stand-ins: queue, metadata store, clock, watchdog
 * and the waiting of the loop are stood in for; each turn of the loop is a step of the test. What
 * is asked of them is a line of a trace. The list of wrapped functions is test_stage_main_WRAPS. */
#ifndef TESTS_UNIT_STAGES_WORK_STAGE_PROCESS_H
#define TESTS_UNIT_STAGES_WORK_STAGE_PROCESS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "stages/skeleton/stage_run.h"
#include "tests/unit/scratch.h"

enum { WINDOW = 8, JOBS = 16 };

struct stage_process {
    struct stage_spec spec;
    struct stage_run *running;
    struct buf trace;
    uint64_t now_ms;
    char folder[SCRATCH_SIZE];
    enum status told; /* at the end */
    bool no_descriptors;
    size_t fed; /* the watchdog, how often */
    /* Of whoever wants jobs. */
    bool claimed;
    enum status settings_status;
    struct opt_set *settings;
    /* Of queue and metadata store. */
    int queue_wait_ms, store_wait_ms;
    enum status queue_open_status, store_open_status;
    queue_reserved *reserved;
    void *reserved_context;
    /* Of the stage. */
    enum status open_status;
    struct stage_job *held[JOBS];
    size_t held_count;
    bool ends_at_once;
    uint64_t start_takes_ms;
    int batch_wait;
    /* Of the loop. */
    stage_ready *signal_ready, *client_ready;
    void *signal_context, *client_context;
    const struct turn *turns;
};
extern struct stage_process process;
/* What stands for the clients of queue and metadata store. */
extern int queue_there, store_there;

/* One turn: how long the loop would wait, and what happens meanwhile. */
struct turn {
    int wait_ms;
    void (*happens)(void);
    const char *before; /* what was done since the turn before; NULL: whatever it was */
};

int process_set_up(void **state);
int process_tear_down(void **state);
/* The trace since it was looked at last. */
void assert_trace(const char *text);
/* Runs the program by the script, whose last turn has no event; more: its arguments, or NULL. */
int run_main(const struct turn *script, const char *const *more);
void write_cluster(const char *text);
/* Answers the reserve. */
void give_jobs(uint64_t first, size_t n, const char *data);

/* ---- what happens in a turn ---- */

void end_by_signal(void);
void nothing(void);
void give_two(void);
void a_millisecond(void);
void end_one(void);

/* ---- what is traced ---- */

#define OPENED                                                                         \
    "begins detect.1\nopen queue /queue.sock as detect.1\nopen 1 stores as detect.1\n" \
    "watch 60\nwatch 61\nwatch 62\nopen\n"
#define ENDED "watchdog 0\nclose\nclose queue\nclose stores\n"
#define READY OPENED "watchdog 300000\nready\n"
#define ASKED "reserve detect 0: 8 in 10000\n"
#define TWO "goes on\nstart 1\nstart 2\ndone 1\ndone 2\n"

/* ---- the parts of the test ---- */

/* stage_surroundings.c */
int stage_surroundings_run(void);

/* stage_requests.c */
void jobs_are_asked_for_at_a_pace(void **state);
void requests_are_not_small(void **state);
void a_window_of_one_is_filled(void **state);
void what_cannot_leave_stops_requests(void **state);
void refused_reserves_are_repeated(void **state);
void it_wakes_for_whoever_is_first(void **state);
void it_does_not_sleep_while_somebody_has_something(void **state);
void full_windows_ask_for_nothing(void **state);

#endif
