/* The loop of quadrille-metastore, and how it begins and ends: store, sockets, service, signals and
 * poll are stood in for, and tell of each call by a letter of a trace. */
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/signalfd.h>

#include <cmocka.h>

#include "base/system/log.h"
#include "metastore/archive_keep.h"
#include "metastore/metastore_daemon.h"
#include "metastore/metastore_service.h"
#include "queue/cluster/daemon_main.h"

enum { TRACE_BYTES = 200, SERVER = 71, SIGNALS = 72, READY = 73, WAIT_MS = 1234 };

/* What a call of poll tells; the loop ends with the list. */
struct polled {
    int result, error;
    short server, signals; /* revents */
};

static struct {
    char trace[TRACE_BYTES];
    char fails; /* the letter whose call fails */
    int skip;   /* after so many that do well */
    enum status status;
    bool more; /* the service has more to do */
    const struct polled *polled;
} stands_in;

static struct meta_store *const store = (struct meta_store *)&stands_in.trace[0];
static struct rpc_server *const server = (struct rpc_server *)&stands_in.trace[1];
static struct meta_service *const service = (struct meta_service *)&stands_in.trace[2];
static struct archive_keep *const keep = (struct archive_keep *)&stands_in.trace[3];

static const char *const endpoints[] = {"ipc:///the/socket", NULL};
static const struct rpc_keys *const keys = (const struct rpc_keys *)&stands_in.trace[4];
static struct meta_daemon_options options;

static bool
fails(char call)
{
    const size_t length = strlen(stands_in.trace);
    assert_true(length + 1 < TRACE_BYTES);
    stands_in.trace[length] = call;
    return call == stands_in.fails && stands_in.skip-- == 0;
}

static enum status
note(char call, struct reason *why)
{
    return fails(call) ? status_fail(why, stands_in.status, "call %c failed", call) : STATUS_OK;
}

/* ---- what is opened, and closed ---- */

enum status __wrap_meta_store_open(struct meta_store **opened,
                                   const struct meta_store_options *given, struct reason *why);
void __wrap_meta_store_close(struct meta_store *closed);
uint64_t __wrap_meta_store_epoch(const struct meta_store *asked);
int __wrap_sigprocmask(int how, const sigset_t *set, sigset_t *before);
int __wrap_signalfd(int descriptor, const sigset_t *set, int flags);
void __wrap_file_close(int descriptor);
enum status __wrap_rpc_server_open(struct rpc_server **opened, const char *const *given,
                                   const struct rpc_keys *given_keys, struct reason *why);
void __wrap_rpc_server_close(struct rpc_server *closed);
int __wrap_rpc_server_descriptor(struct rpc_server *asked);
enum status __wrap_meta_service_open(struct meta_service **opened, struct meta_store *of_store,
                                     struct rpc_server *of_server, struct reason *why);
void __wrap_meta_service_free(struct meta_service *freed);
struct archive_keep *__wrap_archive_keep_new(const char *folder,
                                             const struct warc_writer_options *given);
void __wrap_archive_keep_free(struct archive_keep *freed);
void __wrap_meta_service_serve_archive(struct meta_service *serving, const char *folder,
                                       struct archive_keep *kept);
void __wrap_daemon_tell_ready(int descriptor);
enum status __wrap_meta_service_turn(struct meta_service *turned, bool *more, struct reason *why);
enum status __wrap_meta_store_tick(struct meta_store *ticked, int *wait_ms, struct reason *why);
int __wrap_poll(struct pollfd *polls, nfds_t count, int timeout);

enum status
__wrap_meta_store_open(struct meta_store **opened, const struct meta_store_options *given,
                       struct reason *why)
{
    assert_ptr_equal(given, &options.store);
    const enum status status = note('s', why);
    *opened = status == STATUS_OK ? store : NULL;
    return status;
}

void
__wrap_meta_store_close(struct meta_store *closed)
{
    if (closed != NULL) {
        assert_ptr_equal(closed, store);
        (void)fails('S');
    }
}

uint64_t
__wrap_meta_store_epoch(const struct meta_store *asked)
{
    assert_ptr_equal(asked, store);
    return 3;
}

static void
assert_both_signals(const sigset_t *set)
{
    for (int signal = 1; signal < 32; signal++) {
        assert_int_equal(sigismember(set, signal), signal == SIGTERM || signal == SIGINT);
    }
}

int
__wrap_sigprocmask(int how, const sigset_t *set, sigset_t *before)
{
    assert_int_equal(how, SIG_BLOCK);
    assert_both_signals(set);
    assert_null(before);
    errno = EPERM;
    return fails('m') ? -1 : 0;
}

int
__wrap_signalfd(int descriptor, const sigset_t *set, int flags)
{
    assert_int_equal(descriptor, -1);
    assert_both_signals(set);
    assert_int_equal(flags, SFD_CLOEXEC | SFD_NONBLOCK);
    errno = EPERM;
    return fails('d') ? -1 : SIGNALS;
}

void
__wrap_file_close(int descriptor)
{
    if (descriptor >= 0) {
        assert_int_equal(descriptor, SIGNALS);
        (void)fails('D');
    }
}

enum status
__wrap_rpc_server_open(struct rpc_server **opened, const char *const *given,
                       const struct rpc_keys *given_keys, struct reason *why)
{
    assert_ptr_equal(given, endpoints);
    assert_ptr_equal(given_keys, keys);
    const enum status status = note('r', why);
    *opened = status == STATUS_OK ? server : NULL;
    return status;
}

void
__wrap_rpc_server_close(struct rpc_server *closed)
{
    if (closed != NULL) {
        assert_ptr_equal(closed, server);
        (void)fails('R');
    }
}

int
__wrap_rpc_server_descriptor(struct rpc_server *asked)
{
    assert_ptr_equal(asked, server);
    return SERVER;
}

enum status
__wrap_meta_service_open(struct meta_service **opened, struct meta_store *of_store,
                         struct rpc_server *of_server, struct reason *why)
{
    assert_ptr_equal(of_store, store);
    assert_ptr_equal(of_server, server);
    const enum status status = note('v', why);
    *opened = status == STATUS_OK ? service : NULL;
    return status;
}

void
__wrap_meta_service_free(struct meta_service *freed)
{
    if (freed != NULL) {
        assert_ptr_equal(freed, service);
        (void)fails('V');
    }
}

struct archive_keep *
__wrap_archive_keep_new(const char *folder, const struct warc_writer_options *given)
{
    assert_string_equal(folder, "/the/archive");
    assert_ptr_equal(given, &options.keep);
    (void)fails('k');
    return keep;
}

void
__wrap_archive_keep_free(struct archive_keep *freed)
{
    if (freed != NULL) {
        assert_ptr_equal(freed, keep);
        (void)fails('K');
    }
}

void
__wrap_meta_service_serve_archive(struct meta_service *serving, const char *folder,
                                  struct archive_keep *kept)
{
    assert_ptr_equal(serving, service);
    assert_string_equal(folder, "/the/archive");
    assert_ptr_equal(kept, keep);
    (void)fails('a');
}

void
__wrap_daemon_tell_ready(int descriptor)
{
    assert_int_equal(descriptor, READY);
    (void)fails('!');
}

/* ---- the loop ---- */

enum status
__wrap_meta_service_turn(struct meta_service *turned, bool *more, struct reason *why)
{
    assert_ptr_equal(turned, service);
    *more = stands_in.more;
    return note('t', why);
}

enum status
__wrap_meta_store_tick(struct meta_store *ticked, int *wait_ms, struct reason *why)
{
    assert_ptr_equal(ticked, store);
    *wait_ms = WAIT_MS;
    return note('i', why);
}

int
__wrap_poll(struct pollfd *polls, nfds_t count, int timeout)
{
    const struct polled *polled = stands_in.polled++;
    assert_int_equal(count, 2);
    assert_int_equal(polls[0].fd, SERVER);
    assert_int_equal(polls[0].events, POLLIN);
    assert_int_equal(polls[1].fd, SIGNALS);
    assert_int_equal(polls[1].events, POLLIN);
    assert_int_equal(timeout, stands_in.more ? 0 : WAIT_MS);
    (void)fails('p');
    errno = polled->error;
    if (polled->result >= 0) {
        polls[0].revents = polled->server;
        polls[1].revents = polled->signals;
    }
    return polled->result;
}

static const struct polled signalled[] = {{1, 0, 0, POLLIN}};

static int
begin(void **state)
{
    (void)state;
    memset(&stands_in, 0, sizeof stands_in);
    stands_in.polled = signalled;
    options = (struct meta_daemon_options){
        .endpoints = endpoints, .keys = keys, .archive = "/the/archive", .ready_descriptor = READY};
    return 0;
}

static void
runs(enum status expected, const char *text, const char *trace)
{
    struct reason why = {""};
    assert_int_equal(meta_daemon_run(&options, &why), expected);
    assert_int_equal(strncmp(why.text, text, strlen(text)), 0);
    assert_string_equal(stands_in.trace, trace);
}

/* Signals are as they were while the store waits for its lock, and who starts the daemon is told
 * when requests are taken, not before. */
static void
it_begins_and_ends_in_order(void **state)
{
    (void)state;
    runs(STATUS_OK, "", "smdrvka!tipVKRSD");
}

/* What was opened before the failure is closed, and nothing else is touched. */
static void
what_cannot_be_opened_ends_it(void **state)
{
    static const struct {
        char fails;
        enum status status; /* SYSTEM where the system itself fails */
        const char *text, *trace;
    } cases[] = {
        {'s', STATUS_DENIED, "call s failed", "s"},
        {'m', STATUS_SYSTEM, "cannot take signals", "smS"},
        {'d', STATUS_SYSTEM, "cannot take signals", "smdS"},
        {'r', STATUS_DENIED, "call r failed", "smdrSD"},
        {'v', STATUS_CORRUPT, "call v failed", "smdrvRSD"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        (void)begin(state);
        stands_in.fails = cases[i].fails;
        stands_in.status = cases[i].status;
        runs(cases[i].status, cases[i].text, cases[i].trace);
    }
}

/* A store that is broken, or due work of it that fails, ends the loop with its reason; all that
 * stands is closed. */
static void
what_fails_in_the_loop_ends_it(void **state)
{
    static const struct polled again[] = {{1, 0, POLLIN, 0}, {1, 0, POLLIN, 0}};
    static const struct {
        char fails;
        int skip;
        const char *trace;
    } cases[] = {{'t', 0, "smdrvka!tVKRSD"},
                 {'i', 0, "smdrvka!tiVKRSD"},
                 {'t', 1, "smdrvka!tiptVKRSD"},
                 {'i', 2, "smdrvka!tiptiptiVKRSD"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char text[] = {'c', 'a', 'l', 'l', ' ', cases[i].fails, '\0'};
        (void)begin(state);
        stands_in.polled = again;
        stands_in.fails = cases[i].fails;
        stands_in.skip = cases[i].skip;
        stands_in.status = STATUS_FULL;
        runs(STATUS_FULL, text, cases[i].trace);
    }
}

static void
it_goes_on_until_it_is_signalled(void **state)
{
    static const struct polled polled[] = {
        {1, 0, POLLIN, 0},  {0, 0, 0, 0},      {-1, EINTR, 0, 0},     {1, EBADF, POLLIN, 0},
        {1, 0, 0, POLLOUT}, {-1, EINTR, 0, 0}, {2, 0, POLLIN, POLLIN}};
    for (int more = 0; more < 2; more++) {
        (void)begin(state);
        stands_in.more = more != 0; /* then it looks for more requests without a wait */
        stands_in.polled = polled;
        runs(STATUS_OK, "", "smdrvka!tiptiptiptiptiptiptipVKRSD");
    }
}

static void
a_poll_that_fails_ends_it(void **state)
{
    static const struct polled polled[] = {{0, EINTR, 0, 0}, {-1, EBADF, 0, 0}};
    (void)state;
    stands_in.polled = polled;
    runs(STATUS_SYSTEM, "cannot poll", "smdrvka!tiptipVKRSD");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(it_begins_and_ends_in_order, begin),
        cmocka_unit_test_setup(what_cannot_be_opened_ends_it, begin),
        cmocka_unit_test_setup(what_fails_in_the_loop_ends_it, begin),
        cmocka_unit_test_setup(it_goes_on_until_it_is_signalled, begin),
        cmocka_unit_test_setup(a_poll_that_fails_ends_it, begin),
    };
    log_open("test_metastore_daemon", LOG_LEVEL_ERROR, false);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
