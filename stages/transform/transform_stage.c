/* quadrille-transform: turns documents into canonical N-Quads.
 *
 * The content is read from the archive, handed to a sandboxed worker (stages/sandbox/worker.h), and
 * what comes back is appended to this process's own WARC file as a conversion record. This process
 * never parses a document.
 *
 * A document that is malformed and yields nothing has the state "broken", and an empty graph
 * goes on to index: what was known of an earlier version is not true any more. A document whose
 * worker dies or passes a limit is buried, with the reason and the command that repeats it.
 *
 * A document that needs others which are not at hand ends like any other, but its outputs are
 * jobs that fetch those and itself, at a later time: so a waiting document is in the queue and
 * nowhere else, and survives what the queue survives.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "base/digest.h"
#include "base/memory.h"
#include "base/system/clock.h"
#include "base/system/log.h"
#include "base/url/url.h"
#include "datasets/execution.h"
#include "datasets/rdf_description.h"
#include "rdf/canonical/minhash.h"
#include "rdf/nquads/nquads.h"
#include "stages/parsing/document_worker.h"
#include "stages/skeleton/content.h"
#include "stages/skeleton/resources.h"
#include "stages/skeleton/stage.h"

enum {
    RETRY_MS = 1000,
    WINDOW = 64, /* documents in hand, for one worker that takes them one by one */
    ROUNDS = 8,  /* of asking for more: contexts that import contexts */
    LOOK_LEAST_MS = 250,
    LOOK_MOST_MS = 15000,
    DESCRIPTION_BYTES = 8 << 20,
    DESCRIPTION_MEMORY = 64 << 20
};
#define WELL_KNOWN "/.well-known/void"

static struct fork_server *fork_server; /* forked before anything else is known */

struct transform_stage {
    struct stage_run *run;
    struct content *content;
    struct document_workers *workers;
    struct warc_writer *writer;
    const char *node;
    struct resources *resources;
    size_t input, resource_bytes;
    uint64_t wait_ms;
    bool plan; /* descriptions of datasets are told to the plans of their hosts */
};

/* One document in a worker or waiting for one. */
struct transforming {
    struct transform_stage *stage;
    struct stage_job *job;
    struct buf memory, header; /* the record, and the request that points into it */
    struct warc_record record;
    struct resource_set *set; /* NULL: it asked for nothing */
    unsigned rounds;
};

static void
free_transforming(struct transforming *transforming)
{
    buf_release(&transforming->memory);
    buf_release(&transforming->header);
    resource_set_free(transforming->set);
    free(transforming);
}

static void
set_record(struct stage_job *job, const struct warc_location *location, const char *node,
           struct document_record *record)
{
    *record = (struct document_record){.node = slice_string(node),
                                       .file = slice_string(location->file),
                                       .offset = location->offset,
                                       .length = location->length,
                                       .id = slice_string(location->id)};
    meta_set_text(&job->meta, META_CONVERSION_NODE, record->node);
    meta_set_text(&job->meta, META_CONVERSION_FILE, record->file);
    meta_set_number(&job->meta, META_CONVERSION_OFFSET, record->offset);
    meta_set_number(&job->meta, META_CONVERSION_LENGTH, record->length);
    meta_set_text(&job->meta, META_CONVERSION_RECORD_ID, record->id);
}

static void
set_resources(struct stage_job *job)
{
    const struct transforming *transforming = job->state;
    struct buf names;
    buf_init(&names, 64 << 10);
    if (transforming->set != NULL) {
        resource_set_names(transforming->set, &names);
    }
    meta_set_text(&job->meta, META_TRANSFORM_RESOURCES, buf_slice(&names));
    buf_release(&names);
}

static void
set_meta(struct stage_job *job, const struct document_outcome *outcome,
         const struct worker_answer *answer)
{
    meta_set_text(&job->meta, META_TRANSFORM, outcome->names);
    meta_set_number(&job->meta, META_TRANSFORMED, clock_wall_ms());
    meta_set_number(&job->meta, META_TRANSFORM_MS, answer->cpu_us / 1000);
    meta_set_number(&job->meta, META_QUADS, outcome->quads);
    meta_set_text(&job->meta, META_TRANSFORM_PROBLEMS, outcome->problems);
    meta_set_number(&job->meta, META_TRANSFORM_PROBLEM_COUNT, outcome->problem_count);
    meta_set_text(&job->meta, META_TRANSFORM_QUADS, outcome->counts);
    meta_set_text(&job->meta, META_TRANSFORM_REPAIRS, outcome->repairs);
    meta_set_number(&job->meta, META_TRANSFORM_MEMORY, outcome->memory);
    set_resources(job);
    meta_set_text(&job->meta, META_TRANSFORM_ADVICE, outcome->advice);
    if (outcome->state == TRANSFORM_BROKEN) {
        meta_set_text(&job->meta, META_STATE, SLICE("broken"));
        meta_set_text(&job->meta, META_REASON,
                      slice_of(outcome->problems.at, slice_find(outcome->problems, '\n')));
    }
}

/* ---- descriptions of datasets ---- */

static void
put_plan(struct stage_job *job, struct slice origin)
{
    struct meta_update update;
    struct buf data;
    const struct document told = {.type = job->job.generation > 1 ? SLICE(PLAN_AGAIN) : SLICE("")};
    meta_update_init(&update);
    meta_set_text(&update, META_DESCRIPTIONS, job->job.uri);
    stage_put_meta(job, arena_printf(&job->arena, "h%.*s", SLICE_PRINT(origin)),
                   meta_update_fields(&update));
    meta_update_release(&update);
    buf_init(&data, JOB_DATA_MAXIMUM);
    document_encode(&data, &told);
    const struct job output = {
        .key.stage = STAGE_FETCH,
        .uri = arena_printf(&job->arena, "%.*s" PLAN_FRAGMENT "=%016llx", SLICE_PRINT(origin),
                            (unsigned long long)fingerprint64(job->job.uri)),
        .lane_name = origin,
        .via = job->job.uri,
        .priority = PLAN_PRIORITY,
        .flags = JOB_RESOURCE | JOB_RECRAWL,
        .depth = job->job.depth,
        .data = buf_slice(&data),
    };
    stage_output(job, &output);
    buf_release(&data);
}

/* Has the host's plan made anew; that of the host whose /.well-known/void redirects here, too. */
static void
describe(struct stage_job *job, struct slice quads)
{
    struct description description;
    struct graph graph;
    struct arena arena;
    if (quads.length > DESCRIPTION_BYTES || !rdf_description_likely(quads)) {
        return;
    }
    arena_init(&arena, DESCRIPTION_MEMORY);
    graph_init(&graph, DESCRIPTION_MEMORY);
    const struct quad_sink sink = graph_sink(&graph);
    if (nquads_parse(quads, NULL, &sink, NULL) == STATUS_OK) {
        rdf_description_read(&graph, job->job.uri, &arena, &description);
        if (rdf_description_offers(&description)) {
            const struct slice origin = url_origin(job->job.uri), via = url_origin(job->job.via);
            put_plan(job, origin);
            if (!slice_equal(via, origin) && slice_is(url_path_query(job->job.via), WELL_KNOWN)) {
                put_plan(job, via);
            }
        }
    }
    graph_release(&graph);
    arena_release(&arena);
}

/* An archive that cannot be written is no fault of the document: the process ends and the jobs
 * come back. */
static void
archive_failed(const struct reason *why)
{
    log_error("cannot archive", "reason=%s", why->text);
    exit(EXIT_SYSTEM);
}

static void
queue_resource(void *context, struct slice key, bool again)
{
    struct stage_job *job = context;
    const struct job output = {
        .key.stage = STAGE_FETCH,
        .uri = key,
        .lane_name = url_origin(key),
        .via = job->job.uri,
        .flags = again ? JOB_RESOURCE | JOB_RECRAWL
                       : JOB_RESOURCE, /* depth 0: it is never found again by a shorter way */
    };
    stage_output(job, &output);
}

/* By which near duplicates are known. */
static void
set_minhash(struct stage_job *job, struct slice graph)
{
    struct minhash minhash;
    char text[MINHASH_TEXT] = "";
    if (minhash_of(graph, job->job.uri, &minhash)) {
        minhash_write(&minhash, text);
    }
    meta_set_text(&job->meta, META_SKETCH, slice_string(text));
}

static void
store(struct transform_stage *stage, struct stage_job *job, const struct worker_answer *answer,
      const struct document_outcome *outcome)
{
    struct document document = job->document;
    document.quads = outcome->quads;
    document.waiting_ms = 0;
    document.broken = outcome->state == TRANSFORM_BROKEN;
    const struct warc_conversion conversion = {.uri = job->job.uri,
                                               .refers_to = document.response.id,
                                               .content_type = SLICE("application/n-quads"),
                                               .body = outcome->graph,
                                               .date_ms = clock_wall_ms()};
    struct warc_location location;
    struct reason why;
    const enum status status = warc_write_conversion(stage->writer, &conversion, &location, &why);
    if (status == STATUS_FULL) {
        stage_release(job, RETRY_MS, false, "%s", why.text);
        return;
    }
    if (status != STATUS_OK) {
        archive_failed(&why);
    }
    set_record(job, &location, stage->node, &document.conversion);
    set_minhash(job, outcome->graph);
    set_meta(job, outcome, answer);
    stage_count_as(job, outcome->state == TRANSFORM_BROKEN ? OUTCOME_BROKEN : OUTCOME_TRANSFORMED);
    stage_output_next(job, STAGE_INDEX, &document);
    if (stage->plan) {
        describe(job, outcome->graph);
    }
    const struct transforming *transforming = job->state;
    if (transforming->set != NULL) {
        resource_set_old(transforming->set, queue_resource, job);
    }
    stage_done(job);
}

/* ---- documents that need others ---- */

static void submit(struct transforming *transforming);

/* Out of this process, until what is missing may be there. */
static void
wait_for_others(struct transforming *transforming, uint64_t now)
{
    struct stage_job *job = transforming->job;
    struct document document = job->document;
    if (document.waiting_ms == 0) {
        document.waiting_ms = now;
    }
    uint64_t delay = (now - document.waiting_ms) / 4;
    delay = delay < LOOK_LEAST_MS ? LOOK_LEAST_MS : delay;
    delay = delay > LOOK_MOST_MS ? LOOK_MOST_MS : delay;
    resource_set_unknown(transforming->set, queue_resource, job);
    stage_output_later(job, STAGE_TRANSFORM, &document, now + delay);
    stage_done(job);
    free_transforming(transforming);
}

static void
gathered(void *context, enum status status, const struct reason *why)
{
    struct transforming *transforming = context;
    const struct document *document = &transforming->job->document;
    const uint64_t now = clock_wall_ms(), limit = transforming->stage->wait_ms;
    if (status == STATUS_UNAVAILABLE) {
        stage_put_off(transforming->job, why);
        free_transforming(transforming);
        return;
    }
    if (status != STATUS_OK) {
        stage_release(transforming->job, RETRY_MS, false, "%s", why->text);
        free_transforming(transforming);
        return;
    }
    if (resource_set_missing(transforming->set) > 0) {
        const bool waits =
            document->waiting_ms > 0 ? now < document->waiting_ms + limit : limit > 0;
        if (waits) {
            wait_for_others(transforming, now);
            return;
        }
        resource_set_give_up(transforming->set, limit > 0 ? "it was not fetched in transform.wait"
                                                          : "transform.wait is 0");
    }
    submit(transforming);
}

/* needs point into the answer. */
static void
gather(struct transforming *transforming, struct slice needs)
{
    if (transforming->set == NULL) {
        transforming->set = resource_set_new(transforming->stage->resources);
    }
    transforming->rounds++;
    resource_set_gather(transforming->set, needs, gathered, transforming);
}

static void
take_answer(void *context, const struct worker_answer *answer)
{
    struct stage_job *job = context;
    struct transforming *transforming = job->state;
    struct transform_stage *stage = transforming->stage;
    struct document_outcome outcome;
    if (answer->status == STATUS_CANCELLED) {
        stage_release(job, 0, false, "%s", answer->why->text);
    } else if (answer->status != STATUS_OK) {
        stage_bury(job, "%s (type %.*s)", answer->why->text, SLICE_PRINT(job->document.type));
    } else if (!document_outcome_decode(answer->reply, &outcome)) {
        stage_bury(job, "the worker's answer is malformed");
    } else if (outcome.state == TRANSFORM_WAITING) {
        gather(transforming, outcome.needs);
        return;
    } else {
        store(stage, job, answer, &outcome);
    }
    free_transforming(transforming);
}

static void
submit(struct transforming *transforming)
{
    struct stage_job *job = transforming->job;
    const struct transform_resource *resources = NULL;
    const size_t count =
        transforming->set != NULL ? resource_set_list(transforming->set, &resources) : 0;
    const struct transform_request request = {.uri = job->job.uri,
                                              .type = job->document.type,
                                              .charset = job->document.charset,
                                              .link_header = job->document.link_header,
                                              .bytes = transforming->record.body,
                                              .resources = resources,
                                              .resource_count = count,
                                              .can_wait = transforming->rounds < ROUNDS};
    buf_reset(&transforming->header);
    document_submit_transform(transforming->stage->workers, &request, &transforming->header,
                              take_answer, job);
}

static void
transform_start(void *context, struct stage_job *job)
{
    struct transform_stage *stage = context;
    struct transforming *transforming = memory_zero(1, sizeof *transforming);
    struct reason why;
    transforming->stage = stage;
    transforming->job = job;
    job->state = transforming;
    buf_init(&transforming->memory, 3 * stage->input + (8 << 20));
    buf_init(&transforming->header, stage->resource_bytes + (512 << 10));
    const enum status status = content_read(stage->content, &job->document.response,
                                            &transforming->memory, &transforming->record, &why);
    if (status == STATUS_OK) {
        submit(transforming);
        return;
    }
    free_transforming(transforming);
    content_refused(job, status, &why);
}

static enum status
transform_flush(void *context, struct stage_job *const *jobs, size_t n, struct reason *why)
{
    (void)jobs, (void)n;
    struct transform_stage *stage = context;
    const enum status status = warc_sync(stage->writer, why);
    return status == STATUS_FULL ? STATUS_AGAIN : status; /* it waits for room */
}

static void
pool_ready(void *context, uint32_t events)
{
    (void)events;
    struct transform_stage *stage = context;
    struct reason why;
    if (worker_pool_process(document_workers_pool(stage->workers), &why) != STATUS_OK) {
        log_error("cannot go on", "reason=%s", why.text);
        exit(EXIT_SYSTEM); /* the jobs come back by their leases */
    }
}

static enum status
open_writer(struct transform_stage *stage, struct reason *why)
{
    struct warc_writer_options settings = {0};
    struct buf folder;
    warc_writer_options_from(&settings, stage_options(stage->run));
    settings.node = stage->node;
    settings.process = stage_worker_name(stage->run);
    buf_init(&folder, 4096);
    buf_printf(&folder, "%s/warc", stage_directory(stage->run));
    const enum status status = warc_writer_open(&stage->writer, folder.data, &settings, why);
    buf_release(&folder);
    return status;
}

static enum status
transform_open(struct stage_run *run, void **context, struct reason *why)
{
    struct transform_stage *stage = memory_zero(1, sizeof *stage);
    const struct opt_set *options = stage_options(run);
    const struct cluster *cluster = stage_cluster(run);
    *context = stage;
    stage->run = run;
    stage->node = cluster_node(cluster, cluster_self(cluster))->name;
    stage->input = (size_t)opt_integer(options, "transform.input");
    const struct warc_limits limits = {.record = stage->input + (2 << 20), .body = stage->input};
    TRY(content_open(&stage->content, stage_directory(run), cluster, &limits, why));
    content_close_files(stage->content, run);
    stage->resource_bytes = transform_resources_maximum(options);
    stage->wait_ms = opt_duration_ms(options, "transform.wait");
    stage->plan = strcmp(opt_string(options, "datasets.plan"), "no") != 0;
    stage->resources = resources_open(
        &(struct resources_settings){.metastore = stage_metastore(run),
                                     .content = stage->content,
                                     .bytes = stage->resource_bytes,
                                     .age_ms = opt_duration_ms(options, "recrawl.most") / 2});
    TRY(open_writer(stage, why));
    TRY(document_workers_open(&stage->workers, fork_server, options, stage_directory(run),
                              DOCUMENT_TRANSFORM, why));
    stage_watch(run, worker_pool_descriptor(document_workers_pool(stage->workers)), EPOLLIN,
                pool_ready, stage);
    return STATUS_OK;
}

static void
transform_close(void *context)
{
    struct transform_stage *stage = context;
    struct reason why;
    document_workers_close(stage->workers);
    resources_close(stage->resources);
    content_close(stage->content);
    if (warc_writer_close(stage->writer, &why) != STATUS_OK) {
        log_error("cannot close the archive", "reason=%s", why.text);
    }
    free(stage);
}

static const struct program transform_program = {
    .name = "quadrille-transform",
    .synopsis = "--dir DIR [OPTION]...",
    .summary = "turn documents into RDF",
    .description =
        "Takes documents of known types, turns each into the quads of one graph, the document's "
        "URI, and archives them as a WARC conversion record. Parsing runs in worker processes "
        "without files, network or privileges, and with limits of memory, time and output; a "
        "document whose worker dies is buried and nothing else is disturbed.\n\n"
        "What becomes what is said by a registry: one file comes with the program, and "
        "DIR/transforms/registry adds to it.\n\n"
        "It is started by `quadrille up`; any number may run. It stops cleanly on SIGTERM.",
    .examples = "quadrille-transform --dir DIR --set transform.memory=1G\n"
                "quadrille transform page.html   # one file by hand",
};

static const struct stage_spec transform_spec = {
    .stage = STAGE_TRANSFORM,
    .program = &transform_program,
    .open = transform_open,
    .start = transform_start,
    .flush = transform_flush,
    .close = transform_close,
    .window = WINDOW,
    .batch = WINDOW,
};

int
main(int argc, char **argv)
{
    fork_server = fork_server_start(&document_worker_program);
    const int code = stage_main(&transform_spec, argc, argv);
    fork_server_close(fork_server);
    return code;
}
