/* Value expansion (https://www.w3.org/TR/json-ld11-api/#value-expansion) and the checks of a
 * finished object (steps 15 to 19 of expansion). */
#include "rdf/core/lexical.h"
#include "rdf/jsonld/jsonld_processor.h"

static enum status
expand_reference(struct jsonld *jsonld, const struct jsonld_context *active,
                 const struct json *value, unsigned flags, struct json **expanded)
{
    struct slice iri;
    TRY(jsonld_iri(jsonld, active, NULL, value->text, flags, &iri));
    struct json *id = jsonld_text(jsonld, iri, value->line);
    if (iri.at == NULL) {
        id->kind = JSON_NULL;
    }
    *expanded = jsonld_object(jsonld, value->line);
    jsonld_set(jsonld, *expanded, KEYWORD_ID, id);
    return STATUS_OK;
}

/* The term's mapping goes before the default; either may say "none". */
static struct slice
choose(uint8_t has, struct slice own, struct slice usual)
{
    return has == MAPPING_ABSENT ? usual : has == MAPPING_SET ? own : (struct slice){NULL, 0};
}

static void
add_language(struct jsonld *jsonld, const struct jsonld_context *active,
             const struct jsonld_term *term, struct json *object)
{
    struct slice language = active->language, direction = active->direction;
    if (term != NULL) {
        language = choose(term->has_language, term->language, language);
        direction = choose(term->has_direction, term->direction, direction);
    }
    if (language.at != NULL) {
        jsonld_set(jsonld, object, KEYWORD_LANGUAGE, jsonld_text(jsonld, language, object->line));
    }
    if (direction.at != NULL) {
        jsonld_set(jsonld, object, KEYWORD_DIRECTION, jsonld_text(jsonld, direction, object->line));
    }
}

enum status
jsonld_expand_scalar(struct jsonld *jsonld, const struct jsonld_context *active,
                     struct slice property, const struct json *value, struct json **expanded)
{
    const struct jsonld_term *term =
        property.at != NULL ? jsonld_find_term(active, property) : NULL;
    const enum keyword type = term != NULL ? (enum keyword)term->type_keyword : KEYWORD_NOT;
    if (value->kind == JSON_STRING && type == KEYWORD_ID) {
        return expand_reference(jsonld, active, value, IRI_DOCUMENT, expanded);
    }
    if (value->kind == JSON_STRING && type == KEYWORD_VOCAB) {
        return expand_reference(jsonld, active, value, IRI_DOCUMENT | IRI_VOCAB, expanded);
    }
    *expanded = jsonld_object(jsonld, value->line);
    jsonld_set(jsonld, *expanded, KEYWORD_VALUE, jsonld_copy(jsonld, value));
    if (term != NULL && term->type.length > 0 && type != KEYWORD_ID && type != KEYWORD_VOCAB &&
        type != KEYWORD_NONE) {
        jsonld_set(jsonld, *expanded, KEYWORD_TYPE, jsonld_text(jsonld, term->type, value->line));
    } else if (value->kind == JSON_STRING) {
        add_language(jsonld, active, term, *expanded);
    }
    return STATUS_OK;
}

/* ---- finished objects ---- */

static enum status
check_value(struct jsonld *jsonld, struct json **object, const struct json *value)
{
    const struct json *type = NULL;
    bool tagged = false, language = false;
    for (const struct json *member = (*object)->first; member != NULL; member = member->next) {
        switch (member->tag) {
        case KEYWORD_TYPE:
            type = member;
            break;
        case KEYWORD_LANGUAGE:
            language = true;
            tagged = true;
            break;
        case KEYWORD_DIRECTION:
            tagged = true;
            break;
        case KEYWORD_VALUE:
        case KEYWORD_INDEX:
            break;
        default:
            return jsonld_error(jsonld, member->line, "invalid value object", member->key);
        }
    }
    if (type != NULL && tagged) {
        return jsonld_error(jsonld, type->line, "invalid value object",
                            SLICE("@type excludes @language and @direction"));
    }
    if (type != NULL && type->kind == JSON_STRING && slice_is(type->text, "@json")) {
        return STATUS_OK;
    }
    if (value->kind == JSON_NULL || (value->kind == JSON_ARRAY && value->count == 0)) {
        *object = NULL;
        return STATUS_OK;
    }
    if (language && value->kind != JSON_STRING) {
        return jsonld_error(jsonld, value->line, "invalid language-tagged value",
                            SLICE("only strings have a language"));
    }
    if (type != NULL && (type->kind != JSON_STRING || !lexical_iri_valid(type->text))) {
        return jsonld_error(jsonld, type->line, "invalid typed value",
                            type->kind == JSON_STRING ? type->text : SLICE("@type is no IRI"));
    }
    return STATUS_OK;
}

static enum status
check_collection(struct jsonld *jsonld, struct json **object)
{
    for (const struct json *member = (*object)->first; member != NULL; member = member->next) {
        if (member->tag != KEYWORD_SET && member->tag != KEYWORD_LIST &&
            member->tag != KEYWORD_INDEX) {
            return jsonld_error(jsonld, member->line, "invalid set or list object", member->key);
        }
    }
    struct json *set = jsonld_entry(*object, KEYWORD_SET);
    if (set != NULL && jsonld_entry(*object, KEYWORD_LIST) != NULL) {
        return jsonld_error(jsonld, set->line, "invalid set or list object",
                            SLICE("@set excludes @list"));
    }
    if (set != NULL) {
        set->key = (struct slice){NULL, 0};
        set->tag = KEYWORD_NOT;
        *object = set;
    }
    return STATUS_OK;
}

enum status
jsonld_finish(struct jsonld *jsonld, struct property property, struct json **object)
{
    struct json *value = jsonld_entry(*object, KEYWORD_VALUE);
    struct json *type = jsonld_entry(*object, KEYWORD_TYPE);
    if (value != NULL) {
        TRY(check_value(jsonld, object, value));
    } else if (type != NULL) {
        if (type->kind != JSON_ARRAY) {
            struct json *copy = jsonld_copy(jsonld, type);
            type->kind = JSON_ARRAY;
            type->first = type->last = NULL;
            type->count = 0;
            json_append(type, copy);
        }
    }
    if (value == NULL && (jsonld_entry(*object, KEYWORD_SET) != NULL ||
                          jsonld_entry(*object, KEYWORD_LIST) != NULL)) {
        TRY(check_collection(jsonld, object));
    }
    if (*object == NULL || (*object)->kind != JSON_OBJECT) {
        return STATUS_OK;
    }
    const struct json *only = (*object)->count == 1 ? (*object)->first : NULL;
    if (only != NULL && only->tag == KEYWORD_LANGUAGE) {
        *object = NULL;
    } else if (property.top &&
               ((*object)->count == 0 || jsonld_entry(*object, KEYWORD_VALUE) != NULL ||
                jsonld_entry(*object, KEYWORD_LIST) != NULL ||
                (only != NULL && only->tag == KEYWORD_ID))) {
        *object = NULL;
    }
    return STATUS_OK;
}
