/* Expansion: https://www.w3.org/TR/json-ld11-api/#expansion-algorithm */
#include <stdlib.h>
#include <string.h>

#include "rdf/jsonld/jsonld_processor.h"

enum { TYPE_ENTRIES = 8 };

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
        return jsonld_add_reverse(jsonld, expansion->result, iri, expanded);
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
        return jsonld_expand_keyword(jsonld, expansion, keyword, entry);
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

/* Tells whether a context that does not propagate ends here: not for values and bare references. */
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
