/* The GET of a dump: to DIR/dumps/NAME.part, on from what is there, then to DIR/dumps/NAME (which
 * name: datasets/execution.h). NAME.head holds the validator of what is there (download.h). A
 * process that is killed leaves both, and the next one asks for the rest with If-Range, and for the
 * last byte once more: so a file that was whole when the process died costs one byte, and no answer
 * is special.
 *
 * A dump that is asked for again (data of type DUMP_AGAIN, its dataset's job as content type) is
 * asked for with conditions. When it has changed, its dataset's job is put.
 *
 * By FTP the validator is made of size and time (stages/fetch/http/fetch_http.h), and there are no
 * conditions: a dump that is asked for again is looked at first.
 *
 * Archived is the exchange without its body, marked as truncated: what is kept of a dump are the
 * documents that it holds. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/system/file.h"
#include "base/system/log.h"
#include "base/url/url.h"
#include "stages/fetch/datasets/dataset_tasks.h"
#include "stages/fetch/task/download.h"

enum {
    SYNC_BYTES = 16 << 20,
    DISK_RETRY_MS = 10000,
    AGAIN_MS = 1000,
    PROGRESS_BYTES = 64 << 10 /* a connection that breaks after these is no failed attempt */
};

/* Tells whether a 206 goes on where this file ends, in the same version: not every server reads
 * If-Range (RFC 9110, section 14.4). */
static bool
goes_on(const struct download *download, struct slice header)
{
    static const char unit[] = "bytes ";
    const struct slice range = warc_http_header(header, "Content-Range");
    const struct slice tag = warc_http_header(header, "ETag");
    if (range.length <= sizeof unit - 1 || strncasecmp(range.at, unit, sizeof unit - 1) != 0) {
        return false;
    }
    const struct slice from =
        slice_of(range.at + sizeof unit - 1, range.length - (sizeof unit - 1));
    const size_t length = slice_find(from, '-');
    return length > 0 && length <= SLICE_NUMBER_MOST &&
           slice_number(slice_of(from.at, length)) == download->at_hand &&
           (download->validator[0] != '"' || tag.length == 0 || slice_is(tag, download->validator));
}

static bool
is_too_large(const struct download *download, struct slice header)
{
    return slice_number(warc_http_header(header, "Content-Length")) + download->at_hand >
           download->task->fetch->datasets.dump_size;
}

static bool
begin(void *context, uint16_t status, struct slice header)
{
    struct download *download = context;
    download->keeps = status == 200 || status == 206;
    if (status == 206 && !goes_on(download, header)) {
        snprintf(download->problem, sizeof download->problem, "the answer is not the rest of it");
        download->strange = true;
        return false;
    }
    if (status == 200 && !download_begin_anew(download, header)) {
        snprintf(download->problem, sizeof download->problem, "%s", strerror(errno));
        return false;
    }
    if (download->keeps && is_too_large(download, header)) {
        snprintf(download->problem, sizeof download->problem, "larger than datasets.dump_size");
        download->refused = true;
        return false;
    }
    return true;
}

static bool
take(void *context, struct slice bytes)
{
    struct download *download = context;
    if (download->keeps && download->at_hand + download->written + bytes.length >
                               download->task->fetch->datasets.dump_size) {
        download->refused = true;
        return false;
    }
    while (download->keeps && bytes.length > 0) {
        const ssize_t n = write(download->file, bytes.at, bytes.length);
        if (n < 0 && errno != EINTR) {
            snprintf(download->problem, sizeof download->problem, "cannot write the dump: %s",
                     strerror(errno));
            return false;
        }
        if (n > 0) {
            download->written += (uint64_t)n;
            bytes = slice_of(bytes.at + n, bytes.length - (size_t)n);
        }
    }
    if (download->at_hand + download->written >= download->safe + SYNC_BYTES &&
        !download_sync(download)) {
        snprintf(download->problem, sizeof download->problem, "cannot sync the dump: %s",
                 strerror(errno));
        return false;
    }
    return true;
}

/* ---- ends ---- */

/* Its dataset's job looks what there is to do. */
static void
tell_dataset(struct task *task)
{
    const struct slice dataset = task->job->document.content_type;
    if (dataset.length > 0) {
        task_put(task, dataset, SLICE_PRIORITY, SLICE(DATASET_CHANGED), (struct slice){0});
    }
}

static void
complete(struct task *task, const struct fetch_result *result)
{
    struct download *download = task->download;
    struct warc_location location;
    if (!download_sync(download) || file_rename(download->part, download->path) != 0) {
        stage_release(task->job, DISK_RETRY_MS, false, "%s: %s", download->path, strerror(errno));
        task_free(task);
        return;
    }
    task->end.truncated = SLICE("length");
    if (!task_keep_response(task, result, &location)) {
        return;
    }
    meta_set_number(&task->job->meta, META_PAYLOAD_BYTES, download->at_hand + download->written);
    meta_clear(&task->job->meta, META_PAYLOAD_DIGEST);
    meta_clear(&task->job->meta, META_TRUNCATED);
    log_info("dump", "uri=%.*s bytes=%llu resumed_at=%llu", SLICE_PRINT(task->url),
             (unsigned long long)(download->at_hand + download->written),
             (unsigned long long)download->at_hand);
    tell_dataset(task);
    task_done(task, "fetched", "");
}

static void
redirected(struct task *task, const struct fetch_result *result)
{
    struct warc_location location;
    struct buf target;
    const struct slice to = warc_http_header(result->response_header, "Location");
    buf_init(&target, URL_MAXIMUM + sizeof DUMP_FRAGMENT);
    download_discard(task->download);
    if (!task_keep_response(task, result, &location)) {
        buf_release(&target);
        return;
    }
    if (to.length == 0 || task->job->job.hops >= REDIRECTS_MOST ||
        url_crawl_key(to, task->url, &target, NULL) != STATUS_OK) {
        task_done(task, "failed", "redirects nowhere, or too often");
    } else {
        meta_set_text(&task->job->meta, META_REDIRECT_TO, buf_slice(&target));
        buf_append_string(&target, DUMP_FRAGMENT);
        const struct job output = {.key.stage = STAGE_FETCH,
                                   .uri = buf_slice(&target),
                                   .lane_name = url_origin(buf_slice(&target)),
                                   .via = task->job->job.uri,
                                   .priority = DUMP_PRIORITY,
                                   .flags = task->job->job.flags & (JOB_RESOURCE | JOB_RECRAWL),
                                   .hops = (uint8_t)(task->job->job.hops + 1),
                                   .depth = task->job->job.depth,
                                   .data = task->job->job.data};
        stage_output(task->job, &output);
        task_done(task, "redirected", "");
    }
    buf_release(&target);
}

static void
answered(struct task *task, const struct fetch_result *result)
{
    char reason[FETCH_WORDS_SIZE];
    fetch_answer_words(result->status, result->reply, reason);
    if (task->download->keeps) {
        complete(task, result);
    } else if (result->status == 304) {
        download_discard(task->download);
        task_done(task, "fetched", "not modified");
    } else if (result->status == 416) { /* what is at hand is none of it */
        download_discard(task->download);
        task_retry(task, AGAIN_MS, reason);
    } else if (result->status >= 300 && result->status < 400) {
        redirected(task, result);
    } else if (result->status >= 500 || result->status == 408 || result->status == 429) {
        task_retry(task, result->retry_after_ms, reason);
    } else {
        download_discard(task->download);
        task_done(task, result->status == 404 || result->status == 410 ? "gone" : "failed", reason);
    }
}

static void
downloaded(void *context, const struct fetch_result *result)
{
    struct task *task = context;
    struct download *download = task->download;
    task_note_end(task, result);
    if (download->refused || result->end == FETCH_CUT_LENGTH) {
        download_discard(download);
        task_done(task, "failed", "larger than datasets.dump_size");
    } else if (download->strange) {
        download_discard(download);
        task_retry(task, AGAIN_MS, download->problem);
    } else if (download->problem[0] != '\0') {
        stage_release(task->job, DISK_RETRY_MS, false, "%s", download->problem);
        task_free(task);
    } else if (result->end == FETCH_ANSWERED) {
        answered(task, result);
    } else if (result->end == FETCH_CROWDED) {
        task_turn_back(task, result->address);
    } else if (result->end == FETCH_REFUSED_ADDRESS) {
        task_done(task, "denied", result->problem);
    } else if (download->written >= PROGRESS_BYTES && download->validator[0] != '\0') {
        /* It goes on where it broke, as long as enough comes. */
        stage_release(task->job, task->fetch->retry_ms, false, "%s", result->problem);
        task_free(task);
    } else {
        if (task->job->job.attempt >= task->fetch->attempts) {
            download_discard(download);
        }
        task_retry(task, 0, result->problem);
    }
}

/* ---- beginning ---- */

static void
get_dump(struct task *task, bool conditional)
{
    struct download *download = task->download;
    const struct fetch_request request = {
        .url = task->url,
        .etag = conditional ? task->before.etag : (struct slice){0},
        .last_modified = conditional ? task->before.last_modified : (struct slice){0},
        .size = task->fetch->datasets.dump_size,
        .done = downloaded,
        .context = task,
        .sink = &download->sink,
        .range_from = download->at_hand,
        .if_range = slice_string(download->validator),
    };
    task_ask(task, &request);
}

/* The condition of a dump by FTP. */
static void
looked_at(void *context, const struct fetch_result *result)
{
    struct task *task = context;
    const bool there = result->end == FETCH_ANSWERED && result->status == 200;
    if (!there) {
        downloaded(task, result);
        return;
    }
    task_note_end(task, result);
    if (slice_equal(warc_http_header(result->response_header, "ETag"), task->before.etag)) {
        download_discard(task->download);
        task_done(task, "fetched", "not modified");
    } else {
        get_dump(task, false);
    }
}

static void
look_at_dump(struct task *task)
{
    const struct fetch_request request = {
        .url = task->url, .head = true, .done = looked_at, .context = task};
    task_ask(task, &request);
}

void
task_download(struct task *task)
{
    struct download *download = memory_new(sizeof *download);
    struct buf name;
    char folder[DOWNLOAD_PATH];
    struct reason why;
    task->download = download;
    download->task = task;
    download->file = -1;
    buf_init(&name, DOWNLOAD_PATH);
    execution_file_name(task->url, &name);
    snprintf(folder, sizeof folder, "%s/dumps", stage_directory(task->fetch->run));
    (void)file_make_folder(folder, 0777, &why); /* or what is made there fails */
    snprintf(download->path, sizeof download->path, "%.3900s/%.180s", folder, name.data);
    snprintf(download->part, sizeof download->part, "%s.part", download->path);
    snprintf(download->head, sizeof download->head, "%s.head", download->path);
    buf_release(&name);
    if (!download_open(download)) {
        stage_release(task->job, DISK_RETRY_MS, false, "%s: %s", download->part, strerror(errno));
        task_free(task);
        return;
    }
    download->sink = (struct fetch_sink){begin, take, download};
    const bool conditional =
        slice_is(task->job->document.type, DUMP_AGAIN) && download->at_hand == 0;
    if (conditional && task->before.etag.length > 0 && url_is_ftp(task->url)) {
        look_at_dump(task);
    } else {
        get_dump(task, conditional);
    }
}
