#include <inttypes.h>
#include <stdio.h>

#include "base/system/clock.h"
#include "cli/report/explain.h"
#include "cli/shared/cli.h"
#include "rdf/core/writer.h"

enum { OUTPUT_MAXIMUM = 1 << 30 };

/* Tells where a WARC record lies. */
struct place {
    const char *name, *json;
    enum meta_field node, file, offset, length, id;
};

static const struct place places[] = {
    {"archived", "response", META_WARC_NODE, META_WARC_FILE, META_WARC_OFFSET, META_WARC_LENGTH,
     META_WARC_RECORD_ID},
    {"converted", "conversion", META_CONVERSION_NODE, META_CONVERSION_FILE, META_CONVERSION_OFFSET,
     META_CONVERSION_LENGTH, META_CONVERSION_RECORD_ID},
};

struct place_values {
    struct slice node, file, id;
    uint64_t offset, length;
};

static bool
place_values(const struct place *place, struct slice record, struct place_values *values)
{
    *values = (struct place_values){0};
    meta_record_text(record, place->node, &values->node);
    meta_record_text(record, place->id, &values->id);
    meta_record_number(record, place->offset, &values->offset);
    meta_record_number(record, place->length, &values->length);
    return meta_record_text(record, place->file, &values->file);
}

/* "html 12 jsonld 30": the number of quads that a transform said; empty: none. */
static struct slice
quads_of(struct slice record, struct slice transform)
{
    const struct slice name = slice_of(transform.at, slice_find(transform, '/'));
    struct slice rest = {NULL, 0};
    meta_record_text(record, META_TRANSFORM_QUADS, &rest);
    while (rest.length > 0) {
        const struct slice who = slice_next_word(&rest), count = slice_next_word(&rest);
        if (slice_equal(who, name)) {
            return count;
        }
    }
    return (struct slice){NULL, 0};
}

static bool
time_text(struct slice record, enum meta_field field, char text[CLOCK_TEXT_SIZE])
{
    uint64_t when;
    if (!meta_record_number(record, field, &when)) {
        return false;
    }
    clock_text(when, 0, text);
    return true;
}

/* Writes the statement as a line of N-Triples, without its graph: the document is named already. */
static void
append_statement(struct buf *out, const struct quad *quad)
{
    struct quad triple = *quad;
    triple.graph = (struct term){.kind = TERM_NONE};
    (void)nquads_write(out, &triple);
}

static void
flush(struct buf *out)
{
    fwrite(out->data, 1, out->length, stdout);
    buf_release(out);
}

/* ---- text ---- */

static void
text_of_way(struct buf *out, const struct explain_document *document)
{
    uint64_t depth = 0;
    if (document->reason != NULL) {
        meta_record_number(document->record, META_DEPTH, &depth);
        buf_printf(out, "  %-11s %s", "because", document->reason);
        if (document->from.length > 0) {
            buf_printf(out, " %.*s", SLICE_PRINT(document->from));
        }
        buf_printf(out, ", depth %" PRIu64 "\n", depth);
    }
    for (size_t i = 0; i < document->hop_count; i++) {
        const struct explain_hop *hop = &document->hops[i];
        buf_printf(out, "  %-11s %.*s", "redirected", SLICE_PRINT(hop->uri));
        buf_printf(out, hop->status > 0 ? ", status %" PRIu64 "\n" : "\n", hop->status);
    }
}

static void
text_of_record(struct buf *out, const struct explain_document *document)
{
    const struct slice record = document->record;
    char when[CLOCK_TEXT_SIZE];
    struct slice text;
    uint64_t status;
    if (time_text(record, META_FETCHED, when)) {
        buf_printf(out, "  %-11s %s", "fetched", when);
        if (meta_record_number(record, META_HTTP_STATUS, &status)) {
            buf_printf(out, ", status %" PRIu64, status);
        }
        buf_append_char(out, '\n');
    }
    text_of_way(out, document);
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        struct place_values values;
        if (place_values(&places[i], record, &values)) {
            buf_printf(out,
                       "  %-11s %.*s offset %" PRIu64 " length %" PRIu64 " record %.*s node %.*s\n",
                       places[i].name, SLICE_PRINT(values.file), values.offset, values.length,
                       SLICE_PRINT(values.id), SLICE_PRINT(values.node));
        }
    }
    if (meta_record_text(record, META_DETECTED_TYPE, &text)) {
        buf_printf(out, "  %-11s %.*s\n", "type", SLICE_PRINT(text));
    }
    if (meta_record_text(record, META_TRANSFORM, &text)) {
        buf_printf(out, "  %-11s", "transforms");
        while (text.length > 0) {
            const struct slice word = slice_next_word(&text), quads = quads_of(record, word);
            buf_printf(out, " %.*s %.*s", SLICE_PRINT(word),
                       SLICE_PRINT(quads.length > 0 ? quads : SLICE("0")));
            buf_append_string(out, text.length > 0 ? "," : "\n");
        }
    }
    if (time_text(record, META_INDEXED, when)) {
        buf_printf(out, "  %-11s %s\n", "indexed", when);
    }
}

void
explain_print_text(const struct explain_document *document)
{
    struct buf out;
    buf_init(&out, OUTPUT_MAXIMUM);
    buf_printf(&out, "%.*s\n", SLICE_PRINT(document->uri));
    if (document->record.length == 0) {
        buf_append_string(&out, "  not crawled: it was imported or made by an update\n");
    } else {
        text_of_record(&out, document);
    }
    if (document->why.length > 0) {
        buf_printf(&out, "  by          unknown: %.*s\n", SLICE_PRINT(document->why));
    }
    for (size_t i = 0; i < document->count; i++) {
        const struct explain_statement *statement = &document->statements[i];
        buf_printf(&out, "  %-11s ", "says");
        append_statement(&out, &statement->quad);
        for (const struct explain_transform *by = statement->transforms; by; by = by->next) {
            buf_printf(&out, "    by        %.*s from line %.*s\n", SLICE_PRINT(by->name),
                       SLICE_PRINT(by->line));
        }
        if (document->asked && statement->transforms == NULL) {
            buf_append_string(&out, "    by        no transform, as they are now\n");
        }
    }
    flush(&out);
}

/* ---- JSON ---- */

static void
json_text(struct buf *out, const char *before, struct slice text)
{
    buf_printf(out, "%s\"", before);
    buf_append_json(out, text);
    buf_append_char(out, '"');
}

static void
json_of_places(struct buf *out, struct slice record)
{
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        struct place_values values;
        if (place_values(&places[i], record, &values)) {
            buf_printf(out, ",\n  \"%s\": {", places[i].json);
            json_text(out, "\"node\": ", values.node);
            json_text(out, ", \"file\": ", values.file);
            buf_printf(out, ", \"offset\": %" PRIu64 ", \"length\": %" PRIu64, values.offset,
                       values.length);
            json_text(out, ", \"record\": ", values.id);
            buf_append_char(out, '}');
        }
    }
}

static void
json_of_way(struct buf *out, const struct explain_document *document)
{
    uint64_t depth = 0;
    meta_record_number(document->record, META_DEPTH, &depth);
    if (document->reason != NULL) {
        buf_printf(out, ",\n  \"because\": {\"reason\": \"%s\", \"depth\": %" PRIu64,
                   document->reason, depth);
        if (document->from.length > 0) {
            json_text(out, ", \"from\": ", document->from);
        }
        buf_append_char(out, '}');
    }
    buf_append_string(out, ",\n  \"redirects\": [");
    for (size_t i = 0; i < document->hop_count; i++) {
        json_text(out, i > 0 ? ", {\"uri\": " : "{\"uri\": ", document->hops[i].uri);
        buf_printf(out, ", \"status\": %" PRIu64 "}", document->hops[i].status);
    }
    buf_append_char(out, ']');
}

static void
json_of_record(struct buf *out, const struct explain_document *document)
{
    const struct slice record = document->record;
    char when[CLOCK_TEXT_SIZE];
    struct slice text;
    uint64_t status;
    if (time_text(record, META_FETCHED, when)) {
        json_text(out, ",\n  \"fetched\": ", slice_string(when));
    }
    if (meta_record_number(record, META_HTTP_STATUS, &status)) {
        buf_printf(out, ", \"status\": %" PRIu64, status);
    }
    if (meta_record_text(record, META_DETECTED_TYPE, &text)) {
        json_text(out, ", \"type\": ", text);
    }
    if (time_text(record, META_INDEXED, when)) {
        json_text(out, ", \"indexed\": ", slice_string(when));
    }
    json_of_way(out, document);
    json_of_places(out, record);
    text = (struct slice){NULL, 0};
    meta_record_text(record, META_TRANSFORM, &text);
    buf_append_string(out, ",\n  \"transforms\": [");
    for (bool first = true; text.length > 0; first = false) {
        const struct slice word = slice_next_word(&text), quads = quads_of(record, word);
        json_text(out, first ? "{\"transform\": " : ", {\"transform\": ", word);
        buf_printf(out, ", \"quads\": %.*s}", SLICE_PRINT(quads.length > 0 ? quads : SLICE("0")));
    }
    buf_append_char(out, ']');
}

static void
json_of_statement(struct buf *out, const struct explain_document *document,
                  const struct explain_statement *statement)
{
    struct buf line;
    buf_init(&line, OUTPUT_MAXIMUM);
    append_statement(&line, &statement->quad);
    json_text(out, "\n   {\"triple\": ", slice_trim(buf_slice(&line)));
    buf_release(&line);
    if (document->asked) {
        buf_append_string(out, ", \"by\": [");
        for (const struct explain_transform *by = statement->transforms; by; by = by->next) {
            json_text(out, by == statement->transforms ? "{\"transform\": " : ", {\"transform\": ",
                      by->name);
            buf_printf(out, ", \"line\": %.*s}", SLICE_PRINT(by->line));
        }
        buf_append_char(out, ']');
    }
    buf_append_char(out, '}');
}

void
explain_print_json(const struct explain_document *document, bool first)
{
    struct buf out;
    buf_init(&out, OUTPUT_MAXIMUM);
    json_text(&out, first ? "[{\"document\": " : ",\n {\"document\": ", document->uri);
    buf_printf(&out, ", \"crawled\": %s", document->record.length > 0 ? "true" : "false");
    if (document->record.length > 0) {
        json_of_record(&out, document);
    }
    if (document->why.length > 0) {
        json_text(&out, ",\n  \"unknown\": ", document->why);
    }
    buf_append_string(&out, ",\n  \"statements\": [");
    for (size_t i = 0; i < document->count; i++) {
        buf_append_string(&out, i > 0 ? "," : "");
        json_of_statement(&out, document, &document->statements[i]);
    }
    buf_append_string(&out, "]}");
    flush(&out);
}
