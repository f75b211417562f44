/* These tests are of what quadrille-detect does with a document (stages/detect/detect_stage.c):
 * where it goes by its type, what its publisher says of it, and when libmagic is asked. Detection
 * and registry are real, transforming and the worker that asks libmagic are stood in for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "stages/parsing/document_worker.h"
#include "stages/skeleton/visit_schedule.h"
#include "stages/transform/transform_document.h"
#include "tests/unit/stages_work/stage_steps.h"

#define PAGE "http://a.example/page"
#define TURTLE "@prefix a: <http://a.example/> .\na:b a:c a:d .\n"
#define UNKNOWN "\001\002\003\004\005\006\007\010"

static struct {
    worker_done *done; /* of libmagic */
    void *context;
    struct slice head;
    enum status flushed;
    size_t in_hand;
    uint64_t monotonic_ms;
} worker;

/* ---- in the place of workers ---- */

STAND_IN(struct fork_server *, fork_server_start, (const struct worker_program *program))
{
    assert_ptr_equal(program, &document_worker_program);
    return (struct fork_server *)&worker;
}

STAND_IN(void, fork_server_close, (struct fork_server * server))
{
    assert_ptr_equal(server, &worker);
}

enum status
document_transforms_open(struct document_transforms **transforms, struct stage_run *run,
                         struct content *content, struct fork_server *fork_server, unsigned work,
                         struct reason *why)
{
    (void)run, (void)content, (void)why;
    assert_ptr_equal(fork_server, &worker);
    assert_int_equal(work, DOCUMENT_DETECTION);
    *transforms = (struct document_transforms *)&worker;
    return STATUS_OK;
}

void
document_transforms_close(struct document_transforms *transforms)
{
    assert_ptr_equal(transforms, &worker);
}

void
document_transforms_start(struct document_transforms *transforms, struct stage_job *job,
                          struct buf *memory, struct slice body)
{
    assert_ptr_equal(transforms, &worker);
    assert_ptr_equal(job, &steps.job);
    assert_true(body.at == memory->data && body.length == memory->length);
    buf_printf(&steps.trace, "transform %zu of %.*s%s\n", body.length,
               SLICE_PRINT(job->document.type), job->document.nofollow ? " nofollow" : "");
}

size_t
document_transforms_in_hand(const struct document_transforms *transforms)
{
    assert_ptr_equal(transforms, &worker);
    return worker.in_hand;
}

struct document_workers *
document_transforms_workers(struct document_transforms *transforms)
{
    return (struct document_workers *)transforms;
}

enum status
document_transforms_flush(struct document_transforms *transforms, struct reason *why)
{
    assert_ptr_equal(transforms, &worker);
    return worker.flushed == STATUS_OK ? STATUS_OK : status_fail(why, worker.flushed, "no room");
}

STAND_IN(uint64_t, clock_monotonic_ms, (void))
{
    return worker.monotonic_ms;
}

STAND_IN(void, document_submit_magic,
         (struct document_workers * workers, struct slice head, worker_done *done, void *context))
{
    assert_ptr_equal(workers, &worker);
    worker.done = done;
    worker.context = context;
    worker.head = head;
    buf_printf(&steps.trace, "magic of %zu?\n", head.length);
}

STAND_IN(void, schedule_visit,
         (struct stage_job * job, const struct document_visit *visit, enum visit_outcome outcome,
          struct slice data))
{
    assert_ptr_equal(job, &steps.job);
    assert_true(visit->threshold_ms > 0 && data.length == 0);
    assert_int_equal(outcome, VISIT_NOTHING);
    buf_append_string(&steps.trace, "another visit\n");
}

/* ---- steps ---- */

static int
set_up(void **state)
{
    (void)state;
    memset(&worker, 0, sizeof worker);
    steps_begin(NULL, (const char *const[]){"transform.input=1M", NULL});
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    steps_end();
    return 0;
}

static void
start(uint64_t generation, const struct document *document, const char *header, struct slice body)
{
    const struct job job = {
        .key.stage = STAGE_DETECT, .uri = SLICE(PAGE), .generation = generation};
    steps.record.http_header = slice_string(header);
    steps.record.body = body;
    steps_start(&job, document);
}

static void
magic(enum status status, const char *type)
{
    const struct reason why = {"it died"};
    const struct worker_answer answer = {
        .status = status, .reply = slice_string(type), .why = &why};
    worker.done(worker.context, &answer);
}

/* ---- cases ---- */

#define DETECTED "counts as detected\n"
#define AT_ONCE DETECTED "transform 47 of text/turtle\n"

static void
documents_of_known_types_are_transformed_at_once(void **state)
{
    const struct document document = {.content_type = SLICE("text/plain")};
    (void)state;
    start(1, &document, "HTTP/1.1 200 OK\r\n\r\n", SLICE(TURTLE));
    assert_trace(AT_ONCE);
    assert_text(META_DETECTED_TYPE, "text/turtle");
    assert_text(META_DETECTED_BY,
                "the text begins with statements of text/turtle; against Content-Type text/plain");
    assert_number(META_DETECTED, steps.now_ms);
    assert_text(META_STATE, "");
}

static void
the_archive_is_read_ahead_and_closed_in_between(void **state)
{
    const struct document document = {.type = SLICE("text/turtle")};
    (void)state;
    assert_true(steps.closes_files);
    assert_ptr_equal(steps.reads_ahead(&document), &document.response);
}

static void
large_documents_go_on(void **state)
{
    enum { AT_ONCE_BYTES = 256 << 10 };
    static char text[AT_ONCE_BYTES + 1];
    const struct document document = {.charset = SLICE("utf-8"),
                                      .response = {.file = SLICE("f.warc.gz"), .offset = 7}};
    (void)state;
    memset(text, '\n', sizeof text);
    memcpy(text, TURTLE, sizeof TURTLE - 1);
    start(1, &document, "", slice_of(text, AT_ONCE_BYTES));
    assert_trace(DETECTED "transform 262144 of text/turtle\n");
    start(1, &document, "", slice_of(text, AT_ONCE_BYTES + 1));
    assert_trace(DETECTED "next transform\ndone\n");
    assert_true(slice_is(steps.next.type, "text/turtle"));
    assert_true(slice_is(steps.next.charset, "utf-8"));
    assert_true(slice_is(steps.next.response.file, "f.warc.gz"));
    assert_int_equal(steps.next.response.offset, 7);
    assert_false(steps.next.removed || steps.next.nofollow);
    assert_text(META_DETECTED_TYPE, "text/turtle");
}

/* Until it has few documents again. */
static void
a_worker_that_is_behind_is_left_alone(void **state)
{
    enum { FEW = 32, BEHIND_MS = 500 };
    static const struct {
        size_t in_hand;
        uint64_t passed_ms;
        bool at_once;
    } turns[] = {{FEW - 1, 5000, true}, {FEW, BEHIND_MS, true},      {FEW, 1, false},
                 {FEW - 1, 1000, true}, {FEW, BEHIND_MS + 1, false}, {500, 10, false},
                 {0, 0, true}};
    (void)state;
    for (size_t i = 0; i < sizeof turns / sizeof *turns; i++) {
        worker.in_hand = turns[i].in_hand;
        worker.monotonic_ms += turns[i].passed_ms;
        start(1, NULL, "", SLICE(TURTLE));
        assert_trace(turns[i].at_once ? AT_ONCE : DETECTED "next transform\ndone\n");
    }
}

static void
documents_of_other_types_end(void **state)
{
    static const struct {
        uint64_t generation, threshold_ms;
        const char *trace;
    } cases[] = {
        {1, 0, "counts as unknown_type\nyield 0\ndone\n"},
        {1, 1, "counts as unknown_type\nanother visit\nyield 0\ndone\n"},
        /* it was another one before, whose graph goes */
        {2, 0, "counts as unknown_type\nnext index\nyield 0\ndone\n"},
        {2, 5, "counts as unknown_type\nnext index\nyield 0\ndone\n"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct document document = {.visit.threshold_ms = cases[i].threshold_ms};
        start(cases[i].generation, &document, "", SLICE(UNKNOWN));
        buf_reset(&steps.trace);
        magic(STATUS_OK, "application/x-nothing");
        assert_trace(cases[i].trace);
        assert_int_equal(steps.next.removed, cases[i].generation == 2);
        assert_text(META_STATE, "unknown");
        assert_text(META_REASON, "no transform is registered for its type");
        assert_number(META_DETECTED, steps.now_ms);
    }
}

static void
what_is_gone_goes_through(void **state)
{
    const struct document document = {.removed = true};
    (void)state;
    steps.read_status = STATUS_CORRUPT; /* nothing is read */
    start(3, &document, "", SLICE(""));
    assert_trace("next index\ndone\n");
    assert_true(steps.next.removed);
}

static void
what_cannot_be_read_is_refused_or_buried(void **state)
{
    (void)state;
    assert_int_equal(steps.limits.body, 1 << 20);
    assert_int_equal(steps.limits.record, 3 << 20);
    steps.read_status = STATUS_CORRUPT;
    start(1, NULL, "", SLICE(TURTLE));
    assert_trace("refused: unreadable\n");
    assert_int_equal(steps.room, 11 << 20); /* stored, decoded, the record around it */
    steps.read_status = STATUS_OK;
    steps.record.body_truncated = true;
    steps.record.encoding_problem = SLICE("a bomb");
    start(1, NULL, "", SLICE(TURTLE));
    assert_trace("bury: a bomb\n");
    steps.record.truncated = SLICE("length"); /* by fetch: its beginning counts */
    start(1, NULL, "", SLICE(TURTLE));
    assert_trace(AT_ONCE);
}

static void
publishers_are_obeyed(void **state)
{
    static const struct {
        const char *header, *body, *state, *reason;
        bool nofollow;
    } cases[] = {
        {"HTTP/1.1 200 OK\r\nX-Robots-Tag: noindex\r\n\r\n", TURTLE, "noindex",
         "its publisher says noindex", false},
        {"HTTP/1.1 200 OK\r\nX-Robots-Tag: nofollow\r\n\r\n", TURTLE, "", "", true},
        {"", "<!DOCTYPE html><meta name=robots content=noindex><p>", "noindex",
         "its publisher says noindex", false},
        {"",
         "<html xmlns='http://www.w3.org/1999/xhtml'><head><meta name='quadrille' "
         "content='none'/></head></html>",
         "noindex", "its publisher says noindex", true},
        /* what stands in the comments of other formats is for nobody */
        {"", TURTLE "# <meta name=robots content=noindex>", "", "", false},
        {"HTTP/1.1 200 OK\r\nTDM-Reservation: 1\r\n\r\n", TURTLE, "", "", false},
        {"HTTP/1.1 200 OK\r\nX-Robots-Tag: other: noindex\r\n\r\n", TURTLE, "", "", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const bool out = cases[i].state[0] != '\0';
        char wanted[100];
        start(1, NULL, cases[i].header, slice_string(cases[i].body));
        if (out) {
            assert_trace("counts as noindex\ndone\n");
        } else {
            snprintf(wanted, sizeof wanted, DETECTED "transform %zu of text/turtle%s\n",
                     strlen(cases[i].body), cases[i].nofollow ? " nofollow" : "");
            assert_trace(wanted);
        }
        assert_text(META_STATE, cases[i].state);
        assert_text(META_REASON, cases[i].reason);
        assert_number(META_NOFOLLOW, cases[i].nofollow ? 1 : UINT64_MAX);
        assert_number(META_DETECTED, steps.now_ms);
    }
    start(1, NULL, cases[0].header, SLICE(TURTLE));
    assert_text(META_ROBOTS_TAGS, "X-Robots-Tag: noindex\n");
    assert_text(META_DETECTED_TYPE, "text/turtle");
    assert_text(META_DETECTED_BY, "the text begins with statements of text/turtle");
}

/* What is known of the document says so, until its publisher says otherwise. */
static void
links_that_may_be_followed_again_are(void **state)
{
    struct meta_update before;
    struct buf known, now;
    uint64_t nofollow;
    (void)state;
    buf_init(&known, 1 << 16);
    buf_init(&now, 1 << 16);
    meta_update_init(&before);
    meta_set_number(&before, META_NOFOLLOW, 1);
    (void)meta_merge((struct slice){0}, meta_update_fields(&before), &known);
    assert_true(meta_record_number(buf_slice(&known), META_NOFOLLOW, &nofollow));
    start(2, NULL, "", SLICE(TURTLE));
    (void)meta_merge(buf_slice(&known), meta_update_fields(&steps.job.meta), &now);
    assert_false(meta_record_number(buf_slice(&now), META_NOFOLLOW, &nofollow));
    meta_update_release(&before);
    buf_release(&known);
    buf_release(&now);
}

/* A crawl without processes of transform has others transform its documents, later. */
static void
without_transforms_documents_are_only_detected(void **state)
{
    (void)state;
    steps_end();
    steps_begin(NULL, (const char *const[]){"processes.transform=0", NULL});
    start(1, NULL, "", SLICE(TURTLE));
    assert_trace(DETECTED "next transform\ndone\n");
}

/* Its graph goes with the permission; without a graph there is a next visit. */
static void
who_forbids_later_is_forgotten(void **state)
{
    static const char header[] = "HTTP/1.1 200 OK\r\nX-Robots-Tag: noindex\r\n\r\n";
    const struct document document = {.visit.threshold_ms = 1};
    (void)state;
    start(2, &document, header, SLICE(TURTLE));
    assert_trace("next index\ncounts as noindex\ndone\n");
    assert_true(steps.next.removed);
    start(1, &document, header, SLICE(TURTLE));
    assert_trace("another visit\ncounts as noindex\ndone\n");
}

static void
publishers_may_be_noted_only(void **state)
{
    static const char header[] =
        "HTTP/1.1 200 OK\r\nX-Robots-Tag: none\r\nTDM-Reservation: 1\r\n\r\n";
    (void)state;
    steps_end();
    steps_begin(NULL, (const char *const[]){"fetch.robots_tags=note", NULL});
    start(1, NULL, header, SLICE(TURTLE));
    assert_trace(AT_ONCE);
    assert_number(META_NOFOLLOW, UINT64_MAX);
    steps_end();
    steps_begin(
        NULL, (const char *const[]){"fetch.robots_tags=note", "fetch.robots_signals=honour", NULL});
    start(1, NULL, header, SLICE(TURTLE));
    assert_trace("counts as noindex\ndone\n");
    assert_text(META_REASON, "its publisher reserves its use: fetch.robots_signals");
    steps_end();
    steps_begin(NULL, (const char *const[]){"fetch.robots_name=otherbot", NULL});
    start(1, NULL, "HTTP/1.1 200 OK\r\nX-Robots-Tag: otherbot: noindex\r\n\r\n", SLICE(TURTLE));
    assert_trace("counts as noindex\ndone\n");
}

static void
libmagic_is_asked_last(void **state)
{
    static char bytes[200000];
    (void)state;
    memset(bytes, 1, sizeof bytes);
    start(1, NULL, "", slice_of(bytes, sizeof bytes));
    assert_trace("magic of 65537?\n");
    assert_memory_equal(worker.head.at, bytes, 65537);
    assert_ptr_not_equal(worker.head.at, bytes);
    steps.record.body = SLICE("the next document's");
    magic(STATUS_OK, "image/png");
    assert_trace(DETECTED "next transform\ndone\n");
    assert_true(slice_is(steps.next.type, "image/png"));
    assert_text(META_DETECTED_TYPE, "image/png");
    start(1, NULL, "", SLICE(UNKNOWN));
    assert_trace("magic of 8?\n");
    magic(STATUS_TIMEOUT, "image/png"); /* that of the dead does not count */
    assert_trace("counts as unknown_type\nyield 0\ndone\n");
    assert_text(META_STATE, "unknown");
    start(1, NULL, "", SLICE(UNKNOWN));
    buf_reset(&steps.trace);
    magic(STATUS_CANCELLED, "");
    assert_trace("release 0: it died\n");
    assert_number(META_DETECTED, UINT64_MAX);
}

/* A job whose memory is used up by what it outputs is decided without libmagic, also where there is
 * no more room for what libmagic would look at. */
static void
without_memory_libmagic_is_not_asked(void **state)
{
    static char bytes[200000];
    static const size_t rooms[] = {1, 32 << 10};
    const struct job job = {.key.stage = STAGE_DETECT, .uri = SLICE(PAGE), .generation = 1};
    (void)state;
    memset(bytes, 1, sizeof bytes);
    for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++) {
        steps.record.body = slice_of(bytes, sizeof bytes);
        steps.arena = rooms[i];
        buf_reset(&steps.trace);
        steps_start(&job, NULL);
        assert_trace("counts as unknown_type\nyield 0\ndone\n");
        assert_text(META_DETECTED_TYPE, "application/octet-stream");
    }
}

static void
what_was_transformed_is_made_durable(void **state)
{
    struct stage_job *jobs[1] = {&steps.job};
    struct reason why = {""};
    (void)state;
    assert_int_equal(steps.spec->flush(steps.stage, jobs, 1, &why), STATUS_OK);
    worker.flushed = STATUS_AGAIN;
    assert_int_equal(steps.spec->flush(steps.stage, jobs, 1, &why), STATUS_AGAIN);
}

/* main is that of the program. */
STAND_IN(int, main, (int argc, char **argv))
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(documents_of_known_types_are_transformed_at_once),
        CASE(the_archive_is_read_ahead_and_closed_in_between),
        CASE(large_documents_go_on),
        CASE(a_worker_that_is_behind_is_left_alone),
        CASE(documents_of_other_types_end),
        CASE(what_is_gone_goes_through),
        CASE(what_cannot_be_read_is_refused_or_buried),
        CASE(publishers_are_obeyed),
        CASE(links_that_may_be_followed_again_are),
        CASE(without_transforms_documents_are_only_detected),
        CASE(who_forbids_later_is_forgotten),
        CASE(publishers_may_be_noted_only),
        CASE(libmagic_is_asked_last),
        CASE(without_memory_libmagic_is_not_asked),
        CASE(what_was_transformed_is_made_durable),
    };
    (void)argc, (void)argv;
    return cmocka_run_group_tests_name("detect_stage", tests, NULL, NULL);
}
