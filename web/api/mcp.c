/* The Model Context Protocol over HTTP (https://modelcontextprotocol.io/): POST /mcp, one message
 * in, one JSON reply out. Nothing is kept between requests.
 *
 * Revision 2026-07-28 names itself in each request, in _meta and in the header
 * MCP-Protocol-Version; Mcp-Method and, of tools/call, Mcp-Name repeat what the body says. A
 * request without that _meta is one of the older revisions, which begin with initialize. */
#include <jansson.h>
#include <stdlib.h>

#include "base/options/opt.h"
#include "base/url/url.h"
#include "web/api/find.h"
#include "web/query_form.h"

enum {
    PARSE_ERROR = -32700,
    INVALID_REQUEST = -32600,
    NO_METHOD = -32601,
    INVALID_PARAMS = -32602,
    HEADER_MISMATCH = -32020,
    NO_SUCH_VERSION = -32022,
    ANSWER_BYTES = 512 << 10,
    FOUND_MOST = 50,
    FOUND_USUAL = 10
};
#define NEWEST "2026-07-28"
#define META_VERSION "io.modelcontextprotocol/protocolVersion"
static const char *const older[] = {"2025-11-25", "2025-06-18", "2025-03-26"};
enum { OLDER = sizeof older / sizeof older[0] };

/* One call of a tool. */
struct call {
    struct web_service *service;
    const struct web_query *query;
    const json_t *arguments;
    struct buf text;    /* what it says */
    json_t *structured; /* the same as a value; NULL: none */
};
typedef enum status run_tool(struct call *call, struct reason *why);

static struct slice
argument(const struct call *call, const char *name)
{
    const json_t *value = json_object_get(call->arguments, name);
    return slice_of(json_string_value(value), json_string_length(value));
}

static enum status
append(void *buffer, struct slice bytes, struct reason *why)
{
    const enum status status = buf_append_slice(buffer, bytes);
    return status == STATUS_OK ? status
                               : status_fail(why, STATUS_LIMIT,
                                             "the answer is longer than %d bytes: ask for less, as "
                                             "with LIMIT",
                                             ANSWER_BYTES);
}

/* ---- tools ---- */

static enum status
run_find(struct call *call, struct find_request *request, struct reason *why)
{
    const json_int_t asked = json_integer_value(json_object_get(call->arguments, "limit"));
    const size_t most = asked > 0 && asked < FOUND_MOST ? (size_t)asked
                        : asked > 0                     ? FOUND_MOST
                                                        : FOUND_USUAL;
    struct find_results results;
    const struct find_page page = {.count = most};
    request->group = FIND_BY_RESOURCE;
    const enum status status =
        find_for(call->service, call->query, request, &page, NULL, &results, why);
    json_t *entries = json_array();
    for (size_t i = 0; status == STATUS_OK && i < results.count && i < most; i++) {
        const struct find_entry *entry = &results.entries[i];
        (void)json_array_append_new(
            entries,
            json_pack("{s:o,s:o,s:o,s:o,s:o,s:f}", "resource",
                      find_json_text(entry->resource.value), "title", find_json_text(entry->title),
                      "document", find_json_text(entry->document), "property",
                      find_json_text(entry->predicate.value), "value",
                      find_json_text(entry->object.value), "score", entry->score));
    }
    call->structured = json_pack("{s:I,s:b,s:o}", "total", (json_int_t)results.count,
                                 "totalIsAtLeast", results.at_least, "results", entries);
    find_release(&results);
    char *text = json_dumps(call->structured, JSON_INDENT(1));
    (void)buf_append_string(&call->text, text != NULL ? text : "");
    free(text);
    return status;
}

static enum status
tool_search(struct call *call, struct reason *why)
{
    struct find_request request = {.text = argument(call, "words")};
    return run_find(call, &request, why);
}

static enum status
tool_lookup(struct call *call, struct reason *why)
{
    const struct slice uri = argument(call, "uri"), property = argument(call, "property");
    struct find_request request = {.is_uri = uri.length > 0};
    struct buf memory;
    enum status status = STATUS_OK;
    buf_init(&memory, URL_MAXIMUM);
    const struct slice iri = find_iri(uri.length > 0 ? uri : property, &memory);
    if (iri.length == 0 || !iri_is_absolute(iri)) {
        status = status_fail(why, STATUS_BAD_INPUT, "there must be uri, or property and value");
    } else if (uri.length > 0) {
        request.text = iri;
    } else {
        request.property = iri;
        request.text = argument(call, "value");
    }
    status = status == STATUS_OK ? run_find(call, &request, why) : status;
    buf_release(&memory);
    return status;
}

static enum status
run_sparql(struct call *call, struct slice text, enum index_answer answer, struct reason *why)
{
    const enum web_query_form form = web_query_form_of(text);
    if (form == WEB_FORM_UPDATE) {
        return status_fail(why, STATUS_BAD_INPUT,
                           "this is an update, and only queries are answered");
    }
    const struct index_query_options options = {
        .timeout_ms = (uint32_t)opt_duration_ms(call->service->options, "web.query_timeout"),
        .answer = answer,
        .client = call->query->client};
    struct index_client *client;
    TRY(web_index_take(call->service, &client, why));
    index_client_manner(client, INDEX_PARTIAL_ERROR, &call->query->cancelled);
    const enum status status = index_query(client, text, form == WEB_FORM_GRAPH ? "ttl" : "json",
                                           &options, append, &call->text, why);
    index_client_manner(client, INDEX_PARTIAL_ERROR, NULL);
    web_index_give(call->service, client, status == STATUS_OK || status == STATUS_BAD_INPUT);
    if (status == STATUS_OK && form == WEB_FORM_TABLE && answer == INDEX_ANSWER_RESULT) {
        call->structured = json_loadb(call->text.data, call->text.length, JSON_ALLOW_NUL, NULL);
    }
    return web_query_status(call->query, status, why);
}

static enum status
tool_query(struct call *call, struct reason *why)
{
    return run_sparql(call, argument(call, "sparql"), INDEX_ANSWER_RESULT, why);
}

static enum status
tool_explain(struct call *call, struct reason *why)
{
    return run_sparql(call, argument(call, "sparql"), INDEX_ANSWER_PLAN, why);
}

static enum status
tool_describe(struct call *call, struct reason *why)
{
    struct buf memory, text;
    buf_init(&memory, URL_MAXIMUM);
    buf_init(&text, URL_MAXIMUM + 64);
    const struct slice iri = find_iri(argument(call, "uri"), &memory);
    enum status status = STATUS_OK;
    if (iri.length == 0 || !iri_is_absolute(iri)) {
        status = status_fail(why, STATUS_BAD_INPUT, "uri is no IRI");
    } else {
        (void)buf_printf(&text, "DESCRIBE <%.*s>", SLICE_PRINT(iri));
        status = run_sparql(call, buf_slice(&text), INDEX_ANSWER_RESULT, why);
    }
    buf_release(&text);
    buf_release(&memory);
    return status;
}

static enum status
tool_report(struct call *call, struct reason *why)
{
    return web_document_record(call->service, argument(call, "document"), &call->text, why);
}

struct input {
    const char *name, *type, *text;
    bool required;
};
static const struct tool {
    const char *name, *title, *text;
    run_tool *run;
    struct input inputs[4]; /* ended by name NULL */
} tools[] = {
    {"search",
     "Search by words",
     "Finds resources by words in their literals, ranked. Phrases in quotation marks, -word, "
     "word*, "
     "lang:de, class:foaf:Person, predicate:IRI and domain:HOST limit it.",
     tool_search,
     {{"words", "string", "The words.", true}, {"limit", "integer", "At most 50.", false}}},
    {"lookup",
     "Look up a URI or a value",
     "Finds what speaks of a URI, or what has a value of a property, with the documents that say "
     "so.",
     tool_lookup,
     {{"uri", "string", "The URI.", false},
      {"property", "string", "With value: an IRI, or a name as foaf:mbox.", false},
      {"value", "string", "An IRI or a text.", false}}},
    {"describe",
     "Describe a resource",
     "All that documents say of a resource, as Turtle.",
     tool_describe,
     {{"uri", "string", "The resource.", true}}},
    {"query",
     "SPARQL query",
     "Answers a SPARQL 1.1 query: SELECT and ASK as SPARQL JSON, CONSTRUCT and DESCRIBE as Turtle. "
     "GRAPH ?document { } ranges over documents.",
     tool_query,
     {{"sparql", "string", "The query.", true}}},
    {"explain",
     "Plan of a query",
     "The plan by which a SPARQL query would be evaluated, with estimates.",
     tool_explain,
     {{"sparql", "string", "The query.", true}}},
    {"report",
     "Report of a document",
     "What is known of a document: how it was fetched and read, and its problems, as Turtle.",
     tool_report,
     {{"document", "string", "Its URI.", true}}},
};
enum { TOOLS = sizeof tools / sizeof tools[0], INPUTS = 4 };

static json_t *
describe_tool(const struct tool *tool)
{
    json_t *properties = json_object(), *required = json_array();
    for (size_t i = 0; i < INPUTS && tool->inputs[i].name != NULL; i++) {
        const struct input *input = &tool->inputs[i];
        (void)json_object_set_new(
            properties, input->name,
            json_pack("{s:s,s:s}", "type", input->type, "description", input->text));
        if (input->required) {
            (void)json_array_append_new(required, json_string(input->name));
        }
    }
    return json_pack("{s:s,s:s,s:s,s:{s:s,s:s,s:o,s:o,s:b},s:{s:b,s:b}}", "name", tool->name,
                     "title", tool->title, "description", tool->text, "inputSchema", "$schema",
                     "https://json-schema.org/draft/2020-12/schema", "type", "object", "properties",
                     properties, "required", required, "additionalProperties", 0, "annotations",
                     "readOnlyHint", 1, "openWorldHint", 0);
}

/* ---- messages ---- */

struct exchange {
    struct web_service *service;
    const struct web_request *request;
    struct web_reply *reply;
    const json_t *message, *params;
    bool newest; /* revision */
};

/* data is taken; it may be NULL. */
static void
fail(struct exchange *exchange, unsigned status, int code, const char *text, json_t *data)
{
    const json_t *id = json_object_get(exchange->message, "id");
    json_t *error = json_pack("{s:i,s:s}", "code", code, "message", text);
    if (data != NULL) {
        (void)json_object_set_new(error, "data", data);
    }
    json_t *message = json_pack("{s:s,s:o}", "jsonrpc", "2.0", "error", error);
    (void)json_object_set_new(message, "id",
                              json_is_string(id) || json_is_integer(id)
                                  ? json_incref((json_t *)(uintptr_t)id)
                                  : json_null());
    if (json_is_null(json_object_get(message, "id")) && exchange->newest) {
        (void)json_object_del(message, "id");
    }
    find_put_json(&exchange->reply->body, message, JSON_COMPACT);
    exchange->reply->status = status;
}

/* result is taken. lasts: it may be kept for an hour. */
static void
succeed(struct exchange *exchange, json_t *result, bool lasts)
{
    if (exchange->newest) {
        (void)json_object_set_new(result, "resultType", json_string("complete"));
    }
    if (exchange->newest && lasts) {
        (void)json_object_set_new(result, "ttlMs", json_integer(3600000));
        (void)json_object_set_new(result, "cacheScope", json_string("public"));
    }
    json_t *message = json_pack("{s:s,s:O,s:o}", "jsonrpc", "2.0", "id",
                                json_object_get(exchange->message, "id"), "result", result);
    find_put_json(&exchange->reply->body, message, JSON_COMPACT);
}

static json_t *
server_info(void)
{
    return json_pack("{s:s,s:s}", "name", "quadrille", "version", QUADRILLE_VERSION);
}

static void
answer_discover(struct exchange *exchange)
{
    succeed(exchange,
            json_pack("{s:[s],s:{s:{}},s:{s:o}}", "supportedVersions", NEWEST, "capabilities",
                      "tools", "_meta", "io.modelcontextprotocol/serverInfo", server_info()),
            true);
}

static void
answer_initialize(struct exchange *exchange)
{
    const char *asked = json_string_value(json_object_get(exchange->params, "protocolVersion"));
    const char *version = older[0];
    for (size_t i = 0; i < OLDER; i++) {
        version = asked != NULL && strcmp(asked, older[i]) == 0 ? older[i] : version;
    }
    succeed(exchange,
            json_pack("{s:s,s:{s:{}},s:o}", "protocolVersion", version, "capabilities", "tools",
                      "serverInfo", server_info()),
            false);
}

static void
answer_ping(struct exchange *exchange)
{
    succeed(exchange, json_object(), false);
}

static void
answer_tools(struct exchange *exchange)
{
    json_t *array = json_array();
    for (size_t i = 0; i < TOOLS; i++) {
        (void)json_array_append_new(array, describe_tool(&tools[i]));
    }
    succeed(exchange, json_pack("{s:o}", "tools", array), true);
}

/* Checks arguments by the tool's schema: members that it has, of their types, and those that are
 * required. */
static bool
arguments_fit(const struct tool *tool, const json_t *arguments, struct reason *why)
{
    const char *name;
    json_t *value;
    size_t known = 0;
    for (size_t i = 0; i < INPUTS && tool->inputs[i].name != NULL; i++) {
        value = json_object_get(arguments, tool->inputs[i].name);
        known += value != NULL;
        const bool fits = strcmp(tool->inputs[i].type, "string") == 0 ? json_is_string(value)
                                                                      : json_is_integer(value);
        if ((value == NULL && tool->inputs[i].required) || (value != NULL && !fits)) {
            (void)status_fail(why, STATUS_BAD_INPUT, "%s must be a %s", tool->inputs[i].name,
                              tool->inputs[i].type);
            return false;
        }
    }
    if (known == json_object_size(arguments)) {
        return true;
    }
    json_object_foreach((json_t *)(uintptr_t)arguments, name, value)
    {
        (void)status_fail(why, STATUS_BAD_INPUT, "%s has arguments that it does not know, as %s",
                          tool->name, name);
    }
    return false;
}

static void
run_call(struct exchange *exchange, const struct tool *tool, const json_t *arguments)
{
    struct reason why = {""};
    struct web_query *query = web_query_take(exchange->service, exchange->request, exchange->reply);
    if (query == NULL) {
        return;
    }
    struct call call = {.service = exchange->service, .query = query, .arguments = arguments};
    buf_init(&call.text, ANSWER_BYTES);
    (void)buf_append_string(&call.text, "");
    const bool fits = arguments_fit(tool, arguments, &why);
    const bool failed = !fits || tool->run(&call, &why) != STATUS_OK;
    web_query_give(exchange->service, query);
    json_t *result = json_pack(
        "{s:[{s:s,s:o}],s:b}", "content", "type", "text", "text",
        find_json_text(failed ? slice_string(why.text) : buf_slice(&call.text)), "isError", failed);
    if (!failed && call.structured != NULL) {
        (void)json_object_set(result, "structuredContent", call.structured);
    }
    json_decref(call.structured);
    buf_release(&call.text);
    succeed(exchange, result, false);
}

static void
answer_call(struct exchange *exchange)
{
    const char *name = json_string_value(json_object_get(exchange->params, "name"));
    json_t *arguments = json_object_get(exchange->params, "arguments");
    for (size_t i = 0; name != NULL && i < TOOLS; i++) {
        if (strcmp(name, tools[i].name) == 0) {
            json_t *given = arguments != NULL ? json_incref(arguments) : json_object();
            if (json_is_object(given)) {
                run_call(exchange, &tools[i], given);
            } else {
                fail(exchange, 200, INVALID_PARAMS, "arguments is no object", NULL);
            }
            json_decref(given);
            return;
        }
    }
    fail(exchange, exchange->newest ? 400 : 200, INVALID_PARAMS, "There is no such tool", NULL);
}

static const struct {
    const char *name;
    void (*answer)(struct exchange *exchange);
    bool of_newest, of_older;
} methods[] = {{"server/discover", answer_discover, true, false},
               {"initialize", answer_initialize, false, true},
               {"ping", answer_ping, false, true},
               {"tools/list", answer_tools, true, true},
               {"tools/call", answer_call, true, true}};
enum { METHODS = sizeof methods / sizeof methods[0] };

/* ---- what a request has to be ---- */

static bool
header_is(const struct web_request *request, const char *name, const char *value)
{
    const char *header = web_header(request, name);
    return header != NULL && value != NULL && strcmp(header, value) == 0;
}

/* Reads which revision it is. False: answered. */
static bool
check_revision(struct exchange *exchange, const char *method)
{
    const json_t *meta = json_object_get(exchange->params, "_meta");
    const char *version = json_string_value(json_object_get(meta, META_VERSION));
    const char *header = web_header(exchange->request, "MCP-Protocol-Version");
    exchange->newest = version != NULL;
    if (version == NULL) {
        bool known = header == NULL;
        for (size_t i = 0; i < OLDER; i++) {
            known |= header != NULL && strcmp(header, older[i]) == 0;
        }
        if (!known && strcmp(header, NEWEST) == 0) {
            fail(exchange, 400, HEADER_MISMATCH, "The body does not name the revision", NULL);
        } else if (!known) {
            fail(exchange, 400, NO_SUCH_VERSION, "Unsupported protocol version",
                 json_pack("{s:[s,s,s,s],s:s}", "supported", NEWEST, older[0], older[1], older[2],
                           "requested", header));
        }
        return known;
    }
    const char *name = json_string_value(json_object_get(exchange->params, "name"));
    if (strcmp(version, NEWEST) != 0) {
        fail(exchange, 400, NO_SUCH_VERSION, "Unsupported protocol version",
             json_pack("{s:[s,s,s,s],s:s}", "supported", NEWEST, older[0], older[1], older[2],
                       "requested", version));
        return false;
    }
    if (!header_is(exchange->request, "MCP-Protocol-Version", version) ||
        !header_is(exchange->request, "Mcp-Method", method) ||
        (strcmp(method, "tools/call") == 0 && !header_is(exchange->request, "Mcp-Name", name))) {
        fail(exchange, 400, HEADER_MISMATCH, "The headers do not say what the body says", NULL);
        return false;
    }
    return true;
}

static void
answer_message(struct exchange *exchange)
{
    const json_t *id = json_object_get(exchange->message, "id");
    const char *method = json_string_value(json_object_get(exchange->message, "method"));
    const char *jsonrpc = json_string_value(json_object_get(exchange->message, "jsonrpc"));
    if (jsonrpc == NULL || strcmp(jsonrpc, "2.0") != 0 ||
        (id != NULL && !json_is_string(id) && !json_is_integer(id))) {
        fail(exchange, 400, INVALID_REQUEST, "This is no request of JSON-RPC 2.0", NULL);
        return;
    }
    if (method == NULL || id == NULL) { /* a response, or a notification: nothing is said */
        exchange->reply->status = 202;
        return;
    }
    if (!check_revision(exchange, method)) {
        return;
    }
    for (size_t i = 0; i < METHODS; i++) {
        if (strcmp(method, methods[i].name) == 0 &&
            (exchange->newest ? methods[i].of_newest : methods[i].of_older)) {
            methods[i].answer(exchange);
            return;
        }
    }
    fail(exchange, exchange->newest ? 404 : 200, NO_METHOD, "There is no such method", NULL);
}

void
web_mcp(struct web_service *service, const struct web_request *request, struct web_reply *reply)
{
    struct exchange exchange = {.service = service, .request = request, .reply = reply};
    const char *origin = web_header(request, "Origin");
    const char *allowed = opt_string(service->options, "web.allow_origin");
    if (web_is_foreign(request) && strcmp(allowed, "*") != 0 &&
        (origin == NULL || strcmp(allowed, origin) != 0)) {
        web_reply_error(reply, 403, "Pages of this origin may not ask: see web.allow_origin.");
        return;
    }
    reply->content_type = "application/json";
    json_t *message =
        json_loadb(request->body.at != NULL ? request->body.at : "", request->body.length, 0, NULL);
    exchange.message = message;
    exchange.params = json_object_get(message, "params");
    if (message == NULL) {
        fail(&exchange, 400, PARSE_ERROR, "The body is no JSON", NULL);
    } else if (!json_is_object(message)) {
        fail(&exchange, 400, INVALID_REQUEST, "The body is no single message", NULL);
    } else {
        answer_message(&exchange);
    }
    json_decref(message);
}
