#include "stages/transform/transform_document.h"

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
#include "stages/skeleton/resources.h"
#include "stages/skeleton/services.h"

enum {
    RETRY_MS = 1000,
    ROUNDS = 8,               /* of asking for more: contexts that import contexts */
    COPIED_BYTES = 256 << 10, /* of a body; of a longer one the reading buffer is taken */
    LOOK_LEAST_MS = 250,
    LOOK_MOST_MS = 15000,
    DESCRIPTION_BYTES = 8 << 20,
    DESCRIPTION_MEMORY = 64 << 20
};
#define WELL_KNOWN "/.well-known/void"

struct document_transforms {
    struct stage_run *run;
    struct content *content;
    struct document_workers *workers;
    struct warc_writer *writer;
    const char *node;
    bool helps;  /* of another machine: conversions are kept there, */
    size_t home; /* by this metadata daemon */
    struct resources *resources;
    struct transforming *started, **started_last; /* not yet submitted: they are, together */
    size_t resource_bytes, in_hand;
    uint64_t wait_ms;
    bool plan; /* descriptions of datasets are told to the plans of their hosts */
};

/* One document in a worker or waiting for one. */
struct transforming {
    struct document_transforms *transforms;
    struct stage_job *job;
    struct buf memory, header; /* of the body; the request that points into it */
    struct slice body;
    struct transforming *next; /* that was started after this one */
    struct resource_set *set;  /* NULL: it asked for nothing */
    unsigned rounds;
    struct buf reply; /* of the worker, while the conversion is on its way to be kept elsewhere */
    uint64_t cpu_us;
};

static void
drop(struct transforming *transforming)
{
    buf_release(&transforming->memory);
    buf_release(&transforming->header);
    buf_release(&transforming->reply);
    resource_set_free(transforming->set);
    free(transforming);
}

static void
free_transforming(struct transforming *transforming)
{
    transforming->transforms->in_hand--;
    drop(transforming);
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
set_meta(struct stage_job *job, const struct document_outcome *outcome, uint64_t cpu_us)
{
    meta_set_text(&job->meta, META_TRANSFORM, outcome->names);
    meta_set_number(&job->meta, META_TRANSFORMED, clock_wall_ms());
    meta_set_number(&job->meta, META_TRANSFORM_MS, cpu_us / 1000);
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

/* Hands an unusual document on to the stage of transform, from a stage that only looked into it in
 * passing. / */
static bool
hand_on(struct stage_job *job)
{
    if (job->job.key.stage == STAGE_TRANSFORM) {
        return false;
    }
    stage_output_next(job, STAGE_TRANSFORM, &job->document);
    stage_done(job);
    return true;
}

static void
give_back(struct stage_job *job, uint64_t delay_ms, const char *reason)
{
    if (!hand_on(job)) {
        stage_release(job, delay_ms, false, "%s", reason);
    }
}

static void
refuse(struct stage_job *job, const char *reason)
{
    if (!hand_on(job)) {
        stage_bury(job, "%s (type %.*s)", reason, SLICE_PRINT(job->document.type));
    }
}

/* After the conversion has its place. */
static void
finish(struct document_transforms *transforms, struct stage_job *job,
       const struct warc_location *location, const struct document_outcome *outcome,
       uint64_t cpu_us)
{
    /* Index needs these parts. It needs nothing of the response, and every byte of a job is written
     * and logged twice. */
    const struct document *before = &job->document;
    struct document document = {.type = before->type,
                                .fetched_ms = before->fetched_ms,
                                .quads = outcome->quads,
                                .broken = outcome->state == TRANSFORM_BROKEN,
                                .nofollow = before->nofollow,
                                .mapped = before->mapped,
                                .visit = before->visit};
    set_record(job, location, transforms->node, &document.conversion);
    set_minhash(job, outcome->graph);
    set_meta(job, outcome, cpu_us);
    stage_count_as(job, document.broken ? OUTCOME_BROKEN : OUTCOME_TRANSFORMED);
    stage_output_next(job, STAGE_INDEX, &document);
    if (transforms->plan) {
        describe(job, outcome->graph);
    }
    const struct transforming *transforming = job->state;
    if (transforming->set != NULL) {
        resource_set_old(transforming->set, queue_resource, job);
    }
    stage_done(job);
}

static struct warc_conversion
conversion_of(const struct stage_job *job, const struct document_outcome *outcome)
{
    return (struct warc_conversion){.uri = job->job.uri,
                                    .refers_to = job->document.response.id,
                                    .content_type = SLICE("application/n-quads"),
                                    .body = outcome->graph,
                                    .date_ms = clock_wall_ms()};
}

static void
store(struct document_transforms *transforms, struct stage_job *job,
      const struct worker_answer *answer, const struct document_outcome *outcome)
{
    const struct warc_conversion conversion = conversion_of(job, outcome);
    struct warc_location location;
    struct reason why;
    const enum status status =
        warc_write_conversion(transforms->writer, &conversion, &location, &why);
    if (status == STATUS_FULL) {
        give_back(job, RETRY_MS, why.text);
        return;
    }
    if (status != STATUS_OK) {
        archive_failed(&why);
    }
    finish(transforms, job, &location, outcome, answer->cpu_us);
}

/* Ends with the process and cancels what other nodes were asked for, since the transforms are
 * closed by then. */
static void
end_with_process(struct transforming *transforming, const struct reason *why)
{
    stage_release(transforming->job, 0, false, "%s", why->text);
    drop(transforming);
}

/* ---- conversions that another node keeps ---- */

static void
kept(void *context, enum status status, const struct warc_location *location,
     const struct reason *why)
{
    struct transforming *transforming = context;
    struct stage_job *job = transforming->job;
    struct document_outcome outcome;
    if (status == STATUS_CANCELLED) {
        end_with_process(transforming, why);
        return;
    }
    if (status != STATUS_OK) {
        give_back(job, RETRY_MS, why->text);
    } else if (!document_outcome_decode(buf_slice(&transforming->reply), &outcome)) {
        refuse(job, "the worker's answer is malformed");
    } else {
        finish(transforming->transforms, job, location, &outcome, transforming->cpu_us);
    }
    free_transforming(transforming);
}

static void
hand_over(struct transforming *transforming, const struct worker_answer *answer,
          const struct document_outcome *outcome)
{
    struct document_transforms *transforms = transforming->transforms;
    struct stage_job *job = transforming->job;
    const struct warc_conversion conversion = conversion_of(job, outcome);
    char id[WARC_ID_SIZE];
    struct slice member;
    struct reason why;
    if (warc_pack_conversion(transforms->writer, &conversion, id, &member, &why) != STATUS_OK) {
        archive_failed(&why);
    }
    if (member.length > METASTORE_KEEP_MAXIMUM) {
        refuse(job, "it is too much RDF to be sent to the node that it is of");
        free_transforming(transforming);
        return;
    }
    buf_append_slice(&transforming->reply, answer->reply);
    transforming->cpu_us = answer->cpu_us;
    metastore_keep(stage_metastore(transforms->run), transforms->home, id, member, kept,
                   transforming);
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
    if (status == STATUS_CANCELLED) {
        end_with_process(transforming, why);
        return;
    }
    const struct document *document = &transforming->job->document;
    const uint64_t now = clock_wall_ms(), limit = transforming->transforms->wait_ms;
    if (status == STATUS_UNAVAILABLE) {
        if (!hand_on(transforming->job)) {
            stage_put_off(transforming->job, why);
        }
        free_transforming(transforming);
        return;
    }
    if (status != STATUS_OK) {
        give_back(transforming->job, RETRY_MS, why->text);
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
        transforming->set = resource_set_new(transforming->transforms->resources);
    }
    transforming->rounds++;
    resource_set_gather(transforming->set, needs, gathered, transforming);
}

static void
take_answer(void *context, const struct worker_answer *answer)
{
    struct stage_job *job = context;
    struct transforming *transforming = job->state;
    struct document_transforms *transforms = transforming->transforms;
    struct document_outcome outcome;
    if (answer->status == STATUS_CANCELLED) {
        give_back(job, 0, answer->why->text);
    } else if (answer->status != STATUS_OK) {
        refuse(job, answer->why->text);
    } else if (!document_outcome_decode(answer->reply, &outcome)) {
        refuse(job, "the worker's answer is malformed");
    } else if (outcome.state == TRANSFORM_WAITING) {
        gather(transforming, outcome.needs);
        return;
    } else if (transforms->helps) {
        hand_over(transforming, answer, &outcome);
        return;
    } else {
        store(transforms, job, answer, &outcome);
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
                                              .bytes = transforming->body,
                                              .resources = resources,
                                              .resource_count = count,
                                              .can_wait = transforming->rounds < ROUNDS};
    buf_reset(&transforming->header);
    document_submit_transform(transforming->transforms->workers, &request, &transforming->header,
                              take_answer, job);
}

static void
submit_started(void *context)
{
    struct document_transforms *transforms = context;
    while (transforms->started != NULL) {
        struct transforming *transforming = transforms->started;
        transforms->started = transforming->next;
        submit(transforming);
    }
}

void
document_transforms_start(struct document_transforms *transforms, struct stage_job *job,
                          struct buf *memory, struct slice body)
{
    struct transforming *transforming = memory_new(sizeof *transforming);
    transforming->transforms = transforms;
    transforming->job = job;
    buf_init(&transforming->header, transforms->resource_bytes + (512 << 10));
    buf_init(&transforming->memory, memory->maximum);
    buf_init(&transforming->reply, SIZE_MAX);
    if (body.length <= COPIED_BYTES && buf_reserve(&transforming->memory, body.length)) {
        buf_append_slice(&transforming->memory, body);
        transforming->body = buf_slice(&transforming->memory);
    } else {
        transforming->memory = *memory;
        transforming->body = body;
        buf_init(memory, memory->maximum);
    }
    job->state = transforming;
    transforms->in_hand++;
    if (transforms->started == NULL) {
        transforms->started_last = &transforms->started;
        stage_timer(transforms->run, 0, submit_started, transforms);
    }
    *transforms->started_last = transforming;
    transforms->started_last = &transforming->next;
}

size_t
document_transforms_in_hand(const struct document_transforms *transforms)
{
    return transforms->in_hand;
}

struct document_workers *
document_transforms_workers(struct document_transforms *transforms)
{
    return transforms->workers;
}

enum status
document_transforms_flush(struct document_transforms *transforms, struct reason *why)
{
    const enum status status = warc_sync(transforms->writer, why);
    return status == STATUS_FULL ? STATUS_AGAIN : status; /* it waits for room */
}

static void
pool_ready(void *context, uint32_t events)
{
    (void)events;
    struct document_transforms *transforms = context;
    struct reason why;
    if (worker_pool_process(document_workers_pool(transforms->workers), &why) != STATUS_OK) {
        log_error("cannot go on", "reason=%s", why.text);
        exit(EXIT_SYSTEM); /* the jobs come back by their leases */
    }
}

static enum status
open_writer(struct document_transforms *transforms, struct reason *why)
{
    struct warc_writer_options settings = {0};
    struct buf folder;
    warc_writer_options_from(&settings, stage_options(transforms->run));
    settings.node = transforms->node;
    settings.process = stage_worker_name(transforms->run);
    buf_init(&folder, 4096);
    buf_printf(&folder, "%s/warc", stage_directory(transforms->run));
    const enum status status = warc_writer_open(&transforms->writer, folder.data, &settings, why);
    buf_release(&folder);
    return status;
}

enum status
document_transforms_open(struct document_transforms **out, struct stage_run *run,
                         struct content *content, struct fork_server *fork_server, unsigned work,
                         struct reason *why)
{
    struct document_transforms *transforms = memory_new(sizeof *transforms);
    const struct opt_set *options = stage_options(run);
    const struct cluster *cluster = stage_cluster(run);
    *out = transforms;
    transforms->run = run;
    transforms->node = cluster_node(cluster, cluster_self(cluster))->name;
    transforms->helps = cluster_helper(cluster) != NULL;
    transforms->home = services_own_metastore(cluster);
    transforms->resource_bytes = transform_resources_maximum(options);
    transforms->wait_ms = opt_duration_ms(options, "transform.wait");
    transforms->plan = strcmp(opt_string(options, "datasets.plan"), "no") != 0;
    transforms->resources = resources_open(
        &(struct resources_settings){.metastore = stage_metastore(run),
                                     .content = content,
                                     .bytes = transforms->resource_bytes,
                                     .age_ms = opt_duration_ms(options, "recrawl.most") / 2});
    TRY(open_writer(transforms, why));
    TRY(document_workers_open(&transforms->workers, fork_server, options, stage_directory(run),
                              DOCUMENT_TRANSFORM | work, why));
    stage_watch(run, worker_pool_descriptor(document_workers_pool(transforms->workers)), EPOLLIN,
                pool_ready, transforms);
    return STATUS_OK;
}

void
document_transforms_close(struct document_transforms *transforms)
{
    struct reason why;
    if (transforms == NULL) {
        return;
    }
    if (transforms->workers != NULL) {
        submit_started(transforms);
        document_workers_close(transforms->workers);
    }
    resources_close(transforms->resources);
    if (transforms->writer != NULL && warc_writer_close(transforms->writer, &why) != STATUS_OK) {
        log_error("cannot close the archive", "reason=%s", why.text);
    }
    free(transforms);
}
