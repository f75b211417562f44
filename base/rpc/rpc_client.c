#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/rpc/rpc_socket.h"
#include "base/system/clock.h"
#include "base/system/log.h"

/* Life of a request: posted (unsent) -> sent -> answered, or timed out, or cancelled. A lost
 * connection, a restarted daemon or a silent one turn sent into unsent again.
 *
 * The socket queues only to a living connection (ZMQ_IMMEDIATE): while the daemon is away
 * requests wait here, once each, and not as a growing pile of copies in ZeroMQ. A monitor
 * socket tells when the connection is lost. For a moment after that ZeroMQ may still take
 * messages for it, so sending holds still, for less time than connecting again takes.
 *
 * Messages are single frames for a reason: where a connection is lost between two frames of a
 * message that is being received, libzmq 4.3 with ZMQ_IMMEDIATE aborts the process. */

enum {
    RESEND_MS = 500,
    RESEND_FACTOR_MAXIMUM = 16,
    HOLD_MS = 20,
    LOOK_MS = 500,
    FIND_MS = 250,
    /* The client asks whether the other machine is there; the server, which is told the time to
     * live, only answers, and forgets who is silent for that long. */
    HEARTBEAT_MS = 5000,
    HEARTBEAT_TIMEOUT_MS = 10000,
    HEARTBEAT_TIME_TO_LIVE_MS = 30000,
    REPLY_FRAMES = 1,
    MONITOR_FRAMES = 2,
};

struct request {
    struct request *next;
    uint64_t id;
    uint8_t verb;
    bool unsent;
    uint32_t resend_ms; /* the next wait */
    uint64_t resend_at; /* monotonic; when sent */
    uint64_t deadline;  /* monotonic; UINT64_MAX: none */
    zmq_msg_t message;  /* shared with ZeroMQ by reference count */
    rpc_done *done;
    void *context;
};

struct rpc_client {
    struct rpc_socket socket;
    void *monitor;
    char *name;
    uint64_t incarnation, peer_incarnation, last_id;
    uint32_t resend_ms;
    rpc_late *late;
    void *late_context;
    struct request *first, **end; /* outstanding, oldest first: replies come about in order */
    struct request *refused;      /* too large: ended by the next process */
    size_t outstanding;
    bool any_unsent, closing;
    uint64_t held_until; /* monotonic; nothing is sent before */
    uint64_t due;        /* monotonic; nothing times out or is resent before */
    uint64_t look_at;    /* monotonic; when it is asked next whether there will be an answer */
    uint64_t malformed;
    char *remote;                   /* endpoint on another machine; NULL: it is on ours */
    char address[RPC_ADDRESS_SIZE]; /* where it was found; empty: not connected yet */
    bool keyed;                     /* so that it may be on another machine */
    /* Monotonic; when it is looked for again, if there is a request; UINT64_MAX: somebody answers
     */
    uint64_t find_at;
};

static rpc_look *look_asked;
static void *look_context;

void
rpc_client_look(rpc_look *look, void *context)
{
    look_asked = look;
    look_context = context;
}

/* ---- opening and closing ---- */

/* Nobody knows which requests arrived over a connection that is gone, so all go out once more. */
static void
send_all_again(struct rpc_client *client)
{
    client->held_until = clock_monotonic_ms() + HOLD_MS;
    for (struct request *request = client->first; request; request = request->next) {
        request->unsent = true;
        request->resend_ms = client->resend_ms;
        client->any_unsent = true;
    }
}

static enum status
monitor_open(struct rpc_client *client, struct reason *why)
{
    /* Clients share a context, and a name may be taken for a moment after its socket was closed. */
    static _Atomic uint64_t last;
    char address[48];
    snprintf(address, sizeof address, "inproc://monitor-%" PRIu64, ++last);
    if (zmq_socket_monitor(client->socket.zmq, address, ZMQ_EVENT_DISCONNECTED) != 0) {
        return status_fail_errno(why, "cannot watch a connection");
    }
    client->monitor = zmq_socket(client->socket.context, ZMQ_PAIR);
    if (!client->monitor || zmq_connect(client->monitor, address) != 0) {
        return status_fail_errno(why, "cannot watch a connection");
    }
    TRY(rpc_socket_option(client->monitor, ZMQ_LINGER, 0, why));
    return rpc_socket_watch(&client->socket, client->monitor, why);
}

/* The address of the service: as it is published by now, or fixed. */
static enum status
remote_address(const struct rpc_client *client, char address[RPC_ADDRESS_SIZE], struct reason *why)
{
    if (rpc_endpoint_is_published(client->remote)) {
        return rpc_endpoint_read(client->remote, address, why);
    }
    (void)snprintf(address, RPC_ADDRESS_SIZE, "%s", client->remote);
    return STATUS_OK;
}

/* Connects to where the service is. */
static void
find_service(struct rpc_client *client)
{
    static const struct rpc_keys some;
    char address[RPC_ADDRESS_SIZE];
    struct reason why = {""};
    client->find_at =
        rpc_endpoint_is_published(client->remote) ? clock_monotonic_ms() + FIND_MS : UINT64_MAX;
    enum status status = remote_address(client, address, &why);
    if (status != STATUS_OK || strcmp(address, client->address) == 0) {
        return;
    }
    status = rpc_endpoint_check(address, client->keyed ? &some : NULL, &why);
    if (status == STATUS_OK && zmq_connect(client->socket.zmq, address) != 0) {
        status = status_fail_errno(&why, "cannot connect to %s", address);
    }
    if (status != STATUS_OK) {
        log_warning("address_unusable", "endpoint=%s reason=%s", client->remote, why.text);
        return;
    }
    if (client->address[0] != '\0') {
        (void)zmq_disconnect(client->socket.zmq, client->address);
        send_all_again(client);
    }
    memcpy(client->address, address, sizeof address);
}

static enum status
client_connect(struct rpc_client *client, const struct rpc_client_options *options,
               struct reason *why)
{
    void *zmq = client->socket.zmq;
    const bool ipc = strncmp(options->endpoint, "ipc://", 6) == 0;
    const struct rpc_keys *keys = ipc ? NULL : options->keys; /* as the server demands */
    const bool fixed = !rpc_endpoint_is_published(options->endpoint);
    if (fixed) {
        TRY(rpc_endpoint_check(options->endpoint, keys, why));
    }
    TRY(rpc_socket_option(zmq, ZMQ_IMMEDIATE, 1, why));
    TRY(rpc_socket_option(zmq, ZMQ_RCVHWM, 0, why)); /* bounded by what is outstanding */
    if (keys) {
        TRY(rpc_socket_text(zmq, ZMQ_CURVE_SERVERKEY, keys->server_public, why));
        TRY(rpc_socket_text(zmq, ZMQ_CURVE_PUBLICKEY, keys->own_public, why));
        TRY(rpc_socket_text(zmq, ZMQ_CURVE_SECRETKEY, keys->own_secret, why));
    }
    TRY(monitor_open(client, why));
    if (!fixed || keys != NULL) {
        TRY(rpc_socket_option(zmq, ZMQ_HEARTBEAT_IVL, HEARTBEAT_MS, why));
        TRY(rpc_socket_option(zmq, ZMQ_HEARTBEAT_TIMEOUT, HEARTBEAT_TIMEOUT_MS, why));
        TRY(rpc_socket_option(zmq, ZMQ_HEARTBEAT_TTL, HEARTBEAT_TIME_TO_LIVE_MS, why));
        client->remote = memory_string(options->endpoint);
        client->keyed = keys != NULL;
        client->find_at = 0;
        return STATUS_OK;
    }
    if (zmq_connect(zmq, options->endpoint) != 0) {
        return status_fail_errno(why, "cannot connect to %s", options->endpoint);
    }
    return STATUS_OK;
}

enum status
rpc_client_open(struct rpc_client **client_out, const struct rpc_client_options *options,
                struct reason *why)
{
    *client_out = NULL;
    if (strlen(options->name) > RPC_NAME_MAXIMUM) {
        return status_fail(why, STATUS_MISUSE, "client name longer than %d bytes",
                           RPC_NAME_MAXIMUM);
    }
    struct rpc_client *client = memory_new(sizeof *client);
    client->name = memory_string(options->name);
    client->incarnation = options->incarnation ? options->incarnation : rpc_incarnation_new();
    client->resend_ms = options->resend_ms ? options->resend_ms : RESEND_MS;
    client->late = options->late;
    client->late_context = options->late_context;
    client->end = &client->first;
    client->due = UINT64_MAX;
    client->look_at = UINT64_MAX;
    client->find_at = UINT64_MAX;
    enum status status = rpc_socket_open(&client->socket, ZMQ_DEALER, true, why);
    if (status == STATUS_OK) {
        status = client_connect(client, options, why);
    }
    if (status != STATUS_OK) {
        rpc_client_close(client);
        return status;
    }
    *client_out = client;
    return STATUS_OK;
}

static void
request_end(struct request *request, enum status status, struct slice payload,
            const struct reason *why)
{
    request->done(request->context, status, payload, why);
    (void)zmq_msg_close(&request->message);
    free(request);
}

void
rpc_client_close(struct rpc_client *client)
{
    if (!client) {
        return;
    }
    struct reason why;
    (void)status_fail(&why, STATUS_CANCELLED, "the connection was closed");
    client->closing = true;
    *client->end = client->refused;
    for (struct request *request = client->first, *next; request; request = next) {
        next = request->next;
        request_end(request, STATUS_CANCELLED, SLICE(""), &why);
    }
    if (client->monitor) {
        (void)zmq_socket_monitor(client->socket.zmq, NULL, 0);
        (void)zmq_close(client->monitor);
    }
    rpc_socket_close(&client->socket);
    free(client->remote);
    free(client->name);
    free(client);
}

int
rpc_client_descriptor(struct rpc_client *client)
{
    return client->socket.poll_descriptor;
}

size_t
rpc_client_outstanding(const struct rpc_client *client)
{
    return client->outstanding;
}

uint64_t
rpc_client_peer_incarnation(const struct rpc_client *client)
{
    return client->peer_incarnation;
}

/* ---- sending ---- */

static void
due_by(struct rpc_client *client, uint64_t time)
{
    client->due = time < client->due ? time : client->due;
}

/* False when there is no connection or its queue is full: later requests wait too, so that
 * the order of first sending is the order of posting. */
static bool
request_send(struct rpc_client *client, struct request *request, uint64_t now)
{
    zmq_msg_t message;
    (void)zmq_msg_init(&message);
    (void)zmq_msg_copy(&message, &request->message);
    if (!rpc_send(client->socket.zmq, &message, false)) {
        return false;
    }
    request->unsent = false;
    request->resend_at = now + request->resend_ms;
    due_by(client, request->resend_at);
    if (request->resend_ms < client->resend_ms * RESEND_FACTOR_MAXIMUM) {
        request->resend_ms *= 2;
    }
    return true;
}

static void
send_unsent(struct rpc_client *client)
{
    if (!client->any_unsent) {
        return;
    }
    const uint64_t now = clock_monotonic_ms();
    if (now < client->held_until) {
        due_by(client, client->held_until);
        return;
    }
    client->any_unsent = false;
    for (struct request *request = client->first; request; request = request->next) {
        if (request->unsent && !request_send(client, request, now)) {
            client->any_unsent = true; /* ZMQ_FD tells when there is room */
            break;
        }
    }
    rpc_socket_settle(&client->socket, client->any_unsent);
}

static void
request_encode(const struct rpc_client *client, struct request *request, struct slice payload)
{
    const struct rpc_request_header header = {.verb = request->verb,
                                              .id = request->id,
                                              .incarnation = client->incarnation,
                                              .client = slice_string(client->name)};
    struct buf encoded;
    buf_init(&encoded, RPC_HEADER_MAXIMUM);
    rpc_request_header_encode(&encoded, &header);
    rpc_frame_of(&request->message, buf_slice(&encoded), payload);
    buf_release(&encoded);
}

void
rpc_client_post(struct rpc_client *client, uint8_t verb, struct slice payload, uint32_t timeout_ms,
                rpc_done *done, void *context)
{
    if (client->closing) {
        return;
    }
    struct request *request = memory_new(sizeof *request);
    request->id = ++client->last_id;
    request->verb = verb;
    request->unsent = true;
    request->resend_ms = client->resend_ms;
    request->deadline = timeout_ms ? clock_monotonic_ms() + timeout_ms : UINT64_MAX;
    request->done = done;
    request->context = context;
    client->outstanding++;
    if (payload.length > RPC_PAYLOAD_MAXIMUM) {
        (void)zmq_msg_init(&request->message);
        request->next = client->refused;
        client->refused = request;
        client->due = 0;
        return;
    }
    request_encode(client, request, payload);
    *client->end = request;
    client->end = &request->next;
    if (look_asked != NULL && client->look_at == UINT64_MAX) {
        client->look_at = clock_monotonic_ms() + LOOK_MS;
    }
    due_by(client, request->deadline);
    if (client->address[0] == '\0' && client->find_at == 0) {
        find_service(client); /* the first request: who is never asked has no connection */
    }
    if (!client->any_unsent) {
        client->any_unsent = true;
        send_unsent(client);
    }
}

/* ---- receiving ---- */

/* Takes the request out of the list; at points to the link that leads to it. */
static struct request *
request_unlink(struct rpc_client *client, struct request **at)
{
    struct request *request = *at;
    *at = request->next;
    if (client->end == &request->next) {
        client->end = at;
    }
    client->outstanding--;
    return request;
}

static void
reply_deliver(struct rpc_client *client, const struct rpc_reply_header *header,
              struct slice payload)
{
    struct reason why = {""};
    struct request **at = &client->first;
    client->peer_incarnation = header->incarnation;
    client->find_at = UINT64_MAX;
    if (header->status != STATUS_OK) {
        (void)status_fail(&why, header->status, "%.*s", SLICE_PRINT(payload));
    }
    while (*at && (*at)->id != header->id) {
        at = &(*at)->next;
    }
    if (*at) {
        request_end(request_unlink(client, at), header->status,
                    header->status == STATUS_OK ? payload : SLICE(""), &why);
    } else if (client->late) {
        client->late(client->late_context, header->verb, header->status, payload);
    }
}

/* Returns whether there were any. */
static bool
replies_receive(struct rpc_client *client)
{
    zmq_msg_t frames[REPLY_FRAMES];
    struct rpc_reply_header header;
    struct slice payload;
    int count;
    bool any = false;
    while (rpc_socket_receive(&client->socket, frames, REPLY_FRAMES, &count)) {
        any = true;
        if (count == REPLY_FRAMES &&
            rpc_reply_decode(rpc_frame_slice(&frames[0]), &header, &payload)) {
            reply_deliver(client, &header, payload);
        } else {
            client->malformed++;
            if ((client->malformed & (client->malformed - 1)) == 0) {
                log_warning("malformed reply dropped", "frames=%d total=%lu", count,
                            (unsigned long)client->malformed);
            }
        }
        rpc_frames_close(frames, REPLY_FRAMES);
    }
    return any;
}

/* The next connection knows nothing of what went over this one. */
static void
losses_notice(struct rpc_client *client)
{
    zmq_msg_t frames[MONITOR_FRAMES];
    int count;
    bool lost = false;
    while (rpc_receive(client->monitor, frames, MONITOR_FRAMES, &count)) {
        rpc_frames_close(frames, MONITOR_FRAMES);
        lost = true;
    }
    if (!lost) {
        return;
    }
    client->find_at = client->remote != NULL ? 0 : UINT64_MAX;
    send_all_again(client);
}

/* Marks what waited long enough for sending again and ends what waited too long. */
static void
clock_notice(struct rpc_client *client)
{
    const uint64_t now = clock_monotonic_ms();
    struct request *expired = NULL, **expired_end = &expired;
    if (now < client->due) {
        return;
    }
    client->due = UINT64_MAX;
    for (struct request **at = &client->first; *at;) {
        struct request *request = *at;
        if (now >= request->deadline) {
            *expired_end = request_unlink(client, at);
            expired_end = &request->next;
            *expired_end = NULL;
            continue;
        }
        due_by(client, request->deadline);
        if (!request->unsent && now >= request->resend_at) {
            request->unsent = true;
            client->any_unsent = true;
        } else if (!request->unsent) {
            due_by(client, request->resend_at);
        }
        at = &request->next;
    }
    while (expired) {
        struct request *request = expired;
        struct reason why;
        expired = request->next;
        (void)status_fail(&why, STATUS_TIMEOUT, "no answer in time");
        request_end(request, STATUS_TIMEOUT, SLICE(""), &why);
    }
}

/* Checks that those who are to answer can do so. */
static void
look_around(struct rpc_client *client)
{
    struct reason why;
    const uint64_t now = clock_monotonic_ms();
    if (look_asked == NULL || client->first == NULL) {
        client->look_at = UINT64_MAX;
        return;
    }
    if (now < client->look_at) {
        return;
    }
    client->look_at = now + LOOK_MS;
    const enum status status = look_asked(look_context, &why);
    if (status == STATUS_OK) {
        return;
    }
    struct request *ended = client->first;
    client->first = NULL;
    client->end = &client->first;
    while (ended != NULL) {
        struct request *request = ended;
        ended = request->next;
        client->outstanding--;
        request_end(request, status, SLICE(""), &why);
    }
}

static void
refused_end(struct rpc_client *client)
{
    while (client->refused) {
        struct request *request = client->refused;
        struct reason why;
        client->refused = request->next;
        client->outstanding--;
        (void)status_fail(&why, STATUS_LIMIT, "a request of more than %d bytes",
                          RPC_PAYLOAD_MAXIMUM);
        request_end(request, STATUS_LIMIT, SLICE(""), &why);
    }
}

void
rpc_client_process(struct rpc_client *client)
{
    if (!replies_receive(client)) {
        losses_notice(client); /* of a connection over which no reply comes */
    }
    refused_end(client);
    clock_notice(client);
    look_around(client);
    if (client->first != NULL && client->find_at != UINT64_MAX &&
        clock_monotonic_ms() >= client->find_at) {
        find_service(client);
    }
    send_unsent(client);
}

int
rpc_client_wait_ms(const struct rpc_client *client)
{
    uint64_t due = client->due < client->look_at ? client->due : client->look_at;
    if (client->first != NULL && client->find_at < due) {
        due = client->find_at;
    }
    if (due == UINT64_MAX) {
        return -1;
    }
    const uint64_t now = clock_monotonic_ms();
    const uint64_t wait = due > now ? due - now : 0;
    return wait < INT_MAX ? (int)wait : INT_MAX;
}

/* ---- waiting for one answer ---- */

struct call {
    struct buf *reply;
    struct reason *why;
    enum status status;
    bool ended;
};

static void
call_done(void *context, enum status status, struct slice payload, const struct reason *why)
{
    struct call *call = context;
    call->ended = true;
    call->status = status;
    if (status != STATUS_OK) {
        (void)status_fail(call->why, status, "%s", why->text);
    } else if (call->reply && buf_append_slice(call->reply, payload) != STATUS_OK) {
        call->status = status_fail(call->why, STATUS_LIMIT, "an answer of %zu bytes is too long",
                                   payload.length);
    }
}

enum status
rpc_call(struct rpc_client *client, uint8_t verb, struct slice payload, uint32_t timeout_ms,
         struct buf *reply, struct reason *why)
{
    struct call call = {.reply = reply, .why = why};
    rpc_client_post(client, verb, payload, timeout_ms, call_done, &call);
    while (!call.ended) {
        struct pollfd descriptor = {.fd = rpc_client_descriptor(client), .events = POLLIN};
        (void)poll(&descriptor, 1, rpc_client_wait_ms(client));
        rpc_client_process(client);
    }
    return call.status;
}
