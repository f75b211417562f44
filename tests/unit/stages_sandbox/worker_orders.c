/* What is given to a worker together, what is believed of what it says, and what its end comes to
 * (stages/sandbox/worker_orders.c, fork_server.c); a part of test_worker. */
#include "tests/unit/stages_sandbox/worker_steps.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/stages_sandbox/worker_pools.h"

/* ---- tests ---- */

/* The first goes alone, since its worker is idle; the others wait, and those that fit go together.
 */
static void
orders_are_of_what_fits(void **state)
{
    static const char text[REQUEST + 1];
    static const size_t lengths[] = {1, REQUEST / 2, REQUEST / 2, 1, 0, REQUEST, REQUEST - 1, 1, 1};
    static const bool begins[] = {true, true, false, true, false, true, true, false, true};
    enum { COUNT = sizeof lengths / sizeof *lengths };
    (void)state;
    open_workers(1, REQUEST, REPLY);
    for (size_t i = 0; i < COUNT; i++) {
        (void)submit(PLACE, slice_of(text, lengths[i]));
    }
    assert_int_equal(worker_pool_waiting(pool), COUNT);
    wait_for_all();
    for (size_t i = 0, place = 0; i < COUNT; i++) {
        place = begins[i] ? 0 : place + lengths[i - 1] + sizeof(struct worker_request);
        assert_int_equal(place_of(&answers[i]), place);
    }
    check(ask(PLACE, slice_of(text, REQUEST + 1)), STATUS_LIMIT, false,
          "the document is longer than is looked at");
    assert_int_equal(shared->handled, COUNT);
    close_workers();
}

static void
orders_are_of_so_many_at_most(void **state)
{
    enum { COUNT = 1 + WORKER_ORDER + 1 };
    (void)state;
    open_workers(1, REQUEST, REPLY);
    for (size_t i = 0; i < COUNT; i++) {
        (void)submit(PLACE, SLICE("x"));
    }
    wait_for_all();
    for (size_t i = 0; i < COUNT; i++) {
        const size_t before = i == 0 || i == COUNT - 1 ? 0 : i - 1;
        assert_int_equal(place_of(&answers[i]), before * (1 + sizeof(struct worker_request)));
    }
    close_workers();
}

/* Large requests are not given together, however many of them there is room for. */
static void
orders_are_of_so_many_bytes_at_most(void **state)
{
    enum { TOGETHER = 256 << 10, COUNT = 6 };
    static const char text[TOGETHER];
    static const size_t lengths[COUNT] = {1, TOGETHER / 2, TOGETHER / 2, TOGETHER, 1, 1};
    (void)state;
    open_workers(1, LARGE, REPLY);
    for (size_t i = 0; i < COUNT; i++) {
        (void)submit(PLACE, slice_of(text, lengths[i]));
    }
    wait_for_all();
    for (size_t i = 0; i < COUNT; i++) {
        const bool together = i == 2 || i == COUNT - 1;
        assert_int_equal(place_of(&answers[i]),
                         together ? lengths[i - 1] + sizeof(struct worker_request) : 0);
    }
    close_workers();
}

/* Whether a worker has answered, or has ended. */
static bool
has_said(unsigned number)
{
    struct pollfd wait = {.fd = pool->slots[number].socket, .events = POLLIN};
    return poll(&wait, 1, -1) == 1;
}

static void
idle_workers_share_what_waits(void **state)
{
    enum { WORKERS = 2, COUNT = WORKERS + 5 };
    /* Both had one; of five the first to be looked at gets three. */
    static const size_t places[COUNT] = {0, 0, 0, 1, 2, 0, 1};
    (void)state;
    open_workers(WORKERS, REQUEST, REPLY);
    for (size_t i = 0; i < COUNT; i++) {
        (void)submit(PLACE, SLICE("x"));
    }
    assert_true(has_said(0) && has_said(1));
    wait_for_all();
    for (size_t i = 0; i < COUNT; i++) {
        assert_int_equal(place_of(&answers[i]), places[i] * (1 + sizeof(struct worker_request)));
    }
    close_workers();
}

static void
a_request_is_of_so_many_pieces_at_most(void **state)
{
    struct slice pieces[WORKER_PIECES + 1];
    struct taken *taken;
    (void)state;
    open_workers(1, REQUEST, LARGE);
    for (size_t i = 0; i <= WORKER_PIECES; i++) {
        pieces[i] = i == 1 ? (struct slice){0} : SLICE("2");
    }
    for (size_t count = WORKER_PIECES; count <= WORKER_PIECES + 1; count++) {
        taken = &answers[submitted++];
        buf_init(&taken->reply, LARGE);
        worker_submit(pool, SANDBOX_PARSER, GROW, pieces, count, take, taken);
        if (count > WORKER_PIECES) {
            check(taken, STATUS_LIMIT, false, "the document is longer than is looked at");
        } else {
            wait_for_all();
            check(taken, STATUS_OK, false, "");
            assert_int_equal(taken->reply.length, 2222222);
        }
    }
    close_workers();
}

/* What a worker must not say, and what it just may. */
static void
reports_are_checked(void **state)
{
    static const struct {
        struct worker_report report;
        bool good;
    } cases[] = {{{.status = STATUS_COUNT - 1}, true},
                 {{.status = STATUS_COUNT}, false},
                 {{.length = REPLY}, true},
                 {{.length = REPLY + 1}, false},
                 {{.reason_length = REASON_SIZE - 1}, true},
                 {{.reason_length = REASON_SIZE}, false},
                 {{.length = UINT64_MAX, .reason_length = 1}, false},
                 {{.length = REPLY, .reason_length = REASON_SIZE - 1}, true}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        open_workers(1, REQUEST, REPLY);
        const struct worker_report *report = &cases[i].report;
        const struct taken *taken = ask(SAY, slice_of((const char *)report, sizeof *report));
        assert_int_equal(taken->died, !cases[i].good);
        assert_int_equal(taken->status, cases[i].good ? report->status : STATUS_SYSTEM);
        assert_int_equal(taken->reply.length, cases[i].good ? report->length : 0);
        assert_int_equal(shared->handled, cases[i].good ? 1 : TRIES);
        close_workers();
    }
}

/* Reports are whole ones, of as many requests as were given. */
static void
as_many_reports_as_requests_are_believed(void **state)
{
    static const struct worker_report reports[2];
    static const size_t lengths[] = {1, sizeof *reports - 1, sizeof *reports + 1, sizeof reports};
    (void)state;
    open_workers(1, REQUEST, REPLY);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        check(ask(SAY, slice_of((const char *)reports, lengths[i])), STATUS_SYSTEM, true,
              "the worker was killed from outside 3 times");
        assert_int_equal(shared->handled, (i + 1) * TRIES);
    }
    /* Who says more than he was asked is replaced, and what he said stands for nothing. */
    check(ask(SAY_MORE, slice_of((const char *)reports, sizeof *reports)), STATUS_OK, false, "");
    assert_int_equal(pool->slots[0].jobs, 1);
    while (pool->slots[0].jobs > 0) {
        process();
    }
    assert_int_equal(place_of(ask(PLACE, SLICE("x"))), 0);
    close_workers();
}

/* The replies of an order have the room of one and a reason together. */
static void
reports_have_room_together(void **state)
{
    struct worker_report reports[2] = {{.length = REPLY}, {.length = REASON_SIZE}};
    const struct slice bytes = slice_of((const char *)reports, sizeof reports);
    (void)state;
    for (unsigned over = 0; over < 2; over++) {
        open_workers(1, REQUEST, REPLY);
        reports[1].length = REASON_SIZE + over;
        (void)submit(PLACE, SLICE("x"));
        const struct taken *first = submit(SAY, bytes), *second = submit(SAY, bytes);
        wait_for_all();
        assert_int_equal(first->died, over);
        assert_int_equal(second->died, over);
        assert_int_equal(second->reply.length, over ? 0 : REASON_SIZE);
        assert_int_equal(shared->handled, over ? 2 + 2 * TRIES : 2);
        close_workers();
    }
}

static void
replies_that_find_no_room_come_with_the_next_order(void **state)
{
    char half[16], more[16];
    (void)state;
    snprintf(half, sizeof half, "%d", (REPLY + REASON_SIZE) / 2);
    snprintf(more, sizeof more, "%d", (REPLY + REASON_SIZE) / 2 + 1);
    /* Each row has two requests of an order and how many are handled, with one before them. */
    const struct {
        const char *first, *second;
        unsigned handled;
    } cases[] = {{half, half, 3}, {half, more, 4}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        open_workers(1, REQUEST, REPLY);
        (void)submit(PLACE, SLICE("x"));
        const struct taken *first = submit(GROW, slice_string(cases[i].first)),
                           *second = submit(GROW, slice_string(cases[i].second));
        wait_for_all();
        check(first, STATUS_OK, false, "");
        check(second, STATUS_OK, false, "");
        assert_int_equal(first->reply.length, atoi(cases[i].first));
        assert_int_equal(second->reply.length, atoi(cases[i].second));
        assert_int_equal(shared->handled, cases[i].handled);
        close_workers();
    }
}

/* How a worker ends is told; only an end that may be nobody's fault is tried again. */
static void
ends_are_described(void **state)
{
    static const struct {
        enum verb verb;
        char code;
        enum status status;
        const char *why;
        unsigned tries;
    } cases[] = {
        {EXIT, 7, STATUS_SYSTEM, "the worker ended with code 7", 1},
        {EXIT, 1, STATUS_SYSTEM, "the worker ended with code 1", 1},
        {EXIT, 0, STATUS_SYSTEM, "the worker ended with code 0", TRIES},
        {EXIT, EXIT_SYSTEM, STATUS_LIMIT, "the worker ran out of memory", 1},
        {DIE, 0, STATUS_SYSTEM, "the worker crashed: signal 10 (User defined signal 1)", 1},
    };
    (void)state;
    (void)signal(SIGUSR1, SIG_IGN); /* what this process does with it is not for workers */
    open_workers(1, REQUEST, REPLY);
    (void)signal(SIGUSR1, SIG_DFL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const unsigned before = shared->handled;
        check(ask(cases[i].verb, slice_of(&cases[i].code, 1)), cases[i].status, true, cases[i].why);
        assert_int_equal(shared->handled - before, cases[i].tries);
        check(ask(PLACE, SLICE("x")), STATUS_OK, false, "");
    }
    close_workers();
}

/* The time of one request is over for each anew, and says nothing about the next worker's end. */
static void
each_request_has_its_time(void **state)
{
    const char code = 7;
    (void)state;
    open_workers(1, REQUEST, REPLY);
    for (int i = 0; i < 2; i++) {
        pool->limits.wall_ms = 20;
        check(ask(SLEEP, SLICE("x")), STATUS_TIMEOUT, true,
              "the worker took too long by the clock");
    }
    pool->limits.wall_ms = LONG_MS;
    check(ask(EXIT, slice_of(&code, 1)), STATUS_SYSTEM, true, "the worker ended with code 7");
    assert_int_equal(shared->handled, 3);
    close_workers();
}

static void
processor_time_is_each_requests_own(void **state)
{
    (void)state;
    open_workers(1, REQUEST, REPLY);
    const struct taken *before = submit(PLACE, SLICE("x")),
                       *computing = submit(COMPUTE, SLICE("x")), *after = submit(PLACE, SLICE("x"));
    wait_for_all();
    assert_true(computing->cpu_us >= (COMPUTE_MS - 1) * 1000);
    assert_true(computing->cpu_us < 10 * COMPUTE_MS * 1000);
    assert_true(before->cpu_us < computing->cpu_us && after->cpu_us < computing->cpu_us);
    close_workers();
}

static bool
has_pages(void)
{
    struct stat facts;
    assert_int_equal(fstat(pool->slots[0].shared, &facts), 0);
    return facts.st_blocks > 0;
}

/* What an order used is what was asked and what was answered. */
static void
pages_of_large_orders_go_back(void **state)
{
    char digits[16];
    (void)state;
    open_workers(1, REQUEST, LARGE + 1);
    for (int over = 0; over < 2; over++) {
        const int digits_length = snprintf(digits, sizeof digits, "%d", LARGE - 7 + over);
        assert_int_equal(digits_length, 7);
        assert_int_equal(ask(GROW, slice_string(digits))->status, STATUS_OK);
        assert_int_equal(has_pages(), over == 0);
    }
    assert_int_equal(place_of(ask(PLACE, SLICE("x"))) % 2, 0); /* it can be used as before */
    close_workers();
}

/* Of its parent's files a worker has none: the three standard ones lead nowhere, and its socket. */
static void
a_worker_has_no_descriptors_of_others(void **state)
{
    int pipes[2][2];
    unsigned open = 0;
    (void)state;
    if (!sandbox_is_complete()) {
        print_message("skipped: a sanitizer may have descriptors of its own\n");
        skip();
    }
    assert_int_equal(pipe(pipes[0]), 0);
    open_workers(1, REQUEST, REPLY);
    assert_int_equal(pipe(pipes[1]), 0);
    const struct taken *taken = ask(OPEN, SLICE("x"));
    assert_int_equal(taken->reply.length, sizeof open);
    memcpy(&open, taken->reply.data, sizeof open);
    assert_int_equal(open, STDERR_FILENO + 2);
    close_workers();
    for (size_t i = 0; i < 2; i++) {
        close(pipes[i][0]);
        close(pipes[i][1]);
    }
}

/* ---- the fork server ---- */

static pid_t
fork_server_process(void)
{
    pid_t process_id;
    const struct taken *taken = ask(PLACE, SLICE("x"));
    memcpy(&process_id, taken->reply.data + sizeof(size_t), sizeof process_id);
    return process_id;
}

/* A caller that waits hears of it, also behind another's request, and is not answered afterwards.
 */
static void
a_dead_fork_server_is_told(void **state)
{
    (void)state;
    for (unsigned before = 0; before < 2; before++) {
        struct buf reply;
        struct reason why = {""};
        const struct slice request = SLICE("x");
        buf_init(&reply, REPLY);
        (void)buf_append_string(&reply, "kept");
        open_workers(1, REQUEST, REPLY);
        const pid_t process_id = fork_server_process();
        if (before > 0) {
            (void)submit(SLEEP, request);
        }
        assert_int_equal(kill(process_id, SIGKILL), 0);
        assert_int_equal(worker_call(pool, SANDBOX_PARSER, SLEEP, &request, 1, &reply, NULL, &why),
                         STATUS_SYSTEM);
        assert_string_equal(why.text, "the process that makes workers is gone");
        assert_int_equal(worker_pool_waiting(pool), 1 + before);
        worker_pool_close(pool);
        pool = NULL;
        assert_true(slice_is(buf_slice(&reply), "kept"));
        for (size_t i = 1; i < submitted; i++) {
            check(&answers[i], STATUS_CANCELLED, false, "the workers were stopped");
        }
        close_workers();
        buf_release(&reply);
    }
}

/* What is asked of it that it cannot do it leaves; signals that end others of the terminal's group
 * do not end it. */
static void
a_fork_server_goes_on(void **state)
{
    static const struct worker_message none[] = {
        {.kind = WORKER_SPAWN, .slot = 1}, /* without descriptors */
        {.kind = WORKER_KILL, .slot = 1},  /* which is nobody */
        {.kind = WORKER_KILL, .slot = UINT32_MAX},
        {.kind = WORKER_ENDED},
        {.kind = UINT32_MAX}};
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    const char code = 7;
    (void)state;
    open_workers(1, REQUEST, REPLY);
    const pid_t process_id = fork_server_process();
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        assert_int_equal(send(fork_server_control(fork_server), &none[i], sizeof none[i], 0),
                         sizeof none[i]);
    }
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        assert_int_equal(kill(process_id, signals[i]), 0);
    }
    check(ask(EXIT, slice_of(&code, 1)), STATUS_SYSTEM, true, "the worker ended with code 7");
    assert_int_equal(fork_server_process(), process_id);
    close_workers();
}

/* No worker is forked that would have neither a socket nor memory. */
static void
a_worker_without_descriptors_is_not_forked(void **state)
{
    const struct worker_message asked[] = {{.kind = WORKER_SPAWN}, {.kind = WORKER_CONFIGURE}};
    struct worker_message told;
    (void)state;
    fork_server = fork_server_start(&orders_program);
    const int control = fork_server_control(fork_server);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(send(control, &asked[i], sizeof asked[i], 0), sizeof asked[i]);
    }
    assert_int_equal(recv(control, &told, sizeof told, 0), sizeof told);
    assert_int_equal(told.kind, WORKER_READY); /* to the second */
    fork_server_close(fork_server);
}

static void
a_worker_without_its_cage_ends_the_pool(void **state)
{
    const char code = EXIT_MISUSE;
    struct reason why = {""};
    (void)state;
    open_workers(1, REQUEST, REPLY);
    const struct taken *taken = submit(EXIT, slice_of(&code, 1));
    enum status status = STATUS_OK;
    while (status == STATUS_OK) {
        struct pollfd wait = {.fd = worker_pool_descriptor(pool), .events = POLLIN};
        (void)poll(&wait, 1, -1);
        status = worker_pool_process(pool, &why);
    }
    assert_int_equal(status, STATUS_SYSTEM);
    assert_string_equal(why.text, "a worker could not enter its sandbox");
    assert_true(taken->done && taken->died);
    close_workers();
}

int
worker_orders_run(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orders_are_of_what_fits),
        cmocka_unit_test(orders_are_of_so_many_at_most),
        cmocka_unit_test(orders_are_of_so_many_bytes_at_most),
        cmocka_unit_test(idle_workers_share_what_waits),
        cmocka_unit_test(a_request_is_of_so_many_pieces_at_most),
        cmocka_unit_test(reports_are_checked),
        cmocka_unit_test(as_many_reports_as_requests_are_believed),
        cmocka_unit_test(reports_have_room_together),
        cmocka_unit_test(replies_that_find_no_room_come_with_the_next_order),
        cmocka_unit_test(ends_are_described),
        cmocka_unit_test(each_request_has_its_time),
        cmocka_unit_test(processor_time_is_each_requests_own),
        cmocka_unit_test(pages_of_large_orders_go_back),
        cmocka_unit_test(a_worker_has_no_descriptors_of_others),
        cmocka_unit_test(a_dead_fork_server_is_told),
        cmocka_unit_test(a_fork_server_goes_on),
        cmocka_unit_test(a_worker_without_descriptors_is_not_forked),
        cmocka_unit_test(a_worker_without_its_cage_ends_the_pool),
    };
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return cmocka_run_group_tests_name("worker_orders", tests, NULL, NULL);
}
