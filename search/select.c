#include "search/select.h"

#include "base/url/url.h"

enum { ANSWER_BYTES = 16 << 20, PAIRS_MOST = 5000 };

enum status
find_append(void *buffer, struct slice bytes, struct reason *why)
{
    const enum status status = buf_append_slice(buffer, bytes);
    return status == STATUS_OK ? status
                               : status_fail(why, status, "the answer is longer than %zu bytes",
                                             ((const struct buf *)buffer)->maximum);
}

enum status
find_ask(const struct find_access *access, struct slice sparql, json_t **bindings,
         struct reason *why)
{
    const struct index_query_options options = {.timeout_ms = access->timeout_ms,
                                                .client = access->asker};
    struct buf answer;
    *bindings = NULL;
    buf_init(&answer, ANSWER_BYTES);
    enum status status =
        index_query(access->index, sparql, "json", &options, find_append, &answer, why);
    if (status == STATUS_OK) {
        json_t *result = json_loadb(answer.data, answer.length, JSON_ALLOW_NUL, NULL);
        *bindings = json_incref(json_object_get(json_object_get(result, "results"), "bindings"));
        json_decref(result);
        if (*bindings == NULL) {
            status = status_fail(why, STATUS_UNSUPPORTED, "the query is no SELECT");
        }
    }
    buf_release(&answer);
    return status;
}

struct slice
find_value(const json_t *binding, const char *variable)
{
    const json_t *value = json_object_get(json_object_get(binding, variable), "value");
    return slice_of(json_string_value(value), json_string_length(value));
}

void
find_put_iri(struct buf *text, struct slice iri)
{
    if (iri_is_absolute(iri)) {
        (void)buf_printf(text, " <%.*s>", SLICE_PRINT(iri));
    }
}

/* The different IRIs at a place of the rows, each once, FIND_SUBJECTS at most. */
static void
put_iris(struct row_facts *facts, const struct find_results *results, bool subjects,
         struct buf *text)
{
    json_t *seen = json_object();
    for (size_t i = 0; i < results->row_count; i++) {
        const struct quad *quad = &results->rows[i].quad;
        const struct term *term = subjects ? &quad->subject : &quad->graph;
        if (term->kind != TERM_IRI ||
            json_object_getn(seen, term->value.at, term->value.length) != NULL) {
            continue;
        }
        if (json_object_size(seen) == FIND_SUBJECTS) {
            facts->cut = true;
            break;
        }
        (void)json_object_setn_new(seen, term->value.at, term->value.length, json_true());
        find_put_iri(text, term->value);
    }
    json_decref(seen);
}

/* Makes {key: [value]} of two columns, which are given back. */
static json_t *
make_pairs(json_t *bindings, const char *key, const char *value)
{
    json_t *pairs = json_object();
    for (size_t i = 0; i < json_array_size(bindings); i++) {
        const json_t *binding = json_array_get(bindings, i);
        const struct slice name = find_value(binding, key);
        json_t *list = json_object_getn(pairs, name.at, name.length);
        if (list == NULL && name.length > 0) {
            list = json_array();
            (void)json_object_setn_new(pairs, name.at, name.length, list);
        }
        (void)json_array_append(list, json_object_get(json_object_get(binding, value), "value"));
    }
    json_decref(bindings);
    return pairs;
}

enum status
row_facts_read_classes(struct row_facts *facts, const struct find_results *results,
                       struct reason *why)
{
    struct buf text;
    if (facts->classes != NULL) {
        return STATUS_OK;
    }
    buf_init(&text, FIND_ROW_BYTES);
    (void)buf_append_string(&text, "SELECT DISTINCT ?s ?c { VALUES ?s {");
    put_iris(facts, results, true, &text);
    (void)buf_printf(&text, " } ?s a ?c } LIMIT %d", PAIRS_MOST);
    json_t *bindings = NULL;
    const enum status status = find_ask(facts->access, buf_slice(&text), &bindings, why);
    facts->classes = make_pairs(bindings, "s", "c");
    buf_release(&text);
    return status;
}

enum status
find_ask_times(const struct find_access *access, struct slice documents, json_t **bindings,
               struct reason *why)
{
    struct buf text;
    buf_init(&text, FIND_ROW_BYTES);
    (void)buf_append_string(&text, "SELECT ?g ?time { VALUES ?g {");
    (void)buf_append_slice(&text, documents);
    (void)buf_append_string(&text, " } GRAPH <urn:x-quadrille:query#provenance> { ?g "
                                   "<http://www.w3.org/ns/prov#generatedAtTime> ?fetched "
                                   "OPTIONAL { ?g <urn:x-quadrille:meta#changeSeen> ?changed } } "
                                   "BIND(COALESCE(?changed, ?fetched) AS ?time) }");
    const enum status status = find_ask(access, buf_slice(&text), bindings, why);
    buf_release(&text);
    return status;
}

enum status
row_facts_read_times(struct row_facts *facts, const struct find_results *results,
                     struct reason *why)
{
    struct buf text;
    if (facts->times != NULL) {
        return STATUS_OK;
    }
    buf_init(&text, FIND_ROW_BYTES);
    put_iris(facts, results, false, &text);
    json_t *bindings = NULL;
    const enum status status = find_ask_times(facts->access, buf_slice(&text), &bindings, why);
    facts->times = make_pairs(bindings, "g", "time");
    buf_release(&text);
    return status;
}

void
row_facts_release(struct row_facts *facts)
{
    json_decref(facts->classes);
    json_decref(facts->times);
}
