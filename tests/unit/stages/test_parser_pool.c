/* These tests are of what fetch asks of its parser's workers (stages/fetch/parser/fetch_parser.c).
 * The pool of workers is stood in for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/codec.h"
#include "datasets/execution.h"
#include "stages/fetch/http/fetch_http.h"
#include "stages/fetch/parser/fetch_parser.h"
#include "tests/unit/stages/parser_requests.h"
#include "tests/unit/stand_in.h"
#include "transforms/transform.h"

enum {
    ROOM = 1 << 18,
    MEGABYTE = 1 << 20,
    FIELDS_ROOM = 16 << 20 /* of a request besides its bytes */
};

static struct {
    struct worker_limits limits;
    enum status status; /* of the next that is opened */
    size_t opened, closed;
    size_t held, let_go; /* bytes */
    uint8_t verb;
    struct buf request; /* the last one */
    worker_done *done;
    void *context;
} pool;
static int server_there, http_there;

STAND_IN(enum status, worker_pool_open,
         (struct worker_pool * *result, struct fork_server *fork_server,
          const struct worker_limits *limits, struct slice configuration, struct reason *why))
{
    assert_ptr_equal(fork_server, &server_there);
    assert_int_equal(configuration.length, 0);
    pool.limits = *limits;
    if (pool.status != STATUS_OK) {
        return status_fail(why, pool.status, "no workers");
    }
    pool.opened++;
    *result = (struct worker_pool *)(void *)&pool;
    return STATUS_OK;
}

STAND_IN(void, worker_pool_close, (struct worker_pool * closed))
{
    if (closed != NULL) {
        assert_ptr_equal(closed, &pool);
        pool.closed++;
    }
}

STAND_IN(void, worker_submit,
         (struct worker_pool * asked, enum sandbox_policy policy, uint8_t verb,
          const struct slice *pieces, size_t count, worker_done *done, void *context))
{
    assert_ptr_equal(asked, &pool);
    assert_int_equal(policy, SANDBOX_PARSER);
    pool.verb = verb;
    pool.done = done;
    pool.context = context;
    buf_reset(&pool.request);
    for (size_t i = 0; i < count; i++) {
        buf_append_slice(&pool.request, pieces[i]);
    }
    assert_false(pool.request.overflowed);
}

STAND_IN(void, fetch_http_hold, (struct fetch_http * http, size_t bytes))
{
    assert_ptr_equal(http, &http_there);
    pool.held += bytes;
}

STAND_IN(void, fetch_http_let_go, (struct fetch_http * http, size_t bytes))
{
    assert_ptr_equal(http, &http_there);
    pool.let_go += bytes;
}

/* ---- the pool ---- */

static int
set_up(void **state)
{
    (void)state;
    memset(&pool, 0, sizeof pool);
    buf_init(&pool.request, (size_t)FIELDS_ROOM + ROOM);
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    assert_int_equal(pool.opened, pool.closed);
    assert_int_equal(pool.held, pool.let_go);
    buf_release(&pool.request);
    return 0;
}

static enum status
open_parser(struct fetch_parser **parser, bool counts, const char *size, struct reason *why)
{
    static const struct opt *tables[] = {fetch_options, transforms_options, NULL};
    struct opt_set *options = opt_set_new(tables);
    assert_int_equal(opt_set_assign(options, size, NULL), STATUS_OK);
    assert_int_equal(opt_set_assign(options, "transform.memory=100M", NULL), STATUS_OK);
    assert_int_equal(opt_set_assign(options, "transform.cpu=7", NULL), STATUS_OK);
    const enum status status =
        fetch_parser_open(parser, (struct fork_server *)(void *)&server_there, options,
                          counts ? (struct fetch_http *)(void *)&http_there : NULL, why);
    opt_set_free(options);
    return status;
}

/* Workers get bodies of any size that is fetched, and have twice the memory of a transform's. */
static void
limits_are_those_of_the_settings(void **state)
{
    static const struct {
        const char *size;
        size_t body;
    } cases[] = {{"fetch.size=1M", PARSER_BYTES_MAXIMUM},
                 {"fetch.size=64M", PARSER_BYTES_MAXIMUM},
                 {"fetch.size=67108865", (size_t)PARSER_BYTES_MAXIMUM + 1},
                 {"fetch.size=100M", (size_t)100 * MEGABYTE}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fetch_parser *parser;
        struct reason why = {""};
        assert_int_equal(open_parser(&parser, true, cases[i].size, &why), STATUS_OK);
        assert_int_equal(pool.limits.workers, 1);
        assert_int_equal(pool.limits.program_workers, 0);
        assert_int_equal(pool.limits.request, cases[i].body + FIELDS_ROOM);
        assert_int_equal(pool.limits.reply, PARSER_BYTES_MAXIMUM);
        assert_int_equal(pool.limits.memory, (size_t)200 * MEGABYTE);
        assert_int_equal(pool.limits.cpu_ms, 7000);
        assert_int_equal(pool.limits.wall_ms, 21000);
        assert_int_equal(pool.limits.jobs, 10000);
        assert_ptr_equal(fetch_parser_pool(parser), &pool);
        fetch_parser_close(parser);
    }
    fetch_parser_close(NULL);
}

static void
without_workers_there_is_no_parser(void **state)
{
    struct fetch_parser *parser = NULL;
    struct reason why = {""};
    (void)state;
    pool.status = STATUS_SYSTEM;
    assert_int_equal(open_parser(&parser, true, "fetch.size=1M", &why), STATUS_SYSTEM);
    assert_string_equal(why.text, "no workers");
    fetch_parser_close(parser); /* what was made of it is given back */
}

/* ---- requests ---- */

struct answer {
    size_t count;
    enum status status;
    char reply[32], why[REASON_SIZE];
};

static void
take(void *context, enum status status, struct slice reply, const struct reason *why)
{
    struct answer *answer = context;
    answer->count++;
    answer->status = status;
    snprintf(answer->reply, sizeof answer->reply, "%.*s", SLICE_PRINT(reply));
    snprintf(answer->why, sizeof answer->why, "%s", why->text);
}

/* Fails unless the request has these fields and bytes. */
static void
assert_request(enum parser_verb verb, const struct buf *fields, const char *bytes)
{
    struct codec_reader reader = codec_reader_of(buf_slice(&pool.request));
    const struct slice found = codec_get_slice(&reader);
    assert_int_equal(pool.verb, verb);
    assert_false(reader.bad);
    assert_true(slice_equal(found, buf_slice(fields)));
    const size_t left = (size_t)(reader.end - reader.at);
    assert_true(slice_is(slice_of((const char *)reader.at, left), bytes));
}

static void
answer_with(enum status status, const char *reply, const struct reason *why)
{
    const struct worker_answer answer = {
        .status = status, .reply = slice_string(reply), .why = why};
    pool.done(pool.context, &answer);
}

static void
requests_say_what_their_verb_needs(void **state)
{
    struct slice_space spaces[2] = {{.prefix = SLICE("http://a.example/")},
                                    {.prefix = SLICE("http://b.example/")}};
    const struct execution execution = {.spaces = spaces, .space_count = 2};
    const struct harvest_position position = {.page = 9, .number = 300};
    struct fetch_parser *parser;
    struct reason why = {""};
    (void)state;
    assert_int_equal(open_parser(&parser, true, "fetch.size=1M", &why), STATUS_OK);
    for (int verb = PARSER_DECODE; verb <= PARSER_PAGE; verb++) {
        for (unsigned flags = 0; flags < 8; flags++) {
            struct buf fields;
            char bytes[] = "bytes", coding[] = "gzip", uri[] = "http://a.example/sitemap.xml";
            struct answer answer = {0};
            buf_init(&fields, ROOM);
            codec_put_slice(&fields, slice_string(coding));
            if (verb == PARSER_DECODE) {
                codec_put_varint(&fields, 1234);
            } else if (verb == PARSER_SITEMAP) {
                codec_put_slice(&fields, slice_string(uri));
                codec_put_u8(&fields, flags & 1);
                codec_put_u8(&fields, flags >> 1 & 1);
            } else if (verb == PARSER_DESCRIPTION) {
                codec_put_slice(&fields, slice_string(uri));
                codec_put_u8(&fields, flags >> 2);
            } else if (verb == PARSER_PAGE) {
                codec_put_varint(&fields, 300);
                codec_put_varint(&fields, 2);
                codec_put_slice(&fields, spaces[0].prefix);
                codec_put_slice(&fields, spaces[1].prefix);
            }
            const struct parser_request request = {.verb = (enum parser_verb)verb,
                                                   .uri = slice_string(uri),
                                                   .coding = slice_string(coding),
                                                   .bytes = slice_string(bytes),
                                                   .most = 1234,
                                                   .named = (flags & 1) != 0,
                                                   .described = (flags & 2) != 0,
                                                   .rdf = (flags & 4) != 0,
                                                   .execution = &execution,
                                                   .position = &position};
            pool.held = pool.let_go = 0;
            fetch_parser_submit(parser, &request, take, &answer);
            memset(bytes, 'x', sizeof bytes - 1); /* the request has copies */
            memset(coding, 'x', sizeof coding - 1);
            memset(uri, 'x', sizeof uri - 1);
            assert_request((enum parser_verb)verb, &fields, "bytes");
            assert_int_equal(pool.held, strlen("bytes"));
            assert_int_equal(pool.let_go, 0);
            assert_int_equal(answer.count, 0);
            answer_with(STATUS_OK, "reply", NULL);
            assert_int_equal(answer.count, 1);
            assert_int_equal(answer.status, STATUS_OK);
            assert_string_equal(answer.reply, "reply");
            assert_string_equal(answer.why, "");
            assert_int_equal(pool.let_go, strlen("bytes"));
            buf_release(&fields);
        }
    }
    fetch_parser_close(parser);
}

static void
answers_say_what_failed(void **state)
{
    const struct reason lost = {"the worker was lost"};
    (void)state;
    for (int counts = 0; counts < 2; counts++) {
        struct fetch_parser *parser;
        struct answer answer = {0};
        struct reason why = {""};
        const struct parser_request request = {.verb = PARSER_COUNT, .bytes = SLICE("n\r\n42\r\n")};
        assert_int_equal(open_parser(&parser, counts, "fetch.size=1M", &why), STATUS_OK);
        fetch_parser_submit(parser, &request, take, &answer);
        assert_int_equal(pool.held, counts ? request.bytes.length : 0);
        answer_with(STATUS_SYSTEM, "", &lost);
        assert_int_equal(answer.count, 1);
        assert_int_equal(answer.status, STATUS_SYSTEM);
        assert_string_equal(answer.why, "the worker was lost");
        assert_int_equal(pool.let_go, pool.held);
        fetch_parser_close(parser);
    }
}

int
main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(limits_are_those_of_the_settings),
        CASE(without_workers_there_is_no_parser),
        CASE(requests_say_what_their_verb_needs),
        CASE(answers_say_what_failed),
    };
    return parser_replies_run() + cmocka_run_group_tests_name("parser_pool", tests, NULL, NULL);
}
