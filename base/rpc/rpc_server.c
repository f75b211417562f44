#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/rpc/rpc_socket.h"
#include "base/system/log.h"

/* Frames of a request as ROUTER delivers it. */
enum { FRAME_PEER, FRAME_MESSAGE, REQUEST_FRAMES };
/* Frames of an authentication request, ZeroMQ RFC 27. */
enum { ZAP_VERSION, ZAP_ID, ZAP_DOMAIN, ZAP_ADDRESS, ZAP_PEER, ZAP_MECHANISM, ZAP_KEY, ZAP_FRAMES };
enum { CURVE_KEY_BYTES = 32, ADMITTED_MAXIMUM = 256 };
/* Messages that wait for one peer; those past the mark are lost. Replies are asked for again. */
enum { REPLIES_MOST = 20000, PUBLISHED_MOST = 2000 };

struct rpc_server {
    struct rpc_socket socket;
    void *zap; /* NULL without keys */
    uint8_t (*admitted)[CURVE_KEY_BYTES];
    size_t admitted_count;
    uint64_t incarnation;
    uint64_t malformed; /* messages dropped */
};

struct rpc_message {
    zmq_msg_t frames[REQUEST_FRAMES];
};

/* ---- opening ---- */

static enum status
admit(struct rpc_server *server, const char *key, struct reason *why)
{
    if (server->admitted_count == ADMITTED_MAXIMUM) {
        return status_fail(why, STATUS_LIMIT, "more than %d keys", ADMITTED_MAXIMUM);
    }
    if (strlen(key) != 40 || !zmq_z85_decode(server->admitted[server->admitted_count], key)) {
        return status_fail(why, STATUS_MISUSE, "not a Z85 key of 40 characters: %s", key);
    }
    server->admitted_count++;
    return STATUS_OK;
}

/* The list of admitted keys is what makes CURVE an authentication: without a ZAP handler
 * ZeroMQ lets in everyone who knows the server's public key. */
static enum status
keys_open(struct rpc_server *server, const struct rpc_keys *keys, struct reason *why)
{
    static const char *const only_own[] = {NULL};
    void *zmq = server->socket.zmq;
    server->admitted = memory_zero(ADMITTED_MAXIMUM, CURVE_KEY_BYTES);
    TRY(admit(server, keys->own_public, why));
    for (const char *const *key = keys->admitted ? keys->admitted : only_own; *key; key++) {
        TRY(admit(server, *key, why));
    }
    server->zap = zmq_socket(server->socket.context, ZMQ_REP);
    if (!server->zap || zmq_bind(server->zap, "inproc://zeromq.zap.01") != 0) {
        return status_fail_errno(why, "cannot authenticate clients");
    }
    TRY(rpc_socket_option(server->zap, ZMQ_LINGER, 0, why));
    TRY(rpc_socket_watch(&server->socket, server->zap, why));
    TRY(rpc_socket_option(zmq, ZMQ_CURVE_SERVER, 1, why));
    TRY(rpc_socket_text(zmq, ZMQ_ZAP_DOMAIN, "quadrille", why));
    return rpc_socket_text(zmq, ZMQ_CURVE_SECRETKEY, keys->own_secret, why);
}

/* ZeroMQ removes whatever file stands at an ipc path and binds anew. That is right after a
 * kill, but must not take the socket away from a living daemon. */
static bool
ipc_is_served(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    bool served = false;
    if (strlen(path) < sizeof address.sun_path) {
        strcpy(address.sun_path, path);
        const int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (probe >= 0) {
            served = connect(probe, (const struct sockaddr *)&address, sizeof address) == 0 ||
                     errno == EAGAIN;
            (void)close(probe);
        }
    }
    return served;
}

static enum status
endpoint_bind(struct rpc_server *server, const char *endpoint, const struct rpc_keys *keys,
              struct reason *why)
{
    char address[RPC_ADDRESS_SIZE];
    if (rpc_endpoint_is_published(endpoint)) {
        TRY(rpc_endpoint_read(endpoint, address, why));
        endpoint = address;
    }
    TRY(rpc_endpoint_check(endpoint, keys, why));
    const char *path = strncmp(endpoint, "ipc://", 6) == 0 ? endpoint + 6 : NULL;
    if (path && ipc_is_served(path)) {
        return status_fail(why, STATUS_DENIED, "%s: another process serves here", endpoint);
    }
    const mode_t old_mask = path ? umask(0177) : 0; /* the file must never be wider */
    const int bound = zmq_bind(server->socket.zmq, endpoint);
    const int error = errno;
    if (path) {
        (void)umask(old_mask);
    }
    errno = error;
    return bound == 0 ? STATUS_OK : status_fail_errno(why, "cannot serve on %s", endpoint);
}

/* An endpoint has the security that was set before it was bound: those of ipc, which their
 * file's permissions keep, come first, then keys are demanded of all others. */
static enum status
endpoints_bind(struct rpc_server *server, const char *const *endpoints, const struct rpc_keys *keys,
               struct reason *why)
{
    for (int with_keys = 0; with_keys < 2; with_keys++) {
        if (with_keys && keys) {
            TRY(keys_open(server, keys, why));
        }
        for (const char *const *endpoint = endpoints; *endpoint; endpoint++) {
            if ((strncmp(*endpoint, "ipc://", 6) != 0) == with_keys) {
                TRY(endpoint_bind(server, *endpoint, keys, why));
            }
        }
    }
    return STATUS_OK;
}

static enum status
server_open(struct rpc_server **server_out, int type, int high_water, const char *const *endpoints,
            const struct rpc_keys *keys, struct reason *why)
{
    struct rpc_server *server = memory_new(sizeof *server);
    server->incarnation = rpc_incarnation_new();
    *server_out = NULL;
    enum status status = rpc_socket_open(&server->socket, type, false, why);
    if (status != STATUS_OK) {
        free(server);
        return status;
    }
    status = rpc_socket_option(server->socket.zmq, ZMQ_SNDHWM, high_water, why);
    if (status == STATUS_OK) {
        status = endpoints_bind(server, endpoints, keys, why);
    }
    if (status != STATUS_OK) {
        rpc_server_close(server);
        return status;
    }
    *server_out = server;
    return STATUS_OK;
}

enum status
rpc_server_open(struct rpc_server **server, const char *const *endpoints,
                const struct rpc_keys *keys, struct reason *why)
{
    return server_open(server, ZMQ_ROUTER, REPLIES_MOST, endpoints, keys, why);
}

void
rpc_server_close(struct rpc_server *server)
{
    if (!server) {
        return;
    }
    if (server->zap) {
        (void)zmq_close(server->zap);
    }
    rpc_socket_close(&server->socket);
    free(server->admitted);
    free(server);
}

int
rpc_server_descriptor(struct rpc_server *server)
{
    return server->socket.poll_descriptor;
}

uint64_t
rpc_server_incarnation(const struct rpc_server *server)
{
    return server->incarnation;
}

/* ---- authentication ---- */

static bool
zap_admits(const struct rpc_server *server, zmq_msg_t *frames, int count)
{
    if (count != ZAP_FRAMES || !slice_is(rpc_frame_slice(&frames[ZAP_MECHANISM]), "CURVE") ||
        zmq_msg_size(&frames[ZAP_KEY]) != CURVE_KEY_BYTES) {
        return false;
    }
    const struct slice key = rpc_frame_slice(&frames[ZAP_KEY]);
    for (size_t i = 0; i < server->admitted_count; i++) {
        if (memcmp(key.at, server->admitted[i], CURVE_KEY_BYTES) == 0) {
            return true;
        }
    }
    return false;
}

static void
zap_answer(struct rpc_server *server)
{
    zmq_msg_t frames[ZAP_FRAMES];
    int count;
    while (rpc_receive(server->zap, frames, ZAP_FRAMES, &count)) {
        const bool admitted = zap_admits(server, frames, count);
        const struct slice answer[] = {SLICE("1.0"),
                                       rpc_frame_slice(&frames[ZAP_ID]),
                                       admitted ? SLICE("200") : SLICE("400"),
                                       admitted ? SLICE("OK") : SLICE("key not admitted"),
                                       SLICE(""),
                                       SLICE("")};
        const size_t parts = sizeof answer / sizeof answer[0];
        for (size_t i = 0; i < parts; i++) {
            zmq_msg_t frame;
            rpc_frame_of(&frame, answer[i], SLICE(""));
            (void)rpc_send(server->zap, &frame, i + 1 < parts);
        }
        if (!admitted) {
            log_warning("client refused", "address=%.*s reason=%s",
                        SLICE_PRINT(rpc_frame_slice(&frames[ZAP_ADDRESS])), "key not admitted");
        }
        rpc_frames_close(frames, ZAP_FRAMES);
    }
}

/* ---- requests ---- */

/* Fills *request; the message must stay until it is answered. */
static bool
request_decode(struct rpc_message *message, int count, struct rpc_request *request)
{
    struct rpc_request_header header;
    struct slice payload;
    if (count != REQUEST_FRAMES ||
        !rpc_request_decode(rpc_frame_slice(&message->frames[FRAME_MESSAGE]), &header, &payload)) {
        return false;
    }
    *request = (struct rpc_request){.verb = header.verb,
                                    .id = header.id,
                                    .incarnation = header.incarnation,
                                    .client = header.client,
                                    .payload = payload,
                                    .message = message};
    return true;
}

enum status
rpc_server_receive(struct rpc_server *server, struct rpc_request *request)
{
    if (server->zap) {
        zap_answer(server);
    }
    struct rpc_message *message = memory_alloc(sizeof *message);
    int count;
    while (rpc_socket_receive(&server->socket, message->frames, REQUEST_FRAMES, &count)) {
        if (request_decode(message, count, request)) {
            return STATUS_OK;
        }
        rpc_frames_close(message->frames, REQUEST_FRAMES);
        server->malformed++;
        if ((server->malformed & (server->malformed - 1)) == 0) { /* a flood must not fill logs */
            log_warning("malformed message dropped", "frames=%d total=%lu", count,
                        (unsigned long)server->malformed);
        }
    }
    free(message);
    return STATUS_AGAIN;
}

void
rpc_reply(struct rpc_server *server, struct rpc_request *request, enum status status,
          struct slice payload, const struct reason *why)
{
    struct rpc_message *message = request->message;
    struct buf header;
    zmq_msg_t frame;
    if (status == STATUS_OK && payload.length > RPC_PAYLOAD_MAXIMUM) {
        status = STATUS_LIMIT;
        payload = SLICE("the answer is larger than a message may be");
    } else if (status != STATUS_OK) {
        payload = slice_string(why ? why->text : status_text(status));
    }
    buf_init(&header, RPC_HEADER_MAXIMUM);
    rpc_reply_header_encode(&header,
                            &(struct rpc_reply_header){.status = status,
                                                       .verb = request->verb,
                                                       .id = request->id,
                                                       .incarnation = server->incarnation});
    /* The peer's frame opens the message; where it cannot be sent, nothing is. ROUTER throws
     * away what goes to a peer that left. */
    if (rpc_send(server->socket.zmq, &message->frames[FRAME_PEER], true)) {
        rpc_frame_of(&frame, buf_slice(&header), payload);
        (void)rpc_send(server->socket.zmq, &frame, false);
    }
    (void)zmq_msg_init(&message->frames[FRAME_PEER]);
    buf_release(&header);
    rpc_request_drop(request);
    rpc_socket_settle(&server->socket, false);
}

void
rpc_request_drop(struct rpc_request *request)
{
    struct rpc_message *message = request->message;
    if (message) {
        rpc_frames_close(message->frames, REQUEST_FRAMES);
        free(message);
        *request = (struct rpc_request){0};
    }
}

/* ---- publishing ---- */

struct rpc_publisher {
    struct rpc_server *server;
    size_t subscriptions; /* different ones: ZeroMQ tells of the first and the last of each */
};

enum status
rpc_publisher_open(struct rpc_publisher **result, const char *const *endpoints,
                   const struct rpc_keys *keys, struct reason *why)
{
    struct rpc_server *server;
    *result = NULL;
    TRY(server_open(&server, ZMQ_XPUB, PUBLISHED_MOST, endpoints, keys, why));
    *result = memory_new(sizeof **result);
    (*result)->server = server;
    return STATUS_OK;
}

void
rpc_publisher_close(struct rpc_publisher *publisher)
{
    if (publisher) {
        rpc_server_close(publisher->server);
        free(publisher);
    }
}

int
rpc_publisher_descriptor(struct rpc_publisher *publisher)
{
    return publisher->server->socket.poll_descriptor;
}

bool
rpc_publisher_wanted(struct rpc_publisher *publisher)
{
    struct rpc_server *server = publisher->server;
    zmq_msg_t frame;
    int count;
    if (server->zap) {
        zap_answer(server);
    }
    while (rpc_socket_receive(&server->socket, &frame, 1, &count)) {
        const struct slice text = rpc_frame_slice(&frame);
        if (text.length > 0 && text.at[0] == 1) {
            publisher->subscriptions++;
        } else if (text.length > 0 && text.at[0] == 0 && publisher->subscriptions > 0) {
            publisher->subscriptions--;
        }
        rpc_frames_close(&frame, 1);
    }
    return publisher->subscriptions > 0;
}

void
rpc_publish(struct rpc_publisher *publisher, const struct slice *frames, size_t count)
{
    struct rpc_server *server = publisher->server;
    for (size_t i = 0; i < count; i++) {
        zmq_msg_t frame;
        rpc_frame_of(&frame, frames[i], SLICE(""));
        (void)rpc_send(server->socket.zmq, &frame, i + 1 < count); /* XPUB never has to wait */
    }
    rpc_socket_settle(&server->socket, false);
}
