/* How long a worker serves, and what configures it; a part of test_worker. */
#include "tests/unit/stages/worker_pools.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <string.h>
#include <unistd.h>

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

int
worker_pools_run(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_worker_is_replaced_after_its_jobs_if_they_have_a_limit),
        cmocka_unit_test(all_of_a_configuration_comes_or_it_is_refused),
        cmocka_unit_test(a_fork_server_has_one_pool_after_the_other),
    };
    return cmocka_run_group_tests_name("worker_pools", tests, NULL, NULL);
}
