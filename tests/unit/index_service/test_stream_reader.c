/* How a client reads a stream of one partition (index/client/partitions/client_stream.c): what it
 * asks for and when, and what it tells of answers that come late, wrong or not at all. The linker
 * puts the functions below in the place of the messages, of the clock and of poll(2). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "base/codec.h"
#include "base/digest.h"
#include "index/client/client_lookup.h"
#include "index/client/index_client.h"
#include "index/client/partitions/client_calls.h"
#include "index/protocol/service_protocol.h"
#include "tests/unit/index_answers/told_links.h"

enum { TEXT_MAXIMUM = 1 << 16, POSTS_MOST = 8, SILENCE_MS = 5000, PARTITIONS_ASKED = 3 };

static struct {
    uint8_t verb;
    char request[64];
    size_t length;
    rpc_done *done;
    void *context;
} posts[POSTS_MOST];
static size_t posted;
static uint64_t now_ms;
static void (*at_poll)(void);

void __wrap_rpc_client_post(struct rpc_client *client, uint8_t verb, struct slice request,
                            uint32_t timeout_ms, rpc_done *done, void *context);
uint64_t __wrap_clock_monotonic_ms(void);
int __wrap_poll(struct pollfd *list, nfds_t count, int wait);

void
__wrap_rpc_client_post(struct rpc_client *client, uint8_t verb, struct slice request,
                       uint32_t timeout_ms, rpc_done *done, void *context)
{
    assert_non_null(client);
    if (verb == INDEX_VERB_LINKS) {
        told_links_posted(request, timeout_ms, done, context);
        return;
    }
    assert_true(posted < POSTS_MOST && request.length <= sizeof posts[0].request);
    assert_int_equal(timeout_ms, SILENCE_MS);
    posts[posted].verb = verb;
    memcpy(posts[posted].request, request.at, request.length);
    posts[posted].length = request.length;
    posts[posted].done = done;
    posts[posted].context = context;
    posted++;
}

uint64_t
__wrap_clock_monotonic_ms(void)
{
    return now_ms;
}

int
__wrap_poll(struct pollfd *list, nfds_t count, int wait)
{
    (void)list, (void)wait;
    assert_int_equal(count, PARTITIONS_ASKED);
    assert_non_null(at_poll);
    at_poll();
    return 0;
}

/* Stands in the place of what each partition's stream comes to; NULL: the streams are read. */
static const enum status *verdicts;
static size_t passed_on;
static uint8_t passed_verb;

enum status __real_stream_pass_on(struct index_client *client, size_t partition,
                                  struct slice request, index_piece *piece, void *context,
                                  struct reason *why);
enum status __wrap_stream_pass_on(struct index_client *client, size_t partition,
                                  struct slice request, index_piece *piece, void *context,
                                  struct reason *why);
enum status
__wrap_stream_pass_on(struct index_client *client, size_t partition, struct slice request,
                      index_piece *piece, void *context, struct reason *why)
{
    if (verdicts == NULL) {
        return __real_stream_pass_on(client, partition, request, piece, context, why);
    }
    assert_int_equal(partition, passed_on++);
    assert_int_equal(request.length, 1);
    passed_verb = (uint8_t)request.at[0];
    return verdicts[partition] == STATUS_OK
               ? STATUS_OK
               : status_fail(why, verdicts[partition], "partition %zu", partition);
}

/* ---- answers ---- */

static void
answer(size_t post, uint8_t flags, uint64_t cursor, uint64_t offset, const char *bytes)
{
    struct buf payload;
    buf_init(&payload, TEXT_MAXIMUM);
    codec_put_u8(&payload, flags);
    codec_put_u64(&payload, cursor);
    codec_put_u64(&payload, offset);
    (void)buf_append_string(&payload, bytes);
    posts[post].done(posts[post].context, STATUS_OK, buf_slice(&payload), &(struct reason){""});
    buf_release(&payload);
}

static void
refuse(size_t post, enum status status, const char *text)
{
    struct reason why = {""};
    (void)status_fail(&why, status, "%s", text);
    posts[post].done(posts[post].context, status, SLICE(""), &why);
}

static void
check_post(size_t post, enum index_verb verb, uint64_t first, uint64_t second)
{
    assert_int_equal(posted, post + 1);
    assert_int_equal(posts[post].verb, verb);
    assert_int_equal(posts[post].length, verb == INDEX_VERB_CLOSE ? 8 : 16);
    assert_int_equal(codec_read_u64((const uint8_t *)posts[post].request), first);
    if (verb == INDEX_VERB_NEXT) {
        assert_int_equal(codec_read_u64((const uint8_t *)posts[post].request + 8), second);
    }
}

static void
check_take(struct index_stream_reader *stream, enum status status, const char *bytes)
{
    struct slice taken = SLICE("");
    struct reason why = {""};
    assert_int_equal(stream_take(stream, &taken, &why), status);
    assert_true(slice_equal(taken, slice_string(bytes)));
}

static struct index_client *client;

static void
begin(struct index_stream_reader *stream)
{
    posted = 0;
    stream_start(stream, client, 1, SLICE("request"));
    assert_int_equal(posted, 1);
    assert_int_equal(posts[0].verb, INDEX_VERB_OPEN);
    assert_memory_equal(posts[0].request, "request", 7);
}

/* ---- tests ---- */

static void
the_second_piece_waits_until_it_is_wanted_and_others_are_asked_ahead(void **state)
{
    struct index_stream_reader stream;
    (void)state;
    begin(&stream);
    check_take(&stream, STATUS_AGAIN, "");
    answer(0, 0, 9, 0, "abc");
    check_take(&stream, STATUS_OK, "abc");
    assert_int_equal(posted, 1);
    check_take(&stream, STATUS_AGAIN, "");
    check_post(1, INDEX_VERB_NEXT, 9, 3);
    answer(1, 0, 9, 3, "de");
    check_take(&stream, STATUS_OK, "de");
    check_post(2, INDEX_VERB_NEXT, 9, 5);
    answer(2, 0, 9, 5, ""); /* a sign of life */
    check_take(&stream, STATUS_AGAIN, "");
    check_post(3, INDEX_VERB_NEXT, 9, 5);
    answer(3, INDEX_PIECE_END, 9, 5, "f");
    check_take(&stream, STATUS_OK, "f");
    check_take(&stream, STATUS_END, "");
    assert_int_equal(posted, 4);
    stream_close(&stream);
    check_post(4, INDEX_VERB_CLOSE, 9, 0);
}

static void
what_comes_whole_at_once_needs_no_more(void **state)
{
    struct index_stream_reader stream;
    (void)state;
    begin(&stream);
    answer(0, INDEX_PIECE_END, 0, 0, "all");
    check_take(&stream, STATUS_OK, "all");
    check_take(&stream, STATUS_END, "");
    stream_close(&stream);
    assert_int_equal(posted, 1);
    begin(&stream);
    answer(0, INDEX_PIECE_END, 0, 0, "");
    check_take(&stream, STATUS_END, "");
    stream_close(&stream);
    assert_int_equal(posted, 1);
    begin(&stream);
    answer(0, 0, 4, 0, ""); /* it has begun, and found nothing yet */
    check_take(&stream, STATUS_AGAIN, "");
    check_post(1, INDEX_VERB_NEXT, 4, 0);
    stream_close(&stream);
    check_post(2, INDEX_VERB_CLOSE, 4, 0);
    answer(1, 0, 4, 0, "late");
    assert_int_equal(posted, 3);
}

static void
a_stream_that_is_closed_before_it_opened_is_closed_when_it_has(void **state)
{
    struct index_stream_reader stream;
    (void)state;
    begin(&stream);
    stream_close(&stream);
    assert_int_equal(posted, 1);
    answer(0, 0, 7, 0, "late");
    check_post(1, INDEX_VERB_CLOSE, 7, 0);
    posts[1].done(posts[1].context, STATUS_TIMEOUT, SLICE(""), &(struct reason){""});
    begin(&stream);
    stream_close(&stream);
    answer(0, INDEX_PIECE_END, 7, 0, "whole");
    assert_int_equal(posted, 1);
    begin(&stream);
    stream_close(&stream);
    refuse(0, STATUS_LIMIT, "no room");
    assert_int_equal(posted, 1);
    begin(&stream);
    stream_close(&stream);
    posts[0].done(posts[0].context, STATUS_OK, SLICE("\1\2"), &(struct reason){""});
    assert_int_equal(posted, 1);
}

static void
pieces_that_were_not_asked_for_are_refused(void **state)
{
    struct index_stream_reader stream;
    struct slice bytes;
    struct reason why = {""};
    (void)state;
    begin(&stream);
    answer(0, 0, 9, 1, "abc");
    assert_int_equal(stream_take(&stream, &bytes, &why), STATUS_PROTOCOL);
    assert_string_equal(why.text, "the index sent a piece that was not asked for");
    stream_close(&stream);
    begin(&stream);
    posts[0].done(posts[0].context, STATUS_OK, SLICE("\0\1\2\3"), &(struct reason){""});
    assert_int_equal(stream_take(&stream, &bytes, &why), STATUS_PROTOCOL);
    stream_close(&stream);
    assert_int_equal(posted, 1);
}

static void
silence_is_told_from_a_query_that_took_too_long(void **state)
{
    struct index_stream_reader stream;
    struct slice bytes;
    (void)state;
    for (unsigned early = 0; early < 2; early++) {
        struct reason why = {""};
        begin(&stream);
        now_ms += SILENCE_MS - early;
        refuse(0, STATUS_TIMEOUT, "it took too long");
        assert_int_equal(stream_take(&stream, &bytes, &why), early ? STATUS_TIMEOUT : STATUS_AGAIN);
        assert_string_equal(why.text, early ? "it took too long" : "no answer for 5.0 s");
        assert_int_equal(stream_next(&stream, &bytes, &why), early ? STATUS_TIMEOUT : STATUS_AGAIN);
        stream_close(&stream);
        assert_int_equal(posted, 1);
    }
}

static enum status end_of_stream;

static void
answer_at_poll(void)
{
    if (posted == 1) {
        answer(0, 0, 3, 0, "ab");
    } else if (end_of_stream == STATUS_END) {
        answer(posted - 1, INDEX_PIECE_END, 3, 2, "c");
    } else {
        refuse(posted - 1, end_of_stream, "it made way");
    }
}

static enum status
append(void *context, struct slice bytes, struct reason *why)
{
    (void)why;
    return buf_append_slice(context, bytes);
}

static enum status
stop(void *context, struct slice bytes, struct reason *why)
{
    (void)bytes;
    return *(enum status *)context == STATUS_END ? STATUS_END
                                                 : status_fail(why, STATUS_FULL, "no room");
}

/* What read a cursor that has made way for others is told to come again. */
static void
streams_that_break_off_name_their_partition(void **state)
{
    static const struct {
        enum status end, status;
        const char *why;
    } cases[] = {
        {STATUS_END, STATUS_OK, ""},
        {STATUS_NOT_FOUND, STATUS_AGAIN, "index partition 1 (ipc:///nonexistent/1): it made way"},
        {STATUS_AGAIN, STATUS_AGAIN, "index partition 1 (ipc:///nonexistent/1): it made way"},
        {STATUS_LIMIT, STATUS_LIMIT, "it made way"},
        {STATUS_CORRUPT, STATUS_CORRUPT, "it made way"},
    };
    struct buf text;
    (void)state;
    buf_init(&text, TEXT_MAXIMUM);
    at_poll = answer_at_poll;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct reason why = {""};
        posted = 0;
        end_of_stream = cases[i].end;
        buf_reset(&text);
        client_begin(client, INDEX_PARTIAL_ERROR, 0, NULL);
        assert_int_equal(stream_pass_on(client, 1, SLICE("r"), append, &text, &why),
                         cases[i].status);
        assert_string_equal(why.text, cases[i].why);
        assert_true(slice_equal(buf_slice(&text), i == 0 ? SLICE("abc") : SLICE("ab")));
        check_post(2, INDEX_VERB_CLOSE, 3, 0);
    }
    for (enum status status = STATUS_END; status != STATUS_OK;
         status = status == STATUS_END ? STATUS_FULL : STATUS_OK) {
        struct reason why = {""};
        posted = 0;
        assert_int_equal(stream_pass_on(client, 1, SLICE("r"), stop, &status, &why),
                         status == STATUS_END ? STATUS_OK : STATUS_FULL);
        check_post(1, INDEX_VERB_CLOSE, 3, 0);
    }
    buf_release(&text);
}

static void
nothing_at_poll(void)
{
    now_ms += 100;
}

static void
a_call_ends_when_it_is_cancelled_or_its_time_is_over(void **state)
{
    atomic_bool cancel = false;
    struct index_stream_reader stream;
    struct slice bytes;
    struct reason why = {""};
    (void)state;
    at_poll = nothing_at_poll;
    client_begin(client, INDEX_PARTIAL_ERROR, 1000, &cancel);
    begin(&stream);
    const uint64_t began = now_ms;
    assert_false(client_ended(client));
    assert_int_equal(stream_next(&stream, &bytes, &why), STATUS_TIMEOUT);
    assert_string_equal(why.text, "the query took longer than it may");
    assert_int_equal(now_ms - began, 1000);
    assert_true(client_ended(client));
    client_begin(client, INDEX_PARTIAL_ERROR, 1000, &cancel);
    atomic_store(&cancel, true);
    assert_true(client_ended(client));
    assert_int_equal(stream_next(&stream, &bytes, &why), STATUS_CANCELLED);
    stream_close(&stream);
    refuse(0, STATUS_TIMEOUT, "");
    client_begin(client, INDEX_PARTIAL_ERROR, 0, NULL);
    assert_false(client_ended(client));
}

static void
partitions_may_be_missed_where_that_is_wanted(void **state)
{
    static const struct {
        enum index_partial partial;
        enum status status, result;
    } cases[] = {
        {INDEX_PARTIAL_ERROR, STATUS_TIMEOUT, STATUS_TIMEOUT},
        {INDEX_PARTIAL_ERROR, STATUS_STALE, STATUS_AGAIN},
        {INDEX_PARTIAL_ERROR, STATUS_CANCELLED, STATUS_AGAIN},
        {INDEX_PARTIAL_ERROR, STATUS_NOT_FOUND, STATUS_AGAIN},
        {INDEX_PARTIAL_WARN, STATUS_BAD_INPUT, STATUS_BAD_INPUT},
        {INDEX_PARTIAL_WARN, STATUS_LIMIT, STATUS_LIMIT},
        {INDEX_PARTIAL_WARN, STATUS_UNSUPPORTED, STATUS_UNSUPPORTED},
        {INDEX_PARTIAL_WARN, STATUS_MISUSE, STATUS_MISUSE},
        {INDEX_PARTIAL_WARN, STATUS_TIMEOUT, STATUS_OK},
    };
    const struct reason what = {"it is down"};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct reason why = {""};
        client_begin(client, cases[i].partial, 0, NULL);
        assert_int_equal(client_miss(client, 2, cases[i].status, &what, &why), cases[i].result);
        assert_int_equal(client->partitions[2].missing, cases[i].result == STATUS_OK);
        assert_string_equal(why.text, cases[i].result == STATUS_OK
                                          ? ""
                                          : "index partition 2 (ipc:///nonexistent/2): it is down");
    }
    /* One at least has to answer. */
    struct reason why = {""};
    assert_int_equal(client_miss(client, 0, STATUS_TIMEOUT, &what, &why), STATUS_OK);
    assert_int_equal(client_miss(client, 1, STATUS_TIMEOUT, &what, &why), STATUS_TIMEOUT);
    assert_string_equal(client->partitions[2].why.text, "it is down");
    client_begin(client, INDEX_PARTIAL_WARN, 0, NULL);
    assert_false(client->partitions[0].missing);
}

static void
graphs_have_the_partition_that_their_name_says(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 200; i++) {
        char uri[64];
        snprintf(uri, sizeof uri, "http://host%u.example/", i);
        assert_int_equal(client_owner(client, slice_string(uri)),
                         (size_t)partition_of(slice_string(uri)) * PARTITIONS_ASKED / PARTITIONS);
    }
}

/* ---- lookups ---- */

static struct buf lookup_answer;

/* The first partition has found something, the others nothing. */
static void
lookup_at_poll(void)
{
    for (size_t i = 0; i < posted; i++) {
        posts[i].done(posts[i].context, STATUS_OK,
                      i == 0 ? buf_slice(&lookup_answer)
                             : SLICE("\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"),
                      &(struct reason){""});
    }
}

/* A statement for each number, of the same name throughout. */
static void
put_statements(const uint64_t *numbers, size_t count, uint64_t name)
{
    struct term one = term_literal(SLICE("1"));
    one.datatype = SLICE("http://www.w3.org/2001/XMLSchema#integer");
    buf_reset(&lookup_answer);
    codec_put_u8(&lookup_answer, INDEX_PIECE_END);
    codec_put_u64(&lookup_answer, 1);
    codec_put_u64(&lookup_answer, 0);
    for (size_t i = 0; i < count; i++) {
        codec_put_varint(&lookup_answer, numbers[i]);
        if (i == 0) {
            codec_put_varint(&lookup_answer, INDEX_NAME_NEW);
            codec_put_u64(&lookup_answer, oid_inline_of(&one));
        }
        for (size_t place = i == 0 ? 1 : 0; place < 4; place++) {
            codec_put_varint(&lookup_answer, name);
        }
    }
}

static enum status
count_statements(void *count, const struct index_statement *statement, struct reason *why)
{
    (void)statement, (void)why;
    ++*(size_t *)count;
    return STATUS_OK;
}

/* A partition that says what it was not asked is not believed, and has no more memory taken than
 * what was asked for needs. */
static void
lookups_take_what_they_asked_for(void **state)
{
    enum { FIRST = INDEX_NAME_FIRST };
    static const struct {
        bool words;
        uint64_t numbers[4];
        size_t count;
        uint64_t name;
        bool good;
    } cases[] = {
        {false, {0}, 0, FIRST, true},
        {false, {0, 0, 1, 1}, 4, FIRST, true},
        {false, {1, 1}, 2, FIRST, true},
        {false, {0, 0, 0}, 3, FIRST, false}, /* more than the limit */
        {false, {0, 1, 1, 1}, 4, FIRST, false},
        {false, {1, 0}, 2, FIRST, false}, /* not in their order: each might be had many times */
        {false, {2}, 1, FIRST, false},    /* there is no such pattern */
        {true, {9000, 7000}, 2, FIRST, true},
        {true, {9000, 7000, 5000}, 3, FIRST, false},
        {false, {0}, 1, FIRST + 1, false}, /* a name that was not given */
        {false, {0}, 1, INDEX_NAME_FORGET, false},
    };
    const struct quad patterns[2] = {{.predicate = {.kind = TERM_NONE}}};
    (void)state;
    buf_init(&lookup_answer, TEXT_MAXIMUM);
    at_poll = lookup_at_poll;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct index_find find = {.words = cases[i].words ? SLICE("word") : SLICE(""),
                                        .patterns = patterns,
                                        .pattern_count = 2,
                                        .limit = 2};
        struct reason why = {""};
        struct arena arena;
        size_t count = 0;
        arena_init(&arena, 0);
        posted = 0;
        put_statements(cases[i].numbers, cases[i].count, cases[i].name);
        assert_int_equal(index_find(client, &find, &arena, count_statements, &count, &why),
                         cases[i].good ? STATUS_OK : STATUS_PROTOCOL);
        assert_int_equal(count, cases[i].good ? cases[i].count : 0);
        assert_string_equal(why.text,
                            cases[i].good ? "" : "the index sent a malformed answer to a lookup");
        arena_release(&arena);
    }
    buf_release(&lookup_answer);
}

static void
take_no_object(void *context, size_t resource, size_t predicate, const struct term *object)
{
    (void)context, (void)resource, (void)predicate, (void)object;
    fail();
}

static void
lookups_end_when_their_time_is_over(void **state)
{
    const struct index_find find = {.words = SLICE("word"), .limit = 2, .timeout_ms = 700};
    const struct index_resource resource = {term_iri(SLICE("http://a.example/")),
                                            term_iri(SLICE("http://a.example/"))};
    const struct slice predicate = SLICE("http://a.example/p");
    (void)state;
    at_poll = nothing_at_poll;
    for (int describes = 0; describes < 2; describes++) {
        struct reason why = {""};
        struct arena arena;
        size_t count = 0;
        const uint64_t began = now_ms;
        arena_init(&arena, 0);
        posted = 0;
        const enum status status =
            describes ? index_describe(client, &resource, 1, &predicate, 1, 700, &arena,
                                       take_no_object, NULL, &why)
                      : index_find(client, &find, &arena, count_statements, &count, &why);
        assert_int_equal(status, STATUS_TIMEOUT);
        assert_string_equal(why.text, "the query took longer than it may");
        assert_int_equal(now_ms - began, 700);
        for (size_t i = 0; i < posted; i++) {
            refuse(i, STATUS_TIMEOUT, "nobody waits for it any more");
        }
        arena_release(&arena);
    }
}

static int
set_up(void **state)
{
    static const char *const endpoints[] = {"ipc:///nonexistent/0", "ipc:///nonexistent/1",
                                            "ipc:///nonexistent/2"};
    const struct index_client_options options = {
        .endpoints = endpoints, .count = PARTITIONS_ASKED, .name = "test"};
    struct reason why = {""};
    (void)state;
    now_ms = 1000000;
    if (index_client_open(&client, &options, &why) != STATUS_OK) {
        return -1;
    }
    client->silence_ms = SILENCE_MS;
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    index_client_close(client);
    return 0;
}

/* Damage of one is no reason not to look at the others; that nobody answers is. What is to be
 * compacted ends with the first that fails. */
static void
each_partition_is_verified(void **state)
{
    static const struct {
        enum status verdicts[PARTITIONS_ASKED], verified;
        size_t asked;
        const char *why;
        enum status compacted;
        size_t compacted_asked;
    } cases[] = {
        {{STATUS_OK, STATUS_OK, STATUS_OK}, STATUS_OK, 3, "", STATUS_OK, 3},
        {{STATUS_CORRUPT, STATUS_OK, STATUS_OK},
         STATUS_CORRUPT,
         3,
         "partition 0",
         STATUS_CORRUPT,
         1},
        {{STATUS_OK, STATUS_OK, STATUS_CORRUPT},
         STATUS_CORRUPT,
         3,
         "partition 2",
         STATUS_CORRUPT,
         3},
        {{STATUS_OK, STATUS_TIMEOUT, STATUS_OK},
         STATUS_TIMEOUT,
         2,
         "partition 1",
         STATUS_TIMEOUT,
         2},
        {{STATUS_CORRUPT, STATUS_SYSTEM, STATUS_OK},
         STATUS_SYSTEM,
         2,
         "partition 1",
         STATUS_CORRUPT,
         1},
    };
    struct index_client all = {.count = PARTITIONS_ASKED};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct reason why = {""};
        verdicts = cases[i].verdicts;
        passed_on = 0;
        assert_int_equal(index_verify(&all, NULL, NULL, &why), cases[i].verified);
        assert_int_equal(passed_verb, INDEX_STREAM_VERIFY);
        assert_int_equal(passed_on, cases[i].asked);
        assert_string_equal(why.text, cases[i].why);
        passed_on = 0;
        assert_int_equal(index_compact(&all, NULL, NULL, &why), cases[i].compacted);
        assert_int_equal(passed_verb, INDEX_STREAM_COMPACT);
        assert_int_equal(passed_on, cases[i].compacted_asked);
    }
    verdicts = NULL;
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_second_piece_waits_until_it_is_wanted_and_others_are_asked_ahead),
        cmocka_unit_test(what_comes_whole_at_once_needs_no_more),
        cmocka_unit_test(a_stream_that_is_closed_before_it_opened_is_closed_when_it_has),
        cmocka_unit_test(pieces_that_were_not_asked_for_are_refused),
        cmocka_unit_test(silence_is_told_from_a_query_that_took_too_long),
        cmocka_unit_test(streams_that_break_off_name_their_partition),
        cmocka_unit_test(a_call_ends_when_it_is_cancelled_or_its_time_is_over),
        cmocka_unit_test(partitions_may_be_missed_where_that_is_wanted),
        cmocka_unit_test(graphs_have_the_partition_that_their_name_says),
        cmocka_unit_test(each_partition_is_verified),
        cmocka_unit_test(lookups_take_what_they_asked_for),
        cmocka_unit_test(lookups_end_when_their_time_is_over),
    };
    return cmocka_run_group_tests_name("stream_reader", tests, set_up, tear_down) +
           told_links_run();
}
