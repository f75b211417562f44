/* quadrille replay: documents out of the archive through the transforms once more.
 *
 * A replayed document is a job of the transform stage with the data that it had when it was
 * fetched, and the same generation: index then replaces its graph by what is different. So a
 * replay can be repeated or killed at any moment, and goes on as part of the queue.
 */
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/system/clock.h"
#include "base/url/url.h"
#include "cli/shared/offline_transform.h"
#include "cli/shared/progress.h"
#include "cli/shared/quad_diff.h"
#include "cli/supervisor/process_troubles.h"
#include "cli/supervisor/supervisor.h"
#include "config/wanted_jobs.h"
#include "stages/skeleton/content.h"
#include "stages/skeleton/document_meta.h"

enum {
    BATCH = 128,
    SCAN_MS = 60000,
    LOOK_MS = 300,
    RECORD_SPARE = 2 << 20 /* bytes of a record besides its body */
};

struct replay {
    const char *name, *host, *prefix;
    bool diff;
    struct cli cli;
    uint64_t began_ms; /* monotonic */
    int claim;         /* on the jobs being done */
    struct registry *registry;
    const struct transform *transform;
    struct content *content;
    struct offline_transform *hand; /* diff */
    struct queue_client *queue;
    struct buf links, memory, conversion, peek;
    /* jobs not yet put; their bytes are in a ring of buffers */
    struct job jobs[BATCH];
    struct buf bytes[BATCH];
    size_t job_count;
    uint64_t replayed, unreadable, different, added, removed;
    enum status status;
    struct reason why;
};

/* ---- which documents ---- */

/* "html/1 jsonld/2" */
static bool
did_run(struct slice names, const char *name)
{
    while (names.length > 0) {
        const size_t end = slice_find(names, ' ');
        const struct slice word = slice_of(names.at, end);
        if (slice_is(slice_of(word.at, slice_find(word, '/')), name)) {
            return true;
        }
        const size_t used = end < names.length ? end + 1 : end;
        names = slice_of(names.at + used, names.length - used);
    }
    return false;
}

static bool
is_in_chain(struct replay *replay, const struct transform_request *request)
{
    struct transform *chain[REGISTRY_CHAIN];
    const size_t n = transform_chain(replay->registry, request, &replay->peek, chain);
    for (size_t i = 0; i < n; i++) {
        if (chain[i] == replay->transform) {
            return true;
        }
    }
    return false;
}

static bool
read_body(struct replay *replay, struct slice uri, const struct document_record *where,
          struct buf *memory, struct slice *body)
{
    struct warc_record record;
    struct reason why;
    if (content_read(replay->content, where, memory, &record, &why) != STATUS_OK) {
        fprintf(stderr, "quadrille replay: %.*s: %s\n", SLICE_PRINT(uri), why.text);
        replay->unreadable++;
        return false;
    }
    *body = record.body;
    return true;
}

/* ---- what is done with them ---- */

static void
flush(struct replay *replay)
{
    if (replay->job_count > 0 && replay->status == STATUS_OK) {
        replay->status =
            cli_put_and_wait(replay->queue, replay->jobs, replay->job_count, &replay->why);
        replay->replayed += replay->job_count;
        fprintf(stderr, "%" PRIu64 " documents sent\n", replay->replayed);
    }
    replay->job_count = 0;
}

/* uri and record are the metadata store's for the moment only. */
static void
put_job(struct replay *replay, struct slice uri, struct slice record,
        const struct document *document)
{
    struct buf *bytes = &replay->bytes[replay->job_count];
    struct slice via = {0};
    uint64_t depth = 0, generation = 1;
    struct document again = *document;
    again.conversion = (struct document_record){0};
    meta_record_number(record, META_DEPTH, &depth);
    meta_record_number(record, META_GENERATION, &generation);
    meta_record_text(record, META_VIA, &via);
    buf_reset(bytes);
    document_encode(bytes, &again);
    if (bytes->length > JOB_DATA_MAXIMUM) {
        again.link_header = again.content_type = (struct slice){0};
        buf_reset(bytes);
        document_encode(bytes, &again);
    }
    const size_t data = bytes->length;
    buf_append_slice(bytes, uri);
    buf_append_slice(bytes, via);
    replay->jobs[replay->job_count++] = (struct job){
        .key.stage = STAGE_TRANSFORM,
        .uri = slice_of(bytes->data + data, uri.length),
        .via = slice_of(bytes->data + data + uri.length, via.length),
        .priority = 128,
        .depth = (uint16_t)(depth < UINT16_MAX ? depth : UINT16_MAX),
        .generation = generation,
        .data = slice_of(bytes->data, data),
    };
    if (replay->job_count == BATCH) {
        flush(replay);
    }
}

static void
show_diff(struct replay *replay, struct slice uri, const struct transform_request *request,
          const struct document_record *conversion)
{
    struct document_outcome outcome;
    struct reason why;
    struct slice before = {0};
    bool died;
    char heading[URL_MAXIMUM + 1];
    if (conversion->file.length > 0 &&
        !read_body(replay, uri, conversion, &replay->conversion, &before)) {
        return;
    }
    if (offline_transform_run(replay->hand, request, &outcome, &died, &why) != STATUS_OK) {
        fprintf(stderr, "quadrille replay: %.*s: %s\n", SLICE_PRINT(uri), why.text);
        replay->unreadable++;
        return;
    }
    snprintf(heading, sizeof heading, "%.*s", SLICE_PRINT(uri));
    const struct quad_diff diff = quad_diff_print(stdout, heading, before, outcome.graph);
    replay->replayed++;
    replay->different += diff.added + diff.removed > 0;
    replay->added += diff.added;
    replay->removed += diff.removed;
}

static bool
visit(void *context, struct slice key, struct slice record)
{
    struct replay *replay = context;
    const struct slice uri = slice_of(key.at + 1, key.length - 1);
    struct document document;
    struct slice names = {0}, body = {0};
    if (slice_find(uri, '#') < uri.length || !document_of_meta(record, &replay->links, &document)) {
        return true;
    }
    meta_record_text(record, META_TRANSFORM, &names);
    const bool ran = did_run(names, replay->name);
    if (!ran && (replay->transform == NULL ||
                 !registry_may_match(replay->registry, replay->transform, document.type))) {
        return true;
    }
    if ((!ran || replay->diff) &&
        !read_body(replay, uri, &document.response, &replay->memory, &body)) {
        return true;
    }
    const struct transform_request request = {.uri = uri,
                                              .type = document.type,
                                              .charset = document.charset,
                                              .link_header = document.link_header,
                                              .bytes = body};
    if (!ran && !is_in_chain(replay, &request)) {
        return true;
    }
    if (replay->diff) {
        show_diff(replay, uri, &request, &document.conversion);
    } else {
        put_job(replay, uri, record, &document);
    }
    return replay->status == STATUS_OK;
}

/* ---- the command ---- */

static enum status
scan(struct replay *replay, struct metastore_client *metastore, const char *format,
     const char *text, struct reason *why)
{
    struct buf prefix;
    buf_init(&prefix, 2 * URL_MAXIMUM);
    buf_printf(&prefix, "u%s%s", format, text);
    const enum status status = metastore_scan(metastore, buf_slice(&prefix), (struct slice){0},
                                              UINT32_MAX, visit, replay, SCAN_MS, why);
    buf_release(&prefix);
    if (status == STATUS_OK && replay->status != STATUS_OK) {
        *why = replay->why;
        return replay->status;
    }
    return status;
}

static enum status
scan_all(struct replay *replay, struct reason *why)
{
    struct metastore_client *metastore;
    enum status status = STATUS_OK;
    TRY(cli_metastore(&replay->cli, &metastore, why));
    if (replay->host != NULL) {
        struct buf host;
        buf_init(&host, URL_MAXIMUM);
        buf_printf(&host, "%s/", replay->host);
        status = scan(replay, metastore, "http://", host.data, why);
        if (status == STATUS_OK) {
            status = scan(replay, metastore, "https://", host.data, why);
        }
        buf_release(&host);
    } else {
        status = scan(replay, metastore, "", replay->prefix != NULL ? replay->prefix : "", why);
    }
    flush(replay);
    metastore_client_close(metastore);
    if (status == STATUS_OK && replay->status != STATUS_OK) {
        *why = replay->why;
        status = replay->status;
    }
    return status;
}

/* When the processes are ours: until nothing of the replay waits. Who waits or fails meanwhile is
 * told; where one cannot start, or cannot write what is damaged, there is no end. */
static enum status
wait_for_end(struct replay *replay, struct reason *why)
{
    struct progress progress;
    struct process_troubles_told told = {.began_ms = replay->began_ms};
    uint64_t waiting = 1;
    enum status status = progress_open(&progress, &replay->cli, why);
    while (status == STATUS_OK && waiting > 0) {
        (void)poll(NULL, 0, LOOK_MS);
        process_troubles_tell(&told, replay->cli.directory, "quadrille replay", stderr);
        status = process_troubles_end(replay->cli.directory, replay->began_ms, true, why);
        status = status == STATUS_OK ? progress_take(&progress, CLI_ANSWER_MS, why) : status;
        waiting = progress_waiting(&progress, STAGE_TRANSFORM) +
                  progress_waiting(&progress, STAGE_INDEX) +
                  progress_waiting(&progress, STAGE_EXTRACT);
    }
    progress_close(&progress);
    return status;
}

static enum status
show(struct replay *replay, struct reason *why)
{
    const struct offline_settings settings = {
        .options = replay->cli.options, .directory = replay->cli.directory, .cli = &replay->cli};
    TRY(offline_transform_open(&replay->hand, &settings, why));
    TRY(cli_serve(&replay->cli, "metastore", why));
    TRY(scan_all(replay, why));
    printf("# %" PRIu64 " documents, %" PRIu64 " would change: %" PRIu64 " quads less, %" PRIu64
           " more\n",
           replay->replayed, replay->different, replay->removed, replay->added);
    return STATUS_OK;
}

static enum status
send(struct replay *replay, bool ours, struct reason *why)
{
    if (ours) {
        process_troubles_end_waits(replay->cli.directory, true);
        TRY(wanted_jobs_claim(replay->cli.directory, replay->cli.assignments, &replay->claim, why));
    }
    TRY(cli_serve(&replay->cli, "metastore,queue,transform,index,extract", why));
    TRY(cli_queue(&replay->cli, &replay->queue, why));
    TRY(scan_all(replay, why));
    if (ours) {
        TRY(wait_for_end(replay, why));
    }
    printf("%" PRIu64 " documents %s\n", replay->replayed,
           ours ? "replayed" : "sent to the transform stage; quadrille status shows how far it is");
    return STATUS_OK;
}

static enum status
run(struct replay *replay, bool ours, struct reason *why)
{
    const size_t most = (size_t)opt_integer(replay->cli.options, "transform.input");
    const size_t output = transform_output_maximum(replay->cli.options);
    const size_t body = most > output ? most : output;
    const struct warc_limits limits = {.record = body + RECORD_SPARE, .body = body};
    buf_init(&replay->links, LINK_HEADER_MAXIMUM);
    buf_init(&replay->memory, 3 * body + (8 << 20));
    buf_init(&replay->conversion, 3 * body + (8 << 20));
    buf_init(&replay->peek, 64 << 10);
    for (size_t i = 0; i < BATCH; i++) {
        buf_init(&replay->bytes[i], JOB_DATA_MAXIMUM + 4 * URL_MAXIMUM + LINK_HEADER_MAXIMUM);
    }
    TRY(document_registry_open(&replay->registry, replay->cli.options, replay->cli.directory, why));
    replay->transform = registry_find(replay->registry, slice_string(replay->name));
    if (replay->transform == NULL) {
        fprintf(stderr,
                "quadrille replay: the registry has no transform %s any more; documents "
                "that it once ran on are meant\n",
                replay->name);
    }
    TRY(content_open(&replay->content, replay->cli.directory, replay->cli.cluster, &limits, why));
    TRY(replay->diff ? show(replay, why) : send(replay, ours, why));
    if (replay->unreadable > 0) {
        fprintf(stderr, "quadrille replay: %" PRIu64 " documents could not be read\n",
                replay->unreadable);
    }
    return STATUS_OK;
}

static void
release(struct replay *replay)
{
    offline_transform_close(replay->hand);
    queue_client_close(replay->queue);
    content_close(replay->content);
    registry_free(replay->registry);
    buf_release(&replay->links);
    buf_release(&replay->memory);
    buf_release(&replay->conversion);
    buf_release(&replay->peek);
    for (size_t i = 0; i < BATCH; i++) {
        buf_release(&replay->bytes[i]);
    }
    if (replay->claim > 0) {
        close(replay->claim);
    }
    cli_close(&replay->cli);
}

static enum status
start(struct replay *replay, struct cli_common *common, struct reason *why)
{
    TRY(cli_check_directory(common->directory, why));
    const bool ours = supervisor_pid(common->directory) == 0;
    if (ours && !replay->diff && common->assignments.count < FLAG_LIST_MAXIMUM) {
        /* Nobody fetches, so nothing is worth waiting for. */
        common->assignments.items[common->assignments.count++] = "transform.wait=0";
    }
    replay->began_ms = clock_monotonic_ms();
    TRY(cli_open(&replay->cli, common, why));
    return run(replay, ours, why);
}

int
command_replay(int argc, char **argv)
{
    struct cli_common common = {0};
    struct replay *replay = memory_new(sizeof *replay);
    const struct flag flags[] = {
        CLI_COMMON_FLAGS(common),
        {"transform", 't', FLAG_STRING, "NAME", &replay->name,
         "Documents that this transform is for now, or that it ran on."},
        {"diff", 0, FLAG_SWITCH, NULL, &replay->diff,
         "Changes nothing; prints which quads would go (-) and come (+), per document."},
        {"host", 0, FLAG_STRING, "HOST", &replay->host, "Only documents of this host."},
        {"prefix", 0, FLAG_STRING, "URI", &replay->prefix, "Only documents whose URI begins so."},
        {0},
    };
    const struct program program = {
        .name = "quadrille replay",
        .synopsis = "--dir DIR --transform NAME [--diff] [OPTION]...",
        .summary = "transform archived documents again, without fetching",
        .description =
            "After a transform was changed, added or switched off: takes the documents concerned "
            "out of the archive, all their transforms run again, and the index gets the new "
            "graphs. It may be stopped and repeated at any time. While `quadrille up` runs the "
            "documents go into its queue; else the processes needed are started, all but fetch, "
            "until the work is done. --diff compares with what the last run archived.",
        .examples = "quadrille replay --dir DIR --transform html --diff\n"
                    "quadrille replay --dir DIR --transform html --host example.org\n"
                    "quadrille replay --dir DIR --transform turtle --prefix http://example.org/",
        .flags = flags,
    };
    struct reason why = {""};
    enum status status = cli_parse(&program, argc, argv, &why);
    if (status == STATUS_OK && replay->name == NULL) {
        status = status_fail(&why, STATUS_MISUSE, "--transform NAME is needed");
    }
    if (status == STATUS_OK && replay->host != NULL && replay->prefix != NULL) {
        status = status_fail(&why, STATUS_MISUSE, "--host or --prefix, not both");
    }
    if (status == STATUS_OK) {
        status = start(replay, &common, &why);
        release(replay);
    }
    free(replay);
    return cli_end(&program, status, &why);
}
