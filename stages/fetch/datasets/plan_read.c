/* A host's plan: docs/DATASETS.md. The descriptions are read from the archive, where fetching the
 * sitemaps has left them; those of other hosts that sub and parent links name are fetched first,
 * as resources. The plan asks nobody anything itself.
 *
 *   /#plan         the first look: fetches what joins, or plans at once
 *   /#plan=joined  waits until that has come, then plans
 *   /#plan=16 hex  the same as the first: put by transform, that found a description in RDF. These
 *                  have names of their own, so that none is lost when another has just begun
 *
 * Descriptions in RDF are read from what transform made of them. One on another host speaks for
 * this host if /.well-known/void here redirects there.
 *
 * Hostile input: sitemaps and RDF, parsed in sandboxed workers. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/system/clock.h"
#include "base/url/url.h"
#include "datasets/rdf_description.h"
#include "stages/fetch/datasets/planning.h"

enum { RECORD_BYTES = 128 << 20, PLAN_MEMORY = 256 << 20 };

/* ---- reading ---- */

static void
add_description(struct planning *planning, struct description *description)
{
    planning->claims.descriptions[planning->claims.count++] = description;
}

/* Whose URIs a description in RDF may speak of; false: of none here. */
static bool
set_space(struct planning *planning, struct description *description)
{
    const struct slice origin = planning->task->origin;
    if (slice_equal(description->uri, planning->well_known)) {
        description->space = arena_printf(&planning->arena, "%.*s/", SLICE_PRINT(origin));
        return true;
    }
    return slice_equal(url_origin(description->uri), origin);
}

static void read_next(struct reading *reading);
static void plan_or_wait(struct planning *planning);

/* The last of the readings goes on; in their order, whichever ended first. */
static void
end_reading(struct planning *planning)
{
    if (--planning->readings_left > 0) {
        return;
    }
    for (size_t i = 0; i < planning->reading_count; i++) {
        struct description *description = planning->readings[i].description;
        if (description != NULL && (!description->rdf || (rdf_description_offers(description) &&
                                                          set_space(planning, description)))) {
            add_description(planning, description);
        }
    }
    plan_or_wait(planning);
}

static void
parsed(void *context, enum status status, struct slice reply, const struct reason *why)
{
    struct reading *reading = context;
    struct planning *planning = reading->planning;
    struct description *description = arena_zero(&planning->arena, sizeof *description);
    (void)why;
    if (status == STATUS_CANCELLED) {
        return; /* the process ends; the job comes back by its lease */
    }
    if (status == STATUS_OK && description != NULL &&
        parsed_description_decode(reply, reading->uri, &planning->arena, description) &&
        description->rdf == reading->rdf) {
        reading->description = description;
        end_reading(planning);
    } else if (reading->rdf) {
        end_reading(planning);
    } else {
        reading->rdf = true;
        read_next(reading);
    }
}

/* Reads the next description. For a sitemap that is the response; for RDF it is what transform made
 * of it. */
static void
read_next(struct reading *reading)
{
    struct planning *planning = reading->planning;
    struct fetch *fetch = planning->task->fetch;
    const struct document_record *where = reading->rdf ? &reading->conversion : &reading->response;
    struct warc_record archived;
    struct buf memory;
    enum status status = STATUS_NOT_FOUND;
    buf_init(&memory, RECORD_BYTES);
    if (where->file.length > 0) {
        status = content_read(fetch->content, where, &memory, &archived, NULL);
    }
    planning->away |= status == STATUS_UNAVAILABLE;
    if (status == STATUS_OK && (reading->rdf || archived.http_status == 200)) {
        const struct parser_request request = {
            .verb = PARSER_DESCRIPTION,
            .uri = reading->uri,
            .coding = warc_http_header(archived.http_header, "Content-Encoding"),
            .bytes = archived.payload,
            .rdf = reading->rdf};
        fetch_parser_submit(fetch->parser, &request, parsed, reading);
    } else {
        end_reading(planning);
    }
    buf_release(&memory);
}

static struct document_record
place_of(struct planning *planning, struct slice record, const enum meta_field fields[4])
{
    struct document_record where = {0};
    struct slice text = {0};
    (void)meta_record_text(record, fields[0], &text);
    where.node = arena_copy(&planning->arena, text);
    text = (struct slice){0};
    (void)meta_record_text(record, fields[1], &text);
    where.file = arena_copy(&planning->arena, text);
    (void)meta_record_number(record, fields[2], &where.offset);
    (void)meta_record_number(record, fields[3], &where.length);
    return where;
}

/* Tells whether anything has come of the URI, which is then to be read. */
static bool
begin_reading(struct planning *planning, struct slice uri, struct slice record)
{
    static const enum meta_field response[] = {META_WARC_NODE, META_WARC_FILE, META_WARC_OFFSET,
                                               META_WARC_LENGTH};
    static const enum meta_field conversion[] = {META_CONVERSION_NODE, META_CONVERSION_FILE,
                                                 META_CONVERSION_OFFSET, META_CONVERSION_LENGTH};
    struct slice state = {0};
    if (!meta_record_text(record, META_STATE, &state)) {
        return false;
    }
    planning->readings[planning->reading_count++] =
        (struct reading){.planning = planning,
                         .uri = uri,
                         .response = place_of(planning, record, response),
                         .conversion = place_of(planning, record, conversion)};
    return true;
}

static void seek(struct planning *planning, size_t from);

/* Fetches the sitemaps that join, and comes back when that may have been done. */
static void
fetch_joined(struct planning *planning, size_t from)
{
    struct task *task = planning->task;
    for (size_t i = from; i < planning->sought.count; i++) {
        if (planning_may_ask(planning, planning->sought.items[i])) {
            task_output(task,
                        arena_printf(&planning->arena, "%.*s" RESOURCE_FRAGMENT,
                                     SLICE_PRINT(planning->sought.items[i])),
                        SLICE_PRIORITY - 4, JOB_RESOURCE, (struct slice){0});
        }
    }
    task_put(task, arena_printf(&planning->arena, "%.*s" JOINED_PLAN, SLICE_PRINT(task->origin)),
             PLAN_PRIORITY, planning_type(planning), (struct slice){0});
    task_done(task, "planned", "sitemaps that join are fetched first");
    planning_free(planning);
}

/* With the descriptions that have come. */
static void
plan_or_wait(struct planning *planning)
{
    const bool patient =
        planning->task->job->job.queued_ms + planning->task->fetch->datasets.wait_ms >
        clock_wall_ms();
    if (planning->away) {
        planning_wait(planning, "a node that has a description does not answer");
        return;
    }
    if (planning->from > 0 && planning->waits > 0 && !planning->joined) {
        fetch_joined(planning, planning->from);
        return;
    }
    if (planning->from > 0 && planning->waits > 0 && patient) {
        planning_wait(planning, "sitemaps that join have not come yet");
        return;
    }
    if (planning->from > 0) {
        planning_decide(planning);
        return;
    }
    planning->own = planning->claims.count;
    struct slice *missing;
    const size_t count = claims_missing(&planning->claims, &missing);
    const size_t before = planning->sought.count;
    for (size_t i = 0; i < count && before + i < DESCRIPTIONS_MAXIMUM; i++) {
        const struct slice key =
            planning_key(planning, url_crawl_key, missing[i], planning->task->url);
        if (key.length > 0) {
            (void)slices_add(&planning->sought, key, &planning->arena);
        }
    }
    if (planning->sought.count > before) {
        seek(planning, before);
    } else {
        planning_decide(planning);
    }
}

/* Records come in pairs: the sitemap as fetched like any document, and as a resource. */
static void
described(void *context, enum status status, const struct slice *records, size_t n,
          const struct reason *why)
{
    struct planning *planning = context;
    if (status != STATUS_OK) {
        planning_wait(planning, why->text);
        return;
    }
    planning->from = planning->sought.count - n / 2;
    planning->waits = planning->reading_count = 0;
    for (size_t i = 0; i + 1 < n; i += 2) {
        const struct slice uri = planning->sought.items[planning->from + i / 2];
        planning->waits +=
            begin_reading(planning, uri, records[i]) || begin_reading(planning, uri, records[i + 1])
                ? 0
                : 1;
    }
    const size_t count = planning->reading_count;
    planning->readings_left = count + 1; /* one more, until all have begun */
    for (size_t i = 0; i < count; i++) {
        read_next(&planning->readings[i]);
    }
    end_reading(planning);
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
        planning_wait(planning, why->text);
        return;
    }
    if (n > 0) {
        (void)meta_record_text(records[0], META_DESCRIPTIONS, &lines);
    }
    planning->well_known =
        arena_printf(&planning->arena, "%.*s" WELL_KNOWN_VOID, SLICE_PRINT(planning->task->origin));
    if (n > 1) {
        struct slice target = {0};
        (void)meta_record_text(records[1], META_REDIRECT_TO, &target);
        if (target.length > 0) {
            planning->well_known = arena_copy(&planning->arena, target);
        }
    }
    while (execution_line(&lines, &line) && planning->sought.count < DESCRIPTIONS_MAXIMUM / 2) {
        (void)slices_add(&planning->sought, arena_copy(&planning->arena, line), &planning->arena);
    }
    if (planning->sought.count == 0) {
        planning_decide(planning);
        return;
    }
    seek(planning, 0);
}

void
task_plan(struct task *task)
{
    if (!task_open_content(task)) {
        return;
    }
    struct planning *planning = memory_new(sizeof *planning);
    planning->task = task;
    planning->joined =
        slice_find_slice(task->job->job.uri, SLICE(JOINED_PLAN)) < task->job->job.uri.length;
    planning->again = slice_is(task->job->document.type, PLAN_AGAIN);
    arena_init(&planning->arena, PLAN_MEMORY);
    planning->claims.arena = &planning->arena;
    planning->claims.descriptions =
        memory_zero(2 * DESCRIPTIONS_MAXIMUM, sizeof *planning->claims.descriptions);
    planning->readings = memory_zero(DESCRIPTIONS_MAXIMUM, sizeof *planning->readings);
    buf_init(&planning->cover, LINES_BYTES);
    buf_init(&planning->authorities, LINES_BYTES);
    buf_init(&planning->datasets, LINES_BYTES);
    buf_init(&planning->words, LINES_BYTES);
    const struct slice keys[] = {
        arena_printf(&planning->arena, "h%.*s", SLICE_PRINT(task->origin)),
        arena_printf(&planning->arena, "u%.*s" WELL_KNOWN_VOID, SLICE_PRINT(task->origin))};
    metastore_get(stage_metastore(task->job->run), keys, 2, host_read, planning);
}
