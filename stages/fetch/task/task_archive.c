/* Keeps what is wanted of an answer: its exchange in the archive, and what the document's record
 * says of it. */
#include <stdio.h>
#include <string.h>

#include "base/digest.h"
#include "base/system/log.h"
#include "stages/fetch/task/fetch_task.h"
#include "stages/skeleton/document_meta.h"

enum {
    ARCHIVE_RETRY_MS = 10000,
    FIELDS_ROOM = 512, /* of metadata beside both headers */
    RECORD_BYTES = 128 << 20,
    DIGEST_TEXT = 8 + 2 * DIGEST_SHA256_SIZE /* "sha256:", hex */
};

bool
task_archive(struct task *task, struct slice url, const struct fetch_result *result,
             struct slice truncated, struct warc_location *location)
{
    struct reason why;
    struct warc_writer *warc = task->fetch->warc;
    const struct warc_exchange exchange = {
        .uri = url,
        .request = result->request,
        .response_header = result->response_header,
        .body = result->body,
        .ip = result->ip,
        .protocol = result->protocol,
        .truncated = truncated,
        .date_ms = result->started_ms,
    };
    const struct warc_resource resource = {
        .uri = url,
        .content_type = SLICE("application/octet-stream"),
        .body = result->body,
        .dialogue = result->request,
        .ip = result->ip,
        .truncated = truncated,
        .date_ms = result->started_ms,
    };
    if ((result->reply > 0 ? warc_write_resource(warc, &resource, location, &why)
                           : warc_write_exchange(warc, &exchange, location, &why)) == STATUS_OK) {
        return true;
    }
    log_error("archive_failed", "uri=%.*s reason=%s", SLICE_PRINT(url), why.text);
    stage_release(task->job, ARCHIVE_RETRY_MS, false, "%s", why.text);
    task_free(task);
    return false;
}

static void
payload_digest(struct slice body, char text[DIGEST_TEXT])
{
    uint8_t digest[DIGEST_SHA256_SIZE];
    digest_sha256(body, digest);
    memcpy(text, "sha256:", 7);
    digest_hex(digest, sizeof digest, text + 7);
}

static bool
is_recrawl(const struct task *task)
{
    return (task->job->job.flags & JOB_RECRAWL) != 0 || task->job->job.generation > 1;
}

static void
set_response(struct task *task, const struct fetch_result *result)
{
    struct meta_update *meta = &task->job->meta;
    const struct slice header = result->response_header;
    char text[DIGEST_TEXT];
    payload_digest(result->body, text);
    (void)buf_reserve(&meta->fields, header.length + result->request.length + FIELDS_ROOM);
    meta_set_number(meta, META_FETCHED, result->started_ms);
    meta_set_number(meta, META_FETCH_MS, result->milliseconds);
    if (result->reply > 0) {
        meta_set_number(meta, META_FTP_REPLY, result->reply);
    } else {
        meta_set_number(meta, META_HTTP_STATUS, result->status);
        meta_set_text(meta, META_HTTP_VERSION, slice_of(header.at, slice_find(header, ' ')));
        meta_set_text(meta, META_REQUEST_HEADERS, result->request);
        meta_set_text(meta, META_RESPONSE_HEADERS, header);
        meta_set_text(meta, META_CONTENT_TYPE, warc_http_header(header, "Content-Type"));
    }
    meta_set_text(meta, META_ETAG, warc_http_header(header, "ETag"));
    meta_set_text(meta, META_LAST_MODIFIED, warc_http_header(header, "Last-Modified"));
    meta_set_text(meta, META_IP, result->ip);
    meta_set_number(meta, META_PAYLOAD_BYTES, result->body.length);
    meta_set_text(meta, META_PAYLOAD_DIGEST, slice_string(text));
    meta_set_text(meta, META_TRUNCATED, task->end.truncated);
    meta_set_text(meta, META_REDIRECT_TO, (struct slice){0});
    if (is_recrawl(task)) { /* it may have come out of a dump before */
        meta_clear(meta, META_DUMP);
        meta_clear(meta, META_SLICING);
    }
}

static void
set_location(struct task *task, const struct warc_location *location)
{
    struct meta_update *meta = &task->job->meta;
    meta_set_text(meta, META_WARC_NODE, slice_string(task->fetch->node));
    meta_set_text(meta, META_WARC_FILE, slice_string(location->file));
    meta_set_number(meta, META_WARC_OFFSET, location->offset);
    meta_set_number(meta, META_WARC_LENGTH, location->length);
    meta_set_text(meta, META_WARC_RECORD_ID, slice_string(location->id));
}

bool
task_keep_response(struct task *task, const struct fetch_result *result,
                   struct warc_location *location)
{
    if (!task_archive(task, task->url, result, task->end.truncated, location)) {
        return false;
    }
    set_response(task, result);
    set_location(task, location);
    return true;
}

void
task_remove_graph(struct task *task, const struct fetch_result *result)
{
    const struct document document = {
        .http_status = result->status, .fetched_ms = result->started_ms, .removed = true};
    if (is_recrawl(task) && !task->resource) {
        stage_output_next(task->job, STAGE_INDEX, &document);
    }
}

enum visit_outcome
task_change_of_bytes(const struct task *task, const struct fetch_result *result)
{
    char text[DIGEST_TEXT];
    payload_digest(result->body, text);
    return slice_is(task->visit.digest, text) ? VISIT_UNCHANGED : VISIT_CHANGED;
}

bool
task_open_content(struct task *task)
{
    struct fetch *fetch = task->fetch;
    const struct warc_limits limits = {.record = RECORD_BYTES, .encoded = true};
    struct reason why;
    if (fetch->content == NULL &&
        content_open(&fetch->content, stage_directory(fetch->run), stage_cluster(fetch->run),
                     &limits, &why) != STATUS_OK) {
        task_bury(task, why.text);
        return false;
    }
    content_close_files(fetch->content, fetch->run);
    return true;
}
