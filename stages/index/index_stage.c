/* quadrille-index: owns one partition of the index, replaces documents' graphs, answers queries.
 *
 * Documents gather in a batch while the one before is told to the queue; flush commits all of
 * them in one transaction. A document that comes again after a crash finds its own quads there
 * and changes nothing. The query service runs beside this in its own threads and goes on while
 * batches are written.
 *
 * Hostile input: the N-Quads that transform wrote, read by a strict parser; queries, bounded in
 * time and memory.
 *
 * Files: DIR/index-K, DIR/tmp. Signals: SIGTERM and SIGINT end after the present batch.
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/system/clock.h"
#include "base/system/file.h"
#include "base/system/log.h"
#include "config/config.h"
#include "config/process_state.h"
#include "index/serve/index_service.h"
#include "index/write/patch.h"
#include "stages/skeleton/content.h"
#include "stages/skeleton/services.h"
#include "stages/skeleton/stage.h"
#include "stages/skeleton/visit_schedule.h"
#include "transforms/transform.h"

enum {
    TELL_MS = 60000,
    PATH_BYTES = 4096,
    SERVICE_NAME = 32,
    QUERIES_MAXIMUM = 16 << 20,
    BATCH_DOCUMENTS = 2000, /* in a transaction: large ones are faster, until memory is reached */
    GATHER_MS = 500         /* at most, for the next batch: 4 ms for each document of the last */
};

/* Holds what became of a job's document; in the job's arena. */
struct taken {
    size_t number; /* in the batch */
    bool committed;
    struct index_result result;
    struct taken *next; /* of those not yet committed */
};

struct index_stage {
    struct stage_run *run;
    struct content *content;
    struct partition *partition;
    struct service *service;
    struct links *links;
    struct index_batch *batch;
    struct taken *waiting; /* in the batch */
    enum status stopped;   /* why batches cannot be written: FULL, CORRUPT; OK: they can */
    uint64_t stopped_ms;   /* monotonic, since when */
    uint64_t told_ms;      /* when the log said so last */
    size_t batch_memory, patch_memory;
    char *folder, *scratch, *endpoint, *changes;
    struct metastore_client_options *metastore; /* for queries */
    struct buf memory;
};

/* ---- committing ---- */

/* AGAIN when the partition waits: for room on the disk, or for a damaged page to be taken care of.
 * Queries go on. */
static enum status
note_outcome(struct index_stage *stage, enum status status, const struct reason *why)
{
    const uint64_t now = clock_monotonic_ms();
    if (!partition_waits(stage->partition, status)) {
        if (status == STATUS_OK && stage->stopped != STATUS_OK) {
            log_info("writing_goes_on", "after_ms=%lu", now - stage->stopped_ms);
            process_state_goes_on(WAIT_WRITE);
            stage->stopped = STATUS_OK;
        }
        return status;
    }
    if (stage->stopped == STATUS_OK) {
        stage->stopped_ms = now;
        stage->told_ms = 0;
    }
    stage->stopped = status;
    process_state_wait(WAIT_WRITE, status, why);
    if (stage->told_ms == 0 || now - stage->told_ms >= TELL_MS) {
        stage->told_ms = now;
        log_error("writing_waits", "reason=%s do=%s", why->text,
                  status == STATUS_FULL ? "free room; it goes on by itself"
                                        : "see docs/OPERATION.md, A damaged page");
    }
    return STATUS_AGAIN;
}

static enum status
commit(struct index_stage *stage, struct reason *why)
{
    const uint64_t start = clock_monotonic_ms();
    const size_t documents = index_batch_documents(stage->batch);
    TRY(note_outcome(stage, index_batch_commit(stage->batch, why), why));
    uint64_t added = 0;
    uint64_t removed = 0;
    for (struct taken *taken = stage->waiting; taken != NULL; taken = taken->next) {
        taken->result = *index_batch_result(stage->batch, taken->number);
        taken->committed = true;
        added += taken->result.added;
        removed += taken->result.removed;
    }
    stage->waiting = NULL;
    index_batch_reset(stage->batch);
    log_debug("committed", "documents=%zu added=%lu removed=%lu ms=%lu", documents, added, removed,
              clock_monotonic_ms() - start);
    return STATUS_OK;
}

static void
tell_metadata(struct stage_job *job, const struct taken *taken)
{
    const struct index_result *result = &taken->result;
    char digest[2 * DIGEST_SHA256_SIZE + 1];
    if (result->outcome == DOCUMENT_STALE || result->outcome == DOCUMENT_SUPERSEDED) {
        meta_update_reset(&job->meta);
        return;
    }
    digest_hex(result->digest, DIGEST_SHA256_SIZE, digest);
    meta_set_number(&job->meta, META_QUADS, result->quads);
    meta_set_number(&job->meta, META_QUADS_ADDED, result->added);
    meta_set_number(&job->meta, META_QUADS_REMOVED, result->removed);
    meta_set_text(&job->meta, META_GRAPH_DIGEST, slice_string(digest));
}

static void
tell_frontier(struct stage_job *job, const struct taken *taken)
{
    if (taken->result.outcome != DOCUMENT_STALE && taken->result.outcome != DOCUMENT_SUPERSEDED &&
        !job->document.removed) {
        stage_yield(job, taken->result.added);
    }
}

static enum job_outcome
outcome_of(const struct stage_job *job, const struct index_result *result)
{
    if (result->outcome == DOCUMENT_STALE || result->outcome == DOCUMENT_SUPERSEDED) {
        return OUTCOME_STALE;
    }
    if (job->document.removed) {
        return OUTCOME_REMOVED;
    }
    return result->outcome == DOCUMENT_CHANGED ? OUTCOME_CHANGED : OUTCOME_UNCHANGED;
}

/* Schedules the next visit. For a document that a later generation replaced, that one does it. */
static void
schedule(struct stage_job *job, const struct index_result *result)
{
    const bool changed = result->outcome == DOCUMENT_CHANGED;
    if (job->document.visit.threshold_ms > 0 &&
        (changed || result->outcome == DOCUMENT_UNCHANGED)) {
        schedule_visit(job, &job->document.visit, changed ? VISIT_CHANGED : VISIT_UNCHANGED,
                       (struct slice){0});
    }
}

static enum status
index_flush(void *context, struct stage_job *const *jobs, size_t n, struct reason *why)
{
    struct index_stage *stage = context;
    for (size_t i = 0; i < n; i++) {
        struct taken *taken = jobs[i]->state;
        if (taken == NULL) {
            continue; /* released or buried */
        }
        if (!taken->committed) {
            TRY(commit(stage, why));
        }
        tell_metadata(jobs[i], taken);
        tell_frontier(jobs[i], taken);
        stage_count_as(jobs[i], outcome_of(jobs[i], &taken->result));
        schedule(jobs[i], &taken->result);
    }
    return STATUS_OK;
}

/* ---- gathering ---- */

static bool
is_rdf(struct slice type)
{
    static const char *const types[] = {"application/rdf+xml",
                                        "text/turtle",
                                        "application/n-triples",
                                        "application/n-quads",
                                        "application/trig",
                                        "application/ld+json",
                                        "text/n3"};
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        if (slice_is(type, types[i])) {
            return true;
        }
    }
    return false;
}

static const struct document_record *
conversion_of(const struct document *document)
{
    return &document->conversion;
}

/* Reads and parses the job's conversion into the batch. */
static enum status
take_document(struct index_stage *stage, struct stage_job *job, size_t *number, struct reason *why)
{
    const struct index_document document = {.uri = job->job.uri,
                                            .generation = job->job.generation,
                                            .removed = job->document.removed,
                                            .linked_data = is_rdf(job->document.type)};
    struct slice nquads = SLICE("");
    if (!document.removed) {
        struct warc_record record;
        TRY(content_read(stage->content, &job->document.conversion, &stage->memory, &record, why));
        if (record.body_truncated) {
            return status_fail(why, STATUS_CORRUPT, "%.*s", SLICE_PRINT(record.encoding_problem));
        }
        nquads = record.body;
    }
    return index_batch_add(stage->batch, &document, nquads, number, why);
}

static void
index_start(void *context, struct stage_job *job)
{
    struct index_stage *stage = context;
    struct reason why = {""};
    struct taken *taken = arena_zero(&job->arena, sizeof(*taken));
    const enum status status =
        taken == NULL ? status_fail(&why, STATUS_LIMIT, "its records need too much memory")
                      : take_document(stage, job, &taken->number, &why);
    job->state = NULL;
    if (status != STATUS_OK) {
        content_refused(job, status, &why);
        return;
    }
    taken->next = stage->waiting;
    stage->waiting = taken;
    job->state = taken;
    meta_set_number(&job->meta, META_INDEXED, clock_wall_ms());
    if (!job->document.removed) {
        if (!job->document.broken) { /* then its state and reason stay as they are */
            meta_set_text(&job->meta, META_STATE, SLICE("indexed"));
        }
        /* Extract asks the index for the links; the rest is of no use to it, and the queue writes
         * and logs every byte of a job twice. */
        const struct document rest = {.nofollow = job->document.nofollow,
                                      .mapped = job->document.mapped};
        stage_output_next(job, STAGE_EXTRACT, &rest);
    }
    stage_done(job);
    if (index_batch_bytes(stage->batch) >= stage->batch_memory) {
        const enum status committed = commit(stage, &why);
        if (committed != STATUS_OK && committed != STATUS_AGAIN) {
            log_error("commit_failed", "reason=%s", why.text);
            process_state_end(committed, &why);
            _exit(EXIT_SYSTEM); /* as a failed flush: the jobs come back by their leases */
        }
    }
}

/* ---- changes that clients ask for ---- */

static void
take_patches(void *context, uint32_t events)
{
    (void)events;
    struct index_stage *stage = context;
    struct reason why = {""};
    enum status status = stage->waiting != NULL ? commit(stage, &why) : STATUS_OK;
    if (status == STATUS_AGAIN) {
        patch_queue_refuse(service_patches(stage->service), stage->stopped, &why);
        status = STATUS_OK;
    } else if (status == STATUS_OK) {
        status = patch_queue_work(service_patches(stage->service), stage->partition,
                                  stage->patch_memory, &why);
    }
    if (status != STATUS_OK) {
        log_error("commit_failed", "reason=%s", why.text);
        process_state_end(status, &why);
        _exit(EXIT_SYSTEM); /* what was not committed comes back by its lease or its client */
    }
}

/* ---- life ---- */

static char *
path_of(struct stage_run *run, const char *name)
{
    struct buf path;
    buf_init(&path, PATH_BYTES);
    config_path(stage_directory(run), name, &path);
    char *copy = memory_string(path.data != NULL ? path.data : "");
    buf_release(&path);
    return copy;
}

static enum status
open_links(struct index_stage *stage, struct reason *why)
{
    const char *path = opt_string(stage_options(stage->run), "extract.queries");
    if (path[0] == '\0') {
        return links_open(&stage->links, slice_string(links_default), why);
    }
    struct buf text;
    buf_init(&text, QUERIES_MAXIMUM);
    enum status status = file_read(path, &text, why);
    if (status == STATUS_OK) {
        status = links_open(&stage->links, buf_slice(&text), why);
    }
    buf_release(&text);
    return status;
}

/* The address with the partition's number added to its port. False: it has none. */
static bool
add_to_port(const char *address, unsigned partition, char *endpoint, size_t size)
{
    const char *colon = strrchr(address, ':');
    if (colon == NULL || colon[1] < '0' || colon[1] > '9') {
        return false;
    }
    snprintf(endpoint, size, "%.*s:%u", (int)(colon - address), address,
             (unsigned)atoi(colon + 1) + partition);
    return true;
}

/* The address of this partition for other nodes: index= of cluster.conf with the partition's
 * number added to the port. False: other nodes cannot reach it. */
static bool
outer_endpoint(struct stage_run *run, unsigned partition, char *endpoint, size_t size)
{
    const struct cluster *cluster = stage_cluster(run);
    const char *text = cluster_node(cluster, cluster_self(cluster))->index;
    return text != NULL && add_to_port(text, partition, endpoint, size);
}

/* Sets the metadata stores in which queries find what is known of documents. */
static enum status
find_metastores(struct index_stage *stage, struct reason *why)
{
    struct cluster_services services;
    TRY(services_metastores(stage_cluster(stage->run), stage_directory(stage->run), &services,
                            why));
    const struct metastore_client_options options = {.endpoints = services.endpoints,
                                                     .endpoint_count = services.count,
                                                     .owner_of_partition =
                                                         services.owner_of_partition,
                                                     .name = "index-query",
                                                     .keys = services.keys};
    stage->metastore = metastore_client_options_copy(&options);
    cluster_services_release(&services);
    return STATUS_OK;
}

/* DIR/run/NAME-K.sock */
static char *
inner_endpoint(struct stage_run *run, const char *what, unsigned partition)
{
    char name[SERVICE_NAME];
    struct buf inner;
    snprintf(name, sizeof(name), "%s-%u", what, partition);
    buf_init(&inner, PATH_BYTES);
    config_endpoint(stage_directory(run), name, &inner);
    char *copy = memory_string(inner.data);
    buf_release(&inner);
    return copy;
}

static enum status
start_service(struct index_stage *stage, unsigned partition, struct reason *why)
{
    char outer[PATH_BYTES], outer_changes[PATH_BYTES];
    const struct opt_set *set = stage_options(stage->run);
    const char *publish = opt_string(set, "index.publish");
    stage->endpoint = inner_endpoint(stage->run, "index", partition);
    stage->changes = inner_endpoint(stage->run, "changes", partition);
    const bool published = add_to_port(publish, partition, outer_changes, sizeof(outer_changes));
    if (publish[0] != '\0' && !published) {
        return status_fail(why, STATUS_MISUSE, "index.publish has no port: %s", publish);
    }
    const char *const changes[] = {stage->changes, published ? outer_changes : NULL, NULL};
    const bool reachable = outer_endpoint(stage->run, partition, outer, sizeof(outer));
    const char *const endpoints[] = {stage->endpoint, reachable ? outer : NULL, NULL};
    struct service_options options = {
        .endpoints = endpoints,
        .keys = reachable ? cluster_keys(stage_cluster(stage->run)) : NULL,
        .partition_number = partition,
        .published = changes,
        .publish_keys = published ? cluster_keys(stage_cluster(stage->run)) : NULL,
        .scratch_folder = stage->scratch,
        .links = stage->links,
        .metastore = stage->metastore};
    service_options_from(&options, set);
    return service_start(&stage->service, stage->partition, &options, why);
}

/* Batches come and go: their memory is used again and not given back to the system after each,
 * which would have to clear it for the next. The partition gives back what is left when it has
 * nothing to do. Called when it is open: its caches came from the system, which clears a page of
 * them when it is first used. */
static void
keep_memory(void)
{
    (void)mallopt(M_MMAP_MAX, 0);
    (void)mallopt(M_TRIM_THRESHOLD, 1 << 30);
    (void)mallopt(M_TOP_PAD, 16 << 20);
}

static enum status
index_open(struct stage_run *run, void **context, struct reason *why)
{
    const struct opt_set *set = stage_options(run);
    struct index_stage *stage = memory_new(sizeof(*stage));
    const unsigned partition = stage_worker_number(run) - 1;
    char name[SERVICE_NAME];
    *context = stage;
    stage->run = run;
    stage->batch_memory = (size_t)opt_integer(set, "index.memory") / 16;
    stage->patch_memory = (size_t)opt_integer(set, "index.memory");
    buf_init(&stage->memory, SIZE_MAX / 2);
    if (partition >= (uint64_t)opt_integer(set, "index.partitions")) {
        return status_fail(why, STATUS_MISUSE,
                           "there is no index partition %u: see index.partitions", partition);
    }
    stage_set_lane(run, partition);
    const size_t most = 2 * transform_output_maximum(set);
    const struct warc_limits limits = {.record = most + (1 << 20), .body = most};
    TRY(content_open(&stage->content, stage_directory(run), stage_cluster(run), &limits, why));
    content_close_files(stage->content, run);
    content_read_ahead(stage->content, conversion_of);
    TRY(open_links(stage, why));
    snprintf(name, sizeof(name), "index-%u", partition);
    stage->folder = path_of(run, name);
    stage->scratch = path_of(run, "tmp");
    struct partition_options options;
    partition_options_from(&options, stage->folder, set);
    options.lock_wait_ms = 10000;
    TRY(partition_open(&stage->partition, &options, why));
    keep_memory();
    stage->batch = index_batch_new(stage->partition);
    TRY(find_metastores(stage, why));
    TRY(start_service(stage, partition, why));
    stage_watch(run, patch_queue_descriptor(service_patches(stage->service)), EPOLLIN, take_patches,
                stage);
    return STATUS_OK;
}

static void
index_close(void *context)
{
    struct index_stage *stage = context;
    service_stop(stage->service);
    index_batch_free(stage->batch);
    partition_close(stage->partition);
    links_close(stage->links);
    content_close(stage->content);
    buf_release(&stage->memory);
    free(stage->folder);
    free(stage->scratch);
    free(stage->endpoint);
    free(stage->changes);
    free(stage->metastore);
    free(stage);
}

static const struct program index_program = {
    .name = "quadrille-index",
    .synopsis = "[OPTION]...",
    .summary = "store quads of documents and answer queries",
    .description =
        "Takes documents that transform has turned into quads, and replaces each one's graph in "
        "its partition of the index: one transaction for many documents, touching only what "
        "changed. Answers queries, searches, dumps and verification on its own socket meanwhile.\n"
        "\n"
        "Worker number N (--number N) owns partition N-1, in the folder DIR/index-(N-1). One "
        "process at a time may own a partition. After a crash the next start recovers what was "
        "committed, and the documents of an unfinished batch come again from the queue.\n"
        "\n"
        "When the disk is full (index.disk_reserve), no batch is written until there is room; "
        "queries go on, and no documents are taken meanwhile. The same when a batch needs a page "
        "that is damaged.",
    .examples = "quadrille-index --dir crawl --number 1",
};

static const struct stage_spec index_spec = {
    .stage = STAGE_INDEX,
    .program = &index_program,
    .open = index_open,
    .start = index_start,
    .flush = index_flush,
    .close = index_close,
    .window = BATCH_DOCUMENTS,
    .batch = BATCH_DOCUMENTS,
    .rest_ms = GATHER_MS,
};

int
main(int argc, char **argv)
{
    return stage_main(&index_spec, argc, argv);
}
