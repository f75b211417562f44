/* Expanded form to quads:
 * https://www.w3.org/TR/json-ld11-api/#rdf-serialization-deserialization-algorithms
 *
 * The expanded tree is walked directly; no node map is made, as quads of the same node in two
 * places are quads of the same node all the same. An object is turned into its term first, then
 * the quad with it is handed on, then what the object says of itself. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "rdf/core/blank_label.h"
#include "rdf/core/lexical.h"
#include "rdf/core/vocabulary.h"
#include "rdf/jsonld/jsonld_processor.h"

#define RDF_JSON RDF_NAMESPACE "JSON"
#define RDF_VALUE RDF_NAMESPACE "value"
#define RDF_LANGUAGE RDF_NAMESPACE "language"
#define RDF_DIRECTION RDF_NAMESPACE "direction"
#define I18N_NAMESPACE "https://www.w3.org/ns/i18n#"

enum { NUMBER_SIZE = 64, NUMBER_LONGEST = 400, INTEGER_DIGITS = 21 };

struct walk {
    struct jsonld *jsonld;
    struct term graph;
};

/* ---- terms ---- */

static struct term
made_blank(struct jsonld *jsonld)
{
    char *text = arena_alloc(&jsonld->expanded, BLANK_LABEL_SIZE);
    return term_blank(blank_label_made(jsonld->made++, text));
}

/* Labels that N-Quads cannot hold are spelt in hexadecimal. */
static struct term
given_blank(struct jsonld *jsonld, struct slice label)
{
    static const char digits[] = "0123456789abcdef";
    const char *end = label.at + label.length;
    if (label.length > 0 && lexical_blank_label(label.at, end) == label.length) {
        return term_blank(label.at[0] == 'g' ? jsonld_join(jsonld, SLICE("gx"), label) : label);
    }
    char *text = arena_alloc(&jsonld->expanded, 2 * label.length + 2);
    text[0] = 'g';
    text[1] = 'z';
    for (size_t i = 0; i < label.length; i++) {
        text[2 + 2 * i] = digits[(unsigned char)label.at[i] >> 4];
        text[3 + 2 * i] = digits[label.at[i] & 15];
    }
    return term_blank(slice_of(text, 2 * label.length + 2));
}

/* Absolute, of allowed characters, with one fragment at most. */
static bool
is_well_formed(struct slice iri)
{
    const size_t hash = slice_find(iri, '#');
    return lexical_iri_valid(iri) &&
           (hash == iri.length || memchr(iri.at + hash + 1, '#', iri.length - hash - 1) == NULL);
}

/* Reports something that the document says and RDF cannot hold. Lenient parsing tells of it. */
static struct term
dropped(struct jsonld *jsonld, uint32_t line, const char *what, struct slice text)
{
    if (jsonld->problems.lenient) {
        jsonld_error(jsonld, line, what, text);
    }
    return (struct term){.kind = TERM_NONE};
}

/* An IRI or blank node, or TERM_NONE. */
static struct term
resource(struct jsonld *jsonld, struct slice text, uint32_t line)
{
    const size_t most = jsonld->options->parse.term_size;
    if (text.length > (most > 0 ? most : PARSE_TERM_SIZE)) {
        return dropped(jsonld, line, "too long for an IRI", slice_of(text.at, 80));
    }
    if (jsonld_is_blank(text)) {
        return given_blank(jsonld, slice_of(text.at + 2, text.length - 2));
    }
    return is_well_formed(text) ? term_iri(text)
                                : dropped(jsonld, line, "no well-formed absolute IRI", text);
}

static struct term
iri_of(const char *text)
{
    return term_iri(slice_string(text));
}

/* Digits as they are written: nothing of a long identifier is lost. */
static bool
is_short_integer(struct slice number)
{
    const size_t sign = number.length > 0 && number.at[0] == '-';
    for (size_t i = sign; i < number.length; i++) {
        if (!lexical_is(number.at[i], LEXICAL_DIGIT)) {
            return false;
        }
    }
    return number.length - sign <= INTEGER_DIGITS;
}

static struct slice
canonical_double(struct jsonld *jsonld, double number)
{
    char text[NUMBER_SIZE];
    if (isinf(number)) {
        return number < 0 ? SLICE("-INF") : SLICE("INF");
    }
    snprintf(text, sizeof text, "%.15e", number);
    char *exponent = strchr(text, 'e');
    char *end = exponent;
    while (end[-1] == '0' && end[-2] != '.') {
        end--;
    }
    return arena_printf(&jsonld->expanded, "%.*sE%d", (int)(end - text), text, atoi(exponent + 1));
}

static struct slice
number_text(struct jsonld *jsonld, struct slice number, bool wants_double, const char **datatype)
{
    if (!wants_double && is_short_integer(number)) {
        *datatype = XSD_INTEGER;
        return slice_is(number, "-0") ? SLICE("0") : number;
    }
    char text[NUMBER_LONGEST];
    snprintf(text, sizeof text, "%.*s", SLICE_PRINT(number));
    const double value = strtod(text, NULL);
    if (wants_double || fabs(value) >= 1e21 || fmod(value, 1) != 0) {
        *datatype = XSD_DOUBLE;
        return canonical_double(jsonld, value);
    }
    *datatype = XSD_INTEGER;
    return arena_printf(&jsonld->expanded, "%.0f", value == 0 ? 0 : value);
}

static struct slice
lowered(struct jsonld *jsonld, struct slice text)
{
    char *copy = arena_alloc(&jsonld->expanded, text.length);
    lexical_lower(text, copy);
    return slice_of(copy, text.length);
}

/* BCP 47 as JSON-LD checks it: subtags of 1 to 8 letters and digits. */
static bool
language_valid(struct slice tag)
{
    size_t subtag = 0;
    for (size_t i = 0; i < tag.length; i++) {
        subtag = tag.at[i] == '-' ? 0 : subtag + 1;
        if (subtag > 8) {
            return false;
        }
    }
    return lexical_language_valid(tag);
}

static struct term
json_literal(struct jsonld *jsonld, const struct json *value)
{
    struct term term = {.kind = TERM_NONE};
    struct buf text;
    buf_init(&text, jsonld->memory_limit);
    if (json_write_canonical(&text, value) == STATUS_OK) {
        term = term_literal(arena_copy(&jsonld->expanded, buf_slice(&text)));
        term.datatype = SLICE(RDF_JSON);
    }
    buf_release(&text);
    return term;
}

static struct term
directed_literal(struct jsonld *jsonld, struct slice text, const struct json *language,
                 struct slice direction)
{
    struct term term = term_literal(text);
    const struct slice tag =
        language != NULL ? lowered(jsonld, language->text) : (struct slice){"", 0};
    term.datatype = arena_printf(&jsonld->expanded, I18N_NAMESPACE "%.*s_%.*s", SLICE_PRINT(tag),
                                 SLICE_PRINT(direction));
    return term;
}

static struct term
string_literal(struct jsonld *jsonld, const struct json *object, struct slice text,
               const struct json *datatype)
{
    const struct json *language = jsonld_entry(object, KEYWORD_LANGUAGE);
    const struct json *direction = jsonld_entry(object, KEYWORD_DIRECTION);
    if (language != NULL && !language_valid(language->text)) {
        return dropped(jsonld, object->line, "no well-formed language tag", language->text);
    }
    if (direction != NULL && jsonld->options->direction == JSONLD_DIRECTION_I18N) {
        return directed_literal(jsonld, text, language, direction->text);
    }
    if (direction != NULL && jsonld->options->direction == JSONLD_DIRECTION_COMPOUND) {
        return made_blank(jsonld);
    }
    struct term term = term_literal(text);
    if (datatype != NULL && !slice_is(datatype->text, XSD_STRING)) {
        term.datatype = datatype->text;
    } else if (language != NULL) {
        term.language = lowered(jsonld, language->text);
    }
    return term;
}

static struct term
literal(struct jsonld *jsonld, const struct json *object, const struct json *value)
{
    const struct json *datatype = jsonld_entry(object, KEYWORD_TYPE);
    const char *usual = NULL;
    if (datatype != NULL && datatype->kind == JSON_ARRAY) { /* given by a type map */
        datatype = datatype->count == 1 ? datatype->first : value;
    }
    if (datatype == value) {
        return (struct term){.kind = TERM_NONE};
    }
    if (datatype != NULL && slice_is(datatype->text, "@json")) {
        return json_literal(jsonld, value);
    }
    const size_t most = jsonld->options->parse.term_size;
    if ((datatype != NULL && !is_well_formed(datatype->text)) ||
        (value->kind == JSON_STRING && value->text.length > (most > 0 ? most : PARSE_TERM_SIZE))) {
        return (struct term){.kind = TERM_NONE};
    }
    struct term term = {.kind = TERM_LITERAL};
    if (value->kind == JSON_TRUE || value->kind == JSON_FALSE) {
        term.value = value->kind == JSON_TRUE ? SLICE("true") : SLICE("false");
        usual = XSD_BOOLEAN;
    } else if (value->kind == JSON_NUMBER) {
        const bool wants_double = datatype != NULL && slice_is(datatype->text, XSD_DOUBLE);
        term.value = number_text(jsonld, value->text, wants_double, &usual);
    } else if (value->kind == JSON_STRING) {
        return string_literal(jsonld, object, value->text, datatype);
    } else {
        return (struct term){.kind = TERM_NONE};
    }
    term.datatype = datatype != NULL ? datatype->text : slice_string(usual);
    if (slice_is(term.datatype, XSD_STRING)) {
        term.datatype = (struct slice){NULL, 0};
    }
    return term;
}

/* The term that stands for an expanded object; blank nodes are made up here. */
static struct term
object_term(struct jsonld *jsonld, const struct json *object)
{
    if (object->kind != JSON_OBJECT) {
        return (struct term){.kind = TERM_NONE};
    }
    const struct json *value = jsonld_entry(object, KEYWORD_VALUE);
    if (value != NULL) {
        return literal(jsonld, object, value);
    }
    const struct json *list = jsonld_entry(object, KEYWORD_LIST);
    if (list != NULL) {
        return list->count > 0 ? made_blank(jsonld) : iri_of(RDF_NIL);
    }
    const struct json *id = jsonld_entry(object, KEYWORD_ID);
    if (id == NULL) {
        return made_blank(jsonld);
    }
    return id->kind == JSON_STRING ? resource(jsonld, id->text, id->line)
                                   : (struct term){.kind = TERM_NONE};
}

/* ---- quads ---- */

static enum status
send(const struct walk *walk, const struct term *subject, struct term predicate,
     const struct term *object, uint32_t line)
{
    if (subject->kind == TERM_NONE || predicate.kind == TERM_NONE || object->kind == TERM_NONE ||
        subject->kind == TERM_LITERAL) {
        return STATUS_OK;
    }
    struct jsonld *jsonld = walk->jsonld;
    const struct quad quad = {.subject = *subject,
                              .predicate = predicate,
                              .object = *object,
                              .graph = walk->graph,
                              .line = line};
    return jsonld->sink->quad(jsonld->sink->context, &quad, jsonld->why);
}

static enum status emit_inside(const struct walk *walk, const struct json *object,
                               const struct term *self);

static enum status
emit_list(const struct walk *walk, const struct json *list, const struct term *head)
{
    struct term node = *head;
    for (const struct json *item = list->first; item != NULL; item = item->next) {
        const struct term term = object_term(walk->jsonld, item);
        const struct term rest = item->next != NULL ? made_blank(walk->jsonld) : iri_of(RDF_NIL);
        TRY(send(walk, &node, iri_of(RDF_FIRST), &term, item->line));
        TRY(send(walk, &node, iri_of(RDF_REST), &rest, item->line));
        TRY(emit_inside(walk, item, &term));
        node = rest;
    }
    return STATUS_OK;
}

static enum status
emit_compound(const struct walk *walk, const struct json *object, const struct term *self)
{
    const struct json *parts[] = {jsonld_entry(object, KEYWORD_VALUE),
                                  jsonld_entry(object, KEYWORD_LANGUAGE),
                                  jsonld_entry(object, KEYWORD_DIRECTION)};
    static const char *const predicates[] = {RDF_VALUE, RDF_LANGUAGE, RDF_DIRECTION};
    for (int i = 0; i < 3; i++) {
        if (parts[i] != NULL) {
            const struct term text =
                term_literal(i == 1 ? lowered(walk->jsonld, parts[i]->text) : parts[i]->text);
            TRY(send(walk, self, iri_of(predicates[i]), &text, object->line));
        }
    }
    return STATUS_OK;
}

/* "self predicate item" for each item, or the other way round. */
static enum status
emit_values(const struct walk *walk, const struct term *self, struct slice property,
            const struct json *values, bool reverse)
{
    struct term predicate = resource(walk->jsonld, property, values->line);
    if (predicate.kind == TERM_BLANK && !walk->jsonld->options->generalized) {
        predicate.kind = TERM_NONE;
    }
    for (const struct json *item = values->first; item != NULL; item = item->next) {
        const struct term term = object_term(walk->jsonld, item);
        TRY(reverse ? send(walk, &term, predicate, self, item->line)
                    : send(walk, self, predicate, &term, item->line));
        TRY(emit_inside(walk, item, &term));
    }
    return STATUS_OK;
}

static enum status
emit_types(const struct walk *walk, const struct term *self, const struct json *types)
{
    for (const struct json *type = types->first; type != NULL; type = type->next) {
        const struct term term = resource(walk->jsonld, type->text, type->line);
        TRY(send(walk, self, iri_of(RDF_TYPE), &term, type->line));
    }
    return STATUS_OK;
}

static enum status
emit_nodes(const struct walk *walk, const struct json *nodes)
{
    for (const struct json *node = nodes->first; node != NULL; node = node->next) {
        const struct term term = object_term(walk->jsonld, node);
        TRY(emit_inside(walk, node, &term));
    }
    return STATUS_OK;
}

static enum status
emit_member(const struct walk *walk, const struct json *member, const struct term *self)
{
    switch (member->tag) {
    case KEYWORD_NOT:
        return emit_values(walk, self, member->key, member, false);
    case KEYWORD_TYPE:
        return emit_types(walk, self, member);
    case KEYWORD_INCLUDED:
        return emit_nodes(walk, member);
    case KEYWORD_GRAPH: {
        const struct walk inner = {.jsonld = walk->jsonld, .graph = *self};
        return self->kind != TERM_NONE ? emit_nodes(&inner, member) : STATUS_OK;
    }
    case KEYWORD_REVERSE:
        for (const struct json *inner = member->first; inner != NULL; inner = inner->next) {
            TRY(emit_values(walk, self, inner->key, inner, true));
        }
        return STATUS_OK;
    default:
        return STATUS_OK;
    }
}

/* Emits what the object says of itself; self is its term. */
static enum status
emit_inside(const struct walk *walk, const struct json *object, const struct term *self)
{
    if (object->kind != JSON_OBJECT) {
        return STATUS_OK;
    }
    if (jsonld_entry(object, KEYWORD_VALUE) != NULL) {
        return self->kind == TERM_BLANK ? emit_compound(walk, object, self) : STATUS_OK;
    }
    const struct json *list = jsonld_entry(object, KEYWORD_LIST);
    if (list != NULL) {
        return emit_list(walk, list, self);
    }
    for (const struct json *member = object->first; member != NULL; member = member->next) {
        TRY(emit_member(walk, member, self));
    }
    return STATUS_OK;
}

enum status
jsonld_emit(struct jsonld *jsonld, const struct json *expanded)
{
    const struct walk walk = {.jsonld = jsonld};
    if (expanded->kind == JSON_ARRAY) {
        return emit_nodes(&walk, expanded);
    }
    const struct term self = object_term(jsonld, expanded);
    return emit_inside(&walk, expanded, &self);
}
