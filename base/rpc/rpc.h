/* Requests and replies over ZeroMQ: ROUTER in the daemon, DEALER in clients.
 *
 * A message is one frame. Request: "Q1", verb u8, request id u64, client incarnation u64, client
 * name (varint length + at most 255 bytes), payload to the end. Reply: "R1", enum status u8,
 * verb u8, request id u64, daemon incarnation u64, and to the end the reply's bytes, or on a
 * status other than OK the reason's text. Integers as in base/codec.h.
 *
 * A client sends a request again (same id) at once when its connection comes back, e.g. after
 * the daemon was killed, and when no reply came for resend_ms, then for twice that, and so on up
 * to 16 times resend_ms. So every verb must be idempotent, or remember the last request id of a
 * client. Replies to ids no longer awaited go to the `late` handler: replies to requests that
 * ended TIMEOUT, and second replies to requests that were sent twice.
 *
 * Payloads are bounded by RPC_PAYLOAD_MAXIMUM; a malformed message is dropped and logged, and
 * the connection of a peer that sends a longer frame is closed.
 * ipc:// endpoints are owned by file permissions (0600); tcp:// endpoints that are not loopback
 * need CURVE keys (RFC 26/CurveZMQ). One thread per object.
 *
 * "at://PATH:OFFSET" is the tcp:// address whose host and port stand in the first line of the file
 * PATH ("10.0.0.1:7000"), OFFSET added to the port. A server binds to what stands there when it is
 * opened. A client may be opened before there is the file; while nobody answers it reads the file
 * again, and connects to where the service is by then. So a service can move.
 *
 * A client that may have its service on another machine (at://, or keys are given) connects with
 * its first request, so that of a hundred nodes only those cost something that are asked. Then it
 * asks every five seconds whether the other side is there, and connects anew if it does not hear
 * for ten.
 */
#ifndef BASE_RPC_RPC_H
#define BASE_RPC_RPC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/slice.h"
#include "base/status.h"

enum { RPC_PAYLOAD_MAXIMUM = 64 << 20 };

/* CURVE: Z85 texts of 40 characters. A daemon admits only clients with its own public key (the
 * usual cluster shares one key pair) or one in `admitted`; it ignores server_public. */
struct rpc_keys {
    const char *server_public, *own_public, *own_secret;
    const char *const *admitted; /* NULL-terminated list, or NULL */
};

enum { RPC_KEY_SIZE = 41 }; /* of a Z85 key with NUL */
/* A new key pair. UNSUPPORTED when this ZeroMQ has no CURVE. */
enum status rpc_keys_make(char public_key[RPC_KEY_SIZE], char secret_key[RPC_KEY_SIZE],
                          struct reason *why);

/* ---- daemon side ---- */

struct rpc_server;
struct rpc_request {
    uint8_t verb;
    uint64_t id, incarnation; /* of the client */
    struct slice client;      /* name, e.g. "fetch.1@node" */
    struct slice payload;     /* all slices live until rpc_reply or rpc_request_drop */
    void *message;            /* private */
};

/* endpoints: NULL-terminated. keys: NULL for none. DENIED when another living process serves
 * an ipc endpoint; the socket file of a dead one is replaced. */
enum status rpc_server_open(struct rpc_server **server, const char *const *endpoints,
                            const struct rpc_keys *keys, struct reason *why);
void rpc_server_close(struct rpc_server *server); /* NULL is allowed */
/* Returns a descriptor for poll(2). When it is readable there may be work; always drain with
 * rpc_server_receive until AGAIN. It becomes readable again if a message comes in during a later
 * rpc_reply. */
int rpc_server_descriptor(struct rpc_server *server);
enum status rpc_server_receive(struct rpc_server *server, struct rpc_request *request);
/* Answers and frees the request. why is sent when status is not OK. */
void rpc_reply(struct rpc_server *server, struct rpc_request *request, enum status status,
               struct slice payload, const struct reason *why);
void rpc_request_drop(struct rpc_request *request);
uint64_t rpc_server_incarnation(const struct rpc_server *server);

/* ---- telling many: an XPUB socket, for any ZeroMQ SUB socket ---- */

/* Sends messages to all who listen. They are lost for those who are not there or do not keep up:
 * each message must let its receiver see what it missed. */
struct rpc_publisher;
/* Endpoints and keys as of a server. */
enum status rpc_publisher_open(struct rpc_publisher **publisher, const char *const *endpoints,
                               const struct rpc_keys *keys, struct reason *why);
void rpc_publisher_close(struct rpc_publisher *publisher);
/* Returns a descriptor for poll(2): call rpc_publisher_wanted when it is readable. */
int rpc_publisher_descriptor(struct rpc_publisher *publisher);
/* Takes in who subscribes; false while nobody does. Never blocks. */
bool rpc_publisher_wanted(struct rpc_publisher *publisher);
/* One message of `count` frames; subscriptions are prefixes of the first. Never blocks. */
void rpc_publish(struct rpc_publisher *publisher, const struct slice *frames, size_t count);

/* ---- client side ---- */

struct rpc_client;
/* Called once for each request: with the reply, or with TIMEOUT or CANCELLED. */
typedef void rpc_done(void *context, enum status status, struct slice payload,
                      const struct reason *why);
typedef void rpc_late(void *context, uint8_t verb, enum status status, struct slice payload);

struct rpc_client_options {
    const char *endpoint;
    const char *name;     /* stable over restarts: "fetch.1" */
    uint64_t incarnation; /* differs after each restart; 0: chosen here */
    uint32_t resend_ms;   /* 0: 500 */
    const struct rpc_keys *keys;
    rpc_late *late;
    void *late_context;
};
enum status rpc_client_open(struct rpc_client **client, const struct rpc_client_options *options,
                            struct reason *why);
void rpc_client_close(struct rpc_client *client); /* outstanding requests end CANCELLED,
                                                     posts from there are dropped */
/* Returns a descriptor for poll(2), to be used together with rpc_client_wait_ms: call
 * rpc_client_process when it is readable. */
int rpc_client_descriptor(struct rpc_client *client);
/* Queues a request. timeout_ms 0: waits for ever (resending). payload is copied. done is called
 * by rpc_client_process, never here; it may post, but not close. A payload past the maximum
 * ends with LIMIT. */
void rpc_client_post(struct rpc_client *client, uint8_t verb, struct slice payload,
                     uint32_t timeout_ms, rpc_done *done, void *context);
/* Receives what is there, resends, times out, calls back. Never blocks. */
void rpc_client_process(struct rpc_client *client);
/* Milliseconds until rpc_client_process has something to do by itself; -1: nothing. */
int rpc_client_wait_ms(const struct rpc_client *client);
size_t rpc_client_outstanding(const struct rpc_client *client);
/* Incarnation of the daemon in the latest reply; a change means it was restarted. */
uint64_t rpc_client_peer_incarnation(const struct rpc_client *client);

/* Asked now and then while a request of a client of this process waits; if it is not OK, all that
 * client's requests end with it. For commands: whoever is to answer may be unable to start, and has
 * said why. NULL: nobody is asked. */
typedef enum status rpc_look(void *context, struct reason *why);
void rpc_client_look(rpc_look *look, void *context);

/* Waits for the answer; reply (may be NULL) gets the payload. */
enum status rpc_call(struct rpc_client *client, uint8_t verb, struct slice payload,
                     uint32_t timeout_ms, struct buf *reply, struct reason *why);

#endif
