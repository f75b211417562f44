/* What a fork server does of what it is asked, message by message
 * (stages/sandbox/fork_server.c); a part of test_worker. */
#include "tests/unit/stages_sandbox/worker_pools.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/unit/stages_sandbox/worker_steps.h"

enum { LAST_SLOT = 1023 }; /* of a fork server */

/* Asks for a worker of that slot, with so many descriptors of both. */
static void
ask_for_worker(int control, uint32_t slot, uint32_t policy, const int descriptors[2], size_t count)
{
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(2 * sizeof(int))];
    } ancillary = {.bytes = {0}};
    struct worker_message message = {
        .kind = WORKER_SPAWN, .slot = slot, .policy = policy, .request = REQUEST, .reply = REPLY};
    struct iovec piece = {&message, sizeof message};
    struct msghdr envelope = {.msg_iov = &piece, .msg_iovlen = 1};
    if (count > 0) {
        envelope.msg_control = &ancillary;
        envelope.msg_controllen = CMSG_SPACE(count * sizeof(int));
        ancillary.header.cmsg_level = SOL_SOCKET;
        ancillary.header.cmsg_type = SCM_RIGHTS;
        ancillary.header.cmsg_len = CMSG_LEN(count * sizeof(int));
        memcpy(CMSG_DATA(&ancillary.header), descriptors, count * sizeof(int));
    }
    assert_int_equal(sendmsg(control, &envelope, 0), sizeof message);
}

static void
expect_message(int control, enum worker_message_kind kind, uint32_t slot, int wait_status,
               struct worker_message *told)
{
    assert_int_equal(recv(control, told, sizeof *told, 0), sizeof *told);
    assert_int_equal(told->kind, kind);
    assert_int_equal(told->slot, slot);
    if (kind == WORKER_ENDED) {
        assert_int_equal(told->wait_status, wait_status);
    }
}

/* Starts a worker; the pool's end of its socket. The memory is the caller's. */
static int
start_worker_with(int control, uint32_t slot, uint32_t policy, int *memory,
                  struct worker_message *told)
{
    int pair[2];
    *memory = memfd_create("test", MFD_CLOEXEC);
    assert_true(*memory >= 0);
    assert_int_equal(ftruncate(*memory, REQUEST + REPLY + REASON_SIZE), 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
    ask_for_worker(control, slot, policy, (int[]){pair[1], *memory}, 2);
    close(pair[1]);
    expect_message(control, WORKER_STARTED, slot, 0, told);
    assert_true(told->process > 0);
    return pair[0];
}

static int
start_worker(int control, uint32_t slot, uint32_t policy, struct worker_message *told)
{
    int memory = -1;
    const int worker = start_worker_with(control, slot, policy, &memory, told);
    close(memory);
    return worker;
}

/* The fork server has done all that was asked before, and told of nothing else. */
static void
expect_ready(int control)
{
    const struct worker_message configure = {.kind = WORKER_CONFIGURE};
    struct worker_message told;
    assert_int_equal(send(control, &configure, sizeof configure, 0), sizeof configure);
    expect_message(control, WORKER_READY, 0, 0, &told);
    assert_int_equal(told.status, STATUS_OK);
}

/* Another process can be had later, and nothing of what was sent is kept open. */
static void
a_worker_that_cannot_be_forked_has_ended(void **state)
{
    struct worker_message told;
    int sockets[2], others[2];
    char byte;
    (void)state;
    struct fork_server *server = fork_server_start(&orders_program);
    const int control = fork_server_control(server);
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets), 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, others), 0);
    fail_next_fork(EAGAIN);
    ask_for_worker(control, 3, SANDBOX_PARSER, (int[]){sockets[1], others[1]}, 2);
    expect_message(control, WORKER_ENDED, 3, SIGKILL, &told);
    close(sockets[1]);
    close(others[1]);
    assert_int_equal(recv(sockets[0], &byte, 1, 0), 0);
    assert_int_equal(recv(others[0], &byte, 1, 0), 0);
    close(sockets[0]);
    close(others[0]);
    const int worker = start_worker(control, 3, SANDBOX_PARSER, &told);
    assert_int_equal(kill(told.process, SIGUSR1), 0);
    expect_message(control, WORKER_ENDED, 3, SIGUSR1, &told);
    assert_int_equal(recv(worker, &byte, 1, 0), 0);
    close(worker);
    expect_ready(control);
    fork_server_close(server);
}

/* A slot that it does not have, or too few descriptors, also when some came before. */
static void
only_whole_requests_for_workers_are_done(void **state)
{
    struct worker_message told;
    const struct worker_message end = {.kind = WORKER_KILL, .slot = LAST_SLOT},
                                beyond = {.kind = WORKER_KILL, .slot = LAST_SLOT + 1};
    (void)state;
    struct fork_server *server = fork_server_start(&orders_program);
    const int control = fork_server_control(server);
    const int worker = start_worker(control, LAST_SLOT, SANDBOX_PARSER, &told);
    const int copies[2] = {worker, worker};
    for (size_t count = 0; count < 2; count++) {
        ask_for_worker(control, 1, SANDBOX_PARSER, copies, count);
    }
    ask_for_worker(control, LAST_SLOT + 1, SANDBOX_PARSER, copies, 2);
    assert_int_equal(send(control, &beyond, sizeof beyond, 0), sizeof beyond);
    expect_ready(control);
    assert_int_equal(send(control, &end, sizeof end, 0), sizeof end);
    expect_message(control, WORKER_ENDED, LAST_SLOT, SIGKILL, &told);
    close(worker);
    fork_server_close(server);
}

/* When a worker ends that starts programs, those it leaves behind end, and other workers do not. */
static void
workers_outlive_one_that_starts_programs(void **state)
{
    static const uint32_t others[] = {0, 7, LAST_SLOT};
    enum { OTHERS = sizeof others / sizeof *others };
    struct worker_message told;
    int sockets[OTHERS];
    (void)state;
    struct fork_server *server = fork_server_start(&orders_program);
    const int control = fork_server_control(server);
    const int first = start_worker(control, 5, SANDBOX_PROGRAM, &told);
    for (size_t i = 0; i < OTHERS; i++) {
        sockets[i] = start_worker(control, others[i], SANDBOX_PARSER, &told);
    }
    close(first);
    expect_message(control, WORKER_ENDED, 5, 0, &told);
    expect_ready(control);
    for (size_t i = 0; i < OTHERS; i++) {
        close(sockets[i]);
        expect_message(control, WORKER_ENDED, others[i], 0, &told);
    }
    fork_server_close(server);
}

/* ---- what a worker leaves behind ---- */

/* Starts a process that stays when the worker ends, in the worker's group or in its own. The alarm
 * ends it where nobody else does. */
static enum status
leave_behind(void *context, uint8_t verb, struct slice request, struct buf *reply,
             struct reason *why)
{
    (void)context, (void)request, (void)reply, (void)why;
    const pid_t process = fork();
    if (process == 0) {
        alarm(2 * LONG_MS / 1000);
        for (;;) {
            pause();
        }
    }
    return process > 0 && (verb == 0 || setpgid(process, process) == 0) ? STATUS_OK : STATUS_SYSTEM;
}

static const struct worker_program leaving = {.name = "test-leaving", .handle = leave_behind};

/* What is left behind has the worker's end of the socket, too, until it ends. */
static void
what_a_worker_leaves_behind_ends(void **state)
{
    const struct worker_order order = {.count = 1};
    const struct worker_message end = {.kind = WORKER_KILL, .slot = 0};
    (void)state;
    for (uint64_t verb = 0; verb < 2; verb++) {
        const struct worker_request request = {.verb = verb};
        struct worker_message told;
        struct worker_report report;
        char byte;
        struct fork_server *server = fork_server_start(&leaving);
        const int control = fork_server_control(server);
        int memory = -1;
        const int worker = start_worker_with(control, 0, SANDBOX_PROGRAM, &memory, &told);
        assert_int_equal(pwrite(memory, &request, sizeof request, 0), sizeof request);
        assert_int_equal(send(worker, &order, sizeof order, 0), sizeof order);
        assert_int_equal(recv(worker, &report, sizeof report, 0), sizeof report);
        assert_int_equal(report.status, STATUS_OK);
        assert_int_equal(send(control, &end, sizeof end, 0), sizeof end);
        expect_message(control, WORKER_ENDED, 0, SIGKILL, &told);
        struct pollfd wait = {.fd = worker, .events = POLLIN};
        assert_int_equal(poll(&wait, 1, LONG_MS), 1);
        assert_int_equal(recv(worker, &byte, 1, 0), 0);
        close(worker);
        close(memory);
        fork_server_close(server);
    }
}

int
fork_requests_run(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_worker_that_cannot_be_forked_has_ended),
        cmocka_unit_test(only_whole_requests_for_workers_are_done),
        cmocka_unit_test(workers_outlive_one_that_starts_programs),
        cmocka_unit_test(what_a_worker_leaves_behind_ends),
    };
    return cmocka_run_group_tests_name("fork_requests", tests, NULL, NULL);
}
