#include "web/pages/page_terms.h"

#include <stdio.h>

#include "base/system/clock.h"
#include "base/url/url.h"
#include "config/config.h"
#include "index/query/parser/prefixes.h"
#include "rdf/core/vocabulary.h"
#include "rdf/nquads/nquads.h"
#include "web/html.h"

enum { ROWS_BYTES = 2 << 20, SHOWN_BYTES = 2000, NAME_BYTES = 16 << 10, FOLDER_BYTES = 4096 };

/* ---- reading ---- */

struct reading {
    struct arena *arena;
    struct term term;
};

static enum status
keep_object(void *context, const struct quad *quad, struct reason *why)
{
    struct reading *reading = context;
    (void)why;
    if (!term_copy(reading->arena, &quad->object, &reading->term)) {
        reading->term = (struct term){.kind = TERM_NONE};
    }
    return STATUS_OK;
}

/* Makes the literal of a text that Turtle writes without quotation marks. */
static struct term
bare_literal(struct slice text)
{
    const bool boolean = slice_is(text, "true") || slice_is(text, "false");
    bool exponent = false, point = false;
    for (size_t i = 0; i < text.length; i++) {
        exponent |= text.at[i] == 'e' || text.at[i] == 'E';
        point |= text.at[i] == '.';
    }
    struct term term = term_literal(text);
    term.datatype = slice_string(boolean    ? XSD_BOOLEAN
                                 : exponent ? XSD_DOUBLE
                                 : point    ? XSD_DECIMAL
                                            : XSD_INTEGER);
    return term;
}

struct term
page_term_read(struct slice text, struct arena *arena)
{
    struct reading reading = {.arena = arena, .term = {.kind = TERM_NONE}};
    const struct quad_sink sink = {keep_object, &reading};
    struct reason why;
    if (text.length == 0) {
        return reading.term;
    }
    if (strchr("<_\"", text.at[0]) == NULL) {
        return bare_literal(text);
    }
    const struct slice line = arena_printf(arena, "<urn:s> <urn:p> %.*s .", SLICE_PRINT(text));
    if (line.length == 0 || ntriples_parse(line, NULL, &sink, &why) != STATUS_OK) {
        return (struct term){.kind = TERM_NONE};
    }
    return reading.term;
}

/* ---- writing ---- */

/* Tells whether a name can stand after a prefix without escapes. */
static bool
is_local_name(struct slice text)
{
    for (size_t i = 0; i < text.length; i++) {
        const char c = text.at[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
              c == '_' || (c == '-' && i > 0))) {
            return false;
        }
    }
    return text.length > 0;
}

struct slice
page_name(struct slice iri, struct buf *memory)
{
    for (const struct known_prefix *known = known_prefixes; known->prefix != NULL; known++) {
        const struct slice space = slice_string(known->iri);
        if (slice_starts(iri, space)) {
            const struct slice local = slice_of(iri.at + space.length, iri.length - space.length);
            if (is_local_name(local)) {
                buf_reset(memory);
                (void)buf_printf(memory, "%s:%.*s", known->prefix, SLICE_PRINT(local));
                return buf_slice(memory);
            }
        }
    }
    return iri;
}

static void
page_link(struct buf *out, const char *page, struct slice iri, struct slice shown)
{
    (void)buf_printf(out, "<a href=\"%s?uri=", page);
    url_append_value(out, iri);
    if (shown.length != iri.length) {
        (void)buf_append_string(out, "\" title=\"");
        html_text(out, iri);
    }
    (void)buf_append_string(out, "\"><bdi>");
    html_text(out, shown);
    (void)buf_append_string(out, "</bdi></a>");
}

void
page_resource_link(struct buf *out, struct slice iri)
{
    struct buf memory;
    buf_init(&memory, NAME_BYTES);
    page_link(out, "/resource", iri, page_name(iri, &memory));
    buf_release(&memory);
}

void
page_document_link(struct buf *out, struct slice uri)
{
    page_link(out, "/document", uri, uri);
}

void
page_web_link(struct buf *out, struct slice iri, const char *words)
{
    if (slice_starts(iri, SLICE("http://")) || slice_starts(iri, SLICE("https://"))) {
        (void)buf_append_string(out, "<a rel=\"noreferrer nofollow\" href=\"");
        html_text(out, iri);
        (void)buf_printf(out, "\">%s</a>", words);
    }
}

/* Datatypes that the text shows by itself. */
static bool
is_plain_type(struct slice datatype)
{
    return slice_is(datatype, XSD_STRING) || slice_is(datatype, XSD_INTEGER) ||
           slice_is(datatype, XSD_DECIMAL) || slice_is(datatype, XSD_DOUBLE) ||
           slice_is(datatype, XSD_BOOLEAN);
}

static void
page_literal(struct buf *out, const struct term *term)
{
    const struct slice text = html_text_start(term->value, SHOWN_BYTES);
    const bool cut = text.length < term->value.length;
    (void)buf_append_string(out, "<bdi");
    if (term->language.length > 0) {
        (void)buf_append_string(out, " lang=\"");
        html_text(out, term->language);
        (void)buf_append_string(out, "\"");
    }
    (void)buf_append_string(out, ">");
    html_text(out, text);
    (void)buf_append_string(out, cut ? "…</bdi>" : "</bdi>");
    if (term->language.length > 0) {
        (void)buf_append_string(out, " <span class=\"tag\">");
        html_text(out, term->language);
        (void)buf_append_string(out, "</span>");
    } else if (term->datatype.length > 0 && !is_plain_type(term->datatype)) {
        struct buf memory;
        buf_init(&memory, NAME_BYTES);
        (void)buf_append_string(out, " <span class=\"tag\">");
        html_text(out, page_name(term->datatype, &memory));
        (void)buf_append_string(out, "</span>");
        buf_release(&memory);
    }
}

void
page_term(struct buf *out, const struct term *term)
{
    switch (term->kind) {
    case TERM_IRI:
        page_resource_link(out, term->value);
        break;
    case TERM_BLANK:
        (void)buf_append_string(out, "<span class=\"where\">_:");
        html_text(out, term->value);
        (void)buf_append_string(out, "</span>");
        break;
    case TERM_LITERAL:
        page_literal(out, term);
        break;
    case TERM_NONE:
        break;
    }
}

void
page_number(struct buf *out, uint64_t number)
{
    char digits[24];
    const int length = snprintf(digits, sizeof digits, "%llu", (unsigned long long)number);
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0) {
            (void)buf_append_char(out, ',');
        }
        (void)buf_append_char(out, digits[i]);
    }
}

void
page_time(struct buf *out, uint64_t wall_ms)
{
    char exact[CLOCK_TEXT_SIZE];
    if (wall_ms > 0) {
        clock_text(wall_ms, 0, exact);
        (void)buf_printf(out, "<time datetime=\"%s\">%.10s %.8s UTC</time>", exact, exact,
                         exact + 11);
    }
}

/* ---- rows ---- */

void
page_rows_init(struct page_rows *rows, uint64_t most)
{
    *rows = (struct page_rows){.most = most};
    buf_init(&rows->lines, ROWS_BYTES);
}

void
page_rows_release(struct page_rows *rows)
{
    buf_release(&rows->lines);
}

/* Appends bytes until there are enough rows, then stops the call with LIMIT and *cut. */
static enum status
page_rows_take(void *context, struct slice bytes, struct reason *why)
{
    struct page_rows *rows = context;
    while (bytes.length > 0) {
        size_t end = slice_find(bytes, '\n');
        const bool whole = end < bytes.length;
        end += whole;
        if (rows->rows == rows->most || buf_append(&rows->lines, bytes.at, end) != STATUS_OK) {
            rows->cut = true;
            return status_fail(why, STATUS_LIMIT, "there are more rows");
        }
        rows->rows += whole;
        bytes = slice_of(bytes.at + end, bytes.length - end);
    }
    return STATUS_OK;
}

enum status
page_query(struct web_service *service, struct web_query *query, struct slice sparql,
           const char *format, struct page_rows *rows, struct reason *why)
{
    struct buf folder;
    struct index_client *client;
    TRY(web_index_take(service, &client, why));
    buf_init(&folder, FOLDER_BYTES);
    config_path(service->directory, "run", &folder);
    const struct index_query_options options = {
        .timeout_ms = (uint32_t)opt_duration_ms(service->options, "web.query_timeout"),
        .scratch_folder = folder.data,
        .client = query->client};
    index_client_manner(client, INDEX_PARTIAL_ERROR, &query->cancelled);
    const enum status status =
        index_query(client, sparql, format, &options, page_rows_take, rows, why);
    index_client_manner(client, INDEX_PARTIAL_ERROR, NULL);
    web_index_give(service, client, status == STATUS_OK || status == STATUS_BAD_INPUT);
    buf_release(&folder);
    while (rows->cut && rows->lines.length > 0 &&
           rows->lines.data[rows->lines.length - 1] != '\n') {
        rows->lines.length--; /* a row of which there is only the beginning */
    }
    return rows->cut ? STATUS_OK : web_query_status(query, status, why);
}
