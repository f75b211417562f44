/* Values of terms whose container is a map: steps 13.7 and 13.8 of expansion. */
#include "rdf/jsonld/jsonld_processor.h"

static enum status
is_none(struct jsonld *jsonld, const struct jsonld_context *active, struct slice key,
        struct slice *iri, bool *none)
{
    TRY(jsonld_iri(jsonld, active, NULL, key, IRI_VOCAB, iri));
    *none = jsonld_keyword(*iri) == KEYWORD_NONE;
    return STATUS_OK;
}

static enum status
expand_languages(struct jsonld *jsonld, const struct jsonld_context *active,
                 const struct jsonld_term *term, const struct json *entry, struct json *expanded)
{
    struct slice direction = active->direction;
    if (term->has_direction != MAPPING_ABSENT) {
        direction = term->direction;
    }
    for (const struct json *language = entry->first; language != NULL; language = language->next) {
        struct slice iri;
        bool none;
        TRY(is_none(jsonld, active, language->key, &iri, &none));
        const struct json *item = language->kind == JSON_ARRAY ? language->first : language;
        for (; item != NULL; item = language->kind == JSON_ARRAY ? item->next : NULL) {
            TRY(jsonld_step(jsonld));
            if (item->kind == JSON_NULL) {
                continue;
            }
            if (item->kind != JSON_STRING) {
                TRY(jsonld_recover(
                    jsonld,
                    jsonld_error(jsonld, item->line, "invalid language map value", language->key)));
                continue;
            }
            struct json *value = jsonld_object(jsonld, item->line);
            jsonld_set(jsonld, value, KEYWORD_VALUE, jsonld_copy(jsonld, item));
            if (!none) {
                jsonld_set(jsonld, value, KEYWORD_LANGUAGE,
                           jsonld_text(jsonld, language->key, item->line));
            }
            if (direction.at != NULL) {
                jsonld_set(jsonld, value, KEYWORD_DIRECTION,
                           jsonld_text(jsonld, direction, item->line));
            }
            json_append(expanded, value);
        }
    }
    return STATUS_OK;
}

/* Puts the values before those that the object has under key. */
static void
put_first(struct jsonld *jsonld, struct json *object, struct slice key, enum keyword keyword,
          struct json *value)
{
    struct json *array = json_get(object, key);
    struct json *old = json_new(&jsonld->nodes, JSON_ARRAY, value->line);
    if (array != NULL && array->kind == JSON_ARRAY) {
        json_move(old, array);
    } else if (array != NULL) {
        json_append(old, jsonld_copy(jsonld, array));
        array->kind = JSON_ARRAY;
        array->first = array->last = NULL;
        array->count = 0;
    }
    jsonld_add_values(jsonld, object, key, keyword, value);
    jsonld_add_values(jsonld, object, key, keyword, old);
}

static bool
is_graph(const struct json *item)
{
    bool found = false;
    if (item->kind != JSON_OBJECT) {
        return false;
    }
    for (const struct json *member = item->first; member != NULL; member = member->next) {
        found |= member->tag == KEYWORD_GRAPH;
        if (member->tag != KEYWORD_GRAPH && member->tag != KEYWORD_ID &&
            member->tag != KEYWORD_INDEX) {
            return false;
        }
    }
    return found;
}

/* One key of a map, and what it does to each of its values. */
struct map_key {
    const struct jsonld_context *active;
    const struct jsonld_term *term;
    const struct json *entry; /* the key's */
    struct slice iri;         /* the key expanded */
    bool none;
};

static enum status
add_index_property(struct jsonld *jsonld, const struct map_key *key, struct json *item)
{
    struct slice property;
    struct json *value, *index = jsonld_text(jsonld, key->entry->key, key->entry->line);
    TRY(jsonld_expand_scalar(jsonld, key->active, key->term->index, index, &value));
    TRY(jsonld_iri(jsonld, key->active, NULL, key->term->index, IRI_VOCAB, &property));
    if (property.at == NULL) {
        return STATUS_OK;
    }
    if (jsonld_entry(item, KEYWORD_VALUE) != NULL) {
        return jsonld_error(jsonld, item->line, "invalid value object", property);
    }
    put_first(jsonld, item, property, KEYWORD_NOT, value);
    return STATUS_OK;
}

static enum status
key_item(struct jsonld *jsonld, const struct map_key *key, struct json **item)
{
    const unsigned containers = key->term->containers;
    const struct slice name = key->entry->key;
    const uint32_t line = key->entry->line;
    if ((containers & CONTAINER_GRAPH) && !is_graph(*item)) {
        struct json *graph = jsonld_object(jsonld, (*item)->line);
        jsonld_set(jsonld, graph, KEYWORD_GRAPH, jsonld_as_array(jsonld, *item, line));
        *item = graph;
    }
    if (key->none || (*item)->kind != JSON_OBJECT) {
        return STATUS_OK;
    }
    if (containers & CONTAINER_INDEX) {
        if (key->term->index.length > 0) {
            return add_index_property(jsonld, key, *item);
        }
        if (jsonld_entry(*item, KEYWORD_INDEX) == NULL) {
            jsonld_set(jsonld, *item, KEYWORD_INDEX, jsonld_text(jsonld, name, line));
        }
    } else if (containers & CONTAINER_ID) {
        if (jsonld_entry(*item, KEYWORD_ID) == NULL) {
            struct slice iri;
            TRY(jsonld_iri(jsonld, key->active, NULL, name, IRI_DOCUMENT, &iri));
            if (iri.at != NULL) {
                jsonld_set(jsonld, *item, KEYWORD_ID, jsonld_text(jsonld, iri, line));
            }
        }
    } else if (key->iri.at != NULL) {
        put_first(jsonld, *item, jsonld_keyword_text(KEYWORD_TYPE), KEYWORD_TYPE,
                  jsonld_text(jsonld, key->iri, line));
    }
    return STATUS_OK;
}

/* The context in which the values of a key are expanded. */
static enum status
map_context(struct jsonld *jsonld, const struct jsonld_context *active, const struct map_key *key,
            const struct jsonld_context **result)
{
    const unsigned containers = key->term->containers;
    *result = active;
    if ((containers & (CONTAINER_ID | CONTAINER_TYPE)) && active->previous != NULL) {
        *result = active->previous;
    }
    const struct jsonld_term *type =
        containers & CONTAINER_TYPE ? jsonld_find_term(*result, key->entry->key) : NULL;
    if (type != NULL && type->context != NULL) {
        const struct context_flags flags = {.no_propagation = false};
        return jsonld_process(jsonld, *result, type->context, type->context_base, flags, result);
    }
    return STATUS_OK;
}

static enum status
expand_key(struct jsonld *jsonld, const struct jsonld_context *active,
           const struct jsonld_term *term, const struct json *entry, struct json *expanded)
{
    struct map_key key = {.active = active, .term = term, .entry = entry};
    const struct jsonld_context *inner;
    struct json *value;
    TRY(is_none(jsonld, active, entry->key, &key.iri, &key.none));
    TRY(map_context(jsonld, active, &key, &inner));
    TRY(jsonld_expand_value(jsonld, inner, (struct property){.name = term->name}, entry, true,
                            &value));
    if (value == NULL) {
        return STATUS_OK;
    }
    struct json *items = jsonld_as_array(jsonld, value, entry->line);
    for (struct json *item = items->first, *next; item != NULL; item = next) {
        next = item->next;
        item->next = NULL;
        const enum status status = key_item(jsonld, &key, &item);
        TRY(jsonld_recover(jsonld, status));
        json_append(expanded, item);
    }
    return STATUS_OK;
}

enum status
jsonld_expand_map(struct jsonld *jsonld, const struct jsonld_context *active,
                  const struct jsonld_term *term, const struct json *entry, struct json **expanded,
                  bool *done)
{
    const bool keyed = term->containers & (CONTAINER_INDEX | CONTAINER_ID | CONTAINER_TYPE);
    *done = keyed || (term->containers & CONTAINER_LANGUAGE);
    if (!*done) {
        return STATUS_OK;
    }
    *expanded = json_new(&jsonld->nodes, JSON_ARRAY, entry->line);
    if (term->containers & CONTAINER_LANGUAGE) {
        return expand_languages(jsonld, active, term, entry, *expanded);
    }
    for (const struct json *key = entry->first; key != NULL; key = key->next) {
        TRY(jsonld_recover(jsonld, expand_key(jsonld, active, term, key, *expanded)));
    }
    return STATUS_OK;
}
