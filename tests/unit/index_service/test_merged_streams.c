/* These tests are of what the index's client makes of the answers of several partitions
 * (index/client/index_client.c): lines that are merged, counted and limited, and partitions that
 * break off or answer wrongly. The linker puts the functions below in the place of the streams, so
 * there are no services. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/codec.h"
#include "base/memory.h"
#include "index/client/index_client.h"
#include "index/client/partitions/client_calls.h"
#include "index/protocol/service_protocol.h"
#include "tests/unit/index_answers/told_lookups.h"

enum { COUNT = MERGED_COUNT, OUT_MAXIMUM = 1 << 20 };

struct script scripts[COUNT];
size_t piece_bytes;
static int open_streams;
uint8_t asked_stream;
unsigned asked;
char request_text[REQUEST_MOST];
size_t request_length;
static struct buf out;
static unsigned pieces, refused_piece; /* that is not taken; 0: none */
static struct buf replies[COUNT];
static enum status reply_status[COUNT];
static size_t called;

/* ---- in the place of others ---- */

static struct slice
bytes_of(const struct script *script)
{
    return script->text != NULL ? slice_string(script->text) : script->bytes;
}

void __wrap_stream_start(struct index_stream_reader *stream, struct index_client *client,
                         size_t partition, struct slice request);
void
__wrap_stream_start(struct index_stream_reader *stream, struct index_client *client,
                    size_t partition, struct slice request)
{
    *stream = (struct index_stream_reader){.client = client, .partition = partition};
    assert_int_equal(client->deadline_ms, 0);
    open_streams++;
    asked_stream = (uint8_t)request.at[0];
    asked |= 1u << partition;
    request_length = request.length - 1;
    assert_true(request_length <= sizeof request_text);
    memcpy(request_text, request.at + 1, request_length);
}

enum status __wrap_client_next_bytes(struct index_stream_reader *stream, struct slice *bytes,
                                     struct reason *why);
enum status
__wrap_client_next_bytes(struct index_stream_reader *stream, struct slice *bytes,
                         struct reason *why)
{
    const struct script *script = &scripts[stream->partition];
    const struct slice all = bytes_of(script);
    const char *rest = all.at + stream->offset;
    const size_t left = all.length - stream->offset,
                 length = left < piece_bytes ? left : piece_bytes;
    *bytes = slice_of(rest, length);
    stream->offset += length;
    if (length > 0 || script->end == STATUS_END) {
        return length > 0 ? STATUS_OK : STATUS_END;
    }
    struct reason what;
    (void)status_fail(&what, script->end, "it broke off");
    TRY(client_miss(stream->client, stream->partition, script->end, &what, why));
    return STATUS_END;
}

void __wrap_stream_close(struct index_stream_reader *stream);
void
__wrap_stream_close(struct index_stream_reader *stream)
{
    (void)stream;
    open_streams--;
}

enum status __wrap_stream_pass_on(struct index_client *client, size_t partition,
                                  struct slice request, index_piece *piece, void *context,
                                  struct reason *why);
enum status
__wrap_stream_pass_on(struct index_client *client, size_t partition, struct slice request,
                      index_piece *piece, void *context, struct reason *why)
{
    (void)client;
    asked_stream = (uint8_t)request.at[0];
    asked |= 1u << partition;
    const struct slice all = bytes_of(&scripts[partition]);
    for (size_t at = 0, n; at < all.length; at += n) {
        n = all.length - at < piece_bytes ? all.length - at : piece_bytes;
        TRY(piece(context, slice_of(all.at + at, n), why));
    }
    const enum status end = scripts[partition].end;
    return end == STATUS_END ? STATUS_OK : status_fail(why, end, "partition %zu", partition);
}

enum status __wrap_rpc_call(struct rpc_client *client, uint8_t verb, struct slice payload,
                            uint32_t timeout_ms, struct buf *reply, struct reason *why);
enum status
__wrap_rpc_call(struct rpc_client *client, uint8_t verb, struct slice payload, uint32_t timeout_ms,
                struct buf *reply, struct reason *why)
{
    (void)client;
    assert_int_equal(verb, INDEX_VERB_STATS);
    assert_int_equal(payload.length, 0);
    assert_int_equal(timeout_ms, 777);
    const size_t i = called++;
    return reply_status[i] == STATUS_OK ? buf_append_slice(reply, buf_slice(&replies[i]))
                                        : status_fail(why, reply_status[i], "no answer");
}

/* ---- a client ---- */

static enum status
take(void *context, struct slice bytes, struct reason *why)
{
    assert_ptr_equal(context, &out);
    if (++pieces == refused_piece) {
        return status_fail(why, STATUS_FULL, "no room");
    }
    return buf_append_slice(&out, bytes);
}

static struct index_client *
begin(enum index_partial partial)
{
    static const char *const endpoints[] = {"ipc:///nonexistent/0", "ipc:///nonexistent/1",
                                            "ipc:///nonexistent/2"};
    const struct index_client_options options = {
        .endpoints = endpoints, .count = COUNT, .name = "test", .silence_ms = 777};
    struct index_client *client;
    struct reason why = {""};
    assert_int_equal(index_client_open(&client, &options, &why), STATUS_OK);
    index_client_manner(client, partial, NULL);
    buf_init(&out, OUT_MAXIMUM);
    pieces = asked = 0;
    return client;
}

static void
finish(struct index_client *client)
{
    assert_int_equal(open_streams, 0);
    buf_release(&out);
    index_client_close(client);
}

static void
set(const char *a, const char *b, const char *c)
{
    scripts[0] = (struct script){.text = a, .end = STATUS_END};
    scripts[1] = (struct script){.text = b, .end = STATUS_END};
    scripts[2] = (struct script){.text = c, .end = STATUS_END};
    piece_bytes = SIZE_MAX;
    refused_piece = 0;
}

static void
is_out(const char *expected)
{
    assert_true(slice_is(buf_slice(&out), expected));
}

struct index_client *
merged_begin(enum index_partial partial)
{
    return begin(partial);
}

void
merged_finish(struct index_client *client)
{
    finish(client);
}

/* ---- dumps ---- */

static void
test_a_dump_is_merged_wherever_pieces_end(void **state)
{
    (void)state;
    set("<a> .\n<d> .\n<dd> .\n", "<b> .\n<e> .\n", "<c> .\n");
    for (piece_bytes = 1; piece_bytes < 24; piece_bytes++) {
        struct index_client *client = begin(INDEX_PARTIAL_ERROR);
        struct reason why = {""};
        assert_int_equal(index_dump(client, NULL, take, &out, &why), STATUS_OK);
        assert_int_equal(asked_stream, INDEX_STREAM_DUMP);
        assert_int_equal(asked, 7);
        is_out("<a> .\n<b> .\n<c> .\n<d> .\n<dd> .\n<e> .\n");
        assert_int_equal(pieces, 1);
        finish(client);
    }
    set("", "", "");
    struct index_client *client = begin(INDEX_PARTIAL_ERROR);
    struct reason why = {""};
    assert_int_equal(index_dump(client, NULL, take, &out, &why), STATUS_OK);
    assert_int_equal(pieces, 0);
    finish(client);
}

static void
test_a_dump_tells_its_position(void **state)
{
    static const struct {
        const char *second, *position;
        enum status status;
    } cases[] = {
        {"position\t3.b2\n<b> .\n", "0:5.a1,1:3.b2,2:0.0", STATUS_OK},
        {"position\t3.b2\n", "0:5.a1,1:3.b2,2:0.0", STATUS_OK},
        {"<b> .\n", "", STATUS_PROTOCOL},
        {"", "", STATUS_PROTOCOL},
        {"position\tx\n<b> .\n", "", STATUS_PROTOCOL},
        {"position\t3.b2 \n<b> .\n", "", STATUS_PROTOCOL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct index_client *client = begin(INDEX_PARTIAL_WARN);
        struct buf position;
        struct reason why = {""};
        buf_init(&position, 1000);
        set("position\t5.a1\n<a> .\n", cases[i].second, "position\t0.0\n<c> .\n");
        assert_int_equal(index_dump(client, &position, take, &out, &why), cases[i].status);
        assert_true(slice_is(buf_slice(&position), cases[i].position));
        if (cases[i].status == STATUS_OK) {
            is_out(i == 0 ? "<a> .\n<b> .\n<c> .\n" : "<a> .\n<c> .\n");
        } else {
            assert_string_equal(why.text, "partition 1 of the index sent no position");
            assert_int_equal(pieces, 0);
        }
        buf_release(&position);
        finish(client);
    }
}

/* Whichever partition breaks off, after however much of it. */
static void
test_a_partition_that_breaks_off_fails_the_whole(void **state)
{
    static const struct {
        enum status end, status;
    } cases[] = {{STATUS_SYSTEM, STATUS_SYSTEM},   {STATUS_CORRUPT, STATUS_CORRUPT},
                 {STATUS_NOT_FOUND, STATUS_AGAIN}, {STATUS_STALE, STATUS_AGAIN},
                 {STATUS_CANCELLED, STATUS_AGAIN}, {STATUS_BAD_INPUT, STATUS_BAD_INPUT}};
    static const char *const texts[] = {"", "<a>", "<a> .\n", "<x> .\n", "<a> .\n<y>"};
    (void)state;
    for (size_t i = 0; i < COUNT * sizeof cases / sizeof cases[0]; i++) {
        for (size_t k = 0; k < sizeof texts / sizeof texts[0]; k++) {
            char expected[100];
            struct index_client *client = begin(INDEX_PARTIAL_ERROR);
            struct reason why = {""};
            set("<b> .\n", "<c> .\n", "<d> .\n");
            scripts[i % COUNT] = (struct script){texts[k], cases[i / COUNT].end};
            assert_int_equal(index_dump(client, NULL, take, &out, &why), cases[i / COUNT].status);
            snprintf(expected, sizeof expected,
                     "index partition %zu (ipc:///nonexistent/%zu): it broke off", i % COUNT,
                     i % COUNT);
            assert_string_equal(why.text, expected);
            finish(client);
        }
    }
}

/* The lines of a partition that is missing and the partitions that are named. */
static void
check_missing(const char *expected, const size_t *missing, size_t count, enum status status)
{
    struct index_client *client = begin(INDEX_PARTIAL_WARN);
    struct reason why = {""};
    size_t partition = 0;
    assert_int_equal(index_dump(client, NULL, take, &out, &why), status);
    is_out(expected);
    for (size_t i = 0; i < count; i++) {
        char line[120];
        snprintf(line, sizeof line,
                 "index partition %zu (ipc:///nonexistent/%zu) is missing: it broke off",
                 missing[i], missing[i]);
        assert_true(index_client_missing(client, &partition, &why));
        assert_string_equal(why.text, line);
        assert_int_equal(partition, missing[i] + 1);
    }
    assert_false(index_client_missing(client, &partition, &why));
    /* The next call has all of them again. */
    set("<a> .\n", "<b> .\n", "<c> .\n");
    buf_reset(&out);
    partition = 0;
    assert_int_equal(index_dump(client, NULL, take, &out, &why), STATUS_OK);
    is_out("<a> .\n<b> .\n<c> .\n");
    assert_false(index_client_missing(client, &partition, &why));
    finish(client);
}

static void
test_what_is_missing_may_be_told_instead(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        static const char *const left[] = {"<b> .\n<c> .\n", "<a> .\n<c> .\n", "<a> .\n<b> .\n"};
        set("<a> .\n", "<b> .\n", "<c> .\n");
        scripts[i] = (struct script){"", STATUS_SYSTEM};
        check_missing(left[i], &i, 1, STATUS_OK);
    }
    set("<a> .\n", "", "");
    scripts[1].end = scripts[2].end = STATUS_SYSTEM;
    check_missing("<a> .\n", (const size_t[]){1, 2}, 2, STATUS_OK);
    set("", "", "");
    scripts[0].end = scripts[1].end = scripts[2].end = STATUS_SYSTEM;
    check_missing("", (const size_t[]){0, 1}, 2, STATUS_SYSTEM); /* nobody is left */
    static const enum status wrong[] = {STATUS_BAD_INPUT, STATUS_LIMIT, STATUS_UNSUPPORTED,
                                        STATUS_MISUSE};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        set("<a> .\n", "", "<c> .\n");
        scripts[1].end = wrong[i];
        check_missing("", NULL, 0, wrong[i]);
    }
}

/* More than a piece may have; whoever takes it fails at each piece in turn. */
static void
test_a_long_dump_goes_out_in_pieces(void **state)
{
    enum { LINES = 60, LENGTH = 10000, PIECES = 3 };
    char *text = memory_alloc(LINES * LENGTH + 1);
    (void)state;
    for (size_t i = 0; i < LINES; i++) {
        memset(text + i * LENGTH, 'a' + (int)(i / 4), LENGTH);
        text[(i + 1) * LENGTH - 1] = '\n';
    }
    text[LINES * LENGTH] = '\0';
    for (unsigned refused = 0; refused <= PIECES; refused++) {
        struct index_client *client = begin(INDEX_PARTIAL_ERROR);
        struct reason why = {""};
        set(text, "", "");
        piece_bytes = 3333;
        refused_piece = refused;
        assert_int_equal(index_dump(client, NULL, take, &out, &why),
                         refused == 0 ? STATUS_OK : STATUS_FULL);
        assert_int_equal(pieces, refused == 0 ? PIECES : refused);
        if (refused == 0) {
            is_out(text);
        } else {
            assert_string_equal(why.text, "no room");
        }
        finish(client);
    }
    free(text);
}

/* ---- searches ---- */

static void
test_searches_are_merged_by_score(void **state)
{
    static const struct {
        uint32_t limit;
        const char *expected;
    } cases[] = {
        {0, "10\ta\n9.5\tb\n9.5\tc\n0.5\td\n1e-3\tz\n"},
        {5, "10\ta\n9.5\tb\n9.5\tc\n0.5\td\n1e-3\tz\n"},
        {4, "10\ta\n9.5\tb\n9.5\tc\n0.5\td\n"},
        {1, "10\ta\n"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct index_client *client = begin(INDEX_PARTIAL_ERROR);
        struct reason why = {""};
        set("9.5\tb\n1e-3\tz\n", "10\ta\n9.5\tc\n", "0.5\td\n");
        assert_int_equal(index_search(client, SLICE("words"), cases[i].limit, take, &out, &why),
                         STATUS_OK);
        assert_int_equal(asked_stream, INDEX_STREAM_SEARCH);
        struct codec_reader in = codec_reader_of(slice_of(request_text, request_length));
        assert_true(slice_is(codec_get_slice(&in), "words"));
        assert_int_equal(codec_get_varint(&in), cases[i].limit);
        assert_true(codec_at_end(&in));
        is_out(cases[i].expected);
        finish(client);
    }
    /* Scores of more digits than there is room for, and a line without one. */
    struct index_client *client = begin(INDEX_PARTIAL_ERROR);
    struct reason why = {""};
    set("0.33333333333333333333333333333333333333333\ta\n", "no score\n",
        "0.333333333333333333333333333333333333\tb\n");
    assert_int_equal(index_search(client, SLICE("words"), 0, take, &out, &why), STATUS_OK);
    is_out("0.33333333333333333333333333333333333333333\ta\n"
           "0.333333333333333333333333333333333333\tb\nno score\n");
    scripts[1].end = STATUS_SYSTEM;
    assert_int_equal(index_search(client, SLICE("words"), 0, take, &out, &why), STATUS_SYSTEM);
    finish(client);
}

/* Each call has all partitions again, whatever the last one went without. */
static void
test_each_call_asks_all_anew(void **state)
{
    struct index_client *client = begin(INDEX_PARTIAL_WARN);
    struct reason why = {""};
    const struct quad any = {0};
    (void)state;
    for (int call = 0; call < 3; call++) {
        for (int missing = 1; missing >= 0; missing--) {
            size_t partition = 0;
            set("3\ta\n", "2\tb\n", "1\tc\n");
            scripts[1] = missing ? (struct script){"", STATUS_SYSTEM} : scripts[1];
            buf_reset(&out);
            assert_int_equal(call == 0   ? index_search(client, SLICE("a"), 0, take, &out, &why)
                             : call == 1 ? index_pattern(client, &any, 0, take, &out, &why)
                                         : index_dump(client, NULL, take, &out, &why),
                             STATUS_OK);
            assert_int_equal(out.length, missing ? 8 : 12);
            assert_int_equal(index_client_missing(client, &partition, &why), missing);
        }
    }
    finish(client);
}

/* ---- patterns ---- */

static void
test_quads_of_a_pattern_are_counted(void **state)
{
    static const struct {
        uint64_t limit;
        const char *expected;
    } cases[] = {{0, "<z>\n<y>\n<x>\n<w>\n<v>\n"},
                 {6, "<z>\n<y>\n<x>\n<w>\n<v>\n"},
                 {5, "<z>\n<y>\n<x>\n<w>\n<v>\n"},
                 {3, "<z>\n<y>\n<x>\n"},
                 {2, "<z>\n<y>\n"},
                 {1, "<z>\n"}};
    const struct quad any = {0};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (size_t bytes = 1; bytes < 12; bytes++) {
            struct index_client *client = begin(INDEX_PARTIAL_ERROR);
            struct reason why = {""};
            set("<z>\n<y>\n", "<x>\n<w>\n", "<v>\n");
            piece_bytes = bytes;
            assert_int_equal(index_pattern(client, &any, cases[i].limit, take, &out, &why),
                             STATUS_OK);
            assert_int_equal(asked_stream, INDEX_STREAM_PATTERN);
            struct codec_reader in = codec_reader_of(slice_of(request_text, request_length));
            struct quad pattern;
            assert_int_equal(codec_get_varint(&in), cases[i].limit);
            assert_true(index_get_pattern(&in, &pattern));
            assert_int_equal(pattern.subject.kind, TERM_NONE);
            assert_true(codec_at_end(&in));
            assert_int_equal(asked, 7);
            is_out(cases[i].expected);
            finish(client);
        }
    }
    for (unsigned i = 0; i < COUNT; i++) {
        struct index_client *client = begin(INDEX_PARTIAL_ERROR);
        struct reason why = {""};
        set("<z>\n", "<x>\n", "<v>\n");
        scripts[i].end = STATUS_SYSTEM;
        assert_int_equal(index_pattern(client, &any, 0, take, &out, &why), STATUS_SYSTEM);
        finish(client);
        client = begin(INDEX_PARTIAL_ERROR);
        set("<z>\n", "<x>\n", "<v>\n");
        refused_piece = i + 1;
        assert_int_equal(index_pattern(client, &any, 0, take, &out, &why), STATUS_FULL);
        assert_int_equal(pieces, i + 1);
        finish(client);
    }
}

/* One graph is that of one partition. */
static void
test_one_graph_is_asked_for_where_it_is(void **state)
{
    unsigned all = 0;
    (void)state;
    for (int i = 0; i < 40; i++) {
        char name[32];
        struct index_client *client = begin(INDEX_PARTIAL_ERROR);
        struct reason why = {""};
        snprintf(name, sizeof name, "http://h/%d", i);
        const struct quad pattern = {.graph = term_iri(slice_string(name))};
        set("0", "1", "2");
        assert_int_equal(index_pattern(client, &pattern, 0, take, &out, &why), STATUS_OK);
        assert_int_equal(out.length, 1);
        assert_int_equal(asked, 1u << (out.data[0] - '0'));
        assert_int_equal(asked, 1u << client_owner(client, slice_string(name)));
        all |= asked;
        finish(client);
    }
    assert_int_equal(all, 7);
}

/* ---- one after the other ---- */

static void
test_all_partitions_are_verified(void **state)
{
    static const struct {
        enum status ends[COUNT], status;
        const char *out, *why;
    } cases[] = {
        {{STATUS_END, STATUS_END, STATUS_END}, STATUS_OK, "abc", ""},
        {{STATUS_CORRUPT, STATUS_END, STATUS_END}, STATUS_CORRUPT, "abc", "partition 0"},
        {{STATUS_CORRUPT, STATUS_END, STATUS_CORRUPT}, STATUS_CORRUPT, "abc", "partition 2"},
        {{STATUS_CORRUPT, STATUS_SYSTEM, STATUS_END}, STATUS_SYSTEM, "ab", "partition 1"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct index_client *client = begin(INDEX_PARTIAL_WARN);
        struct reason why = {""};
        set("a", "b", "c");
        for (size_t k = 0; k < COUNT; k++) {
            scripts[k].end = cases[i].ends[k];
        }
        assert_int_equal(index_verify(client, take, &out, &why), cases[i].status);
        assert_int_equal(asked_stream, INDEX_STREAM_VERIFY);
        is_out(cases[i].out);
        assert_string_equal(why.text, cases[i].why);
        finish(client);
    }
}

static void
test_statistics_are_added_up(void **state)
{
    enum { NUMBERS = 7 };
    (void)state;
    for (size_t i = 0; i <= 2 * COUNT; i++) {
        struct index_client *client = begin(INDEX_PARTIAL_ERROR);
        struct index_stats stats;
        struct reason why = {""};
        called = 0;
        for (size_t k = 0; k < COUNT; k++) {
            static const enum status writes[] = {STATUS_OK, STATUS_FULL, STATUS_CORRUPT};
            buf_init(&replies[k], 1000);
            for (uint64_t n = 1; n < NUMBERS; n++) {
                codec_put_u64(&replies[k], n * (k == 0 ? 1 : k == 1 ? 10 : 100));
            }
            codec_put_u64(&replies[k], writes[k]);
            replies[k].length -= i == k + 1; /* one byte is lacking */
            reply_status[k] = i == COUNT + k + 1 ? STATUS_TIMEOUT : STATUS_OK;
        }
        const enum status status = index_stats_get(client, &stats, &why);
        if (i == 0) {
            const struct index_stats sum = {111, 222, 333, 444, 555, 666, 1, 1};
            assert_int_equal(status, STATUS_OK);
            assert_memory_equal(&stats, &sum, sizeof sum);
        } else if (i <= COUNT) {
            assert_int_equal(status, STATUS_PROTOCOL);
            assert_string_equal(why.text, "the index sent malformed statistics");
        } else {
            assert_int_equal(status, STATUS_TIMEOUT);
            assert_string_equal(why.text, "no answer");
        }
        assert_int_equal(called, i == 0 ? COUNT : (i - 1) % COUNT + 1);
        for (size_t k = 0; k < COUNT; k++) {
            buf_release(&replies[k]);
        }
        finish(client);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_dump_is_merged_wherever_pieces_end),
        cmocka_unit_test(test_a_dump_tells_its_position),
        cmocka_unit_test(test_a_partition_that_breaks_off_fails_the_whole),
        cmocka_unit_test(test_what_is_missing_may_be_told_instead),
        cmocka_unit_test(test_a_long_dump_goes_out_in_pieces),
        cmocka_unit_test(test_searches_are_merged_by_score),
        cmocka_unit_test(test_each_call_asks_all_anew),
        cmocka_unit_test(test_quads_of_a_pattern_are_counted),
        cmocka_unit_test(test_one_graph_is_asked_for_where_it_is),
        cmocka_unit_test(test_all_partitions_are_verified),
        cmocka_unit_test(test_statistics_are_added_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) + told_lookups_run();
}
