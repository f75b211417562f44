/* A publisher and who listens to it: a plain ZeroMQ socket. */
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <zmq.h>

#include "base/rpc/rpc.h"
#include "tests/unit/base/rpc_servers.h"
#include "tests/unit/scratch.h"

enum { PATIENCE_MS = 60000, PREFIXES = 2 };

/* Until it is wanted, or not. */
static void
wait_until(struct rpc_publisher *publisher, bool wanted)
{
    struct pollfd readable = {.fd = rpc_publisher_descriptor(publisher), .events = POLLIN};
    for (int i = 0; rpc_publisher_wanted(publisher) != wanted; i++) {
        assert_true(i < 100);
        assert_int_equal(poll(&readable, 1, PATIENCE_MS), 1);
    }
}

static void
listen_to(void *socket, int option, const char *prefix)
{
    assert_int_equal(zmq_setsockopt(socket, option, prefix, strlen(prefix)), 0);
}

static void
hears(void *socket, const char *text)
{
    char said[64];
    const int n = zmq_recv(socket, said, sizeof said, 0);
    assert_int_equal(n, (int)strlen(text));
    assert_memory_equal(said, text, strlen(text));
}

/* It is wanted from the first subscription until the last is withdrawn, and each is sent what
 * begins as it asked. */
static void
a_publisher_is_wanted_while_somebody_listens(void **state)
{
    static const char *const prefixes[PREFIXES] = {"a", "bb"};
    char folder[SCRATCH_SIZE], endpoint[SCRATCH_SIZE + 16];
    const char *const endpoints[] = {endpoint, NULL};
    const struct slice frames[] = {SLICE("abc"), SLICE("second")};
    const int patience = PATIENCE_MS;
    struct rpc_publisher *publisher;
    struct reason why;
    (void)state;
    assert_true(scratch_folder(folder, "test_rpc"));
    (void)snprintf(endpoint, sizeof endpoint, "ipc://%s/socket", folder);
    assert_int_equal(rpc_publisher_open(&publisher, endpoints, NULL, &why), STATUS_OK);
    assert_false(rpc_publisher_wanted(publisher));
    rpc_publish(publisher, frames, 2);
    void *context = zmq_ctx_new();
    void *socket = zmq_socket(context, ZMQ_SUB);
    assert_int_equal(zmq_setsockopt(socket, ZMQ_RCVTIMEO, &patience, sizeof patience), 0);
    assert_int_equal(zmq_connect(socket, endpoint), 0);
    for (int i = 0; i < PREFIXES; i++) {
        listen_to(socket, ZMQ_SUBSCRIBE, prefixes[i]);
    }
    wait_until(publisher, true);
    while (true) { /* both have come when what is only for the second does */
        char said[8];
        (void)rpc_publisher_wanted(publisher);
        rpc_publish(publisher, (const struct slice[]){SLICE("bbc")}, 1);
        if (zmq_recv(socket, said, sizeof said, ZMQ_DONTWAIT) == 3) {
            break;
        }
        (void)usleep(1000);
    }
    rpc_publish(publisher, (const struct slice[]){SLICE("b is for nobody")}, 1);
    rpc_publish(publisher, frames, 2);
    char said[64];
    int n;
    while ((n = zmq_recv(socket, said, sizeof said, 0)) == 3 && memcmp(said, "bbc", 3) == 0) {
    }
    assert_int_equal(n, 3);
    assert_memory_equal(said, "abc", 3);
    hears(socket, "second");
    listen_to(socket, ZMQ_UNSUBSCRIBE, prefixes[0]);
    listen_to(socket, ZMQ_UNSUBSCRIBE, prefixes[1]);
    wait_until(publisher, false);
    (void)zmq_close(socket);
    (void)zmq_ctx_term(context);
    rpc_publisher_close(publisher);
    rpc_publisher_close(NULL);
    (void)unlink(endpoint + strlen("ipc://"));
    assert_int_equal(rmdir(folder), 0);
}

int
rpc_publishers_run(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_publisher_is_wanted_while_somebody_listens),
    };
    return cmocka_run_group_tests_name("publishers", tests, NULL, NULL);
}
