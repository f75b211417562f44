/* Tells who is the same as a resource, with each reason: a page, or JSON when Accept or format=
 * asks. */
#include "web/pages/identity_page.h"

#include <jansson.h>

#include "base/url/url.h"
#include "search/find.h"
#include "web/html.h"
#include "web/http/accept.h"
#include "web/pages/page_terms.h"

enum { ANSWER_BYTES = 16 << 20, TERM_BYTES = 1 << 20 };

static enum status
gather(void *context, struct slice bytes, struct reason *why)
{
    const enum status status = buf_append_slice(context, bytes);
    return status == STATUS_OK
               ? status
               : status_fail(why, status, "the reasons are longer than %d bytes", ANSWER_BYTES);
}

static enum status
read_identity(struct web_service *service, struct web_query *query, struct slice uri, bool json,
              struct buf *answer, struct reason *why)
{
    const bool blank = slice_starts(uri, SLICE("_:"));
    const struct term term =
        blank ? term_blank(slice_of(uri.at + 2, uri.length - 2)) : term_iri(uri);
    struct index_client *client;
    if (!blank && !iri_is_absolute(uri)) {
        return status_fail(why, STATUS_BAD_INPUT, "uri is an IRI, or a blank node as _:label");
    }
    TRY(web_index_take(service, &client, why));
    index_client_manner(client, INDEX_PARTIAL_ERROR, &query->cancelled);
    const enum status status = index_identity(
        client, &term, json, (uint32_t)opt_duration_ms(service->options, "web.query_timeout"),
        gather, answer, why);
    index_client_manner(client, INDEX_PARTIAL_ERROR, NULL);
    web_index_give(service, client, status == STATUS_OK);
    return web_query_status(query, status, why);
}

/* ---- as HTML ---- */

static struct slice
text_of(const json_t *value)
{
    return slice_of(json_string_value(value), json_string_length(value));
}

/* A term as the answer has it, as a link when it is an IRI. */
static void
put_term(struct buf *out, const json_t *value)
{
    struct arena arena;
    arena_init(&arena, TERM_BYTES);
    const struct term term = page_term_read(text_of(value), &arena);
    page_term(out, &term);
    arena_release(&arena);
}

/* The members but for the resource itself. Returns how many. */
static size_t
put_members(struct buf *out, const json_t *answer)
{
    const json_t *members = json_object_get(answer, "members");
    const struct slice self = text_of(json_object_get(answer, "resource"));
    size_t count = 0;
    for (size_t i = 0; i < json_array_size(members); i++) {
        const json_t *member = json_array_get(members, i);
        if (!slice_equal(text_of(member), self)) {
            (void)buf_append_string(out, count++ == 0 ? "<ul class=\"flat\"><li>" : "<li>");
            put_term(out, member);
            (void)buf_append_string(out, "</li>");
        }
    }
    (void)buf_append_string(out, count > 0 ? "</ul>\n" : "");
    return count;
}

/* Each reason is a statement of a document that makes two the same by a rule. */
static void
put_reasons(struct buf *out, const json_t *answer)
{
    static const char *const columns[][2] = {
        {"rule", "Rule"},       {"resource", "This"},
        {"other", "is that"},   {"stated", "by the property"},
        {"value", "and value"}, {"document", "in the document"}};
    const json_t *reasons = json_object_get(answer, "reasons");
    if (json_array_size(reasons) == 0) {
        return;
    }
    (void)buf_append_string(out, "<h2>Why</h2>\n<div class=\"wide\"><table><thead><tr>");
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
        (void)buf_printf(out, "<th scope=\"col\">%s</th>", columns[i][1]);
    }
    (void)buf_append_string(out, "</tr></thead><tbody>\n");
    for (size_t i = 0; i < json_array_size(reasons); i++) {
        const json_t *reason = json_array_get(reasons, i);
        (void)buf_append_string(out, "<tr><td>");
        html_text(out, text_of(json_object_get(reason, "rule")));
        for (size_t k = 1; k < sizeof columns / sizeof columns[0]; k++) {
            (void)buf_append_string(out, "</td><td>");
            const json_t *value = json_object_get(reason, columns[k][0]);
            if (strcmp(columns[k][0], "document") == 0 && text_of(value).length > 2) {
                page_document_link(out, slice_of(text_of(value).at + 1, text_of(value).length - 2));
            } else {
                put_term(out, value);
            }
        }
        (void)buf_append_string(out, "</td></tr>\n");
    }
    (void)buf_append_string(out, "</tbody></table></div>\n");
}

void
identity_put_members(struct web_service *service, struct web_query *query, struct slice uri,
                     struct buf *out)
{
    struct reason why;
    struct buf text;
    buf_init(&text, ANSWER_BYTES);
    if (read_identity(service, query, uri, true, &text, &why) == STATUS_OK) {
        json_t *answer = json_loadb(text.data, text.length, JSON_ALLOW_NUL, NULL);
        if (json_array_size(json_object_get(answer, "members")) > 1) {
            (void)buf_append_string(out, "<h2>The same as</h2>\n");
            (void)put_members(out, answer);
            (void)buf_append_string(out, "<p class=\"where\"><a href=\"/identity?uri=");
            url_append_value(out, uri);
            (void)buf_append_string(out, "\">Why these are the same</a></p>\n");
        }
        json_decref(answer);
    }
    buf_release(&text);
}

/* ---- what several share ---- */

static enum status
read_shared(struct web_service *service, struct web_query *query, json_t **shared,
            struct reason *why)
{
    struct index_client *client;
    *shared = NULL;
    TRY(web_index_take(service, &client, why));
    const struct find_access access = {
        .index = client,
        .timeout_ms = (uint32_t)opt_duration_ms(service->options, "web.query_timeout"),
        .asker = query->client};
    index_client_manner(client, INDEX_PARTIAL_ERROR, &query->cancelled);
    const enum status status = find_shared_values(&access, shared, why);
    index_client_manner(client, INDEX_PARTIAL_ERROR, NULL);
    web_index_give(service, client, status == STATUS_OK);
    return web_query_status(query, status, why);
}

static void
put_shared(struct buf *out, const json_t *shared)
{
    const json_t *values = json_object_get(shared, "values");
    (void)buf_append_string(
        out, "<h2>Values that several share</h2>\n<p>Of properties that a document calls inverse "
             "functional. Whether one identifies, and why or why not, is told with each resource."
             "</p>\n<div class=\"wide\"><table><thead><tr><th scope=\"col\">Property</th>"
             "<th scope=\"col\">Value</th><th scope=\"col\">Resources</th>"
             "<th scope=\"col\">Why</th></tr></thead><tbody>\n");
    for (size_t i = 0; i < json_array_size(values); i++) {
        const json_t *value = json_array_get(values, i);
        const struct slice one = text_of(json_object_get(value, "one"));
        const struct slice aside = text_of(json_object_get(value, "setAside"));
        const bool iri = slice_starts(one, SLICE("<"));
        (void)buf_append_string(out, "<tr><td>");
        put_term(out, json_object_get(value, "property"));
        (void)buf_append_string(out, "</td><td>");
        put_term(out, json_object_get(value, "value"));
        (void)buf_append_string(out, "</td><td>");
        page_number(out, (uint64_t)json_integer_value(json_object_get(value, "resources")));
        (void)buf_append_string(out, "</td><td><a href=\"/identity?uri=");
        url_append_value(out, iri ? slice_of(one.at + 1, one.length - 2) : one);
        (void)buf_append_string(out, aside.length == 0 ? "\">the evidence</a>"
                                     : slice_is(aside, "refused")
                                         ? "\">set aside: it identifies nothing</a>"
                                         : "\">set aside: too many share it</a>");
        (void)buf_append_string(out, "</td></tr>\n");
    }
    (void)buf_append_string(out, "</tbody></table></div>\n");
    if (json_is_true(json_object_get(shared, "more"))) {
        (void)buf_append_string(out, "<p class=\"note\">There are more.</p>\n");
    }
}

/* answer: as text, for what is said beside the tables; json: the same. */
static void
page(struct buf *out, struct slice uri, struct slice text, struct slice json, const json_t *shared)
{
    html_begin(out, "Who is the same", slice_of(NULL, 0));
    (void)buf_append_string(
        out, "<h1>Who is the same</h1><form class=\"row\" action=\"/identity\">"
             "<input name=\"uri\" aria-label=\"IRI of a resource\" placeholder=\"https://…\" "
             "required value=\"");
    html_text(out, uri);
    (void)buf_append_string(out, "\"><button>Show</button></form>\n");
    if (text.length > 0) {
        json_t *answer = json_loadb(json.at, json.length, JSON_ALLOW_NUL, NULL);
        (void)buf_append_string(out, "<h2>The same as ");
        put_term(out, json_object_get(answer, "resource"));
        (void)buf_append_string(out, "</h2>\n");
        if (put_members(out, answer) == 0) {
            (void)buf_append_string(out, "<p>Nothing else.</p>\n");
        }
        put_reasons(out, answer);
        (void)buf_append_string(out, "<details><summary>In words</summary><pre>");
        html_text(out, text);
        (void)buf_append_string(out, "</pre></details><p class=\"where\">"
                                     "<a href=\"/identity?format=json&amp;uri=");
        url_append_value(out, uri);
        (void)buf_append_string(out, "\">The same as JSON</a></p>\n");
        json_decref(answer);
    }
    if (json_array_size(json_object_get(shared, "values")) > 0) {
        put_shared(out, shared);
    } else if (json_object_get(shared, "failure") != NULL) {
        (void)buf_append_string(out, "<p class=\"note\">What several share is not known: ");
        html_text(out, text_of(json_object_get(shared, "failure")));
        (void)buf_append_string(out, "</p>\n");
    }
    html_end(out);
}

/* Without a resource: what several share, and a form. */
static void
answer_shared(struct web_service *service, struct web_query *query, bool as_json,
              struct web_reply *reply)
{
    const struct slice none = {NULL, 0};
    json_t *shared;
    struct reason why = {""};
    const enum status status = read_shared(service, query, &shared, &why);
    reply->body.maximum = 2 * ANSWER_BYTES;
    if (status != STATUS_OK && as_json) {
        web_reply_failure(reply, status, &why);
    } else if (as_json) {
        char *text = json_dumps(shared, JSON_INDENT(1));
        reply->content_type = "application/json";
        (void)buf_append_string(&reply->body, text != NULL ? text : "{}");
        free(text);
    } else {
        shared = status == STATUS_OK ? shared : json_pack("{s:s}", "failure", why.text);
        page(&reply->body, none, none, none, shared);
    }
    json_decref(shared);
}

void
web_identity(struct web_service *service, const struct web_request *request,
             struct web_reply *reply)
{
    static const char *const types[] = {"text/html", "application/json"};
    const char *format = web_parameter(request, "format", NULL);
    const struct slice uri = slice_string(web_parameter(request, "uri", NULL));
    const bool json = format != NULL
                          ? strcmp(format, "json") == 0
                          : web_accept_choose(web_header(request, "Accept"), types, 2) == 1;
    struct reason why = {""};
    struct buf answer, words;
    buf_init(&answer, ANSWER_BYTES);
    struct web_query *query = web_query_take(service, request, reply);
    if (query == NULL) {
        return;
    }
    if (uri.length == 0) {
        answer_shared(service, query, json, reply);
        web_query_give(service, query);
        return;
    }
    buf_init(&words, ANSWER_BYTES);
    enum status status = read_identity(service, query, uri, true, &answer, &why);
    if (status == STATUS_OK && !json) {
        status = read_identity(service, query, uri, false, &words, &why);
    }
    reply->body.maximum = 2 * ANSWER_BYTES; /* escaped it is longer */
    if (status != STATUS_OK) {
        web_reply_failure(reply, status, &why);
    } else if (json) {
        reply->content_type = "application/json";
        (void)buf_append_slice(&reply->body, buf_slice(&answer));
    } else {
        page(&reply->body, uri, buf_slice(&words), buf_slice(&answer), NULL);
    }
    buf_release(&words);
    buf_release(&answer);
    web_query_give(service, query);
}
