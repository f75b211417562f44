#include "tests/unit/metastore/metastore_messages.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static char places[NODES]; /* only the addresses count */
size_t opened, closed, open_fails_at;
struct post posts[POSTS_MOST];
size_t posted;
size_t processed;
int wait_ms[NODES];
static struct {
    enum status status;
    struct buf payload;
} replies[REPLIES_MOST];
static size_t reply_count;
size_t called;
struct post calls[REPLIES_MOST];

static size_t
node_of(const struct rpc_client *client)
{
    const size_t node = (size_t)((const char *)client - places);
    assert_true(node < NODES);
    return node;
}

/* ---- in the place of others ---- */

enum status __wrap_rpc_client_open(struct rpc_client **client,
                                   const struct rpc_client_options *options, struct reason *why);
enum status
__wrap_rpc_client_open(struct rpc_client **client, const struct rpc_client_options *options,
                       struct reason *why)
{
    assert_string_equal(options->name,
                        strcmp(options->endpoint, "ipc:archive") == 0 ? "archive" : "test.1");
    *client = NULL;
    if (opened == open_fails_at) {
        return status_fail(why, STATUS_DENIED, "no socket");
    }
    *client = (struct rpc_client *)&places[opened++];
    return STATUS_OK;
}

void
answer(size_t i, enum status status, struct slice payload)
{
    struct reason why = {""};
    rpc_done *done = posts[i].done;
    assert_non_null(done);
    posts[i].done = NULL;
    if (status != STATUS_OK) {
        (void)status_fail(&why, status, "post %zu", i);
    }
    done(posts[i].context, status, payload, status == STATUS_OK ? NULL : &why);
}

void __wrap_rpc_client_close(struct rpc_client *client);
void
__wrap_rpc_client_close(struct rpc_client *client)
{
    closed++;
    for (size_t i = 0; i < posted; i++) {
        if (posts[i].node == node_of(client) && posts[i].done != NULL) {
            answer(i, STATUS_CANCELLED, SLICE(""));
        }
    }
}

int __wrap_rpc_client_descriptor(struct rpc_client *client);
int
__wrap_rpc_client_descriptor(struct rpc_client *client)
{
    return 100 + (int)node_of(client);
}

int __wrap_rpc_client_wait_ms(const struct rpc_client *client);
int
__wrap_rpc_client_wait_ms(const struct rpc_client *client)
{
    return wait_ms[node_of(client)];
}

void __wrap_rpc_client_process(struct rpc_client *client);
void
__wrap_rpc_client_process(struct rpc_client *client)
{
    (void)node_of(client);
    processed++;
}

void __wrap_rpc_client_post(struct rpc_client *client, uint8_t verb, struct slice payload,
                            uint32_t timeout_ms, rpc_done *done, void *context);
void
__wrap_rpc_client_post(struct rpc_client *client, uint8_t verb, struct slice payload,
                       uint32_t timeout_ms, rpc_done *done, void *context)
{
    assert_true(posted < POSTS_MOST);
    struct post *post = &posts[posted++];
    const struct buf kept = post->payload;
    *post = (struct post){node_of(client), verb, timeout_ms, kept, done, context};
    buf_reset(&post->payload);
    assert_int_equal(buf_append_slice(&post->payload, payload), STATUS_OK);
}

enum status __wrap_rpc_call(struct rpc_client *client, uint8_t verb, struct slice payload,
                            uint32_t timeout_ms, struct buf *reply, struct reason *why);
enum status
__wrap_rpc_call(struct rpc_client *client, uint8_t verb, struct slice payload, uint32_t timeout_ms,
                struct buf *reply, struct reason *why)
{
    assert_true(called < reply_count);
    struct post *call = &calls[called];
    call->node = node_of(client);
    call->verb = verb;
    call->timeout_ms = timeout_ms;
    buf_reset(&call->payload);
    assert_int_equal(buf_append_slice(&call->payload, payload), STATUS_OK);
    const enum status status = replies[called].status;
    const struct slice bytes = buf_slice(&replies[called++].payload);
    return status == STATUS_OK ? buf_append_slice(reply, bytes)
                               : status_fail(why, status, "call %zu", called - 1);
}

/* The payload of the next call's answer. */
struct buf *
reply(enum status status)
{
    assert_true(reply_count < REPLIES_MOST);
    replies[reply_count].status = status;
    buf_reset(&replies[reply_count].payload);
    return &replies[reply_count++].payload;
}

/* ---- one test after the other ---- */

int
messages_begin(void **state)
{
    (void)state;
    opened = closed = posted = reply_count = called = processed = 0;
    open_fails_at = SIZE_MAX;
    for (size_t i = 0; i < POSTS_MOST; i++) {
        buf_init(&posts[i].payload, TEXT_MAXIMUM);
        posts[i].done = NULL;
    }
    for (size_t i = 0; i < REPLIES_MOST; i++) {
        buf_init(&replies[i].payload, TEXT_MAXIMUM);
        buf_init(&calls[i].payload, TEXT_MAXIMUM);
    }
    return 0;
}

int
messages_end(void **state)
{
    (void)state;
    for (size_t i = 0; i < POSTS_MOST; i++) {
        assert_null(posts[i].done);
        buf_release(&posts[i].payload);
    }
    for (size_t i = 0; i < REPLIES_MOST; i++) {
        buf_release(&replies[i].payload);
        buf_release(&calls[i].payload);
    }
    assert_int_equal(closed, opened);
    return 0;
}
