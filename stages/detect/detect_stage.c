/* quadrille-detect: finds the exact media type of fetched documents.
 *
 * A document for whose type the registry has transforms is transformed at once, while its content
 * is at hand (stages/transform/transform_document.h), and goes on to index. What is large, or comes
 * while the worker has fallen behind, goes on to transform instead; so does all where this machine
 * is to have no processes of transform, since then others are to do its work. Any other ends here,
 * its type and the evidence in the metadata, its state "unknown". Of an unknown document that was
 * another one before (a recrawl), the graph is emptied.
 *
 * Hostile input: contents, Content-Type, URIs. Our own sniffing is bounded scanning; libmagic
 * is asked in a sandboxed process, and only when nothing else decides.
 */
#include <stdlib.h>

#include "base/memory.h"
#include "base/system/clock.h"
#include "base/system/log.h"
#include "crawl/robots_tags.h"
#include "detection/detect.h"
#include "detection/media_type.h"
#include "stages/parsing/document_worker.h"
#include "stages/skeleton/content.h"
#include "stages/skeleton/stage.h"
#include "stages/skeleton/visit_schedule.h"
#include "stages/transform/transform_document.h"
#include "transforms/common/links.h"

enum {
    HEAD = DETECT_HEAD + 1,
    WINDOW = 256,
    AT_ONCE_BYTES = 256 << 10, /* of a document that is transformed at once */
    FEW = 32,                  /* documents in the worker's hands: it keeps up */
    BEHIND_MS = 500            /* for so long it had more */
};

static struct fork_server *fork_server; /* forked before anything else is known */

struct detect_stage {
    struct content *content;
    struct registry *registry;
    struct document_transforms *transforms;
    bool detects_only;   /* processes.transform = 0 */
    uint64_t kept_up_ms; /* monotonic: when the worker had few documents in hand last */
    struct detector detector;
    struct buf memory;
    bool obey_tags, honour_signals;
    struct slice token; /* of robots.txt */
};

/* A document that waits for libmagic. */
struct waiting {
    struct detect_stage *stage;
    struct detection detection;
};

static bool
is_wanted(struct detect_stage *stage, const struct detection *detection)
{
    const struct registry_subject subject = {.type = slice_string(detection->type),
                                             .root = slice_string(detection->root),
                                             .namespace = slice_string(detection->namespace)};
    return registry_match(stage->registry, &subject, NULL) > 0;
}

/* Drops what was kept of an earlier answer. */
static void
keep_nothing(struct stage_job *job, struct document *document)
{
    if (job->job.generation > 1) {
        document->removed = true;
        stage_output_next(job, STAGE_INDEX, document);
    } else if (document->visit.threshold_ms > 0) {
        schedule_visit(job, &document->visit, VISIT_NOTHING, (struct slice){0});
    }
}

/* While the worker keeps up; else the processes of transform share what is to be done. */
static bool
transforms_at_once(struct detect_stage *stage, const struct warc_record *record)
{
    const uint64_t now = clock_monotonic_ms();
    if (document_transforms_in_hand(stage->transforms) < FEW) {
        stage->kept_up_ms = now;
    }
    return !stage->detects_only && record != NULL && record->body.length <= AT_ONCE_BYTES &&
           now <= stage->kept_up_ms + BEHIND_MS;
}

/* record: the content, in the reading buffer; NULL: it is not there any more. */
static void
finish(struct detect_stage *stage, struct stage_job *job, const struct detection *detection,
       const struct warc_record *record)
{
    meta_set_text(&job->meta, META_DETECTED_TYPE, slice_string(detection->type));
    meta_set_text(&job->meta, META_DETECTED_BY, slice_string(detection->reason));
    meta_set_number(&job->meta, META_DETECTED, clock_wall_ms());
    struct document *document = &job->document;
    document->type = arena_copy(&job->arena, slice_string(detection->type));
    log_debug("detected", "uri=%.*s type=%s by=%s", SLICE_PRINT(job->job.uri), detection->type,
              detection->reason);
    if (is_wanted(stage, detection)) {
        stage_count_as(job, OUTCOME_DETECTED);
        if (transforms_at_once(stage, record)) {
            document_transforms_start(stage->transforms, job, &stage->memory, record->body);
            return;
        }
        stage_output_next(job, STAGE_TRANSFORM, document);
    } else {
        stage_count_as(job, OUTCOME_UNKNOWN_TYPE);
        meta_set_text(&job->meta, META_STATE, SLICE("unknown"));
        meta_set_text(&job->meta, META_REASON, SLICE("no transform is registered for its type"));
        keep_nothing(job, document);
        stage_yield(job, 0);
    }
    stage_done(job);
}

/* ---- what the publisher says of the document ---- */

static bool
is_page(const struct detection *detection)
{
    return slice_is(slice_string(detection->type), "text/html") ||
           slice_is(slice_string(detection->type), "application/xhtml+xml");
}

/* Notes it; true when the document has ended here, because it is not to be indexed. */
static bool
kept_out(struct detect_stage *stage, struct stage_job *job, const struct warc_record *record,
         const struct detection *detection)
{
    struct robots_tags tags;
    robots_tags_init(&tags, stage->token, job->document.fetched_ms);
    robots_tags_header(&tags, record->http_header);
    if (is_page(detection)) {
        robots_tags_page(&tags, record->body);
    }
    const bool noindex = stage->obey_tags && tags.noindex;
    const bool out = noindex || (stage->honour_signals && tags.reserved);
    job->document.nofollow = stage->obey_tags && tags.nofollow;
    meta_set_text(&job->meta, META_ROBOTS_TAGS, buf_slice(&tags.said));
    if (job->document.nofollow) {
        meta_set_number(&job->meta, META_NOFOLLOW, 1);
    } else {
        meta_clear(&job->meta, META_NOFOLLOW);
    }
    robots_tags_release(&tags);
    if (!out) {
        return false;
    }
    meta_set_text(&job->meta, META_DETECTED_TYPE, slice_string(detection->type));
    meta_set_text(&job->meta, META_DETECTED_BY, slice_string(detection->reason));
    meta_set_number(&job->meta, META_DETECTED, clock_wall_ms());
    meta_set_text(&job->meta, META_STATE, SLICE("noindex"));
    meta_set_text(&job->meta, META_REASON,
                  noindex ? SLICE("its publisher says noindex")
                          : SLICE("its publisher reserves its use: fetch.robots_signals"));
    keep_nothing(job, &job->document);
    stage_count_as(job, OUTCOME_NOINDEX);
    stage_done(job);
    return true;
}

static void
take_magic(void *context, const struct worker_answer *answer)
{
    struct stage_job *job = context;
    struct waiting *waiting = job->state;
    const bool good = answer->status == STATUS_OK;
    if (answer->status == STATUS_CANCELLED) {
        stage_release(job, 0, false, "%s", answer->why->text);
        return;
    }
    if (!good) {
        log_warning("libmagic failed", "uri=%.*s reason=%s", SLICE_PRINT(job->job.uri),
                    answer->why->text);
    }
    detect_settle(good ? answer->reply : (struct slice){0}, &waiting->detection);
    finish(waiting->stage, job, &waiting->detection, NULL);
}

/* The head is copied: the reading buffer is for the next document. */
static void
ask_magic(struct detect_stage *stage, struct stage_job *job, const struct detection *detection,
          struct slice body)
{
    body.length = body.length < HEAD ? body.length : HEAD;
    struct waiting *waiting = arena_zero(&job->arena, sizeof *waiting);
    const struct slice head = arena_copy(&job->arena, body);
    if (!waiting || !head.at) {
        struct detection settled = *detection;
        detect_settle((struct slice){0}, &settled);
        finish(stage, job, &settled, NULL);
        return;
    }
    *waiting = (struct waiting){.stage = stage, .detection = *detection};
    job->state = waiting;
    document_submit_magic(document_transforms_workers(stage->transforms), head, take_magic, job);
}

static void
detect_start(void *context, struct stage_job *job)
{
    struct detect_stage *stage = context;
    struct warc_record record;
    struct reason why;
    if (job->document.removed) {
        stage_output_next(job, STAGE_INDEX, &job->document);
        stage_done(job);
        return;
    }
    const enum status status =
        content_read(stage->content, &job->document.response, &stage->memory, &record, &why);
    if (status != STATUS_OK) {
        content_refused(job, status, &why);
        return;
    }
    /* A bomb, or damaged on its way; not if fetch has kept the beginning only. */
    if (record.body_truncated && record.truncated.length == 0) {
        stage_bury(job, "%.*s", SLICE_PRINT(record.encoding_problem));
        return;
    }
    const struct detect_input input = {
        .bytes = record.body, .content_type = job->document.content_type, .uri = job->job.uri};
    struct detection detection;
    detect(&stage->detector, &input, &detection);
    if (kept_out(stage, job, &record, &detection)) {
        return;
    }
    if (detection.undecided) {
        ask_magic(stage, job, &detection, record.body);
    } else {
        finish(stage, job, &detection, &record);
    }
}

static enum status
detect_flush(void *context, struct stage_job *const *jobs, size_t n, struct reason *why)
{
    (void)jobs, (void)n;
    struct detect_stage *stage = context;
    return document_transforms_flush(stage->transforms, why);
}

/* Returns the response that jobs want which wait for the document. A document that is gone needs
 * nothing. */
static const struct document_record *
response_of(const struct document *document)
{
    static const struct document_record nothing;
    return document->removed ? &nothing : &document->response;
}

static enum status
detect_open(struct stage_run *run, void **context, struct reason *why)
{
    struct detect_stage *stage = memory_new(sizeof *stage);
    const struct opt_set *options = stage_options(run);
    const size_t most = (size_t)opt_integer(options, "transform.input");
    *context = stage;
    stage->obey_tags = strcmp(opt_string(options, "fetch.robots_tags"), "obey") == 0;
    stage->honour_signals = strcmp(opt_string(options, "fetch.robots_signals"), "honour") == 0;
    stage->token = slice_string(opt_string(options, "fetch.robots_name"));
    stage->detects_only = opt_integer(options, "processes.transform") == 0;
    detector_init(&stage->detector);
    buf_init(&stage->memory, 3 * most + (8 << 20));
    TRY(document_registry_open(&stage->registry, options, stage_directory(run), why));
    const struct warc_limits limits = {.record = most + (2 << 20), .body = most};
    TRY(content_open(&stage->content, stage_directory(run), stage_cluster(run), &limits, why));
    content_close_files(stage->content, run);
    content_read_ahead(stage->content, response_of);
    return document_transforms_open(&stage->transforms, run, stage->content, fork_server,
                                    DOCUMENT_DETECTION, why);
}

static void
detect_close(void *context)
{
    struct detect_stage *stage = context;
    document_transforms_close(stage->transforms);
    content_close(stage->content);
    registry_free(stage->registry);
    detector_release(&stage->detector);
    buf_release(&stage->memory);
    free(stage);
}

static const struct program detect_program = {
    .name = "quadrille-detect",
    .synopsis = "--dir DIR [OPTION]...",
    .summary = "find the exact media type of fetched documents",
    .description =
        "Takes fetched documents and decides what they are: by signature, by root element and "
        "namespace, by the first statements, by Content-Type, by the URI's extension, and last "
        "by libmagic in a sandboxed process. Documents that a transform is registered for are "
        "transformed at once, or go on to transform when they are large or many; others end here "
        "with the state \"unknown\".\n\n"
        "It is started by `quadrille up`; any number may run. It stops cleanly on SIGTERM.",
    .examples = "quadrille-detect --dir DIR\n"
                "quadrille detect page.html   # one file by hand",
};

static const struct stage_spec detect_spec = {
    .stage = STAGE_DETECT,
    .program = &detect_program,
    .open = detect_open,
    .start = detect_start,
    .flush = detect_flush,
    .close = detect_close,
    .window = WINDOW,
    .batch = WINDOW,
};

int
main(int argc, char **argv)
{
    fork_server = fork_server_start(&document_worker_program);
    const int code = stage_main(&detect_spec, argc, argv);
    fork_server_close(fork_server);
    return code;
}
