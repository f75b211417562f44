/* Considers again what an older scope refused of sitemaps (docs/SCOPE.md). Extract puts these jobs
 * when the scope has changed and a document's record says that something was refused:
 *
 *   ORIGIN/#sitemaps   the sitemaps that robots.txt of the host names, or where one may be
 *   URI#listing        the entries of the sitemap, out of the archive; no request
 *
 * Hostile input: sitemaps, parsed in sandboxed workers. */
#include "stages/fetch/fetch_steps.h"
#include "stages/skeleton/document_meta.h"

enum { SITEMAP_RECORD_BYTES = 128 << 20 };

void
task_put_refused_sitemaps(struct task *task)
{
    task_queue_sitemaps(task, true);
    task->sitemaps.count = 0;
    task->end.handed_on = true; /* there is nothing to be visited */
    task_done(task, NULL, "");
}

/* Who names it, and what is above it, is as when it was read. */
static void
take_naming(struct task *task, struct slice record)
{
    struct document *document = &task->job->document;
    struct slice submitter = {0};
    (void)meta_record_text(record, META_SITEMAP_SUBMITTER, &submitter);
    if (submitter.length > 0) {
        document->type = SLICE(SITEMAP_TYPE);
        document->content_type = arena_copy(&task->job->arena, submitter);
    }
    document->nesting = 0;
    (void)meta_record_number(record, META_SITEMAP_NESTING, &document->nesting);
}

static void
sitemap_known(void *context, enum status status, const struct slice *records, size_t n,
              const struct reason *why)
{
    struct task *task = context;
    struct warc_record archived;
    struct document_record where = {0};
    struct reason problem = {""};
    struct buf memory;
    if (status != STATUS_OK) {
        stage_put_off(task->job, why);
        task_free(task);
        return;
    }
    buf_init(&memory, SITEMAP_RECORD_BYTES);
    if (n > 0) {
        take_naming(task, records[0]);
        where = document_response(records[0]);
    }
    if (where.file.length > 0) {
        status = content_read(task->fetch->content, &where, &memory, &archived, &problem);
    }
    if (status == STATUS_UNAVAILABLE) {
        stage_put_off(task->job, &problem);
        task_free(task);
    } else if (where.file.length > 0 && status == STATUS_OK) {
        task_list(task, warc_http_header(archived.http_header, "Content-Encoding"),
                  archived.payload);
    } else {
        task_done(task, NULL, problem.text); /* it is no more in the archive */
    }
    buf_release(&memory);
}

void
task_list_again(struct task *task)
{
    task->end.handed_on = true; /* the sitemap has a job of its own */
    if (task_open_content(task)) {
        const struct slice key = arena_printf(&task->job->arena, "u%.*s", SLICE_PRINT(task->url));
        metastore_get(stage_metastore(task->job->run), &key, 1, sitemap_known, task);
    }
}
