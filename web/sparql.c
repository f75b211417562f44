/* The SPARQL 1.1 Protocol (https://www.w3.org/TR/sparql11-protocol/), the service's description
 * (https://www.w3.org/TR/sparql11-service-description/).
 *
 * An answer is sent while it is made. When the query fails after its beginning was sent, the
 * connection is closed without the end of the reply. With partial=warn the answer waits in a file
 * until it is whole, so that its header can say what is missing. */
#include <stdlib.h>

#include "base/memory.h"
#include "config/config.h"
#include "web/http/accept.h"
#include "web/http/body_spool.h"
#include "web/http/stream.h"
#include "web/query_form.h"
#include "web/sparql_answer.h"

enum { PATH_BYTES = 4096, LEAST_TIMEOUT_MS = 10 };

static const struct web_result_types web_table_types = {
    {"application/sparql-results+json", "application/json", "application/sparql-results+xml",
     "text/csv", "text/tab-separated-values", "application/xml"},
    {"json", "json", "xml", "csv", "tsv", "xml"},
    6,
    3};
const struct web_result_types web_graph_types = {
    {"text/turtle", "application/n-triples", "application/n-quads", "application/rdf+xml",
     "application/ld+json", "application/trig", "text/plain", "application/xml"},
    {"ttl", "nt", "nq", "rdf", "jsonld", "trig", "nt", "rdf"},
    8,
    0};

/* A charset other than UTF-8 in a media type; SPARQL has no other. */
static bool
is_other_charset(const char *type)
{
    static const char name[] = "charset=";
    const char *charset = type != NULL ? strcasestr(type, name) : NULL;
    if (charset == NULL) {
        return false;
    }
    charset += sizeof name - 1;
    charset += charset[0] == '"';
    return strncasecmp(charset, "utf-8", 5) != 0 && strncasecmp(charset, "utf8", 4) != 0;
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

/* Other names for formats, as clients of other endpoints send them. */
static const struct {
    const char *name, *format;
} format_names[] = {{"turtle", "ttl"},     {"n3", "ttl"},     {"ntriples", "nt"},
                    {"n-triples", "nt"},   {"nquads", "nq"},  {"n-quads", "nq"},
                    {"rdf+xml", "rdf"},    {"xml", "rdf"},    {"json-ld", "jsonld"},
                    {"ld+json", "jsonld"}, {"json", "jsonld"}};

/* The place of a format; count: there is none such. */
static size_t
find_format(const struct web_result_types *types, const char *format)
{
    size_t i = 0;
    while (i < types->count && strcmp(format, types->formats[i]) != 0 &&
           strcmp(format, types->types[i]) != 0) {
        i++;
    }
    return i;
}

/* A name means what it is called here before it means what others call so. */
static size_t
find_format_by_any_name(const struct web_result_types *types, const char *format)
{
    size_t found = find_format(types, format);
    for (size_t i = 0; found == types->count && i < sizeof format_names / sizeof format_names[0];
         i++) {
        if (strcmp(format, format_names[i].name) == 0) {
            found = find_format(types, format_names[i].format);
        }
    }
    return found;
}

int
web_choose_type(const struct web_request *request, const struct web_result_types *types,
                struct web_reply *reply)
{
    const char *format = web_parameter(request, "format", NULL);
    if (format != NULL && format[0] == '\0') {
        return types->usual;
    }
    const size_t named = format != NULL ? find_format_by_any_name(types, format) : types->count;
    if (named < types->count) {
        return (int)named;
    }
    if (format != NULL) {
        web_reply_error(reply, 406, "This query has no result in the format %.40s.", format);
        return -1;
    }
    const int chosen = web_accept_choose(web_header(request, "Accept"), types->types, types->count);
    if (chosen < 0) {
        web_reply_error(reply, 406, "No acceptable format. There are: %s, %s, %s, %s, %s.",
                        types->types[0], types->types[1], types->types[2], types->types[3],
                        types->types[4]);
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

/* ---- a query ---- */

/* Belongs to one request; the stream's thread owns it. */
struct question {
    struct web_service *service;
    struct web_query *query;
    char *text;
    const char *format;
    struct buf folder, graphs, named_graphs;
    struct index_query_options options;
};

static void
question_free(void *context)
{
    struct question *question = context;
    web_query_give(question->service, question->query);
    free(question->text);
    buf_release(&question->folder);
    buf_release(&question->graphs);
    buf_release(&question->named_graphs);
    free(question);
}

static struct question *
question_new(struct web_service *service, const struct web_request *request,
             struct web_query *query, char *text, const char *format)
{
    struct question *question = memory_new(sizeof *question);
    question->service = service;
    question->query = query;
    question->text = text;
    question->format = format;
    buf_init(&question->folder, PATH_BYTES);
    buf_init(&question->graphs, WEB_BODY_MAXIMUM);
    buf_init(&question->named_graphs, WEB_BODY_MAXIMUM);
    config_path(service->directory, "run", &question->folder);
    web_parameters(request, "default-graph-uri", web_add_line, &question->graphs);
    web_parameters(request, "named-graph-uri", web_add_line, &question->named_graphs);
    question->options =
        (struct index_query_options){.timeout_ms = timeout_of(service, request),
                                     .graphs = buf_slice(&question->graphs),
                                     .named_graphs = buf_slice(&question->named_graphs),
                                     .scratch_folder = question->folder.data,
                                     .client = query->client};
    return question;
}

static enum status
run_query(const struct question *question, enum index_partial partial, index_piece *piece,
          void *context, struct web_reply *reply, struct reason *why)
{
    struct index_client *client;
    TRY(web_index_take(question->service, &client, why));
    index_client_manner(client, partial, &question->query->cancelled);
    const enum status status = index_query(client, slice_string(question->text), question->format,
                                           &question->options, piece, context, why);
    if (status == STATUS_OK && reply != NULL) {
        web_reply_missing(reply, client);
    }
    index_client_manner(client, INDEX_PARTIAL_ERROR, NULL);
    web_index_give(question->service, client, status == STATUS_OK || status == STATUS_BAD_INPUT);
    return web_query_status(question->query, status, why);
}

static enum status
produce(void *context, struct web_stream *stream, struct reason *why)
{
    return run_query(context, INDEX_PARTIAL_ERROR, web_stream_piece, stream, NULL, why);
}

/* The whole answer before its header. */
static enum status
spool_answer(struct question *question, struct web_reply *reply, struct reason *why)
{
    struct web_spool spool;
    web_spool_init(&spool, question->folder.data, question->service->result_most);
    enum status status =
        run_query(question, INDEX_PARTIAL_WARN, web_spool_piece, &spool, reply, why);
    if (status == STATUS_OK) {
        status = web_spool_finish(&spool, reply, why);
    }
    web_spool_release(&spool);
    question_free(question);
    return status;
}

static enum status
stream_answer(struct question *question, const struct web_request *request, struct web_reply *reply,
              struct reason *why)
{
    struct web_stream *stream = web_stream_open(question->service->threads, produce, question_free,
                                                question, &question->query->cancelled);
    size_t length;
    if (stream == NULL) {
        return status_fail(why, STATUS_SYSTEM, "cannot start a thread");
    }
    const int socket = web_socket(request);
    const enum status status = web_stream_begin(stream, socket, &length, why);
    if (status == STATUS_OK) {
        reply->stream = stream;
        return STATUS_OK;
    }
    if (status == STATUS_END && length > 0) { /* it is whole: its length can be told */
        char *bytes = buf_reserve(&reply->body, length);
        size_t n;
        (void)web_stream_read(stream, socket, bytes, length, &n);
        buf_commit(&reply->body, n);
    }
    web_stream_close(stream);
    return status == STATUS_END ? STATUS_OK : status;
}

void
web_answer_query(struct web_service *service, const struct web_request *request, char *text,
                 const struct web_result_types *types, int chosen, struct web_reply *reply)
{
    struct reason why = {""};
    bool warn;
    struct web_query *query =
        web_partial(request, reply, &warn) ? web_query_take(service, request, reply) : NULL;
    if (query == NULL) {
        free(text);
        return;
    }
    struct question *question = question_new(service, request, query, text, types->formats[chosen]);
    const enum status status =
        warn ? spool_answer(question, reply, &why) : stream_answer(question, request, reply, &why);
    if (status != STATUS_OK) {
        web_reply_failure(reply, status, &why);
    } else {
        reply->content_type = types->types[chosen];
    }
}

static void
answer_query(struct web_service *service, const struct web_request *request,
             struct web_reply *reply)
{
    char *query = query_text(request, reply);
    if (query == NULL) {
        return;
    }
    const enum web_query_form form = web_query_form_of(slice_string(query));
    const struct web_result_types *types =
        form == WEB_FORM_GRAPH ? &web_graph_types : &web_table_types;
    if (form == WEB_FORM_UPDATE) {
        web_reply_error(reply, 400,
                        "This is an update: POST it as update=..., or with the type "
                        "application/sparql-update.");
        free(query);
        return;
    }
    const int chosen = web_choose_type(request, types, reply);
    if (chosen >= 0) {
        web_answer_query(service, request, query, types, chosen, reply);
    } else {
        free(query);
    }
}

/* ---- the service's description ---- */

static void
describe(struct web_reply *reply)
{
    (void)buf_append_string(
        &reply->body,
        "@prefix sd: <http://www.w3.org/ns/sparql-service-description#> .\n"
        "@prefix formats: <http://www.w3.org/ns/formats/> .\n"
        "@prefix void: <http://rdfs.org/ns/void#> .\n\n"
        "<#service> a sd:Service ;\n"
        "    sd:endpoint <> ;\n"
        "    sd:supportedLanguage sd:SPARQL11Query, sd:SPARQL11Update ;\n"
        "    sd:feature sd:UnionDefaultGraph ;\n"
        "    sd:resultFormat formats:SPARQL_Results_JSON, formats:SPARQL_Results_XML,\n"
        "        formats:SPARQL_Results_CSV, formats:SPARQL_Results_TSV, formats:Turtle,\n"
        "        formats:N-Triples, formats:N-Quads, formats:TriG, formats:RDF_XML,\n"
        "        formats:JSON-LD ;\n"
        "    sd:propertyFeature <urn:x-quadrille:query#matches>, <urn:x-quadrille:query#score> ;\n"
        "    sd:defaultDataset [ a sd:Dataset, void:Dataset ;\n"
        "        sd:defaultGraph [ a sd:Graph ] ;\n"
        "        void:inDataset </void#index> ] ;\n"
        "    sd:availableGraphs </void#index> .\n"
        "<urn:x-quadrille:query#matches> a sd:Feature .\n"
        "<urn:x-quadrille:query#score> a sd:Feature .\n"
        "</void#index> a sd:GraphCollection .\n");
    reply->content_type = "text/turtle; charset=utf-8";
}

/* Tells whether a browser asks, for people: the page of queries answers. */
static bool
wants_page(const struct web_request *request)
{
    const char *types[WEB_RESULT_TYPES + 2] = {"text/turtle"};
    const char *format = web_parameter(request, "format", NULL);
    size_t count = 1;
    if (format != NULL || request->method != WEB_GET) {
        return request->method == WEB_GET && strcmp(format, "html") == 0;
    }
    for (size_t i = 0; i < web_table_types.count; i++) {
        types[count++] = web_table_types.types[i];
    }
    types[count] = "text/html";
    return web_accept_choose(web_header(request, "Accept"), types, count + 1) == (int)count;
}

void
web_sparql(struct web_service *service, const struct web_request *request, struct web_reply *reply)
{
    const char *type = web_header(request, "Content-Type");
    const bool update_type =
        type != NULL && strncasecmp(type, "application/sparql-update", 25) == 0;
    if (request->method == WEB_POST && is_other_charset(type)) {
        web_reply_error(reply, 415, "Queries and updates are UTF-8.");
    } else if (request->method == WEB_GET && web_parameter(request, "update", NULL) != NULL) {
        web_reply_error(reply, 400, "An update is POSTed.");
    } else if (request->method == WEB_POST &&
               (update_type || web_parameter(request, "update", NULL) != NULL)) {
        web_update(service, request, update_type, reply);
    } else if (wants_page(request)) {
        web_query_page(service, request, reply);
    } else if (request->method == WEB_POST || web_parameter(request, "query", NULL) != NULL) {
        answer_query(service, request, reply);
    } else {
        describe(reply);
    }
}
