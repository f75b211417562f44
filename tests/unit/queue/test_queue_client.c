/* The queue's client (queue/client/queue_client.c): what it holds and renews, what it does when the
 * daemon was started again or answers late, and calls that are repeated until nothing is left. The
 * functions below stand in the place of the messages and of the clock. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/codec.h"
#include "base/rpc/rpc.h"
#include "base/system/clock.h"
#include "queue/client/message.h"
#include "queue/client/queue_client.h"
#include "tests/unit/memory_in_use.h"

enum { POSTS_MOST = 16, REPLIES_MOST = 4, TEXT_MAXIMUM = 1 << 18, LEASE_MS = 9000 };
enum { CALL_MS = 30000, OWN_MS = 1000 }; /* of calls that have no limit of their own, and others */

static char place;
static struct rpc_client *const transport =
    (struct rpc_client *)&place; /* only its address counts */
static rpc_late *late;
static void *late_context;
static struct {
    uint8_t verb;
    struct buf payload;
    rpc_done *done;
    void *context;
} posts[POSTS_MOST];
static size_t posted;
static uint64_t incarnation, now_ms;
static int transport_wait_ms;
static enum status open_status;

/* Holds the outcome of blocking calls. */
static struct {
    enum status status;
    struct buf payload;
} replies[REPLIES_MOST];
static size_t reply_count, called;
static uint8_t called_verb;
static struct buf call;

/* ---- in the place of others ---- */

enum status __wrap_rpc_client_open(struct rpc_client **client,
                                   const struct rpc_client_options *options, struct reason *why);
enum status
__wrap_rpc_client_open(struct rpc_client **client, const struct rpc_client_options *options,
                       struct reason *why)
{
    late = options->late;
    late_context = options->late_context;
    *client = open_status == STATUS_OK ? transport : NULL;
    return open_status == STATUS_OK ? STATUS_OK : status_fail(why, open_status, "no socket");
}

static size_t closed;

void __wrap_rpc_client_close(struct rpc_client *client);
void
__wrap_rpc_client_close(struct rpc_client *client)
{
    assert_ptr_equal(client, transport);
    closed++;
}

void __wrap_rpc_client_post(struct rpc_client *client, uint8_t verb, struct slice payload,
                            uint32_t timeout_ms, rpc_done *done, void *context);
void
__wrap_rpc_client_post(struct rpc_client *client, uint8_t verb, struct slice payload,
                       uint32_t timeout_ms, rpc_done *done, void *context)
{
    assert_ptr_equal(client, transport);
    assert_int_equal(timeout_ms, 0); /* it waits for the daemon, however long that is away */
    assert_true(posted < POSTS_MOST);
    buf_reset(&posts[posted].payload);
    buf_append_slice(&posts[posted].payload, payload);
    posts[posted].verb = verb;
    posts[posted].done = done;
    posts[posted].context = context;
    posted++;
}

void __wrap_rpc_client_process(struct rpc_client *client);
void
__wrap_rpc_client_process(struct rpc_client *client)
{
    assert_ptr_equal(client, transport);
}

int __wrap_rpc_client_wait_ms(const struct rpc_client *client);
int
__wrap_rpc_client_wait_ms(const struct rpc_client *client)
{
    assert_ptr_equal(client, transport);
    return transport_wait_ms;
}

uint64_t __wrap_rpc_client_peer_incarnation(const struct rpc_client *client);
uint64_t
__wrap_rpc_client_peer_incarnation(const struct rpc_client *client)
{
    assert_ptr_equal(client, transport);
    return incarnation;
}

enum status __wrap_rpc_call(struct rpc_client *client, uint8_t verb, struct slice payload,
                            uint32_t timeout_ms, struct buf *reply, struct reason *why);
enum status
__wrap_rpc_call(struct rpc_client *client, uint8_t verb, struct slice payload, uint32_t timeout_ms,
                struct buf *reply, struct reason *why)
{
    assert_ptr_equal(client, transport);
    const bool limited = verb == QUEUE_STATS || verb == QUEUE_NODES;
    assert_int_equal(timeout_ms, limited ? OWN_MS : CALL_MS);
    assert_true(called < reply_count);
    called_verb = verb;
    buf_reset(&call);
    buf_append_slice(&call, payload);
    buf_append_slice(reply, buf_slice(&replies[called].payload));
    const enum status status = replies[called++].status;
    return status == STATUS_OK ? STATUS_OK : status_fail(why, status, "no answer");
}

uint64_t __wrap_clock_monotonic_ms(void);
uint64_t
__wrap_clock_monotonic_ms(void)
{
    return now_ms;
}

/* ---- steps ---- */

static struct queue_client *client;
static enum status told; /* of the last reserve, put or completion */
static size_t told_jobs;

static void
on_reserved(void *context, enum status status, const struct job *jobs, size_t n,
            const struct reason *why)
{
    (void)context, (void)jobs, (void)why;
    told = status;
    told_jobs = n;
}

static void
on_completed(void *context, enum status status, const struct reason *why)
{
    (void)context, (void)why;
    told = status;
}

/* Jobs first .. first + n - 1, each at the attempt of its number. */
static void
write_jobs(struct buf *payload, uint64_t lease_ms, uint64_t first, uint32_t n)
{
    buf_reset(payload);
    codec_put_varint(payload, lease_ms);
    codec_put_varint(payload, 42); /* the scope in force */
    codec_put_u32(payload, n);
    for (uint64_t id = first; id < first + n; id++) {
        const struct job job = {.key = {.stage = STAGE_DETECT, .id = id},
                                .uri = SLICE("http://a.example/"),
                                .attempt = (uint16_t)id};
        job_key_encode(payload, &job.key);
        job_encode(payload, &job);
        codec_put_slice(payload, SLICE("pace"));
    }
}

static void
answer(size_t post, struct slice payload)
{
    posts[post].done(posts[post].context, STATUS_OK, payload, &(struct reason){""});
}

static void
reserve(uint64_t first, uint32_t n)
{
    struct buf payload;
    buf_init(&payload, TEXT_MAXIMUM);
    write_jobs(&payload, LEASE_MS, first, n);
    const size_t post = posted;
    queue_reserve(client, STAGE_DETECT, 0, 10, 500, on_reserved, NULL);
    assert_int_equal(posts[post].verb, QUEUE_RESERVE);
    struct codec_reader reader = codec_reader_of(buf_slice(&posts[post].payload));
    assert_int_equal(codec_get_u8(&reader), STAGE_DETECT);
    assert_int_equal(codec_get_u64(&reader), 0);
    assert_int_equal(codec_get_varint(&reader), 10);
    assert_int_equal(codec_get_varint(&reader), 500);
    assert_int_equal(codec_get_u64(&reader), incarnation);
    assert_true(codec_at_end(&reader));
    answer(post, buf_slice(&payload));
    assert_int_equal(told, STATUS_OK);
    assert_int_equal(told_jobs, n);
    buf_release(&payload);
}

static void
assert_touch(size_t post, bool announces, uint64_t first, uint64_t n)
{
    assert_true(posted > post);
    assert_int_equal(posts[post].verb, QUEUE_TOUCH);
    struct codec_reader reader = codec_reader_of(buf_slice(&posts[post].payload));
    assert_int_equal(codec_get_u8(&reader), announces ? TOUCH_ANNOUNCE : 0);
    assert_int_equal(codec_get_varint(&reader), n);
    for (uint64_t id = first; id < first + n; id++) {
        struct job_key key;
        assert_true(job_key_decode(&reader, &key));
        assert_int_equal(key.id, id);
        assert_int_equal(codec_get_varint(&reader), id);
    }
    assert_true(codec_at_end(&reader));
}

static int
set_up(void **state)
{
    struct reason why = {""};
    (void)state;
    for (size_t i = 0; i < POSTS_MOST; i++) {
        buf_init(&posts[i].payload, TEXT_MAXIMUM);
    }
    for (size_t i = 0; i < REPLIES_MOST; i++) {
        buf_init(&replies[i].payload, TEXT_MAXIMUM);
        replies[i].status = STATUS_OK;
    }
    buf_init(&call, TEXT_MAXIMUM);
    posted = reply_count = called = closed = 0;
    incarnation = 0;
    now_ms = 100000;
    transport_wait_ms = -1;
    open_status = STATUS_OK;
    assert_int_equal(queue_client_open(&client, &(struct queue_client_options){0}, &why),
                     STATUS_OK);
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    queue_client_close(client);
    for (size_t i = 0; i < POSTS_MOST; i++) {
        buf_release(&posts[i].payload);
    }
    for (size_t i = 0; i < REPLIES_MOST; i++) {
        buf_release(&replies[i].payload);
    }
    buf_release(&call);
    return 0;
}

/* ---- cases ---- */

static void
use_a_client(void)
{
    struct queue_client *used;
    struct reason why = {""};
    (void)queue_client_open(&used, &(struct queue_client_options){0}, &why);
    queue_client_close(used);
    open_status = STATUS_SYSTEM;
    (void)queue_client_open(&used, &(struct queue_client_options){0}, &why);
    open_status = STATUS_OK;
}

static void
clients_leave_nothing(void **state)
{
    (void)state;
    assert_true(leaves_no_memory(use_a_client));
}

static void
without_a_socket_there_is_no_client(void **state)
{
    struct queue_client *none = client;
    struct reason why = {""};
    (void)state;
    open_status = STATUS_SYSTEM;
    assert_int_equal(queue_client_open(&none, &(struct queue_client_options){0}, &why),
                     STATUS_SYSTEM);
    assert_null(none);
    assert_string_equal(why.text, "no socket");
    assert_int_equal(closed, 0);
    open_status = STATUS_OK;
    assert_int_equal(queue_client_open(&none, &(struct queue_client_options){0}, &why), STATUS_OK);
    queue_client_close(none);
    assert_int_equal(closed, 1);
    queue_client_close(NULL);
    assert_int_equal(closed, 1);
}

static void
what_is_held_is_renewed_at_a_third_of_the_lease(void **state)
{
    (void)state;
    queue_client_process(client);
    assert_int_equal(posted, 0);
    assert_int_equal(queue_client_wait_ms(client), -1);
    reserve(1, 3);
    assert_int_equal(queue_client_scope(client), 42);
    assert_int_equal(queue_client_wait_ms(client), LEASE_MS / 3);
    transport_wait_ms = 10;
    assert_int_equal(queue_client_wait_ms(client), 10);
    transport_wait_ms = -1;
    now_ms += LEASE_MS / 3 - 1;
    queue_client_process(client);
    assert_int_equal(posted, 1);
    assert_int_equal(queue_client_wait_ms(client), 1);
    reserve(4, 1); /* which does not put it off */
    now_ms += 1;
    assert_int_equal(queue_client_wait_ms(client), 0);
    queue_client_process(client);
    assert_touch(2, false, 1, 4);
    queue_client_process(client); /* one at a time */
    assert_int_equal(posted, 3);
    assert_int_equal(queue_client_wait_ms(client), -1);
    posts[2].done(posts[2].context, STATUS_TIMEOUT, (struct slice){0}, &(struct reason){"away"});
    assert_int_equal(queue_client_wait_ms(client), LEASE_MS / 3);
    now_ms += LEASE_MS / 3;
    queue_client_process(client);
    assert_touch(3, false, 1, 4);
    answer(3, SLICE("\2")); /* two were lost: whoever does them says so when they end */
    assert_int_equal(queue_client_wait_ms(client), LEASE_MS / 3);
}

static void
what_has_ended_is_not_held(void **state)
{
    const struct completion two[] = {{.key = {.stage = STAGE_DETECT, .id = 1}},
                                     {.key = {.stage = STAGE_DETECT, .id = 2}}};
    (void)state;
    reserve(1, 4);
    queue_complete(client, two, 2, on_completed, NULL);
    assert_int_equal(posts[1].verb, QUEUE_COMPLETE);
    struct codec_reader reader = codec_reader_of(buf_slice(&posts[1].payload));
    assert_int_equal(codec_get_varint(&reader), 2);
    for (uint16_t i = 1; i <= 2; i++) {
        struct completion completion;
        uint16_t attempt = 0;
        assert_true(message_get_completion(&reader, &completion, &attempt));
        assert_int_equal(completion.key.id, i);
        assert_int_equal(attempt, i);
    }
    posts[1].done(posts[1].context, STATUS_TIMEOUT, (struct slice){0}, &(struct reason){"away"});
    assert_int_equal(told, STATUS_TIMEOUT);
    queue_complete(client, two, 2, on_completed, NULL); /* they are held until it is known */
    assert_true(slice_equal(buf_slice(&posts[2].payload), buf_slice(&posts[1].payload)));
    answer(2, (struct slice){0});
    assert_int_equal(told, STATUS_OK);
    now_ms += LEASE_MS;
    queue_client_process(client);
    assert_touch(3, false, 3, 2);
    answer(3, SLICE("\0"));
    reserve(5, 100); /* places are used again, and there are more when they are needed */
    now_ms += LEASE_MS;
    queue_client_process(client);
    assert_int_equal(posts[5].verb, QUEUE_TOUCH);
    reader = codec_reader_of(buf_slice(&posts[5].payload));
    (void)codec_get_u8(&reader);
    assert_int_equal(codec_get_varint(&reader), 102);
}

/* The first job's attempt in a TOUCH; ids are attempts where nothing ends. */
static uint64_t
touched_attempt(size_t post)
{
    struct job_key key;
    assert_true(posted > post);
    assert_int_equal(posts[post].verb, QUEUE_TOUCH);
    struct codec_reader reader = codec_reader_of(buf_slice(&posts[post].payload));
    (void)codec_get_u8(&reader);
    (void)codec_get_varint(&reader);
    assert_true(job_key_decode(&reader, &key));
    return codec_get_varint(&reader);
}

/* It may have come back to the daemon with its lease. */
static void
what_is_not_held_ends_at_no_attempt(void **state)
{
    const struct completion one = {.key = {.stage = STAGE_DETECT, .id = 77}};
    struct completion completion;
    uint16_t attempt = 9;
    (void)state;
    reserve(1, 1);
    queue_complete(client, &one, 1, on_completed, NULL);
    struct codec_reader reader = codec_reader_of(buf_slice(&posts[1].payload));
    assert_int_equal(codec_get_varint(&reader), 1);
    assert_true(message_get_completion(&reader, &completion, &attempt));
    assert_int_equal(completion.key.id, 77);
    assert_int_equal(attempt, 0);
    answer(1, (struct slice){0});
    assert_int_equal(told, STATUS_OK);
}

static void
what_is_ending_is_held_while_there_is_a_lease(void **state)
{
    const struct completion one = {.key = {.stage = STAGE_DETECT, .id = 1},
                                   .verdict = VERDICT_RELEASE};
    (void)state;
    reserve(1, 1);
    queue_complete(client, &one, 1, on_completed, NULL);
    now_ms += LEASE_MS;
    queue_client_process(client);
    assert_int_equal(touched_attempt(2), TOUCH_ENDING);
    answer(2, SLICE("\0"));
    reserve(1, 1); /* it was given back to us before the answer to its completion came */
    answer(1, (struct slice){0});
    assert_int_equal(told, STATUS_OK);
    now_ms += LEASE_MS;
    queue_client_process(client);
    assert_int_equal(touched_attempt(4), 1);
}

static void
a_new_daemon_is_not_told_of_what_it_has_ended(void **state)
{
    const struct completion one = {.key = {.stage = STAGE_DETECT, .id = 1},
                                   .verdict = VERDICT_RELEASE};
    (void)state;
    incarnation = 7;
    queue_client_process(client);
    reserve(1, 2);
    queue_complete(client, &one, 1, on_completed, NULL);
    incarnation = 8;
    answer(2, (struct slice){0});
    assert_touch(3, true, 2, 1);
}

static void
a_daemon_that_was_started_again_is_told_what_is_held(void **state)
{
    (void)state;
    incarnation = 7;
    queue_client_process(client);
    assert_int_equal(posted, 1); /* nothing is held; from now on a restart is told of */
    assert_int_equal(posts[0].verb, QUEUE_WATCH);
    struct codec_reader reader = codec_reader_of(buf_slice(&posts[0].payload));
    assert_int_equal(codec_get_u64(&reader), 7);
    queue_client_process(client);
    assert_int_equal(posted, 1);
    reserve(1, 2);
    incarnation = 8;
    answer(0, (struct slice){0});
    assert_touch(2, true, 1, 2);
    queue_client_process(client);
    assert_int_equal(posted, 4);
    assert_int_equal(posts[3].verb, QUEUE_WATCH);
    reader = codec_reader_of(buf_slice(&posts[3].payload));
    assert_int_equal(codec_get_u64(&reader), 8);
}

static void
malformed_answers_hold_nothing(void **state)
{
    struct buf payload;
    (void)state;
    buf_init(&payload, TEXT_MAXIMUM);
    write_jobs(&payload, LEASE_MS, 1, 2);
    const struct slice whole = buf_slice(&payload);
    for (size_t length = 0; length < whole.length; length += 3) {
        posted = 0;
        queue_reserve(client, STAGE_DETECT, 0, 10, 500, on_reserved, NULL);
        answer(0, slice_of(whole.at, length));
        assert_int_equal(told, STATUS_PROTOCOL);
        assert_int_equal(told_jobs, 0);
    }
    queue_reserve(client, STAGE_DETECT, 0, 10, 500, on_reserved, NULL);
    buf_append_char(&payload, 'x');
    answer(posted - 1, buf_slice(&payload));
    assert_int_equal(told, STATUS_PROTOCOL);
    assert_int_equal(queue_client_wait_ms(client), -1);
    buf_release(&payload);
}

/* Two daemons may have answered one reserve: what the second gave goes back at once. */
static void
jobs_that_come_late_go_back(void **state)
{
    struct buf payload;
    struct completion completion;
    uint16_t attempt = 0;
    (void)state;
    buf_init(&payload, TEXT_MAXIMUM);
    reserve(1, 2);
    write_jobs(&payload, LEASE_MS, 2, 3);
    late(late_context, QUEUE_COMPLETE, STATUS_OK, buf_slice(&payload));
    late(late_context, QUEUE_RESERVE, STATUS_TIMEOUT, buf_slice(&payload));
    late(late_context, QUEUE_RESERVE, STATUS_OK, slice_of(payload.data, payload.length - 1));
    assert_int_equal(posted, 1);
    late(late_context, QUEUE_RESERVE, STATUS_OK, buf_slice(&payload));
    assert_int_equal(posted, 2);
    assert_int_equal(posts[1].verb, QUEUE_COMPLETE);
    struct codec_reader reader = codec_reader_of(buf_slice(&posts[1].payload));
    assert_int_equal(codec_get_varint(&reader), 2);
    for (uint64_t id = 3; id <= 4; id++) {
        assert_true(message_get_completion(&reader, &completion, &attempt));
        assert_int_equal(completion.key.id, id);
        assert_int_equal(completion.verdict, VERDICT_RELEASE);
        assert_true(completion.no_attempt);
        assert_int_equal(attempt, id);
    }
    assert_true(codec_at_end(&reader));
    answer(1, (struct slice){0});
    write_jobs(&payload, LEASE_MS, 1, 2); /* all of them are held */
    late(late_context, QUEUE_RESERVE, STATUS_OK, buf_slice(&payload));
    assert_int_equal(posted, 2);
    buf_release(&payload);
}

/* What is put goes out as it is, and holds nothing; the answer is passed on. */
static void
jobs_are_put(void **state)
{
    static const struct job jobs[] = {
        {.key.stage = STAGE_DETECT, .uri = SLICE_INIT("http://a.example/")},
        {.key.stage = STAGE_INDEX, .uri = SLICE_INIT("http://b.example/"), .depth = 7}};
    (void)state;
    for (size_t n = 0; n <= 2; n++) {
        told = STATUS_OK;
        queue_put(client, jobs, n, on_completed, NULL);
        assert_int_equal(posted, n + 1);
        assert_int_equal(posts[n].verb, QUEUE_PUT);
        struct codec_reader reader = codec_reader_of(buf_slice(&posts[n].payload));
        assert_int_equal(codec_get_varint(&reader), n);
        for (size_t i = 0; i < n; i++) {
            struct job job;
            assert_true(message_get_new(&reader, &job));
            assert_int_equal(job.key.stage, jobs[i].key.stage);
            assert_true(slice_equal(job.uri, jobs[i].uri));
            assert_int_equal(job.depth, jobs[i].depth);
        }
        assert_true(codec_at_end(&reader));
        posts[n].done(posts[n].context, n == 1 ? STATUS_FULL : STATUS_OK, SLICE(""),
                      &(struct reason){"no room"});
        assert_int_equal(told, n == 1 ? STATUS_FULL : STATUS_OK);
    }
    assert_int_equal(queue_client_wait_ms(client), -1);
}

static void
script(size_t at, enum status status, uint64_t first, uint64_t second, uint64_t third)
{
    replies[at].status = status;
    buf_reset(&replies[at].payload);
    codec_put_varint(&replies[at].payload, first);
    codec_put_varint(&replies[at].payload, second);
    codec_put_varint(&replies[at].payload, third);
    reply_count = at + 1;
    called = 0;
}

/* A request does so much and no more, so that the daemon is never busy for long. */
static void
calls_are_repeated_until_nothing_is_left(void **state)
{
    uint64_t one = 0, two = 0;
    struct reason why = {""};
    (void)state;
    script(0, STATUS_OK, MESSAGE_KICK_MOST, 30, 0);
    script(1, STATUS_OK, MESSAGE_KICK_MOST, 20, 0);
    script(2, STATUS_OK, MESSAGE_KICK_MOST - 1, 1, 0);
    assert_int_equal(queue_kick(client, STAGE_INDEX, SLICE("uri"), &one, &why), STATUS_OK);
    assert_int_equal(called, 3);
    assert_int_equal(called_verb, QUEUE_KICK);
    assert_int_equal(call.data[0], STAGE_INDEX);
    assert_true(slice_is(buf_slice(&call), (char[]){STAGE_INDEX, 3, 'u', 'r', 'i', '\0'}));
    assert_int_equal(one, 3 * MESSAGE_KICK_MOST - 1);
    called = 0;
    assert_int_equal(queue_retry(client, SLICE("uri"), &one, &two, &why), STATUS_OK);
    assert_int_equal(called, 3);
    assert_int_equal(called_verb, QUEUE_RETRY);
    assert_true(slice_is(buf_slice(&call), "\3uri"));
    assert_int_equal(one, 3 * MESSAGE_KICK_MOST - 1);
    assert_int_equal(two, 51);
    called = 0;
    assert_int_equal(queue_retry(client, SLICE(""), &one, NULL, &why), STATUS_OK);
    script(0, STATUS_OK, 5, 2, 1);
    script(1, STATUS_OK, 6, 1, 0);
    assert_int_equal(queue_forget(client, SLICE("node"), &one, &two, &why), STATUS_OK);
    assert_int_equal(called, 2);
    assert_int_equal(called_verb, QUEUE_FORGET);
    assert_true(slice_is(buf_slice(&call), "\4node"));
    assert_int_equal(one, 11);
    assert_int_equal(two, 3);
    script(0, STATUS_OK, MESSAGE_KICK_MOST, 1, 1);
    script(1, STATUS_TIMEOUT, MESSAGE_KICK_MOST, 1, 1); /* what was done is told, too */
    assert_int_equal(queue_kick(client, STAGE_INDEX, SLICE(""), &one, &why), STATUS_TIMEOUT);
    assert_int_equal(one, MESSAGE_KICK_MOST);
    called = 0;
    assert_int_equal(queue_retry(client, SLICE(""), &one, &two, &why), STATUS_TIMEOUT);
    assert_int_equal(one, MESSAGE_KICK_MOST);
    assert_int_equal(two, 1);
    called = 0;
    assert_int_equal(queue_forget(client, SLICE("node"), &one, &two, &why), STATUS_TIMEOUT);
    assert_int_equal(one, MESSAGE_KICK_MOST);
    assert_int_equal(two, 1);
}

static size_t seen;

static void
see_node(void *context, const struct queue_node *node)
{
    (void)context;
    assert_true(slice_is(node->name, "other"));
    assert_int_equal(node->jobs, 10 + seen);
    seen++;
}

static void
nodes_and_explanations_are_told(void **state)
{
    struct queue_explanation look;
    struct reason why = {""};
    (void)state;
    script(0, STATUS_OK, 0, 0, 0);
    buf_reset(&replies[0].payload);
    codec_put_u32(&replies[0].payload, 2);
    for (uint64_t i = 0; i < 2; i++) {
        message_put_node(&replies[0].payload,
                         &(struct queue_node){.name = SLICE("other"), .jobs = 10 + i});
    }
    seen = 0;
    assert_int_equal(queue_nodes(client, see_node, NULL, OWN_MS, &why), STATUS_OK);
    assert_int_equal(called_verb, QUEUE_NODES);
    assert_int_equal(seen, 2);
    called = seen = 0;
    replies[0].payload.length--;
    assert_int_equal(queue_nodes(client, see_node, NULL, OWN_MS, &why), STATUS_PROTOCOL);
    called = 0;
    replies[0].status = STATUS_TIMEOUT;
    assert_int_equal(queue_nodes(client, see_node, NULL, OWN_MS, &why), STATUS_TIMEOUT);
    called = 0;
    replies[0].status = STATUS_OK;
    buf_reset(&replies[0].payload);
    message_put_explanation(&replies[0].payload,
                            &(struct queue_explanation){.known = 1, .depth = 3, .period_ms = 77});
    assert_int_equal(queue_explanation(client, SLICE("uri"), &look, &why), STATUS_OK);
    assert_int_equal(called_verb, QUEUE_LOOK);
    assert_true(slice_is(buf_slice(&call), "\3uri"));
    assert_true(look.known == 1 && look.depth == 3 && look.period_ms == 77);
    called = 0;
    replies[0].payload.length--;
    assert_int_equal(queue_explanation(client, SLICE("uri"), &look, &why), STATUS_PROTOCOL);
    called = 0;
    replies[0].status = STATUS_NOT_FOUND;
    assert_int_equal(queue_explanation(client, SLICE("uri"), &look, &why), STATUS_NOT_FOUND);
    called = 0;
    replies[0].status = STATUS_OK;
    buf_reset(&replies[0].payload);
    struct queue_stats stats;
    assert_int_equal(queue_stats_get(client, &stats, OWN_MS, &why), STATUS_PROTOCOL);
    assert_int_equal(called_verb, QUEUE_STATS);
    called = 0;
    message_put_stats(&replies[0].payload, &(struct queue_stats){.seen = 55});
    assert_int_equal(queue_stats_get(client, &stats, OWN_MS, &why), STATUS_OK);
    assert_int_equal(stats.seen, 55);
}

static bool
see_job(void *context, const struct job *job, struct slice state, struct slice reason,
        struct slice reproducer)
{
    const size_t *most = context;
    assert_true(slice_is(state, "buried"));
    assert_true(slice_is(reason, "a bomb") && slice_is(reproducer, "quadrille do it"));
    assert_int_equal(job->key.id, seen + 1);
    assert_true(slice_is(job->uri, "http://a.example/"));
    seen++;
    return seen < *most;
}

static void
jobs_are_shown_until_enough_are_seen(void **state)
{
    enum { JOBS = 3 };
    struct reason why = {""};
    size_t most = SIZE_MAX;
    (void)state;
    script(0, STATUS_OK, 0, 0, 0);
    buf_reset(&replies[0].payload);
    codec_put_u32(&replies[0].payload, JOBS);
    for (uint64_t id = 1; id <= JOBS; id++) {
        const struct job job = {.key = {.stage = STAGE_DETECT, .id = id},
                                .uri = SLICE("http://a.example/")};
        job_key_encode(&replies[0].payload, &job.key);
        job_encode(&replies[0].payload, &job);
        codec_put_slice(&replies[0].payload, SLICE("a bomb"));
        codec_put_slice(&replies[0].payload, SLICE("quadrille do it"));
    }
    seen = 0;
    assert_int_equal(queue_peek(client, STAGE_DETECT, "buried", 300, see_job, &most, &why),
                     STATUS_OK);
    assert_int_equal(seen, JOBS);
    assert_int_equal(called_verb, QUEUE_PEEK);
    struct codec_reader reader = codec_reader_of(buf_slice(&call));
    assert_int_equal(codec_get_u8(&reader), STAGE_DETECT);
    assert_true(slice_is(codec_get_slice(&reader), "buried"));
    assert_int_equal(codec_get_varint(&reader), 300);
    assert_true(codec_at_end(&reader));
    most = JOBS - 1;
    seen = called = 0;
    assert_int_equal(queue_peek(client, STAGE_DETECT, "buried", 300, see_job, &most, &why),
                     STATUS_OK);
    assert_int_equal(seen, most);
    most = SIZE_MAX;
    for (size_t cut = 1; cut <= 2; cut++) { /* what is whole is shown, and more is not understood */
        seen = called = 0;
        replies[0].payload.length--;
        assert_int_equal(queue_peek(client, STAGE_DETECT, "buried", 300, see_job, &most, &why),
                         STATUS_PROTOCOL);
        assert_string_equal(why.text, "the queue's answer was not understood");
        assert_int_equal(seen, JOBS - 1);
    }
    seen = called = 0;
    replies[0].status = STATUS_TIMEOUT;
    assert_int_equal(queue_peek(client, STAGE_DETECT, "buried", 300, see_job, &most, &why),
                     STATUS_TIMEOUT);
    assert_int_equal(seen, 0);
}

static bool
see_host(void *context, const struct queue_host *host)
{
    const size_t *most = context;
    assert_int_equal(host->lane, seen);
    seen++;
    return seen < *most;
}

/* Hosts come so many at a time; the next are asked for behind the last lane. */
static void
hosts_are_asked_for_until_all_are_seen(void **state)
{
    enum { ALL = MESSAGE_HOSTS_MOST + 2 };
    static const struct {
        size_t most, seen, called;
    } cases[] = {{ALL + 1, ALL, 2}, {3, 3, 1}, {MESSAGE_HOSTS_MOST + 1, MESSAGE_HOSTS_MOST + 1, 2}};
    struct reason why = {""};
    (void)state;
    for (size_t part = 0; part < 2; part++) {
        script(part, STATUS_OK, 0, 0, 0);
        buf_reset(&replies[part].payload);
        const uint32_t n = part == 0 ? MESSAGE_HOSTS_MOST : ALL - MESSAGE_HOSTS_MOST;
        codec_put_u32(&replies[part].payload, n);
        for (uint32_t i = 0; i < n; i++) {
            message_put_host(&replies[part].payload,
                             &(struct queue_host){.origin = SLICE("http://a.example"),
                                                  .lane = part * MESSAGE_HOSTS_MOST + i});
        }
    }
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t most = cases[i].most;
        seen = called = 0;
        assert_int_equal(
            queue_hosts(client, SLICE("http://a.example"), i == 1, see_host, &most, &why),
            STATUS_OK);
        assert_int_equal(called_verb, QUEUE_HOSTS);
        assert_int_equal(seen, cases[i].seen);
        assert_int_equal(called, cases[i].called);
        struct codec_reader reader = codec_reader_of(buf_slice(&call));
        assert_int_equal(codec_get_u64(&reader), called == 2 ? MESSAGE_HOSTS_MOST : 0);
        assert_true(slice_is(codec_get_slice(&reader), "http://a.example"));
        assert_int_equal(codec_get_u8(&reader), i == 1 ? HOSTS_ASIDE : 0);
        assert_int_equal(codec_get_varint(&reader), MESSAGE_HOSTS_MOST);
        assert_true(codec_at_end(&reader));
    }
    seen = called = 0;
    size_t most = SIZE_MAX;
    replies[1].payload.length--;
    assert_int_equal(queue_hosts(client, SLICE(""), false, see_host, &most, &why), STATUS_PROTOCOL);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(clients_leave_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(without_a_socket_there_is_no_client, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_held_is_renewed_at_a_third_of_the_lease, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(what_has_ended_is_not_held, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_not_held_ends_at_no_attempt, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_ending_is_held_while_there_is_a_lease, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_new_daemon_is_not_told_of_what_it_has_ended, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_daemon_that_was_started_again_is_told_what_is_held,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(malformed_answers_hold_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(jobs_that_come_late_go_back, set_up, tear_down),
        cmocka_unit_test_setup_teardown(jobs_are_put, set_up, tear_down),
        cmocka_unit_test_setup_teardown(calls_are_repeated_until_nothing_is_left, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(hosts_are_asked_for_until_all_are_seen, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nodes_and_explanations_are_told, set_up, tear_down),
        cmocka_unit_test_setup_teardown(jobs_are_shown_until_enough_are_seen, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("queue_client", tests, NULL, NULL);
}
