#include "cli/inspection/inspection.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/system/file.h"
#include "base/url/url.h"
#include "cli/import/import_files.h"
#include "rdf/nquads/nquads.h"
#include "stages/skeleton/document_meta.h"

/* A body that unpacks to more than the arena has room for is refused by web_client_get. */
enum {
    FILE_MAXIMUM = 1 << 30,
    RECORD_MAXIMUM = 16 << 20,
    ANSWER_MEMORY = 64 << 20,
    TYPE_MAXIMUM = 4096
};

/* A document before it is looked into. */
struct material {
    struct slice uri, bytes, content_type, header;
    unsigned http_status; /* 0: it was not fetched */
    bool cut;
    struct buf file;
};

/* Returns whether the place is an http or https URL, and no file. */
static bool
inspection_is_address(const char *place)
{
    const struct slice text = slice_string(place);
    return slice_starts(text, SLICE("http://")) || slice_starts(text, SLICE("https://"));
}

void
inspection_release(struct inspection *inspection)
{
    free(inspection->statements);
    report_page_release(&inspection->page);
    buf_release(&inspection->record);
    arena_release(&inspection->arena);
    arena_release(&inspection->answer);
}

/* ---- how it is had ---- */

static enum status
take_address(struct inspection *inspection, const struct inspection_request *request,
             const struct opt_set *options, struct material *material, struct reason *why)
{
    struct web_client *client = request->client, *own = NULL;
    struct web_answer answer;
    struct buf key;
    buf_init(&key, 2 * URL_MAXIMUM);
    enum status status = url_crawl_key(slice_string(request->place), slice_of(NULL, 0), &key, why);
    if (status == STATUS_OK && client == NULL) {
        status = web_client_open(&own, options, why);
        client = own;
    }
    if (status == STATUS_OK) {
        status = web_client_get_as(client, buf_slice(&key), request->accept, INSPECTION_BYTES,
                                   &inspection->answer, &answer, why);
    }
    if (status == STATUS_OK) {
        material->uri = answer.url;
        material->bytes = answer.body.at != NULL ? answer.body : SLICE("");
        material->content_type = answer.content_type;
        material->header = answer.header;
        material->http_status = answer.status;
        material->cut = answer.cut;
        if (!slice_equal(answer.url, buf_slice(&key))) {
            inspection->asked = arena_copy(&inspection->arena, buf_slice(&key));
        }
    }
    web_client_close(own);
    buf_release(&key);
    return status;
}

static enum status
take_file(struct inspection *inspection, const struct inspection_request *request,
          struct material *material, struct reason *why)
{
    struct buf uri;
    TRY(file_read_or_input(request->place, &material->file, why));
    material->bytes = buf_slice(&material->file);
    if (request->uri != NULL && !iri_is_absolute(slice_string(request->uri))) {
        return status_fail(why, STATUS_MISUSE, "%.200s is no absolute URI", request->uri);
    }
    buf_init(&uri, 2 * URL_MAXIMUM);
    if (request->uri != NULL) {
        buf_append_string(&uri, request->uri);
    } else {
        import_file_uri(request->place, &uri);
    }
    material->uri = arena_copy(&inspection->arena, buf_slice(&uri));
    buf_release(&uri);
    if (request->content_type != NULL) {
        material->content_type = slice_string(request->content_type);
    }
    return STATUS_OK;
}

/* NOT_FOUND: the archive has it not. */
static enum status
take_archived(struct inspection *inspection, const struct inspection_request *request,
              struct material *material, struct reason *why)
{
    struct buf type;
    buf_init(&type, TYPE_MAXIMUM);
    material->uri = slice_string(request->place);
    const enum status status = cli_archived(request->archive, material->uri, &material->file,
                                            &material->bytes, &type, why);
    material->content_type = arena_copy(&inspection->arena, buf_slice(&type));
    buf_release(&type);
    return status;
}

/* ---- what is in it ---- */

struct statements_reader {
    struct inspection *inspection;
    struct slice transform;
    uint64_t line;
    size_t capacity;
};

static enum status
keep_statement(void *context, const struct quad *quad, struct reason *why)
{
    struct statements_reader *reader = context;
    struct inspection *inspection = reader->inspection;
    if (inspection->count == INSPECTION_STATEMENTS) {
        inspection->left_out++;
        return STATUS_OK;
    }
    inspection->statements = array_grow(inspection->statements, inspection->count,
                                        &reader->capacity, sizeof *inspection->statements);
    struct inspected_statement *statement = &inspection->statements[inspection->count];
    if (!quad_copy(&inspection->arena, quad, &statement->quad)) {
        return status_fail(why, STATUS_LIMIT, "the statements take too much memory");
    }
    statement->transform = arena_copy(&inspection->arena, reader->transform);
    statement->line = reader->line;
    inspection->count++;
    return STATUS_OK;
}

/* Lines "transform/version TAB line TAB quad". */
static enum status
read_statements(struct inspection *inspection, struct slice explanation, struct reason *why)
{
    struct statements_reader reader = {.inspection = inspection};
    const struct quad_sink sink = {keep_statement, &reader};
    while (explanation.length > 0) {
        struct slice quad = slice_take(&explanation, '\n');
        reader.transform = slice_take(&quad, '\t');
        reader.line = slice_number(slice_take(&quad, '\t'));
        TRY(nquads_parse(quad, NULL, &sink, why));
    }
    return STATUS_OK;
}

static void
note_outcome(struct meta_update *update, const struct document_outcome *outcome)
{
    const bool broken = outcome->state == TRANSFORM_BROKEN;
    meta_set_text(update, META_STATE, broken ? SLICE("broken") : SLICE("transformed"));
    meta_set_text(update, META_TRANSFORM, outcome->names);
    meta_set_number(update, META_QUADS, outcome->quads);
    meta_set_text(update, META_TRANSFORM_PROBLEMS, outcome->problems);
    meta_set_number(update, META_TRANSFORM_PROBLEM_COUNT, outcome->problem_count);
    meta_set_text(update, META_TRANSFORM_QUADS, outcome->counts);
    meta_set_text(update, META_TRANSFORM_REPAIRS, outcome->repairs);
    meta_set_number(update, META_TRANSFORM_MEMORY, outcome->memory);
    meta_set_text(update, META_TRANSFORM_ADVICE, outcome->advice);
}

static enum status
transform(struct inspection *inspection, const struct material *material, struct slice type,
          const struct offline_settings *settings, struct meta_update *update, struct reason *why)
{
    struct offline_transform *hand = NULL;
    struct document_outcome outcome;
    struct buf links;
    bool died = false;
    buf_init(&links, LINK_HEADER_MAXIMUM);
    document_join_links(material->header, &links);
    const struct transform_request request = {.uri = material->uri,
                                              .type = type,
                                              .charset = document_charset(material->content_type),
                                              .link_header = buf_slice(&links),
                                              .bytes = material->bytes,
                                              .explain = true};
    enum status status = offline_transform_open(&hand, settings, why);
    if (status == STATUS_OK) {
        status = offline_transform_run(hand, &request, &outcome, &died, why);
    }
    if (status == STATUS_OK) {
        note_outcome(update, &outcome);
        status = read_statements(inspection, outcome.explanation, why);
    } else if (died) {
        meta_set_text(update, META_STATE, SLICE("broken"));
        meta_set_text(update, META_REASON, slice_string(why->text));
        status = STATUS_OK;
    }
    offline_transform_close(hand);
    buf_release(&links);
    return status;
}

/* Detects and transforms; what came of it goes into update, as the stages tell it. */
static enum status
look_into(struct inspection *inspection, const struct material *material,
          const struct offline_settings *settings, struct meta_update *update, struct reason *why)
{
    struct detection detection;
    const struct detect_input input = {
        .bytes = material->bytes, .content_type = material->content_type, .uri = material->uri};
    TRY(detect_bytes(settings->options, &input, &detection, why));
    const struct slice type = slice_string(detection.type);
    inspection->evidence = arena_copy(&inspection->arena, slice_string(detection.reason));
    meta_set_text(update, META_DETECTED_TYPE, type);
    /* Nobody served a file, so there is no Content-Type to be missed. */
    meta_set_text(update, META_CONTENT_TYPE,
                  material->http_status == 0 && material->content_type.length == 0
                      ? type
                      : material->content_type);
    meta_set_text(update, META_STATE, SLICE("unknown"));
    return type.length > 0 ? transform(inspection, material, type, settings, update, why)
                           : STATUS_OK;
}

static enum status
note_all(struct inspection *inspection, const struct material *material,
         const struct offline_settings *settings, struct reason *why)
{
    struct meta_update update;
    enum status status = STATUS_OK;
    meta_update_init(&update);
    if (material->http_status > 0) {
        meta_set_number(&update, META_HTTP_STATUS, material->http_status);
    }
    if (material->http_status >= 300) {
        meta_set_text(&update, META_STATE, SLICE("failed"));
        meta_set_text(
            &update, META_REASON,
            arena_printf(&inspection->arena, "the server answered %u", material->http_status));
        meta_set_text(&update, META_CONTENT_TYPE, material->content_type);
    } else {
        if (material->cut) {
            meta_set_text(&update, META_TRUNCATED,
                          arena_printf(&inspection->arena, "only the first %d bytes were looked at",
                                       INSPECTION_BYTES));
        }
        status = look_into(inspection, material, settings, &update, why);
    }
    if (status == STATUS_OK && meta_merge(slice_of(NULL, 0), meta_update_fields(&update),
                                          &inspection->record) != META_MERGED) {
        status = status_fail(why, STATUS_LIMIT, "there is too much to be told of the document");
    }
    meta_update_release(&update);
    return status;
}

enum status
inspect(struct inspection *inspection, const struct inspection_request *request,
        const struct offline_settings *settings, struct reason *why)
{
    struct material material = {0};
    *inspection = (struct inspection){.count = 0};
    arena_init(&inspection->arena, 0);
    arena_init(&inspection->answer, ANSWER_MEMORY);
    buf_init(&inspection->record, RECORD_MAXIMUM);
    buf_init(&material.file, FILE_MAXIMUM);
    report_page_init(&inspection->page);
    enum status status = request->archive != NULL
                             ? take_archived(inspection, request, &material, why)
                         : inspection_is_address(request->place)
                             ? take_address(inspection, request, settings->options, &material, why)
                             : take_file(inspection, request, &material, why);
    if (status == STATUS_OK && material.bytes.length > INSPECTION_BYTES) {
        material.cut = true;
        material.bytes = slice_of(material.bytes.at, INSPECTION_BYTES);
    }
    if (status == STATUS_OK) {
        status = note_all(inspection, &material, settings, why);
    }
    if (status == STATUS_OK) {
        const struct slice key =
            arena_printf(&inspection->arena, "u%.*s", SLICE_PRINT(material.uri));
        if (!report_page_read(&inspection->page, key, buf_slice(&inspection->record))) {
            inspection->page.uri = slice_of(key.at + 1, key.length - 1);
        }
    }
    buf_release(&material.file);
    return status;
}
