/* How long a worker serves, and what configures it; a part of test_worker. */
#include "tests/unit/stages_sandbox/worker_pools.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "stages/sandbox/worker.h"

enum { CONFIGURATION_MOST = 64 << 10 };

static enum status
prepare(struct slice configuration, void **context, struct reason *why)
{
    static size_t length;
    (void)why;
    length = configuration.length;
    *context = &length;
    return STATUS_OK;
}

/* Who answers, and the length of the configuration. */
struct told {
    pid_t process;
    size_t configuration;
};

static enum status
tell(void *context, uint8_t verb, struct slice request, struct buf *reply, struct reason *why)
{
    const struct told told = {.process = getpid(), .configuration = *(const size_t *)context};
    (void)verb, (void)request, (void)why;
    return buf_append(reply, &told, sizeof told);
}

static const struct worker_program program = {
    .name = "test-pool", .prepare = prepare, .handle = tell};

/* All of the fork server and of its workers run on one processor, behind everybody else. */
static enum status
prepare_last_in_line(struct slice configuration, void **context, struct reason *why)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(*(const int *)(const void *)configuration.at, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    assert_int_equal(setpriority(PRIO_PROCESS, 0, 19), 0);
    return prepare(configuration, context, why);
}

static enum status
compute(void *context, uint8_t verb, struct slice request, struct buf *reply, struct reason *why)
{
    enum { MOST_MS = 30 };
    const clock_t end = clock() + (clock_t)MOST_MS * (CLOCKS_PER_SEC / 1000);
    (void)context, (void)verb, (void)request, (void)reply, (void)why;
    while (clock() < end) {
    }
    return STATUS_OK;
}

static const struct worker_program last_in_line = {
    .name = "test-last", .prepare = prepare_last_in_line, .handle = compute};

static struct worker_pool *
open_pool(struct fork_server *fork_server, unsigned jobs, struct slice configuration,
          struct reason *why)
{
    const struct worker_limits limits = {.workers = 1,
                                         .request = 4096,
                                         .reply = 4096,
                                         .memory = (size_t)4 << 30,
                                         .cpu_ms = 60000,
                                         .wall_ms = 60000,
                                         .jobs = jobs};
    struct worker_pool *pool;
    (void)worker_pool_open(&pool, fork_server, &limits, configuration, why);
    return pool;
}

static struct told
ask(struct worker_pool *pool)
{
    struct buf reply;
    struct told told = {0};
    struct reason why = {""};
    buf_init(&reply, 4096);
    assert_int_equal(worker_call(pool, SANDBOX_PARSER, 1, NULL, 0, &reply, NULL, &why), STATUS_OK);
    assert_int_equal(reply.length, sizeof told);
    memcpy(&told, reply.data, sizeof told);
    buf_release(&reply);
    return told;
}

/* Returns whether the process that answered first answers after so many more documents, too. */
static bool
stays_for(unsigned jobs, int documents)
{
    struct reason why = {""};
    struct fork_server *fork_server = fork_server_start(&program);
    struct worker_pool *pool = open_pool(fork_server, jobs, SLICE("x"), &why);
    assert_non_null(pool);
    const pid_t first = ask(pool).process;
    pid_t last = first;
    for (int i = 0; i < documents; i++) {
        last = ask(pool).process;
    }
    worker_pool_close(pool);
    fork_server_close(fork_server);
    return first == last;
}

static void
a_worker_is_replaced_after_its_jobs_if_they_have_a_limit(void **state)
{
    (void)state;
    assert_true(stays_for(0, 4));
    assert_true(stays_for(3, 2));
    assert_false(stays_for(3, 3));
    assert_false(stays_for(1, 1));
}

static void
all_of_a_configuration_comes_or_it_is_refused(void **state)
{
    static const struct {
        size_t length;
        bool comes;
    } cases[] = {{0, true}, {1, true}, {60000, true}, {CONFIGURATION_MOST + 1, false}};
    static char text[CONFIGURATION_MOST + 1];
    (void)state;
    memset(text, 'x', sizeof text);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct reason why = {""};
        struct fork_server *fork_server = fork_server_start(&program);
        struct worker_pool *pool = open_pool(fork_server, 0, slice_of(text, cases[i].length), &why);
        assert_int_equal(pool != NULL, cases[i].comes);
        if (pool != NULL) {
            assert_int_equal(ask(pool).configuration, cases[i].length);
        } else {
            assert_true(why.text[0] != '\0');
        }
        worker_pool_close(pool);
        fork_server_close(fork_server);
    }
}

static void
count_cancelled(void *context, const struct worker_answer *answer)
{
    unsigned *cancelled = context;
    *cancelled += answer->status == STATUS_CANCELLED;
}

/* The ends of a pool's workers are not told to the next pool, whether they were idle or busy. */
static void
a_fork_server_has_one_pool_after_the_other(void **state)
{
    enum { ROUNDS = 20, SUBMITTED = 3 };
    struct fork_server *fork_server = fork_server_start(&program);
    struct reason why = {""};
    pid_t before = 0;
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        struct worker_pool *pool = open_pool(fork_server, 0, SLICE("x"), &why);
        unsigned cancelled = 0;
        if (pool == NULL) {
            fail_msg("%s", why.text);
        }
        const pid_t process = ask(pool).process;
        assert_int_not_equal(process, before);
        assert_int_equal(ask(pool).process, process);
        for (int i = 0; i < SUBMITTED && round % 2 == 1; i++) {
            worker_submit(pool, SANDBOX_PARSER, 1, NULL, 0, count_cancelled, &cancelled);
        }
        worker_pool_close(pool);
        assert_int_equal(cancelled, round % 2 == 1 ? SUBMITTED : 0);
        assert_int_equal(kill(process, 0), -1); /* nobody is left */
        before = process;
    }
    fork_server_close(fork_server);
}

/* A process that takes all of a processor that it can get. */
static pid_t
occupy(int processor)
{
    const pid_t process = fork();
    if (process == 0) {
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(processor, &one);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        (void)sched_setaffinity(0, sizeof one, &one);
        for (volatile unsigned turn = 0;; turn = turn + 1) {
        }
    }
    return process;
}

/* The worker needs 30 ms of a processor that another process has for most of the time, so that it
 * takes many times its 60 ms by the clock. */
static void
time_without_a_processor_is_not_the_workers(void **state)
{
    const struct worker_limits limits = {.workers = 1,
                                         .request = 4096,
                                         .reply = 4096,
                                         .memory = (size_t)4 << 30,
                                         .cpu_ms = 60000,
                                         .wall_ms = 60};
    const int processor = sched_getcpu();
    struct fork_server *fork_server = fork_server_start(&last_in_line);
    struct worker_pool *pool;
    struct reason why = {""};
    bool died = false;
    (void)state;
    assert_int_equal(worker_pool_open(&pool, fork_server, &limits,
                                      slice_of((const char *)&processor, sizeof processor), &why),
                     STATUS_OK);
    const pid_t other = occupy(processor);
    const uint64_t began_ms = clock_monotonic_ms();
    const enum status status = worker_call(pool, SANDBOX_PARSER, 1, NULL, 0, NULL, &died, &why);
    const uint64_t took_ms = clock_monotonic_ms() - began_ms;
    kill(other, SIGKILL);
    assert_int_equal(waitpid(other, NULL, 0), other);
    worker_pool_close(pool);
    fork_server_close(fork_server);
    if (status != STATUS_OK) {
        fail_msg("%s", why.text);
    }
    assert_false(died);
    assert_true(took_ms > limits.wall_ms);
}

int
worker_pools_run(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_worker_is_replaced_after_its_jobs_if_they_have_a_limit),
        cmocka_unit_test(all_of_a_configuration_comes_or_it_is_refused),
        cmocka_unit_test(a_fork_server_has_one_pool_after_the_other),
        cmocka_unit_test(time_without_a_processor_is_not_the_workers),
    };
    return cmocka_run_group_tests_name("worker_pools", tests, NULL, NULL);
}
