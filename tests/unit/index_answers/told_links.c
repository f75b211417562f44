/* Links of documents that a client asks partitions for (index/client/partitions/client_links.c):
 * which messages travel, and who is told what by answers that are whole, short, wrong or not there.
 */
#include "tests/unit/index_answers/told_links.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/codec.h"
#include "index/client/index_client.h"
#include "index/client/partitions/client_calls.h"
#include "tests/unit/memory_in_use.h"

enum { PARTITIONS_ASKED = 3, TEXT_MOST = 1 << 16, REQUEST_MOST = 4 << 20, TOGETHER = 64 };

static struct index_client *client;
static struct buf told; /* what was told, as text */

/* ---- the messages ---- */

static struct {
    struct buf request;
    rpc_done *done;
    void *context;
    unsigned count;
} posted;

void
told_links_posted(struct slice request, uint32_t timeout_ms, rpc_done *done, void *context)
{
    assert_int_equal(timeout_ms, client->timeout_ms);
    buf_reset(&posted.request);
    assert_int_equal(buf_append_slice(&posted.request, request), STATUS_OK);
    posted.done = done;
    posted.context = context;
    posted.count++;
}

/* Writes the documents that the last message names. */
static void
expect_asked(const char *expected)
{
    struct codec_reader in = codec_reader_of(buf_slice(&posted.request));
    char text[1024];
    size_t length = 0;
    text[0] = '\0';
    while (!codec_at_end(&in)) {
        const struct slice name = codec_get_slice(&in);
        assert_false(in.bad);
        length += (size_t)snprintf(text + length, sizeof text - length, "%.*s ", SLICE_PRINT(name));
    }
    assert_string_equal(text, expected);
}

/* ---- the answers ---- */

static struct buf answer;

static void
put_links(unsigned query, const char *const *targets, size_t count)
{
    struct buf links;
    buf_init(&links, TEXT_MOST);
    for (size_t i = 0; i < count; i++) {
        codec_put_varint(&links, query + i);
        codec_put_slice(&links, slice_string(targets[i]));
    }
    codec_put_u8(&answer, STATUS_OK);
    codec_put_slice(&answer, buf_slice(&links));
    buf_release(&links);
}

static void
put_failure(enum status status, const char *said)
{
    codec_put_u8(&answer, (uint8_t)status);
    codec_put_slice(&answer, slice_string(said));
}

static void
give(enum status status)
{
    const struct reason why = {"no answer"};
    rpc_done *const done = posted.done;
    posted.done = NULL;
    assert_non_null(done);
    done(posted.context, status, buf_slice(&answer), &why);
    buf_reset(&answer);
}

/* ---- asking ---- */

static void
tell(void *context, enum status status, const struct index_link *links, size_t count,
     const struct reason *why)
{
    (void)buf_printf(&told, "%s %s:", (const char *)context, status_name(status));
    for (size_t i = 0; i < count; i++) {
        (void)buf_printf(&told, " %u %.*s", (unsigned)links[i].query, SLICE_PRINT(links[i].target));
    }
    (void)buf_printf(&told, "%s%s\n", status != STATUS_OK ? " " : "",
                     status != STATUS_OK ? why->text : "");
}

static void
expect_told(const char *expected)
{
    (void)buf_append_char(&told, '\0');
    assert_string_equal(told.data, expected);
    buf_reset(&told);
}

/* Documents of one partition, and who asks for them. */
static char names[TOGETHER + 1][32];
static size_t owner;

static void
make_names(void)
{
    unsigned number = 0;
    owner = client_owner(client, SLICE("urn:document:0"));
    for (size_t i = 0; i <= TOGETHER; i++) {
        do {
            snprintf(names[i], sizeof names[i], "urn:document:%u", number++);
        } while (client_owner(client, slice_string(names[i])) != owner);
    }
}

static void
ask(size_t count)
{
    for (size_t i = 0; i < count; i++) {
        index_links(client, slice_string(names[i]), tell, names[i]);
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
    buf_init(&told, TEXT_MOST);
    buf_init(&answer, TEXT_MOST);
    buf_init(&posted.request, REQUEST_MOST);
    posted.done = NULL;
    posted.count = 0;
    if (index_client_open(&client, &options, &why) != STATUS_OK) {
        return -1;
    }
    make_names();
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    index_client_close(client);
    buf_release(&told);
    buf_release(&answer);
    buf_release(&posted.request);
    return 0;
}

/* ---- tests ---- */

static void
documents_that_are_asked_for_together_travel_together(void **state)
{
    static const char *const targets[] = {"urn:t", "urn:u", "urn:v"};
    char expected[256];
    (void)state;
    ask(3);
    assert_int_equal(posted.count, 0);
    client_links_post(client, (owner + 1) % PARTITIONS_ASKED); /* which was asked for nothing */
    assert_int_equal(posted.count, 0);
    client_links_post(client, owner);
    client_links_post(client, owner);
    assert_int_equal(posted.count, 1);
    snprintf(expected, sizeof expected, "%s %s %s ", names[0], names[1], names[2]);
    expect_asked(expected);
    put_links(4, targets, 3);
    put_links(0, targets, 0);
    put_failure(STATUS_LIMIT, "too many");
    put_links(9, targets, 1); /* nobody asked for a fourth one */
    give(STATUS_OK);
    snprintf(expected, sizeof expected,
             "%s OK: 4 urn:t 5 urn:u 6 urn:v\n%s OK:\n%s LIMIT: too many\n", names[0], names[1],
             names[2]);
    expect_told(expected);
    assert_int_equal(posted.count, 1);
}

static void
a_message_has_so_many_documents(void **state)
{
    (void)state;
    ask(TOGETHER - 1);
    assert_int_equal(posted.count, 0);
    index_links(client, slice_string(names[TOGETHER - 1]), tell, names[TOGETHER - 1]);
    assert_int_equal(posted.count, 1);
    struct codec_reader in = codec_reader_of(buf_slice(&posted.request));
    for (size_t i = 0; i < TOGETHER; i++) {
        assert_true(slice_is(codec_get_slice(&in), names[i]));
    }
    assert_true(codec_at_end(&in));
    give(STATUS_TIMEOUT);
    buf_reset(&told);
    /* The next one begins anew. */
    index_links(client, slice_string(names[TOGETHER]), tell, names[TOGETHER]);
    assert_int_equal(posted.count, 1);
    client_links_post(client, owner);
    assert_int_equal(posted.count, 2);
    give(STATUS_TIMEOUT);
}

/* A megabyte of names is enough, however few they are. */
static void
long_names_do_not_wait(void **state)
{
    enum { ENOUGH = 1 << 20, LENGTH_BYTES = 3 };
    static char name[ENOUGH + 1];
    (void)state;
    memset(name, 'x', sizeof name);
    index_links(client, slice_of(name, ENOUGH - LENGTH_BYTES - 1), tell, names[0]);
    assert_int_equal(posted.count, 0);
    for (size_t i = 0; i < PARTITIONS_ASKED; i++) {
        client_links_post(client, i);
    }
    assert_int_equal(posted.count, 1);
    assert_int_equal(posted.request.length, ENOUGH - 1);
    give(STATUS_TIMEOUT);
    index_links(client, slice_of(name, ENOUGH - LENGTH_BYTES), tell, names[0]);
    assert_int_equal(posted.count, 2);
    assert_int_equal(posted.request.length, ENOUGH);
    give(STATUS_TIMEOUT);
}

/* An answer may end before all are answered; the others are asked for again. */
static void
what_an_answer_leaves_out_is_asked_for_again(void **state)
{
    static const char *const targets[] = {"urn:t"};
    char expected[256];
    (void)state;
    ask(3);
    client_links_post(client, owner);
    put_links(1, targets, 1);
    give(STATUS_OK);
    snprintf(expected, sizeof expected, "%s OK: 1 urn:t\n", names[0]);
    expect_told(expected);
    client_links_post(client, owner);
    assert_int_equal(posted.count, 2);
    snprintf(expected, sizeof expected, "%s %s ", names[1], names[2]);
    expect_asked(expected);
    put_links(2, targets, 1);
    put_links(3, targets, 1);
    give(STATUS_OK);
    snprintf(expected, sizeof expected, "%s OK: 2 urn:t\n%s OK: 3 urn:t\n", names[1], names[2]);
    expect_told(expected);
    client_links_post(client, owner);
    assert_int_equal(posted.count, 2);
}

static void
answers_that_are_wrong_are_told_to_the_rest(void **state)
{
    static const char *const targets[] = {"urn:t", "urn:u"};
    static const char wrong[] = "PROTOCOL: the index sent malformed links";
    char expected[512];
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        ask(3);
        client_links_post(client, owner);
        put_links(1, targets, 1);
        if (kind == 0) {
            answer.length = 0;
        } else if (kind == 1) {
            put_links(1, targets, 2);
            answer.length--; /* its links are not all there */
        } else if (kind == 2) {
            codec_put_u8(&answer, STATUS_OK);
            codec_put_slice(&answer, SLICE("\x05\x03no")); /* nor is the text of this one */
        } else {
            put_failure(STATUS_LIMIT, "too many");
            answer.length--;
        }
        give(STATUS_OK);
        if (kind == 0) {
            snprintf(expected, sizeof expected, "%s %s\n%s %s\n%s %s\n", names[0], wrong, names[1],
                     wrong, names[2], wrong);
        } else {
            snprintf(expected, sizeof expected, "%s OK: 1 urn:t\n%s %s\n%s %s\n", names[0],
                     names[1], wrong, names[2], wrong);
        }
        expect_told(expected);
    }
}

static void
a_message_that_fails_is_told_to_all(void **state)
{
    char expected[256];
    (void)state;
    ask(2);
    client_links_post(client, owner);
    give(STATUS_TIMEOUT);
    snprintf(expected, sizeof expected, "%s TIMEOUT: no answer\n%s TIMEOUT: no answer\n", names[0],
             names[1]);
    expect_told(expected);
    client_links_post(client, owner);
    assert_int_equal(posted.count, 1);
}

static void
ask_again(void *context, enum status status, const struct index_link *links, size_t count,
          const struct reason *why)
{
    tell(context, status, links, count, why);
    index_links(client, slice_string(context), tell, context);
}

/* Who asks while the client is closed is told nothing more. */
static void
what_is_cancelled_is_told_once(void **state)
{
    char expected[256];
    (void)state;
    client_links_cancel(client, owner);
    index_links(client, slice_string(names[0]), ask_again, names[0]);
    index_links(client, slice_string(names[1]), tell, names[1]);
    client_links_cancel(client, owner);
    snprintf(expected, sizeof expected,
             "%s CANCELLED: the client was closed\n%s CANCELLED: the client was closed\n", names[0],
             names[1]);
    expect_told(expected);
    assert_int_equal(posted.count, 0);
    client->partitions[owner].links = NULL; /* which is freed */
}

static void
ask_and_cancel(void)
{
    index_links(client, slice_string(names[0]), ask_again, names[0]);
    client_links_cancel(client, owner);
    client->partitions[owner].links = NULL;
    buf_reset(&told);
}

static void
what_is_cancelled_is_freed(void **state)
{
    (void)state;
    assert_true(leaves_no_memory(ask_and_cancel));
}

int
told_links_run(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(documents_that_are_asked_for_together_travel_together),
        CASE(a_message_has_so_many_documents),
        CASE(long_names_do_not_wait),
        CASE(what_an_answer_leaves_out_is_asked_for_again),
        CASE(answers_that_are_wrong_are_told_to_the_rest),
        CASE(a_message_that_fails_is_told_to_all),
        CASE(what_is_cancelled_is_told_once),
        CASE(what_is_cancelled_is_freed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
