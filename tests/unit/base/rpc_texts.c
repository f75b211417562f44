/* Texts and bytes of messages between processes (base/rpc/rpc_address.c, base/rpc/rpc_socket.c):
 * addresses, those that stand in files, headers cut anywhere, and frames. No server is asked. */
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <zmq.h>

#include "base/codec.h"
#include "base/rpc/rpc.h"
#include "base/rpc/rpc_socket.h"
#include "base/system/clock.h"
#include "tests/unit/base/rpc_servers.h"

static char folder[SCRATCH_SIZE];

static int
make_folder(void **state)
{
    (void)state;
    return scratch_folder(folder, "rpc_texts") ? 0 : -1;
}

static int
remove_folder(void **state)
{
    (void)state;
    return rmdir(folder);
}

/* ---- addresses ---- */

static void
addresses_are_told_apart(void **state)
{
    static const struct {
        const char *endpoint;
        bool published, local;
    } cases[] = {
        {"at://x", true, false},
        {"at:/", false, false},
        {"at:/x", false, false},
        {"", false, false},
        {"ipc://x", false, true},
        {"inproc://x", false, true},
        {"tcp://127.0.0.1:1", false, true},
        {"tcp://127.9.9.9:1", false, true},
        {"tcp://[::1]:1", false, true},
        {"tcp://localhost:1", false, true},
        {"tcp://128.0.0.1:1", false, false},
        {"tcp://localhost.evil:1", false, false},
        {"tcp://[::2]:1", false, false},
        {"tcp://*:1", false, false},
        {"ipc:/x", false, false},
        {"udp://127.0.0.1:1", false, false},
    };
    const struct rpc_keys keys = {0};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct reason why = {""};
        char expected[128] = "";
        assert_int_equal(rpc_endpoint_is_published(cases[i].endpoint), cases[i].published);
        assert_int_equal(rpc_endpoint_check(cases[i].endpoint, NULL, &why),
                         cases[i].local ? STATUS_OK : STATUS_DENIED);
        if (!cases[i].local) {
            snprintf(expected, sizeof expected, "%s: not a loopback address, so keys are needed",
                     cases[i].endpoint);
        }
        assert_string_equal(why.text, expected);
        assert_int_equal(rpc_endpoint_check(cases[i].endpoint, &keys, NULL), STATUS_OK);
    }
}

/* Writes a file that holds this line and reads the address at an offset of it. */
static enum status
read_published(const char *line, const char *offset, char address[RPC_ADDRESS_SIZE])
{
    char path[SCRATCH_SIZE + 32], endpoint[SCRATCH_SIZE + 64];
    struct reason why = {""};
    snprintf(path, sizeof path, "%s/published", folder);
    snprintf(endpoint, sizeof endpoint, "at://%s%s", path, offset);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(line, file) >= 0);
    assert_int_equal(fclose(file), 0);
    address[0] = '\0';
    const enum status status = rpc_endpoint_read(endpoint, address, &why);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(why.text[0] != '\0', status != STATUS_OK);
    return status;
}

static void
published_addresses_are_read(void **state)
{
    static const struct {
        const char *line, *offset, *address; /* NULL: none */
        enum status status;
    } cases[] = {
        {"host:7000\n", ":1", "tcp://host:7001", STATUS_OK},
        {"host:7000", ":20", "tcp://host:7020", STATUS_OK},
        {"[::1]:7000\nmore:1\n", ":1", "tcp://[::1]:7001", STATUS_OK},
        {"h:65534", ":1", "tcp://h:65535", STATUS_OK},
        {"h:65535", ":1", NULL, STATUS_NOT_FOUND},
        {"h:1", ":65535", NULL, STATUS_NOT_FOUND},
        {"h:65536", ":1", NULL, STATUS_NOT_FOUND},
        {"h:0", ":1", NULL, STATUS_NOT_FOUND},
        {"h:-1", ":1", NULL, STATUS_NOT_FOUND},
        {"h:", ":1", NULL, STATUS_NOT_FOUND},
        {"h:7x", ":1", NULL, STATUS_NOT_FOUND},
        {"h", ":1", NULL, STATUS_NOT_FOUND},
        {":7000", ":1", NULL, STATUS_NOT_FOUND},
        {"", ":1", NULL, STATUS_NOT_FOUND},
        {"\nh:7000", ":1", NULL, STATUS_NOT_FOUND},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char address[RPC_ADDRESS_SIZE];
        assert_int_equal(read_published(cases[i].line, cases[i].offset, address), cases[i].status);
        assert_string_equal(address, cases[i].address != NULL ? cases[i].address : "");
    }
}

static void
offsets_are_numbers_of_ports(void **state)
{
    static const char *const wrong[] = {"at://file",   "at://file:",   "at://file:0",
                                        "at://file:x", "at://file:1x", "at://file:65536",
                                        "at://:1",     "at://",        "at://file:-1"};
    char address[RPC_ADDRESS_SIZE];
    struct reason why = {""};
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char expected[64];
        assert_int_equal(rpc_endpoint_read(wrong[i], address, &why), STATUS_MISUSE);
        snprintf(expected, sizeof expected, "not at://PATH:OFFSET: %s", wrong[i]);
        assert_string_equal(why.text, expected);
    }
    assert_int_equal(rpc_endpoint_read("at:///nonexistent/file:1", address, &why),
                     STATUS_NOT_FOUND);
    assert_string_equal(why.text, "nobody has published an address in /nonexistent/file");
    static char endpoint[5000] = "at://";
    for (size_t length = 4095; length <= 4096; length++) { /* a path that has its end */
        memset(endpoint + 5, 'x', length);
        memcpy(endpoint + 5 + length, ":1", 3);
        assert_int_equal(rpc_endpoint_read(endpoint, address, &why),
                         length == 4095 ? STATUS_NOT_FOUND : STATUS_MISUSE);
    }
}

/* ---- messages ---- */

static void
requests_are_read_as_they_were_written(void **state)
{
    char name[RPC_NAME_MAXIMUM + 1];
    struct buf message;
    (void)state;
    memset(name, 'n', sizeof name);
    buf_init(&message, 2000);
    for (size_t length = 0; length <= sizeof name; length += length == 0 ? RPC_NAME_MAXIMUM : 1) {
        const struct rpc_request_header header = {
            .verb = 7, .id = UINT64_MAX - 1, .incarnation = 5, .client = slice_of(name, length)};
        struct rpc_request_header read;
        struct slice payload;
        buf_reset(&message);
        rpc_request_header_encode(&message, &header);
        const size_t head = message.length;
        (void)buf_append_string(&message, "payload");
        const bool good = length <= RPC_NAME_MAXIMUM;
        assert_int_equal(rpc_request_decode(buf_slice(&message), &read, &payload), good);
        if (good) {
            assert_int_equal(read.verb, 7);
            assert_true(read.id == UINT64_MAX - 1 && read.incarnation == 5);
            assert_true(slice_equal(read.client, header.client));
            assert_true(slice_is(payload, "payload"));
            assert_true(rpc_request_decode(slice_of(message.data, head), &read, &payload));
            assert_int_equal(payload.length, 0);
        }
        for (size_t cut = 0; cut < head && good; cut++) {
            assert_false(rpc_request_decode(slice_of(message.data, cut), &read, &payload));
        }
        for (size_t letter = 0; letter < 2; letter++) {
            message.data[letter]++;
            assert_false(rpc_request_decode(buf_slice(&message), &read, &payload));
            message.data[letter]--;
        }
    }
    buf_release(&message);
}

static void
replies_are_read_as_they_were_written(void **state)
{
    const struct rpc_reply_header header = {
        .status = STATUS_FULL, .verb = 9, .id = 4711, .incarnation = UINT64_MAX};
    struct rpc_reply_header read;
    struct slice payload;
    struct buf message;
    (void)state;
    buf_init(&message, 2000);
    rpc_reply_header_encode(&message, &header);
    const size_t head = message.length;
    (void)buf_append_string(&message, "why");
    assert_true(rpc_reply_decode(buf_slice(&message), &read, &payload));
    assert_int_equal(read.status, STATUS_FULL);
    assert_int_equal(read.verb, 9);
    assert_true(read.id == 4711 && read.incarnation == UINT64_MAX);
    assert_true(slice_is(payload, "why"));
    for (size_t cut = 0; cut < head; cut++) {
        assert_false(rpc_reply_decode(slice_of(message.data, cut), &read, &payload));
    }
    message.data[2] = STATUS_COUNT - 1;
    assert_true(rpc_reply_decode(buf_slice(&message), &read, &payload));
    assert_int_equal(read.status, STATUS_COUNT - 1);
    message.data[2] = STATUS_COUNT; /* of a newer program */
    assert_true(rpc_reply_decode(buf_slice(&message), &read, &payload));
    assert_int_equal(read.status, STATUS_PROTOCOL);
    for (size_t letter = 0; letter < 2; letter++) {
        message.data[letter]++;
        assert_false(rpc_reply_decode(buf_slice(&message), &read, &payload));
        message.data[letter]--;
    }
    buf_release(&message);
}

static void
incarnations_follow_the_clock(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++) {
        const uint64_t before = clock_wall_ms();
        const uint64_t incarnation = rpc_incarnation_new();
        assert_in_range(incarnation >> 16, before, clock_wall_ms());
    }
}

/* ---- frames ---- */

/* Two sockets of a process, connected. */
struct pipe {
    struct rpc_socket from, to;
};

static void
pipe_open(struct pipe *pipe)
{
    struct reason why = {""};
    char endpoint[64];
    size_t size = sizeof endpoint;
    assert_int_equal(rpc_socket_open(&pipe->to, ZMQ_PAIR, false, &why), STATUS_OK);
    assert_int_equal(rpc_socket_open(&pipe->from, ZMQ_PAIR, false, &why), STATUS_OK);
    assert_int_equal(zmq_bind(pipe->to.zmq, "tcp://127.0.0.1:*"), 0);
    assert_int_equal(zmq_getsockopt(pipe->to.zmq, ZMQ_LAST_ENDPOINT, endpoint, &size), 0);
    assert_int_equal(zmq_connect(pipe->from.zmq, endpoint), 0);
}

static void
pipe_close(struct pipe *pipe)
{
    rpc_socket_close(&pipe->from);
    rpc_socket_close(&pipe->to);
    assert_null(pipe->to.zmq);
    assert_int_equal(pipe->to.poll_descriptor, -1);
    assert_int_equal(pipe->to.event_descriptor, -1);
    rpc_socket_close(&pipe->to); /* once more is nothing */
}

static bool
is_readable(const struct rpc_socket *socket, int wait_ms)
{
    struct pollfd descriptor = {.fd = socket->poll_descriptor, .events = POLLIN};
    return poll(&descriptor, 1, wait_ms) == 1;
}

/* Sends so many frames, "0", "1", ... as a message. */
static void
send_frames(struct pipe *pipe, int count)
{
    for (int i = 0; i < count; i++) {
        char text[16];
        zmq_msg_t frame;
        snprintf(text, sizeof text, "%d", i);
        rpc_frame_of(&frame, slice_string(text), SLICE(""));
        while (!rpc_send(pipe->from.zmq, &frame, i + 1 < count)) { /* until it is connected */
            (void)poll(NULL, 0, 1);
            rpc_frame_of(&frame, slice_string(text), SLICE(""));
        }
    }
}

static void
messages_come_whole(void **state)
{
    enum { MOST = 3, WAIT_MS = 60000 };
    struct pipe pipe;
    zmq_msg_t frames[MOST];
    int count = -1;
    (void)state;
    pipe_open(&pipe);
    while (rpc_socket_receive(&pipe.to, frames, MOST, &count)) {
    }
    assert_int_equal(count, 0);
    for (int sent = 1; sent <= MOST + 2; sent++) {
        send_frames(&pipe, sent);
        while (!rpc_socket_receive(&pipe.to, frames, MOST, &count)) {
            rpc_socket_settle(&pipe.to, false);
            assert_true(is_readable(&pipe.to, WAIT_MS));
        }
        assert_int_equal(count, sent);
        for (int i = 0; i < MOST; i++) {
            char text[16] = "";
            if (i < sent) {
                snprintf(text, sizeof text, "%d", i);
            }
            assert_true(slice_is(rpc_frame_slice(&frames[i]), text)); /* else an empty one */
        }
        rpc_frames_close(frames, MOST);
    }
    pipe_close(&pipe);
}

/* A message that came while another was looked at makes the descriptor readable, until nothing is
 * there; so does room to send, when something waits for it. */
static void
descriptors_tell_what_is_there(void **state)
{
    enum { WAIT_MS = 60000 };
    struct pipe pipe;
    zmq_msg_t frame;
    int count;
    (void)state;
    pipe_open(&pipe);
    send_frames(&pipe, 1);
    send_frames(&pipe, 1);
    while (!rpc_socket_receive(&pipe.to, &frame, 1, &count)) {
        rpc_socket_settle(&pipe.to, false);
        assert_true(is_readable(&pipe.to, WAIT_MS));
    }
    rpc_frames_close(&frame, 1);
    while (!pipe.to.raised) { /* until the second is there, too */
        rpc_socket_settle(&pipe.to, false);
        (void)poll(NULL, 0, 1);
    }
    assert_true(is_readable(&pipe.to, 0));
    assert_true(rpc_socket_receive(&pipe.to, &frame, 1, &count));
    rpc_frames_close(&frame, 1);
    assert_true(is_readable(&pipe.to, 0));
    assert_false(rpc_socket_receive(&pipe.to, &frame, 1, &count));
    assert_false(pipe.to.raised);
    rpc_socket_settle(&pipe.to, false);
    assert_false(pipe.to.raised); /* it may send, but nothing waits for that */
    assert_false(is_readable(&pipe.to, 0));
    rpc_socket_settle(&pipe.to, true);
    assert_true(pipe.to.raised && is_readable(&pipe.to, 0));
    pipe_close(&pipe);
}

static void
frames_have_two_parts(void **state)
{
    static const char *const parts[][3] = {
        {"", "", ""}, {"a", "", "a"}, {"", "bc", "bc"}, {"a", "bc", "abc"}};
    (void)state;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        zmq_msg_t frame;
        rpc_frame_of(&frame, slice_string(parts[i][0]), slice_string(parts[i][1]));
        assert_true(slice_is(rpc_frame_slice(&frame), parts[i][2]));
        rpc_frames_close(&frame, 1);
    }
}

static void
options_that_are_none_are_told(void **state)
{
    struct pipe pipe;
    struct reason why = {""};
    int value = 0, option;
    int64_t most = 0;
    size_t size = sizeof value, most_size = sizeof most;
    static const struct {
        int option, value;
    } set[] = {{ZMQ_LINGER, 0},         {ZMQ_IPV6, 1},
               {ZMQ_RECONNECT_IVL, 50}, {ZMQ_RECONNECT_IVL_MAX, 50},
               {ZMQ_TCP_KEEPALIVE, 1},  {ZMQ_TCP_KEEPALIVE_IDLE, 60}};
    (void)state;
    pipe_open(&pipe);
    option = 99999;
    assert_int_equal(rpc_socket_option(pipe.to.zmq, option, 1, &why), STATUS_SYSTEM);
    assert_non_null(strstr(why.text, "cannot set option 99999 of a ZeroMQ socket"));
    assert_int_equal(rpc_socket_text(pipe.to.zmq, option, "x", &why), STATUS_SYSTEM);
    assert_non_null(strstr(why.text, "cannot set option 99999 of a ZeroMQ socket"));
    assert_int_equal(rpc_socket_watch(&pipe.to, NULL, &why), STATUS_SYSTEM);
    assert_non_null(strstr(why.text, "cannot get the descriptor of a ZeroMQ socket"));
    assert_int_equal(rpc_socket_watch(&pipe.to, pipe.to.zmq, &why), STATUS_SYSTEM); /* again */
    assert_non_null(strstr(why.text, "cannot watch a descriptor"));
    for (size_t i = 0; i < sizeof set / sizeof *set; i++) {
        assert_int_equal(zmq_getsockopt(pipe.to.zmq, set[i].option, &value, &size), 0);
        assert_int_equal(value, set[i].value);
    }
    assert_int_equal(zmq_getsockopt(pipe.to.zmq, ZMQ_MAXMSGSIZE, &most, &most_size), 0);
    assert_int_equal(most, RPC_PAYLOAD_MAXIMUM + 1024);
    pipe_close(&pipe);
    struct rpc_socket none;
    assert_int_equal(rpc_socket_open(&none, -1, false, &why), STATUS_SYSTEM); /* of no type */
    assert_non_null(strstr(why.text, "cannot make a ZeroMQ socket"));
    assert_null(none.zmq);
    assert_null(none.context);
}

int
rpc_texts_run(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_are_told_apart),
        cmocka_unit_test(published_addresses_are_read),
        cmocka_unit_test(offsets_are_numbers_of_ports),
        cmocka_unit_test(requests_are_read_as_they_were_written),
        cmocka_unit_test(replies_are_read_as_they_were_written),
        cmocka_unit_test(incarnations_follow_the_clock),
        cmocka_unit_test(messages_come_whole),
        cmocka_unit_test(descriptors_tell_what_is_there),
        cmocka_unit_test(frames_have_two_parts),
        cmocka_unit_test(options_that_are_none_are_told),
    };
    return cmocka_run_group_tests_name("rpc texts", tests, make_folder, remove_folder);
}
