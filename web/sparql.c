/* The SPARQL 1.1 Protocol, query operation: https://www.w3.org/TR/sparql11-protocol/.
 * Dataset parameters are refused rather than ignored; updates do not exist here. */
#include <stdlib.h>

#include "config/config.h"
#include "web/accept.h"
#include "web/html.h"
#include "web/query_form.h"
#include "web/service.h"
#include "web/spool.h"

enum { PATH_BYTES = 4096, LEAST_TIMEOUT_MS = 10 };

/* Media types in order of preference; `formats` may be given by ?format= as well. */
struct result_types {
    const char *types[6], *formats[6];
    size_t count;
};

static const struct result_types table_types = {
    {"application/sparql-results+json", "application/json", "application/sparql-results+xml",
     "text/csv", "text/tab-separated-values", "application/xml"},
    {"json", "json", "xml", "csv", "tsv", "xml"},
    6};
static const struct result_types graph_types = {
    {"text/turtle", "application/n-triples", "application/n-quads", "text/plain"},
    {"ttl", "nt", "nq", "nt"},
    4};

static void
form_page(struct web_reply *reply)
{
    html_begin(&reply->body, "SPARQL", slice_of(NULL, 0));
    (void)buf_append_string(
        &reply->body,
        "<h1>SPARQL</h1><form action=\"/sparql\" method=\"get\">"
        "<textarea name=\"query\" rows=\"12\" aria-label=\"Query\">"
        "SELECT ?type (COUNT(?s) AS ?n)\nWHERE { GRAPH ?document { ?s a ?type } }\n"
        "GROUP BY ?type ORDER BY DESC(?n) LIMIT 20</textarea>"
        "<p><label>Result <select name=\"format\"><option>csv<option>tsv<option>json<option>xml"
        "<option>ttl<option>nt<option>nq</select></label> <button>Run</button></p></form>"
        "<p>This is a SPARQL 1.1 Protocol endpoint: GET or POST, the result format by "
        "Accept or by <code>format=</code>, <code>timeout=</code> in milliseconds.</p>");
    html_end(&reply->body);
}

/* The query's text; NULL with the reply filled in when there is no single one. */
static char *
query_text(const struct web_request *request, struct web_reply *reply)
{
    static const char query_type[] = "application/sparql-query";
    const char *type = web_header(request, "Content-Type");
    size_t count;
    const char *parameter = web_parameter(request, "query", &count);
    const bool direct = request->method == WEB_POST && type != NULL &&
                        strncasecmp(type, query_type, sizeof query_type - 1) == 0;
    if (direct && count == 0) {
        return strndup(request->body.at != NULL ? request->body.at : "", request->body.length);
    }
    if (direct || count > 1) {
        web_reply_error(reply, 400, "There must be one query.");
        return NULL;
    }
    if (parameter == NULL) {
        const bool other = request->method == WEB_POST && type != NULL &&
                           strncasecmp(type, "application/x-www-form-urlencoded", 33) != 0;
        web_reply_error(reply, other ? 415 : 400,
                        "There must be a query: query=..., or a body of "
                        "type application/sparql-query.");
        return NULL;
    }
    return strdup(parameter);
}

/* The place in types, by ?format= or Accept; -1 with the reply filled in. */
static int
choose_type(const struct web_request *request, const struct result_types *types,
            struct web_reply *reply)
{
    const char *format = web_parameter(request, "format", NULL);
    for (size_t i = 0; format != NULL && i < types->count; i++) {
        if (strcmp(format, types->formats[i]) == 0 || strcmp(format, types->types[i]) == 0) {
            return (int)i;
        }
    }
    if (format != NULL) {
        web_reply_error(reply, 406, "This query has no result in the format %.40s.", format);
        return -1;
    }
    const int chosen = web_accept_choose(web_header(request, "Accept"), types->types, types->count);
    if (chosen < 0) {
        web_reply_error(reply, 406, "No acceptable format. There are: %s, %s, %s, %s.",
                        types->types[0], types->types[1], types->types[2], types->types[3]);
    }
    return chosen;
}

static uint32_t
timeout_of(const struct web_service *service, const struct web_request *request)
{
    const uint64_t most = opt_duration_ms(service->options, "web.query_timeout");
    const char *text = web_parameter(request, "timeout", NULL);
    const uint64_t wanted = text != NULL ? strtoull(text, NULL, 10) : most;
    if (wanted > most || wanted == 0) {
        return (uint32_t)most;
    }
    return wanted < LEAST_TIMEOUT_MS ? LEAST_TIMEOUT_MS : (uint32_t)wanted;
}

static void
run(struct web_service *service, const struct web_request *request, const char *query,
    const struct result_types *types, int chosen, struct web_reply *reply)
{
    struct reason why = {""};
    struct index_client *client;
    struct web_spool spool;
    struct buf folder;
    buf_init(&folder, PATH_BYTES);
    config_path(service->directory, "run", &folder);
    web_spool_init(&spool, folder.data,
                   (uint64_t)opt_integer(service->options, "web.result_maximum"));
    enum status status = web_index_take(service, &client, &why);
    if (status == STATUS_OK) {
        const struct index_query_options options = {.timeout_ms = timeout_of(service, request),
                                                    .scratch_folder = folder.data};
        status = index_query(client, slice_string(query), types->formats[chosen], &options,
                             web_spool_piece, &spool, &why);
        web_index_give(service, client, status == STATUS_OK || status == STATUS_BAD_INPUT);
    }
    if (status == STATUS_OK) {
        status = web_spool_finish(&spool, reply, &why);
    }
    if (status != STATUS_OK) {
        web_reply_failure(reply, status, &why);
    } else {
        reply->content_type = types->types[chosen];
    }
    web_spool_release(&spool);
    buf_release(&folder);
}

void
web_sparql(struct web_service *service, const struct web_request *request, struct web_reply *reply)
{
    static const char *const dataset[] = {"default-graph-uri", "named-graph-uri"};
    if (request->method == WEB_GET && web_parameter(request, "query", NULL) == NULL) {
        form_page(reply);
        return;
    }
    for (size_t i = 0; i < 2; i++) {
        if (web_parameter(request, dataset[i], NULL) != NULL) {
            web_reply_error(reply, 400, "%s is not supported; use FROM or GRAPH.", dataset[i]);
            return;
        }
    }
    char *query = query_text(request, reply);
    if (query == NULL) {
        return;
    }
    const enum web_query_form form = web_query_form_of(slice_string(query));
    const struct result_types *types = form == WEB_FORM_GRAPH ? &graph_types : &table_types;
    int chosen = -1;
    if (form == WEB_FORM_UPDATE) {
        web_reply_error(reply, 403, "The index is written by the crawl only; this is an update.");
    } else {
        chosen = choose_type(request, types, reply);
    }
    if (chosen >= 0 && web_place_take(service, reply)) {
        run(service, request, query, types, chosen, reply);
        web_place_give(service);
    }
    free(query);
}
