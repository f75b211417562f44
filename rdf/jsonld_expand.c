/* Expansion: https://www.w3.org/TR/json-ld11-api/#expansion-algorithm */
#include <stdlib.h>
#include <string.h>

#include "rdf/jsonld_processor.h"

enum { TYPE_ENTRIES = 8 };

/* ---- building expanded objects ---- */

struct json *
jsonld_object(struct jsonld *jsonld, uint32_t line)
{
    return json_new(&jsonld->nodes, JSON_OBJECT, line);
}

struct json *
jsonld_text(struct jsonld *jsonld, struct slice text, uint32_t line)
{
    return json_string(&jsonld->nodes, text, line);
}

struct json *
jsonld_copy(struct jsonld *jsonld, const struct json *node)
{
    struct json *copy = json_new(&jsonld->nodes, node->kind, node->line);
    *copy = *node;
    copy->key = (struct slice){NULL, 0};
    copy->next = NULL;
    return copy;
}

void
jsonld_set(struct jsonld *jsonld, struct json *object, enum keyword keyword, struct json *value)
{
    value->key = jsonld_keyword_text(keyword);
    value->tag = (uint8_t)keyword;
    json_add(&jsonld->nodes, object, value);
}

struct json *
jsonld_entry(const struct json *object, enum keyword keyword)
{
    if (object->index != NULL) {
        return json_get(object, jsonld_keyword_text(keyword));
    }
    struct json *member = object->kind == JSON_OBJECT ? object->first : NULL;
    while (member != NULL && member->tag != keyword) {
        member = member->next;
    }
    return member;
}

struct json *
jsonld_as_array(struct jsonld *jsonld, struct json *value, uint32_t line)
{
    if (value != NULL && value->kind == JSON_ARRAY) {
        return value;
    }
    struct json *array = json_new(&jsonld->nodes, JSON_ARRAY, line);
    if (value != NULL) {
        json_append(array, value);
    }
    return array;
}

void
jsonld_add_values(struct jsonld *jsonld, struct json *object, struct slice key,
                  enum keyword keyword, struct json *value)
{
    struct json *array =
        keyword != KEYWORD_NOT ? jsonld_entry(object, keyword) : json_get(object, key);
    if (array == NULL) {
        array = json_new(&jsonld->nodes, JSON_ARRAY, value->line);
        array->key = key;
        array->tag = (uint8_t)keyword;
        json_add(&jsonld->nodes, object, array);
    }
    if (value->kind == JSON_ARRAY) {
        json_move(array, value);
    } else {
        json_append(array, value);
    }
}

/* ---- keywords ---- */

typedef enum status keyword_function(struct jsonld *jsonld, struct expansion *expansion,
                                     const struct json *entry);

static bool
is_scalar(const struct json *node)
{
    return node->kind != JSON_ARRAY && node->kind != JSON_OBJECT && node->kind != JSON_NULL;
}

static enum status
expand_id(struct jsonld *jsonld, struct expansion *expansion, const struct json *entry)
{
    if (entry->kind != JSON_STRING) {
        return jsonld_error(jsonld, entry->line, "invalid @id value",
                            SLICE("@id must be a string"));
    }
    struct slice iri;
    TRY(jsonld_iri(jsonld, expansion->active, NULL, entry->text, IRI_DOCUMENT, &iri));
    struct json *id = jsonld_text(jsonld, iri, entry->line);
    if (iri.at == NULL) {
        id->kind = JSON_NULL;
    }
    jsonld_set(jsonld, expansion->result, KEYWORD_ID, id);
    return STATUS_OK;
}

static enum status
expand_one_type(struct jsonld *jsonld, const struct expansion *expansion, const struct json *type,
                struct json **expanded)
{
    if (type->kind != JSON_STRING) {
        return jsonld_error(jsonld, type->line, "invalid type value",
                            SLICE("@type must be a string or an array of strings"));
    }
    struct slice iri;
    TRY(jsonld_iri(jsonld, expansion->type_scoped, NULL, type->text, IRI_VOCAB | IRI_DOCUMENT,
                   &iri));
    *expanded = iri.at != NULL ? jsonld_text(jsonld, iri, type->line) : NULL;
    return STATUS_OK;
}

static enum status
expand_type(struct jsonld *jsonld, struct expansion *expansion, const struct json *entry)
{
    struct json *expanded = NULL;
    if (entry->kind != JSON_ARRAY) {
        TRY(expand_one_type(jsonld, expansion, entry, &expanded));
    } else {
        expanded = json_new(&jsonld->nodes, JSON_ARRAY, entry->line);
        for (const struct json *type = entry->first; type != NULL; type = type->next) {
            struct json *one = NULL;
            TRY(jsonld_recover(jsonld, expand_one_type(jsonld, expansion, type, &one)));
            if (one != NULL) {
                json_append(expanded, one);
            }
        }
    }
    if (expanded == NULL) {
        return STATUS_OK;
    }
    struct json *before = jsonld_entry(expansion->result, KEYWORD_TYPE);
    if (before == NULL) {
        jsonld_set(jsonld, expansion->result, KEYWORD_TYPE, expanded);
        return STATUS_OK;
    }
    if (before->kind != JSON_ARRAY) {
        struct json *first = jsonld_copy(jsonld, before);
        before->kind = JSON_ARRAY;
        before->first = before->last = NULL;
        before->count = 0;
        json_append(before, first);
    }
    jsonld_add_values(jsonld, expansion->result, before->key, KEYWORD_TYPE, expanded);
    return STATUS_OK;
}

static enum status
expand_graph(struct jsonld *jsonld, struct expansion *expansion, const struct json *entry)
{
    struct json *expanded;
    const struct property property = {.name = SLICE("@graph"), .top = true};
    TRY(jsonld_expand_value(jsonld, expansion->active, property, entry, false, &expanded));
    jsonld_set(jsonld, expansion->result, KEYWORD_GRAPH,
               jsonld_as_array(jsonld, expanded, entry->line));
    return STATUS_OK;
}

static bool
is_node(const struct json *expanded)
{
    return expanded->kind == JSON_OBJECT && jsonld_entry(expanded, KEYWORD_VALUE) == NULL &&
           jsonld_entry(expanded, KEYWORD_LIST) == NULL &&
           jsonld_entry(expanded, KEYWORD_SET) == NULL;
}

static enum status
expand_included(struct jsonld *jsonld, struct expansion *expansion, const struct json *entry)
{
    if (jsonld->options->mode_1_0) {
        return STATUS_OK;
    }
    struct json *expanded;
    const struct property property = {.top = true};
    TRY(jsonld_expand_value(jsonld, expansion->active, property, entry, false, &expanded));
    bool good = expanded != NULL;
    struct json *array = jsonld_as_array(jsonld, expanded, entry->line);
    for (const struct json *item = array->first; item != NULL; item = item->next) {
        good = good && is_node(item);
    }
    if (!good) {
        return jsonld_error(jsonld, entry->line, "invalid @included value",
                            SLICE("@included takes objects"));
    }
    jsonld_add_values(jsonld, expansion->result, jsonld_keyword_text(KEYWORD_INCLUDED),
                      KEYWORD_INCLUDED, array);
    return STATUS_OK;
}

static enum status
expand_value_keyword(struct jsonld *jsonld, struct expansion *expansion, const struct json *entry)
{
    if (expansion->json_type) {
        if (jsonld->options->mode_1_0) {
            return jsonld_error(jsonld, entry->line, "invalid value object value", entry->key);
        }
    } else if (!is_scalar(entry) && entry->kind != JSON_NULL) {
        expansion->lost = true;
        return jsonld_error(jsonld, entry->line, "invalid value object value",
                            SLICE("@value must be a string, a number, a boolean or null"));
    }
    jsonld_set(jsonld, expansion->result, KEYWORD_VALUE, jsonld_copy(jsonld, entry));
    return STATUS_OK;
}

static enum status
copy_text(struct jsonld *jsonld, struct expansion *expansion, const struct json *entry,
          enum keyword keyword, const char *code)
{
    if (entry->kind != JSON_STRING) {
        return jsonld_error(jsonld, entry->line, code, SLICE("it must be a string"));
    }
    jsonld_set(jsonld, expansion->result, keyword, jsonld_copy(jsonld, entry));
    return STATUS_OK;
}

static enum status
expand_language(struct jsonld *jsonld, struct expansion *expansion, const struct json *entry)
{
    return copy_text(jsonld, expansion, entry, KEYWORD_LANGUAGE, "invalid language-tagged string");
}

static enum status
expand_index(struct jsonld *jsonld, struct expansion *expansion, const struct json *entry)
{
    return copy_text(jsonld, expansion, entry, KEYWORD_INDEX, "invalid @index value");
}

static enum status
expand_direction(struct jsonld *jsonld, struct expansion *expansion, const struct json *entry)
{
    if (jsonld->options->mode_1_0) {
        return STATUS_OK;
    }
    if (entry->kind != JSON_STRING ||
        (!slice_is(entry->text, "ltr") && !slice_is(entry->text, "rtl"))) {
        return jsonld_error(jsonld, entry->line, "invalid base direction",
                            SLICE("@direction must be \"ltr\" or \"rtl\""));
    }
    return copy_text(jsonld, expansion, entry, KEYWORD_DIRECTION, "invalid base direction");
}

static enum status
expand_list(struct jsonld *jsonld, struct expansion *expansion, const struct json *entry)
{
    if (expansion->property.top) {
        return STATUS_OK;
    }
    struct json *expanded;
    TRY(jsonld_expand_value(jsonld, expansion->active, expansion->property, entry, false,
                            &expanded));
    jsonld_set(jsonld, expansion->result, KEYWORD_LIST,
               jsonld_as_array(jsonld, expanded, entry->line));
    return STATUS_OK;
}

static enum status
expand_set(struct jsonld *jsonld, struct expansion *expansion, const struct json *entry)
{
    struct json *expanded;
    TRY(jsonld_expand_value(jsonld, expansion->active, expansion->property, entry, false,
                            &expanded));
    jsonld_set(jsonld, expansion->result, KEYWORD_SET,
               jsonld_as_array(jsonld, expanded, entry->line));
    return STATUS_OK;
}

/* Adds the values to the object's @reverse map. */
static enum status
add_reverse(struct jsonld *jsonld, struct json *object, struct slice key, struct json *values)
{
    struct json *map = jsonld_entry(object, KEYWORD_REVERSE);
    struct json *array = jsonld_as_array(jsonld, values, values->line);
    for (const struct json *item = array->first; item != NULL; item = item->next) {
        if (!is_node(item)) {
            return jsonld_error(jsonld, item->line, "invalid reverse property value", key);
        }
    }
    if (map == NULL) {
        map = jsonld_object(jsonld, values->line);
        jsonld_set(jsonld, object, KEYWORD_REVERSE, map);
    }
    jsonld_add_values(jsonld, map, key, KEYWORD_NOT, array);
    return STATUS_OK;
}

static enum status
expand_reverse(struct jsonld *jsonld, struct expansion *expansion, const struct json *entry)
{
    if (entry->kind != JSON_OBJECT) {
        return jsonld_error(jsonld, entry->line, "invalid @reverse value",
                            SLICE("@reverse takes an object"));
    }
    struct json *expanded;
    const struct property property = {.name = SLICE("@reverse"), .reverse = true};
    TRY(jsonld_expand_value(jsonld, expansion->active, property, entry, false, &expanded));
    if (expanded == NULL || expanded->kind != JSON_OBJECT) {
        return STATUS_OK;
    }
    for (struct json *member = expanded->first, *next; member != NULL; member = next) {
        next = member->next;
        if (member->tag != KEYWORD_REVERSE) {
            TRY(jsonld_recover(jsonld,
                               add_reverse(jsonld, expansion->result, member->key, member)));
            continue;
        }
        for (struct json *twice = member->first, *after; twice != NULL; twice = after) {
            after = twice->next;
            jsonld_add_values(jsonld, expansion->result, twice->key, KEYWORD_NOT, twice);
        }
    }
    return STATUS_OK;
}

static keyword_function *const keyword_functions[KEYWORD_COUNT] = {
    [KEYWORD_ID] = expand_id,
    [KEYWORD_TYPE] = expand_type,
    [KEYWORD_GRAPH] = expand_graph,
    [KEYWORD_INCLUDED] = expand_included,
    [KEYWORD_VALUE] = expand_value_keyword,
    [KEYWORD_LANGUAGE] = expand_language,
    [KEYWORD_DIRECTION] = expand_direction,
    [KEYWORD_INDEX] = expand_index,
    [KEYWORD_LIST] = expand_list,
    [KEYWORD_SET] = expand_set,
    [KEYWORD_REVERSE] = expand_reverse,
};

static enum status
expand_keyword(struct jsonld *jsonld, struct expansion *expansion, enum keyword keyword,
               const struct json *entry)
{
    if (expansion->property.reverse) {
        return jsonld_error(jsonld, entry->line, "invalid reverse property map", entry->key);
    }
    const bool many = keyword == KEYWORD_INCLUDED || keyword == KEYWORD_TYPE;
    if ((!many || jsonld->options->mode_1_0) && jsonld_entry(expansion->result, keyword) != NULL &&
        keyword != KEYWORD_REVERSE) {
        return jsonld_error(jsonld, entry->line, "colliding keywords",
                            jsonld_keyword_text(keyword));
    }
    return keyword_functions[keyword] != NULL ? keyword_functions[keyword](jsonld, expansion, entry)
                                              : STATUS_OK;
}

/* ---- properties ---- */

static struct json *
wrap(struct jsonld *jsonld, enum keyword keyword, struct json *value)
{
    struct json *object = jsonld_object(jsonld, value->line);
    jsonld_set(jsonld, object, keyword, jsonld_as_array(jsonld, value, value->line));
    return object;
}

static enum status
expand_property_value(struct jsonld *jsonld, struct expansion *expansion,
                      const struct jsonld_term *term, const struct json *entry,
                      struct json **expanded)
{
    *expanded = NULL;
    if (term != NULL && term->type_keyword == KEYWORD_JSON) {
        *expanded = jsonld_object(jsonld, entry->line);
        jsonld_set(jsonld, *expanded, KEYWORD_VALUE, jsonld_copy(jsonld, entry));
        jsonld_set(jsonld, *expanded, KEYWORD_TYPE,
                   jsonld_text(jsonld, SLICE("@json"), entry->line));
        return STATUS_OK;
    }
    if (term != NULL && entry->kind == JSON_OBJECT && term->containers != 0) {
        bool done;
        TRY(jsonld_expand_map(jsonld, expansion->active, term, entry, expanded, &done));
        if (done) {
            return STATUS_OK;
        }
    }
    const struct property property = {.name = entry->key};
    return jsonld_expand_value(jsonld, expansion->active, property, entry, false, expanded);
}

static enum status
expand_property(struct jsonld *jsonld, struct expansion *expansion, const struct jsonld_term *term,
                struct slice iri, const struct json *entry)
{
    struct json *expanded;
    TRY(expand_property_value(jsonld, expansion, term, entry, &expanded));
    if (expanded == NULL) {
        return STATUS_OK;
    }
    const unsigned containers = term != NULL ? term->containers : 0;
    if ((containers & CONTAINER_LIST) &&
        (expanded->kind == JSON_ARRAY || jsonld_entry(expanded, KEYWORD_LIST) == NULL)) {
        expanded = wrap(jsonld, KEYWORD_LIST, expanded);
    }
    if ((containers & CONTAINER_GRAPH) && !(containers & (CONTAINER_ID | CONTAINER_INDEX))) {
        struct json *items = jsonld_as_array(jsonld, expanded, entry->line);
        expanded = json_new(&jsonld->nodes, JSON_ARRAY, entry->line);
        for (struct json *item = items->first, *next; item != NULL; item = next) {
            next = item->next;
            json_append(expanded, wrap(jsonld, KEYWORD_GRAPH, item));
        }
    }
    if (term != NULL && term->reverse) {
        return add_reverse(jsonld, expansion->result, iri, expanded);
    }
    jsonld_add_values(jsonld, expansion->result, iri, KEYWORD_NOT, expanded);
    return STATUS_OK;
}

static enum status
expand_entry(struct jsonld *jsonld, struct expansion *expansion, const struct json *entry,
             bool *is_nest)
{
    const struct slice key = entry->key;
    if (slice_is(key, "@context")) {
        return STATUS_OK;
    }
    const struct jsonld_term *term = jsonld_find_term(expansion->active, key);
    struct slice iri;
    if (term != NULL) {
        iri = term->iri;
    } else {
        TRY(jsonld_iri(jsonld, expansion->active, NULL, key, IRI_VOCAB, &iri));
    }
    const enum keyword keyword = term != NULL ? (enum keyword)term->keyword : jsonld_keyword(iri);
    if (keyword == KEYWORD_NEST && !expansion->property.reverse) {
        *is_nest = true;
        return STATUS_OK;
    }
    if (keyword != KEYWORD_NOT) {
        return expand_keyword(jsonld, expansion, keyword, entry);
    }
    return iri.at != NULL && slice_find(iri, ':') < iri.length
               ? expand_property(jsonld, expansion, term, iri, entry)
               : STATUS_OK;
}

static enum status expand_entries(struct jsonld *jsonld, struct expansion *expansion,
                                  const struct json *element);

static enum status
scope_to_property(struct jsonld *jsonld, const struct jsonld_term *term,
                  const struct jsonld_context **active)
{
    if (term == NULL || term->context == NULL) {
        return STATUS_OK;
    }
    const struct context_flags flags = {.override_protected = true};
    return jsonld_process(jsonld, *active, term->context, term->context_base, flags, active);
}

static enum status
expand_nest(struct jsonld *jsonld, const struct expansion *expansion, const struct json *entry)
{
    struct expansion inner = *expansion;
    TRY(scope_to_property(jsonld, jsonld_find_term(inner.active, entry->key), &inner.active));
    const struct json *value = entry->kind == JSON_ARRAY ? entry->first : entry;
    while (value != NULL) {
        bool good = value->kind == JSON_OBJECT;
        for (const struct json *m = good ? value->first : NULL; m != NULL; m = m->next) {
            struct slice iri;
            TRY(jsonld_iri(jsonld, inner.active, NULL, m->key, IRI_VOCAB, &iri));
            good = good && jsonld_keyword(iri) != KEYWORD_VALUE;
        }
        if (!good) {
            return jsonld_error(jsonld, value->line, "invalid @nest value", entry->key);
        }
        TRY(expand_entries(jsonld, &inner, value));
        value = entry->kind == JSON_ARRAY ? value->next : NULL;
    }
    return STATUS_OK;
}

static enum status
expand_entries(struct jsonld *jsonld, struct expansion *expansion, const struct json *element)
{
    struct nest {
        const struct json *entry;
        struct nest *next;
    } *nests = NULL, **last = &nests;
    for (const struct json *entry = element->first; entry != NULL; entry = entry->next) {
        bool is_nest = false;
        TRY(jsonld_recover(jsonld, expand_entry(jsonld, expansion, entry, &is_nest)));
        if (is_nest) {
            *last = arena_zero(&jsonld->expanded, sizeof **last);
            (*last)->entry = entry;
            last = &(*last)->next;
        }
    }
    for (; nests != NULL; nests = nests->next) {
        TRY(jsonld_recover(jsonld, expand_nest(jsonld, expansion, nests->entry)));
    }
    return STATUS_OK;
}

/* ---- contexts of an object ---- */

static bool
means_type(const struct jsonld_context *active, struct slice key)
{
    if (key.length > 0 && key.at[0] == '@') {
        return slice_is(key, "@type");
    }
    if (active->terms == NULL || !active->terms->type_alias) {
        return false;
    }
    const struct jsonld_term *term = jsonld_find_term(active, key);
    return term != NULL && term->keyword == KEYWORD_TYPE;
}

static int
compare_slices(const void *a, const void *b)
{
    return slice_compare(*(const struct slice *)a, *(const struct slice *)b);
}

static int
compare_entries(const void *a, const void *b)
{
    return slice_compare((*(const struct json *const *)a)->key,
                         (*(const struct json *const *)b)->key);
}

/* Contexts that the values of one @type entry bring, in order of the values. */
static enum status
scope_to_types(struct jsonld *jsonld, struct expansion *expansion, const struct json *entry)
{
    struct slice one, *types = &one;
    uint32_t count = 0;
    if (entry->kind == JSON_ARRAY && entry->count > 1) {
        types = arena_alloc(&jsonld->expanded, entry->count * sizeof *types);
    }
    const struct json *type = entry->kind == JSON_ARRAY ? entry->first : entry;
    while (type != NULL) {
        if (type->kind == JSON_STRING) {
            types[count++] = type->text;
        }
        type = entry->kind == JSON_ARRAY ? type->next : NULL;
    }
    if (count > 1) {
        qsort(types, count, sizeof *types, compare_slices);
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct jsonld_term *term = jsonld_find_term(expansion->type_scoped, types[i]);
        if (term != NULL && term->context != NULL) {
            const struct context_flags flags = {.no_propagation = true};
            TRY(jsonld_process(jsonld, expansion->active, term->context, term->context_base, flags,
                               &expansion->active));
        }
    }
    return STATUS_OK;
}

static enum status
is_json_type(struct jsonld *jsonld, const struct jsonld_context *active, const struct json *entry,
             bool *result)
{
    const struct json *type = entry->kind == JSON_ARRAY ? entry->last : entry;
    if (type != NULL && type->kind == JSON_STRING) {
        struct slice iri;
        TRY(jsonld_iri(jsonld, active, NULL, type->text, IRI_VOCAB, &iri));
        *result = jsonld_keyword(iri) == KEYWORD_JSON;
    }
    return STATUS_OK;
}

static enum status
take_types(struct jsonld *jsonld, struct expansion *expansion, const struct json *element)
{
    const struct json *entries[TYPE_ENTRIES];
    size_t count = 0;
    for (const struct json *entry = element->first; entry != NULL; entry = entry->next) {
        if (count < TYPE_ENTRIES && means_type(expansion->active, entry->key)) {
            entries[count++] = entry;
        }
    }
    if (count > 1) {
        qsort(entries, count, sizeof *entries, compare_entries);
    }
    for (size_t i = 0; i < count; i++) {
        TRY(scope_to_types(jsonld, expansion, entries[i]));
    }
    return count > 0 ? is_json_type(jsonld, expansion->active, entries[0], &expansion->json_type)
                     : STATUS_OK;
}

/* Whether a context that does not propagate ends here: not for values and bare references. */
static enum status
ends_propagation(struct jsonld *jsonld, const struct jsonld_context *active,
                 const struct json *element, bool *ends)
{
    *ends = true;
    for (const struct json *entry = element->first; entry != NULL && *ends; entry = entry->next) {
        struct slice iri;
        TRY(jsonld_iri(jsonld, active, NULL, entry->key, IRI_VOCAB, &iri));
        const enum keyword keyword = jsonld_keyword(iri);
        *ends = keyword != KEYWORD_VALUE && !(keyword == KEYWORD_ID && element->count == 1);
    }
    return STATUS_OK;
}

static enum status
expand_object(struct jsonld *jsonld, const struct jsonld_context *active, struct property property,
              const struct jsonld_term *term, const struct json *element, bool from_map,
              struct json **expanded)
{
    if (active->previous != NULL && !from_map) {
        bool ends;
        TRY(ends_propagation(jsonld, active, element, &ends));
        active = ends ? active->previous : active;
    }
    TRY(scope_to_property(jsonld, term, &active));
    const struct json *local = json_get(element, SLICE("@context"));
    if (local != NULL) {
        TRY(jsonld_process(jsonld, active, local, jsonld->base, (struct context_flags){0},
                           &active));
    }
    struct expansion expansion = {.active = active, .type_scoped = active, .property = property};
    TRY(take_types(jsonld, &expansion, element));
    expansion.result = jsonld_object(jsonld, element->line);
    TRY(expand_entries(jsonld, &expansion, element));
    if (expansion.lost) {
        return STATUS_OK;
    }
    *expanded = expansion.result;
    return jsonld_finish(jsonld, property, expanded);
}

static enum status
expand_array(struct jsonld *jsonld, const struct jsonld_context *active, struct property property,
             const struct jsonld_term *term, const struct json *element, bool from_map,
             struct json **expanded)
{
    struct json *array = json_new(&jsonld->nodes, JSON_ARRAY, element->line);
    const bool is_list = term != NULL && (term->containers & CONTAINER_LIST);
    for (const struct json *item = element->first; item != NULL; item = item->next) {
        struct json *one = NULL;
        TRY(jsonld_recover(jsonld,
                           jsonld_expand_value(jsonld, active, property, item, from_map, &one)));
        if (one != NULL && is_list && one->kind == JSON_ARRAY) {
            one = wrap(jsonld, KEYWORD_LIST, one);
        }
        if (one != NULL && one->kind == JSON_ARRAY) {
            json_move(array, one);
        } else if (one != NULL) {
            json_append(array, one);
        }
    }
    *expanded = array;
    return STATUS_OK;
}

enum status
jsonld_expand_value(struct jsonld *jsonld, const struct jsonld_context *active,
                    struct property property, const struct json *element, bool from_map,
                    struct json **expanded)
{
    *expanded = NULL;
    TRY(jsonld_step(jsonld));
    if (element->kind == JSON_NULL || (property.top && element->kind < JSON_ARRAY)) {
        return STATUS_OK;
    }
    const struct jsonld_term *term =
        property.name.at != NULL ? jsonld_find_term(active, property.name) : NULL;
    if (element->kind < JSON_ARRAY) {
        TRY(scope_to_property(jsonld, term, &active));
        return jsonld_expand_scalar(jsonld, active, property.name, element, expanded);
    }
    if (++jsonld->depth > jsonld->depth_limit) {
        return status_fail(jsonld->why, STATUS_LIMIT, "line %u: nested deeper than %u",
                           element->line, jsonld->depth_limit);
    }
    const enum status status =
        element->kind == JSON_ARRAY
            ? expand_array(jsonld, active, property, term, element, from_map, expanded)
            : expand_object(jsonld, active, property, term, element, from_map, expanded);
    jsonld->depth--;
    if (status != STATUS_OK) {
        *expanded = NULL;
    }
    return status;
}
