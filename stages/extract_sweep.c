#include "stages/extract_sweep.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/url.h"
#include "datasets/execution.h"
#include "stages/services.h"

enum { STEP_RECORDS = 500, SCAN_MS = 10000, RETRY_MS = 1000 };

struct sweep {
    struct metastore_client *metastore; /* of this node alone */
};

/* One step. */
struct step {
    struct stage_job *job;
    struct buf last; /* key of the last record that was read */
    uint32_t records;
    uint64_t documents;
};

enum status
sweep_open(struct sweep **out, struct stage_run *run, struct reason *why)
{
    struct cluster_services services;
    const size_t self = cluster_self(stage_cluster(run));
    struct buf name;
    TRY(services_metastores(stage_cluster(run), stage_directory(run), &services, why));
    struct sweep *sweep = memory_zero(1, sizeof *sweep);
    buf_init(&name, 256);
    buf_printf(&name, "%s.sweep", stage_worker_name(run));
    const struct metastore_client_options options = {
        .endpoints = services.endpoints + (services.count > 1 ? self : 0),
        .endpoint_count = 1,
        .name = name.data,
        .keys = services.keys,
    };
    const enum status status = metastore_client_open(&sweep->metastore, &options, why);
    buf_release(&name);
    cluster_services_release(&services);
    if (status != STATUS_OK) {
        free(sweep);
        return status;
    }
    *out = sweep;
    return STATUS_OK;
}

void
sweep_close(struct sweep *sweep)
{
    if (sweep != NULL) {
        metastore_client_close(sweep->metastore);
        free(sweep);
    }
}

bool
sweep_is_plan(struct slice uri)
{
    const struct slice end = SLICE(PLAN_FRAGMENT);
    return uri.length > end.length &&
           slice_equal(slice_of(uri.at + uri.length - end.length, end.length), end);
}

/* Whether anything may have been refused that came of it. */
static bool
may_lead_on(struct slice uri, struct slice record)
{
    struct slice text;
    uint64_t links;
    if (slice_find(uri, '#') < uri.length) { /* fetched for others, and not followed */
        return sweep_is_plan(uri);
    }
    return (meta_record_number(record, META_LINKS_FOUND, &links) && links > 0) ||
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

static void
go_on(const struct step *step)
{
    struct buf uri;
    buf_init(&uri, META_KEY_MAXIMUM + sizeof JOB_SWEEP_URI);
    buf_append_string(&uri, JOB_SWEEP_URI);
    buf_append_slice(&uri, buf_slice(&step->last));
    struct job output = step->job->job;
    output.uri = buf_slice(&uri);
    stage_output(step->job, &output);
    buf_release(&uri);
}

void
sweep_step(struct sweep *sweep, struct stage_job *job, uint64_t scope)
{
    const size_t begin = sizeof JOB_SWEEP_URI - 1;
    const struct slice after = slice_of(job->job.uri.at + begin, job->job.uri.length - begin);
    struct step step = {.job = job};
    struct reason why = {""};
    if (job->job.generation < scope) {
        stage_done(job);
        return;
    }
    buf_init(&step.last, META_KEY_MAXIMUM);
    const enum status status = metastore_scan(sweep->metastore, SLICE("u"), after, STEP_RECORDS,
                                              take_record, &step, SCAN_MS, &why);
    if (status != STATUS_OK) {
        stage_release(job, RETRY_MS, false, "metadata could not be read: %s", why.text);
    } else {
        log_info("scope_sweep", "version=%lu records=%u documents=%lu",
                 (unsigned long)job->job.generation, step.records, (unsigned long)step.documents);
        if (step.records == STEP_RECORDS) {
            go_on(&step);
        }
        stage_done(job);
    }
    buf_release(&step.last);
}
