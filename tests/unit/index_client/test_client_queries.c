/* How a client of the index begins, ends, and has queries answered (index/client/index_client.c):
 * by the one partition that has all graphs of a query, or here over all of them. The linker puts
 * the functions below in the place of the links, the federation and the partitions' answers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>

#include "base/memory.h"
#include "index/client/federation/federation.h"
#include "index/client/index_client.h"
#include "index/client/partitions/client_calls.h"
#include "index/read/query_answer.h"
#include "metastore/metastore_client.h"

enum { PARTITIONS_ASKED = 3, USUAL_MS = 60000, NOW_MS = 5000, GRACE_MS = 1000, GOODBYE_MS = 300 };

static struct buf called; /* a line for each call */
static struct reason why;
static char links[PARTITIONS_ASKED];
static const struct rpc_keys keys;
static size_t opened, fails_at; /* links; SIZE_MAX: none fails */
static bool no_random;
static size_t outstanding[PARTITIONS_ASKED];
static unsigned waits, waits_most;
static enum status answer_status;
static struct index_client *client;

static size_t
link_number(const struct rpc_client *rpc)
{
    return (size_t)((const char *)rpc - links);
}

uint64_t __wrap_clock_monotonic_ms(void);
uint64_t
__wrap_clock_monotonic_ms(void)
{
    return NOW_MS;
}

ssize_t __wrap_getrandom(void *to, size_t length, unsigned flags);
ssize_t
__wrap_getrandom(void *to, size_t length, unsigned flags)
{
    assert_int_equal(length, 8);
    assert_int_equal(flags, 0);
    if (no_random) {
        errno = EIO;
        return -1;
    }
    memset(to, 7, length);
    return (ssize_t)length;
}

enum status __wrap_rpc_client_open(struct rpc_client **rpc,
                                   const struct rpc_client_options *options, struct reason *reason);
enum status
__wrap_rpc_client_open(struct rpc_client **rpc, const struct rpc_client_options *options,
                       struct reason *reason)
{
    assert_string_equal(options->name, "a client");
    assert_true(options->keys == NULL || options->keys == &keys);
    (void)buf_printf(&called, "open %s%s\n", options->endpoint,
                     options->keys != NULL ? " with keys" : "");
    if (opened == fails_at) {
        return status_fail(reason, STATUS_DENIED, "no link");
    }
    *rpc = (struct rpc_client *)(void *)&links[opened++];
    return STATUS_OK;
}

void __wrap_rpc_client_close(struct rpc_client *rpc);
void
__wrap_rpc_client_close(struct rpc_client *rpc)
{
    (void)buf_printf(&called, "close %zu\n", link_number(rpc));
    opened--;
}

size_t __wrap_rpc_client_outstanding(const struct rpc_client *rpc);
size_t
__wrap_rpc_client_outstanding(const struct rpc_client *rpc)
{
    return outstanding[link_number(rpc)];
}

/* Each wait has one request answered. */
enum status __wrap_client_wait(struct index_client *of, struct reason *reason);
enum status
__wrap_client_wait(struct index_client *of, struct reason *reason)
{
    assert_int_equal(of->deadline_ms, NOW_MS + GOODBYE_MS);
    assert_null(of->cancel);
    assert_null(reason);
    if (waits++ == waits_most) {
        return STATUS_TIMEOUT;
    }
    for (size_t i = PARTITIONS_ASKED; i-- > 0;) {
        if (outstanding[i] > 0) {
            outstanding[i]--;
            return STATUS_OK;
        }
    }
    fail_msg("nothing is awaited");
    return STATUS_OK;
}

void __wrap_client_links_cancel(struct index_client *of, size_t partition);
void
__wrap_client_links_cancel(struct index_client *of, size_t partition)
{
    assert_non_null(of);
    (void)buf_printf(&called, "cancel %zu\n", partition);
}

struct federation *__wrap_federation_new(struct index_client *of, size_t memory);
struct federation *
__wrap_federation_new(struct index_client *of, size_t memory)
{
    assert_ptr_equal(of, client);
    assert_int_equal(memory, 1 << 30);
    (void)buf_append_string(&called, "begin\n");
    return (struct federation *)(void *)links;
}

void __wrap_federation_free(struct federation *federation);
void
__wrap_federation_free(struct federation *federation)
{
    assert_ptr_equal(federation, links);
    (void)buf_append_string(&called, "end\n");
}

const struct quad_source *__wrap_federation_source(struct federation *federation);
const struct quad_source *
__wrap_federation_source(struct federation *federation)
{
    assert_ptr_equal(federation, links);
    return (const struct quad_source *)(const void *)links;
}

static enum status
take(void *context, struct slice bytes, struct reason *reason)
{
    (void)context, (void)bytes, (void)reason;
    return STATUS_OK;
}

enum status __wrap_answer_query(const struct quad_source *source,
                                const struct metastore_client_options *metastore,
                                struct slice sparql, struct slice format,
                                const struct query_options *options, enum index_answer answer,
                                index_piece *piece, void *context, struct reason *reason);
enum status
__wrap_answer_query(const struct quad_source *source,
                    const struct metastore_client_options *metastore, struct slice sparql,
                    struct slice format, const struct query_options *options,
                    enum index_answer answer, index_piece *piece, void *context,
                    struct reason *reason)
{
    assert_ptr_equal(source, links);
    assert_ptr_equal(metastore, client->metastore);
    assert_true(piece == take && context == &called);
    assert_ptr_equal(options->cancel, client->cancel);
    (void)buf_printf(&called, "here %.*s as %.*s kind %d of %.*s+%.*s+%.*s in %u until %u %s\n",
                     SLICE_PRINT(sparql), SLICE_PRINT(format), answer,
                     SLICE_PRINT(options->default_graph), SLICE_PRINT(options->graphs),
                     SLICE_PRINT(options->named_graphs), (unsigned)options->timeout_ms,
                     (unsigned)client->deadline_ms, options->scratch_folder);
    return answer_status == STATUS_OK ? STATUS_OK : status_fail(reason, answer_status, "it is ill");
}

enum status __wrap_stream_pass_on(struct index_client *of, size_t partition, struct slice request,
                                  index_piece *piece, void *context, struct reason *reason);
enum status
__wrap_stream_pass_on(struct index_client *of, size_t partition, struct slice request,
                      index_piece *piece, void *context, struct reason *reason)
{
    struct codec_reader in = codec_reader_of(request);
    assert_ptr_equal(of, client);
    assert_true(piece == take && context == &called);
    const uint8_t stream = codec_get_u8(&in);
    if (stream == INDEX_STREAM_VERIFY || stream == INDEX_STREAM_DUMP) {
        const bool verify = stream == INDEX_STREAM_VERIFY;
        (void)buf_printf(&called, "%s %zu\n", verify ? "verify" : "dump", partition);
        assert_true(verify || codec_get_u8(&in) == 0);
        assert_true(codec_at_end(&in));
        return partition == fails_at ? status_fail(reason, answer_status, "it is ill") : STATUS_OK;
    }
    assert_int_equal(stream, INDEX_STREAM_QUERY);
    const struct slice sparql = codec_get_slice(&in), format = codec_get_slice(&in);
    const unsigned timeout_ms = (unsigned)codec_get_varint(&in);
    const struct slice graph = codec_get_slice(&in);
    const unsigned kind = codec_get_u8(&in);
    const struct slice graphs = codec_get_slice(&in), named = codec_get_slice(&in);
    const unsigned asker = (unsigned)codec_get_u64(&in);
    assert_true(codec_at_end(&in));
    (void)buf_printf(&called,
                     "there %zu %.*s as %.*s kind %u of %.*s+%.*s+%.*s in %u until %u for "
                     "%u\n",
                     partition, SLICE_PRINT(sparql), SLICE_PRINT(format), kind, SLICE_PRINT(graph),
                     SLICE_PRINT(graphs), SLICE_PRINT(named), timeout_ms,
                     (unsigned)client->deadline_ms, asker);
    return answer_status == STATUS_OK ? STATUS_OK : status_fail(reason, answer_status, "it is ill");
}

/* ---- life ---- */

static const char *const endpoints[PARTITIONS_ASKED] = {"ipc:///a", "tcp://b:1", "at://c:2"};

static enum status
open_client(size_t count, const struct index_client_options *more)
{
    struct index_client_options options = more != NULL ? *more : (struct index_client_options){0};
    options.endpoints = endpoints;
    options.count = count;
    options.name = "a client";
    options.keys = &keys;
    why = (struct reason){""};
    return index_client_open(&client, &options, &why);
}

static void
expect_called(const char *text)
{
    assert_string_equal(called.data, text);
    buf_reset(&called);
}

static int
set_up(void **state)
{
    (void)state;
    buf_init(&called, 1 << 16);
    (void)buf_append_string(&called, "");
    fails_at = SIZE_MAX;
    no_random = false;
    memset(outstanding, 0, sizeof outstanding);
    waits = 0;
    waits_most = 100;
    answer_status = STATUS_OK;
    client = NULL;
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    index_client_close(client);
    buf_release(&called);
    return opened > 0;
}

static void
a_client_has_a_link_to_each_partition(void **state)
{
    (void)state;
    assert_int_equal(open_client(PARTITIONS_ASKED, NULL), STATUS_OK);
    expect_called("open ipc:///a\nopen tcp://b:1 with keys\nopen at://c:2 with keys\n");
    assert_int_equal(client->count, PARTITIONS_ASKED);
    assert_int_equal(client->timeout_ms, USUAL_MS);
    assert_int_equal(client->silence_ms, USUAL_MS);
    assert_true(client->last_session == UINT64_C(0x0707070707070707));
    assert_null(client->owners);
    assert_null(client->metastore);
    for (size_t i = 0; i < PARTITIONS_ASKED; i++) {
        assert_string_equal(client->partitions[i].endpoint, endpoints[i]);
        assert_ptr_equal(client->partitions[i].rpc, &links[i]);
    }
    index_client_close(client);
    expect_called("close 0\ncancel 0\nclose 1\ncancel 1\nclose 2\ncancel 2\n");
    index_client_close(NULL);
    uint16_t owners[PARTITIONS];
    for (size_t i = 0; i < PARTITIONS; i++) {
        owners[i] = (uint16_t)(i % 2);
    }
    const struct metastore_client_options metastore = {
        .endpoints = endpoints, .endpoint_count = 1, .name = "m", .silence_ms = 12};
    const struct index_client_options options = {
        .timeout_ms = 34, .silence_ms = 56, .owner_of_partition = owners, .metastore = &metastore};
    assert_int_equal(open_client(2, &options), STATUS_OK);
    assert_int_equal(client->timeout_ms, 34);
    assert_int_equal(client->silence_ms, 56);
    assert_memory_equal(client->owners, owners, sizeof owners);
    assert_int_equal(client->metastore->silence_ms, 12);
}

static void
a_client_that_cannot_be_opened_leaves_nothing(void **state)
{
    static const char *const said[] = {"open ipc:///a\n",
                                       "open ipc:///a\nopen tcp://b:1 with keys\nclose 0\ncancel "
                                       "0\n"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        fails_at = i;
        assert_int_equal(open_client(PARTITIONS_ASKED, NULL), STATUS_DENIED);
        assert_string_equal(why.text, "no link");
        assert_null(client);
        expect_called(said[i]);
    }
    no_random = true;
    assert_int_equal(open_client(PARTITIONS_ASKED, NULL), STATUS_SYSTEM);
    assert_null(client);
    expect_called("");
}

/* What was posted last is answered within a moment, or not at all. */
static void
a_client_waits_a_moment_before_it_closes(void **state)
{
    atomic_bool cancel = true;
    (void)state;
    for (unsigned most = 2; most < 4; most++) {
        assert_int_equal(open_client(PARTITIONS_ASKED, NULL), STATUS_OK);
        client->cancel = &cancel;
        assert_non_null(client->descriptors);
        outstanding[1] = 1;
        outstanding[2] = 2;
        waits = 0;
        waits_most = most;
        index_client_close(client);
        client = NULL;
        assert_int_equal(waits, 3);
        assert_int_equal(outstanding[1], most == 2);
    }
    assert_int_equal(open_client(PARTITIONS_ASKED, NULL), STATUS_OK);
    outstanding[0] = 1;
    waits = 0;
    index_client_close(client);
    client = NULL;
    assert_int_equal(waits, 1);
}

static void
missing_partitions_are_told_one_by_one(void **state)
{
    size_t at = 0;
    (void)state;
    assert_int_equal(open_client(PARTITIONS_ASKED, NULL), STATUS_OK);
    client->partitions[0].missing = client->partitions[2].missing = true;
    (void)status_fail(&client->partitions[0].why, STATUS_SYSTEM, "it is ill");
    (void)status_fail(&client->partitions[2].why, STATUS_SYSTEM, "it is away");
    assert_true(index_client_missing(client, &at, &why));
    assert_int_equal(at, 1);
    assert_string_equal(why.text, "index partition 0 (ipc:///a) is missing: it is ill");
    assert_true(index_client_missing(client, &at, &why));
    assert_int_equal(at, 3);
    assert_string_equal(why.text, "index partition 2 (at://c:2) is missing: it is away");
    assert_false(index_client_missing(client, &at, &why));
    atomic_bool cancel = false;
    index_client_manner(client, INDEX_PARTIAL_WARN, &cancel);
    assert_int_equal(client->partial, INDEX_PARTIAL_WARN);
    assert_ptr_equal(client->cancel, &cancel);
    assert_int_equal(client->deadline_ms, 0);
    at = 0;
    assert_false(index_client_missing(client, &at, &why));
}

/* ---- queries ---- */

static const struct index_query_options usual = {.default_graph = SLICE_INIT("x:d"),
                                                 .timeout_ms = 70,
                                                 .answer = INDEX_ANSWER_MEASURED,
                                                 .scratch_folder = "/scratch",
                                                 .client = 99};

static enum status
ask(const char *sparql, const struct index_query_options *options)
{
    client->deadline_ms = 1; /* of a call before */
    client->partitions[0].missing = true;
    const enum status status =
        index_query(client, slice_string(sparql), "csv", options, take, &called, &why);
    assert_true(status == STATUS_BAD_INPUT || client->deadline_ms == 0);
    return status;
}

static void
a_query_goes_to_the_partition_that_has_its_graphs(void **state)
{
    char expected[300], query[200];
    (void)state;
    struct index_query_options options = usual;
    options.default_graph = SLICE("");
    assert_int_equal(open_client(PARTITIONS_ASKED, NULL), STATUS_OK);
    buf_reset(&called);
    /* One graph; two of different partitions; any graph. */
    const size_t one = client_owner(client, SLICE("x:0"));
    char other[16], same[16];
    unsigned number = 1;
    do {
        snprintf(same, sizeof same, "x:%u", number++);
    } while (client_owner(client, slice_string(same)) != one);
    do {
        snprintf(other, sizeof other, "x:%u", number++);
    } while (client_owner(client, slice_string(other)) == one);
    const char *const graphs[] = {"x:0", same, other, NULL};
    for (size_t i = 0; i < 4; i++) {
        for (int partial = 0; partial < 2; partial++) {
            const bool there = i < 2 && partial == 0;
            client->partial = partial ? INDEX_PARTIAL_WARN : INDEX_PARTIAL_ERROR;
            snprintf(query, sizeof query,
                     "ASK { GRAPH <x:0> { ?s ?p ?o } GRAPH %s%s%s { ?s ?p ?o } }",
                     graphs[i] != NULL ? "<" : "?g", graphs[i] != NULL ? graphs[i] : "",
                     graphs[i] != NULL ? ">" : "");
            assert_int_equal(ask(query, &options), STATUS_OK);
            if (there) {
                snprintf(expected, sizeof expected,
                         "there %zu %s as csv kind 2 of ++ in 70 until %d for 99\n", one, query,
                         NOW_MS + 70 + GRACE_MS);
            } else {
                snprintf(expected, sizeof expected,
                         "begin\nhere %s as csv kind 2 of ++ in 70 until %d /scratch\nend\n", query,
                         NOW_MS + 70);
            }
            expect_called(expected);
            assert_false(client->partitions[0].missing);
        }
    }
    client->partial = INDEX_PARTIAL_ERROR;
    assert_int_equal(ask("no query", &options), STATUS_BAD_INPUT);
    expect_called("");
}

static void
a_query_may_name_its_graphs_beside_it(void **state)
{
    (void)state;
    assert_int_equal(open_client(PARTITIONS_ASKED, NULL), STATUS_OK);
    buf_reset(&called);
    char expected[300];
    assert_int_equal(ask("ASK { ?s ?p ?o }", &usual), STATUS_OK);
    snprintf(expected, sizeof expected,
             "there %zu ASK { ?s ?p ?o } as csv kind 2 of x:d++ in 70 until %d for 99\n",
             client_owner(client, SLICE("x:d")), NOW_MS + 70 + GRACE_MS);
    expect_called(expected);
    answer_status = STATUS_STALE;
    assert_int_equal(ask("ASK { ?s ?p ?o }", &usual), STATUS_AGAIN);
    assert_non_null(strstr(why.text, "): it is ill"));
    buf_reset(&called);
    const struct index_query_options options = {.graphs = SLICE("x:e\nx:f\nx:g\nx:h\nx:i\nx:j\n"),
                                                .named_graphs = SLICE("x:k\n")};
    assert_int_equal(ask("ASK { ?s ?p ?o }", &options), STATUS_STALE);
    expect_called("begin\nhere ASK { ?s ?p ?o } as csv kind 0 of +x:e\nx:f\nx:g\nx:h\nx:i\nx:j\n"
                  "+x:k\n in 0 until 0 (null)\nend\n");
}

/* The only partition has all graphs; its failures are told as they are. */
static void
one_partition_answers_all_queries(void **state)
{
    (void)state;
    assert_int_equal(open_client(1, NULL), STATUS_OK);
    buf_reset(&called);
    struct index_query_options options = {.client = 3};
    for (int partial = 0; partial < 2; partial++) {
        client->partial = partial ? INDEX_PARTIAL_WARN : INDEX_PARTIAL_ERROR;
        assert_int_equal(ask("anything", &options), STATUS_OK);
        expect_called("there 0 anything as csv kind 0 of ++ in 0 until 0 for 3\n");
    }
    answer_status = STATUS_STALE;
    assert_int_equal(ask("anything", &options), STATUS_STALE);
    assert_string_equal(why.text, "it is ill");
    buf_reset(&called);
    char *text = memory_zero(9 << 20, 1);
    memset(text, 'a', (9 << 20) - 1);
    assert_int_equal(ask(text, &options), STATUS_LIMIT);
    assert_string_equal(why.text, "a request to the index is too long");
    expect_called("");
    free(text);
}

/* ---- whole partitions ---- */

static void
damaged_partitions_do_not_end_a_check(void **state)
{
    (void)state;
    assert_int_equal(open_client(PARTITIONS_ASKED, NULL), STATUS_OK);
    buf_reset(&called);
    assert_int_equal(index_verify(client, take, &called, &why), STATUS_OK);
    expect_called("verify 0\nverify 1\nverify 2\n");
    for (fails_at = 0; fails_at < PARTITIONS_ASKED; fails_at++) {
        answer_status = STATUS_CORRUPT;
        assert_int_equal(index_verify(client, take, &called, &why), STATUS_CORRUPT);
        assert_string_equal(why.text, "it is ill");
        expect_called("verify 0\nverify 1\nverify 2\n");
        answer_status = STATUS_TIMEOUT;
        assert_int_equal(index_verify(client, take, &called, &why), STATUS_TIMEOUT);
        expect_called(fails_at == 0   ? "verify 0\n"
                      : fails_at == 1 ? "verify 0\nverify 1\n"
                                      : "verify 0\nverify 1\nverify 2\n");
    }
}

static void
the_only_partition_is_passed_on(void **state)
{
    (void)state;
    assert_int_equal(open_client(1, NULL), STATUS_OK);
    buf_reset(&called);
    client->deadline_ms = 1; /* of a call before */
    assert_int_equal(index_dump(client, NULL, take, &called, &why), STATUS_OK);
    expect_called("dump 0\n");
    assert_int_equal(client->deadline_ms, 0);
    char *text = memory_zero(9 << 20, 1);
    assert_int_equal(index_search(client, slice_of(text, 9 << 20), 0, take, &called, &why),
                     STATUS_LIMIT);
    assert_string_equal(why.text, "a request to the index is too long");
    free(text);
}

int
main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(a_client_has_a_link_to_each_partition),
        CASE(a_client_that_cannot_be_opened_leaves_nothing),
        CASE(a_client_waits_a_moment_before_it_closes),
        CASE(missing_partitions_are_told_one_by_one),
        CASE(a_query_goes_to_the_partition_that_has_its_graphs),
        CASE(a_query_may_name_its_graphs_beside_it),
        CASE(one_partition_answers_all_queries),
        CASE(damaged_partitions_do_not_end_a_check),
        CASE(the_only_partition_is_passed_on),
    };
    return cmocka_run_group_tests_name("client_queries", tests, NULL, NULL);
}
