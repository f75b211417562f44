#include "tests/unit/stages_sandbox/worker_steps.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

struct shared *shared;
static const char *area; /* a worker's memory, known by its first request */

static void
say(struct slice bytes)
{
    for (int i = 3; i < DESCRIPTORS; i++) { /* it has no other descriptor that is a socket */
        (void)!send(i, bytes.at, bytes.length, MSG_NOSIGNAL);
    }
}

static unsigned
open_descriptors(void)
{
    unsigned open = 0;
    for (int i = 0; i < DESCRIPTORS; i++) {
        open += lseek(i, 0, SEEK_CUR) >= 0 || errno != EBADF;
    }
    return open;
}

static enum status
prepare_orders(struct slice configuration, void **context, struct reason *why)
{
    static pid_t process_id;
    (void)configuration, (void)why;
    process_id = getpid();
    *context = &process_id;
    return STATUS_OK;
}

static enum status
handle_order(void *context, uint8_t verb, struct slice request, struct buf *reply,
             struct reason *why)
{
    (void)why;
    shared->handled++;
    area = area == NULL ? request.at : area;
    const size_t place = (size_t)(request.at - area);
    switch ((enum verb)verb) {
    case PLACE:
        (void)buf_append(reply, &place, sizeof place);
        return buf_append(reply, context, sizeof(pid_t));
    case EXIT:
        _exit(request.at[0]);
    case SAY:
        say(request);
        poll(NULL, 0, -1);
        break;
    case SAY_MORE:
        say(request);
        break;
    case SLEEP:
        poll(NULL, 0, -1);
        break;
    case OPEN:
        (void)buf_append(reply, &(unsigned){open_descriptors()}, sizeof(unsigned));
        break;
    case GROW: {
        char digits[16];
        snprintf(digits, sizeof digits, "%.*s", SLICE_PRINT(request));
        const size_t length = strtoul(digits, NULL, 10);
        memset(buf_reserve(reply, length), 'x', length);
        buf_commit(reply, length);
        break;
    }
    case COMPUTE:
        for (const clock_t end = clock() + COMPUTE_MS * (CLOCKS_PER_SEC / 1000); clock() < end;) {
        }
        break;
    case DIE:
        raise(SIGUSR1);
        break;
    }
    return STATUS_OK;
}

const struct worker_program orders_program = {
    .name = "test-orders", .prepare = prepare_orders, .handle = handle_order};

/* ---- in the test ---- */

struct fork_server *fork_server;
struct worker_pool *pool;
struct taken answers[ANSWERS];
size_t submitted;

void
take(void *context, const struct worker_answer *answer)
{
    struct taken *taken = context;
    assert_false(taken->done);
    taken->done = true;
    taken->status = answer->status;
    taken->died = answer->died;
    taken->why = *answer->why;
    taken->cpu_us = answer->cpu_us;
    (void)buf_append_slice(&taken->reply, answer->reply);
}

void
open_workers(unsigned workers, size_t request, size_t reply)
{
    const struct worker_limits limits = {.workers = workers,
                                         .request = request,
                                         .reply = reply,
                                         .cpu_ms = LONG_MS,
                                         .wall_ms = LONG_MS};
    struct reason why = {""};
    shared->handled = 0;
    submitted = 0;
    memset(answers, 0, sizeof answers);
    fork_server = fork_server_start(&orders_program);
    if (worker_pool_open(&pool, fork_server, &limits, SLICE("x"), &why) != STATUS_OK) {
        fail_msg("%s", why.text);
    }
}

void
close_workers(void)
{
    worker_pool_close(pool);
    fork_server_close(fork_server);
    for (size_t i = 0; i < submitted; i++) {
        buf_release(&answers[i].reply);
    }
}

struct taken *
submit(enum verb verb, struct slice request)
{
    assert_true(submitted < ANSWERS);
    struct taken *taken = &answers[submitted++];
    buf_init(&taken->reply, 2 * LARGE);
    worker_submit(pool, SANDBOX_PARSER, (uint8_t)verb, &request, 1, take, taken);
    return taken;
}

void
process(void)
{
    struct pollfd wait = {.fd = worker_pool_descriptor(pool), .events = POLLIN};
    struct reason why = {""};
    (void)poll(&wait, 1, -1);
    if (worker_pool_process(pool, &why) != STATUS_OK) {
        fail_msg("%s", why.text);
    }
}

void
wait_for_all(void)
{
    while (worker_pool_waiting(pool) > 0) {
        process();
    }
}

struct taken *
ask(enum verb verb, struct slice request)
{
    struct taken *taken = submit(verb, request);
    wait_for_all();
    return taken;
}

size_t
place_of(const struct taken *taken)
{
    size_t place;
    assert_int_equal(taken->status, STATUS_OK);
    assert_int_equal(taken->reply.length, sizeof place + sizeof(pid_t));
    memcpy(&place, taken->reply.data, sizeof place);
    return place;
}

void
check(const struct taken *taken, enum status status, bool died, const char *why)
{
    assert_true(taken->done);
    assert_string_equal(taken->why.text, why);
    assert_int_equal(taken->status, status);
    assert_int_equal(taken->died, died);
}
