/* Calls of the metadata stores' client that wait (metastore/metastore_client.c), and reading of
 * another node's archive (metastore/archive_link.c), with every answer that there may be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "metastore/archive_link.h"
#include "metastore/metastore_client.h"
#include "tests/unit/metastore/metastore_messages.h"

enum { WAIT_MS = 4321, ARCHIVE_WAIT_MS = 5000 };

static struct metastore_client *
open_client(size_t nodes)
{
    static const char *const endpoints[NODES] = {"ipc:a", "tcp://b:1", "tcp://c:1"};
    const struct metastore_client_options options = {
        .endpoints = endpoints, .endpoint_count = nodes, .name = "test.1"};
    struct metastore_client *client;
    struct reason why = {""};
    assert_int_equal(metastore_client_open(&client, &options, &why), STATUS_OK);
    return client;
}

/* ---- one record ---- */

static void
test_a_record_is_waited_for(void **state)
{
    static const struct {
        uint32_t count;
        const char *record, *more, *why;
        enum status called, expected;
    } cases[] = {
        {1, "record", NULL, "", STATUS_OK, STATUS_OK},
        {1, "", NULL, "nothing is known of http://a/", STATUS_OK, STATUS_NOT_FOUND},
        {2, "record", NULL, "metastore: a malformed answer to a get", STATUS_OK, STATUS_PROTOCOL},
        {1, "record", "x", "metastore: a malformed answer to a get", STATUS_OK, STATUS_PROTOCOL},
        {1, NULL, NULL, "metastore: a malformed answer to a get", STATUS_OK, STATUS_PROTOCOL},
        {1, "record", NULL, "call 5", STATUS_TIMEOUT, STATUS_TIMEOUT},
        {0, "", NULL, "metastore: a malformed answer to a get", STATUS_OK, STATUS_PROTOCOL},
    };
    struct metastore_client *client = open_client(1);
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct buf record, *payload = reply(cases[i].called);
        struct reason why = {""};
        buf_init(&record, 100);
        (void)buf_append_string(&record, "before");
        codec_put_u32(payload, cases[i].count);
        if (cases[i].record != NULL) {
            codec_put_slice(payload, slice_string(cases[i].record));
        }
        (void)buf_append_string(payload, cases[i].more != NULL ? cases[i].more : "");
        const struct slice key = slice_of("uhttp://a/b", strlen("uhttp://a/")); /* its beginning */
        assert_int_equal(metastore_get_wait(client, key, &record, WAIT_MS, &why),
                         cases[i].expected);
        assert_string_equal(why.text, cases[i].why);
        assert_true(
            slice_is(buf_slice(&record), cases[i].expected == STATUS_OK ? "record" : "before"));
        assert_int_equal(calls[i].verb, METASTORE_GET);
        assert_int_equal(calls[i].timeout_ms, WAIT_MS);
        struct codec_reader in = codec_reader_of(buf_slice(&calls[i].payload));
        assert_int_equal(codec_get_varint(&in), 1);
        assert_true(slice_is(codec_get_slice(&in), "uhttp://a/"));
        assert_true(codec_at_end(&in));
        buf_release(&record);
    }
    struct reason why = {""};
    assert_int_equal(metastore_get_wait(client, SLICE("xhttp://a/"), NULL, WAIT_MS, &why),
                     STATUS_MISUSE);
    assert_string_equal(why.text, "not a key of the metadata store: xhttp://a/");
    metastore_client_close(client);
}

struct got {
    unsigned times;
    enum status status;
    size_t n, lengths;
    char why[REASON_SIZE];
};

static void
note_got(void *context, enum status status, const struct slice *records, size_t n,
         const struct reason *why)
{
    struct got *got = context;
    got->times++;
    got->status = status;
    got->n = n;
    for (size_t i = 0; i < n; i++) {
        got->lengths += records[i].length;
    }
    snprintf(got->why, sizeof got->why, "%s", why->text);
}

/* Who asks for nothing is answered with nothing; who asks for one record is not, lest it be asked
 * for again and again. */
static void
test_answers_without_a_record(void **state)
{
    static const struct slice keys[] = {SLICE_INIT("ua"), SLICE_INIT("ub"), SLICE_INIT("uc")};
    struct metastore_client *client = open_client(1);
    (void)state;
    for (size_t n = 0; n <= sizeof keys / sizeof *keys; n++) {
        struct got got = {0};
        metastore_get(client, keys, n, note_got, &got);
        assert_int_equal(posted, n + 1);
        assert_int_equal(got.times, 0);
        answer(n, STATUS_OK, slice_of("\0\0\0\0", 4)); /* a count of 0 */
        assert_int_equal(got.times, 1);
        assert_int_equal(got.status, n == 0 ? STATUS_OK : STATUS_PROTOCOL);
        assert_int_equal(got.n, n);
        assert_int_equal(got.lengths, 0);
        assert_string_equal(got.why, n == 0 ? "" : "metastore: a malformed answer to a get");
    }
    metastore_client_close(client);
}

static void
test_counters_of_each_store(void **state)
{
    struct metastore_client *client = open_client(2);
    struct reason why = {""};
    struct buf lines;
    (void)state;
    buf_init(&lines, 100);
    (void)buf_append_string(reply(STATUS_OK), "records 5\n");
    assert_int_equal(metastore_stats(client, 1, &lines, WAIT_MS, &why), STATUS_OK);
    assert_true(slice_is(buf_slice(&lines), "records 5\n"));
    assert_int_equal(calls[0].node, 1);
    assert_int_equal(calls[0].verb, METASTORE_STATS);
    assert_int_equal(metastore_stats(client, 2, &lines, WAIT_MS, &why), STATUS_END);
    assert_int_equal(called, 1);
    buf_release(&lines);
    metastore_client_close(client);
}

/* ---- scans ---- */

/* An answer to a scan: the keys, each with its own name as record, and whether there are more. */
static void
page(const char *keys, bool more)
{
    struct buf *payload = reply(STATUS_OK);
    struct slice rest = slice_string(keys);
    uint32_t n = rest.length > 0;
    for (size_t i = 0; i < rest.length; i++) {
        n += rest.at[i] == ' ';
    }
    codec_put_u32(payload, n);
    while (rest.length > 0) {
        const struct slice key = slice_take(&rest, ' ');
        codec_put_slice(payload, key);
        codec_put_slice(payload, key);
    }
    codec_put_u8(payload, more);
}

struct visited {
    struct buf keys;
    unsigned left; /* then it stops */
};

static bool
visit(void *context, struct slice key, struct slice record)
{
    struct visited *visited = context;
    assert_true(slice_equal(key, record));
    (void)buf_append_slice(&visited->keys, key);
    (void)buf_append_char(&visited->keys, ' ');
    return --visited->left > 0;
}

static enum status
scan(size_t nodes, uint32_t most, unsigned stops_after, const char *expected)
{
    struct metastore_client *client = open_client(nodes);
    struct visited visited = {.left = stops_after};
    struct reason why = {""};
    buf_init(&visited.keys, 1000);
    const enum status status =
        metastore_scan(client, SLICE("u"), SLICE("u1"), most, visit, &visited, WAIT_MS, &why);
    assert_string_equal(visited.keys.length > 0 ? visited.keys.data : "", expected);
    if (status == STATUS_PROTOCOL) {
        assert_string_equal(why.text, "metastore: a malformed answer to a scan");
    }
    buf_release(&visited.keys);
    metastore_client_close(client);
    opened = closed = 0;
    return status;
}

/* The call asks this node for what comes after this key. */
static void
is_asked(size_t i, size_t node, const char *after)
{
    struct codec_reader in = codec_reader_of(buf_slice(&calls[i].payload));
    assert_int_equal(calls[i].node, node);
    assert_int_equal(calls[i].verb, METASTORE_SCAN);
    assert_int_equal(calls[i].timeout_ms, WAIT_MS);
    assert_true(slice_is(codec_get_slice(&in), "u"));
    assert_true(slice_is(codec_get_slice(&in), after));
    assert_int_equal(codec_get_varint(&in), 512);
    assert_true(codec_at_end(&in));
}

static void
test_scans_of_several_stores_are_one(void **state)
{
    (void)state;
    page("u2 u5", true);
    page("u3 u4", false);
    page("u6", true); /* the first node's next page */
    page("", false);
    assert_int_equal(scan(2, 100, 100, "u2 u3 u4 u5 u6 "), STATUS_OK);
    assert_int_equal(called, 4);
    is_asked(0, 0, "u1");
    is_asked(1, 1, "u1");
    is_asked(2, 0, "u5");
    is_asked(3, 0, "u6");
}

static void
test_scans_stop_where_it_is_enough(void **state)
{
    static const struct {
        uint32_t most;
        unsigned stops_after;
        const char *expected;
    } cases[] = {{3, 100, "u2 u3 u4 "}, {2, 100, "u2 u3 "}, {100, 2, "u2 u3 "}, {0, 100, ""}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        page("u2 u3 u4", false);
        assert_int_equal(scan(1, cases[i].most, cases[i].stops_after, cases[i].expected),
                         STATUS_OK);
    }
    (void)reply(STATUS_TIMEOUT);
    assert_int_equal(scan(1, 100, 100, ""), STATUS_TIMEOUT);
}

static void
test_malformed_answers_to_a_scan_are_refused(void **state)
{
    (void)state;
    (void)reply(STATUS_OK); /* nothing */
    assert_int_equal(scan(1, 100, 100, ""), STATUS_PROTOCOL);
    (void)buf_append_string(reply(STATUS_OK), "abc"); /* too short for a number */
    assert_int_equal(scan(1, 100, 100, ""), STATUS_PROTOCOL);
    struct buf *payload = reply(STATUS_OK);
    codec_put_u32(payload, 2);
    codec_put_slice(payload, SLICE("u2"));
    codec_put_slice(payload, SLICE("u2"));
    codec_put_slice(payload, SLICE("u3"));
    assert_int_equal(scan(1, 100, 100, "u2 "), STATUS_PROTOCOL);
}

/* ---- another node's archive ---- */

static struct archive_link *
open_link(void)
{
    struct archive_link *link;
    struct reason why = {""};
    assert_int_equal(archive_link_open(&link, "ipc:archive", NULL, &why), STATUS_OK);
    return link;
}

static void
fill(struct buf *payload, size_t n)
{
    char *bytes = buf_reserve(payload, n);
    memset(bytes, 'w', n);
    buf_commit(payload, n);
}

static void
is_asked_for(size_t i, uint64_t offset, uint64_t length)
{
    struct codec_reader in = codec_reader_of(buf_slice(&calls[i].payload));
    assert_int_equal(calls[i].verb, METASTORE_ARCHIVE);
    assert_int_equal(calls[i].timeout_ms, ARCHIVE_WAIT_MS);
    assert_true(slice_is(codec_get_slice(&in), "a.warc.gz"));
    assert_int_equal(codec_get_varint(&in), offset);
    assert_int_equal(codec_get_varint(&in), length);
    assert_true(codec_at_end(&in));
}

static void
test_a_link_that_cannot_be_opened_is_none(void **state)
{
    struct archive_link *link = (struct archive_link *)state;
    struct reason why = {""};
    open_fails_at = 0;
    assert_int_equal(archive_link_open(&link, "ipc:archive", NULL, &why), STATUS_DENIED);
    assert_null(link);
    assert_string_equal(why.text, "no socket");
    archive_link_close(NULL);
}

static void
test_long_records_come_in_pieces(void **state)
{
    enum { LENGTH = 2 * ARCHIVE_PIECE + 5 };
    const struct archive_range range = {SLICE("a.warc.gz"), 100, LENGTH};
    struct archive_link *link = open_link();
    struct reason why = {""};
    struct buf member;
    (void)state;
    buf_init(&member, LENGTH);
    fill(reply(STATUS_OK), ARCHIVE_PIECE);
    fill(reply(STATUS_OK), ARCHIVE_PIECE);
    fill(reply(STATUS_OK), 5);
    assert_int_equal(archive_link_read(link, &range, &member, &why), STATUS_OK);
    assert_int_equal(member.length, LENGTH);
    is_asked_for(0, 100, ARCHIVE_PIECE);
    is_asked_for(1, 100 + ARCHIVE_PIECE, ARCHIVE_PIECE);
    is_asked_for(2, 100 + 2 * ARCHIVE_PIECE, 5);
    archive_link_close(link);
    buf_release(&member);
}

static void
test_what_cannot_be_read_of_an_archive(void **state)
{
    static const struct {
        const char *file;
        uint64_t length;
        enum status expected;
        const char *why;
    } cases[] = {
        {"../a.warc.gz", 5, STATUS_MISUSE, "not the name of a WARC file: ../a.warc.gz"},
        {"a.warc.gz", 0, STATUS_LIMIT, "a.warc.gz: a record of 0 bytes"},
        {"a.warc.gz", 51, STATUS_LIMIT, "a.warc.gz: a record of 51 bytes"},
        {"a.warc.gz", 50, STATUS_OK, ""},
        {"a.warc.gz", 50, STATUS_PROTOCOL, "a.warc.gz: not the bytes that were asked for"},
        {"a.warc.gz", 50, STATUS_PROTOCOL, "a.warc.gz: not the bytes that were asked for"},
        {"a.warc.gz", 50, STATUS_NOT_FOUND, "call 3"},
    };
    struct archive_link *link = open_link();
    struct buf member;
    (void)state;
    buf_init(&member, 50);
    fill(reply(STATUS_OK), 50);
    fill(reply(STATUS_OK), 49);
    fill(reply(STATUS_OK), 51);
    (void)reply(STATUS_NOT_FOUND);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct archive_range range = {slice_string(cases[i].file), 7, cases[i].length};
        struct reason why = {""};
        assert_int_equal(archive_link_read(link, &range, &member, &why), cases[i].expected);
        assert_string_equal(why.text, cases[i].why);
        assert_int_equal(member.length, cases[i].expected == STATUS_OK ? 50 : 0);
    }
    assert_int_equal(called, 4);
    archive_link_close(link);
    buf_release(&member);
}

static void
test_an_archive_that_is_away_is_not_asked(void **state)
{
    const struct archive_range range = {SLICE("a.warc.gz"), 100, 5};
    struct archive_link *link = open_link();
    struct reason why = {""};
    struct buf member;
    (void)state;
    buf_init(&member, 50);
    (void)reply(STATUS_TIMEOUT);
    assert_int_equal(archive_link_read(link, &range, &member, &why), STATUS_UNAVAILABLE);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(archive_link_read(link, &range, &member, &why), STATUS_UNAVAILABLE);
        assert_string_equal(why.text, "the node of this archive does not answer");
        assert_int_equal(archive_link_read_ranges(link, &range, 1, &member, &why),
                         STATUS_UNAVAILABLE);
    }
    assert_int_equal(called, 1);
    assert_int_equal(processed, 4); /* each time whether it lives now */
    assert_int_equal(posted, 1);
    assert_int_equal(posts[0].verb, METASTORE_GET);
    assert_int_equal(posts[0].timeout_ms, 0);
    assert_int_equal(posts[0].payload.length, 1);
    assert_int_equal(posts[0].payload.data[0], 0);
    answer(0, STATUS_SYSTEM, SLICE("")); /* whatever it says, it lives */
    fill(reply(STATUS_OK), 5);
    assert_int_equal(archive_link_read_ranges(link, &range, 1, &member, &why), STATUS_OK);
    is_asked_for(1, 100, 5);
    (void)reply(STATUS_TIMEOUT);
    assert_int_equal(archive_link_read_ranges(link, &range, 1, &member, &why), STATUS_UNAVAILABLE);
    assert_int_equal(posted, 2);
    archive_link_close(link);
    buf_release(&member);
}

int
metastore_calls_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_record_is_waited_for, messages_begin, messages_end),
        cmocka_unit_test_setup_teardown(test_answers_without_a_record, messages_begin,
                                        messages_end),
        cmocka_unit_test_setup_teardown(test_counters_of_each_store, messages_begin, messages_end),
        cmocka_unit_test_setup_teardown(test_scans_of_several_stores_are_one, messages_begin,
                                        messages_end),
        cmocka_unit_test_setup_teardown(test_scans_stop_where_it_is_enough, messages_begin,
                                        messages_end),
        cmocka_unit_test_setup_teardown(test_malformed_answers_to_a_scan_are_refused,
                                        messages_begin, messages_end),
        cmocka_unit_test_setup_teardown(test_a_link_that_cannot_be_opened_is_none, messages_begin,
                                        messages_end),
        cmocka_unit_test_setup_teardown(test_long_records_come_in_pieces, messages_begin,
                                        messages_end),
        cmocka_unit_test_setup_teardown(test_what_cannot_be_read_of_an_archive, messages_begin,
                                        messages_end),
        cmocka_unit_test_setup_teardown(test_an_archive_that_is_away_is_not_asked, messages_begin,
                                        messages_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
