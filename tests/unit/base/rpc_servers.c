#include "tests/unit/base/rpc_servers.h"

#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/memory.h"

struct rpc_place rpc_place;

/* ---- the server process ---- */

/* True once in all lives of the server for each test. */
static bool
first_time(void)
{
    if (access(rpc_place.marker, F_OK) == 0) {
        return false;
    }
    FILE *marker = fopen(rpc_place.marker, "w");
    (void)fclose(marker);
    return true;
}

static void
answer_large(struct rpc_server *server, struct rpc_request *request)
{
    const size_t length = RPC_PAYLOAD_MAXIMUM + (request->payload.length > 0 ? 1 : 0);
    char *large = memory_zero(length, 1);
    rpc_reply(server, request, STATUS_OK, slice_of(large, length), NULL);
    free(large);
}

static void
answer(struct rpc_server *server, struct rpc_request *request)
{
    struct reason why;
    switch (request->verb) {
    case VERB_FAIL:
        (void)status_fail(&why, STATUS_FULL, "%.*s", SLICE_PRINT(request->payload));
        rpc_reply(server, request, STATUS_FULL, SLICE(""), &why);
        return;
    case VERB_SLOW:
        (void)usleep(300000);
        break;
    case VERB_DIE:
        if (first_time()) {
            (void)kill(getpid(), SIGKILL);
        }
        break;
    case VERB_CLIENT:
        rpc_reply(server, request, STATUS_OK, request->client, NULL);
        return;
    case VERB_LARGE:
        answer_large(server, request);
        return;
    case VERB_MUTE_ONCE:
        if (first_time()) {
            rpc_request_drop(request);
            return;
        }
        break;
    default:
        break;
    }
    rpc_reply(server, request, STATUS_OK, request->payload, NULL);
}

static _Noreturn void
serve(const char *address, const struct rpc_keys *keys)
{
    const char *const endpoints[] = {address, NULL};
    struct rpc_server *server;
    if (rpc_server_open(&server, endpoints, keys, NULL) != STATUS_OK) {
        _exit(1);
    }
    for (;;) {
        struct rpc_request request;
        struct pollfd descriptor = {.fd = rpc_server_descriptor(server), .events = POLLIN};
        (void)poll(&descriptor, 1, -1);
        while (rpc_server_receive(server, &request) == STATUS_OK) {
            answer(server, &request);
        }
    }
}

/* ---- the fork server ---- */

struct order {
    pid_t stop;        /* end this one; 0: start one */
    bool after_marker; /* serve only once the marker is there */
    bool keyed;
    char address[SCRATCH_SIZE + 48];
    char own_public[RPC_KEY_SIZE], own_secret[RPC_KEY_SIZE], admitted[RPC_KEY_SIZE];
};
static int fork_server = -1;

static _Noreturn void
serve_order(const struct order *order)
{
    const char *const admitted[] = {order->admitted, NULL};
    const struct rpc_keys keys = {
        .own_public = order->own_public, .own_secret = order->own_secret, .admitted = admitted};
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (order->after_marker) {
        while (access(rpc_place.marker, F_OK) != 0) {
            (void)usleep(1000);
        }
        (void)usleep(100000);
    }
    serve(order->address, order->keyed ? &keys : NULL);
}

/* Obeys until the test closes its end. */
static _Noreturn void
fork_server_run(int orders)
{
    struct order order;
    while (recv(orders, &order, sizeof order, 0) == sizeof order) {
        pid_t child = order.stop;
        if (child) {
            (void)kill(child, SIGKILL);
            (void)waitpid(child, NULL, 0);
        } else if ((child = fork()) == 0) {
            serve_order(&order);
        }
        (void)send(orders, &child, sizeof child, 0);
    }
    _exit(0);
}

static pid_t
order_send(const struct order *order)
{
    pid_t child = -1;
    assert_int_equal(send(fork_server, order, sizeof *order, 0), sizeof *order);
    assert_int_equal(recv(fork_server, &child, sizeof child, 0), sizeof child);
    assert_true(child > 0);
    return child;
}

pid_t
server_start(const char *address, const struct rpc_keys *keys)
{
    struct order order = {.keyed = keys != NULL};
    (void)snprintf(order.address, sizeof order.address, "%s", address);
    if (keys) {
        (void)snprintf(order.own_public, RPC_KEY_SIZE, "%s", keys->own_public);
        (void)snprintf(order.own_secret, RPC_KEY_SIZE, "%s", keys->own_secret);
        (void)snprintf(order.admitted, RPC_KEY_SIZE, "%s", keys->admitted[0]);
    }
    return order_send(&order);
}

pid_t
server_start_after_marker(void)
{
    struct order order = {.after_marker = true};
    (void)snprintf(order.address, sizeof order.address, "%s", rpc_place.endpoint);
    return order_send(&order);
}

void
server_stop(pid_t server)
{
    (void)order_send(&(struct order){.stop = server});
}

/* ---- set up ---- */

int
rpc_place_make(void **state)
{
    (void)state;
    if (!scratch_folder(rpc_place.folder, "test_rpc")) {
        return -1;
    }
    (void)snprintf(rpc_place.socket, sizeof rpc_place.socket, "%s/socket", rpc_place.folder);
    (void)snprintf(rpc_place.marker, sizeof rpc_place.marker, "%s/marker", rpc_place.folder);
    (void)snprintf(rpc_place.endpoint, sizeof rpc_place.endpoint, "ipc://%s", rpc_place.socket);
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
        return -1;
    }
    const pid_t child = fork();
    if (child == 0) {
        (void)close(ends[0]);
        fork_server_run(ends[1]);
    }
    (void)close(ends[1]);
    fork_server = ends[0];
    return child > 0 ? 0 : -1;
}

int
rpc_place_remove(void **state)
{
    (void)state;
    (void)close(fork_server);
    (void)wait(NULL);
    (void)unlink(rpc_place.socket);
    return rmdir(rpc_place.folder);
}

int
rpc_marker_remove(void **state)
{
    (void)state;
    (void)unlink(rpc_place.marker);
    return 0;
}
