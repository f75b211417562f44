/* A page for each document, and for each host by its origin: how it came and what became of it,
 * what is to be mended, what its server sent, its statements. As data the statements of its graph.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/url/url.h"
#include "metastore/record.h"
#include "web/html.h"
#include "web/http/accept.h"
#include "web/http/host.h"
#include "web/pages/page_terms.h"
#include "web/sparql_answer.h"

enum {
    STATEMENTS = 500,
    RECORD_BYTES = 32 << 20,
    TEXT_BYTES = 64 << 10,
    TERM_BYTES = 16 << 20,
    LINES = 100 /* of one field of the record */
};

struct known_field {
    enum meta_field field;
    const char *label;
};

/* Fields that say how it came and what became of it. Other fields have parts of their own, or stand
 * in Turtle. */
static const struct known_field document_fields[] = {{META_REASON, "Why"},
                                                     {META_FETCHED, "Fetched"},
                                                     {META_HTTP_STATUS, "HTTP status"},
                                                     {META_REDIRECT_TO, "Redirects to"},
                                                     {META_REDIRECT_FROM, "Redirected from"},
                                                     {META_CONTENT_TYPE, "Type by its server"},
                                                     {META_DETECTED_TYPE, "Type found"},
                                                     {META_DETECTED_BY, "Found by"},
                                                     {META_PAYLOAD_BYTES, "Bytes"},
                                                     {META_TRUNCATED, "Cut by the limit of"},
                                                     {META_LAST_MODIFIED, "Last-Modified"},
                                                     {META_VIA, "Found through"},
                                                     {META_DUMP, "Part of the dump"},
                                                     {META_PUBLISHER, "Publisher"},
                                                     {META_ROBOTS_TAGS, "Says to robots"},
                                                     {META_LINKS_FOUND, "Links found"},
                                                     {META_LINKS_ACCEPTED, "Links followed"},
                                                     {META_QUADS, "Statements"},
                                                     {META_QUADS_ADDED, "New of these"},
                                                     {META_QUADS_REMOVED, "No longer said"},
                                                     {META_INDEXED, "Indexed"},
                                                     {META_VISITS, "Visits"},
                                                     {META_VISITS_CHANGED, "Visits with a change"},
                                                     {META_CHANGED, "Change seen"},
                                                     {META_GONE_SINCE, "Gone since"},
                                                     {META_DUE, "Next visit"}};
static const struct known_field host_fields[] = {{META_ROBOTS_FETCHED, "robots.txt fetched"},
                                                 {META_ROBOTS_STATUS, "Its HTTP status"},
                                                 {META_ROBOTS_FAILURE, "Why there is none"},
                                                 {META_CRAWL_DELAY_MS, "Crawl-delay, ms"},
                                                 {META_SITEMAPS, "Sitemaps"},
                                                 {META_HOST_IP, "Address"},
                                                 {META_HOST_DOCUMENTS, "Documents"},
                                                 {META_PLAN, "Datasets"},
                                                 {META_ROBOTS_BODY, "robots.txt"}};

static struct slice
text_field(struct slice record, enum meta_field field)
{
    struct slice text = slice_of(NULL, 0);
    (void)meta_record_text(record, field, &text);
    return text;
}

static void
put_field(struct buf *out, const char *label, const struct meta_value *value)
{
    const enum meta_kind kind = meta_field_kind(value->field);
    (void)buf_printf(out, "<dt>%s</dt><dd>", label);
    if (kind == META_KIND_TIME) {
        page_time(out, value->number);
    } else if (!value->is_text) {
        page_number(out, value->number);
    } else if (kind == META_KIND_URI) {
        page_document_link(out, value->text);
    } else if (slice_find(value->text, '\n') < value->text.length) {
        (void)buf_append_string(out, "<pre>");
        html_text(out, value->text);
        (void)buf_append_string(out, "</pre>");
    } else {
        (void)buf_append_string(out, "<bdi>");
        html_text(out, value->text);
        (void)buf_append_string(out, "</bdi>");
    }
    (void)buf_append_string(out, "</dd>\n");
}

static void
put_fields(struct buf *out, struct slice record, const struct known_field *fields, size_t count)
{
    (void)buf_append_string(out, "<dl class=\"pairs\">\n");
    for (size_t i = 0; i < count; i++) {
        struct meta_value value;
        size_t at = 0;
        while (meta_record_next(record, &at, &value)) {
            if (value.field == fields[i].field) {
                put_field(out, fields[i].label, &value);
            }
        }
    }
    (void)buf_append_string(out, "</dl>\n");
}

/* ---- what was found, and what is to be mended ---- */

/* "turtle 25 links 3" */
static void
put_transforms(struct buf *out, struct slice record)
{
    struct slice said = text_field(record, META_TRANSFORM_QUADS);
    const struct slice versions = text_field(record, META_TRANSFORM);
    if (versions.length == 0) {
        return;
    }
    (void)buf_append_string(out, "<h2>What read it</h2>\n<p>");
    while (said.length > 0) {
        const struct slice name = slice_take(&said, ' ');
        (void)buf_append_string(out, "<span class=\"tag\">");
        html_text(out, name);
        (void)buf_append_string(out, ": ");
        page_number(out, slice_number(slice_take(&said, ' ')));
        (void)buf_append_string(out, " statements</span>");
    }
    (void)buf_append_string(out, "</p><p class=\"where\">Versions: ");
    html_text(out, versions);
    (void)buf_append_string(out, "</p>\n");
}

/* Lines "transform: line 3: text". */
static void
put_findings(struct buf *out, struct slice record)
{
    static const struct {
        enum meta_field field;
        const char *title, *class;
    } kinds[] = {{META_TRANSFORM_PROBLEMS, "could not be read", "bad"},
                 {META_TRANSFORM_REPAIRS, "was repaired", ""},
                 {META_TRANSFORM_ADVICE, "could be better", "good"}};
    bool any = false;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        struct slice lines = text_field(record, kinds[i].field);
        for (int n = 0; lines.length > 0 && n < LINES; n++) {
            const struct slice line = slice_take(&lines, '\n');
            (void)buf_append_string(out, any ? "" : "<h2>What to mend</h2>\n<ul>");
            (void)buf_printf(out, "<li><span class=\"tag %s\">%s</span> <bdi>", kinds[i].class,
                             kinds[i].title);
            html_text(out, line);
            (void)buf_append_string(out, "</bdi></li>\n");
            any = true;
        }
    }
    (void)buf_append_string(out, any ? "</ul>\n" : "");
}

static void
put_link(struct buf *out, const char *address, struct slice uri, const char *words)
{
    (void)buf_printf(out, "<a href=\"%s", address);
    url_append_value(out, uri);
    (void)buf_printf(out, "\">%s</a>", words);
}

/* Puts what the document's server sent, and with which header fields. */
static void
put_archived(struct buf *out, struct slice record, struct slice uri)
{
    static const struct known_field exchange[] = {{META_REQUEST_HEADERS, "Asked"},
                                                  {META_RESPONSE_HEADERS, "Answered"},
                                                  {META_WARC_FILE, "Archived in"},
                                                  {META_WARC_OFFSET, "From byte"},
                                                  {META_PAYLOAD_DIGEST, "Digest of the body"}};
    if (text_field(record, META_WARC_FILE).length == 0) {
        return;
    }
    (void)buf_append_string(out, "<h2>What its server sent</h2>\n<p>");
    put_link(out, "/archived?uri=", uri, "Header and body as they are archived");
    (void)buf_append_string(out, " · ");
    put_link(out, "/archived?as=file&amp;uri=", uri, "the body as a file");
    (void)buf_append_string(out, "</p>\n<details><summary>The exchange</summary>\n");
    put_fields(out, record, exchange, sizeof exchange / sizeof exchange[0]);
    (void)buf_append_string(out, "</details>\n");
}

/* Lines "time stage outcome". */
static void
put_history(struct buf *out, struct slice record)
{
    struct slice lines = text_field(record, META_ATTEMPTS);
    if (lines.length == 0) {
        return;
    }
    (void)buf_append_string(out,
                            "<h2>What became of it</h2>\n<div class=\"wide\"><table><thead><tr>"
                            "<th scope=\"col\">When</th><th scope=\"col\">Stage</th>"
                            "<th scope=\"col\">Outcome</th></tr></thead><tbody>\n");
    for (int n = 0; lines.length > 0 && n < LINES; n++) {
        struct slice line = slice_take(&lines, '\n');
        (void)buf_append_string(out, "<tr><td>");
        html_text(out, slice_take(&line, ' '));
        (void)buf_append_string(out, "</td><td>");
        html_text(out, slice_take(&line, ' '));
        (void)buf_append_string(out, "</td><td><bdi>");
        html_text(out, line);
        (void)buf_append_string(out, "</bdi></td></tr>\n");
    }
    (void)buf_append_string(out, "</tbody></table></div>\n");
}

/* ---- its statements ---- */

static void
put_statements(struct buf *out, const struct page_rows *rows, struct slice uri)
{
    static const char *const formats[][2] = {{"/graph?format=ttl&amp;graph=", "Turtle"},
                                             {"/graph?format=jsonld&amp;graph=", "JSON-LD"},
                                             {"/graph?format=rdf&amp;graph=", "RDF/XML"},
                                             {"/graph?format=nq&amp;graph=", "N-Quads"}};
    struct slice lines = buf_slice(&rows->lines);
    struct arena arena;
    arena_init(&arena, TERM_BYTES);
    (void)slice_take(&lines, '\n');
    (void)buf_append_string(out, "<h2>What it says</h2>\n<p class=\"where\">All of it as");
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        (void)buf_append_char(out, ' ');
        put_link(out, formats[i][0], uri, formats[i][1]);
    }
    (void)buf_append_string(out, "</p>\n<table class=\"triples\"><thead><tr>"
                                 "<th scope=\"col\">Of</th><th scope=\"col\">Property</th>"
                                 "<th scope=\"col\">Value</th></tr></thead><tbody>\n");
    struct slice before = slice_of(NULL, 0);
    while (lines.length > 0) {
        struct slice line = slice_take(&lines, '\n');
        const struct slice subject = slice_take(&line, '\t');
        (void)buf_append_string(out, "<tr><td>");
        if (!slice_equal(subject, before)) {
            const struct term term = page_term_read(subject, &arena);
            page_term(out, &term);
        }
        before = subject;
        (void)buf_append_string(out, "</td><td>");
        const struct term property = page_term_read(slice_take(&line, '\t'), &arena);
        page_term(out, &property);
        (void)buf_append_string(out, "</td><td>");
        const struct term value = page_term_read(slice_take(&line, '\t'), &arena);
        page_term(out, &value);
        (void)buf_append_string(out, "</td></tr>\n");
        arena_reset(&arena);
    }
    (void)buf_append_string(out, "</tbody></table>\n");
    if (rows->cut) {
        (void)buf_printf(out, "<p class=\"note\">There are more than these %d.</p>\n", STATEMENTS);
    }
    arena_release(&arena);
}

/* ---- the page ---- */

static void
put_form(struct buf *out, struct slice uri)
{
    (void)buf_append_string(out,
                            "<form class=\"row\" action=\"/document\"><input name=\"uri\" "
                            "type=\"url\" aria-label=\"Address of a document or host\" "
                            "placeholder=\"https://… a document, or a host\" required value=\"");
    html_text(out, uri);
    (void)buf_append_string(out, "\"><button>Show</button></form>\n");
}

static void
put_record(struct buf *out, struct slice key, struct slice record, struct slice uri)
{
    if (key.at[0] == 'h') {
        put_fields(out, record, host_fields, sizeof host_fields / sizeof host_fields[0]);
    } else {
        put_fields(out, record, document_fields,
                   sizeof document_fields / sizeof document_fields[0]);
        put_transforms(out, record);
        put_findings(out, record);
        put_archived(out, record, uri);
        put_history(out, record);
    }
    (void)buf_append_string(out, "<p class=\"where\">");
    put_link(out, "/meta?format=ttl&amp;uri=", uri, "All that is known of it, as Turtle");
    (void)buf_append_string(out, "</p>\n");
}

/* A button that has it fetched out of turn, with a receipt. */
static void
put_again(struct buf *out, struct slice uri)
{
    (void)buf_append_string(out, "<form action=\"/v2/ping\" method=\"post\"><input type=\"hidden\" "
                                 "name=\"url\" value=\"");
    html_text(out, uri);
    (void)buf_append_string(out, "\"><button class=\"plain\">Fetch it anew</button></form>\n");
}

static void
put_page(struct buf *out, struct slice uri, struct slice key, struct slice record,
         const struct page_rows *rows)
{
    const struct slice state = text_field(record, META_STATE);
    html_begin(out, "Document", slice_of(NULL, 0));
    put_form(out, uri);
    (void)buf_append_string(out, "<h1><bdi>");
    html_text(out, uri);
    (void)buf_append_string(out, "</bdi></h1>\n<p>");
    if (state.length > 0) {
        (void)buf_append_string(out, "<span class=\"tag\">");
        html_text(out, state);
        (void)buf_append_string(out, "</span> ");
    }
    put_link(out, "/resource?uri=", uri, "what is said of it");
    (void)buf_append_string(out, " · ");
    put_link(out, "/changes?uri=", uri, "what changed last");
    (void)buf_append_string(out, " · ");
    put_link(out, "/inspect?url=", uri, "inspect it as it is now");
    (void)buf_append_string(out, " · ");
    put_link(out, "/inspect?archived=", uri, "line by line, as it is archived");
    (void)buf_append_string(out, " · ");
    put_link(out, "/validate?uri=", uri, "validate it");
    (void)buf_append_string(out, " · ");
    put_link(out, "/report?host=", web_host_of(uri), "report of its site");
    (void)buf_append_string(out, " · ");
    page_web_link(out, uri, "on the web");
    (void)buf_append_string(out, "</p>\n");
    put_again(out, uri);
    if (record.length > 0) {
        put_record(out, key, record, uri);
    }
    if (rows->rows > 1) {
        put_statements(out, rows, uri);
    }
    html_end(out);
}

/* Writes the page. A document that was never fetched but imported has statements and no record; a
 * page without data has a record alone. */
static enum status
write_page(struct web_service *service, struct web_query *query, struct slice uri, struct buf *out,
           struct reason *why)
{
    struct buf key, record, text;
    struct page_rows rows;
    buf_init(&key, META_KEY_MAXIMUM);
    buf_init(&record, RECORD_BYTES);
    buf_init(&text, TEXT_BYTES);
    page_rows_init(&rows, STATEMENTS + 1);
    (void)buf_printf(
        &text,
        "SELECT ?s ?p ?o { { SELECT ?s ?p ?o { GRAPH <%.*s> { ?s ?p ?o } } LIMIT %d } } "
        "ORDER BY isBlank(?s) ?s ?p ?o",
        SLICE_PRINT(uri), STATEMENTS + 1);
    struct reason unknown = {""};
    enum status status = web_document_fields(service, uri, &key, &record, &unknown);
    const bool known = status == STATUS_OK && record.length > 0;
    status = page_query(service, query, buf_slice(&text), "tsv", &rows, why);
    if (known || (status == STATUS_OK && rows.rows > 1)) {
        put_page(out, uri, buf_slice(&key), known ? buf_slice(&record) : slice_of(NULL, 0), &rows);
        status = STATUS_OK;
    } else if (status == STATUS_OK) {
        status = status_fail(why, STATUS_NOT_FOUND, "nothing is known of %.*s%s%s",
                             SLICE_PRINT(uri), unknown.text[0] != '\0' ? ": " : "", unknown.text);
    }
    page_rows_release(&rows);
    buf_release(&text);
    buf_release(&record);
    buf_release(&key);
    return status;
}

static void
answer_data(struct web_service *service, const struct web_request *request, struct slice uri,
            struct web_reply *reply)
{
    const int chosen = web_choose_type(request, &web_graph_types, reply);
    char *text = NULL;
    if (chosen >= 0 && asprintf(&text, "CONSTRUCT { ?s ?p ?o } { GRAPH <%.*s> { ?s ?p ?o } }",
                                SLICE_PRINT(uri)) > 0) {
        web_answer_query(service, request, text, &web_graph_types, chosen, reply);
    }
}

void
web_document(struct web_service *service, const struct web_request *request,
             struct web_reply *reply)
{
    static const char *const page_types[] = {
        "text/html",           "text/turtle",         "application/n-triples",
        "application/n-quads", "application/rdf+xml", "application/ld+json",
        "application/trig"};
    const struct slice uri = slice_string(web_parameter(request, "uri", NULL));
    const char *format = web_parameter(request, "format", NULL);
    struct reason why = {""};
    if (uri.length == 0) {
        html_begin(&reply->body, "Documents", slice_of(NULL, 0));
        (void)buf_append_string(&reply->body, "<h1>What is known of a document</h1>\n");
        put_form(&reply->body, uri);
        (void)buf_append_string(&reply->body,
                                "<p>How it came, what read it, what its server sent, what it says; "
                                "or of a host: its rules for robots and how it answers.</p>\n");
        html_end(&reply->body);
        return;
    }
    if (!iri_is_absolute(uri)) {
        web_reply_error(reply, 400, "uri is no IRI.");
        return;
    }
    if (format != NULL ? strcmp(format, "html") != 0
                       : web_accept_choose(web_header(request, "Accept"), page_types, 7) != 0) {
        answer_data(service, request, uri, reply);
        return;
    }
    struct web_query *query = web_query_take(service, request, reply);
    if (query == NULL) {
        return;
    }
    const enum status status = write_page(service, query, uri, &reply->body, &why);
    web_query_give(service, query);
    if (status != STATUS_OK) {
        web_reply_failure(reply, status, &why);
    }
}

/* Replies with what the metadata store knows of a URI, as Turtle, or as the page for who prefers
 * one. */
void
web_meta(struct web_service *service, const struct web_request *request, struct web_reply *reply)
{
    static const char *const types[] = {"text/turtle", "text/html"};
    struct reason why = {""};
    const char *uri = web_parameter(request, "uri", NULL);
    const char *format = web_parameter(request, "format", NULL);
    if (format != NULL && strcmp(format, "ttl") != 0 && strcmp(format, "html") != 0) {
        web_reply_error(reply, 406, "There are the formats html and ttl.");
        return;
    }
    const bool page = format != NULL
                          ? strcmp(format, "html") == 0
                          : web_accept_choose(web_header(request, "Accept"), types, 2) == 1;
    if (uri == NULL || uri[0] == 0 || page) {
        web_document(service, request, reply);
        return;
    }
    struct web_query *query = web_query_take(service, request, reply);
    if (query == NULL) {
        return;
    }
    reply->content_type = "text/turtle; charset=utf-8";
    const enum status status = web_document_record(service, slice_string(uri), &reply->body, &why);
    if (status != STATUS_OK) {
        web_reply_failure(reply, status, &why);
    }
    web_query_give(service, query);
}
