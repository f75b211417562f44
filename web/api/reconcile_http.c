/* The addresses of the Reconciliation Service API: reconcile.h. */
#include <stdlib.h>

#include "base/url/url.h"
#include "web/api/reconcile.h"

enum { TEXT_BYTES = 1 << 20, EXTENDED = 1000 };

void
reconcile_reply(struct web_reply *reply, json_t *object)
{
    char *text = object != NULL ? json_dumps(object, JSON_COMPACT) : NULL;
    if (text != NULL) {
        (void)buf_append_string(&reply->body, text);
        reply->content_type = "application/json";
    }
    free(text);
    json_decref(object);
}

static json_t *
parse(struct slice text, struct web_reply *reply)
{
    json_error_t error;
    json_t *value = json_loadb(text.at != NULL ? text.at : "", text.length, 0, &error);
    if (value == NULL) {
        web_reply_error(reply, 400, "The JSON is malformed: line %d: %s", error.line, error.text);
    }
    return value;
}

static struct slice
member(const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);
    return slice_of(json_string_value(value), json_string_length(value));
}

static size_t
limit_of(const json_t *object)
{
    const json_int_t limit = json_integer_value(json_object_get(object, "limit"));
    return limit <= 0                     ? RECONCILE_LIMIT
           : limit < RECONCILE_LIMIT_MOST ? (size_t)limit
                                          : RECONCILE_LIMIT_MOST;
}

/* ---- manifests ---- */

static void
base_address(const struct web_request *request, struct buf *out)
{
    const char *host = web_header(request, "Host");
    (void)buf_printf(out, "http://%s/reconcile", host != NULL ? host : "localhost");
}

static json_t *
suggest_service(const char *base, const char *kind)
{
    return json_pack("{s:s,s:s+}", "service_url", base, "service_path", "/suggest/", kind);
}

static json_t *
manifest_02(const char *base)
{
    return json_pack(
        "{s:[s],s:s,s:s,s:s,s:{s:s},s:{s:o,s:o,s:o},s:{s:s+,s:i,s:i},s:{s:{s:s,s:s},s:[]}}",
        "versions", "0.2", "name", "Quadrille", "identifierSpace",
        "http://www.w3.org/2002/07/owl#Thing", "schemaSpace",
        "http://www.w3.org/2000/01/rdf-schema#Class", "view", "url", "{{id}}", "suggest", "entity",
        suggest_service(base, "entity"), "type", suggest_service(base, "type"), "property",
        suggest_service(base, "property"), "preview", "url", base, "/preview?id={{id}}", "width",
        400, "height", 300, "extend", "propose_properties", "service_url", base, "service_path",
        "/properties", "property_settings");
}

static json_t *
manifest_10(void)
{
    return json_pack("{s:[s],s:s,s:{s:s},s:i,s:b,s:{s:b,s:b,s:b},s:{s:i,s:i},s:{s:b,s:[]}}",
                     "versions", "1.0-draft", "name", "Quadrille", "view", "url", "{+id}",
                     "batchSize", RECONCILE_QUERIES, "standardizedScore", 1, "suggest", "entity", 1,
                     "type", 1, "property", 1, "preview", "width", 400, "height", 300, "extend",
                     "proposeProperties", 1, "propertySettings");
}

/* ---- queries ---- */

static enum status
read_02(const json_t *object, struct reconcile_query *query, struct reason *why)
{
    const json_t *properties = json_object_get(object, "properties");
    *query = (struct reconcile_query){.name = member(object, "query"),
                                      .types = json_object_get(object, "type"),
                                      .limit = limit_of(object)};
    for (size_t i = 0; i < json_array_size(properties) && i < RECONCILE_PROPERTIES; i++) {
        const json_t *property = json_array_get(properties, i);
        query->values[query->value_count++] = (struct reconcile_value){
            .property = member(property, "pid"), .values = json_object_get(property, "v")};
    }
    return query->name.length + query->value_count > 0
               ? STATUS_OK
               : status_fail(why, STATUS_BAD_INPUT, "a query has neither query nor properties");
}

static enum status
read_10(const json_t *object, struct reconcile_query *query, struct reason *why)
{
    const json_t *conditions = json_object_get(object, "conditions");
    *query = (struct reconcile_query){.types = json_object_get(object, "type"),
                                      .limit = limit_of(object)};
    for (size_t i = 0; i < json_array_size(conditions); i++) {
        const json_t *condition = json_array_get(conditions, i);
        const json_t *value = json_object_get(condition, "propertyValue");
        const struct slice kind = member(condition, "matchType");
        if (slice_is(kind, "name")) {
            query->name = slice_of(json_string_value(value), json_string_length(value));
        } else if (slice_is(kind, "property") && query->value_count < RECONCILE_PROPERTIES) {
            query->values[query->value_count++] = (struct reconcile_value){
                .property = member(condition, "propertyId"),
                .values = value,
                .required = json_is_true(json_object_get(condition, "required"))};
        } else {
            return status_fail(why, STATUS_UNSUPPORTED,
                               "conditions are by name or by at most %d properties",
                               RECONCILE_PROPERTIES);
        }
    }
    return query->name.length + query->value_count > 0
               ? STATUS_OK
               : status_fail(why, STATUS_BAD_INPUT, "a query has no conditions");
}

static enum status
answer_02(struct web_service *service, const struct web_query *place, const json_t *batch,
          json_t *answers, struct reason *why)
{
    const char *key;
    json_t *object;
    json_object_foreach((json_t *)(uintptr_t)batch, key, object)
    {
        struct reconcile_query query;
        json_t *candidates;
        TRY(read_02(object, &query, why));
        TRY(reconcile_run(service, place, &query, false, &candidates, why));
        (void)json_object_set_new(answers, key, json_pack("{s:o}", "result", candidates));
    }
    return STATUS_OK;
}

static void
match_02(struct web_service *service, const struct web_request *request, const char *text,
         struct web_reply *reply)
{
    struct reason why = {""};
    json_t *batch = parse(slice_string(text), reply);
    if (batch == NULL) {
        return;
    }
    json_t *answers = json_object();
    if (!json_is_object(batch) || json_object_size(batch) > RECONCILE_QUERIES) {
        web_reply_error(reply, 400, "queries is an object of at most %d queries.",
                        RECONCILE_QUERIES);
    } else {
        struct web_query *place = web_query_take(service, request, reply);
        if (place != NULL) {
            const enum status status = answer_02(service, place, batch, answers, &why);
            web_query_give(service, place);
            if (status != STATUS_OK) {
                web_reply_failure(reply, status, &why);
            } else {
                reconcile_reply(reply, json_incref(answers));
            }
        }
    }
    json_decref(answers);
    json_decref(batch);
}

static enum status
answer_10(struct web_service *service, const struct web_query *place, const json_t *queries,
          json_t *results, struct reason *why)
{
    for (size_t i = 0; i < json_array_size(queries); i++) {
        struct reconcile_query query;
        json_t *candidates;
        TRY(read_10(json_array_get(queries, i), &query, why));
        TRY(reconcile_run(service, place, &query, true, &candidates, why));
        (void)json_array_append_new(results, json_pack("{s:o}", "candidates", candidates));
    }
    return STATUS_OK;
}

void
web_reconcile_match(struct web_service *service, const struct web_request *request,
                    struct web_reply *reply)
{
    struct reason why = {""};
    json_t *batch = parse(request->body, reply);
    if (batch == NULL) {
        return;
    }
    const json_t *queries = json_object_get(batch, "queries");
    json_t *results = json_array();
    if (!json_is_array(queries) || json_array_size(queries) > RECONCILE_QUERIES) {
        web_reply_error(reply, 400, "queries is an array of at most %d queries.",
                        RECONCILE_QUERIES);
    } else {
        struct web_query *place = web_query_take(service, request, reply);
        if (place != NULL) {
            const enum status status = answer_10(service, place, queries, results, &why);
            web_query_give(service, place);
            if (status != STATUS_OK) {
                web_reply_failure(reply, status, &why);
            } else {
                reconcile_reply(reply, json_pack("{s:O}", "results", results));
            }
        }
    }
    json_decref(results);
    json_decref(batch);
}

/* ---- extension: values of properties ---- */

static json_t *
json_value(const json_t *term)
{
    const struct slice value = member(term, "value");
    if (slice_is(member(term, "type"), "uri")) {
        return json_pack("{s:o,s:o}", "id", find_json_text(value), "name",
                         find_json_text(reconcile_local_name(value)));
    }
    if (slice_is(member(term, "datatype"), "http://www.w3.org/2001/XMLSchema#integer") &&
        value.length < 16) {
        return json_pack("{s:I}", "int", (json_int_t)strtoll(value.at, NULL, 10));
    }
    return json_pack("{s:o}", "str", find_json_text(value));
}

static enum status
list_iris(const json_t *array, const char *field, const char *variable, struct buf *text,
          struct reason *why)
{
    struct buf memory;
    enum status status = STATUS_OK;
    buf_init(&memory, URL_MAXIMUM);
    (void)buf_printf(text, "VALUES (?%s ?%s0) {", variable, variable);
    for (size_t i = 0; i < json_array_size(array) && status == STATUS_OK; i++) {
        const json_t *item = json_array_get(array, i);
        const struct slice name = field != NULL
                                      ? member(item, field)
                                      : slice_of(json_string_value(item), json_string_length(item));
        const struct slice iri = find_iri(name, &memory);
        if (iri.length == 0 || !iri_is_absolute(iri)) {
            status = status_fail(why, STATUS_BAD_INPUT, "'%.*s' is no IRI", SLICE_PRINT(name));
        }
        (void)buf_printf(text, " (<%.*s> \"", SLICE_PRINT(iri));
        find_quote(text, name); /* as it was asked for: keys of the answer */
        (void)buf_append_string(text, "\")");
    }
    (void)buf_append_string(text, " } ");
    buf_release(&memory);
    return status;
}

/* rows: {id: {property: [values]}} with every id and property that was asked for. */
static enum status
extend(struct web_service *service, const struct web_query *place, const json_t *asked,
       json_t *rows, struct reason *why)
{
    const json_t *ids = json_object_get(asked, "ids");
    const json_t *properties = json_object_get(asked, "properties");
    struct buf text;
    json_t *bindings = NULL;
    if (!json_is_array(ids) || !json_is_array(properties) || json_array_size(ids) > EXTENDED ||
        json_array_size(properties) > RECONCILE_PROPERTIES) {
        return status_fail(why, STATUS_BAD_INPUT,
                           "there must be arrays ids, of at most %d, and properties, of at most %d",
                           EXTENDED, RECONCILE_PROPERTIES);
    }
    for (size_t i = 0; i < json_array_size(ids); i++) {
        const struct slice id = slice_of(json_string_value(json_array_get(ids, i)),
                                         json_string_length(json_array_get(ids, i)));
        json_t *row = json_object();
        for (size_t k = 0; k < json_array_size(properties); k++) {
            const struct slice name = member(json_array_get(properties, k), "id");
            (void)json_object_setn_new(row, name.at, name.length, json_array());
        }
        (void)json_object_setn_new(rows, id.at, id.length, row);
    }
    buf_init(&text, TEXT_BYTES * 4);
    (void)buf_append_string(&text, "SELECT DISTINCT ?s0 ?p0 ?o { ");
    enum status status = list_iris(ids, NULL, "s", &text, why);
    if (status == STATUS_OK) {
        status = list_iris(properties, "id", "p", &text, why);
    }
    (void)buf_append_string(&text, "?s ?p ?o FILTER(!isBlank(?o)) }");
    if (status == STATUS_OK && json_object_size(rows) > 0) {
        status = find_select(service, place, buf_slice(&text), &bindings, why);
    }
    for (size_t i = 0; i < json_array_size(bindings); i++) {
        const json_t *binding = json_array_get(bindings, i);
        const struct slice id = find_value(binding, "s0"), name = find_value(binding, "p0");
        json_t *values =
            json_object_getn(json_object_getn(rows, id.at, id.length), name.at, name.length);
        (void)json_array_append_new(values, json_value(json_object_get(binding, "o")));
    }
    json_decref(bindings);
    buf_release(&text);
    return status;
}

static json_t *
meta_of(const json_t *asked)
{
    const json_t *properties = json_object_get(asked, "properties");
    json_t *meta = json_array();
    for (size_t i = 0; i < json_array_size(properties); i++) {
        const struct slice name = member(json_array_get(properties, i), "id");
        (void)json_array_append_new(meta, json_pack("{s:o,s:o}", "id", find_json_text(name), "name",
                                                    find_json_text(reconcile_local_name(name))));
    }
    return meta;
}

/* The rows of version 1.0: arrays in place of objects. */
static json_t *
rows_10(json_t *rows)
{
    json_t *array = json_array(), *row, *values;
    const char *id, *name;
    json_object_foreach(rows, id, row)
    {
        json_t *properties = json_array();
        json_object_foreach(row, name, values)
        {
            (void)json_array_append_new(properties,
                                        json_pack("{s:s,s:O}", "id", name, "values", values));
        }
        (void)json_array_append_new(array,
                                    json_pack("{s:s,s:o}", "id", id, "properties", properties));
    }
    return array;
}

static void
answer_extend(struct web_service *service, const struct web_request *request, struct slice text,
              bool newer, struct web_reply *reply)
{
    struct reason why = {""};
    json_t *asked = parse(text, reply);
    struct web_query *place = asked != NULL ? web_query_take(service, request, reply) : NULL;
    if (place == NULL) {
        json_decref(asked);
        return;
    }
    json_t *rows = json_object();
    const enum status status = extend(service, place, asked, rows, &why);
    web_query_give(service, place);
    if (status != STATUS_OK) {
        web_reply_failure(reply, status, &why);
    } else {
        reconcile_reply(reply, json_pack("{s:o,s:o}", "meta", meta_of(asked), "rows",
                                         newer ? rows_10(rows) : json_incref(rows)));
    }
    json_decref(rows);
    json_decref(asked);
}

void
web_reconcile_extend(struct web_service *service, const struct web_request *request,
                     struct web_reply *reply)
{
    answer_extend(service, request, request->body, true, reply);
}

/* ---- the address of version 0.2, and the manifest of 1.0 ---- */

void
web_reconcile(struct web_service *service, const struct web_request *request,
              struct web_reply *reply)
{
    const char *queries = web_parameter(request, "queries", NULL);
    const char *extension = web_parameter(request, "extend", NULL);
    if (queries != NULL) {
        match_02(service, request, queries, reply);
    } else if (extension != NULL) {
        answer_extend(service, request, slice_string(extension), false, reply);
    } else {
        struct buf base;
        buf_init(&base, TEXT_BYTES);
        base_address(request, &base);
        reconcile_reply(reply, manifest_02(base.data));
        buf_release(&base);
    }
}

void
web_reconcile_manifest(struct web_service *service, const struct web_request *request,
                       struct web_reply *reply)
{
    (void)service;
    (void)request;
    reconcile_reply(reply, manifest_10());
}
