/* How the changes of several partitions are followed (index/client/client_changes.c): what a
 * follower is told, in which order, and what becomes of streams that break off or are malformed.
 * The linker puts the functions below in the place of the streams, so there are no services. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/codec.h"
#include "index/client/index_client.h"
#include "index/client/partitions/client_calls.h"
#include "index/protocol/service_protocol.h"
#include "tests/unit/index_service/told_changes.h"

enum { PARTITIONS_ASKED = 2, TEXT_MAXIMUM = 1 << 16 };

static const struct script {
    const char *text; /* of the stream, in pieces of `piece` bytes */
    enum status end;
} * scripts;
static size_t piece_bytes;
static const struct script *later; /* what `scripts` is from the next stream of partition 0 on */
static unsigned open_streams, streams_begun;
static uint32_t last_timeout_ms; /* of the question for the last change */
static struct buf requests;
static const atomic_bool *cancel; /* of the client that follows */

void __wrap_stream_start(struct index_stream_reader *stream, struct index_client *client,
                         size_t partition, struct slice request);
enum status __wrap_stream_next(struct index_stream_reader *stream, struct slice *bytes,
                               struct reason *why);
void __wrap_stream_close(struct index_stream_reader *stream);

void
__wrap_stream_start(struct index_stream_reader *stream, struct index_client *client,
                    size_t partition, struct slice request)
{
    struct codec_reader in = codec_reader_of(request);
    *stream = (struct index_stream_reader){.client = client, .partition = partition};
    open_streams++;
    if (later != NULL && partition == 0 && streams_begun > 0) {
        scripts = later;
    }
    streams_begun++;
    const uint8_t kind = codec_get_u8(&in);
    if (kind == INDEX_STREAM_LAST_CHANGE) {
        const struct slice uri = codec_get_slice(&in);
        (void)buf_printf(&requests, "%zu %.*s", partition, SLICE_PRINT(uri));
        assert_int_equal(partition, client_owner(client, uri));
        assert_int_equal(client->deadline_ms > 0, last_timeout_ms > 0);
        assert_true(codec_at_end(&in));
        return;
    }
    assert_int_equal(kind, INDEX_STREAM_CHANGES);
    const uint64_t batch = codec_get_varint(&in), stamp = codec_get_varint(&in);
    (void)buf_printf(&requests, "%zu:%llu.%llx", partition, (unsigned long long)batch,
                     (unsigned long long)stamp);
    for (uint64_t graphs = codec_get_varint(&in); graphs > 0; graphs--) {
        const struct slice graph = codec_get_slice(&in);
        (void)buf_printf(&requests, " %.*s", SLICE_PRINT(graph));
    }
    (void)buf_append_char(&requests, '\n');
    assert_false(in.bad);
}

enum status
__wrap_stream_next(struct index_stream_reader *stream, struct slice *bytes, struct reason *why)
{
    const struct script *script = &scripts[stream->partition];
    const char *rest = script->text + stream->offset;
    const size_t left = strlen(rest), length = left < piece_bytes ? left : piece_bytes;
    *bytes = slice_of(rest, length);
    stream->offset += length;
    return length > 0                  ? STATUS_OK
           : script->end == STATUS_END ? STATUS_END
                                       : status_fail(why, script->end, "it broke off");
}

void
__wrap_stream_close(struct index_stream_reader *stream)
{
    (void)stream;
    open_streams--;
}

/* ---- in the place of the partitions' news, while `waiting` ---- */

struct news {
    enum status status;
    uint64_t batch, stamp;
};

static bool waiting;
static volatile bool stopped;
static const struct news *news; /* of the first partition, in order; the other has none */
static size_t news_left;
static struct asked {
    rpc_done *done; /* NULL: not, or it was told */
    void *context;
} asked[PARTITIONS_ASKED];

void __real_rpc_client_post(struct rpc_client *client, uint8_t verb, struct slice payload,
                            uint32_t timeout_ms, rpc_done *done, void *context);
void __wrap_rpc_client_post(struct rpc_client *client, uint8_t verb, struct slice payload,
                            uint32_t timeout_ms, rpc_done *done, void *context);
void
__wrap_rpc_client_post(struct rpc_client *client, uint8_t verb, struct slice payload,
                       uint32_t timeout_ms, rpc_done *done, void *context)
{
    if (!waiting) {
        __real_rpc_client_post(client, verb, payload, timeout_ms, done, context);
        return;
    }
    struct codec_reader in = codec_reader_of(payload);
    assert_int_equal(verb, INDEX_VERB_POSITION);
    assert_int_equal(codec_get_u8(&in), 1); /* it answers when there are news */
    const uint64_t batch = codec_get_u64(&in);
    assert_true(codec_at_end(&in));
    struct asked *one = &asked[batch == 5 ? 0 : 1];
    assert_null(one->done);
    *one = (struct asked){done, context};
}

static void
tell(struct asked *one, enum status status, uint64_t batch, uint64_t stamp)
{
    const struct reason why = {"the partition is down"};
    rpc_done *const done = one->done;
    struct buf payload;
    buf_init(&payload, 64);
    codec_put_u64(&payload, batch);
    codec_put_u64(&payload, stamp);
    one->done = NULL;
    done(one->context, status, buf_slice(&payload), &why);
    buf_release(&payload);
}

enum status __real_client_wait(struct index_client *client, struct reason *why);
enum status __wrap_client_wait(struct index_client *client, struct reason *why);
enum status
__wrap_client_wait(struct index_client *client, struct reason *why)
{
    if (!waiting) {
        return __real_client_wait(client, why);
    }
    assert_non_null(asked[0].done);
    assert_non_null(asked[1].done);
    if (news_left > 0) {
        tell(&asked[0], news->status, news->batch, news->stamp);
        news++, news_left--;
    } else {
        stopped = true;
    }
    return STATUS_OK;
}

/* ---- in the place of the pause after an outage ---- */

static unsigned pauses, stop_at_pause; /* 0: it goes on */
int __real_poll(struct pollfd *fds, nfds_t count, int timeout_ms);
int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout_ms);
int
__wrap_poll(struct pollfd *fds, nfds_t count, int timeout_ms)
{
    if (count > 0) {
        return __real_poll(fds, count, timeout_ms);
    }
    assert_int_equal(timeout_ms, 200);
    stopped = stopped || ++pauses == stop_at_pause;
    return 0;
}

static struct index_client *
client_open(void)
{
    static const char *const endpoints[] = {"ipc:///nonexistent/0", "ipc:///nonexistent/1"};
    const struct index_client_options options = {
        .endpoints = endpoints, .count = PARTITIONS_ASKED, .name = "test"};
    struct index_client *client;
    struct reason why = {""};
    assert_int_equal(index_client_open(&client, &options, &why), STATUS_OK);
    return client;
}

static enum status
follow(const struct script of[PARTITIONS_ASKED], const struct index_follow_options *options,
       const struct index_follower *with, struct reason *why)
{
    struct index_client *client = client_open();
    scripts = of;
    buf_reset(&requests);
    buf_reset(&told_events);
    streams_begun = 0;
    client->cancel = cancel;
    client->deadline_ms = UINT64_MAX; /* of a call before */
    client->partitions[0].missing = true;
    const enum status status = index_changes(client, options, with, why);
    assert_true(client->cancel == cancel);
    if (streams_begun > 0) {
        assert_int_equal(client->deadline_ms, 0);
        assert_false(client->partitions[0].missing);
    }
    (void)buf_append(&requests, "", 1);
    (void)buf_append(&told_events, "", 1);
    assert_int_equal(open_streams, 0);
    index_client_close(client);
    return status;
}

static enum status
ask_last(const char *text, enum status end, struct reason *why)
{
    struct index_client *client = client_open();
    const struct script of[PARTITIONS_ASKED] = {{text, end}, {text, end}};
    scripts = of;
    buf_reset(&requests);
    buf_reset(&told_events);
    const enum status status =
        index_last_change(client, SLICE("http://a.example/"), last_timeout_ms, &told_follower, why);
    assert_int_equal(client->deadline_ms, 0);
    (void)buf_append(&requests, "", 1);
    (void)buf_append(&told_events, "", 1);
    assert_int_equal(open_streams, 0);
    assert_string_equal(requests.data + 1, " http://a.example/");
    index_client_close(client);
    return status;
}

/* ---- tests ---- */

static const struct script whole[PARTITIONS_ASKED] = {
    {"B\t5.a1\t4.a0\nG\t42\thttp://a.example/\n+<s> <p> \"x\\ty\" <g>\n-<s> <p> <o> <g>\nC\t5.a1\n"
     "B\t6.b0\t5.a1\n+ab\n-cd\nC\tx\n",
     STATUS_END},
    {"B\t3.2\t0.0\nG\t18446744073709551615\thttp://b.example/\n+<a> <b> <c> <d>\nC\t3.2\n",
     STATUS_END}};

static const char whole_events[] = "begin 0 0:5.a1 after 0:4.a0 reached 0:5.a1,1:0.0\n"
                                   "document http://a.example/ 42\n"
                                   "more<s> <p> \"x\\ty\" <g>\n"
                                   "less<s> <p> <o> <g>\n"
                                   "commit 0:5.a1,1:0.0\n"
                                   "begin 0 0:6.b0 after 0:5.a1 reached 0:6.b0,1:0.0\n"
                                   "moreab\n"
                                   "lesscd\n"
                                   "commit 0:6.b0,1:0.0\n"
                                   "begin 1 1:3.2 after 1:0.0 reached 0:6.b0,1:3.2\n"
                                   "document http://b.example/ 18446744073709551615\n"
                                   "more<a> <b> <c> <d>\n"
                                   "commit 0:6.b0,1:3.2\n";

static void
batches_are_told_in_order_however_the_bytes_come(void **state)
{
    static const size_t pieces[] = {1, 2, 7, 1000};
    const struct slice graphs[] = {SLICE("http://a.example/"), SLICE("http://b.example/")};
    (void)state;
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        struct reason why = {""};
        const struct index_follow_options options = {
            .since = SLICE("0:4.a0,1:0.0"), .graphs = graphs, .graph_count = i % 3};
        piece_bytes = pieces[i];
        assert_int_equal(follow(whole, &options, &told_follower, &why), STATUS_OK);
        assert_string_equal(told_events.data, whole_events);
        assert_int_equal(told_began_ms, 2);
        assert_string_equal(requests.data,
                            i % 3 == 2   ? "0:4.a0 http://a.example/ http://b.example/\n"
                                           "1:0.0 http://a.example/ http://b.example/\n"
                            : i % 3 == 1 ? "0:4.a0 http://a.example/\n1:0.0 http://a.example/\n"
                                         : "0:4.a0\n1:0.0\n");
    }
}

static void
what_a_follower_does_not_ask_for_is_passed_over(void **state)
{
    const struct index_follower nothing = {0};
    const struct index_follow_options options = {.since = SLICE("0:4.a0,1:0.0")};
    struct reason why = {""};
    (void)state;
    piece_bytes = 9;
    assert_int_equal(follow(whole, &options, &nothing, &why), STATUS_OK);
    assert_string_equal(told_events.data, "");
}

static void
streams_that_make_no_sense_are_told(void **state)
{
    static const char *const texts[] = {
        "C\t1.1\n",
        "G\t1\thttp://a.example/\n",
        "+<s> <p> <o> <g>\n",
        "-<s> <p> <o> <g>\n",
        "B\t1.1\t0.0\nB\t2.1\t1.1\n",
        "B\t1.1\t0.0\nB\t2.1\t0.0\n",
        "B\t1.1\t1.1\nC\t1.1\n",
        "B\t2.1\t1.0\nC\t1.1\n",
        "B\t1.1\n",
        "B\t1.1 \t0.0\n",
        "B\t1.1\t0.0x\n",
        "B\t1\t0.0\n",
        "B\t1.1\t0.0\nG\t1 http://a.example/\n",
        "B\t1.1\t0.0\nX 1\n",
        "B\t1.1\t0.0\n\n",
        "B\t1.1\t0.0\nC\n",
        "B\t1.1\t0.0\nC\t\n",
        "B\t1.1\t0.0\n+<\n",
        "B\t1.1\t0.0\n-<\n",
        "B\t1.1\t0.0\n", /* no end */
    };
    (void)state;
    piece_bytes = 5;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const struct script of[PARTITIONS_ASKED] = {{texts[i], STATUS_END}, {"", STATUS_END}};
        struct reason why = {""};
        assert_int_equal(follow(of, &(struct index_follow_options){0}, &told_follower, &why),
                         STATUS_PROTOCOL);
        assert_string_equal(why.text, "the index sent malformed changes");
        assert_null(strstr(told_events.data, "commit"));
        assert_null(strstr(requests.data, "1:"));
        /* A batch is taken back that broke off; not one in which the stream was refused. */
        assert_int_equal(strstr(told_events.data, "abort") != NULL,
                         i + 1 == sizeof texts / sizeof *texts);
    }
}

static void
the_last_change_of_a_document_is_one_batch(void **state)
{
    static const char *const batch = "B\t5.a1\t4.a0\nG\t7\thttp://a.example/\n+<s> <p> <o> <g>\n";
    struct reason why = {""};
    char text[200], expected[200];
    (void)state;
    piece_bytes = 7;
    snprintf(text, sizeof text, "%sC\t5.a1\n", batch);
    assert_int_equal(ask_last(text, STATUS_END, &why), STATUS_OK);
    last_timeout_ms = 60000;
    assert_int_equal(ask_last(text, STATUS_END, &why), STATUS_OK);
    const char partition = requests.data[0];
    snprintf(expected, sizeof expected,
             "begin %c %c:5.a1 after %c:4.a0 reached %c:5.a1\ndocument http://a.example/ 7\n"
             "more<s> <p> <o> <g>\ncommit %c:5.a1\n",
             partition, partition, partition, partition, partition);
    assert_string_equal(told_events.data, expected);
    assert_int_equal(ask_last("", STATUS_END, &why), STATUS_NOT_FOUND);
    assert_non_null(strstr(why.text, "http://a.example/"));
    assert_int_equal(ask_last("", STATUS_STALE, &why), STATUS_STALE);
    assert_int_equal(ask_last(batch, STATUS_END, &why), STATUS_PROTOCOL);
    snprintf(text, sizeof text, "%sC\t5.a1\nB\t6.a2\t5.a1\nC\t6.a2\n", batch);
    assert_int_equal(ask_last(text, STATUS_END, &why), STATUS_PROTOCOL);
}

static void
a_batch_that_breaks_off_is_taken_back(void **state)
{
    static const struct script of[PARTITIONS_ASKED] = {
        {"B\t1.1\t0.0\nC\t1.1\nB\t2.1\t1.1\n+<s> <p> <o> <g>\n", STATUS_TIMEOUT}, {"", STATUS_END}};
    struct reason why = {""};
    (void)state;
    piece_bytes = 1000;
    assert_int_equal(follow(of, &(struct index_follow_options){0}, &told_follower, &why),
                     STATUS_TIMEOUT);
    assert_string_equal(why.text, "it broke off");
    assert_string_equal(told_events.data, "begin 0 0:1.1 after 0:0.0 reached 0:1.1,1:0.0\n"
                                          "commit 0:1.1,1:0.0\n"
                                          "begin 0 0:2.1 after 0:1.1 reached 0:2.1,1:0.0\n"
                                          "more<s> <p> <o> <g>\nabort\n");
    struct index_follower without = told_follower;
    without.abort = NULL;
    assert_int_equal(follow(of, &(struct index_follow_options){0}, &without, &why), STATUS_TIMEOUT);
    told_refused = "abort";
    assert_int_equal(follow(of, &(struct index_follow_options){0}, &told_follower, &why),
                     STATUS_FULL);
    told_refused = NULL;
}

static void
a_follower_can_refuse_each_event(void **state)
{
    static const char *const kinds[] = {"begin", "document", "quad", "commit"};
    const struct index_follow_options options = {.since = SLICE("0:4.a0,1:0.0"), .follow = true};
    (void)state;
    piece_bytes = 1000;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct reason why = {""};
        told_refused = kinds[i];
        assert_int_equal(follow(whole, &options, &told_follower, &why), STATUS_FULL);
        assert_string_equal(why.text, "no room");
        const char *last = strstr(told_events.data, kinds[i]);
        assert_true(i == 2 || (last != NULL && strchr(last, '\n')[1] == '\0'));
        assert_null(strstr(told_events.data, "abort"));
    }
    told_refused = NULL;
}

static void
positions_are_checked_and_a_stop_ends_after_the_batch(void **state)
{
    static const char *const wrong[] = {"0:4.a0", "0:4.a0,1:0.0,2:0.0", "1:0.0,0:4.a0", "x"};
    struct reason why = {""};
    (void)state;
    stopped = true;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const struct index_follow_options options = {.since = slice_string(wrong[i])};
        assert_int_equal(follow(whole, &options, &told_follower, &why), STATUS_MISUSE);
        assert_string_equal(requests.data, "");
    }
    const struct index_follow_options options = {
        .since = SLICE("0:4.a0,1:0.0"), .follow = true, .stopped = &stopped};
    assert_int_equal(follow(whole, &options, &told_follower, &why), STATUS_OK);
    assert_string_equal(requests.data, "");
}

/* A partition whose batch or stamp is another is read again; one that says the same, or fails, is
 * asked again. */
static void
partitions_that_have_news_are_read_again(void **state)
{
    static const struct script nothing[PARTITIONS_ASKED] = {{"", STATUS_END}, {"", STATUS_END}};
    static const struct {
        struct news news[2];
        unsigned reads;
    } cases[] = {{{{STATUS_OK, 5, 10}, {STATUS_OK, 5, 10}}, 1},
                 {{{STATUS_OK, 6, 10}, {STATUS_OK, 5, 10}}, 2},
                 {{{STATUS_OK, 4, 10}, {STATUS_OK, 5, 10}}, 2},
                 {{{STATUS_OK, 5, 11}, {STATUS_OK, 5, 10}}, 2},
                 {{{STATUS_OK, 5, 10}, {STATUS_OK, 5, 9}}, 2},
                 {{{STATUS_OK, 6, 11}, {STATUS_OK, 7, 10}}, 3},
                 {{{STATUS_TIMEOUT, 6, 11}, {STATUS_OK, 5, 10}}, 1},
                 {{{STATUS_TIMEOUT, 5, 10}, {STATUS_OK, 6, 10}}, 2}};
    const struct index_follow_options options = {
        .since = SLICE("0:5.a,1:3.2"), .follow = true, .stopped = &stopped};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct reason why = {""};
        news = cases[i].news;
        news_left = 2;
        stopped = false;
        waiting = true;
        assert_int_equal(follow(nothing, &options, &told_follower, &why), STATUS_OK);
        waiting = false;
        assert_int_equal(requests.length, cases[i].reads * strlen("0:5.a\n1:3.2\n") + 1);
        assert_string_equal(told_events.data, "");
        for (size_t partition = 0; partition < PARTITIONS_ASKED; partition++) {
            tell(&asked[partition], STATUS_CANCELLED, 0, 0); /* nobody waits for it */
        }
    }
}

/* A partition that is down is asked again after a pause, from where the follower is; what the
 * others have is told meanwhile. A failure that does not pass ends it. */
static void
a_partition_that_is_down_is_asked_again(void **state)
{
    static const struct script back[PARTITIONS_ASKED] = {{"B\t2.2\t1.1\nC\t2.2\n", STATUS_END},
                                                         {"", STATUS_NOT_FOUND}};
    static const struct {
        enum status status;
        bool passes;
    } cases[] = {{STATUS_TIMEOUT, true},   {STATUS_NOT_FOUND, true},  {STATUS_AGAIN, true},
                 {STATUS_SYSTEM, true},    {STATUS_LIMIT, true},      {STATUS_STALE, false},
                 {STATUS_PROTOCOL, false}, {STATUS_CANCELLED, false}, {STATUS_BAD_INPUT, false}};
    static const char *const taken_back = "begin 0 0:1.1 after 0:0.0 reached 0:1.1,1:3.2\n"
                                          "commit 0:1.1,1:3.2\n"
                                          "begin 0 0:2.1 after 0:1.1 reached 0:2.1,1:3.2\n"
                                          "more<s> <p> <o> <g>\nabort\n";
    static const char *const read_again = "begin 1 1:4.4 after 1:3.2 reached 0:1.1,1:4.4\n"
                                          "commit 0:1.1,1:4.4\n"
                                          "begin 0 0:2.2 after 0:1.1 reached 0:2.2,1:4.4\n"
                                          "commit 0:2.2,1:4.4\n";
    const struct index_follow_options options = {
        .since = SLICE("0:0.0,1:3.2"), .follow = true, .stopped = &stopped};
    (void)state;
    piece_bytes = 1000;
    stop_at_pause = 2;
    later = back;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct script down[PARTITIONS_ASKED] = {
            {"B\t1.1\t0.0\nC\t1.1\nB\t2.1\t1.1\n+<s> <p> <o> <g>\n+<s", cases[i].status},
            {"B\t4.4\t3.2\nC\t4.4\n", STATUS_END}};
        struct reason why = {""};
        stopped = false;
        pauses = 0;
        assert_int_equal(follow(down, &options, &told_follower, &why),
                         cases[i].passes ? STATUS_OK : cases[i].status);
        assert_int_equal(pauses, cases[i].passes ? 2 : 0);
        assert_string_equal(requests.data,
                            cases[i].passes ? "0:0.0\n1:3.2\n0:1.1\n1:4.4\n" : "0:0.0\n");
        assert_memory_equal(told_events.data, taken_back, strlen(taken_back));
        assert_string_equal(told_events.data + strlen(taken_back),
                            cases[i].passes ? read_again : "");
    }
    const struct script down[PARTITIONS_ASKED] = {{"", STATUS_TIMEOUT}, {"", STATUS_END}};
    const atomic_bool cancelled = true;
    struct reason why = {""};
    stopped = false;
    cancel = &cancelled;
    assert_int_equal(follow(down, &options, &told_follower, &why), STATUS_TIMEOUT);
    cancel = NULL;
    later = NULL;
}

static void
a_request_that_is_too_long_is_refused(void **state)
{
    static const size_t length = 9 << 20;
    char *text = malloc(length);
    struct reason why = {""};
    (void)state;
    assert_non_null(text);
    memset(text, 'a', length);
    const struct slice graph = slice_of(text, length);
    const struct index_follow_options options = {
        .graphs = &graph, .graph_count = 1, .follow = true};
    assert_int_equal(follow(whole, &options, &told_follower, &why), STATUS_LIMIT);
    assert_string_equal(why.text, "too many graphs");
    assert_string_equal(requests.data, "");
    struct index_client *client = client_open();
    client->deadline_ms = 1;
    assert_int_equal(index_last_change(client, graph, 10000, &told_follower, &why), STATUS_LIMIT);
    assert_string_equal(why.text, "the URI is too long");
    assert_int_equal(client->deadline_ms, 0);
    assert_int_equal(open_streams, 0);
    index_client_close(client);
    free(text);
}

static int
set_up(void **state)
{
    (void)state;
    buf_init(&requests, TEXT_MAXIMUM);
    buf_init(&told_events, TEXT_MAXIMUM);
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    buf_release(&requests);
    buf_release(&told_events);
    return 0;
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batches_are_told_in_order_however_the_bytes_come),
        cmocka_unit_test(what_a_follower_does_not_ask_for_is_passed_over),
        cmocka_unit_test(streams_that_make_no_sense_are_told),
        cmocka_unit_test(the_last_change_of_a_document_is_one_batch),
        cmocka_unit_test(a_batch_that_breaks_off_is_taken_back),
        cmocka_unit_test(a_follower_can_refuse_each_event),
        cmocka_unit_test(positions_are_checked_and_a_stop_ends_after_the_batch),
        cmocka_unit_test(partitions_that_have_news_are_read_again),
        cmocka_unit_test(a_partition_that_is_down_is_asked_again),
        cmocka_unit_test(a_request_that_is_too_long_is_refused),
    };
    return cmocka_run_group_tests_name("change_stream", tests, set_up, tear_down);
}
