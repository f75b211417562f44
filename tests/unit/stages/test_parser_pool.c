/* These tests are of what fetch asks of its parser's workers and of which replies it believes
 * (stages/fetch/parser/fetch_parser.c). The pool of workers is stood in for. */
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
#include "datasets/execution.h"
#include "stages/fetch/http/fetch_http.h"
#include "stages/fetch/parser/fetch_parser.h"
#include "transforms/transform.h"

enum {
    ROOM = 1 << 18,
    MEGABYTE = 1 << 20,
    FIELDS_ROOM = 16 << 20, /* of a request besides its bytes */
    TEXT_MOST = 64 << 10    /* of one text that a worker says */
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

#define STAND_IN(type, name, parameters) \
    type __wrap_##name parameters;       \
    type __wrap_##name parameters

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

/* ---- replies that are not believed ---- */

static void
put_long(struct buf *reply, size_t length)
{
    char *text = memory_alloc(length + 1);
    memset(text, 't', length + 1);
    codec_put_slice(reply, slice_of(text, length));
    free(text);
}

static void
sitemaps_are_in_bounds(void **state)
{
    static const struct {
        unsigned kind;
        uint64_t entries;
        size_t problem;
        bool more, believed;
    } rows[] = {{SITEMAP_NONE, 0, 0, false, true},
                {SITEMAP_ATOM, SITEMAP_ENTRIES_MAXIMUM, REASON_SIZE - 1, false, true},
                {SITEMAP_ATOM + 1, 0, 0, false, false},
                {255, 0, 0, false, false},
                {SITEMAP_ATOM, SITEMAP_ENTRIES_MAXIMUM + 1, 0, false, false},
                {SITEMAP_ATOM, 0, REASON_SIZE, false, false},
                {SITEMAP_ATOM, 0, 0, true, false}};
    struct parsed_sitemap sitemap;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (unsigned flag = 0; flag <= 4; flag++) { /* each alone, the last time none */
            struct buf reply;
            buf_init(&reply, ROOM);
            codec_put_u8(&reply, 2); /* any but 0 says that it is one */
            codec_put_u8(&reply, flag == 0);
            codec_put_u8(&reply, (uint8_t)rows[i].kind);
            codec_put_varint(&reply, rows[i].entries);
            codec_put_u8(&reply, flag == 1);
            codec_put_u8(&reply, flag == 2);
            codec_put_u8(&reply, flag == 3);
            put_long(&reply, rows[i].problem);
            codec_put_slice(&reply, SLICE("entries"));
            if (rows[i].more) {
                codec_put_u8(&reply, 0);
            }
            const bool believed = parsed_sitemap_decode(buf_slice(&reply), &sitemap);
            assert_int_equal(believed, rows[i].believed);
            if (believed) {
                assert_true(sitemap.candidate);
                assert_int_equal(sitemap.result.kind, rows[i].kind);
                assert_int_equal(sitemap.result.entries, rows[i].entries);
                assert_int_equal(sitemap.describes, flag == 0);
                assert_int_equal(sitemap.result.incomplete, flag == 1);
                assert_int_equal(sitemap.result.limited, flag == 2);
                assert_int_equal(sitemap.result.too_large, flag == 3);
                assert_int_equal(sitemap.problem.length, rows[i].problem);
                assert_true(slice_is(sitemap.entries, "entries"));
            }
            buf_release(&reply);
        }
    }
    assert_true(parsed_sitemap_decode(slice_of("\0", 1), &sitemap));
    assert_false(sitemap.candidate);
    assert_false(parsed_sitemap_decode(slice_of("\0\0", 2), &sitemap));
    assert_false(parsed_sitemap_decode(SLICE(""), &sitemap));
}

static void
entries_are_in_bounds(void **state)
{
    static const struct {
        size_t location, frequency, alternates, facts;
        uint8_t priority;
        bool believed;
    } rows[] = {
        {TEXT_MOST, TEXT_MOST, SITEMAP_LINES_MAXIMUM, SITEMAP_LINES_MAXIMUM, 100, true},
        {0, 0, 0, 0, 0, true},
        {TEXT_MOST + 1, 0, 0, 0, 0, false},
        {0, TEXT_MOST + 1, 0, 0, 0, false},
        {0, 0, SITEMAP_LINES_MAXIMUM + 1, 0, 0, false},
        {0, 0, 0, SITEMAP_LINES_MAXIMUM + 1, 0, false},
        {0, 0, 0, 0, 101, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct sitemap_entry entry;
        struct buf reply;
        buf_init(&reply, ROOM);
        put_long(&reply, rows[i].location);
        codec_put_varint(&reply, 1700000000000);
        put_long(&reply, rows[i].frequency);
        codec_put_u8(&reply, rows[i].priority);
        put_long(&reply, rows[i].alternates);
        put_long(&reply, rows[i].facts);
        struct slice rest = buf_slice(&reply);
        assert_int_equal(parsed_sitemap_next(&rest, &entry), rows[i].believed);
        assert_int_equal(entry.modified_ms, 1700000000000);
        assert_int_equal(rest.length, 0);
        rest = slice_of(reply.data, reply.length - 1);
        assert_false(parsed_sitemap_next(&rest, &entry));
        buf_release(&reply);
    }
}

/* A description of one sitemap of each kind and one dataset with one access. */
struct said {
    const char *authority, *sub, *parent, *uri, *label, *graph, *frequency, *access;
    unsigned vocabulary, kind, slicing;
    size_t label_length; /* in place of label */
};

static bool
believes(const struct said *said, struct arena *arena, struct description *description)
{
    struct buf reply;
    buf_init(&reply, ROOM);
    codec_put_u8(&reply, 1);
    codec_put_u8(&reply, 0);
    codec_put_u8(&reply, 1);
    codec_put_slice(&reply, slice_string(said->authority));
    codec_put_varint(&reply, 1);
    codec_put_slice(&reply, slice_string(said->sub));
    codec_put_varint(&reply, 1);
    codec_put_slice(&reply, slice_string(said->parent));
    codec_put_varint(&reply, 1);
    codec_put_u8(&reply, (uint8_t)said->vocabulary);
    codec_put_slice(&reply, slice_string(said->uri));
    if (said->label != NULL) {
        codec_put_slice(&reply, slice_string(said->label));
    } else {
        put_long(&reply, said->label_length);
    }
    codec_put_slice(&reply, slice_string(said->graph));
    codec_put_slice(&reply, slice_string(said->frequency));
    codec_put_varint(&reply, 1700000000000);
    codec_put_varint(&reply, 1000000);
    codec_put_varint(&reply, 2000);
    codec_put_varint(&reply, 30);
    codec_put_varint(&reply, 1);
    codec_put_u8(&reply, (uint8_t)said->kind);
    codec_put_slice(&reply, slice_string(said->access));
    codec_put_u8(&reply, (uint8_t)said->slicing);
    codec_put_varint(&reply, 31);
    const bool believed = parsed_description_decode(
        buf_slice(&reply), SLICE("http://a.example/sitemap.xml"), arena, description);
    buf_release(&reply);
    return believed;
}

#define SAID_WELL                                                                                \
    .authority = "http://c.example/", .sub = "http://s.example/", .parent = "http://p.example/", \
    .uri = "http://a.example/d", .label = "two\nlines", .graph = "http://a.example/g",           \
    .frequency = "daily", .access = "http://a.example/\xc3\xa4 dump"

static void
descriptions_are_in_bounds(void **state)
{
    static const struct said good = {SAID_WELL, .vocabulary = DESCRIPTION_SCHEMA,
                                     .kind = ACCESS_SAMPLE, .slicing = SLICING_MSG};
    struct said rows[] = {good, good, good, good, good, good, good, good, good, good, good, good};
    bool believed[sizeof rows / sizeof *rows] = {false};
    struct description description;
    struct arena arena;
    (void)state;
    rows[0].authority = "a\n";
    rows[1].sub = "\x1f";
    rows[2].parent = "\tp";
    rows[3].uri = "u\r";
    rows[4].graph = "g\n";
    rows[5].access = "a\001";
    rows[6].vocabulary++;
    rows[7].kind++;
    rows[8].slicing++;
    rows[9].label = NULL;
    rows[9].label_length = TEXT_MOST + 1;
    rows[10].label = NULL;
    rows[10].label_length = TEXT_MOST;
    rows[11].frequency = "now\nand then";
    believed[10] = believed[11] = true;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        arena_init(&arena, ROOM);
        assert_int_equal(believes(&rows[i], &arena, &description), believed[i]);
        arena_release(&arena);
    }
    arena_init(&arena, ROOM);
    assert_true(believes(&good, &arena, &description));
    assert_true(description.rdf);
    assert_false(description.limited);
    assert_true(description.incomplete);
    assert_true(slice_is(description.uri, "http://a.example/sitemap.xml"));
    assert_true(slice_is(description.space, "http://a.example/"));
    assert_true(slice_is(description.authority, good.authority));
    assert_true(slice_is(description.sub_sitemaps[0], good.sub));
    assert_true(slice_is(description.parent_sitemaps[0], good.parent));
    assert_int_equal(description.dataset_count, 1);
    const struct dataset *dataset = &description.datasets[0];
    assert_int_equal(dataset->vocabulary, DESCRIPTION_SCHEMA);
    assert_true(slice_is(dataset->uri, good.uri));
    assert_true(slice_is(dataset->label, good.label));
    assert_true(slice_is(dataset->graph, good.graph));
    assert_true(slice_is(dataset->change_frequency, good.frequency));
    assert_int_equal(dataset->modified_ms, 1700000000000);
    assert_int_equal(dataset->triples, 1000000);
    assert_int_equal(dataset->documents, 2000);
    assert_int_equal(dataset->line, 30);
    assert_int_equal(dataset->access_count, 1);
    assert_int_equal(dataset->accesses[0].kind, ACCESS_SAMPLE);
    assert_true(slice_is(dataset->accesses[0].uri, good.access));
    assert_int_equal(dataset->accesses[0].slicing, SLICING_MSG);
    assert_int_equal(dataset->accesses[0].line, 31);
    arena_release(&arena);
    arena_init(&arena, 16); /* where it has no room it is none */
    assert_false(believes(&good, &arena, &description));
    arena_release(&arena);
}

static void
last_resources_are_one_line(void **state)
{
    static const struct {
        const char *last;
        bool believed;
    } rows[] = {{"http://a.example/ \x7f", true}, {"", true}, {"http://a.example/\x1f", false}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct harvest_page page;
        struct buf reply;
        buf_init(&reply, ROOM);
        codec_put_varint(&reply, 5);
        codec_put_varint(&reply, 4);
        codec_put_u8(&reply, 1);
        codec_put_slice(&reply, slice_string(rows[i].last));
        harvest_page_init(&page);
        assert_int_equal(parsed_page_decode(buf_slice(&reply), &page), rows[i].believed);
        harvest_page_release(&page);
        buf_release(&reply);
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
        CASE(sitemaps_are_in_bounds),
        CASE(entries_are_in_bounds),
        CASE(descriptions_are_in_bounds),
        CASE(last_resources_are_one_line),
    };
    return cmocka_run_group_tests_name("parser_pool", tests, NULL, NULL);
}
