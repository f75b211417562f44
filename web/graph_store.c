/* The Graph Store Protocol (https://www.w3.org/TR/sparql11-http-rdf-update/): /graph?graph=URI and
 * /graph?default name a graph, and so does an address below /graph/, which is then the graph's own
 * URI. A graph without triples does not exist. Reading the default graph gives the union of all;
 * writing it changes UPDATE_DEFAULT_GRAPH, as an update without GRAPH does. */
#include <stdlib.h>
#include <sys/random.h>

#include "base/url/url.h"
#include "rdf/canonical/canonical.h"
#include "rdf/format.h"
#include "web/sparql_answer.h"
#include "web/web_service.h"

#define DEFAULT_GRAPH "urn:x-quadrille:default"
#define NAMESPACE "/graph/"

enum { IRI_BYTES = URL_MAXIMUM, GRAPH_BYTES = 64 << 20 };

/* ---- which graph ---- */

/* The address that was asked, for a graph that is named by it. */
static void
own_address(const struct web_request *request, struct buf *iri)
{
    static const char fitting[] = "/-._~!$&'()*+,;=:@";
    const char *host = web_header(request, "Host");
    (void)buf_printf(iri, "http://%s", host != NULL ? host : "localhost");
    for (const char *c = request->path; *c != '\0'; c++) {
        const bool plain = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
                           (*c >= '0' && *c <= '9') || strchr(fitting, *c) != NULL;
        (void)(plain ? buf_append_char(iri, *c) : buf_printf(iri, "%%%02X", (unsigned char)*c));
    }
}

/* Fills iri; empty for the default graph. False: the reply says what is wrong. */
static bool
name_graph(const struct web_request *request, struct buf *iri, struct web_reply *reply)
{
    size_t graphs, defaults;
    const char *uri = web_parameter(request, "graph", &graphs);
    (void)web_parameter(request, "default", &defaults);
    (void)buf_append_string(iri, "");
    if (strncmp(request->path, NAMESPACE, sizeof NAMESPACE - 1) == 0) {
        own_address(request, iri);
        return true;
    }
    if (graphs + defaults != 1) {
        web_reply_error(reply, 400, "There must be either graph=URI or default.");
        return false;
    }
    if (uri != NULL && !iri_is_absolute(slice_string(uri))) {
        web_reply_error(reply, 400, "graph is not an absolute IRI.");
        return false;
    }
    if (uri != NULL && buf_append_string(iri, uri) != STATUS_OK) {
        web_reply_error(reply, 400, "graph is longer than %d bytes.", IRI_BYTES);
        return false;
    }
    return true;
}

/* ---- reading ---- */

static enum status
note_piece(void *found, struct slice bytes, struct reason *why)
{
    (void)why;
    *(bool *)found |= bytes.length > 0;
    return STATUS_OK;
}

static enum status
look_for(struct web_service *service, struct slice iri, bool *found, struct reason *why)
{
    const struct quad pattern = {.graph = term_iri(iri)};
    struct index_client *client;
    TRY(web_index_take(service, &client, why));
    const enum status status = index_pattern(client, &pattern, 1, note_piece, found, why);
    web_index_give(service, client, status == STATUS_OK);
    return status;
}

static void
read_graph(struct web_service *service, const struct web_request *request, struct slice iri,
           struct web_reply *reply)
{
    const int chosen = web_choose_type(request, &web_graph_types, reply);
    if (chosen < 0) {
        return;
    }
    struct reason why = {""};
    bool found = iri.length == 0;
    const enum status status = found ? STATUS_OK : look_for(service, iri, &found, &why);
    if (status != STATUS_OK) {
        web_reply_failure(reply, status, &why);
        return;
    }
    if (!found) {
        web_reply_error(reply, 404, "There is no such graph.");
        return;
    }
    struct buf text;
    buf_init(&text, WEB_BODY_MAXIMUM);
    (void)(iri.length > 0
               ? buf_printf(&text, "CONSTRUCT { ?s ?p ?o } WHERE { GRAPH <%.*s> { ?s ?p ?o } }",
                            SLICE_PRINT(iri))
               : buf_append_string(&text, "CONSTRUCT WHERE { ?s ?p ?o }"));
    char *query = strndup(text.data, text.length);
    buf_release(&text);
    web_answer_query(service, request, query, &web_graph_types, chosen, reply);
}

/* ---- what is sent ---- */

struct incoming {
    struct graph graph;
    struct term name; /* of all its quads */
};

static enum status
take_quad(void *context, const struct quad *quad, struct reason *why)
{
    struct incoming *incoming = context;
    if (quad->graph.kind != TERM_NONE) {
        return status_fail(why, STATUS_BAD_INPUT,
                           "line %u: a graph is put, and this names another graph", quad->line);
    }
    struct quad named = *quad;
    named.graph = incoming->name;
    return graph_add(&incoming->graph, &named, why);
}

/* Media type without its parameters; *rest gets them. */
static struct slice
media_type(struct slice header, struct slice *rest)
{
    const size_t end = slice_find(header, ';');
    *rest = slice_of(header.at + end, header.length - end);
    return slice_trim(slice_of(header.at, end));
}

static enum status
parse_part(struct incoming *incoming, struct slice type, struct slice bytes, struct reason *why)
{
    struct slice parameters;
    type = media_type(type, &parameters);
    const enum rdf_format format = rdf_format_of_media_type(type);
    const struct parse_options options = {.base = incoming->name.value, .lines = true};
    const struct quad_sink sink = {take_quad, incoming};
    return format != RDF_FORMAT_NONE
               ? rdf_parse(format, bytes, &options, &sink, why)
               : status_fail(why, STATUS_UNSUPPORTED, "'%.*s' is no type of RDF that is read here",
                             SLICE_PRINT(type));
}

/* Takes a line without its end off the bytes. */
static struct slice
take_line(struct slice *bytes)
{
    struct slice line = slice_take(bytes, '\n');
    if (line.length > 0 && line.at[line.length - 1] == '\r') {
        line.length--;
    }
    return line;
}

/* One part of multipart/form-data (RFC 7578) from behind its delimiter's line to before the next.
 */
static enum status
parse_form_part(struct incoming *incoming, struct slice part, struct reason *why)
{
    static const char field[] = "content-type:";
    struct slice type = slice_of(NULL, 0);
    for (;;) {
        const struct slice line = take_line(&part);
        if (line.length == 0) {
            break;
        }
        if (slice_starts_nocase(line, slice_string(field))) {
            type =
                slice_trim(slice_of(line.at + sizeof field - 1, line.length - (sizeof field - 1)));
        }
    }
    return parse_part(incoming, type, part, why);
}

static enum status
parse_form(struct incoming *incoming, struct slice parameters, struct slice body,
           struct reason *why)
{
    static const char name[] = "boundary=";
    enum { BOUNDARY_MOST = 70, PARTS_MOST = 100 };
    char delimiter[BOUNDARY_MOST + 4] = "\n--";
    const size_t at = slice_find_slice(parameters, slice_string(name));
    struct slice boundary = at < parameters.length
                                ? slice_of(parameters.at + at + sizeof name - 1,
                                           parameters.length - at - (sizeof name - 1))
                                : slice_of(NULL, 0);
    boundary = slice_trim(slice_of(boundary.at, slice_find(boundary, ';')));
    if (boundary.length >= 2 && boundary.at[0] == '"') {
        boundary = slice_of(boundary.at + 1, boundary.length - 2);
    }
    if (boundary.length == 0 || boundary.length > BOUNDARY_MOST) {
        return status_fail(why, STATUS_BAD_INPUT, "multipart/form-data without its boundary");
    }
    memcpy(delimiter + 3, boundary.at, boundary.length);
    const struct slice mark = slice_of(delimiter, boundary.length + 3);
    if (!slice_starts(body, slice_of(delimiter + 1, mark.length - 1))) {
        return status_fail(why, STATUS_BAD_INPUT, "multipart/form-data does not begin with a part");
    }
    (void)take_line(&body);
    for (size_t parts = 0; parts < PARTS_MOST; parts++) {
        const size_t end = slice_find_slice(body, mark);
        if (end == body.length) {
            return status_fail(why, STATUS_BAD_INPUT, "a part of multipart/form-data has no end");
        }
        TRY(parse_form_part(incoming, slice_of(body.at, end + 1), why));
        body = slice_of(body.at + end + mark.length, body.length - end - mark.length);
        if (slice_starts(body, SLICE("--"))) {
            return STATUS_OK;
        }
        (void)take_line(&body);
    }
    return status_fail(why, STATUS_LIMIT, "more than %d parts", PARTS_MOST);
}

/* Blank nodes get labels by their graph, so that putting the same again changes nothing; those that
 * are added to a graph are none that it has. */
static enum status
parse(struct incoming *incoming, const struct web_request *request, bool fresh, struct reason *why)
{
    struct slice parameters;
    const struct slice header = slice_string(web_header(request, "Content-Type"));
    const struct slice type = media_type(header, &parameters);
    TRY(slice_equal_nocase(type, SLICE("multipart/form-data"))
            ? parse_form(incoming, parameters, request->body, why)
            : parse_part(incoming, header, request->body, why));
    struct buf document;
    uint64_t random = 0;
    buf_init(&document, IRI_BYTES + 32);
    (void)buf_append_slice(&document, incoming->name.value);
    if (fresh) {
        (void)getrandom(&random, sizeof random, 0);
        (void)buf_printf(&document, " %016llx", (unsigned long long)random);
    }
    const enum status status = graph_relabel(&incoming->graph, buf_slice(&document), 0, NULL, why);
    buf_release(&document);
    return status;
}

/* ---- writing ---- */

static enum status
put(struct web_service *service, struct incoming *incoming, enum index_graph_mode mode,
    struct index_graph_report *report, struct reason *why)
{
    struct index_client *client;
    TRY(web_index_take(service, &client, why));
    const enum status status =
        index_graph_put(client, incoming->name.value, &incoming->graph, mode, 0, report, why);
    web_index_give(service, client, status == STATUS_OK);
    return status;
}

static void
write_graph(struct web_service *service, const struct web_request *request, struct slice iri,
            bool made_here, struct web_reply *reply)
{
    struct reason why = {""};
    struct index_graph_report report = {0};
    struct incoming incoming = {.name = term_iri(iri.length > 0 ? iri : SLICE(DEFAULT_GRAPH))};
    struct web_query *query = web_query_take(service, request, reply);
    if (query == NULL) {
        return;
    }
    graph_init(&incoming.graph, GRAPH_BYTES);
    enum status status = STATUS_OK;
    if (request->method != WEB_DELETE) {
        status = parse(&incoming, request, request->method == WEB_POST, &why);
    }
    const bool unknown_type = status == STATUS_UNSUPPORTED;
    if (status == STATUS_OK) {
        const enum index_graph_mode mode =
            request->method == WEB_POST ? INDEX_GRAPH_ADD : INDEX_GRAPH_REPLACE;
        status = put(service, &incoming, mode, &report, &why);
    }
    graph_release(&incoming.graph);
    web_query_give(service, query);
    if (unknown_type) {
        web_reply_error(reply, 415, "%s", why.text);
    } else if (status != STATUS_OK) {
        web_reply_failure(reply, status, &why);
    } else if (request->method == WEB_DELETE && !report.existed) {
        web_reply_error(reply, 404, "There is no such graph.");
    } else {
        reply->status = made_here || !report.existed ? 201 : 204;
        reply->status = request->method == WEB_DELETE ? 204 : reply->status;
    }
}

/* POST without a graph: it gets an address of its own. */
static void
new_graph(const struct web_request *request, struct buf *iri, struct web_reply *reply)
{
    const struct web_request named = {.path = NAMESPACE, .connection = request->connection};
    uint64_t random[2] = {0, 0};
    (void)getrandom(random, sizeof random, 0);
    own_address(&named, iri);
    (void)buf_printf(iri, "%016llx%016llx", (unsigned long long)random[0],
                     (unsigned long long)random[1]);
    web_reply_header(reply, "Location", "%.*s", SLICE_PRINT(buf_slice(iri)));
}

void
web_graph(struct web_service *service, const struct web_request *request, struct web_reply *reply)
{
    struct buf iri;
    const bool nameless = request->method == WEB_POST && strcmp(request->path, "/graph") == 0 &&
                          web_parameter(request, "graph", NULL) == NULL &&
                          web_parameter(request, "default", NULL) == NULL;
    buf_init(&iri, IRI_BYTES);
    if (request->method != WEB_GET && !web_may_write(service, request)) {
        web_reply_error(reply, 403, "Updates are not allowed here: see web.update.");
    } else if (nameless) {
        new_graph(request, &iri, reply);
        write_graph(service, request, buf_slice(&iri), true, reply);
    } else if (name_graph(request, &iri, reply)) {
        if (request->method == WEB_GET) {
            read_graph(service, request, buf_slice(&iri), reply);
        } else {
            write_graph(service, request, buf_slice(&iri), false, reply);
        }
    }
    buf_release(&iri);
}
