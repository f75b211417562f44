#include "base/rpc/rpc_socket.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/codec.h"
#include "base/system/clock.h"
#include "base/system/file.h"

enum {
    RECONNECT_MS = 50,
    KEEPALIVE_IDLE_S = 60,
    FRAME_OVERHEAD = 1024,          /* headers are smaller */
    CLIENT_SOCKETS_MAXIMUM = 16384, /* three for each link */
};

/* ---- the context that clients of this process share ---- */

static struct {
    pthread_mutex_t lock;
    void *context; /* NULL while there is no client */
    size_t users;
} clients = {.lock = PTHREAD_MUTEX_INITIALIZER};
static pthread_once_t forks_watched = PTHREAD_ONCE_INIT;

static void
before_fork(void)
{
    (void)pthread_mutex_lock(&clients.lock);
}

static void
after_fork(void)
{
    (void)pthread_mutex_unlock(&clients.lock);
}

/* The thread of the context stays with the parent. */
static void
after_fork_in_child(void)
{
    clients.context = NULL;
    clients.users = 0;
    (void)pthread_mutex_unlock(&clients.lock);
}

static void
watch_forks(void)
{
    (void)pthread_atfork(before_fork, after_fork, after_fork_in_child);
}

static void *
clients_context(void)
{
    (void)pthread_once(&forks_watched, watch_forks);
    (void)pthread_mutex_lock(&clients.lock);
    if (clients.context == NULL) {
        clients.context = zmq_ctx_new();
        if (clients.context != NULL) {
            (void)zmq_ctx_set(clients.context, ZMQ_MAX_SOCKETS, CLIENT_SOCKETS_MAXIMUM);
        }
    }
    void *const context = clients.context;
    clients.users += context != NULL;
    (void)pthread_mutex_unlock(&clients.lock);
    return context;
}

static void
context_end(void *context)
{
    while (zmq_ctx_term(context) != 0 && errno == EINTR) {
    }
}

/* A context from before a fork is left to the parent. */
static void
clients_context_leave(void *context)
{
    (void)pthread_mutex_lock(&clients.lock);
    const bool last = context == clients.context && --clients.users == 0;
    if (last) {
        clients.context = NULL;
    }
    (void)pthread_mutex_unlock(&clients.lock);
    if (last) {
        context_end(context);
    }
}

/* ---- sockets ---- */

enum status
rpc_socket_option(void *zmq, int option, int value, struct reason *why)
{
    if (zmq_setsockopt(zmq, option, &value, sizeof value) != 0) {
        return status_fail_errno(why, "cannot set option %d of a ZeroMQ socket", option);
    }
    return STATUS_OK;
}

enum status
rpc_socket_text(void *zmq, int option, const char *value, struct reason *why)
{
    if (zmq_setsockopt(zmq, option, value, strlen(value)) != 0) {
        return status_fail_errno(why, "cannot set option %d of a ZeroMQ socket", option);
    }
    return STATUS_OK;
}

static enum status
epoll_add(struct rpc_socket *socket, int descriptor, struct reason *why)
{
    struct epoll_event event = {.events = EPOLLIN};
    if (epoll_ctl(socket->poll_descriptor, EPOLL_CTL_ADD, descriptor, &event) != 0) {
        return status_fail_errno(why, "cannot watch a descriptor");
    }
    return STATUS_OK;
}

enum status
rpc_socket_watch(struct rpc_socket *socket, void *zmq, struct reason *why)
{
    int descriptor;
    size_t size = sizeof descriptor;
    if (zmq_getsockopt(zmq, ZMQ_FD, &descriptor, &size) != 0) {
        return status_fail_errno(why, "cannot get the descriptor of a ZeroMQ socket");
    }
    return epoll_add(socket, descriptor, why);
}

static enum status
socket_set_options(struct rpc_socket *socket, struct reason *why)
{
    static const struct {
        int option, value;
    } options[] = {
        {ZMQ_LINGER, 0},
        {ZMQ_IPV6, 1},
        {ZMQ_RECONNECT_IVL, RECONNECT_MS},
        {ZMQ_RECONNECT_IVL_MAX, RECONNECT_MS},
        {ZMQ_TCP_KEEPALIVE, 1},
        {ZMQ_TCP_KEEPALIVE_IDLE, KEEPALIVE_IDLE_S},
    };
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        TRY(rpc_socket_option(socket->zmq, options[i].option, options[i].value, why));
    }
    const int64_t most = RPC_PAYLOAD_MAXIMUM + FRAME_OVERHEAD;
    if (zmq_setsockopt(socket->zmq, ZMQ_MAXMSGSIZE, &most, sizeof most) != 0) {
        return status_fail_errno(why, "cannot bound the messages of a ZeroMQ socket");
    }
    return STATUS_OK;
}

enum status
rpc_socket_open(struct rpc_socket *socket, int type, bool shares_thread, struct reason *why)
{
    enum status status = STATUS_OK;
    *socket = (struct rpc_socket){
        .poll_descriptor = -1, .event_descriptor = -1, .shares_context = shares_thread};
    socket->context = shares_thread ? clients_context() : zmq_ctx_new();
    socket->zmq = socket->context ? zmq_socket(socket->context, type) : NULL;
    if (!socket->zmq) {
        status = status_fail_errno(why, "cannot make a ZeroMQ socket");
        goto done;
    }
    socket->poll_descriptor = epoll_create1(EPOLL_CLOEXEC);
    socket->event_descriptor = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (socket->poll_descriptor < 0 || socket->event_descriptor < 0) {
        status = status_fail_errno(why, "cannot make an epoll descriptor");
        goto done;
    }
    status = epoll_add(socket, socket->event_descriptor, why);
    if (status == STATUS_OK) {
        status = rpc_socket_watch(socket, socket->zmq, why);
    }
    if (status == STATUS_OK) {
        status = socket_set_options(socket, why);
    }
done:
    if (status != STATUS_OK) {
        rpc_socket_close(socket);
    }
    return status;
}

void
rpc_socket_close(struct rpc_socket *socket)
{
    if (socket->zmq) {
        (void)zmq_close(socket->zmq);
    }
    if (socket->context != NULL && socket->shares_context) {
        clients_context_leave(socket->context);
    } else if (socket->context != NULL) {
        context_end(socket->context);
    }
    file_close(socket->poll_descriptor);
    file_close(socket->event_descriptor);
    *socket = (struct rpc_socket){.poll_descriptor = -1, .event_descriptor = -1};
}

static bool
frame_receive(void *zmq, zmq_msg_t *frame)
{
    int result;
    (void)zmq_msg_init(frame);
    do {
        result = zmq_msg_recv(frame, zmq, ZMQ_DONTWAIT);
    } while (result < 0 && errno == EINTR);
    return result >= 0;
}

bool
rpc_receive(void *zmq, zmq_msg_t *frames, int most, int *count)
{
    bool more = true;
    *count = 0;
    while (more) {
        zmq_msg_t frame;
        if (!frame_receive(zmq, &frame)) {
            (void)zmq_msg_close(&frame);
            break; /* messages arrive whole: only ever at the first frame */
        }
        more = zmq_msg_more(&frame);
        if (*count < most) {
            (void)zmq_msg_init(&frames[*count]);
            (void)zmq_msg_move(&frames[*count], &frame);
        }
        (void)zmq_msg_close(&frame);
        *count += *count < INT32_MAX;
    }
    for (int i = *count; *count > 0 && i < most; i++) {
        (void)zmq_msg_init(&frames[i]);
    }
    return *count > 0;
}

bool
rpc_socket_receive(struct rpc_socket *socket, zmq_msg_t *frames, int most, int *count)
{
    if (rpc_receive(socket->zmq, frames, most, count)) {
        return true;
    }
    if (socket->raised) {
        uint64_t ignored;
        (void)!read(socket->event_descriptor, &ignored, sizeof ignored);
        socket->raised = false;
    }
    return false;
}

bool
rpc_send(void *zmq, zmq_msg_t *frame, bool more)
{
    int result;
    do {
        result = zmq_msg_send(frame, zmq, ZMQ_DONTWAIT | (more ? ZMQ_SNDMORE : 0));
    } while (result < 0 && errno == EINTR);
    if (result < 0) {
        (void)zmq_msg_close(frame);
    }
    return result >= 0;
}

void
rpc_socket_settle(struct rpc_socket *socket, bool unsent)
{
    int events = 0;
    size_t size = sizeof events;
    if (!socket->raised && zmq_getsockopt(socket->zmq, ZMQ_EVENTS, &events, &size) == 0 &&
        (events & (ZMQ_POLLIN | (unsent ? ZMQ_POLLOUT : 0)))) {
        const uint64_t one = 1;
        (void)!write(socket->event_descriptor, &one, sizeof one);
        socket->raised = true;
    }
}

struct slice
rpc_frame_slice(zmq_msg_t *frame)
{
    return slice_of(zmq_msg_data(frame), zmq_msg_size(frame));
}

void
rpc_frame_of(zmq_msg_t *frame, struct slice head, struct slice tail)
{
    if (zmq_msg_init_size(frame, head.length + tail.length) != 0) {
        (void)zmq_msg_init(frame); /* out of memory: as if lost on the way */
        return;
    }
    char *bytes = zmq_msg_data(frame);
    if (head.length > 0) {
        memcpy(bytes, head.at, head.length);
    }
    if (tail.length > 0) {
        memcpy(bytes + head.length, tail.at, tail.length);
    }
}

void
rpc_frames_close(zmq_msg_t *frames, int count)
{
    for (int i = 0; i < count; i++) {
        (void)zmq_msg_close(&frames[i]);
    }
}

enum status
rpc_endpoint_check(const char *endpoint, const struct rpc_keys *keys, struct reason *why)
{
    static const char *const local[] = {"tcp://127.", "tcp://[::1]:", "tcp://localhost:", "ipc://",
                                        "inproc://"};
    if (keys) {
        return STATUS_OK;
    }
    for (size_t i = 0; i < sizeof local / sizeof local[0]; i++) {
        if (slice_starts(slice_string(endpoint), slice_string(local[i]))) {
            return STATUS_OK;
        }
    }
    return status_fail(why, STATUS_DENIED, "%s: not a loopback address, so keys are needed",
                       endpoint);
}

/* Grows with the clock, so that records made under it sort by age; the random bits keep two
 * starts in one millisecond apart. Never 0. */
uint64_t
rpc_incarnation_new(void)
{
    uint16_t random = 0;
    if (getrandom(&random, sizeof random, GRND_NONBLOCK) != sizeof random) {
        random = (uint16_t)clock_monotonic_us();
    }
    return clock_wall_ms() << 16 | random;
}

/* ---- messages ---- */

void
rpc_request_header_encode(struct buf *out, const struct rpc_request_header *header)
{
    (void)buf_append(out, "Q1", 2);
    codec_put_u8(out, header->verb);
    codec_put_u64(out, header->id);
    codec_put_u64(out, header->incarnation);
    codec_put_slice(out, header->client);
}

/* A reader behind the two letters that open a message; bad when they differ. */
static struct codec_reader
message_reader(struct slice message, const char *letters)
{
    struct codec_reader reader = codec_reader_of(message);
    const uint8_t first = codec_get_u8(&reader), second = codec_get_u8(&reader);
    reader.bad |= first != (uint8_t)letters[0] || second != (uint8_t)letters[1];
    return reader;
}

static bool
payload_take(const struct codec_reader *reader, struct slice *payload)
{
    *payload = slice_of((const char *)reader->at, (size_t)(reader->end - reader->at));
    return !reader->bad && payload->length <= RPC_PAYLOAD_MAXIMUM;
}

bool
rpc_request_decode(struct slice message, struct rpc_request_header *header, struct slice *payload)
{
    struct codec_reader reader = message_reader(message, "Q1");
    header->verb = codec_get_u8(&reader);
    header->id = codec_get_u64(&reader);
    header->incarnation = codec_get_u64(&reader);
    header->client = codec_get_slice(&reader);
    return header->client.length <= RPC_NAME_MAXIMUM && payload_take(&reader, payload);
}

void
rpc_reply_header_encode(struct buf *out, const struct rpc_reply_header *header)
{
    (void)buf_append(out, "R1", 2);
    codec_put_u8(out, (uint8_t)header->status);
    codec_put_u8(out, header->verb);
    codec_put_u64(out, header->id);
    codec_put_u64(out, header->incarnation);
}

bool
rpc_reply_decode(struct slice message, struct rpc_reply_header *header, struct slice *payload)
{
    struct codec_reader reader = message_reader(message, "R1");
    const uint8_t status = codec_get_u8(&reader);
    header->status = status < STATUS_COUNT ? (enum status)status : STATUS_PROTOCOL;
    header->verb = codec_get_u8(&reader);
    header->id = codec_get_u64(&reader);
    header->incarnation = codec_get_u64(&reader);
    return payload_take(&reader, payload);
}

enum status
rpc_keys_make(char public_key[RPC_KEY_SIZE], char secret_key[RPC_KEY_SIZE], struct reason *why)
{
    if (zmq_curve_keypair(public_key, secret_key) != 0) {
        return status_fail(why, STATUS_UNSUPPORTED, "this ZeroMQ was built without CURVE");
    }
    return STATUS_OK;
}
