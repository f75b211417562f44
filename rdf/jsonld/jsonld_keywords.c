/* Expanded objects and their keywords: steps 13.4 of expansion. */
#include "rdf/jsonld/jsonld_processor.h"

/* ---- building expanded objects ---- */

struct json *
jsonld_object(struct jsonld *jsonld, uint32_t line)
{
    return json_new(&jsonld->nodes, JSON_OBJECT, line);
}

struct json *
jsonld_text(struct jsonld *jsonld, struct slice text, uint32_t line)
{
    return json_as_text(&jsonld->nodes, text, line);
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

/* Returns whether an expanded element is a node: no value, list or set. */
static bool
jsonld_is_node(const struct json *expanded)
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
        good = good && jsonld_is_node(item);
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
enum status
jsonld_add_reverse(struct jsonld *jsonld, struct json *object, struct slice key,
                   struct json *values)
{
    struct json *map = jsonld_entry(object, KEYWORD_REVERSE);
    struct json *array = jsonld_as_array(jsonld, values, values->line);
    for (const struct json *item = array->first; item != NULL; item = item->next) {
        if (!jsonld_is_node(item)) {
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
                               jsonld_add_reverse(jsonld, expansion->result, member->key, member)));
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

enum status
jsonld_expand_keyword(struct jsonld *jsonld, struct expansion *expansion, enum keyword keyword,
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
