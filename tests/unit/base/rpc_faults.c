/* Calls between processes when libraries and the system fail, each call once, and at which moments
 * a client sends again, looks for its service, and gives up: by a clock that the test moves. */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <unistd.h>
#include <zmq.h>

#include <cmocka.h>

#include "base/codec.h"
#include "base/memory.h"
#include "base/rpc/rpc.h"
#include "base/rpc/rpc_socket.h"
#include "base/system/clock.h"
#include "tests/unit/base/rpc_servers.h"
#include "tests/unit/moved_clock.h"
#include "tests/unit/open_descriptors.h"
#include "tests/unit/own_address.h"

enum { PATIENCE_MS = 60000, RESEND_MS = 400, FIND_MS = 250 };

/* ---- calls that fail ---- */

static int calls = -1; /* of those below, until one fails; below 0: none does */
static const char *failed;

static bool
fails(const char *name)
{
    if (calls < 0 || calls-- > 0) {
        return false;
    }
    failed = name;
    errno = ENOMEM;
    return true;
}

#define FAILING(result, name, none, parameters, arguments)    \
    result __real_##name parameters;                          \
    result __wrap_##name parameters;                          \
    result __wrap_##name parameters                           \
    {                                                         \
        return fails(#name) ? none : __real_##name arguments; \
    }

FAILING(void *, zmq_ctx_new, NULL, (void), ())
FAILING(void *, zmq_socket, NULL, (void *context, int type), (context, type))
FAILING(int, zmq_bind, -1, (void *socket, const char *address), (socket, address))
FAILING(int, zmq_connect, -1, (void *socket, const char *address), (socket, address))
FAILING(int, zmq_setsockopt, -1, (void *socket, int option, const void *value, size_t size),
        (socket, option, value, size))
FAILING(int, zmq_getsockopt, -1, (void *socket, int option, void *value, size_t *size),
        (socket, option, value, size))
FAILING(int, zmq_socket_monitor, -1, (void *socket, const char *address, int events),
        (socket, address, events))
FAILING(int, epoll_create1, -1, (int flags), (flags))
FAILING(int, epoll_ctl, -1, (int epoll, int what, int descriptor, struct epoll_event *event),
        (epoll, what, descriptor, event))
FAILING(int, eventfd, -1, (unsigned value, int flags), (value, flags))

/* ---- what there may be none of ---- */

static bool no_memory, no_random, no_keys;

int __real_zmq_msg_init_size(zmq_msg_t *frame, size_t size);
int __wrap_zmq_msg_init_size(zmq_msg_t *frame, size_t size);
ssize_t __real_getrandom(void *bytes, size_t n, unsigned flags);
ssize_t __wrap_getrandom(void *bytes, size_t n, unsigned flags);
int __real_zmq_curve_keypair(char *public, char *secret);
int __wrap_zmq_curve_keypair(char *public, char *secret);

int
__wrap_zmq_msg_init_size(zmq_msg_t *frame, size_t size)
{
    return no_memory ? -1 : __real_zmq_msg_init_size(frame, size);
}

ssize_t
__wrap_getrandom(void *bytes, size_t n, unsigned flags)
{
    return no_random ? -1 : __real_getrandom(bytes, n, flags);
}

int
__wrap_zmq_curve_keypair(char *public, char *secret)
{
    return no_keys ? -1 : __real_zmq_curve_keypair(public, secret);
}

static void
without_memory_a_frame_is_empty(void **state)
{
    zmq_msg_t frame;
    (void)state;
    no_memory = true;
    rpc_frame_of(&frame, SLICE("head"), SLICE("tail"));
    no_memory = false;
    assert_int_equal(rpc_frame_slice(&frame).length, 0);
    rpc_frames_close(&frame, 1);
}

static void
without_random_bytes_incarnations_differ_by_the_clock(void **state)
{
    (void)state;
    no_random = true;
    const uint64_t before = clock_wall_ms();
    const uint64_t first = rpc_incarnation_new();
    const uint64_t began = clock_monotonic_us();
    while (clock_monotonic_us() == began) {
    }
    const uint64_t second = rpc_incarnation_new();
    no_random = false;
    assert_in_range(first >> 16, before, clock_wall_ms());
    assert_true(first != second);
}

static void
without_curve_there_are_no_keys(void **state)
{
    char public[RPC_KEY_SIZE], secret[RPC_KEY_SIZE];
    struct reason why = {""};
    (void)state;
    no_keys = true;
    assert_int_equal(rpc_keys_make(public, secret, &why), STATUS_UNSUPPORTED);
    no_keys = false;
    assert_string_equal(why.text, "this ZeroMQ was built without CURVE");
}

static struct rpc_keys
some_keys(void)
{
    static char public[RPC_KEY_SIZE], secret[RPC_KEY_SIZE];
    assert_int_equal(rpc_keys_make(public, secret, NULL), STATUS_OK);
    return (struct rpc_keys){.server_public = public, .own_public = public, .own_secret = secret};
}

static const char *
own_endpoint(void)
{
    static char text[OWN_ADDRESS_SIZE + 8];
    char address[OWN_ADDRESS_SIZE];
    own_address(address);
    (void)snprintf(text, sizeof text, "tcp://%s", address);
    return text;
}

static enum status
open_server(struct reason *why)
{
    const struct rpc_keys keys = some_keys();
    const char *const endpoints[] = {own_endpoint(), rpc_place.endpoint, NULL};
    struct rpc_server *server = (void *)&calls;
    const enum status status = rpc_server_open(&server, endpoints, &keys, why);
    assert_int_equal(server != NULL, status == STATUS_OK);
    rpc_server_close(server);
    return status;
}

static enum status
open_publisher(struct reason *why)
{
    const char *const endpoints[] = {rpc_place.endpoint, NULL};
    struct rpc_publisher *publisher = (void *)&calls;
    const enum status status = rpc_publisher_open(&publisher, endpoints, NULL, why);
    assert_int_equal(publisher != NULL, status == STATUS_OK);
    rpc_publisher_close(publisher);
    return status;
}

static enum status
open_client(const char *endpoint, const struct rpc_keys *keys, struct reason *why)
{
    const struct rpc_client_options options = {.endpoint = endpoint, .name = "a", .keys = keys};
    struct rpc_client *client = (void *)&calls;
    const enum status status = rpc_client_open(&client, &options, why);
    assert_int_equal(client != NULL, status == STATUS_OK);
    rpc_client_close(client);
    return status;
}

static enum status
open_near_client(struct reason *why)
{
    return open_client(rpc_place.endpoint, NULL, why);
}

static enum status
open_far_client(struct reason *why)
{
    const struct rpc_keys keys = some_keys();
    return open_client(own_endpoint(), &keys, why);
}

/* Whatever fails is told, and nothing stays open. */
static void
each_call_of_an_opening_may_fail(void **state)
{
    static const struct {
        enum status (*open)(struct reason *why);
        int least; /* calls */
    } cases[] = {
        {open_server, 18}, {open_publisher, 13}, {open_near_client, 18}, {open_far_client, 22}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const size_t before = open_descriptors();
        for (int at = 0;; at++) {
            struct reason why = {""};
            calls = at;
            failed = NULL;
            const enum status status = cases[i].open(&why);
            calls = -1;
            assert_int_equal(open_descriptors(), before);
            if (status == STATUS_OK) {
                assert_true(at >= cases[i].least);
                break;
            }
            assert_non_null(failed);
            assert_int_equal(status, STATUS_SYSTEM);
            assert_non_null(strstr(why.text, "cannot "));
            assert_non_null(strstr(why.text, "Cannot allocate memory"));
        }
    }
    rpc_server_close(NULL);
    rpc_client_close(NULL);
}

/* ---- a service in this process ---- */

struct ends {
    unsigned ok, timeout, cancelled, other;
    char last[64]; /* the payload, or why not */
};

static void
ended(void *context, enum status status, struct slice payload, const struct reason *why)
{
    struct ends *ends = context;
    ends->ok += status == STATUS_OK;
    ends->timeout += status == STATUS_TIMEOUT;
    ends->cancelled += status == STATUS_CANCELLED;
    ends->other += status != STATUS_OK && status != STATUS_TIMEOUT && status != STATUS_CANCELLED;
    (void)snprintf(ends->last, sizeof ends->last, "%.*s",
                   status == STATUS_OK ? (int)payload.length : 60,
                   status == STATUS_OK ? payload.at : why->text);
}

static struct rpc_client *
client_of(const char *endpoint, const struct rpc_keys *keys)
{
    struct rpc_client *client;
    const struct rpc_client_options options = {.endpoint = endpoint,
                                               .name = "test.1",
                                               .incarnation = 4711,
                                               .resend_ms = RESEND_MS,
                                               .keys = keys};
    assert_int_equal(rpc_client_open(&client, &options, NULL), STATUS_OK);
    return client;
}

static struct rpc_server *
server_at(const char *endpoint, const struct rpc_keys *keys)
{
    const char *const endpoints[] = {endpoint, NULL};
    struct rpc_server *server;
    assert_int_equal(rpc_server_open(&server, endpoints, keys, NULL), STATUS_OK);
    return server;
}

/* The next request that comes, with the client doing its part. */
static struct rpc_request
next_request(struct rpc_server *server, struct rpc_client *client)
{
    struct rpc_request request;
    for (int i = 0; rpc_server_receive(server, &request) != STATUS_OK; i++) {
        struct pollfd descriptors[] = {{.fd = rpc_server_descriptor(server), .events = POLLIN},
                                       {.fd = rpc_client_descriptor(client), .events = POLLIN}};
        assert_true(i < 1000);
        assert_true(poll(descriptors, 2, PATIENCE_MS) > 0);
        rpc_client_process(client);
    }
    return request;
}

static void
until_ended(struct rpc_client *client, const unsigned *counter)
{
    const unsigned before = *counter;
    while (*counter == before) {
        struct pollfd descriptor = {.fd = rpc_client_descriptor(client), .events = POLLIN};
        assert_true(poll(&descriptor, 1, PATIENCE_MS) > 0);
        rpc_client_process(client);
    }
}

/* Who is who, and a failure without words has those of its status. */
static void
both_sides_know_each_other(void **state)
{
    struct ends ends = {0};
    (void)state;
    struct rpc_server *server = server_at(rpc_place.endpoint, NULL);
    struct rpc_client *client = client_of(rpc_place.endpoint, NULL);
    rpc_client_post(client, VERB_ECHO, SLICE("x"), 0, ended, &ends);
    struct rpc_request request = next_request(server, client);
    assert_int_equal(request.incarnation, 4711);
    assert_int_equal(request.id, 1);
    assert_true(slice_is(request.client, "test.1"));
    rpc_reply(server, &request, STATUS_FULL, SLICE("never sent"), NULL);
    until_ended(client, &ends.other);
    assert_string_equal(ends.last, status_text(STATUS_FULL));
    assert_int_equal(rpc_client_peer_incarnation(client), rpc_server_incarnation(server));
    rpc_client_close(client);
    rpc_server_close(server);
}

static void
answers_that_have_no_room_are_told(void **state)
{
    struct buf reply;
    struct reason why = {""};
    (void)state;
    const pid_t server = server_start(rpc_place.endpoint, NULL);
    struct rpc_client *client = client_of(rpc_place.endpoint, NULL);
    buf_init(&reply, 4);
    assert_int_equal(rpc_call(client, VERB_ECHO, SLICE("1234"), 0, &reply, &why), STATUS_OK);
    buf_reset(&reply);
    assert_int_equal(rpc_call(client, VERB_ECHO, SLICE("12345"), 0, &reply, &why), STATUS_LIMIT);
    assert_string_equal(why.text, "an answer of 5 bytes is too long");
    buf_release(&reply);
    rpc_client_close(client);
    server_stop(server);
}

/* ---- moments ---- */

/* The client has something to do in wait_ms, not a millisecond sooner, and nothing that it
 * processes meanwhile changes that moment. */
static void
is_due_in(struct rpc_client *client, int wait_ms)
{
    assert_int_equal(rpc_client_wait_ms(client), wait_ms);
    clock_move((uint64_t)wait_ms - 1);
    rpc_client_process(client);
    assert_int_equal(rpc_client_wait_ms(client), 1);
    clock_move(1);
    assert_int_equal(rpc_client_wait_ms(client), 0);
}

/* A request is sent again after so long without an answer, each time twice as long, up to sixteen
 * times. */
static void
requests_are_sent_again_ever_more_seldom(void **state)
{
    static const int waits[] = {1, 2, 4, 8, 16, 16};
    struct ends ends = {0};
    (void)state;
    clock_stop();
    struct rpc_server *server = server_at(rpc_place.endpoint, NULL);
    struct rpc_client *client = client_of(rpc_place.endpoint, NULL);
    assert_int_equal(rpc_client_wait_ms(client), -1);
    rpc_client_post(client, VERB_ECHO, SLICE("x"), 0, ended, &ends);
    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++) {
        struct rpc_request request = next_request(server, client);
        assert_int_equal(request.id, 1);
        rpc_request_drop(&request);
        is_due_in(client, waits[i] * RESEND_MS);
        rpc_client_process(client);
    }
    struct rpc_request request = next_request(server, client);
    rpc_reply(server, &request, STATUS_OK, request.payload, NULL);
    until_ended(client, &ends.ok);
    assert_int_equal(rpc_client_outstanding(client), 0);
    rpc_client_close(client);
    rpc_server_close(server);
    clock_go();
}

/* Each ends when its time is over, in their order, and the others wait on. */
static void
requests_end_when_their_time_is_over(void **state)
{
    enum { SHORT_MS = 300, LONG_MS = 900 };
    struct ends first = {0}, shorter = {0}, same = {0}, forever = {0};
    (void)state;
    clock_stop();
    struct rpc_client *client = client_of(rpc_place.endpoint, NULL); /* nobody is there */
    rpc_client_post(client, VERB_ECHO, SLICE("x"), LONG_MS, ended, &first);
    rpc_client_post(client, VERB_ECHO, SLICE("x"), SHORT_MS, ended, &shorter);
    rpc_client_post(client, VERB_ECHO, SLICE("x"), 0, ended, &forever);
    rpc_client_post(client, VERB_ECHO, SLICE("x"), SHORT_MS, ended, &same);
    is_due_in(client, SHORT_MS);
    assert_int_equal(shorter.timeout, 0);
    rpc_client_process(client);
    assert_int_equal(shorter.timeout, 1);
    assert_int_equal(same.timeout, 1);
    assert_string_equal(same.last, "no answer in time");
    assert_int_equal(first.timeout, 0);
    assert_int_equal(rpc_client_outstanding(client), 2);
    is_due_in(client, LONG_MS - SHORT_MS);
    rpc_client_process(client);
    assert_int_equal(first.timeout, 1);
    assert_int_equal(rpc_client_outstanding(client), 1);
    assert_int_equal(rpc_client_wait_ms(client), -1);
    rpc_client_post(client, VERB_ECHO, SLICE("x"), UINT32_MAX, ended, &first);
    assert_int_equal(rpc_client_wait_ms(client), INT_MAX);
    rpc_client_close(client);
    assert_int_equal(forever.cancelled, 1);
    clock_go();
}

/* ---- services that are looked for ---- */

static char published[SCRATCH_SIZE + 48];

static void
publish(const char *address)
{
    char path[SCRATCH_SIZE + 32];
    (void)snprintf(path, sizeof path, "%s/moves", rpc_place.folder);
    (void)snprintf(published, sizeof published, "at://%s:1", path);
    if (address == NULL) {
        (void)unlink(path);
        return;
    }
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    (void)fprintf(file, "%s\n", address);
    assert_int_equal(fclose(file), 0);
}

/* Its address is read with the first request, then four times a second until somebody answers;
 * where it cannot be connected to it is tried again. */
static void
services_are_looked_for_until_they_answer(void **state)
{
    char address[OWN_ADDRESS_SIZE];
    struct ends ends = {0};
    (void)state;
    clock_stop();
    publish(NULL);
    struct rpc_client *client = client_of(published, NULL);
    assert_int_equal(rpc_client_wait_ms(client), -1); /* nobody is asked anything yet */
    rpc_client_post(client, VERB_ECHO, SLICE("x"), 0, ended, &ends);
    is_due_in(client, FIND_MS);
    publish("10.0.0.1:7000"); /* of another machine, without keys */
    rpc_client_process(client);
    is_due_in(client, FIND_MS);
    own_address(address);
    publish(address);
    struct rpc_server *server = server_at(published, NULL);
    calls = 0; /* it cannot connect */
    rpc_client_process(client);
    assert_int_equal(calls, -1);
    assert_string_equal(failed, "zmq_connect");
    is_due_in(client, FIND_MS);
    rpc_client_process(client);
    assert_int_equal(rpc_client_wait_ms(client), FIND_MS); /* until it answers */
    struct rpc_request request = next_request(server, client);
    rpc_reply(server, &request, STATUS_OK, request.payload, NULL);
    until_ended(client, &ends.ok);
    clock_move(RESEND_MS); /* when it would have been sent again */
    rpc_client_process(client);
    assert_int_equal(rpc_client_wait_ms(client), -1);
    rpc_client_close(client);
    rpc_server_close(server);
    publish(NULL);
    clock_go();
}

/* ---- a look at who is to answer ---- */

static unsigned looks;

static enum status
look(void *context, struct reason *why)
{
    (void)why;
    assert_ptr_equal(context, &looks);
    looks++;
    return STATUS_OK;
}

static void
who_is_to_answer_is_looked_at_twice_a_second(void **state)
{
    enum { LOOK_MS = 500 };
    struct ends ends = {0};
    (void)state;
    clock_stop();
    looks = 0;
    rpc_client_look(look, &looks);
    struct rpc_client *client = client_of(rpc_place.endpoint, NULL); /* nobody is there */
    rpc_client_post(client, VERB_ECHO, SLICE("x"), 0, ended, &ends);
    clock_move(100);
    rpc_client_post(client, VERB_ECHO, SLICE("y"), 0, ended, &ends); /* puts it off by nothing */
    for (unsigned i = 0; i < 3; i++) {
        is_due_in(client, i == 0 ? LOOK_MS - 100 : LOOK_MS);
        assert_int_equal(looks, i);
        rpc_client_process(client);
        assert_int_equal(looks, i + 1);
    }
    rpc_client_look(NULL, NULL);
    clock_move(LOOK_MS);
    rpc_client_process(client);
    assert_int_equal(rpc_client_wait_ms(client), -1);
    assert_int_equal(looks, 3);
    rpc_client_close(client);
    assert_int_equal(ends.cancelled, 2);
    clock_go();
}

/* ---- closing ---- */

static struct rpc_client *closed;

static void
posts_more(void *context, enum status status, struct slice payload, const struct reason *why)
{
    rpc_client_post(closed, VERB_ECHO, SLICE("more"), 0, posts_more, context);
    ended(context, status, payload, why);
}

/* Who asks for more when he hears of the end is not heard. */
static void
what_is_posted_while_it_is_closed_is_dropped(void **state)
{
    struct ends ends = {0};
    (void)state;
    closed = client_of(rpc_place.endpoint, NULL);
    rpc_client_post(closed, VERB_ECHO, SLICE("x"), 0, posts_more, &ends);
    rpc_client_post(closed, VERB_ECHO, SLICE("y"), 0, posts_more, &ends);
    rpc_client_close(closed);
    assert_int_equal(ends.cancelled, 2);
    assert_string_equal(ends.last, "the connection was closed");
}

/* ---- keys ---- */

/* A publisher lets in those alone who have an admitted key, too. */
static void
publishers_admit_keys(void **state)
{
    const struct rpc_keys keys = some_keys();
    const char *const endpoints[] = {own_endpoint(), NULL};
    struct rpc_publisher *publisher;
    struct reason why = {""};
    (void)state;
    assert_int_equal(rpc_publisher_open(&publisher, endpoints, &keys, &why), STATUS_OK);
    void *context = zmq_ctx_new();
    void *socket = zmq_socket(context, ZMQ_SUB);
    assert_int_equal(rpc_socket_text(socket, ZMQ_CURVE_SERVERKEY, keys.server_public, &why), 0);
    assert_int_equal(rpc_socket_text(socket, ZMQ_CURVE_PUBLICKEY, keys.own_public, &why), 0);
    assert_int_equal(rpc_socket_text(socket, ZMQ_CURVE_SECRETKEY, keys.own_secret, &why), 0);
    assert_int_equal(zmq_setsockopt(socket, ZMQ_SUBSCRIBE, "", 0), 0);
    assert_int_equal(zmq_connect(socket, endpoints[0]), 0);
    while (!rpc_publisher_wanted(publisher)) {
        struct pollfd readable = {.fd = rpc_publisher_descriptor(publisher), .events = POLLIN};
        assert_int_equal(poll(&readable, 1, PATIENCE_MS), 1);
    }
    (void)zmq_close(socket);
    (void)zmq_ctx_term(context);
    rpc_publisher_close(publisher);
}

int
rpc_faults_run(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_call_of_an_opening_may_fail),
        cmocka_unit_test(without_memory_a_frame_is_empty),
        cmocka_unit_test(without_random_bytes_incarnations_differ_by_the_clock),
        cmocka_unit_test(without_curve_there_are_no_keys),
        cmocka_unit_test(both_sides_know_each_other),
        cmocka_unit_test(answers_that_have_no_room_are_told),
        cmocka_unit_test(requests_are_sent_again_ever_more_seldom),
        cmocka_unit_test(requests_end_when_their_time_is_over),
        cmocka_unit_test(services_are_looked_for_until_they_answer),
        cmocka_unit_test(who_is_to_answer_is_looked_at_twice_a_second),
        cmocka_unit_test(what_is_posted_while_it_is_closed_is_dropped),
        cmocka_unit_test(publishers_admit_keys),
    };
    return cmocka_run_group_tests_name("rpc faults", tests, rpc_place_make, rpc_place_remove);
}
