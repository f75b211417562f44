/* Private to this folder: one ZeroMQ socket with a descriptor that can be polled plainly.
 *
 * ZMQ_FD is edge-triggered in effect: it tells of commands for the socket, not of messages, and
 * any call on the socket, also a send, may consume them. Who sends after his last receive could
 * therefore sleep on a message, or on room to send, that is already there. So the descriptor given
 * out is an epoll of ZMQ_FD and an eventfd, and after every send rpc_socket_settle raises the
 * eventfd when a message or room is waiting. rpc_socket_receive lowers it only after seeing EAGAIN.
 */
#ifndef BASE_RPC_RPC_SOCKET_H
#define BASE_RPC_RPC_SOCKET_H

#include <stdbool.h>
#include <stdint.h>
#include <zmq.h>

#include "base/rpc/rpc.h"

struct rpc_socket {
    void *context, *zmq;
    int poll_descriptor;  /* epoll of all below */
    int event_descriptor; /* "there is work although ZMQ_FD is silent" */
    bool raised;          /* the eventfd is */
    bool shares_context;  /* with the other clients of the process */
};

/* Opens a socket of the ZeroMQ type, not yet bound or connected, with the options common to
 * both sides. shares_thread: it is served by the one thread of ZeroMQ that all such sockets of the
 * process have, so that a process with a hundred links does not have two hundred threads; else by
 * one of its own, as a server needs, whose context has one authenticator. On failure everything is
 * closed. */
enum status rpc_socket_open(struct rpc_socket *socket, int type, bool shares_thread,
                            struct reason *why);
/* Pending messages are lost; the other side sends them again. */
void rpc_socket_close(struct rpc_socket *socket);
/* Another ZeroMQ socket whose messages shall wake the same descriptor. */
enum status rpc_socket_watch(struct rpc_socket *socket, void *zmq, struct reason *why);
enum status rpc_socket_option(void *zmq, int option, int value, struct reason *why);
enum status rpc_socket_text(void *zmq, int option, const char *value, struct reason *why);

/* Receives one whole message into frames[0 .. *count); frames past `most` are thrown away,
 * *count tells how many there were. False: nothing is there. Else all `most` frames are
 * initialised: close them. */
bool rpc_receive(void *zmq, zmq_msg_t *frames, int most, int *count);
/* Receives a message; when there is none the descriptor is no longer readable. */
bool rpc_socket_receive(struct rpc_socket *socket, zmq_msg_t *frames, int most, int *count);
/* Sends one frame; false when it would have to wait. The frame is closed either way. */
bool rpc_send(void *zmq, zmq_msg_t *frame, bool more);
/* After the last send of a turn. unsent: something waits for room to send. */
void rpc_socket_settle(struct rpc_socket *socket, bool unsent);

struct slice rpc_frame_slice(zmq_msg_t *frame);
/* A new frame of two parts. */
void rpc_frame_of(zmq_msg_t *frame, struct slice head, struct slice tail);
void rpc_frames_close(zmq_msg_t *frames, int count);

/* DENIED for an address of another machine without keys. */
enum status rpc_endpoint_check(const char *endpoint, const struct rpc_keys *keys,
                               struct reason *why);
uint64_t rpc_incarnation_new(void);

enum { RPC_ADDRESS_SIZE = 320 };
/* Tells whether the endpoint is looked up in a file (at://PATH:OFFSET). */
bool rpc_endpoint_is_published(const char *endpoint);
/* The address of an at:// endpoint as it is published now. NOT_FOUND: nobody has published one. */
enum status rpc_endpoint_read(const char *endpoint, char address[RPC_ADDRESS_SIZE],
                              struct reason *why);

/* ---- messages; the layout is in base/rpc/rpc.h ---- */

enum { RPC_NAME_MAXIMUM = 255, RPC_HEADER_MAXIMUM = 512 };

struct rpc_request_header {
    uint8_t verb;
    uint64_t id, incarnation;
    struct slice client;
};
void rpc_request_header_encode(struct buf *out, const struct rpc_request_header *header);
/* False when the message is none. payload: the rest of it. */
bool rpc_request_decode(struct slice message, struct rpc_request_header *header,
                        struct slice *payload);

struct rpc_reply_header {
    enum status status;
    uint8_t verb;
    uint64_t id, incarnation;
};
void rpc_reply_header_encode(struct buf *out, const struct rpc_reply_header *header);
bool rpc_reply_decode(struct slice message, struct rpc_reply_header *header, struct slice *payload);

#endif
