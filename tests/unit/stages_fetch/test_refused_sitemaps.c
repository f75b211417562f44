/* These tests are of what an older scope refused of sitemaps, considered again
 * (stages/fetch/refused_sitemaps.c). The functions below stand in the place of the rest of the
 * fetch program, of the metadata store and of the archive, and tell what was asked of them as lines
 * of a trace. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "stages/fetch/fetch_steps.h"
#include "stages/skeleton/document_meta.h"

#define MAP "http://data.example/sitemap.xml"
enum { TRACE = 1 << 12, OFFSET = 11, LENGTH = 12, NESTING = 3 };

static struct fetch fetch;
static struct stage_job job;
static struct task *task;
static struct buf trace;
static enum status metadata, archive;
static bool no_archive, unknown, moved;
static const char *submitter;

/* ---- in the place of others ---- */

void
task_free(struct task *one)
{
    assert_ptr_equal(one, task);
    free(one);
    task = NULL;
}

void
task_done(struct task *one, const char *state, const char *reason)
{
    assert_null(state); /* that of the document is another job's to say */
    buf_printf(&trace, "done%s: %s\n", one->sitemaps.count > 0 ? " and more sitemaps" : "", reason);
    assert_true(one->end.handed_on);
    task_free(one);
}

void
task_queue_sitemaps(struct task *one, bool good)
{
    buf_printf(&trace, "sitemaps %d of %zu\n", good, one->sitemaps.count);
}

bool
task_open_content(struct task *one)
{
    if (no_archive) {
        buf_append_string(&trace, "no archive\n");
        task_free(one);
        return false;
    }
    return true;
}

void
task_list(struct task *one, struct slice coding, struct slice bytes)
{
    const struct document *document = &one->job->document;
    assert_true(one->end.handed_on);
    buf_printf(&trace, "list %.*s %.*s of %.*s, %.*s at %u\n", SLICE_PRINT(coding),
               SLICE_PRINT(bytes), SLICE_PRINT(document->type), SLICE_PRINT(document->content_type),
               (unsigned)document->nesting);
    task_free(one);
}

void __wrap_stage_put_off(struct stage_job *one, const struct reason *why);
void
__wrap_stage_put_off(struct stage_job *one, const struct reason *why)
{
    assert_ptr_equal(one, &job);
    buf_printf(&trace, "put off: %s\n", why->text);
}

struct metastore_client *__wrap_stage_metastore(struct stage_run *run);
struct metastore_client *
__wrap_stage_metastore(struct stage_run *run)
{
    (void)run;
    return NULL;
}

void __wrap_metastore_get(struct metastore_client *client, const struct slice *keys, size_t n,
                          metastore_got *done, void *context);
void
__wrap_metastore_get(struct metastore_client *client, const struct slice *keys, size_t n,
                     metastore_got *done, void *context)
{
    struct meta_update update;
    struct buf record;
    (void)client;
    assert_int_equal(n, 1);
    assert_true(slice_is(keys[0], "u" MAP));
    if (metadata != STATUS_OK) {
        done(context, metadata, NULL, 0, &(struct reason){"nobody answers"});
        return;
    }
    buf_init(&record, TRACE);
    meta_update_init(&update);
    meta_set_text(&update, META_STATE, SLICE("fetched"));
    if (submitter != NULL) {
        meta_set_text(&update, META_SITEMAP_SUBMITTER, slice_string(submitter));
        meta_set_number(&update, META_SITEMAP_NESTING, NESTING);
    }
    if (!moved) {
        meta_set_text(&update, META_WARC_NODE, SLICE("n1"));
        meta_set_text(&update, META_WARC_FILE, SLICE("a.warc.gz"));
        meta_set_number(&update, META_WARC_OFFSET, OFFSET);
        meta_set_number(&update, META_WARC_LENGTH, LENGTH);
    }
    (void)meta_merge((struct slice){0}, meta_update_fields(&update), &record);
    const struct slice records[] = {buf_slice(&record)};
    done(context, STATUS_OK, records, unknown ? 0 : 1, &(struct reason){""});
    meta_update_release(&update);
    buf_release(&record);
}

enum status __wrap_content_read(struct content *content, const struct document_record *where,
                                struct buf *memory, struct warc_record *record, struct reason *why);
enum status
__wrap_content_read(struct content *content, const struct document_record *where,
                    struct buf *memory, struct warc_record *record, struct reason *why)
{
    (void)content;
    assert_true(memory->maximum >= 64 << 20); /* a sitemap may have 50 MB */
    assert_true(slice_is(where->file, "a.warc.gz"));
    assert_int_equal(where->offset, OFFSET);
    assert_int_equal(where->length, LENGTH);
    *record = (struct warc_record){.http_header =
                                       SLICE("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n"),
                                   .payload = SLICE("bytes")};
    return archive == STATUS_OK ? STATUS_OK : status_fail(why, archive, "it cannot be read");
}

/* ---- steps ---- */

static void
new_task(void)
{
    task = memory_new(sizeof *task);
    task->fetch = &fetch;
    task->job = &job;
    task->url = SLICE(MAP);
    job.document = (struct document){.nesting = NESTING + 1};
}

static void
assert_listed(const char *text)
{
    new_task();
    task_list_again(task);
    assert_null(task);
    assert_string_equal(trace.data, text);
    buf_reset(&trace);
}

static int
set_up(void **state)
{
    (void)state;
    buf_init(&trace, TRACE);
    arena_init(&job.arena, 1 << 20);
    metadata = archive = STATUS_OK;
    no_archive = unknown = moved = false;
    submitter = NULL;
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    arena_release(&job.arena);
    buf_release(&trace);
    return 0;
}

/* ---- cases ---- */

static void
entries_come_out_of_the_archive(void **state)
{
    (void)state;
    assert_listed("list gzip bytes of ,  at 0\n");
    submitter = "http://data.example/robots.txt";
    assert_listed("list gzip bytes of " SITEMAP_TYPE ", http://data.example/robots.txt at 3\n");
    submitter = "";
    assert_listed("list gzip bytes of ,  at 3\n");
}

static void
what_is_not_in_the_archive_is_done(void **state)
{
    (void)state;
    moved = true;
    assert_listed("done: \n");
    unknown = true;
    assert_listed("done: \n");
    unknown = moved = false;
    archive = STATUS_NOT_FOUND;
    assert_listed("done: it cannot be read\n");
}

static void
what_does_not_answer_is_put_off(void **state)
{
    (void)state;
    archive = STATUS_UNAVAILABLE;
    assert_listed("put off: it cannot be read\n");
    metadata = STATUS_TIMEOUT;
    assert_listed("put off: nobody answers\n");
    no_archive = true;
    assert_listed("no archive\n");
}

/* Those that robots.txt names are queued here, so that the end of the task does not do it again. */
static void
sitemaps_of_a_host_are_queued_once(void **state)
{
    (void)state;
    new_task();
    task->sitemaps.count = 2;
    task_put_refused_sitemaps(task);
    assert_null(task);
    assert_string_equal(trace.data, "sitemaps 1 of 2\ndone: \n");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(entries_come_out_of_the_archive, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_not_in_the_archive_is_done, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_does_not_answer_is_put_off, set_up, tear_down),
        cmocka_unit_test_setup_teardown(sitemaps_of_a_host_are_queued_once, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("refused_sitemaps", tests, NULL, NULL);
}
