/* What fails between a pool, its fork server and its workers; a part of test_worker. While it is
 * told to, a function of the system below fails instead of doing something. */
#include "tests/unit/stages_sandbox/worker_pools.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stages/sandbox/landlock.h"
#include "stages/sandbox/sandbox.h"
#include "tests/unit/stages_sandbox/worker_steps.h"

enum fault {
    NOTHING,
    EPOLL_CREATE,
    TIMERFD_CREATE,
    MEMFD_CREATE,
    FTRUNCATE,
    MMAP,
    SOCKETPAIR,
    SENDMSG,
    POLL,
    RECV,
    FORK,
    WAITPID,
    GETPPID,
    RULESET
};

/* Shared by the test, its fork servers and their workers. */
static struct {
    enum fault fault;
    int calls, error; /* until it fails; what with */
    pid_t only;       /* of this process; 0: of whichever is first */
    struct worker_message forged;
    bool forges, backwards;
} * faults;

static void
fail_at(enum fault fault, int call, int error)
{
    memset(faults, 0, sizeof *faults);
    faults->fault = fault;
    faults->calls = call;
    faults->error = error;
}

void
fail_next_fork(int error)
{
    fail_at(FORK, 1, error);
}

static bool
fails(enum fault fault)
{
    if (faults == NULL || faults->fault != fault ||
        (faults->only != 0 && faults->only != getpid()) || --faults->calls != 0) {
        return false;
    }
    errno = faults->error;
    return true;
}

/* Before a function that stands in for one of the system. */
#define STAND_IN(type, name, parameters) \
    type __real_##name parameters;       \
    type __wrap_##name parameters;       \
    type __wrap_##name parameters

STAND_IN(int, epoll_create1, (int flags))
{
    return fails(EPOLL_CREATE) ? -1 : __real_epoll_create1(flags);
}

STAND_IN(int, timerfd_create, (int clock, int flags))
{
    return fails(TIMERFD_CREATE) ? -1 : __real_timerfd_create(clock, flags);
}

STAND_IN(int, memfd_create, (const char *name, unsigned flags))
{
    return fails(MEMFD_CREATE) ? -1 : __real_memfd_create(name, flags);
}

STAND_IN(int, ftruncate, (int descriptor, off_t length))
{
    return fails(FTRUNCATE) ? -1 : __real_ftruncate(descriptor, length);
}

STAND_IN(void *, mmap, (void *at, size_t size, int access, int flags, int descriptor, off_t from))
{
    return flags == MAP_SHARED && fails(MMAP)
               ? MAP_FAILED
               : __real_mmap(at, size, access, flags, descriptor, from);
}

STAND_IN(int, socketpair, (int family, int type, int protocol, int pair[2]))
{
    return fails(SOCKETPAIR) ? -1 : __real_socketpair(family, type, protocol, pair);
}

STAND_IN(ssize_t, sendmsg, (int socket, const struct msghdr *message, int flags))
{
    return fails(SENDMSG) ? -1 : __real_sendmsg(socket, message, flags);
}

STAND_IN(int, poll, (struct pollfd * wait, nfds_t n, int timeout_ms))
{
    return fails(POLL) ? -1 : __real_poll(wait, n, timeout_ms);
}

STAND_IN(ssize_t, recv, (int socket, void *bytes, size_t size, int flags))
{
    if ((flags & MSG_DONTWAIT) == 0) {
        return __real_recv(socket, bytes, size, flags);
    }
    if (faults != NULL && faults->forges) {
        faults->forges = false;
        memcpy(bytes, &faults->forged, sizeof faults->forged);
        return sizeof faults->forged;
    }
    return fails(RECV) ? -1 : __real_recv(socket, bytes, size, flags);
}

STAND_IN(int, epoll_wait, (int epoll, struct epoll_event *events, int most, int timeout_ms))
{
    const int n = __real_epoll_wait(epoll, events, most, timeout_ms);
    for (int i = 0; faults != NULL && faults->backwards && i < n / 2; i++) {
        const struct epoll_event event = events[i];
        events[i] = events[n - 1 - i];
        events[n - 1 - i] = event;
    }
    return n;
}

STAND_IN(pid_t, fork, (void))
{
    return fails(FORK) ? -1 : __real_fork();
}

STAND_IN(pid_t, waitpid, (pid_t process, int *status, int options))
{
    return fails(WAITPID) ? -1 : __real_waitpid(process, status, options);
}

STAND_IN(pid_t, getppid, (void))
{
    return fails(GETPPID) ? 1 : __real_getppid();
}

landlock_kernel *landlock_stand_in;

/* Of Landlock, in its newest version, no rules can be made. */
long __real_syscall(long number, long a, long b, long c, long d, long e, long f);
long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f);
long
__wrap_syscall(long number, long a, long b, long c, long d, long e, long f)
{
    if (number == SYS_landlock_create_ruleset && faults != NULL && faults->fault == RULESET) {
        errno = ENOMEM;
        return a == 0 ? LANDLOCK_SCOPES : -1;
    }
    if (landlock_stand_in != NULL &&
        (number == SYS_landlock_create_ruleset || number == SYS_landlock_add_rule ||
         number == SYS_landlock_restrict_self)) {
        return landlock_stand_in(number, a, b, c, d);
    }
    return __real_syscall(number, a, b, c, d, e, f);
}

/* ---- steps ---- */

static const struct worker_limits limits = {
    .workers = 1, .request = REQUEST, .reply = REPLY, .cpu_ms = LONG_MS, .wall_ms = LONG_MS};

static int
tear_down(void **state)
{
    (void)state;
    fail_at(NOTHING, 0, 0);
    return 0;
}

/* No pool, for this reason, whose system's part is that of ENOMEM. */
static void
assert_does_not_open(struct fork_server *server, const char *reason)
{
    char wanted[REASON_SIZE];
    struct reason why = {""};
    struct worker_pool *opened = NULL;
    snprintf(wanted, sizeof wanted, "%s: %s", reason, strerror(ENOMEM));
    assert_int_equal(worker_pool_open(&opened, server, &limits, SLICE("x"), &why), STATUS_SYSTEM);
    assert_null(opened);
    assert_string_equal(why.text, wanted);
}

/* How a process that starts a fork server ends. */
static int
code_of_starting(enum fault fault)
{
    int status = 0;
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        (void)!freopen("/dev/null", "w", stderr);
        fail_at(fault, 1, ENOMEM);
        fork_server_close(fork_server_start(&orders_program));
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* ---- opening ---- */

static void
a_pool_opens_whole_or_not_at_all(void **state)
{
    static const struct {
        enum fault fault;
        const char *reason;
    } cases[] = {
        {EPOLL_CREATE, "cannot watch workers"},
        {TIMERFD_CREATE, "cannot watch workers"},
        {MEMFD_CREATE, "cannot make shared memory for a worker"},
        {FTRUNCATE, "cannot make shared memory for a worker"},
        {SOCKETPAIR, "cannot make a socket pair for a worker"},
        {SENDMSG, "cannot ask for a worker process"},
    };
    struct fork_server *server = fork_server_start(&orders_program);
    struct worker_pool *opened = NULL;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fail_at(cases[i].fault, 1, ENOMEM);
        assert_does_not_open(server, cases[i].reason);
    }
    char reason[REASON_SIZE];
    fail_at(MMAP, 1, ENOMEM);
    snprintf(reason, sizeof reason, "cannot map %zu bytes for a worker",
             REQUEST + WORKER_ORDER * sizeof(struct worker_request) + REPLY + REASON_SIZE);
    assert_does_not_open(server, reason);
    fail_at(NOTHING, 0, 0);
    assert_int_equal(worker_pool_open(&opened, server, &limits, SLICE("x"), NULL), STATUS_OK);
    worker_pool_close(opened);
    fork_server_close(server);
}

static enum status
refuse_to_prepare(struct slice configuration, void **context, struct reason *why)
{
    (void)context;
    return status_fail(why, STATUS_MISUSE, "%.*s is no configuration", SLICE_PRINT(configuration));
}

static void
what_cannot_be_prepared_is_told(void **state)
{
    static const struct worker_program refuses = {.name = "test-refuses",
                                                  .prepare = refuse_to_prepare};
    struct fork_server *server = fork_server_start(&refuses);
    struct worker_pool *opened = NULL;
    struct reason why = {""};
    (void)state;
    assert_int_equal(worker_pool_open(&opened, server, &limits, SLICE("this"), &why),
                     STATUS_MISUSE);
    assert_null(opened);
    assert_string_equal(why.text, "this is no configuration");
    fork_server_close(server);
}

/* Its memory is the second that is mapped, after the pool's. */
static void
a_worker_without_memory_ends_the_pool(void **state)
{
    struct reason why = {""};
    bool died = false;
    (void)state;
    fail_at(MMAP, 2, ENOMEM);
    open_workers(1, REQUEST, REPLY);
    assert_int_equal(worker_call(pool, SANDBOX_PARSER, PLACE, NULL, 0, NULL, &died, &why),
                     STATUS_SYSTEM);
    assert_string_equal(why.text, "a worker could not enter its sandbox");
    close_workers();
}

/* ---- fork servers ---- */

static void
without_a_fork_server_a_process_ends(void **state)
{
    (void)state;
    assert_int_equal(code_of_starting(NOTHING), 0);
    assert_int_equal(code_of_starting(SOCKETPAIR), EXIT_SYSTEM);
    assert_int_equal(code_of_starting(FORK), EXIT_SYSTEM);
}

/* It is not there to be asked, or it is. */
static bool
answers_after(enum fault fault, int error)
{
    struct worker_pool *opened = NULL;
    struct reason why = {""};
    fail_at(fault, 1, error);
    struct fork_server *server = fork_server_start(&orders_program);
    const enum status status = worker_pool_open(&opened, server, &limits, SLICE("x"), &why);
    if (status != STATUS_OK) {
        assert_string_equal(why.text, "the process that makes workers does not answer");
    }
    worker_pool_close(opened);
    fork_server_close(server);
    return status == STATUS_OK;
}

static void
a_fork_server_that_cannot_wait_ends(void **state)
{
    (void)state;
    assert_true(answers_after(POLL, EINTR));
    assert_false(answers_after(POLL, ENOMEM));
}

/* It would not hear of that end otherwise, and live for ever. */
static void
a_fork_server_whose_parent_has_ended_ends(void **state)
{
    (void)state;
    assert_false(answers_after(GETPPID, 0));
}

static void
the_end_of_a_fork_server_is_waited_for(void **state)
{
    (void)state;
    struct fork_server *server = fork_server_start(&orders_program);
    fail_at(WAITPID, 1, EINTR);
    fork_server_close(server);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

/* ---- while it works ---- */

static void
a_call_that_cannot_wait_fails(void **state)
{
    struct reason why = {""};
    struct buf reply;
    char wanted[REASON_SIZE];
    (void)state;
    buf_init(&reply, REPLY);
    open_workers(1, REQUEST, REPLY);
    fail_at(POLL, 1, EINTR);
    faults->only = getpid();
    assert_int_equal(worker_call(pool, SANDBOX_PARSER, PLACE, NULL, 0, &reply, NULL, &why),
                     STATUS_OK);
    assert_true(reply.length > 0);
    fail_at(POLL, 1, ENOMEM);
    faults->only = getpid();
    snprintf(wanted, sizeof wanted, "cannot wait for a worker: %s", strerror(ENOMEM));
    assert_int_equal(worker_call(pool, SANDBOX_PARSER, PLACE, NULL, 0, NULL, NULL, &why),
                     STATUS_SYSTEM);
    assert_string_equal(why.text, wanted);
    close_workers();
    buf_release(&reply);
}

/* The fork server is asked again when it was a signal that came instead of its message. */
static void
an_interrupted_pool_goes_on(void **state)
{
    struct reason why = {""};
    (void)state;
    open_workers(1, REQUEST, REPLY);
    fail_at(RECV, 1, EINTR);
    struct pollfd wait = {.fd = worker_pool_descriptor(pool), .events = POLLIN};
    (void)poll(&wait, 1, -1); /* the worker has started */
    assert_int_equal(worker_pool_process(pool, &why), STATUS_OK);
    assert_int_equal(faults->calls, 0);
    (void)place_of(ask(PLACE, SLICE("x")));
    close_workers();
}

static void
messages_of_others_workers_are_left_alone(void **state)
{
    static const uint32_t kinds[] = {WORKER_ENDED, WORKER_STARTED, WORKER_READY};
    struct reason why = {""};
    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        open_workers(1, REQUEST, REPLY);
        faults->forged = (struct worker_message){.kind = kinds[i], .slot = 1};
        faults->forges = true;
        struct pollfd wait = {.fd = worker_pool_descriptor(pool), .events = POLLIN};
        (void)poll(&wait, 1, -1);
        assert_int_equal(worker_pool_process(pool, &why), STATUS_OK);
        assert_false(faults->forges);
        (void)place_of(ask(PLACE, SLICE("x")));
        close_workers();
    }
}

static void
wait_for_events(int n)
{
    struct epoll_event events[8];
    while (epoll_wait(worker_pool_descriptor(pool), events, 8, -1) < n) {
    }
}

/* The pool hears of the end first here, and then finds the report. */
static void
a_report_before_the_end_counts(void **state)
{
    const struct worker_message end = {.kind = WORKER_KILL, .slot = 0};
    (void)state;
    open_workers(1, REQUEST, REPLY);
    (void)ask(PLACE, SLICE("x"));
    const struct taken *taken = submit(PLACE, SLICE("y"));
    wait_for_events(1);
    assert_int_equal(send(fork_server_control(fork_server), &end, sizeof end, 0), sizeof end);
    wait_for_events(2);
    faults->backwards = true;
    process();
    (void)place_of(taken);
    assert_false(taken->died);
    assert_int_equal(shared->handled, 2);
    faults->backwards = false;
    (void)place_of(ask(PLACE, SLICE("z"))); /* of the worker that came after it */
    close_workers();
}

/* ---- cages ---- */

static void
note_last(void *context, const char *trial, bool stopped, const char *how)
{
    (void)trial;
    assert_false(stopped);
    snprintf(context, REASON_SIZE, "%s", how);
}

/* Only the first trial cannot be made. */
static void
note_first(void *context, const char *trial, bool stopped, const char *how)
{
    char *first = context;
    (void)trial, (void)stopped;
    if (first[0] == '\0') {
        note_last(context, trial, stopped, how);
    }
}

static void
a_trial_without_a_process_has_failed(void **state)
{
    char first[REASON_SIZE] = "";
    (void)state;
    if (!sandbox_is_complete()) {
        skip();
    }
    fail_at(FORK, 1, EAGAIN);
    assert_int_equal(sandbox_selftest(note_first, first), 1);
    assert_string_equal(first, "no child could be started");
}

static void
without_rules_nothing_enters_landlock(void **state)
{
    char wanted[REASON_SIZE];
    struct reason why = {""};
    (void)state;
    snprintf(wanted, sizeof wanted, "cannot make Landlock rules: %s", strerror(ENOMEM));
    fail_at(RULESET, 1, ENOMEM);
    assert_int_equal(landlock_enter(false, &why), STATUS_SYSTEM);
    assert_string_equal(why.text, wanted);
    why.text[0] = '\0';
    assert_int_equal(landlock_enter_alone(&why), STATUS_SYSTEM);
    assert_string_equal(why.text, wanted);
}

int
worker_faults_run(void)
{
#define CASE(name) cmocka_unit_test_teardown(name, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(a_pool_opens_whole_or_not_at_all),
        CASE(what_cannot_be_prepared_is_told),
        CASE(a_worker_without_memory_ends_the_pool),
        CASE(without_a_fork_server_a_process_ends),
        CASE(a_fork_server_that_cannot_wait_ends),
        CASE(a_fork_server_whose_parent_has_ended_ends),
        CASE(the_end_of_a_fork_server_is_waited_for),
        CASE(a_call_that_cannot_wait_fails),
        CASE(an_interrupted_pool_goes_on),
        CASE(messages_of_others_workers_are_left_alone),
        CASE(a_report_before_the_end_counts),
        CASE(a_trial_without_a_process_has_failed),
        CASE(without_rules_nothing_enters_landlock),
    };
    faults = mmap(NULL, sizeof *faults, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    const int failed =
        cmocka_run_group_tests_name("worker_faults", tests, NULL, NULL) + fork_requests_run();
    munmap(shared, sizeof *shared);
    munmap(faults, sizeof *faults);
    shared = NULL;
    faults = NULL;
    return failed;
}
