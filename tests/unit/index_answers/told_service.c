#include "tests/unit/index_answers/told_service.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

#include "base/memory.h"
#include "index/serve/answers.h"

enum { LOG_MOST = 1 << 20, RPC_DESCRIPTOR = 12345, WINDOW = 2 << 20 };

struct told_cursor told_cursors[TOLD_CURSORS_MOST];
size_t told_cursor_count, told_publishes;
enum status told_cursor_status;
struct service *told_service;
uint64_t told_now_ms, told_tended_ms, told_batch;
struct buf told_log;
int told_wait_ms;
bool told_in_cache;
struct work *told_work;
struct patch *told_patches;

max_align_t told_places[13];
struct turns *told_turns[2] = {PLACE(turns, 0), PLACE(turns, 1)};
struct threads *told_threads = PLACE(threads, 2);

static const char *failing_call;
const struct service_options *told_options;
unsigned told_made;
int told_announced;
uint64_t told_first_id;
static size_t jobs;
static struct {
    struct rpc_request requests[TOLD_REQUESTS_MOST];
    char payloads[TOLD_REQUESTS_MOST][64];
    size_t first, count;
} incoming;
static void *(*loop)(void *);
static void *loop_argument;
static jmp_buf after_round;
static bool in_round;

enum status
told_fails(const char *call, struct reason *why)
{
    return failing_call != NULL && strcmp(failing_call, call) == 0
               ? status_fail(why, STATUS_DENIED, "%s failed", call)
               : STATUS_OK;
}

/* ---- what a service is told_made of ---- */

STAND_IN(uint64_t, clock_monotonic_ms, (void))
{
    return told_now_ms;
}

STAND_IN(int, eventfd, (unsigned initial, int flags))
{
    assert_int_equal(initial, 0);
    assert_int_equal(flags, EFD_NONBLOCK | EFD_CLOEXEC);
    if (told_fails("eventfd", NULL) != STATUS_OK) {
        errno = EMFILE;
        return -1;
    }
    return 4711;
}

STAND_IN(ssize_t, read, (int fd, void *to, size_t count))
{
    assert_int_equal(fd, 4711);
    assert_int_equal(count, 8);
    (void)to;
    LOG("drain\n");
    return 8;
}

STAND_IN(ssize_t, write, (int fd, const void *from, size_t count))
{
    assert_int_equal(fd, 4711);
    assert_int_equal(count, 8);
    (void)from;
    LOG("wake\n");
    return 8;
}

STAND_IN(void, file_close, (int fd))
{
    LOG("close %d\n", fd);
}

STAND_IN(int, pthread_create,
         (pthread_t * thread, const pthread_attr_t *attributes, void *(*work)(void *),
          void *argument))
{
    (void)thread, (void)attributes;
    if (told_fails("thread", NULL) != STATUS_OK) {
        return EAGAIN;
    }
    loop = work;
    loop_argument = argument;
    return 0;
}

STAND_IN(int, pthread_join, (pthread_t thread, void **result))
{
    (void)thread, (void)result;
    assert_null(loop(loop_argument)); /* it ends without going round again */
    LOG("join\n");
    return 0;
}

/* The loop waits once a round. */
STAND_IN(int, poll, (struct pollfd * fds, nfds_t count, int timeout_ms))
{
    assert_int_equal(count, 2);
    assert_int_equal(fds[0].fd, RPC_DESCRIPTOR);
    assert_int_equal(fds[1].fd, 4711);
    assert_true(fds[0].events == POLLIN && fds[1].events == POLLIN);
    told_wait_ms = timeout_ms;
    if (!in_round) {
        longjmp(after_round, 1);
    }
    in_round = false;
    return 0;
}

/* ---- answers and cursors ---- */

struct answer {
    bool query, maintenance;
    uint64_t client;
};

STAND_IN(enum status, answer_new,
         (struct answer * *answer, struct partition *partition,
          const struct service_options *options, struct sessions *sessions, struct slice request,
          struct reason *why))
{
    const char kind = request.length > 1 ? request.at[1] : '!';
    assert_ptr_equal(partition, PLACE(partition, 3));
    assert_ptr_equal(sessions, PLACE(sessions, 4));
    assert_int_equal(options->cursors, told_options->cursors);
    if (kind == '!') {
        return status_fail(why, STATUS_BAD_INPUT, "it is wrong");
    }
    *answer = memory_new(sizeof **answer);
    **answer = (struct answer){kind == 'q', kind == 'm', kind == 'c' ? 77 : 0};
    jobs++;
    return STATUS_OK;
}

STAND_IN(void, answer_free, (void *answer))
{
    free(answer);
    jobs--;
}

STAND_IN(bool, answer_is_query, (const struct answer *answer))
{
    return answer->query;
}

STAND_IN(bool, answer_is_maintenance, (const struct answer *answer))
{
    return answer->maintenance;
}

STAND_IN(uint64_t, answer_client, (const struct answer *answer))
{
    return answer->client;
}

STAND_IN(const struct partition_needs *, answer_needs, (const struct answer *answer))
{
    assert_non_null(answer);
    return PLACE(partition_needs, 11);
}

struct cursor {
    struct told_cursor *told;
    uint64_t id;
    cursor_release *release;
    void *job;
};

STAND_IN(enum status, cursor_open,
         (struct cursor * *cursor, uint64_t id, const struct cursor_settings *settings,
          cursor_produce *produce, cursor_release *release, void *job, struct reason *why))
{
    assert_true(produce == answer_produce);
    if (told_cursor_status != STATUS_OK) {
        release(job);
        return status_fail(why, told_cursor_status, "no thread");
    }
    assert_int_equal(settings->window, WINDOW);
    assert_int_equal(settings->event, 4711);
    assert_ptr_equal(settings->threads, told_threads);
    told_first_id = told_cursor_count == 0 ? id : told_first_id;
    assert_true(told_cursor_count < TOLD_CURSORS_MOST);
    struct told_cursor *told = &told_cursors[told_cursor_count++];
    *told = (struct told_cursor){
        .status = STATUS_AGAIN, .bytes = "", .open = true, .settings = *settings};
    *cursor = memory_new(sizeof **cursor);
    **cursor = (struct cursor){told, id, release, job};
    return STATUS_OK;
}

STAND_IN(void, cursor_close, (struct cursor * cursor))
{
    if (cursor != NULL) {
        cursor->told->open = false;
        cursor->release(cursor->job);
        free(cursor);
    }
}

STAND_IN(void, cursor_cancel, (struct cursor * cursor))
{
    cursor->told->cancelled = true;
}

STAND_IN(bool, cursor_ended, (struct cursor * cursor))
{
    return cursor->told->ended;
}

STAND_IN(uint64_t, cursor_id, (const struct cursor *cursor))
{
    return cursor->id;
}

STAND_IN(enum status, cursor_read,
         (struct cursor * cursor, uint64_t offset, size_t most, struct buf *out, bool *end,
          struct reason *why))
{
    const struct told_cursor *told = cursor->told;
    assert_int_equal(most, INDEX_PIECE_BYTES);
    *end = told->status == STATUS_OK && told->end;
    if (told->status != STATUS_OK) {
        (void)buf_append_string(out, "half");
        out->length -= told->status == STATUS_AGAIN ? 4 : 0;
        return told->status == STATUS_AGAIN ? STATUS_AGAIN
                                            : status_fail(why, told->status, "it broke off");
    }
    (void)offset;
    return buf_append_string(out, told->bytes);
}

/* ---- requests and replies ---- */

STAND_IN(enum status, rpc_server_open,
         (struct rpc_server * *server, const char *const *endpoints, const struct rpc_keys *keys,
          struct reason *why))
{
    assert_ptr_equal(endpoints, told_options->endpoints);
    assert_ptr_equal(keys, told_options->keys);
    TRY(told_fails("server", why));
    told_made++;
    *server = PLACE(rpc_server, 12);
    return STATUS_OK;
}

STAND_IN(void, rpc_server_close, (struct rpc_server * server))
{
    told_made -= server != NULL;
}

STAND_IN(int, rpc_server_descriptor, (struct rpc_server * server))
{
    assert_ptr_equal(server, PLACE(rpc_server, 12));
    return RPC_DESCRIPTOR;
}

STAND_IN(enum status, rpc_server_receive, (struct rpc_server * server, struct rpc_request *request))
{
    assert_ptr_equal(server, PLACE(rpc_server, 12));
    if (incoming.first == incoming.count) {
        incoming.first = incoming.count = 0;
        return STATUS_AGAIN;
    }
    *request = incoming.requests[incoming.first++];
    return STATUS_OK;
}

static void
log_numbers(struct slice payload)
{
    struct codec_reader in = codec_reader_of(payload);
    while (in.at < in.end && !in.bad) {
        LOG(" %u", (unsigned)codec_get_u64(&in));
    }
    LOG("\n");
}

STAND_IN(void, rpc_reply,
         (struct rpc_server * server, struct rpc_request *request, enum status status,
          struct slice payload, const struct reason *why))
{
    assert_ptr_equal(server, PLACE(rpc_server, 12));
    LOG("%u", (unsigned)request->id);
    if (status != STATUS_OK) {
        assert_int_equal(payload.length, 0);
        LOG(" %s: %s\n", status_name(status), why->text);
    } else if (request->verb == INDEX_VERB_STATS || request->verb == INDEX_VERB_POSITION ||
               request->verb == INDEX_VERB_CHANGE) {
        log_numbers(payload);
    } else if (payload.length < 17) {
        LOG(" '%.*s'\n", SLICE_PRINT(payload));
    } else {
        struct codec_reader in = codec_reader_of(payload);
        const uint8_t flags = codec_get_u8(&in);
        const uint64_t id = codec_get_u64(&in) - told_first_id, offset = codec_get_u64(&in);
        LOG(" cursor %u at %u%s '%.*s'\n", (unsigned)id, (unsigned)offset, flags ? " end" : "",
            (int)(in.end - in.at), (const char *)in.at);
    }
}

STAND_IN(void, rpc_request_drop, (struct rpc_request * request))
{
    LOG("drop %u\n", (unsigned)request->id);
}

/* ---- the test's own ---- */

void
told_ask(uint8_t verb, uint64_t incarnation, uint64_t id, struct slice payload)
{
    char *copy = incoming.payloads[incoming.count];
    assert_true(incoming.count < TOLD_REQUESTS_MOST && payload.length <= sizeof *incoming.payloads);
    memcpy(copy, payload.at, payload.length);
    incoming.requests[incoming.count++] =
        (struct rpc_request){.verb = verb,
                             .id = id,
                             .incarnation = incarnation,
                             .payload = slice_of(copy, payload.length)};
}

void
told_round(void)
{
    in_round = true;
    if (setjmp(after_round) == 0) {
        (void)loop(loop_argument);
    }
}

void
told_open(uint64_t incarnation, uint64_t id, enum index_stream stream, char kind)
{
    const char payload[] = {(char)stream, kind};
    told_ask(INDEX_VERB_OPEN, incarnation, id, slice_of(payload, sizeof payload));
    told_round();
}

void
told_next(uint64_t id, size_t cursor, uint64_t offset)
{
    struct buf payload;
    buf_init(&payload, 64);
    codec_put_u64(&payload, told_first_id + cursor);
    codec_put_u64(&payload, offset);
    told_ask(INDEX_VERB_NEXT, 1, id, buf_slice(&payload));
    buf_release(&payload);
    told_round();
}

void
told_expect(const char *text)
{
    struct buf seen;
    buf_init(&seen, LOG_MOST);
    (void)buf_append_string(&seen, "");
    for (struct slice rest = buf_slice(&told_log); rest.length > 0;) {
        const size_t end = slice_find(rest, '\n') + 1;
        if (!slice_is(slice_of(rest.at, end), "drain\n")) { /* comes each round */
            (void)buf_append(&seen, rest.at, end);
        }
        rest = slice_of(rest.at + end, rest.length - end);
    }
    assert_string_equal(seen.data, text);
    buf_release(&seen);
    buf_reset(&told_log);
}

enum status
told_start(unsigned cursors, const char *failing, bool published, struct reason *why)
{
    static const char *const endpoints[] = {"a", NULL};
    static const char *const publish[] = {"b", NULL};
    static const struct rpc_keys keys[2];
    static struct service_options options;
    options = (struct service_options){.endpoints = endpoints,
                                       .keys = &keys[0],
                                       .partition_number = 8,
                                       .published = published ? publish : NULL,
                                       .publish_keys = &keys[1],
                                       .query_threads = 2,
                                       .query_memory = 99,
                                       .cursors = cursors,
                                       .answer_bytes = 55,
                                       .answer_memory = 66};
    told_options = &options;
    failing_call = failing;
    buf_init(&told_log, LOG_MOST);
    told_cursor_count = told_publishes = 0;
    told_now_ms = 1000000;
    told_batch = 0;
    told_in_cache = false;
    told_cursor_status = STATUS_OK;
    loop = NULL;
    return service_start(&told_service, PLACE(partition, 3), &options, why);
}

void
told_stop(void)
{
    if (told_service != NULL) {
        assert_int_equal(told_announced, 4711);
        service_stop(told_service);
    }
    assert_int_equal(told_made, 0);
    assert_int_equal(jobs, 0);
    assert_int_equal(told_announced, -1);
    for (size_t i = 0; i < told_cursor_count; i++) {
        assert_false(told_cursors[i].open);
    }
    buf_release(&told_log);
}

void
told_begin(unsigned cursors)
{
    struct reason why = {""};
    assert_int_equal(told_start(cursors, NULL, true, &why), STATUS_OK);
}

int
told_tear_down(void **state)
{
    (void)state;
    told_stop();
    told_service = NULL;
    return 0;
}

struct told_cursor *
told_cursor(size_t number)
{
    assert_true(number < told_cursor_count);
    return &told_cursors[number];
}

void
told_says(size_t number, const char *bytes, bool end)
{
    told_cursor(number)->status = STATUS_OK;
    told_cursor(number)->bytes = bytes;
    told_cursor(number)->end = end;
}
