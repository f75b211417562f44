/* A page for each IRI: what is said of it and by whom, and what links to it; the same data in the
 * syntaxes of RDF by content negotiation. */
#include <stdlib.h>

#include "base/url/url.h"
#include "web/api/find.h"
#include "web/html.h"
#include "web/http/accept.h"
#include "web/sparql_answer.h"

enum { TEXT_BYTES = 64 << 10, STATEMENTS = 200, SHOWN_BYTES = 400 };

/* An IRI leads to its own page here, and to where it is on the web. */
static void
html_resource(struct buf *out, struct slice iri)
{
    (void)buf_append_string(out, "<a href=\"/resource?uri=");
    url_append_value(out, iri);
    (void)buf_append_string(out, "\">");
    html_text(out, iri);
    (void)buf_append_string(out, "</a>");
}

static void
html_value(struct buf *out, const json_t *binding, const char *variable)
{
    const json_t *term = json_object_get(binding, variable);
    const char *type = json_string_value(json_object_get(term, "type"));
    const char *language = json_string_value(json_object_get(term, "xml:lang"));
    struct slice value = find_value(binding, variable);
    if (type != NULL && strcmp(type, "uri") == 0) {
        html_resource(out, value);
        return;
    }
    const bool cut = value.length > SHOWN_BYTES;
    value.length = cut ? SHOWN_BYTES : value.length;
    if (language != NULL) {
        (void)buf_append_string(out, "<span lang=\"");
        html_text(out, slice_string(language));
        (void)buf_append_string(out, "\">");
    }
    html_text(out, value);
    (void)buf_append_string(out, cut ? "…" : "");
    (void)buf_append_string(out, language != NULL ? "</span>" : "");
}

/* A table of statements; the last column is the document that says so. */
static void
html_statements(struct buf *out, const char *title, const char *variable, const json_t *bindings)
{
    (void)buf_printf(out, "<h2>%s</h2>\n", title);
    if (json_array_size(bindings) == 0) {
        (void)buf_append_string(out, "<p>Nothing.</p>\n");
        return;
    }
    (void)buf_append_string(out, "<table>\n");
    for (size_t i = 0; i < json_array_size(bindings) && i < STATEMENTS; i++) {
        const json_t *binding = json_array_get(bindings, i);
        (void)buf_append_string(out, "<tr><td>");
        html_value(out, binding, "p");
        (void)buf_append_string(out, "</td><td>");
        html_value(out, binding, variable);
        (void)buf_append_string(out, "</td><td>");
        html_iri(out, find_value(binding, "g"));
        (void)buf_append_string(out, " <a href=\"/meta?uri=");
        url_append_value(out, find_value(binding, "g"));
        (void)buf_append_string(out, "\">about it</a></td></tr>\n");
    }
    (void)buf_append_string(out, "</table>\n");
    if (json_array_size(bindings) > STATEMENTS) {
        (void)buf_printf(out, "<p>There are more than these %d.</p>\n", STATEMENTS);
    }
}

static enum status
write_page(struct web_service *service, const struct web_query *query, struct slice uri,
           struct buf *out, struct reason *why)
{
    struct buf text;
    json_t *said = NULL, *links = NULL;
    buf_init(&text, TEXT_BYTES);
    (void)buf_printf(&text,
                     "SELECT ?p ?o ?g { GRAPH ?g { <%.*s> ?p ?o } } ORDER BY ?p ?o ?g LIMIT %d",
                     SLICE_PRINT(uri), STATEMENTS + 1);
    enum status status = find_select(service, query, buf_slice(&text), &said, why);
    buf_reset(&text);
    (void)buf_printf(&text,
                     "SELECT ?p ?s ?g { GRAPH ?g { ?s ?p <%.*s> } } ORDER BY ?p ?s ?g LIMIT %d",
                     SLICE_PRINT(uri), STATEMENTS + 1);
    if (status == STATUS_OK) {
        status = find_select(service, query, buf_slice(&text), &links, why);
    }
    if (status == STATUS_OK && json_array_size(said) + json_array_size(links) == 0) {
        status = status_fail(why, STATUS_NOT_FOUND, "nothing is said of <%.*s>", SLICE_PRINT(uri));
    }
    if (status == STATUS_OK) {
        html_begin(out, "Resource", slice_of(NULL, 0));
        (void)buf_append_string(out, "<h1 class=\"where\">");
        html_iri(out, uri);
        (void)buf_append_string(out, "</h1>\n");
        html_statements(out, "What is said of it", "o", said);
        html_statements(out, "What links to it", "s", links);
        html_end(out);
    }
    json_decref(said);
    json_decref(links);
    buf_release(&text);
    return status;
}

void
web_resource(struct web_service *service, const struct web_request *request,
             struct web_reply *reply)
{
    static const char *const page_types[] = {"text/turtle", "text/html"};
    const struct slice uri = slice_string(web_parameter(request, "uri", NULL));
    const char *format = web_parameter(request, "format", NULL);
    const char *accept = web_header(request, "Accept");
    const bool page = format != NULL
                          ? strcmp(format, "html") == 0
                          : accept != NULL && web_accept_choose(accept, page_types, 2) == 1;
    struct reason why = {""};
    if (!iri_is_absolute(uri)) {
        web_reply_error(reply, 400, "uri is no IRI.");
        return;
    }
    if (!page) {
        const int chosen = web_choose_type(request, &web_graph_types, reply);
        char *text = NULL;
        if (chosen >= 0 && asprintf(&text, "DESCRIBE <%.*s>", SLICE_PRINT(uri)) > 0) {
            web_answer_query(service, request, text, &web_graph_types, chosen, reply);
        }
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
