#include "stages/extract/scope_sweep.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/system/log.h"
#include "base/url/url.h"
#include "config/config.h"
#include "datasets/execution.h"
#include "metastore/metastore_client.h"

enum { STEP_RECORDS = 500, SCAN_MS = 10000, RETRY_MS = 1000, PATH_BYTES = 4096 };

/* Metadata stores: this node's own first. */
struct sweep {
    struct metastore_client **stores;
    size_t count;
};

/* One step. */
struct step {
    struct stage_job *job;
    size_t store;
    struct buf last; /* key of the last record that was read */
    uint32_t records;
    uint64_t documents;
};

/* ---- the stores ---- */

static bool
serves_extract(const struct cluster_node *node)
{
    return (node->stages & 1U << STAGE_EXTRACT) != 0;
}

/* Stores of nodes without extract, which sweep nothing, are the first one's that has it. */
static bool
has_strangers(const struct cluster *cluster)
{
    size_t first = 0;
    while (!serves_extract(cluster_node(cluster, first))) {
        first++;
    }
    return first == cluster_self(cluster);
}

static enum status
add_store(struct sweep *sweep, struct stage_run *run, const char *endpoint, struct reason *why)
{
    struct buf name;
    buf_init(&name, 256);
    buf_printf(&name, "%s.sweep", stage_worker_name(run));
    const struct metastore_client_options options = {
        .endpoints = &endpoint,
        .endpoint_count = 1,
        .name = name.data,
        .keys = cluster_keys(stage_cluster(run)),
    };
    sweep->stores = memory_resize(sweep->stores, sweep->count + 1, sizeof *sweep->stores);
    const enum status status = metastore_client_open(&sweep->stores[sweep->count], &options, why);
    sweep->count += status == STATUS_OK;
    buf_release(&name);
    return status;
}

static enum status
add_stores(struct sweep *sweep, struct stage_run *run, struct reason *why)
{
    const struct cluster *cluster = stage_cluster(run);
    const size_t self = cluster_self(cluster), n = cluster_node_count(cluster);
    enum status status = STATUS_OK;
    struct buf own;
    buf_init(&own, PATH_BYTES);
    config_endpoint(stage_directory(run), "metastore", &own);
    if (n == 1 || cluster_node(cluster, self)->metastore != NULL) {
        status = add_store(sweep, run, own.data, why);
    }
    for (size_t i = 0; i < n && status == STATUS_OK && has_strangers(cluster); i++) {
        const struct cluster_node *node = cluster_node(cluster, i);
        if (!serves_extract(node) && node->metastore != NULL) {
            status = add_store(sweep, run, node->metastore, why);
        }
    }
    buf_release(&own);
    return status;
}

enum status
sweep_open(struct sweep **out, struct stage_run *run, struct reason *why)
{
    struct sweep *sweep = memory_new(sizeof *sweep);
    const enum status status = add_stores(sweep, run, why);
    if (status != STATUS_OK) {
        sweep_close(sweep);
        return status;
    }
    *out = sweep;
    return STATUS_OK;
}

void
sweep_close(struct sweep *sweep)
{
    if (sweep == NULL) {
        return;
    }
    for (size_t i = 0; i < sweep->count; i++) {
        metastore_client_close(sweep->stores[i]);
    }
    free(sweep->stores);
    free(sweep);
}

/* ---- steps ---- */

static bool
ends_with(struct slice uri, struct slice end)
{
    return uri.length > end.length &&
           slice_equal(slice_of(uri.at + uri.length - end.length, end.length), end);
}

bool
sweep_is_errand(struct slice uri)
{
    return ends_with(uri, SLICE(PLAN_FRAGMENT)) || ends_with(uri, SLICE(SITEMAPS_FRAGMENT)) ||
           ends_with(uri, SLICE(LISTING_FRAGMENT));
}

/* Tells whether anything may have been refused that came of it. */
static bool
may_lead_on(struct slice uri, struct slice record)
{
    struct slice text;
    uint64_t links, refused;
    if (slice_find(uri, '#') < uri.length) { /* fetched for others, and not followed */
        return ends_with(uri, SLICE(PLAN_FRAGMENT));
    }
    return meta_record_number(record, META_SCOPE_REFUSED, &refused) ||
           (meta_record_number(record, META_LINKS_FOUND, &links) && links > 0) ||
           (meta_record_text(record, META_STATE, &text) && slice_is(text, "redirected"));
}

static bool
take_record(void *context, struct slice key, struct slice record)
{
    struct step *step = context;
    const struct slice uri = slice_of(key.at + 1, key.length - 1);
    uint64_t depth = 0;
    buf_reset(&step->last);
    buf_append_slice(&step->last, key);
    step->records++;
    if (may_lead_on(uri, record)) {
        (void)meta_record_number(record, META_DEPTH, &depth);
        const struct job output = {
            .key.stage = STAGE_FETCH,
            .uri = uri,
            .lane_name = url_origin(uri),
            .priority = step->job->job.priority,
            .flags = JOB_REFILTER,
            .depth = (uint16_t)(depth < UINT16_MAX ? depth : UINT16_MAX),
        };
        stage_output(step->job, &output);
        step->documents++;
    }
    return true;
}

/* Says where the sweep goes on: the number of the store, unless that is the first, and the key
 * behind which. */
static void
put_next_step(const struct step *step, size_t store, struct slice after)
{
    struct buf uri;
    buf_init(&uri, META_KEY_MAXIMUM + sizeof JOB_SWEEP_URI + 24);
    buf_append_string(&uri, JOB_SWEEP_URI);
    if (store > 0) {
        buf_printf(&uri, "%zu:", store);
    }
    buf_append_slice(&uri, after);
    struct job output = step->job->job;
    output.uri = buf_slice(&uri);
    stage_output(step->job, &output);
    buf_release(&uri);
}

/* Keys begin with a letter. */
static size_t
read_store(struct slice *place)
{
    size_t store = 0, at = 0;
    while (at < place->length && place->at[at] >= '0' && place->at[at] <= '9') {
        store = 10 * store + (size_t)(place->at[at++] - '0');
    }
    at += at > 0 && at < place->length;
    *place = slice_of(place->at + at, place->length - at);
    return store;
}

void
sweep_step(struct sweep *sweep, struct stage_job *job, uint64_t scope)
{
    const size_t begin = sizeof JOB_SWEEP_URI - 1;
    struct slice after = slice_of(job->job.uri.at + begin, job->job.uri.length - begin);
    struct step step = {.job = job, .store = read_store(&after)};
    struct reason why = {""};
    if (job->job.generation < scope || step.store >= sweep->count) {
        stage_done(job);
        return;
    }
    buf_init(&step.last, META_KEY_MAXIMUM);
    const enum status status = metastore_scan(sweep->stores[step.store], SLICE("u"), after,
                                              STEP_RECORDS, take_record, &step, SCAN_MS, &why);
    if (status != STATUS_OK) {
        stage_release(job, RETRY_MS, false, "metadata could not be read: %s", why.text);
    } else {
        log_info("scope_sweep", "version=%lu records=%u documents=%lu",
                 (unsigned long)job->job.generation, step.records, (unsigned long)step.documents);
        if (step.records == STEP_RECORDS) {
            put_next_step(&step, step.store, buf_slice(&step.last));
        } else if (step.store + 1 < sweep->count) {
            put_next_step(&step, step.store + 1, (struct slice){"", 0});
        }
        stage_done(job);
    }
    buf_release(&step.last);
}
