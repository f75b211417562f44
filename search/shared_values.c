/* Tells which values of identifying properties several resources share, those that most share
 * first. */
#include "identity/identity.h"
#include "identity/refused_values.h"
#include "rdf/core/writer.h"
#include "search/find.h"

enum { PROPERTIES = 500, TERM_BYTES = 1 << 20 };

/* A term of a binding, living as long as it. */
static struct term
term_of(const json_t *binding, const char *variable)
{
    const json_t *value = json_object_get(binding, variable);
    const struct slice text = find_value(binding, variable);
    const char *kind = json_string_value(json_object_get(value, "type"));
    const char *language = json_string_value(json_object_get(value, "xml:lang"));
    const char *datatype = json_string_value(json_object_get(value, "datatype"));
    struct term term = {.kind = TERM_LITERAL, .value = text};
    if (kind != NULL && strcmp(kind, "uri") == 0) {
        term = term_iri(text);
    } else if (kind != NULL && strcmp(kind, "bnode") == 0) {
        term = term_blank(text);
    } else {
        term.language = slice_string(language);
        term.datatype = slice_string(datatype);
    }
    return term;
}

static json_t *
written(const struct term *term, struct buf *memory)
{
    buf_reset(memory);
    (void)nquads_write_term(memory, term);
    return json_stringn(memory->data, memory->length);
}

static json_t *
shared_value(const json_t *binding, struct buf *memory)
{
    const struct term property = term_of(binding, "property"), value = term_of(binding, "value"),
                      one = term_of(binding, "one");
    const uint64_t count = slice_number(find_value(binding, "resources"));
    json_t *found = json_object();
    (void)json_object_set_new(found, "property", written(&property, memory));
    (void)json_object_set_new(found, "value", written(&value, memory));
    (void)json_object_set_new(found, "resources", json_integer((json_int_t)count));
    (void)json_object_set_new(found, "one", written(&one, memory));
    if (value_is_refused(property.value, &value)) {
        (void)json_object_set_new(found, "setAside", json_string("refused"));
    } else if (count > IDENTITY_SHARED_MOST) {
        (void)json_object_set_new(found, "setAside", json_string("shared"));
    }
    return found;
}

enum status
find_shared_values(const struct find_access *access, json_t **answer, struct reason *why)
{
    struct buf text;
    json_t *bindings, *values = json_array();
    *answer = NULL;
    buf_init(&text, TERM_BYTES);
    (void)buf_printf(
        &text,
        "SELECT ?property ?value (COUNT(DISTINCT ?s) AS ?resources) (MIN(?s) AS ?one) { "
        "{ SELECT DISTINCT ?property { ?property a <" OWL_NAMESPACE "InverseFunctionalProperty> } "
        "ORDER BY ?property LIMIT %d } ?s ?property ?value } GROUP BY ?property ?value "
        "HAVING (COUNT(DISTINCT ?s) > 1) ORDER BY DESC(?resources) ?property ?value LIMIT %d",
        PROPERTIES, FIND_SHARED_VALUES + 1);
    const enum status status = find_ask(access, buf_slice(&text), &bindings, why);
    const size_t count = json_array_size(bindings);
    for (size_t i = 0; i < count && i < FIND_SHARED_VALUES; i++) {
        (void)json_array_append_new(values, shared_value(json_array_get(bindings, i), &text));
    }
    json_decref(bindings);
    buf_release(&text);
    if (status != STATUS_OK) {
        json_decref(values);
        return status;
    }
    *answer = json_pack("{s:o,s:b}", "values", values, "more", count > FIND_SHARED_VALUES);
    return STATUS_OK;
}
