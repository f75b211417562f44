/* A host's plan: docs/DATASETS.md. The descriptions are read from the archive, where fetching the
 * sitemaps has left them; those of other hosts that sub and parent links name are fetched first,
 * as resources. The plan asks nobody anything itself.
 *
 *   /#plan         the first look: fetches what joins, or plans at once
 *   /#plan=joined  waits until that has come, then plans
 *
 * Hostile input: sitemaps, parsed as when they were fetched. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/digest.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/url.h"
#include "datasets/claims.h"
#include "datasets/plan.h"
#include "datasets/semantic_sitemap.h"
#include "stages/fetch_task.h"

enum {
    WAIT_MS = 500,
    RECORD_BYTES = 128 << 20,
    DESCRIPTIONS_MAXIMUM = 64,
    EXECUTIONS_MAXIMUM = 1000,
    LINES_BYTES = 512 << 10,
    PLAN_MEMORY = 256 << 20
};
#define JOINED_PLAN PLAN_FRAGMENT "=joined"
#define SAMPLE_TYPE "sample"

struct planning {
    struct task *task;
    struct arena arena;
    struct claims claims;
    struct slices sought; /* URIs of descriptions, then of those that join */
    size_t own;           /* how many are the host's own */
    bool joined;          /* the second look */
    bool again;           /* known dumps are asked for again */
    uint64_t foreign;     /* requests to others that were caused */
    struct execution *executions;
    struct slice *uris; /* of their jobs */
    size_t count;
    struct buf cover, authorities, datasets, words;
};

enum task_kind
task_kind(struct slice uri)
{
    const struct slice fragment =
        slice_of(uri.at + slice_find(uri, '#'), uri.length - slice_find(uri, '#'));
    return slice_is(fragment, DUMP_FRAGMENT)                                       ? TASK_DUMP
           : slice_starts(fragment, slice_string(strchr(PLAN_FRAGMENT, '#')))      ? TASK_PLAN
           : slice_starts(fragment, slice_string(strchr(EXECUTION_FRAGMENT, '#'))) ? TASK_SLICE
                                                                                   : TASK_PAGE;
}

bool
task_is_sample(const struct task *task)
{
    return slice_is(task->job->document.type, SAMPLE_TYPE);
}

static bool
says_something(const struct description *description)
{
    return description->dataset_count > 0 || description->sub_count > 0 ||
           description->parent_count > 0 || description->authority.length > 0;
}

static void
put_host(struct task *task, struct slice origin, const struct meta_update *update)
{
    struct buf key;
    buf_init(&key, URL_MAXIMUM + 1);
    buf_append_char(&key, 'h');
    buf_append_slice(&key, origin);
    stage_put_meta(task->job, buf_slice(&key), meta_update_fields(update));
    buf_release(&key);
}

void
task_describe(struct task *task, struct slice sitemap)
{
    struct arena arena;
    struct description *description;
    if (!semantic_sitemap_likely(sitemap)) {
        return;
    }
    arena_init(&arena, PLAN_MEMORY);
    description = arena_zero(&arena, sizeof *description);
    if (semantic_sitemap_parse(sitemap, task->url, &arena, description, NULL) == STATUS_OK &&
        says_something(description)) {
        struct meta_update update;
        meta_update_init(&update);
        meta_set_text(&update, META_DESCRIPTIONS, task->url);
        put_host(task, task->origin, &update);
        meta_update_release(&update);
        task_put_plan(task);
    }
    arena_release(&arena);
}

void
task_put_plan(struct task *task)
{
    const struct slice plan =
        arena_printf(&task->job->arena, "%.*s" PLAN_FRAGMENT, SLICE_PRINT(task->origin));
    task_put(task, plan, PLAN_PRIORITY, task->again ? SLICE(PLAN_AGAIN) : SLICE(""),
             (struct slice){0});
}

/* ---- ends ---- */

static void
planning_free(struct planning *planning)
{
    arena_release(&planning->arena);
    free(planning->claims.descriptions);
    buf_release(&planning->cover);
    buf_release(&planning->authorities);
    buf_release(&planning->datasets);
    buf_release(&planning->words);
    free(planning);
}

static void
wait_longer(struct planning *planning, const char *reason)
{
    stage_release(planning->task->job, WAIT_MS, false, "%s", reason);
    task_free(planning->task);
    planning_free(planning);
}

/* ---- deciding ---- */

static bool
is_own(const struct planning *planning, const struct description *description)
{
    return slice_equal(url_origin(description->uri), planning->task->origin);
}

/* What a dataset may speak of: its own and joined spaces, without what others own in them. */
static void
add_spaces(struct planning *planning, const struct description *description,
           struct execution *execution)
{
    const struct claims *claims = &planning->claims;
    for (size_t i = 0; i < claims->count; i++) {
        const struct description *one = claims->descriptions[i];
        (void)slices_add(claims_own(claims, description, one->space) ? &execution->own
                                                                     : &execution->other,
                         one->space, &planning->arena);
    }
}

static struct slice
key_of(struct planning *planning, struct slice uri, struct slice base)
{
    struct buf key;
    struct slice result = {0};
    buf_init(&key, URL_MAXIMUM);
    if (url_crawl_key(uri, base, &key, NULL) == STATUS_OK) {
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

/* Crawl keys of the dataset's accesses of two kinds, each once. */
static void
add_uris(struct planning *planning, const struct dataset *dataset, const enum access_kind kinds[2],
         size_t most, struct slices *slices)
{
    for (size_t i = 0; i < dataset->access_count && slices->count < most; i++) {
        const struct dataset_access *access = &dataset->accesses[i];
        if ((access->kind != kinds[0] && access->kind != kinds[1]) || access->refused.length > 0) {
            continue;
        }
        const struct slice key = key_of(planning, access->uri, planning->task->url);
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

static void
add_dump_dataset(struct planning *planning, const struct description *description,
                 const struct dataset_plan *plan)
{
    static const enum access_kind dump_kinds[] = {ACCESS_DUMP, ACCESS_FRAGMENT_DUMP};
    static const enum access_kind sample_kinds[] = {ACCESS_SAMPLE, ACCESS_SAMPLE};
    const struct dataset *dataset = plan->dataset;
    struct slices dumps = {0};
    bool prefixed = false;
    add_uris(planning, dataset, dump_kinds, EXECUTION_DUMPS, &dumps);
    struct execution *execution = execution_for(planning, &dumps);
    add_uris(planning, dataset, dump_kinds, EXECUTION_DUMPS, &execution->dumps);
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
        execution->way = SLICE("dump");
        execution->why = plan->why;
        execution->authority = description->authority;
        add_spaces(planning, description, execution);
    }
}

static void
plan_description(struct planning *planning, const struct description *description)
{
    struct plan_assumptions assumptions;
    plan_assumptions_default(&assumptions);
    for (size_t i = 0; i < description->dataset_count; i++) {
        struct dataset_plan plan;
        const struct dataset *dataset = &description->datasets[i];
        plan_dataset(dataset, &assumptions, &planning->arena, &plan);
        if (plan.way == WAY_DUMP && planning->count < EXECUTIONS_MAXIMUM) {
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

static bool
may_ask(struct planning *planning, struct slice uri)
{
    if (slice_equal(url_origin(uri), planning->task->origin)) {
        return true;
    }
    return planning->foreign++ < planning->task->fetch->foreign_requests;
}

void
task_put_sample(struct task *task, struct slice uri, uint8_t flags)
{
    struct buf data;
    const struct document document = {.type = SLICE(SAMPLE_TYPE)};
    buf_init(&data, JOB_DATA_MAXIMUM);
    document_encode(&data, &document);
    task_output(task, uri, SAMPLE_PRIORITY, flags, buf_slice(&data));
    buf_release(&data);
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
}

static struct slice
plan_type(const struct planning *planning)
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
            put_host(task, origin, &update);
            task_put(task,
                     arena_printf(&planning->arena, "%.*s" PLAN_FRAGMENT, SLICE_PRINT(origin)),
                     PLAN_PRIORITY, plan_type(planning), (struct slice){0});
        }
    }
    meta_update_release(&update);
}

/* What was done before is done again only as far as its dumps have changed. */
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
            task_put(task, dump, DUMP_PRIORITY, SLICE(DUMP_AGAIN), uri);
        } else {
            task_output(task, dump, DUMP_PRIORITY, JOB_RESOURCE, (struct slice){0});
        }
    }
}

/* state: of its job, when there was one before. */
static void
put_execution(struct planning *planning, const struct execution *execution, struct slice uri,
              struct slice state)
{
    struct task *task = planning->task;
    struct meta_update update;
    struct buf text;
    const struct slice owner = url_origin(execution->description);
    uint64_t foreign = planning->foreign;
    for (size_t i = 0; i < execution->dumps.count; i++) {
        foreign += slice_equal(url_origin(execution->dumps.items[i]), owner) ? 0 : 1;
    }
    if (foreign > task->fetch->foreign_requests) {
        buf_printf(&planning->words, "<%.*s>: not taken, more than datasets.foreign_requests\n",
                   SLICE_PRINT(execution->dataset));
        return;
    }
    planning->foreign = foreign;
    if (!slice_is(state,
                  "withdrawn")) { /* else its documents are crawled, until its dumps change */
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
    put_host(task, task->origin, &update);
    meta_update_release(&update);
    struct host *host = hosts_find(task->fetch->hosts, task->origin, 0);
    if (host != NULL) {
        host_set_cover(host, cover, authorities, clock_wall_ms());
    }
    log_info("plan", "host=%.*s descriptions=%zu datasets=%zu covered=%d",
             SLICE_PRINT(task->origin), planning->claims.count, planning->count,
             (int)(cover.length > 0));
}

/* What became of the datasets before. */
static void
remembered(void *context, enum status status, const struct slice *records, size_t n,
           const struct reason *why)
{
    struct planning *planning = context;
    if (status != STATUS_OK) {
        wait_longer(planning, why->text);
        return;
    }
    for (size_t i = 0; planning->task->fetch->execute && i < n; i++) {
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
    struct slice *keys = arena_zero(&planning->arena, (planning->count + 1) * sizeof *keys);
    planning->uris = arena_zero(&planning->arena, (planning->count + 1) * sizeof *keys);
    for (size_t i = 0; i < planning->count; i++) {
        const struct execution *execution = &planning->executions[i];
        const struct slice key =
            arena_printf(&planning->arena, "u%.*s" EXECUTION_FRAGMENT "%016llx",
                         SLICE_PRINT(url_origin(execution->description)),
                         (unsigned long long)fingerprint64(execution->dumps.items[0]));
        keys[i] = key;
        planning->uris[i] = slice_of(key.at + 1, key.length - 1);
    }
    metastore_get(stage_metastore(planning->task->job->run), keys, planning->count, remembered,
                  planning);
}

static void
make_plan(struct planning *planning)
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

/* ---- reading ---- */

/* Whether anything has come of the URI, and if it is a description, reads it. */
static bool
read_description(struct planning *planning, struct slice uri, struct slice record)
{
    struct fetch *fetch = planning->task->fetch;
    struct slice state = {0};
    struct document_record where = {0};
    struct warc_record archived;
    struct buf memory;
    if (!meta_record_text(record, META_STATE, &state)) {
        return false;
    }
    meta_record_text(record, META_WARC_NODE, &where.node);
    meta_record_text(record, META_WARC_FILE, &where.file);
    meta_record_number(record, META_WARC_OFFSET, &where.offset);
    meta_record_number(record, META_WARC_LENGTH, &where.length);
    buf_init(&memory, RECORD_BYTES);
    if (where.file.length > 0 &&
        content_read(fetch->content, &where, &memory, &archived, NULL) == STATUS_OK &&
        archived.http_status == 200) {
        struct description *description = arena_zero(&planning->arena, sizeof *description);
        const struct slice bytes = arena_copy(&planning->arena, archived.body);
        if (description != NULL && bytes.at != NULL &&
            semantic_sitemap_parse(bytes, uri, &planning->arena, description, NULL) == STATUS_OK) {
            planning->claims.descriptions[planning->claims.count++] = description;
        }
    }
    buf_release(&memory);
    return true;
}

static void seek(struct planning *planning, size_t from);

/* Fetches the sitemaps that join, and comes back when that may have been done. */
static void
fetch_joined(struct planning *planning, size_t from)
{
    struct task *task = planning->task;
    for (size_t i = from; i < planning->sought.count; i++) {
        if (may_ask(planning, planning->sought.items[i])) {
            task_output(task,
                        arena_printf(&planning->arena, "%.*s" RESOURCE_FRAGMENT,
                                     SLICE_PRINT(planning->sought.items[i])),
                        SLICE_PRIORITY - 4, JOB_RESOURCE, (struct slice){0});
        }
    }
    task_put(task, arena_printf(&planning->arena, "%.*s" JOINED_PLAN, SLICE_PRINT(task->origin)),
             PLAN_PRIORITY, plan_type(planning), (struct slice){0});
    task_done(task, "planned", "sitemaps that join are fetched first");
    planning_free(planning);
}

/* Records come in pairs: the sitemap as fetched like any document, and as a resource. */
static void
described(void *context, enum status status, const struct slice *records, size_t n,
          const struct reason *why)
{
    struct planning *planning = context;
    const size_t from = planning->sought.count - n / 2;
    size_t waits = 0;
    if (status != STATUS_OK) {
        wait_longer(planning, why->text);
        return;
    }
    for (size_t i = 0; i + 1 < n; i += 2) {
        const struct slice uri = planning->sought.items[from + i / 2];
        waits += read_description(planning, uri, records[i]) ||
                         read_description(planning, uri, records[i + 1])
                     ? 0
                     : 1;
    }
    const bool patient =
        planning->task->job->job.queued_ms + planning->task->fetch->wait_ms > clock_wall_ms();
    if (from > 0 && waits > 0 && !planning->joined) {
        fetch_joined(planning, from);
        return;
    }
    if (from > 0 && waits > 0 && patient) {
        wait_longer(planning, "sitemaps that join have not come yet");
        return;
    }
    if (from > 0) {
        make_plan(planning);
        return;
    }
    planning->own = planning->claims.count;
    struct slice *missing;
    const size_t count = claims_missing(&planning->claims, &missing);
    const size_t before = planning->sought.count;
    for (size_t i = 0; i < count && before + i < DESCRIPTIONS_MAXIMUM; i++) {
        const struct slice key = key_of(planning, missing[i], planning->task->url);
        if (key.length > 0) {
            (void)slices_add(&planning->sought, key, &planning->arena);
        }
    }
    if (planning->sought.count > before) {
        seek(planning, before);
    } else {
        make_plan(planning);
    }
}

static void
seek(struct planning *planning, size_t from)
{
    const size_t n = planning->sought.count - from;
    struct slice keys[2 * DESCRIPTIONS_MAXIMUM];
    for (size_t i = 0; i < n; i++) {
        const struct slice uri = planning->sought.items[from + i];
        keys[2 * i] = arena_printf(&planning->arena, "u%.*s", SLICE_PRINT(uri));
        keys[2 * i + 1] =
            arena_printf(&planning->arena, "u%.*s" RESOURCE_FRAGMENT, SLICE_PRINT(uri));
    }
    metastore_get(stage_metastore(planning->task->job->run), keys, 2 * n, described, planning);
}

static void
host_read(void *context, enum status status, const struct slice *records, size_t n,
          const struct reason *why)
{
    struct planning *planning = context;
    struct slice lines = {0}, line;
    if (status != STATUS_OK) {
        wait_longer(planning, why->text);
        return;
    }
    if (n > 0) {
        (void)meta_record_text(records[0], META_DESCRIPTIONS, &lines);
    }
    while (execution_line(&lines, &line) && planning->sought.count < DESCRIPTIONS_MAXIMUM / 2) {
        (void)slices_add(&planning->sought, arena_copy(&planning->arena, line), &planning->arena);
    }
    if (planning->sought.count == 0) {
        make_plan(planning);
        return;
    }
    seek(planning, 0);
}

void
task_plan(struct task *task)
{
    struct fetch *fetch = task->fetch;
    const struct warc_limits limits = {.record = RECORD_BYTES};
    struct reason why;
    if (fetch->content == NULL &&
        content_open(&fetch->content, stage_directory(fetch->run), stage_cluster(fetch->run),
                     &limits, &why) != STATUS_OK) {
        task_bury(task, why.text);
        return;
    }
    struct planning *planning = memory_zero(1, sizeof *planning);
    planning->task = task;
    planning->joined =
        slice_find_slice(task->job->job.uri, SLICE(JOINED_PLAN)) < task->job->job.uri.length;
    planning->again = slice_is(task->job->document.type, PLAN_AGAIN);
    arena_init(&planning->arena, PLAN_MEMORY);
    planning->claims.arena = &planning->arena;
    planning->claims.descriptions =
        memory_zero(2 * DESCRIPTIONS_MAXIMUM, sizeof *planning->claims.descriptions);
    buf_init(&planning->cover, LINES_BYTES);
    buf_init(&planning->authorities, LINES_BYTES);
    buf_init(&planning->datasets, LINES_BYTES);
    buf_init(&planning->words, LINES_BYTES);
    const struct slice key = arena_printf(&planning->arena, "h%.*s", SLICE_PRINT(task->origin));
    metastore_get(stage_metastore(task->job->run), &key, 1, host_read, planning);
}
