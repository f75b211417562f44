/* quadrille-extract: asks the index for the links in a document's graph and feeds fetch.
 *
 * The queries run in the index process that holds the document (index_links). What comes back
 * is made a crawl key, filtered by scope and depth, freed of duplicates, and queued for fetch;
 * whether a URI is new is decided by the queue, in the transaction that ends this job.
 *
 * A revisit (JOB_REVISIT) is a document that was found again by a shorter way, so its links, or
 * the target of its redirect, are less deep than was thought. Those known by now are put again
 * with the smaller depth; for a document still in the pipeline the queue lowers the depth of
 * its coming extract job (queue/PROTOCOL.md), so nothing has to wait here.
 *
 * When the scope has changed, a job of its own goes through the node's documents and has each
 * considered again (stages/extract/scope_sweep.h, docs/SCOPE.md): that is a revisit at the same
 * depth.
 *
 * Hostile input: link targets. They are parsed by base/url/url.h and bounded in length and number.
 */
#include <stdlib.h>
#include <sys/epoll.h>

#include "base/digest.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/system/clock.h"
#include "base/system/log.h"
#include "base/url/url.h"
#include "crawl/scope.h"
#include "crawl/url_rules.h"
#include "datasets/execution.h"
#include "index/client/index_client.h"
#include "stages/extract/extract_stage.h"
#include "stages/extract/scope_sweep.h"
#include "stages/skeleton/services.h"
#include "stages/skeleton/stage.h"

enum {
    SCOPE_CHECK_MS = 1000,
    SILENCE_MS = 5000,
    SCOPE_WAIT_MS = 200,
    RETRY_MS = 1000,
    NOTED_PLACES = 1 << 16
};
enum {
    WINDOW = 256,      /* documents whose links the index is asked for at a time */
    LINKS_MOST = 20000 /* new URIs of a document; the rest are counted in its metadata */
};

struct extract {
    struct stage_run *run;
    struct index_client *index;
    struct scope *scope;
    struct sweep *sweep;
    struct url_rules url_rules;
    uint64_t *noted; /* fingerprints of links noted of late: NOTED_PLACES, by their low bits */
};

/* Links inherit the urgency of their document, unless that was urgent for what it describes. */
static uint8_t
priority_of_links(uint8_t priority)
{
    return priority >= SITEMAP_PRIORITY && priority < PAGE_PRIORITY ? PAGE_PRIORITY : priority;
}

static void
put_fetch_job(struct stage_job *job, struct slice key, unsigned depth, uint8_t hops)
{
    const struct job output = {
        .key.stage = STAGE_FETCH,
        .uri = key,
        .lane_name = url_origin(key),
        .via = job->job.uri,
        .priority = priority_of_links(job->job.priority),
        .depth = (uint16_t)depth,
        .hops = hops,
    };
    stage_output(job, &output);
}

/* When a link first led to it; beside what sitemaps say of the same (docs/SITEMAPS.md). */
static void
note_link(struct extract *extract, struct stage_job *job, struct slice key)
{
    const uint64_t fingerprint = fingerprint64(key);
    uint64_t *place = &extract->noted[fingerprint % NOTED_PLACES];
    struct meta_update update;
    struct buf record;
    if (*place == fingerprint) {
        return;
    }
    *place = fingerprint;
    meta_update_init(&update);
    buf_init(&record, 2 * URL_MAXIMUM);
    meta_set_number(&update, META_LINK_SEEN, clock_wall_ms());
    buf_append_char(&record, 's');
    buf_append_slice(&record, key);
    stage_put_meta(job, buf_slice(&record), meta_update_fields(&update));
    buf_release(&record);
    meta_update_release(&update);
}

static void
take_links(struct extract *extract, struct stage_job *job, const struct index_link *links, size_t n)
{
    const unsigned depth = job->job.depth + 1u;
    struct map keys = {0}; /* already taken from this document */
    struct buf key;
    size_t accepted = 0;
    size_t trapped = 0;
    buf_init(&key, 2 * URL_MAXIMUM);
    (void)map_add(&keys, digest_local(job->job.uri));
    for (size_t i = 0; i < n && accepted < LINKS_MOST; i++) {
        buf_reset(&key);
        const char *because = NULL;
        if (url_rules_key(&extract->url_rules, links[i].target, job->job.uri, &key, NULL) !=
                STATUS_OK ||
            !map_add(&keys, digest_local(buf_slice(&key)))) {
            continue;
        }
        if (scope_allows(extract->scope, buf_slice(&key), depth, &because)) {
            put_fetch_job(job, buf_slice(&key), depth, 0);
            accepted++;
            if (job->document.mapped &&
                slice_equal(url_origin(buf_slice(&key)), url_origin(job->job.uri))) {
                note_link(extract, job, buf_slice(&key));
            }
        } else if (slice_starts(slice_string(because), SLICE("traps."))) {
            trapped++;
        }
    }
    buf_release(&key);
    map_release(&keys);
    meta_set_number(&job->meta, META_EXTRACTED, clock_wall_ms());
    meta_set_number(&job->meta, META_LINKS_FOUND, n);
    meta_set_number(&job->meta, META_LINKS_ACCEPTED, accepted);
    meta_set_number(&job->meta, META_LINKS_TRAPPED, trapped);
}

static void
linked(void *context, enum status status, const struct index_link *links, size_t n,
       const struct reason *why)
{
    struct stage_job *job = context;
    if (status != STATUS_OK) {
        stage_release(job, RETRY_MS, status != STATUS_CANCELLED && status != STATUS_TIMEOUT,
                      "the index did not tell the links: %s", why->text);
        return;
    }
    take_links(job->state, job, links, n);
    stage_done(job);
}

/* The index client works when its descriptors are ready and when its clock says so. */
static void
index_tick(void *context)
{
    struct extract *extract = context;
    index_client_process(extract->index);
    const int wait = index_client_wait_ms(extract->index);
    stage_timer(extract->run, wait >= 0 ? (uint64_t)wait : SCOPE_CHECK_MS, index_tick, extract);
}

static void
ask_index(struct extract *extract, struct stage_job *job)
{
    job->state = extract;
    index_links(extract->index, job->job.uri, linked, job);
    stage_timer(extract->run, 0, index_tick, extract); /* asking eats the descriptors' edges */
}

/* The publisher does not want its links to be followed. */
static void
end_without_links(struct stage_job *job)
{
    take_links(job->state, job, NULL, 0);
    stage_done(job);
}

/* Puts a job that fetch does without asking for a document: the plan of a host's datasets, out of
 * what is archived, and what was refused of sitemaps. */
static void
put_errand(struct stage_job *job, struct slice uri)
{
    const struct job output = {
        .key.stage = STAGE_FETCH,
        .uri = uri,
        .lane_name = url_origin(uri),
        .via = job->job.via,
        .priority = PLAN_PRIORITY,
        .flags = JOB_RESOURCE | JOB_RECRAWL,
        .depth = job->job.depth,
    };
    stage_output(job, &output);
}

/* The scope has changed. */
static void
put_refused(struct extract *extract, struct stage_job *job, struct slice record)
{
    const struct slice uri = job->job.uri, origin = url_origin(uri);
    uint64_t refused = 0;
    (void)meta_record_number(record, META_SCOPE_REFUSED, &refused);
    if ((refused & REFUSED_SITEMAPS) != 0) {
        put_errand(job, arena_printf(&job->arena, "%.*s" SITEMAPS_FRAGMENT, SLICE_PRINT(origin)));
    }
    if ((refused & REFUSED_ENTRIES) != 0) {
        put_errand(job, arena_printf(&job->arena, "%.*s" LISTING_FRAGMENT, SLICE_PRINT(uri)));
    }
    const struct slice asked =
        arena_printf(&job->arena, "%.*s" WELL_KNOWN_VOID, SLICE_PRINT(origin));
    if ((refused & REFUSED_VOID) != 0 &&
        scope_allows(extract->scope, asked, job->job.depth, NULL)) {
        put_fetch_job(job, asked, job->job.depth, 0);
    }
}

static void
revisit(void *context, enum status status, const struct slice *records, size_t n,
        const struct reason *why)
{
    struct stage_job *job = context;
    struct extract *extract = job->state;
    struct slice state, target;
    uint64_t nofollow;
    if (status == STATUS_OK && n > 0 && job->job.flags & JOB_REFILTER) {
        put_refused(extract, job, records[0]);
    }
    if (status == STATUS_UNAVAILABLE) {
        stage_put_off(job, why);
    } else if (status != STATUS_OK) {
        stage_release(job, RETRY_MS, false, "metadata could not be read: %s", why->text);
    } else if (n > 0 && meta_record_text(records[0], META_STATE, &state) &&
               slice_is(state, "redirected") &&
               meta_record_text(records[0], META_REDIRECT_TO, &target)) {
        if (scope_allows(extract->scope, target, job->job.depth, NULL)) {
            put_fetch_job(job, target, job->job.depth, (uint8_t)(job->job.hops + 1));
        }
        stage_done(job);
    } else if (n > 0 && meta_record_number(records[0], META_NOFOLLOW, &nofollow)) {
        end_without_links(job);
    } else {
        ask_index(extract, job);
    }
}

static void
extract_start(void *context, struct stage_job *job)
{
    struct extract *extract = context;
    const uint64_t scope = scope_at_least(extract->scope, stage_scope(extract->run));
    job->state = extract;
    stage_set_scope(job, scope);
    if (scope < stage_scope(extract->run)) {
        stage_release(job, SCOPE_WAIT_MS, false, "the scope is being written");
        return;
    }
    if (slice_starts(job->job.uri, SLICE(JOB_SWEEP_URI))) {
        sweep_step(extract->sweep, job, scope);
        return;
    }
    if (sweep_is_errand(job->job.uri)) {
        put_errand(job, job->job.uri);
        stage_done(job);
        return;
    }
    if (job->document.nofollow) {
        end_without_links(job);
        return;
    }
    if (!(job->job.flags & JOB_REVISIT)) {
        ask_index(extract, job);
        return;
    }
    struct buf key;
    buf_init(&key, 2 * URL_MAXIMUM);
    buf_append_char(&key, 'u');
    buf_append_slice(&key, job->job.uri);
    job->state = extract;
    const struct slice keys[1] = {buf_slice(&key)};
    metastore_get(stage_metastore(extract->run), keys, 1, revisit, job);
    buf_release(&key);
}

static void
refresh_scope(void *context)
{
    struct extract *extract = context;
    scope_refresh(extract->scope);
    stage_timer(extract->run, SCOPE_CHECK_MS, refresh_scope, extract);
}

static void
index_ready(void *context, uint32_t epoll_events)
{
    (void)epoll_events;
    index_tick(context);
}

/* Tells whether all documents whose links are read here are indexed here, too. */
static bool
index_is_here(const struct cluster *cluster)
{
    bool here = true;
    for (unsigned i = 0; i < PARTITIONS; i++) {
        here &= cluster_owner_of(cluster, STAGE_EXTRACT, i) != cluster_self(cluster) ||
                cluster_owner_of(cluster, STAGE_INDEX, i) == cluster_self(cluster);
    }
    return here;
}

static enum status
open_index(struct extract *extract, struct reason *why)
{
    struct cluster_services services;
    const struct cluster *cluster = stage_cluster(extract->run);
    const char *directory = stage_directory(extract->run);
    const struct opt_set *options = stage_options(extract->run);
    TRY(index_is_here(cluster) ? services_own_indexes(directory, options, &services, why)
                               : services_all_indexes(cluster, directory, options, &services, why));
    const struct index_client_options settings = {
        .endpoints = services.endpoints,
        .count = services.count,
        .owner_of_partition = services.owner_of_partition,
        .name = stage_worker_name(extract->run),
        .keys = services.keys,
        .timeout_ms = services.keys != NULL ? SILENCE_MS : 0,
    };
    const enum status status = index_client_open(&extract->index, &settings, why);
    cluster_services_release(&services);
    return status;
}

static enum status
extract_open(struct stage_run *run, void **context, struct reason *why)
{
    struct extract *extract = memory_new(sizeof *extract);
    int descriptors[256];
    *context = extract;
    extract->run = run;
    extract->noted = memory_zero(NOTED_PLACES, sizeof *extract->noted);
    TRY(url_rules_open(&extract->url_rules, stage_options(run), why));
    TRY(scope_open(&extract->scope, stage_options(run), stage_directory(run), why));
    TRY(sweep_open(&extract->sweep, run, why));
    TRY(open_index(extract, why));
    const size_t n = index_client_descriptors(extract->index, descriptors, 256);
    for (size_t i = 0; i < n; i++) {
        stage_watch(run, descriptors[i], EPOLLIN, index_ready, extract);
    }
    refresh_scope(extract);
    index_tick(extract);
    return STATUS_OK;
}

static void
extract_close(void *context)
{
    struct extract *extract = context;
    if (extract->index != NULL) {
        index_client_close(extract->index);
    }
    sweep_close(extract->sweep);
    scope_close(extract->scope);
    url_rules_close(&extract->url_rules);
    free(extract->noted);
    free(extract);
}

static const struct program extract_program = {
    .name = "quadrille-extract",
    .synopsis = "--dir DIR [OPTION]...",
    .summary = "find new URIs in indexed documents",
    .description =
        "Takes documents that were indexed, runs the configured queries (extract.queries) over "
        "each one's graph, and puts what is new and in scope into the queue of the fetch stage.\n\n"
        "It is started by `quadrille up`; any number may run. It stops cleanly on SIGTERM.",
    .examples = "quadrille-extract --dir DIR --number 2 --set scope.depth=5",
};

static const struct stage_spec extract_spec = {
    .stage = STAGE_EXTRACT,
    .program = &extract_program,
    .open = extract_open,
    .start = extract_start,
    .close = extract_close,
    .window = WINDOW,
    .batch = WINDOW,
};

int
main(int argc, char **argv)
{
    return stage_main(&extract_spec, argc, argv);
}
