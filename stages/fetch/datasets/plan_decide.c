/* Decides what the plan of a host is, and what it puts: docs/DATASETS.md, "The plan". No request,
 * no reading but of what became of the same datasets before. */
#include <stdlib.h>

#include "base/digest.h"
#include "base/system/clock.h"
#include "base/system/log.h"
#include "base/url/url.h"
#include "datasets/dataset_plan.h"
#include "datasets/dump_key.h"
#include "datasets/harvest.h"
#include "stages/fetch/datasets/planning.h"

/* Dumps and sitemaps of other hosts that the plan of one may have fetched. */
enum { FOREIGN_REQUESTS = 20, WAIT_MS = 500 };

/* ---- deciding ---- */

void
planning_free(struct planning *planning)
{
    arena_release(&planning->arena);
    free(planning->claims.descriptions);
    free(planning->readings);
    buf_release(&planning->cover);
    buf_release(&planning->authorities);
    buf_release(&planning->datasets);
    buf_release(&planning->words);
    free(planning);
}

void
planning_wait(struct planning *planning, const char *reason)
{
    stage_release(planning->task->job, WAIT_MS, false, "%s", reason);
    task_free(planning->task);
    planning_free(planning);
}

static bool
is_own(const struct planning *planning, const struct description *description)
{
    return slice_equal(url_origin(description->uri), planning->task->origin);
}

/* Adds what a dataset may speak of: its own and joined spaces, without what others own in them. */
static void
add_spaces(struct planning *planning, const struct description *description,
           struct execution *execution)
{
    const struct claims *claims = &planning->claims;
    for (size_t i = 0; i < claims->count; i++) {
        const struct description *one = claims->descriptions[i];
        if (one->rdf && one != description) {
            continue;
        }
        (void)slices_add(claims_own(claims, description, one->space) ? &execution->own
                                                                     : &execution->other,
                         one->space, &planning->arena);
    }
}

struct slice
planning_key(struct planning *planning, planning_key_of *key_of, struct slice uri,
             struct slice base)
{
    struct buf key;
    struct slice result = {0};
    buf_init(&key, URL_MAXIMUM);
    if (key_of(uri, base, &key, NULL) == STATUS_OK) {
        result = arena_copy(&planning->arena, buf_slice(&key));
    }
    buf_release(&key);
    return result;
}

static bool
has(const struct slices *slices, struct slice slice)
{
    for (size_t i = 0; i < slices->count; i++) {
        if (slice_equal(slices->items[i], slice)) {
            return true;
        }
    }
    return false;
}

/* Keys of the dataset's accesses of two kinds, each once. */
static void
add_uris(struct planning *planning, const struct dataset *dataset, const enum access_kind kinds[2],
         size_t most, struct slices *slices)
{
    planning_key_of *key_of = kinds[0] == ACCESS_DUMP ? dump_key : url_crawl_key;
    for (size_t i = 0; i < dataset->access_count && slices->count < most; i++) {
        const struct dataset_access *access = &dataset->accesses[i];
        if ((access->kind != kinds[0] && access->kind != kinds[1]) || access->refused.length > 0) {
            continue;
        }
        const struct slice key = planning_key(planning, key_of, access->uri, planning->task->url);
        if (key.length > 0 && !has(slices, key)) {
            (void)slices_add(slices, key, &planning->arena);
        }
    }
}

/* A dataset whose dumps another one has, too, is sliced with it. */
static struct execution *
execution_for(struct planning *planning, const struct slices *dumps)
{
    for (size_t i = 0; i < planning->count; i++) {
        for (size_t k = 0; k < dumps->count; k++) {
            if (has(&planning->executions[i].dumps, dumps->items[k])) {
                return &planning->executions[i];
            }
        }
    }
    struct execution *execution = &planning->executions[planning->count++];
    *execution = (struct execution){.depth = planning->task->job->job.depth + 1u};
    return execution;
}

/* Nobody says which documents the dumps hold: they are documents themselves, as far as documents
 * are fetched by their protocol. How it went, in words. */
static struct slice
put_dumps_as_pages(struct planning *planning, const struct dataset *dataset)
{
    static const enum access_kind kinds[] = {ACCESS_DUMP, ACCESS_DUMP};
    struct task *task = planning->task;
    const unsigned depth = task->job->job.depth + 1u;
    struct slices dumps = {0};
    size_t by_ftp = 0;
    add_uris(planning, dataset, kinds, EXECUTION_DUMPS, &dumps);
    for (size_t i = 0; i < dumps.count; i++) {
        if (url_is_ftp(dumps.items[i])) {
            by_ftp++;
            continue;
        }
        const struct job output = {.key.stage = STAGE_FETCH,
                                   .uri = dumps.items[i],
                                   .lane_name = url_origin(dumps.items[i]),
                                   .via = task->job->job.uri,
                                   .priority = PAGE_PRIORITY,
                                   .depth = (uint16_t)(depth < UINT16_MAX ? depth : UINT16_MAX)};
        if (scope_allows(task->fetch->scope, output.uri, depth, NULL)) {
            stage_output(task->job, &output);
        }
    }
    return by_ftp == 0
               ? SLICE("taken as documents: no void:uriSpace says what they hold")
               : SLICE("no void:uriSpace says what they hold, and by FTP no documents are fetched");
}

static bool
has_prefix(const struct dataset *dataset)
{
    for (size_t i = 0; i < dataset->access_count; i++) {
        if (dataset->accesses[i].kind == ACCESS_LINKED_DATA &&
            dataset->accesses[i].refused.length == 0) {
            return true;
        }
    }
    return false;
}

/* The first that is believed; NULL: none. */
static const struct dataset_access *
endpoint_of(const struct dataset *dataset)
{
    for (size_t i = 0; i < dataset->access_count; i++) {
        const struct dataset_access *access = &dataset->accesses[i];
        if (access->kind == ACCESS_SPARQL && access->refused.length == 0) {
            return access;
        }
    }
    return NULL;
}

/* The endpoint, and which of its graphs is meant, as the one dump of the dataset. */
static void
add_endpoint(struct planning *planning, const struct dataset *dataset, struct slices *dumps)
{
    struct buf key;
    buf_init(&key, URL_MAXIMUM);
    if (harvest_endpoint(endpoint_of(dataset)->uri, dataset->graph, planning->task->url, &key) &&
        !has(dumps, buf_slice(&key))) {
        (void)slices_add(dumps, arena_copy(&planning->arena, buf_slice(&key)), &planning->arena);
    }
    buf_release(&key);
}

static void
add_dumps(struct planning *planning, const struct dataset_plan *plan, struct slices *dumps)
{
    static const enum access_kind files[] = {ACCESS_DUMP, ACCESS_FRAGMENT_DUMP};
    if (plan->way == WAY_ENDPOINT) {
        add_endpoint(planning, plan->dataset, dumps);
    } else {
        add_uris(planning, plan->dataset, files, EXECUTION_DUMPS, dumps);
    }
}

static void
add_dump_dataset(struct planning *planning, const struct description *description,
                 const struct dataset_plan *plan)
{
    static const enum access_kind sample_kinds[] = {ACCESS_SAMPLE, ACCESS_SAMPLE};
    const struct dataset *dataset = plan->dataset;
    struct slices dumps = {0};
    bool prefixed = false;
    add_dumps(planning, plan, &dumps);
    if (dumps.count == 0) {
        return;
    }
    struct execution *execution = execution_for(planning, &dumps);
    add_dumps(planning, plan, &execution->dumps);
    add_uris(planning, dataset, sample_kinds, EXECUTION_SAMPLES, &execution->samples);
    for (size_t i = 0; i < dataset->access_count; i++) {
        const struct dataset_access *access = &dataset->accesses[i];
        prefixed |= access->kind == ACCESS_LINKED_DATA;
        if (access->kind == ACCESS_LINKED_DATA && access->refused.length == 0 &&
            execution->space_count < EXECUTION_SPACES) {
            (void)execution_add_space(execution, access->uri, access->slicing, &planning->arena);
        }
    }
    if (!prefixed) {
        (void)execution_add_space(execution, description->space, SLICING_NONE, &planning->arena);
    }
    if (execution->description.length == 0) {
        execution->dataset = dataset->uri;
        execution->label = dataset->label;
        execution->description = description->uri;
        execution->way = slice_string(plan_way_name(plan->way));
        execution->endpoint = plan->way == WAY_ENDPOINT;
        execution->graphs = execution->endpoint && slice_is(dataset->graph, "*");
        execution->why = plan->why;
        execution->authority = description->authority;
        execution->provisional = description->rdf;
        execution->owner = description->rdf ? planning->task->origin : url_origin(description->uri);
        add_spaces(planning, description, execution);
    }
}

static void
plan_description(struct planning *planning, const struct description *description)
{
    struct plan_assumptions assumptions;
    plan_assumptions_default(&assumptions);
    plan_prefer(&assumptions, planning->task->fetch->datasets.prefer);
    for (size_t i = 0; i < description->dataset_count; i++) {
        struct dataset_plan plan;
        const struct dataset *dataset = &description->datasets[i];
        claims_judge_endpoints(&planning->claims, description, &description->datasets[i]);
        plan_dataset(dataset, &assumptions, &planning->arena, &plan);
        if (plan.way == WAY_DUMP && description->rdf && !has_prefix(dataset)) {
            plan.why = put_dumps_as_pages(planning, dataset);
        } else if ((plan.way == WAY_DUMP || plan.way == WAY_ENDPOINT) &&
                   planning->count < EXECUTIONS_MAXIMUM) {
            add_dump_dataset(planning, description, &plan);
        }
        buf_printf(&planning->words, "<%.*s> %.*s: %s, %.*s\n", SLICE_PRINT(dataset->uri),
                   SLICE_PRINT(dataset->label), plan_way_name(plan.way), SLICE_PRINT(plan.why));
        for (size_t k = 0; k < dataset->access_count; k++) {
            const struct dataset_access *access = &dataset->accesses[k];
            if (access->refused.length > 0) {
                buf_printf(&planning->words, "  refused: %s %.*s: %.*s\n",
                           access_kind_name(access->kind), SLICE_PRINT(access->uri),
                           SLICE_PRINT(access->refused));
            }
        }
    }
}

/* ---- carrying out ---- */

bool
planning_may_ask(struct planning *planning, struct slice uri)
{
    if (slice_equal(url_origin(uri), planning->task->origin)) {
        return true;
    }
    return planning->foreign++ < FOREIGN_REQUESTS;
}

/* Only prefixes of this host: another host's plan covers what is there. */
static void
add_cover(struct planning *planning, const struct execution *execution, struct slice uri)
{
    for (size_t i = 0; i < execution->space_count; i++) {
        const struct slice prefix = execution->spaces[i].prefix;
        if (slice_equal(url_origin(prefix), planning->task->origin)) {
            buf_printf(&planning->cover, "%.*s %.*s\n", SLICE_PRINT(prefix), SLICE_PRINT(uri));
        }
    }
    /* Samples may wait already, as pages that a link led to. */
    for (size_t i = 0; i < execution->samples.count; i++) {
        buf_printf(&planning->cover, "=%.*s\n", SLICE_PRINT(execution->samples.items[i]));
    }
}

struct slice
planning_type(const struct planning *planning)
{
    return planning->again ? SLICE(PLAN_AGAIN) : SLICE("");
}

/* Foreign spaces that join have their own plan made anew, with this description. */
static void
tell_joined(struct planning *planning, const struct execution *execution)
{
    struct task *task = planning->task;
    struct meta_update update;
    meta_update_init(&update);
    meta_set_text(&update, META_DESCRIPTIONS, execution->description);
    for (size_t i = 0; i < execution->space_count; i++) {
        const struct slice origin = url_origin(execution->spaces[i].prefix);
        if (origin.length > 0 && !slice_equal(origin, task->origin) &&
            scope_allows(task->fetch->scope, execution->spaces[i].prefix, 0, NULL)) {
            task_put_host(task, origin, &update);
            task_put(task,
                     arena_printf(&planning->arena, "%.*s" PLAN_FRAGMENT, SLICE_PRINT(origin)),
                     PLAN_PRIORITY, planning_type(planning), (struct slice){0});
        }
    }
    meta_update_release(&update);
}

/* Puts the jobs. What was done before is done again only as far as its dumps have changed. */
static void
put_jobs(struct planning *planning, const struct execution *execution, struct slice uri, bool known)
{
    struct task *task = planning->task;
    const bool again = known && planning->again;
    if (!again) {
        for (size_t i = 0; i < execution->samples.count; i++) {
            task_put_sample(task, execution->samples.items[i], 0);
        }
        task_output(task, uri, SLICE_PRIORITY, JOB_RESOURCE, (struct slice){0});
    }
    for (size_t i = 0; i < execution->dumps.count; i++) {
        const struct slice dump = arena_printf(&planning->arena, "%.*s" DUMP_FRAGMENT,
                                               SLICE_PRINT(execution->dumps.items[i]));
        if (again) {
            task_put(task, dump, DUMP_PRIORITY,
                     execution->endpoint ? SLICE(DUMP_PAGES_AGAIN) : SLICE(DUMP_AGAIN), uri);
        } else if (execution->endpoint) {
            task_put_first(task, dump, DUMP_PRIORITY, SLICE(DUMP_PAGES), uri);
        } else {
            task_output(task, dump, DUMP_PRIORITY, JOB_RESOURCE, (struct slice){0});
        }
    }
}

/* Tells whether a dump covers the documents. After it was withdrawn they are crawled until its
 * dumps change; and what is covered provisionally is so until the dumps were sliced: a plan that is
 * made later finds that done, and nobody would end the cover. */
static bool
is_covering(const struct execution *execution, struct slice state)
{
    return !slice_is(state, "withdrawn") && !(execution->provisional && slice_is(state, "sliced"));
}

/* state: of its job, when there was one before. */
static void
put_execution(struct planning *planning, const struct execution *execution, struct slice uri,
              struct slice state)
{
    struct task *task = planning->task;
    struct meta_update update;
    struct buf text;
    const struct slice owner = execution->owner;
    uint64_t foreign = planning->foreign;
    for (size_t i = 0; i < execution->dumps.count; i++) {
        foreign += slice_equal(url_origin(execution->dumps.items[i]), owner) ? 0 : 1;
    }
    if (foreign > FOREIGN_REQUESTS) {
        buf_printf(&planning->words, "<%.*s>: not taken, more than %d of other hosts\n",
                   SLICE_PRINT(execution->dataset), FOREIGN_REQUESTS);
        return;
    }
    planning->foreign = foreign;
    if (is_covering(execution, state)) {
        add_cover(planning, execution, uri);
    }
    if (!slice_equal(owner, task->origin)) {
        return; /* its own host's plan has it done */
    }
    buf_printf(&planning->datasets, "%.*s\n", SLICE_PRINT(uri));
    buf_init(&text, LINES_BYTES);
    execution_encode(execution, &text);
    meta_update_init(&update);
    meta_set_text(&update, META_EXECUTION, buf_slice(&text));
    stage_put_meta(task->job, arena_printf(&planning->arena, "u%.*s", SLICE_PRINT(uri)),
                   meta_update_fields(&update));
    meta_update_release(&update);
    buf_release(&text);
    put_jobs(planning, execution, uri, state.length > 0);
    tell_joined(planning, execution);
}

static void
add_authorities(struct planning *planning)
{
    for (size_t i = 0; i < planning->claims.count; i++) {
        const struct description *one = planning->claims.descriptions[i];
        if (one->authority.length > 0 && is_own(planning, one)) {
            buf_printf(&planning->authorities, "%.*s %.*s\n", SLICE_PRINT(one->space),
                       SLICE_PRINT(one->authority));
        }
    }
}

static void
store_plan(struct planning *planning)
{
    struct task *task = planning->task;
    struct meta_update update;
    const struct slice cover = buf_slice(&planning->cover);
    const struct slice authorities = buf_slice(&planning->authorities);
    meta_update_init(&update);
    meta_set_text(&update, META_COVER, cover);
    meta_set_text(&update, META_AUTHORITIES, authorities);
    meta_set_text(&update, META_DATASETS, buf_slice(&planning->datasets));
    meta_set_text(&update, META_PLAN, buf_slice(&planning->words));
    task_put_host(task, task->origin, &update);
    meta_update_release(&update);
    struct host *host = hosts_find(task->fetch->hosts, task->origin, 0);
    if (host != NULL) {
        host_set_cover(host, cover, authorities, clock_wall_ms());
    }
    log_info("plan", "host=%.*s descriptions=%zu datasets=%zu covered=%d",
             SLICE_PRINT(task->origin), planning->claims.count, planning->count,
             (int)(cover.length > 0));
}

/* Takes what became of the datasets before. */
static void
remembered(void *context, enum status status, const struct slice *records, size_t n,
           const struct reason *why)
{
    struct planning *planning = context;
    if (status != STATUS_OK) {
        planning_wait(planning, why->text);
        return;
    }
    for (size_t i = 0; planning->task->fetch->datasets.execute && i < n; i++) {
        struct slice state = {0};
        (void)meta_record_text(records[i], META_STATE, &state);
        if (planning->executions[i].space_count > 0) {
            put_execution(planning, &planning->executions[i], planning->uris[i], state);
        }
    }
    add_authorities(planning);
    store_plan(planning);
    task_done(planning->task, "planned", "");
    planning_free(planning);
}

static void
remember(struct planning *planning)
{
    struct slice *keys = arena_zero(&planning->arena, planning->count * sizeof *keys);
    planning->uris = arena_zero(&planning->arena, planning->count * sizeof *keys);
    for (size_t i = 0; i < planning->count; i++) {
        const struct execution *execution = &planning->executions[i];
        const struct slice key = arena_printf(
            &planning->arena, "u%.*s" EXECUTION_FRAGMENT "%016llx", SLICE_PRINT(execution->owner),
            (unsigned long long)fingerprint64(execution->dumps.items[0]));
        keys[i] = key;
        planning->uris[i] = slice_of(key.at + 1, key.length - 1);
    }
    metastore_get(stage_metastore(planning->task->job->run), keys, planning->count, remembered,
                  planning);
}

void
planning_decide(struct planning *planning)
{
    const struct claims *claims = &planning->claims;
    size_t datasets = 0;
    for (size_t i = 0; i < claims->count; i++) {
        datasets += claims->descriptions[i]->dataset_count;
    }
    claims_judge(claims);
    datasets = datasets < EXECUTIONS_MAXIMUM ? datasets : EXECUTIONS_MAXIMUM;
    planning->executions = arena_zero(&planning->arena, (datasets + 1) * sizeof(struct execution));
    for (size_t i = 0; planning->executions != NULL && i < claims->count; i++) {
        if (i < planning->own || is_own(planning, claims->descriptions[i])) {
            plan_description(planning, claims->descriptions[i]);
        }
    }
    if (planning->count > 0) {
        remember(planning);
    } else {
        remembered(planning, STATUS_OK, NULL, 0, NULL);
    }
}
