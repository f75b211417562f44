/* These tests are of what quadrille-transform does with a document (stages/transform/), and
 * quadrille-detect in passing: what is archived and said of it, what waits for others, and what is
 * handed on. The workers and the resources are stood in for; the archive that is written is real.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "datasets/execution.h"
#include "stages/parsing/document_worker.h"
#include "stages/skeleton/resources.h"
#include "stages/transform/transform_document.h"
#include "tests/unit/stages_work/stage_steps.h"
#include "tests/unit/stages_work/transform_help.h"
#include "warc/warc.h"

enum { TEXT = 1 << 11, WAIT_MS = 600000 };

static struct {
    worker_done *done; /* of the document that was submitted */
    void *context;
    worker_done *first_done; /* and of one before it, when two are in hand */
    void *first_context;
    const char *bytes; /* of it, and how many */
    size_t byte_count;
    struct fork_server *fork_server;
    enum status pool;
    struct document_outcome outcome; /* what decoding an answer gives */
    bool malformed;
    /* resources */
    resources_gathered *gathered;
    void *gathering;
    size_t missing, sets;
    uint64_t age_ms;
    size_t bytes_of_resources;
    bool old;
    /* the archive */
    enum status write_status, sync_status;
} others;

/* ---- in the place of workers ---- */

STAND_IN(struct fork_server *, fork_server_start, (const struct worker_program *program))
{
    assert_ptr_equal(program, &document_worker_program);
    return (struct fork_server *)&others;
}

STAND_IN(void, fork_server_close, (struct fork_server * server))
{
    assert_ptr_equal(server, &others);
}

STAND_IN(enum status, document_workers_open,
         (struct document_workers * *workers, struct fork_server *fork_server,
          const struct opt_set *options, const char *directory, unsigned work, struct reason *why))
{
    (void)why;
    others.fork_server = fork_server;
    assert_ptr_equal(options, steps.options);
    assert_ptr_equal(directory, steps.directory);
    assert_int_equal(work, DOCUMENT_TRANSFORM);
    *workers = (struct document_workers *)&others;
    return STATUS_OK;
}

STAND_IN(void, document_workers_close, (struct document_workers * workers))
{
    const struct reason why = {"the pool is closed"};
    const struct worker_answer cancelled = {.status = STATUS_CANCELLED, .why = &why};
    assert_ptr_equal(workers, &others);
    if (others.done != NULL) {
        others.done(others.context, &cancelled);
    }
}

STAND_IN(struct worker_pool *, document_workers_pool, (const struct document_workers *workers))
{
    (void)workers;
    return NULL;
}

STAND_IN(int, worker_pool_descriptor, (const struct worker_pool *pool))
{
    (void)pool;
    return 70;
}

STAND_IN(enum status, worker_pool_process, (struct worker_pool * pool, struct reason *why))
{
    (void)pool;
    buf_append_string(&steps.trace, "answers\n");
    return others.pool == STATUS_OK ? STATUS_OK : status_fail(why, others.pool, "it is dead");
}

STAND_IN(void, document_submit_transform,
         (struct document_workers * workers, const struct transform_request *request,
          struct buf *header, worker_done *done, void *context))
{
    (void)workers;
    assert_int_equal(header->length, 0);
    assert_int_equal(header->maximum, others.bytes_of_resources + (512 << 10));
    buf_append_string(header, "used");
    assert_null(others.first_done);
    others.first_done = others.done;
    others.first_context = others.context;
    others.done = done;
    others.context = context;
    others.bytes = request->bytes.at;
    others.byte_count = request->bytes.length;
    buf_printf(&steps.trace, "submit %.*s %.*s %.*s %.*s: %.*s", SLICE_PRINT(request->uri),
               SLICE_PRINT(request->type), SLICE_PRINT(request->charset),
               SLICE_PRINT(request->link_header), SLICE_PRINT(request->bytes));
    buf_printf(&steps.trace, " with %zu%s\n", request->resource_count,
               request->can_wait ? "" : " at last");
}

STAND_IN(bool, document_outcome_decode, (struct slice reply, struct document_outcome *outcome))
{
    assert_true(slice_is(reply, "reply"));
    *outcome = others.outcome;
    return !others.malformed;
}

/* ---- in the place of resources ---- */

STAND_IN(struct resources *, resources_open, (const struct resources_settings *settings))
{
    others.age_ms = settings->age_ms;
    others.bytes_of_resources = settings->bytes;
    return NULL;
}

STAND_IN(void, resources_close, (struct resources * resources))
{
    (void)resources;
}

STAND_IN(struct resource_set *, resource_set_new, (struct resources * resources))
{
    (void)resources;
    others.sets++;
    return (struct resource_set *)&others;
}

STAND_IN(void, resource_set_free, (struct resource_set * set))
{
    others.sets -= set != NULL;
}

STAND_IN(void, resource_set_gather,
         (struct resource_set * set, struct slice needs, resources_gathered *done, void *context))
{
    assert_ptr_equal(set, &others);
    buf_printf(&steps.trace, "gather %.*s\n", SLICE_PRINT(needs));
    others.gathered = done;
    others.gathering = context;
}

STAND_IN(size_t, resource_set_missing, (const struct resource_set *set))
{
    assert_ptr_equal(set, &others);
    return others.missing;
}

STAND_IN(void, resource_set_unknown,
         (const struct resource_set *set, resource_visit *visit, void *context))
{
    assert_ptr_equal(set, &others);
    visit(context, SLICE("http://c.example/context" RESOURCE_FRAGMENT), false);
}

STAND_IN(void, resource_set_old,
         (const struct resource_set *set, resource_visit *visit, void *context))
{
    assert_ptr_equal(set, &others);
    if (others.old) {
        visit(context, SLICE("http://c.example/old" RESOURCE_FRAGMENT), true);
    }
}

STAND_IN(void, resource_set_give_up, (struct resource_set * set, const char *reason))
{
    assert_ptr_equal(set, &others);
    buf_printf(&steps.trace, "give up: %s\n", reason);
}

STAND_IN(size_t, resource_set_list,
         (struct resource_set * set, const struct transform_resource **list))
{
    static const struct transform_resource resources[3];
    assert_ptr_equal(set, &others);
    *list = resources;
    return 3;
}

STAND_IN(void, resource_set_names, (const struct resource_set *set, struct buf *lines))
{
    assert_ptr_equal(set, &others);
    buf_append_string(lines, "http://c.example/context\n");
}

/* ---- before the archive ---- */

enum status __real_warc_write_conversion(struct warc_writer *writer,
                                         const struct warc_conversion *conversion,
                                         struct warc_location *location, struct reason *why);
STAND_IN(enum status, warc_write_conversion,
         (struct warc_writer * writer, const struct warc_conversion *conversion,
          struct warc_location *location, struct reason *why))
{
    return others.write_status == STATUS_OK
               ? __real_warc_write_conversion(writer, conversion, location, why)
               : status_fail(why, others.write_status, "no room");
}

enum status __real_warc_sync(struct warc_writer *writer, struct reason *why);
STAND_IN(enum status, warc_sync, (struct warc_writer * writer, struct reason *why))
{
    return others.sync_status == STATUS_OK ? __real_warc_sync(writer, why)
                                           : status_fail(why, others.sync_status, "no room");
}

/* ---- steps ---- */

static void
begin_in(const char *cluster, const char *setting)
{
    memset(&others, 0, sizeof others);
    steps_begin(cluster, (const char *const[]){"transform.input=32M", "recrawl.most=10d",
                                               "transform.wait=600", setting, NULL});
}

static void
begin(const char *setting)
{
    begin_in(NULL, setting);
}

static int
set_up(void **state)
{
    (void)state;
    begin(NULL);
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    steps_end();
    assert_int_equal(others.sets, 0);
    return 0;
}

static void
start_with(const struct job *job, const struct document *document)
{
    steps.record.body = SLICE("bytes");
    steps_start(job, document);
    steps.record.body = SLICE("the next document's");
    assert_true(steps.trace.length == 0 || steps.read_status != STATUS_OK);
    steps_turn();
}

static void
start_in(enum stage stage, uint64_t waiting_ms)
{
    const struct job job = {.key.stage = (uint8_t)stage,
                            .uri = SLICE(PAGE),
                            .via = SLICE("http://b.example/"),
                            .generation = 1,
                            .depth = 2};
    const struct document document = {.type = SLICE("text/turtle"),
                                      .charset = SLICE("latin1"),
                                      .link_header = SLICE("<x>"),
                                      .response.id = SLICE("urn:uuid:1"),
                                      .waiting_ms = waiting_ms};
    start_with(&job, &document);
}

static void
start(uint64_t waiting_ms)
{
    start_in(STAGE_TRANSFORM, waiting_ms);
}

static void
answer(enum status status)
{
    const struct reason why = {"it died"};
    const struct worker_answer said = {
        .status = status, .reply = SLICE("reply"), .why = &why, .cpu_us = 1000999};
    worker_done *done = others.done;
    others.done = NULL;
    done(others.context, &said);
}

static void
good_outcome(void)
{
    others.outcome = (struct document_outcome){.state = TRANSFORM_WHOLE,
                                               .quads = 1,
                                               .problem_count = 2,
                                               .memory = 4096,
                                               .names = SLICE("turtle/1"),
                                               .problems = SLICE("line 1: odd\nline 2: odd\n"),
                                               .counts = SLICE("turtle 1"),
                                               .repairs = SLICE("repaired 1\n"),
                                               .advice = SLICE("mend it\n"),
                                               .graph = SLICE(GRAPH)};
}

/* The worker needs other documents; the metadata store answers. */
static void
gather(enum status status)
{
    const struct reason why = {"no answer"};
    others.outcome = (struct document_outcome){.state = TRANSFORM_WAITING,
                                               .needs = SLICE("http://c.example/context\n")};
    answer(STATUS_OK);
    others.gathered(others.gathering, status, &why);
}

static enum status
flush(void)
{
    struct stage_job *jobs[1] = {&steps.job};
    struct reason why = {""};
    return steps.spec->flush(steps.stage, jobs, 1, &why);
}

/* Returns what the archive has at the place that index is told. */
static void
assert_archived(const char *body)
{
    const struct document_record *record = &steps.next.conversion;
    struct warc_reader *reader;
    struct warc_record found;
    struct reason why = {""};
    struct buf memory, folder;
    assert_int_equal(flush(), STATUS_OK);
    buf_init(&folder, TEXT);
    buf_init(&memory, 1 << 20);
    buf_printf(&folder, "%s/warc", steps.directory);
    reader = warc_reader_open(folder.data, &(struct warc_limits){0});
    assert_int_equal(
        warc_read(reader, record->file, record->offset, record->length, &memory, &found, &why),
        STATUS_OK);
    assert_true(slice_is(found.body, body));
    assert_true(slice_is(found.type, "conversion"));
    assert_true(slice_is(found.uri, PAGE));
    assert_true(slice_is(found.refers_to, "urn:uuid:1"));
    assert_true(slice_is(found.content_type, "application/n-quads"));
    assert_true(slice_equal(found.id, record->id));
    assert_true(slice_is(record->node, "local"));
    warc_reader_close(reader);
    buf_release(&memory);
    buf_release(&folder);
}

/* ---- of helpers, in transform_help.c ---- */

void
transform_begin_in(const char *cluster)
{
    steps_end();
    begin_in(cluster, NULL);
}

void
transform_start_in(enum stage stage)
{
    start_in(stage, 0);
}

/* Once more when the process would have ended by it. */
void
transform_answer(void)
{
    static worker_done *last;
    last = others.done != NULL ? others.done : last;
    others.done = last;
    good_outcome();
    answer(STATUS_OK);
}

void
transform_answers_are_malformed(bool malformed)
{
    others.malformed = malformed;
}

/* ---- documents ---- */

static void
a_graph_is_archived_and_handed_on(void **state)
{
    (void)state;
    start(0);
    assert_trace("submit " PAGE " text/turtle latin1 <x>: bytes with 0\n");
    good_outcome();
    answer(STATUS_OK);
    assert_trace("counts as transformed\nnext index\ndone\n");
    assert_int_equal(steps.next.quads, 1);
    assert_false(steps.next.broken);
    assert_archived(GRAPH);
    assert_text(META_TRANSFORM, "turtle/1");
    assert_number(META_TRANSFORMED, steps.now_ms);
    assert_number(META_TRANSFORM_MS, 1000);
    assert_number(META_QUADS, 1);
    assert_text(META_TRANSFORM_PROBLEMS, "line 1: odd\nline 2: odd\n");
    assert_number(META_TRANSFORM_PROBLEM_COUNT, 2);
    assert_text(META_TRANSFORM_QUADS, "turtle 1");
    assert_text(META_TRANSFORM_REPAIRS, "repaired 1\n");
    assert_text(META_TRANSFORM_ADVICE, "mend it\n");
    assert_number(META_TRANSFORM_MEMORY, 4096);
    assert_text(META_TRANSFORM_RESOURCES, "");
    assert_text(META_STATE, "");
    assert_text(META_CONVERSION_NODE, "local");
    assert_number(META_CONVERSION_OFFSET, steps.next.conversion.offset);
    assert_number(META_CONVERSION_LENGTH, steps.next.conversion.length);
    struct buf name;
    buf_init(&name, TEXT);
    buf_append_slice(&name, steps.next.conversion.file);
    assert_text(META_CONVERSION_FILE, name.data);
    buf_reset(&name);
    buf_append_slice(&name, steps.next.conversion.id);
    assert_text(META_CONVERSION_RECORD_ID, name.data);
    buf_release(&name);
}

static void
a_broken_document_has_an_empty_graph(void **state)
{
    (void)state;
    start(0);
    others.outcome = (struct document_outcome){.state = TRANSFORM_BROKEN,
                                               .problem_count = 2,
                                               .problems = SLICE("line 1: no\nline 2: no\n"),
                                               .graph = SLICE("")};
    buf_reset(&steps.trace);
    answer(STATUS_OK);
    assert_trace("counts as broken\nnext index\ndone\n");
    assert_true(steps.next.broken);
    assert_archived("");
    assert_text(META_STATE, "broken");
    assert_text(META_REASON, "line 1: no");
    assert_text(META_SKETCH, "");
}

static void
near_duplicates_are_known_by_a_sketch(void **state)
{
    struct buf first, graph;
    struct slice sketch;
    (void)state;
    buf_init(&graph, 1 << 16);
    buf_init(&first, 1 << 16);
    for (int i = 0; i < 200; i++) {
        buf_printf(&graph, "<" PAGE "> <http://a.example/p%d> \"words of it %d\" <" PAGE "> .\n", i,
                   i);
    }
    start(0);
    good_outcome();
    others.outcome.graph = buf_slice(&graph);
    answer(STATUS_OK);
    (void)meta_merge((struct slice){0}, meta_update_fields(&steps.job.meta), &first);
    assert_true(meta_record_text(buf_slice(&first), META_SKETCH, &sketch));
    assert_true(sketch.length > 0);
    buf_release(&graph);
    buf_release(&first);
}

static void
dead_workers_bury_and_ended_ones_release(void **state)
{
    static const struct {
        enum status status;
        const char *trace;
    } cases[] = {
        {STATUS_CANCELLED, "release 0: it died\n"},
        {STATUS_LIMIT, "bury: it died (type text/turtle)\n"},
        {STATUS_TIMEOUT, "bury: it died (type text/turtle)\n"},
        {STATUS_SYSTEM, "bury: it died (type text/turtle)\n"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        start(0);
        buf_reset(&steps.trace);
        answer(cases[i].status);
        assert_trace(cases[i].trace);
        assert_number(META_TRANSFORMED, UINT64_MAX);
    }
    others.malformed = true;
    start(0);
    buf_reset(&steps.trace);
    answer(STATUS_OK);
    assert_trace("bury: the worker's answer is malformed (type text/turtle)\n");
}

static void
what_cannot_be_read_is_refused(void **state)
{
    (void)state;
    assert_int_equal(steps.limits.body, 32 << 20);
    assert_int_equal(steps.limits.record, 34 << 20);
    steps.read_status = STATUS_UNAVAILABLE;
    start(0);
    assert_trace("refused: unreadable\n");
    assert_int_equal(steps.room, 104 << 20); /* stored, decoded, the record around it */
}

static void
large_documents_find_room(void **state)
{
    static char body[32 << 20];
    const struct job job = {.key.stage = STAGE_TRANSFORM, .uri = SLICE(PAGE)};
    (void)state;
    steps.record.body = slice_of(body, sizeof body);
    steps_start(&job, NULL); /* stage_steps.c asserts that it has room */
    steps_turn();
    good_outcome();
    answer(STATUS_OK);
    assert_true(slice_find_slice(buf_slice(&steps.trace), SLICE("done\n")) < steps.trace.length);
}

/* ---- the archive ---- */

static void
without_room_a_document_comes_again(void **state)
{
    (void)state;
    start(0);
    good_outcome();
    buf_reset(&steps.trace);
    others.write_status = STATUS_FULL;
    answer(STATUS_OK);
    assert_trace("release 1000: no room\n");
    assert_number(META_CONVERSION_OFFSET, UINT64_MAX);
    others.sync_status = STATUS_FULL;
    assert_int_equal(flush(), STATUS_AGAIN);
    others.sync_status = STATUS_SYSTEM;
    assert_int_equal(flush(), STATUS_SYSTEM);
    others.sync_status = STATUS_OK;
    assert_int_equal(flush(), STATUS_OK);
}

static void
files_are_named_by_node_and_process(void **state)
{
    (void)state;
    start(0);
    good_outcome();
    answer(STATUS_OK);
    const struct slice file = steps.next.conversion.file, end = SLICE("-local-worker.1.warc.gz");
    assert_true(slice_starts(file, SLICE("quadrille-")));
    assert_true(file.length > end.length);
    assert_true(slice_equal(slice_of(file.at + file.length - end.length, end.length), end));
}

/* What cannot be opened can still be closed, whatever of it there is. */
static void
without_an_archive_it_does_not_open(void **state)
{
    struct reason why = {""};
    char path[SCRATCH_SIZE + 8];
    (void)state;
    steps_end();
    steps_prepare(NULL, NULL);
    snprintf(path, sizeof path, "%s/warc", steps.directory);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fclose(file);
    assert_int_not_equal(steps_open(&why), STATUS_OK);
    assert_true(why.text[0] != '\0');
}

static void
the_archive_is_read_ahead_and_closed_in_between(void **state)
{
    const struct document document = {.type = SLICE("text/turtle")};
    (void)state;
    assert_ptr_equal(others.fork_server, &others);
    assert_true(steps.closes_files);
    assert_ptr_equal(steps.reads_ahead(&document), &document.response);
}

static void
answer_well(void)
{
    answer(STATUS_OK);
}

static void
an_archive_that_fails_ends_the_process(void **state)
{
    (void)state;
    start(0);
    good_outcome();
    buf_reset(&steps.trace);
    others.write_status = STATUS_SYSTEM;
    worker_done *const ended = others.done;
    assert_true(steps_ends_process(answer_well));
    assert_trace(""); /* the job comes back by its lease */
    others.write_status = STATUS_OK;
    others.done = ended;
    answer(STATUS_OK); /* frees what the end of the process would have */
}

static void
answer_of_the_pool(void)
{
    steps.watched[0].ready(steps.watched[0].context, 1);
}

static void
a_dead_fork_server_ends_the_process(void **state)
{
    (void)state;
    assert_int_equal(steps.watched_count, 1);
    assert_int_equal(steps.watched[0].descriptor, 70);
    assert_false(steps_ends_process(answer_of_the_pool));
    assert_trace("answers\n");
    others.pool = STATUS_SYSTEM;
    assert_true(steps_ends_process(answer_of_the_pool));
}

/* ---- documents that need others ---- */

#define CONTEXT_JOB                                                               \
    "put fetch http://c.example/context#resource lane http://c.example via " PAGE \
    " priority 0 flags 8 depth 0\n"

static void
what_is_missing_is_fetched_and_waited_for(void **state)
{
    static const struct {
        uint64_t waited_ms;
        const char *later;
    } cases[] = {
        {0, "later transform 250\n"},        {400, "later transform 250\n"},
        {2000, "later transform 500\n"},     {60000, "later transform 15000\n"},
        {200000, "later transform 15000\n"}, {WAIT_MS - 1, "later transform 15000\n"},
    };
    (void)state;
    others.missing = 1;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char wanted[TEXT];
        const uint64_t since = steps.now_ms - cases[i].waited_ms;
        start(cases[i].waited_ms > 0 ? since : 0);
        buf_reset(&steps.trace);
        gather(STATUS_OK);
        snprintf(wanted, sizeof wanted, "gather http://c.example/context\n\n%s%sdone\n",
                 CONTEXT_JOB, cases[i].later);
        assert_trace(wanted);
        assert_int_equal(steps.next.waiting_ms, since);
        assert_true(slice_is(steps.next.type, "text/turtle"));
        assert_number(META_TRANSFORMED, UINT64_MAX);
    }
}

static void
waiting_ends(void **state)
{
    (void)state;
    others.missing = 1;
    start(steps.now_ms - WAIT_MS);
    buf_reset(&steps.trace);
    gather(STATUS_OK);
    assert_trace("gather http://c.example/context\n\n"
                 "give up: it was not fetched in transform.wait\n"
                 "submit " PAGE " text/turtle latin1 <x>: bytes with 3\n");
    good_outcome();
    answer(STATUS_OK);
    assert_int_equal(steps.next.waiting_ms, 0);
    assert_trace("counts as transformed\nnext index\ndone\n");
    steps_end();
    begin("transform.wait=0");
    others.missing = 1;
    start(0);
    buf_reset(&steps.trace);
    gather(STATUS_OK);
    assert_trace("gather http://c.example/context\n\ngive up: transform.wait is 0\n"
                 "submit " PAGE " text/turtle latin1 <x>: bytes with 3\n");
    answer(STATUS_CANCELLED);
}

static void
what_is_there_is_used_and_named(void **state)
{
    (void)state;
    assert_int_equal(others.bytes_of_resources, 16 << 20);
    assert_int_equal(others.age_ms, 5 * 86400000ULL);
    others.old = true;
    start(0);
    buf_reset(&steps.trace);
    gather(STATUS_OK);
    good_outcome();
    answer(STATUS_OK);
    assert_trace("gather http://c.example/context\n\n"
                 "submit " PAGE " text/turtle latin1 <x>: bytes with 3\n"
                 "counts as transformed\nnext index\n"
                 "put fetch http://c.example/old#resource lane http://c.example via " PAGE
                 " priority 0 flags 9 depth 0\ndone\n");
    assert_text(META_TRANSFORM_RESOURCES, "http://c.example/context\n");
}

static void
asking_for_more_ends(void **state)
{
    enum { ROUNDS = 8 };
    (void)state;
    start(0);
    for (int round = 1; round <= ROUNDS; round++) {
        buf_reset(&steps.trace);
        gather(STATUS_OK);
        char wanted[TEXT];
        snprintf(wanted, sizeof wanted,
                 "gather http://c.example/context\n\n"
                 "submit " PAGE " text/turtle latin1 <x>: bytes with 3%s\n",
                 round == ROUNDS ? " at last" : "");
        assert_trace(wanted);
        assert_int_equal(others.sets, 1);
    }
    answer(STATUS_CANCELLED);
}

static void
metadata_that_are_away_are_waited_for(void **state)
{
    (void)state;
    start(0);
    buf_reset(&steps.trace);
    gather(STATUS_UNAVAILABLE);
    assert_trace("gather http://c.example/context\n\nput off: no answer\n");
    start(0);
    buf_reset(&steps.trace);
    gather(STATUS_SYSTEM);
    assert_trace("gather http://c.example/context\n\nrelease 1000: no answer\n");
}

/* ---- in passing ---- */

/* A job of detect is only helped along: what is unusual is handed on to transform. */
static void
in_passing_the_unusual_is_handed_on(void **state)
{
    (void)state;
    start_in(STAGE_DETECT, 0);
    buf_reset(&steps.trace);
    good_outcome();
    answer(STATUS_OK);
    assert_trace("counts as transformed\nnext index\ndone\n");
    static const enum status deaths[] = {STATUS_CANCELLED, STATUS_LIMIT, STATUS_TIMEOUT,
                                         STATUS_SYSTEM};
    for (size_t i = 0; i < sizeof deaths / sizeof *deaths; i++) {
        start_in(STAGE_DETECT, 0);
        buf_reset(&steps.trace);
        answer(deaths[i]);
        assert_trace("next transform\ndone\n");
        assert_true(slice_is(steps.next.type, "text/turtle"));
        assert_number(META_TRANSFORMED, UINT64_MAX);
    }
    others.write_status = STATUS_FULL;
    start_in(STAGE_DETECT, 0);
    buf_reset(&steps.trace);
    answer(STATUS_OK);
    assert_trace("next transform\ndone\n");
    static const enum status silences[] = {STATUS_UNAVAILABLE, STATUS_SYSTEM};
    for (size_t i = 0; i < sizeof silences / sizeof *silences; i++) {
        start_in(STAGE_DETECT, 0);
        buf_reset(&steps.trace);
        gather(silences[i]);
        assert_trace("gather http://c.example/context\n\nnext transform\ndone\n");
    }
    others.missing = 1;
    start_in(STAGE_DETECT, 0);
    buf_reset(&steps.trace);
    gather(STATUS_OK);
    assert_trace("gather http://c.example/context\n\n" CONTEXT_JOB "later transform 250\ndone\n");
    others.malformed = true;
    start_in(STAGE_DETECT, 0);
    buf_reset(&steps.trace);
    answer(STATUS_OK);
    assert_trace("next transform\ndone\n");
}

/* What the loop had no turn for goes back when the process ends. */
static void
what_was_not_submitted_is_released(void **state)
{
    const struct job job = {.key.stage = STAGE_TRANSFORM, .uri = SLICE(PAGE)};
    struct document_transforms *transforms = NULL;
    struct reason why = {""};
    struct buf memory;
    (void)state;
    buf_init(&memory, 1 << 20);
    assert_int_equal(document_transforms_open(&transforms, NULL, NULL, NULL, 0, &why), STATUS_OK);
    steps.job.job = job;
    buf_reset(&steps.trace);
    assert_int_equal(document_transforms_in_hand(transforms), 0);
    document_transforms_start(transforms, &steps.job, &memory, SLICE("body"));
    assert_int_equal(document_transforms_in_hand(transforms), 1);
    assert_trace("");
    document_transforms_close(transforms);
    assert_trace("submit " PAGE "   : body with 0\nrelease 0: the pool is closed\n");
    others.done = NULL;
    buf_release(&memory);
    document_transforms_close(NULL);
}

/* Those that came before the loop had a turn are submitted together. */
static void
documents_of_one_turn_are_submitted_in_order(void **state)
{
    const struct reason why = {"it died"};
    const struct worker_answer died = {.status = STATUS_CANCELLED, .why = &why};
    struct document_transforms *transforms = NULL;
    struct stage_job first = {.job = {.key.stage = STAGE_DETECT, .uri = SLICE(PAGE "/1")}};
    struct stage_job second = {.job = {.key.stage = STAGE_DETECT, .uri = SLICE(PAGE "/2")}};
    struct reason problem = {""};
    struct buf memory;
    (void)state;
    buf_init(&memory, 1 << 20);
    assert_int_equal(document_transforms_open(&transforms, NULL, NULL, NULL, 0, &problem),
                     STATUS_OK);
    document_transforms_start(transforms, &first, &memory, SLICE("one"));
    document_transforms_start(transforms, &second, &memory, SLICE("two"));
    assert_int_equal(document_transforms_in_hand(transforms), 2);
    steps_turn();
    assert_trace("submit " PAGE "/1   : one with 0\nsubmit " PAGE "/2   : two with 0\n");
    assert_ptr_equal(others.first_context, &first);
    assert_ptr_equal(others.context, &second);
    steps.job.job = first.job;
    steps.job.state = first.state;
    others.first_done(&steps.job, &died);
    steps.job.state = second.state;
    others.done(&steps.job, &died);
    assert_int_equal(document_transforms_in_hand(transforms), 0);
    others.first_done = others.done = NULL;
    document_transforms_close(transforms);
    buf_release(&memory);
}

/* The answer that the process waited for when it ended: the transforms are gone by then. */
static void
answers_that_come_after_the_end_release(void **state)
{
    const struct job job = {.key.stage = STAGE_TRANSFORM, .uri = SLICE(PAGE)};
    const struct reason why = {"the client is closed"};
    struct document_transforms *transforms = NULL;
    struct reason problem = {""};
    struct buf memory;
    (void)state;
    buf_init(&memory, 1 << 20);
    assert_int_equal(document_transforms_open(&transforms, NULL, NULL, NULL, 0, &problem),
                     STATUS_OK);
    steps.job.job = job;
    document_transforms_start(transforms, &steps.job, &memory, SLICE("body"));
    steps_turn();
    others.outcome = (struct document_outcome){.state = TRANSFORM_WAITING,
                                               .needs = SLICE("http://c.example/context\n")};
    answer(STATUS_OK);
    assert_int_equal(others.sets, 1);
    document_transforms_close(transforms);
    buf_reset(&steps.trace);
    others.gathered(others.gathering, STATUS_CANCELLED, &why);
    assert_trace("release 0: the client is closed\n");
    assert_int_equal(others.sets, 0);
    buf_release(&memory);
}

/* A short body is copied, and the reading buffer serves the next; a long one keeps it. */
static void
long_bodies_are_not_copied(void **state)
{
    enum { COPIED_BYTES = 256 << 10 };
    static const char zeros[COPIED_BYTES + 1];
    static const size_t lengths[] = {1, COPIED_BYTES, COPIED_BYTES + 1};
    const struct job job = {.key.stage = STAGE_TRANSFORM, .uri = SLICE(PAGE)};
    struct document_transforms *transforms = NULL;
    struct reason why = {""};
    (void)state;
    assert_int_equal(document_transforms_open(&transforms, NULL, NULL, NULL, 0, &why), STATUS_OK);
    steps.job.job = job;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        struct buf memory;
        buf_init(&memory, 1 << 20);
        buf_append_slice(&memory, slice_of(zeros, lengths[i]));
        const char *const data = memory.data;
        document_transforms_start(transforms, &steps.job, &memory, buf_slice(&memory));
        assert_int_equal(memory.maximum, 1 << 20);
        assert_true((memory.data == data) == (lengths[i] <= COPIED_BYTES));
        steps_turn();
        assert_true((others.bytes == data) == (lengths[i] > COPIED_BYTES));
        assert_int_equal(others.byte_count, lengths[i]);
        answer(STATUS_CANCELLED);
        buf_release(&memory);
    }
    assert_int_equal(document_transforms_in_hand(transforms), 0);
    document_transforms_close(transforms);
}

/* ---- descriptions of datasets ---- */

#define DCAT                                                                                 \
    "<http://a.example/d> <http://rdfs.org/ns/void#dataDump> <http://a.example/d.nt> <" PAGE \
    "> .\n<http://a.example/d> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> "           \
    "<http://rdfs.org/ns/void#Dataset> <" PAGE "> .\n"

static void
described(const char *uri, const char *via, uint64_t generation, const char *graph)
{
    const struct job job = {.key.stage = STAGE_TRANSFORM,
                            .uri = slice_string(uri),
                            .via = slice_string(via),
                            .generation = generation,
                            .depth = 2};
    start_with(&job, &(struct document){.response.id = SLICE("urn:uuid:1")});
    good_outcome();
    others.outcome.graph = slice_string(graph);
    buf_reset(&steps.trace);
    answer(STATUS_OK);
}

/* A plan's job by the line that puts it; the number at its end is a fingerprint. */
static size_t
plans(const char *line)
{
    size_t n = 0;
    for (const char *at = steps.trace.data; (at = strstr(at, line)) != NULL; at++) {
        n++;
    }
    return n;
}

static void
descriptions_plan_their_hosts(void **state)
{
    (void)state;
    described(PAGE, "http://b.example/", 1, DCAT);
    assert_int_equal(plans("put fetch http://a.example/#plan="), 1);
    assert_int_equal(plans("put fetch"), 1);
    assert_int_equal(plans(" lane http://a.example via " PAGE " priority 97 flags 9 depth 2"), 1);
    assert_int_equal(plans("meta hhttp://a.example"), 1);
    assert_int_equal(plans("=" PAGE "\n"), 1);
    assert_int_equal(plans(" type again"), 0);
    described(PAGE, "http://b.example/", 2, DCAT);
    assert_int_equal(plans(" type again"), 1);
    described(PAGE, "http://b.example/.well-known/void", 1, DCAT); /* redirects here */
    assert_int_equal(plans("put fetch http://a.example/#plan="), 1);
    assert_int_equal(plans("put fetch http://b.example/#plan="), 1);
    assert_int_equal(plans("meta hhttp://b.example"), 1);
    described(PAGE, "http://a.example/.well-known/void", 1, DCAT);
    assert_int_equal(plans("put fetch"), 1);
    described(PAGE, "http://b.example/", 1, GRAPH);
    assert_int_equal(plans("put fetch"), 0);
    described(PAGE, "http://b.example/", 1,
              "<http://a.example/d> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> "
              "<http://rdfs.org/ns/void#Dataset> <" PAGE "> .\n"); /* offers nothing */
    assert_int_equal(plans("put fetch"), 0);
}

static void
descriptions_are_for_who_wants_plans(void **state)
{
    (void)state;
    steps_end();
    begin("datasets.plan=no");
    described(PAGE, "http://b.example/", 1, DCAT);
    assert_int_equal(plans("put fetch"), 0);
    assert_int_equal(plans("next index"), 1);
}

static void
long_descriptions_are_left_alone(void **state)
{
    enum { DESCRIPTION_BYTES = 8 << 20 };
    struct buf graph;
    (void)state;
    buf_init(&graph, DESCRIPTION_BYTES + TEXT);
    buf_append_string(&graph, DCAT);
    while (graph.length < DESCRIPTION_BYTES) {
        buf_append_string(&graph, GRAPH);
    }
    described(PAGE, "http://b.example/", 1, graph.data);
    assert_int_equal(plans("put fetch"), 0);
    assert_int_equal(plans("done"), 1);
    buf_release(&graph);
}

/* main is that of the program. */
STAND_IN(int, main, (int argc, char **argv))
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(a_graph_is_archived_and_handed_on),
        CASE(a_broken_document_has_an_empty_graph),
        CASE(near_duplicates_are_known_by_a_sketch),
        CASE(dead_workers_bury_and_ended_ones_release),
        CASE(what_cannot_be_read_is_refused),
        CASE(large_documents_find_room),
        CASE(without_room_a_document_comes_again),
        CASE(files_are_named_by_node_and_process),
        CASE(without_an_archive_it_does_not_open),
        CASE(the_archive_is_read_ahead_and_closed_in_between),
        CASE(an_archive_that_fails_ends_the_process),
        CASE(a_dead_fork_server_ends_the_process),
        CASE(what_is_missing_is_fetched_and_waited_for),
        CASE(waiting_ends),
        CASE(what_is_there_is_used_and_named),
        CASE(asking_for_more_ends),
        CASE(metadata_that_are_away_are_waited_for),
        CASE(in_passing_the_unusual_is_handed_on),
        CASE(what_was_not_submitted_is_released),
        CASE(documents_of_one_turn_are_submitted_in_order),
        CASE(answers_that_come_after_the_end_release),
        CASE(long_bodies_are_not_copied),
        CASE(descriptions_plan_their_hosts),
        CASE(descriptions_are_for_who_wants_plans),
        CASE(long_descriptions_are_left_alone),
    };
    (void)argc, (void)argv;
    return cmocka_run_group_tests_name("transform_stage", tests, NULL, NULL) +
           transform_help_run(set_up, tear_down);
}
