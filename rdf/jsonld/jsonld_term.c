/* Create term definition: https://www.w3.org/TR/json-ld11-api/#create-term-definition */
#include <string.h>

#include "rdf/jsonld/jsonld_processor.h"

/* The definition as it comes into being. */
struct definition {
    struct context_build *build;
    const struct json *entry; /* member of the local context */
    const struct json *value; /* entry when it is an object, else NULL */
    struct jsonld_term *term;
    bool simple;   /* the entry is a string */
    bool given_up; /* the entry is to be ignored */
};

typedef enum status part_function(struct jsonld *jsonld, struct definition *definition,
                                  const struct json *part);

static enum status
fail(struct jsonld *jsonld, const struct definition *definition, const char *code)
{
    return jsonld_error(jsonld, definition->entry->line, code, definition->entry->key);
}

static enum status
expand(struct jsonld *jsonld, struct definition *definition, struct slice text, struct slice *iri)
{
    return jsonld_iri(jsonld, definition->build->context, definition->build, text, IRI_VOCAB, iri);
}

static bool
has_inner_colon(struct slice term)
{
    return term.length > 2 && memchr(term.at + 1, ':', term.length - 2) != NULL;
}

static bool
has_slash(struct slice term)
{
    return slice_find(term, '/') < term.length;
}

/* ---- parts ---- */

static enum status
take_protected(struct jsonld *jsonld, struct definition *definition, const struct json *part)
{
    if (jsonld->options->mode_1_0) {
        return fail(jsonld, definition, "invalid term definition");
    }
    definition->term->is_protected = part->kind == JSON_TRUE;
    return part->kind == JSON_TRUE || part->kind == JSON_FALSE
               ? STATUS_OK
               : fail(jsonld, definition, "invalid @protected value");
}

static enum status
take_type(struct jsonld *jsonld, struct definition *definition, const struct json *part)
{
    struct jsonld_term *term = definition->term;
    if (part->kind != JSON_STRING) {
        return fail(jsonld, definition, "invalid type mapping");
    }
    TRY(expand(jsonld, definition, part->text, &term->type));
    const enum keyword keyword = jsonld_keyword(term->type);
    const bool is_new = keyword == KEYWORD_JSON || keyword == KEYWORD_NONE;
    if ((is_new && jsonld->options->mode_1_0) ||
        (!is_new && keyword != KEYWORD_ID && keyword != KEYWORD_VOCAB &&
         !jsonld_is_iri(term->type))) {
        return fail(jsonld, definition, "invalid type mapping");
    }
    term->type_keyword = (uint8_t)keyword;
    return STATUS_OK;
}

/* Sets, and maps by index. */
static bool
reverse_container_valid(const struct json *container)
{
    const struct json *word = container->kind == JSON_ARRAY ? container->first : container;
    while (word != NULL) {
        if (word->kind != JSON_NULL &&
            (word->kind != JSON_STRING ||
             (!slice_is(word->text, "@set") && !slice_is(word->text, "@index")))) {
            return false;
        }
        word = container->kind == JSON_ARRAY ? word->next : NULL;
    }
    return true;
}

static enum status
take_reverse(struct jsonld *jsonld, struct definition *definition, const struct json *part)
{
    struct jsonld_term *term = definition->term;
    if (json_get(definition->value, SLICE("@id")) || json_get(definition->value, SLICE("@nest"))) {
        return fail(jsonld, definition, "invalid reverse property");
    }
    if (part->kind != JSON_STRING) {
        return fail(jsonld, definition, "invalid IRI mapping");
    }
    if (jsonld_like_keyword(part->text)) {
        definition->given_up = true;
        return STATUS_OK;
    }
    TRY(expand(jsonld, definition, part->text, &term->iri));
    if (!jsonld_is_iri(term->iri) && !jsonld_is_blank(term->iri)) {
        return fail(jsonld, definition, "invalid IRI mapping");
    }
    const struct json *container = json_get(definition->value, SLICE("@container"));
    if (container != NULL && !reverse_container_valid(container)) {
        return fail(jsonld, definition, "invalid reverse property");
    }
    term->reverse = true;
    return STATUS_OK;
}

static bool
ends_as_prefix(struct slice iri)
{
    return iri.length > 0 && strchr(":/?#[]@", iri.at[iri.length - 1]) != NULL;
}

static enum status
take_id(struct jsonld *jsonld, struct definition *definition, const struct json *part)
{
    struct jsonld_term *term = definition->term;
    if (part->kind == JSON_NULL) {
        return STATUS_OK;
    }
    if (part->kind != JSON_STRING) {
        return fail(jsonld, definition, "invalid IRI mapping");
    }
    if (jsonld_like_keyword(part->text) && jsonld_keyword(part->text) == KEYWORD_NOT) {
        definition->given_up = true;
        return STATUS_OK;
    }
    TRY(expand(jsonld, definition, part->text, &term->iri));
    term->keyword = (uint8_t)jsonld_keyword(term->iri);
    if (term->keyword == KEYWORD_CONTEXT) {
        return fail(jsonld, definition, "invalid keyword alias");
    }
    if (term->keyword == KEYWORD_NOT && !jsonld_is_iri(term->iri) && !jsonld_is_blank(term->iri)) {
        return fail(jsonld, definition, "invalid IRI mapping");
    }
    if (has_inner_colon(term->name) || has_slash(term->name)) {
        struct slice own;
        definition->build->states[definition->entry->ordinal] = DEFINE_DONE;
        TRY(expand(jsonld, definition, term->name, &own));
        if (!slice_equal(own, term->iri)) {
            return fail(jsonld, definition, "invalid IRI mapping");
        }
    } else if (definition->simple) {
        term->prefix = ends_as_prefix(term->iri) || jsonld_is_blank(term->iri);
    }
    return STATUS_OK;
}

/* The IRI of a term that names none: from its own form. */
static enum status
take_own_form(struct jsonld *jsonld, struct definition *definition)
{
    struct jsonld_term *term = definition->term;
    struct context_build *build = definition->build;
    const struct slice name = term->name;
    const size_t colon =
        name.length > 1 ? slice_find(slice_of(name.at + 1, name.length - 1), ':') + 1 : name.length;
    if (colon < name.length) {
        const struct slice prefix = slice_of(name.at, colon);
        const struct slice suffix = slice_of(name.at + colon + 1, name.length - colon - 1);
        const struct json *entry = json_get(build->local, prefix);
        if (entry != NULL && !slice_starts(suffix, SLICE("//")) &&
            build->states[entry->ordinal] != DEFINE_DONE) {
            TRY(jsonld_define(jsonld, build, entry));
        }
        const struct jsonld_term *known = jsonld_find_term(build->context, prefix);
        if (known != NULL && known->iri.at != NULL) {
            term->iri = jsonld_join(jsonld, known->iri, suffix);
        } else if (jsonld_is_iri(name) || jsonld_is_blank(name)) {
            term->iri = name;
        } else {
            return fail(jsonld, definition, "invalid IRI mapping");
        }
    } else if (has_slash(name)) {
        struct slice iri = name;
        if (build->context->vocab.at != NULL) {
            iri = jsonld_join(jsonld, build->context->vocab, name);
        }
        term->iri = iri;
        if (!jsonld_is_iri(iri)) {
            return fail(jsonld, definition, "invalid IRI mapping");
        }
    } else if (slice_is(name, "@type")) {
        term->iri = name;
        term->keyword = KEYWORD_TYPE;
    } else if (build->context->vocab.at != NULL) {
        term->iri = jsonld_join(jsonld, build->context->vocab, name);
    } else {
        return fail(jsonld, definition, "invalid IRI mapping");
    }
    return STATUS_OK;
}

static unsigned
container_bit(const struct json *word)
{
    static const struct {
        const char *word;
        unsigned bit;
    } bits[] = {{"@graph", CONTAINER_GRAPH}, {"@id", CONTAINER_ID},
                {"@index", CONTAINER_INDEX}, {"@language", CONTAINER_LANGUAGE},
                {"@list", CONTAINER_LIST},   {"@set", CONTAINER_SET},
                {"@type", CONTAINER_TYPE}};
    for (size_t i = 0; word->kind == JSON_STRING && i < sizeof bits / sizeof *bits; i++) {
        if (slice_is(word->text, bits[i].word)) {
            return bits[i].bit;
        }
    }
    return 0;
}

static bool
containers_valid(unsigned containers, bool in_1_0, bool is_array)
{
    const unsigned single = containers & ~(unsigned)CONTAINER_SET;
    if (in_1_0 && (is_array || (containers & (CONTAINER_GRAPH | CONTAINER_ID | CONTAINER_TYPE)))) {
        return false;
    }
    if (containers & CONTAINER_LIST) {
        return containers == CONTAINER_LIST;
    }
    if (containers & CONTAINER_GRAPH) {
        return single == CONTAINER_GRAPH || single == (CONTAINER_GRAPH | CONTAINER_ID) ||
               single == (CONTAINER_GRAPH | CONTAINER_INDEX);
    }
    return (single & (single - 1)) == 0;
}

static enum status
take_container(struct jsonld *jsonld, struct definition *definition, const struct json *part)
{
    struct jsonld_term *term = definition->term;
    if (term->reverse && part->kind == JSON_NULL) {
        return STATUS_OK;
    }
    unsigned containers = 0;
    const struct json *word = part->kind == JSON_ARRAY ? part->first : part;
    bool good = word != NULL;
    while (word != NULL && good) {
        const unsigned bit = container_bit(word);
        good = bit != 0;
        containers |= bit;
        word = part->kind == JSON_ARRAY ? word->next : NULL;
    }
    if (!good ||
        !containers_valid(containers, jsonld->options->mode_1_0, part->kind == JSON_ARRAY)) {
        return fail(jsonld, definition, "invalid container mapping");
    }
    if (containers & CONTAINER_TYPE) {
        if (term->type.length == 0) {
            term->type = SLICE("@id");
            term->type_keyword = KEYWORD_ID;
        } else if (term->type_keyword != KEYWORD_ID && term->type_keyword != KEYWORD_VOCAB) {
            return fail(jsonld, definition, "invalid type mapping");
        }
    }
    term->containers = (uint8_t)containers;
    return STATUS_OK;
}

static enum status
take_index(struct jsonld *jsonld, struct definition *definition, const struct json *part)
{
    struct jsonld_term *term = definition->term;
    struct slice iri = {NULL, 0};
    if (jsonld->options->mode_1_0 || !(term->containers & CONTAINER_INDEX) ||
        part->kind != JSON_STRING) {
        return fail(jsonld, definition, "invalid term definition");
    }
    TRY(expand(jsonld, definition, part->text, &iri));
    if (!jsonld_is_iri(iri)) {
        return fail(jsonld, definition, "invalid term definition");
    }
    term->index = part->text;
    return STATUS_OK;
}

/* The scoped context is processed here to see whether it can be; the result is thrown away. */
static enum status
take_context(struct jsonld *jsonld, struct definition *definition, const struct json *part)
{
    struct context_build *build = definition->build;
    if (jsonld->options->mode_1_0) {
        return fail(jsonld, definition, "invalid term definition");
    }
    struct jsonld_context trial = *build->context;
    struct context_build inner = {.context = &trial,
                                  .arena = build->arena,
                                  .base_url = build->base_url,
                                  .remotes = build->remotes,
                                  .override_protected = true,
                                  .propagate = true,
                                  .skips_known = true};
    jsonld->mute++;
    const enum status status = jsonld_build(jsonld, &inner, part);
    jsonld->mute--;
    if (status == STATUS_BAD_INPUT) {
        return fail(jsonld, definition, "invalid scoped context");
    }
    definition->term->context = part;
    definition->term->context_base = build->base_url;
    return status;
}

static enum status
take_language(struct jsonld *jsonld, struct definition *definition, const struct json *part)
{
    struct jsonld_term *term = definition->term;
    if (json_get(definition->value, SLICE("@type")) != NULL) {
        return STATUS_OK;
    }
    if (part->kind != JSON_STRING && part->kind != JSON_NULL) {
        return fail(jsonld, definition, "invalid language mapping");
    }
    term->has_language = part->kind == JSON_STRING ? MAPPING_SET : MAPPING_NULL;
    term->language = part->kind == JSON_STRING ? part->text : (struct slice){NULL, 0};
    return STATUS_OK;
}

static enum status
take_direction(struct jsonld *jsonld, struct definition *definition, const struct json *part)
{
    struct jsonld_term *term = definition->term;
    if (json_get(definition->value, SLICE("@type")) != NULL) {
        return STATUS_OK;
    }
    if (part->kind != JSON_NULL && (part->kind != JSON_STRING || (!slice_is(part->text, "ltr") &&
                                                                  !slice_is(part->text, "rtl")))) {
        return fail(jsonld, definition, "invalid base direction");
    }
    term->has_direction = part->kind == JSON_STRING ? MAPPING_SET : MAPPING_NULL;
    term->direction = part->kind == JSON_STRING ? part->text : (struct slice){NULL, 0};
    return STATUS_OK;
}

static enum status
take_nest(struct jsonld *jsonld, struct definition *definition, const struct json *part)
{
    if (jsonld->options->mode_1_0) {
        return fail(jsonld, definition, "invalid term definition");
    }
    if (part->kind != JSON_STRING ||
        (jsonld_keyword(part->text) != KEYWORD_NOT && jsonld_keyword(part->text) != KEYWORD_NEST)) {
        return fail(jsonld, definition, "invalid @nest value");
    }
    definition->term->nest = part->text;
    return STATUS_OK;
}

static enum status
take_prefix(struct jsonld *jsonld, struct definition *definition, const struct json *part)
{
    struct jsonld_term *term = definition->term;
    if (jsonld->options->mode_1_0 || slice_find(term->name, ':') < term->name.length ||
        has_slash(term->name)) {
        return fail(jsonld, definition, "invalid term definition");
    }
    if (part->kind != JSON_TRUE && part->kind != JSON_FALSE) {
        return fail(jsonld, definition, "invalid @prefix value");
    }
    term->prefix = part->kind == JSON_TRUE;
    return term->prefix && term->keyword != KEYWORD_NOT
               ? fail(jsonld, definition, "invalid term definition")
               : STATUS_OK;
}

/* Those that follow the IRI mapping, in the order of the algorithm. A reverse property has but
 * the container and index of them. */
static const struct part {
    const char *key;
    part_function *take;
} parts[] = {{"@container", take_container}, {"@index", take_index},
             {"@context", take_context},     {"@language", take_language},
             {"@direction", take_direction}, {"@nest", take_nest},
             {"@prefix", take_prefix}};

static enum status
check_keys(struct jsonld *jsonld, struct definition *definition)
{
    static const char *const others[] = {"@id", "@reverse", "@type", "@protected"};
    for (const struct json *part = definition->value->first; part != NULL; part = part->next) {
        bool known = false;
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
            known |= slice_is(part->key, parts[i].key);
        }
        for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
            known |= slice_is(part->key, others[i]);
        }
        if (!known) {
            return fail(jsonld, definition, "invalid term definition");
        }
    }
    return STATUS_OK;
}

/* ---- the whole ---- */

static enum status
take_mapping(struct jsonld *jsonld, struct definition *definition)
{
    const struct json *value = definition->value, *entry = definition->entry;
    const struct json *id = value != NULL ? json_get(value, SLICE("@id")) : entry;
    const struct json *reverse = json_get(value, SLICE("@reverse"));
    if (reverse != NULL) {
        return take_reverse(jsonld, definition, reverse);
    }
    if (id != NULL && (id->kind != JSON_STRING || !slice_equal(id->text, entry->key))) {
        return take_id(jsonld, definition, id);
    }
    return take_own_form(jsonld, definition);
}

static enum status
take_parts(struct jsonld *jsonld, struct definition *definition)
{
    const struct json *value = definition->value;
    const struct json *part = json_get(value, SLICE("@protected"));
    if (part != NULL) {
        TRY(take_protected(jsonld, definition, part));
    }
    part = json_get(value, SLICE("@type"));
    if (part != NULL) {
        TRY(take_type(jsonld, definition, part));
    }
    TRY(take_mapping(jsonld, definition));
    for (size_t i = 0; !definition->given_up && i < sizeof parts / sizeof *parts; i++) {
        part = json_get(value, slice_string(parts[i].key));
        if (part != NULL) {
            TRY(parts[i].take(jsonld, definition, part));
        }
    }
    return value != NULL && !definition->given_up ? check_keys(jsonld, definition) : STATUS_OK;
}

static bool
same_text(struct slice a, struct slice b)
{
    return (a.at == NULL) == (b.at == NULL) && slice_equal(a, b);
}

/* But for protection. */
static bool
same_term(const struct jsonld_term *a, const struct jsonld_term *b)
{
    return same_text(a->iri, b->iri) && slice_equal(a->type, b->type) &&
           slice_equal(a->index, b->index) && slice_equal(a->nest, b->nest) &&
           slice_equal(a->language, b->language) && slice_equal(a->direction, b->direction) &&
           a->has_language == b->has_language && a->has_direction == b->has_direction &&
           a->containers == b->containers && a->prefix == b->prefix && a->reverse == b->reverse &&
           (a->context == NULL) == (b->context == NULL) &&
           (a->context == NULL || json_same(a->context, b->context));
}

/* "@type" may only be made a set, and be protected. */
static bool
type_valid(const struct json *entry)
{
    const struct json *container = json_get(entry, SLICE("@container"));
    if (entry->kind != JSON_OBJECT || entry->count == 0 ||
        (container != NULL &&
         (container->kind != JSON_STRING || !slice_is(container->text, "@set")))) {
        return false;
    }
    return entry->count ==
           (container != NULL) + (uint32_t)(json_get(entry, SLICE("@protected")) != NULL);
}

static enum status
check_name(struct jsonld *jsonld, struct definition *definition)
{
    const struct json *entry = definition->entry;
    if (entry->key.length == 0) {
        return fail(jsonld, definition, "invalid term definition");
    }
    if (slice_is(entry->key, "@type")) {
        return jsonld->options->mode_1_0 || !type_valid(entry)
                   ? fail(jsonld, definition, "keyword redefinition")
                   : STATUS_OK;
    }
    if (jsonld_keyword(entry->key) != KEYWORD_NOT) {
        return fail(jsonld, definition, "keyword redefinition");
    }
    definition->given_up = jsonld_like_keyword(entry->key);
    return STATUS_OK;
}

static enum status
define(struct jsonld *jsonld, struct definition *definition, const struct jsonld_term *before)
{
    struct context_build *build = definition->build;
    struct jsonld_term *term = definition->term;
    TRY(take_parts(jsonld, definition));
    if (definition->given_up) {
        return STATUS_OK;
    }
    if (before != NULL && before->is_protected && !build->override_protected) {
        if (!same_term(before, term)) {
            return fail(jsonld, definition, "protected term redefinition");
        }
        term->is_protected = true;
    }
    term->removed = false;
    jsonld_put_term(build->arena, build->context->terms, term);
    return STATUS_OK;
}

enum status
jsonld_define(struct jsonld *jsonld, struct context_build *build, const struct json *entry)
{
    uint8_t *state = &build->states[entry->ordinal];
    struct definition definition = {.build = build, .entry = entry};
    if (*state != DEFINE_NOT) {
        return *state == DEFINE_DONE ? STATUS_OK : fail(jsonld, &definition, "cyclic IRI mapping");
    }
    TRY(jsonld_step(jsonld));
    *state = DEFINE_BUSY;
    TRY(check_name(jsonld, &definition));
    if (definition.given_up) {
        *state = DEFINE_DONE;
        return STATUS_OK;
    }
    if (entry->kind != JSON_OBJECT && entry->kind != JSON_STRING && entry->kind != JSON_NULL) {
        return fail(jsonld, &definition, "invalid term definition");
    }
    definition.value = entry->kind == JSON_OBJECT ? entry : NULL;
    definition.simple = entry->kind == JSON_STRING;
    const struct jsonld_term *before = jsonld_find_term(build->context, entry->key);
    struct jsonld_term *term = arena_zero(build->arena, sizeof *term);
    term->name = entry->key;
    term->is_protected = build->is_protected;
    definition.term = term;
    if (before != NULL) {
        struct jsonld_term *hidden = arena_zero(build->arena, sizeof *hidden);
        hidden->name = entry->key;
        hidden->removed = true;
        jsonld_put_term(build->arena, build->context->terms, hidden);
    }
    if (++jsonld->depth > jsonld->depth_limit) {
        return status_fail(jsonld->why, STATUS_LIMIT,
                           "term definitions depend on each other deeper than %u",
                           jsonld->depth_limit);
    }
    const enum status status = define(jsonld, &definition, before);
    jsonld->depth--;
    *state = DEFINE_DONE;
    if (status != STATUS_OK && before != NULL) { /* lenient: what was known before stays */
        *term = *before;
        jsonld_put_term(build->arena, build->context->terms, term);
    }
    return status;
}
