/* The service's description by OpenAPI 3.1 (https://spec.openapis.org/oas/v3.1.0), made from the
 * table that routes. */
#include <ctype.h>
#include <jansson.h>
#include <stdio.h>

#include "base/options/opt.h"
#include "web/api/find.h"
#include "web/web_service.h"

static const struct {
    enum web_method method;
    const char *name;
} methods[] = {{WEB_GET, "get"}, {WEB_POST, "post"}, {WEB_PUT, "put"}, {WEB_DELETE, "delete"}};

/* "getStatusJson" of GET and /status.json: unique, as both are. */
static json_t *
operation_name(const char *method, const char *path)
{
    char name[128];
    size_t length = (size_t)snprintf(name, sizeof name, "%s", method);
    bool upper = true;
    for (const char *c = path; *c != '\0' && length + 6 < sizeof name; c++) {
        if (isalnum((unsigned char)*c)) {
            name[length++] = upper ? (char)toupper((unsigned char)*c) : *c;
            upper = false;
        } else {
            upper = true;
        }
    }
    name[length] = '\0';
    if (length > 1 && path[strlen(path) - 1] == '/') { /* a prefix, or the root */
        (void)snprintf(name + length, sizeof name - length, "%s", path[1] == '\0' ? "Root" : "Of");
    }
    return json_string(name);
}

static json_t *
parameter(const struct web_parameter_row *row)
{
    json_t *schema =
        row->value == WEB_VALUE_NUMBER ? json_pack("{s:s,s:i,s:I}", "type", "integer", "minimum", 0,
                                                   "maximum", (json_int_t)row->most)
        : row->value == WEB_VALUE_IRI  ? json_pack("{s:s,s:s}", "type", "string", "format", "iri")
                                       : json_pack("{s:s}", "type", "string");
    return json_pack("{s:s,s:s,s:b,s:s,s:o}", "name", row->name, "in", "query", "required",
                     row->required, "description", row->text, "schema", schema);
}

/* {type: {}} of each of the types. */
static json_t *
content(const char *types)
{
    json_t *object = json_object();
    struct slice rest = slice_string(types);
    for (;;) {
        const struct slice type = slice_next_word(&rest);
        if (type.length == 0) {
            return object;
        }
        (void)json_object_setn_new(object, type.at, type.length, json_object());
    }
}

static json_t *
problem_reply(const char *text)
{
    return json_pack("{s:s,s:{s:{s:{s:s}}}}", "description", text, "content",
                     "application/problem+json", "schema", "$ref", "#/components/schemas/Problem");
}

static json_t *
replies(const struct web_route *route, enum web_method method)
{
    json_t *object = json_object();
    if (method == WEB_PUT || method == WEB_DELETE) {
        (void)json_object_set_new(object, "204", json_pack("{s:s}", "description", "Done."));
    } else {
        (void)json_object_set_new(
            object, "200",
            json_pack("{s:s,s:o}", "description", "The answer.", "content", content(route->types)));
    }
    (void)json_object_set_new(object, "4XX", problem_reply("The request is not answered."));
    (void)json_object_set_new(object, "5XX", problem_reply("The service cannot answer now."));
    return object;
}

static json_t *
operation(const struct web_route *route, const char *path, size_t method)
{
    const enum web_method which = methods[method].method;
    json_t *object = json_pack("{s:[s],s:s,s:o,s:o}", "tags", route->tag, "summary", route->summary,
                               "operationId", operation_name(methods[method].name, route->path),
                               "responses", replies(route, which));
    json_t *parameters = json_array();
    if (strchr(path, '{') != NULL) {
        (void)json_array_append_new(parameters, json_pack("{s:s,s:s,s:b,s:s,s:{s:s}}", "name",
                                                          "name", "in", "path", "required", 1,
                                                          "description", "The rest of the address.",
                                                          "schema", "type", "string"));
    }
    for (const struct web_parameter_row *row = route->parameters; row != NULL && row->name != NULL;
         row++) {
        (void)json_array_append_new(parameters, parameter(row));
    }
    if (json_array_size(parameters) > 0) {
        (void)json_object_set(object, "parameters", parameters);
    }
    json_decref(parameters);
    if (which == WEB_POST || which == WEB_PUT) {
        json_t *bodies = content(route->body_types != NULL ? route->body_types
                                                           : "application/x-www-form-urlencoded");
        (void)json_object_set_new(object, "requestBody", json_pack("{s:o}", "content", bodies));
    }
    return object;
}

static json_t *
paths(const struct web_route *routes)
{
    json_t *object = json_object();
    for (const struct web_route *route = routes; route->path != NULL; route++) {
        char path[128];
        const size_t length = strlen(route->path);
        const bool prefix = length > 1 && route->path[length - 1] == '/';
        (void)snprintf(path, sizeof path, "%s%s", route->path, prefix ? "{name}" : "");
        json_t *item = json_object();
        for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++) {
            if ((route->methods & methods[i].method) != 0) {
                (void)json_object_set_new(item, methods[i].name, operation(route, path, i));
            }
        }
        (void)json_object_set_new(object, path, item);
    }
    return object;
}

/* Tags in the order in which the table has them first. */
static json_t *
tags(const struct web_route *routes)
{
    json_t *array = json_array();
    json_t *seen = json_object();
    for (const struct web_route *route = routes; route->path != NULL; route++) {
        if (json_object_get(seen, route->tag) == NULL) {
            (void)json_object_set_new(seen, route->tag, json_true());
            (void)json_array_append_new(array, json_pack("{s:s}", "name", route->tag));
        }
    }
    json_decref(seen);
    return array;
}

void
web_openapi(struct web_service *service, const struct web_request *request, struct web_reply *reply)
{
    (void)request;
    json_t *problem =
        json_pack("{s:s,s:s,s:{s:{s:s},s:{s:s},s:{s:s},s:{s:s}}}", "type", "object", "description",
                  "Problem details, RFC 9457", "properties", "type", "type", "string", "title",
                  "type", "string", "status", "type", "integer", "detail", "type", "string");
    json_t *description = json_pack(
        "{s:s,s:{s:s,s:s,s:s,s:{s:s,s:s}},s:[{s:s}],s:o,s:o,s:{s:{s:o}},s:[]}", "openapi", "3.1.0",
        "info", "title", "Quadrille", "version", QUADRILLE_VERSION, "description",
        "Search, lookups and SPARQL over what a crawl found.", "license", "name", "Apache 2.0",
        "identifier", "Apache-2.0", "servers", "url", "/", "tags", tags(service->routes), "paths",
        paths(service->routes), "components", "schemas", "Problem", problem, "security");
    find_put_json(&reply->body, description, JSON_INDENT(1) | JSON_PRESERVE_ORDER);
    reply->content_type = "application/json";
}
