/* What is asked of documents' workers and told by them (stages/parsing/document_worker.c), and what
 * limits they have; a part of test_document_worker. While `watching` there is no worker: what one
 * would be given is kept, and read in this process. */
#include "tests/unit/stages_work/document_orders.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "config/config.h"
#include "stages/parsing/document_worker.h"
#include "tests/unit/scratch.h"

enum {
    SENT_MOST = 4 << 20,
    MAGIC_HEAD = 16 << 10, /* bytes that libmagic sees */
    BESIDES = 512 << 10,   /* bytes of a request, or a reply, beside contents */
    OUTPUT_LEAST = 128 << 20,
    RESOURCES_LEAST = 16 << 20,
    LARGE = 64 << 20,
    CONTEXTS = 8
};

/* ---- instead of workers ---- */

static bool watching;
static struct worker_limits limits;
static struct transform_limits of_transforms;
static struct buf configuration, sent;
static enum sandbox_policy sent_policy;
static uint8_t sent_verb;
static struct transform_request seen; /* by transform_run; its slices are of `sent` */
static struct transform_resource seen_resources[TRANSFORM_RESOURCES];
static const char *answer; /* of worker_call; NULL: its worker dies */

enum status __real_worker_pool_open(struct worker_pool **pool, struct fork_server *fork_server,
                                    const struct worker_limits *wanted, struct slice text,
                                    struct reason *why);
enum status __wrap_worker_pool_open(struct worker_pool **pool, struct fork_server *fork_server,
                                    const struct worker_limits *wanted, struct slice text,
                                    struct reason *why);
enum status
__wrap_worker_pool_open(struct worker_pool **pool, struct fork_server *fork_server,
                        const struct worker_limits *wanted, struct slice text, struct reason *why)
{
    if (!watching) {
        return __real_worker_pool_open(pool, fork_server, wanted, text, why);
    }
    limits = *wanted;
    buf_reset(&configuration);
    return buf_append_slice(&configuration, text);
}

static void
keep(enum sandbox_policy policy, uint8_t verb, const struct slice *pieces, size_t count)
{
    sent_policy = policy;
    sent_verb = verb;
    buf_reset(&sent);
    for (size_t i = 0; i < count; i++) {
        (void)buf_append_slice(&sent, pieces[i]);
    }
}

void __real_worker_submit(struct worker_pool *pool, enum sandbox_policy policy, uint8_t verb,
                          const struct slice *pieces, size_t count, worker_done *done,
                          void *context);
void __wrap_worker_submit(struct worker_pool *pool, enum sandbox_policy policy, uint8_t verb,
                          const struct slice *pieces, size_t count, worker_done *done,
                          void *context);
void
__wrap_worker_submit(struct worker_pool *pool, enum sandbox_policy policy, uint8_t verb,
                     const struct slice *pieces, size_t count, worker_done *done, void *context)
{
    if (watching) {
        keep(policy, verb, pieces, count);
    } else {
        __real_worker_submit(pool, policy, verb, pieces, count, done, context);
    }
}

enum status __real_worker_call(struct worker_pool *pool, enum sandbox_policy policy, uint8_t verb,
                               const struct slice *pieces, size_t count, struct buf *reply,
                               bool *died, struct reason *why);
enum status __wrap_worker_call(struct worker_pool *pool, enum sandbox_policy policy, uint8_t verb,
                               const struct slice *pieces, size_t count, struct buf *reply,
                               bool *died, struct reason *why);
enum status
__wrap_worker_call(struct worker_pool *pool, enum sandbox_policy policy, uint8_t verb,
                   const struct slice *pieces, size_t count, struct buf *reply, bool *died,
                   struct reason *why)
{
    if (!watching) {
        return __real_worker_call(pool, policy, verb, pieces, count, reply, died, why);
    }
    keep(policy, verb, pieces, count);
    *died = answer == NULL;
    return answer != NULL ? buf_append_string(reply, answer)
                          : status_fail(why, STATUS_TIMEOUT, "it died");
}

enum status __real_transformer_new(struct transformer **transformer, struct registry *registry,
                                   const struct transform_limits *wanted, struct reason *why);
enum status __wrap_transformer_new(struct transformer **transformer, struct registry *registry,
                                   const struct transform_limits *wanted, struct reason *why);
enum status
__wrap_transformer_new(struct transformer **transformer, struct registry *registry,
                       const struct transform_limits *wanted, struct reason *why)
{
    of_transforms = *wanted;
    return __real_transformer_new(transformer, registry, wanted, why);
}

enum status __real_transform_run(struct transformer *transformer,
                                 const struct transform_request *request,
                                 struct transform_result *result, struct reason *why);
enum status __wrap_transform_run(struct transformer *transformer,
                                 const struct transform_request *request,
                                 struct transform_result *result, struct reason *why);
enum status
__wrap_transform_run(struct transformer *transformer, const struct transform_request *request,
                     struct transform_result *result, struct reason *why)
{
    if (!watching) {
        return __real_transform_run(transformer, request, result, why);
    }
    seen = *request;
    memcpy(seen_resources, request->resources, request->resource_count * sizeof *seen_resources);
    if (slice_is(request->charset, "fails")) {
        return status_fail(why, STATUS_BAD_INPUT, "it failed");
    }
    const struct {
        struct buf *at;
        const char *text;
    } texts[] = {{&result->graph, "graph"},       {&result->names, "names"},
                 {&result->problems, "problems"}, {&result->counts, "counts"},
                 {&result->repairs, "repairs"},   {&result->advice, "advice"},
                 {&result->needs, "needs"},       {&result->explanation, "explanation"}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        buf_reset(texts[i].at);
        (void)buf_append_string(texts[i].at, texts[i].text);
    }
    result->state = TRANSFORM_PART;
    result->canonical = true;
    result->quads = 300;
    result->problem_count = 400;
    return STATUS_OK;
}

/* ---- opening ---- */

static struct opt_set *options;
static void *contexts[CONTEXTS]; /* of workers, which never let go of them */
static size_t context_count;

static int
set_up(void **state)
{
    (void)state;
    options = opt_set_new(config_tables);
    buf_init(&configuration, SENT_MOST);
    buf_init(&sent, SENT_MOST);
    watching = true;
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    watching = false;
    opt_set_free(options);
    buf_release(&configuration);
    buf_release(&sent);
    return 0;
}

static struct document_workers *
open_workers(unsigned work)
{
    struct document_workers *workers;
    struct reason why = {""};
    if (document_workers_open(&workers, NULL, options, NULL, work, &why) != STATUS_OK) {
        fail_msg("%s", why.text);
    }
    return workers;
}

/* The context that a worker of this configuration has. */
static void *
prepare(void)
{
    struct reason why = {""};
    assert_true(context_count < CONTEXTS);
    void **const context = &contexts[context_count++];
    if (document_worker_program.prepare(buf_slice(&configuration), context, &why) != STATUS_OK) {
        fail_msg("%s", why.text);
    }
    return *context;
}

static void
set(const char *assignment)
{
    assert_int_equal(opt_set_assign(options, assignment, NULL), STATUS_OK);
}

/* ---- limits ---- */

static void
check_limits(uint64_t request, uint64_t reply, uint64_t memory, uint64_t cpu_ms, uint64_t wall_ms)
{
    enum { JOBS = 10000 };
    assert_int_equal(limits.workers, 1);
    assert_int_equal(limits.program_workers, 0);
    assert_int_equal(limits.request, request + BESIDES);
    assert_int_equal(limits.reply, reply + BESIDES);
    assert_int_equal(limits.memory, memory);
    assert_int_equal(limits.cpu_ms, cpu_ms);
    assert_int_equal(limits.wall_ms, wall_ms);
    assert_int_equal(limits.jobs, JOBS);
}

static void
limits_are_of_options(void **state)
{
    enum { MEGABYTE = 1 << 20, STEPS = 100000 };
    (void)state;
    set("transform.memory=80M");
    set("transform.input=100M");
    set("transform.cpu=2");
    document_workers_close(open_workers(DOCUMENT_TRANSFORM));
    check_limits((100 + 25) * MEGABYTE, 2 * 200 * MEGABYTE, 80 * MEGABYTE, 2000, 12000);
    (void)prepare();
    assert_int_equal(of_transforms.memory, 80 * MEGABYTE);
    assert_int_equal(of_transforms.output, 200 * MEGABYTE);
    assert_int_equal(of_transforms.canonical_work, STEPS);
    assert_int_equal(of_transforms.program_cpu_ms, 2000);
    assert_int_equal(of_transforms.program_ms, 6000);
    assert_int_equal(of_transforms.tidy.memory, 10 * MEGABYTE);
    assert_int_equal(of_transforms.tidy.cpu_ms, 200);
    assert_ptr_equal(of_transforms.enter_cage, sandbox_enter_program);
    set("transform.input=1M");
    set("transform.cpu=0.8"); /* six times as much were less than 5 seconds */
    document_workers_close(open_workers(DOCUMENT_TRANSFORM));
    check_limits(MEGABYTE + RESOURCES_LEAST, 2 * (uint64_t)OUTPUT_LEAST, 80 * MEGABYTE, 800, 5000);
    document_workers_close(open_workers(DOCUMENT_DETECTION));
    check_limits(MAGIC_HEAD, 0, 80 * MEGABYTE, 800, 5000);
}

/* Workers for programs are there for programs that the registry has and has not switched off. */
static void
workers_for_programs_are_there_where_they_are_used(void **state)
{
    static const char *const registries[] = {
        "transform own 1 program /bin/true\nmatch text/x-own -> own\n",
        "transform own 1 program /bin/true\nmatch text/x-own -> own\noff own\n"};
    char path[SCRATCH_SIZE], assignment[SCRATCH_SIZE + 32];
    (void)state;
    set("transform.landlock=optional");
    for (size_t i = 0; i < sizeof registries / sizeof *registries; i++) {
        const int file = scratch_file(path, "document-orders");
        assert_int_equal(write(file, registries[i], strlen(registries[i])), strlen(registries[i]));
        close(file);
        snprintf(assignment, sizeof assignment, "transform.registry=%s", path);
        set(assignment);
        struct document_workers *workers = open_workers(DOCUMENT_TRANSFORM);
        assert_int_equal(limits.workers, 1);
        assert_int_equal(limits.program_workers, i == 0 ? 1 : 0);
        const struct transform_request request = {.uri = SLICE("http://a.example/"),
                                                  .type = SLICE("text/x-own")};
        struct buf header;
        buf_init(&header, SENT_MOST);
        document_submit_transform(workers, &request, &header, NULL, NULL);
        assert_int_equal(sent_policy, i == 0 ? SANDBOX_PROGRAM : SANDBOX_PARSER);
        buf_release(&header);
        document_workers_close(workers);
        unlink(path);
    }
}

static void
settings_that_are_too_long_are_refused(void **state)
{
    enum { LONG = 40000 };
    static char assignment[LONG] = "transform.registry=";
    struct document_workers *workers;
    struct reason why = {""};
    (void)state;
    memset(assignment + strlen(assignment), 'x', LONG - 1 - strlen(assignment));
    set(assignment);
    assert_int_equal(document_workers_open(&workers, NULL, options, NULL, DOCUMENT_DETECTION, &why),
                     STATUS_LIMIT);
    assert_null(workers);
    assert_string_equal(why.text, "paths of directory and registry are too long");
}

/* No cut of the settings is one, and nothing may follow it. */
static void
settings_are_checked(void **state)
{
    void *context = NULL;
    (void)state;
    document_workers_close(open_workers(0));
    for (size_t length = 0; length <= configuration.length + 1; length++) {
        char *const copy = memory_new(length + 1);
        struct reason why = {""};
        memcpy(copy, configuration.data,
               length < configuration.length ? length : configuration.length);
        const enum status status =
            document_worker_program.prepare(slice_of(copy, length), &context, &why);
        assert_int_equal(status, length == configuration.length ? STATUS_OK : STATUS_PROTOCOL);
        free(copy);
        free(context); /* nothing is in it */
        context = NULL;
    }
}

/* ---- requests and replies ---- */

static void
assert_resource(const struct transform_resource *a, const struct transform_resource *b)
{
    assert_true(slice_equal(a->uri, b->uri));
    assert_true(slice_equal(a->document_uri, b->document_uri));
    assert_true(slice_equal(a->content_type, b->content_type));
    assert_true(slice_equal(a->link_header, b->link_header));
    assert_true(slice_equal(a->bytes, b->bytes));
    assert_true(slice_equal(a->failure, b->failure));
}

static const struct transform_resource resources[] = {{.uri = {"a:u", 3},
                                                       .document_uri = {"a:du", 4},
                                                       .content_type = {"text/x", 6},
                                                       .link_header = {"<l>", 3},
                                                       .bytes = {"bytes", 5}},
                                                      {.uri = {"a:v", 3}, .failure = {"gone", 4}}};

static struct transform_request
whole_request(void)
{
    return (struct transform_request){.uri = SLICE("http://a.example/"),
                                      .type = SLICE("text/html"),
                                      .charset = SLICE("koi8-r"),
                                      .link_header = SLICE("<a>; rel=b"),
                                      .bytes = SLICE("content"),
                                      .resources = resources,
                                      .resource_count = 2};
}

static enum status
handle(void *context, size_t length, struct buf *reply, struct reason *why)
{
    buf_reset(reply);
    return document_worker_program.handle(context, sent_verb, slice_of(sent.data, length), reply,
                                          why);
}

static void
requests_and_replies_come_whole(void **state)
{
    struct document_workers *workers = open_workers(DOCUMENT_TRANSFORM);
    void *const context = prepare();
    struct buf header, reply;
    struct document_outcome outcome;
    struct reason why = {""};
    (void)state;
    buf_init(&header, SENT_MOST);
    buf_init(&reply, SENT_MOST);
    char *const large = memory_alloc(LARGE); /* has a mapping of its own */
    for (unsigned flag = 0; flag < 3; flag++) {
        struct transform_request request = whole_request();
        *(flag == 0 ? &request.can_wait : flag == 1 ? &request.explain : &request.careful) = true;
        document_submit_transform(workers, &request, &header, NULL, NULL);
        assert_int_equal(handle(context, sent.length, &reply, &why), STATUS_OK);
        assert_true(slice_equal(seen.uri, request.uri));
        assert_true(slice_equal(seen.type, request.type));
        assert_true(slice_equal(seen.charset, request.charset));
        assert_true(slice_equal(seen.link_header, request.link_header));
        assert_true(slice_equal(seen.bytes, request.bytes));
        assert_int_equal(seen.can_wait, flag == 0);
        assert_int_equal(seen.explain, flag == 1);
        assert_int_equal(seen.careful, flag == 2);
        assert_int_equal(seen.resource_count, 2);
        assert_resource(&seen_resources[0], &resources[0]);
        assert_resource(&seen_resources[1], &resources[1]);
    }
    const struct mallinfo2 memory = mallinfo2();
    free(large);
    assert_true(document_outcome_decode(buf_slice(&reply), &outcome));
    assert_int_equal(outcome.state, TRANSFORM_PART);
    assert_true(outcome.canonical);
    assert_int_equal(outcome.quads, 300);
    assert_int_equal(outcome.problem_count, 400);
    assert_int_equal(outcome.memory, memory.arena + memory.hblkhd);
    assert_true(slice_is(outcome.names, "names"));
    assert_true(slice_is(outcome.problems, "problems"));
    assert_true(slice_is(outcome.counts, "counts"));
    assert_true(slice_is(outcome.repairs, "repairs"));
    assert_true(slice_is(outcome.advice, "advice"));
    assert_true(slice_is(outcome.needs, "needs"));
    assert_true(slice_is(outcome.explanation, "explanation"));
    assert_true(slice_is(outcome.graph, "graph"));
    buf_release(&reply);
    /* There is no room for all of it. */
    buf_init(&reply, 8);
    assert_int_equal(handle(context, sent.length, &reply, &why), STATUS_LIMIT);
    assert_string_equal(why.text, "the graph is too large");
    buf_release(&header);
    buf_release(&reply);
    document_workers_close(workers);
}

static void
requests_are_checked(void **state)
{
    struct document_workers *workers = open_workers(DOCUMENT_TRANSFORM);
    void *const context = prepare();
    struct transform_resource many[TRANSFORM_RESOURCES + 1] = {{.uri = SLICE("a:u")}};
    struct transform_request request = whole_request();
    struct buf header, reply;
    struct reason why = {""};
    (void)state;
    buf_init(&header, SENT_MOST);
    buf_init(&reply, SENT_MOST);
    document_submit_transform(workers, &request, &header, NULL, NULL);
    for (size_t length = 0; length < header.length; length++) {
        assert_int_equal(handle(context, length, &reply, &why), STATUS_PROTOCOL);
        assert_string_equal(why.text, "the request is malformed");
    }
    assert_int_equal(handle(context, header.length, &reply, &why), STATUS_OK);
    request.resources = many;
    for (unsigned over = 0; over < 2; over++) {
        request.resource_count = TRANSFORM_RESOURCES + over;
        document_submit_transform(workers, &request, &header, NULL, NULL);
        assert_int_equal(handle(context, sent.length, &reply, &why),
                         over ? STATUS_PROTOCOL : STATUS_OK);
    }
    request = whole_request();
    request.charset = SLICE("fails");
    document_submit_transform(workers, &request, &header, NULL, NULL);
    assert_int_equal(handle(context, sent.length, &reply, &why), STATUS_BAD_INPUT);
    assert_string_equal(why.text, "it failed");
    assert_int_equal(reply.length, 0);
    document_submit_magic(workers, SLICE("x"), NULL, NULL); /* these workers have no libmagic */
    assert_int_equal(handle(context, sent.length, &reply, &why), STATUS_PROTOCOL);
    assert_string_equal(why.text, "the worker knows no request 1");
    buf_release(&header);
    buf_release(&reply);
    document_workers_close(workers);
}

static void
take_status(void *context, const struct worker_answer *told)
{
    *(enum status *)context = told->status;
}

/* As many bytes as the option says, however large the worker's memory is for what comes with them.
 */
static void
documents_are_as_long_as_the_option_says(void **state)
{
    enum { INPUT = 1024 };
    static const char text[INPUT + 1];
    (void)state;
    set("transform.input=1024");
    struct document_workers *workers = open_workers(DOCUMENT_TRANSFORM);
    struct buf header;
    buf_init(&header, SENT_MOST);
    for (unsigned over = 0; over < 2; over++) {
        struct transform_request request = whole_request();
        enum status status = STATUS_OK;
        request.bytes = slice_of(text, INPUT + over);
        buf_reset(&sent);
        document_submit_transform(workers, &request, &header, take_status, &status);
        assert_int_equal(status, over ? STATUS_LIMIT : STATUS_OK);
        assert_int_equal(sent.length, over ? 0 : header.length + INPUT);
    }
    buf_release(&header);
    document_workers_close(workers);
}

static void
the_head_of_a_document_is_looked_at(void **state)
{
    static const char text[MAGIC_HEAD + 1];
    static const size_t lengths[] = {0, 1, MAGIC_HEAD, MAGIC_HEAD + 1};
    struct document_workers *workers = open_workers(DOCUMENT_DETECTION);
    struct buf reply;
    struct reason why = {""};
    (void)state;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        document_submit_magic(workers, slice_of(text, lengths[i]), NULL, NULL);
        assert_int_equal(sent.length, lengths[i] < MAGIC_HEAD ? lengths[i] : MAGIC_HEAD);
        assert_int_equal(sent_policy, SANDBOX_PARSER);
    }
    /* These workers have no transforms. */
    struct buf header;
    const struct transform_request request = whole_request();
    buf_init(&header, SENT_MOST);
    buf_init(&reply, SENT_MOST);
    document_submit_transform(workers, &request, &header, NULL, NULL);
    assert_int_equal(handle(prepare(), sent.length, &reply, &why), STATUS_PROTOCOL);
    buf_release(&header);
    buf_release(&reply);
    document_workers_close(workers);
}

/* ---- one document that is waited for ---- */

static void
what_comes_with_a_document_has_room(void **state)
{
    static const char text[2 * BESIDES];
    const struct transform_resource large = {.uri = SLICE("a:u"), .bytes = {text, sizeof text}};
    struct document_workers *workers = open_workers(DOCUMENT_TRANSFORM);
    struct transform_request request = whole_request();
    struct document_outcome outcome;
    struct buf reply;
    struct reason why = {""};
    bool died = false;
    (void)state;
    request.resources = &large;
    request.resource_count = 1;
    buf_init(&reply, SENT_MOST);
    answer = "";
    assert_int_equal(document_transform(workers, &request, &reply, &outcome, &died, &why),
                     STATUS_PROTOCOL);
    assert_string_equal(why.text, "the worker's answer is malformed");
    assert_false(died);
    assert_int_equal(handle(prepare(), sent.length, &reply, &why), STATUS_OK);
    assert_resource(&seen_resources[0], &large);
    answer = NULL;
    assert_int_equal(document_transform(workers, &request, &reply, &outcome, &died, &why),
                     STATUS_TIMEOUT);
    assert_true(died);
    assert_string_equal(why.text, "it died");
    assert_int_equal(sent.data[0], 0); /* Tidy, which it does not use, is not to blame */
    buf_release(&reply);
    document_workers_close(workers);
}

int
document_orders_run(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(limits_are_of_options),
        CASE(workers_for_programs_are_there_where_they_are_used),
        CASE(settings_that_are_too_long_are_refused),
        CASE(settings_are_checked),
        CASE(requests_and_replies_come_whole),
        CASE(requests_are_checked),
        CASE(documents_are_as_long_as_the_option_says),
        CASE(the_head_of_a_document_is_looked_at),
        CASE(what_comes_with_a_document_has_room),
    };
    return cmocka_run_group_tests_name("document_orders", tests, NULL, NULL);
}
