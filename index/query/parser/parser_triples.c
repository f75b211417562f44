/* Triples and property paths: TriplesSameSubjectPath down to PathOneInPropertySet. */
#include "base/array.h"
#include "base/digest.h"
#include "base/memory.h"
#include "index/query/parser/parser.h"

#define RDF "http://www.w3.org/1999/02/22-rdf-syntax-ns#"

static enum status parse_path(struct parser *parser, const struct path **path);
static enum status parser_add_path(struct parser *parser, struct algebra *into,
                                   struct place subject, const struct path *path,
                                   struct place object);

static enum status
constant_place(struct parser *parser, struct slice iri, struct place *place)
{
    const struct term term = term_iri(iri);
    place->kind = PLACE_CONSTANT;
    return parser_constant(parser, &term, &place->number);
}

static enum status
new_blank(struct parser *parser, struct place *place)
{
    if (parser->no_blanks) {
        return lexer_fail(&parser->lexer, parser->lexer.token.text.at,
                          "no blank node can stand in what is deleted");
    }
    if (parser->template) {
        *place = (struct place){PLACE_BLANK, parser->query->template_blanks++};
        return STATUS_OK;
    }
    place->kind = PLACE_SLOT;
    return parser_new_slot(parser, (struct slice){NULL, 0}, &place->number);
}

static uint32_t *
label_bucket(struct parser *parser, struct slice name)
{
    return &parser->label_buckets[fingerprint64(name) % LABEL_BUCKETS];
}

void
parser_forget_labels(struct parser *parser, size_t count)
{
    while (parser->label_count > count) {
        const struct label *label = &parser->labels[--parser->label_count];
        *label_bucket(parser, label->name) = label->next;
    }
}

static enum status
labelled_blank(struct parser *parser, struct place *place)
{
    const struct slice name = parser->lexer.token.value;
    uint32_t *bucket = label_bucket(parser, name);
    for (uint32_t i = *bucket; i > 0; i = parser->labels[i - 1].next) {
        const struct label *label = &parser->labels[i - 1];
        if (slice_equal(label->name, name)) {
            if (label->block != parser->block) {
                return lexer_fail(&parser->lexer, parser->lexer.token.text.at,
                                  "the label _:%.*s belongs to another basic graph pattern",
                                  SLICE_PRINT(name));
            }
            *place = (struct place){parser->template ? PLACE_BLANK : PLACE_SLOT, label->number};
            return STATUS_OK;
        }
    }
    if (parser->label_count == LABELS_MAXIMUM) {
        return parser_too_large(parser);
    }
    parser->labels = array_grow(parser->labels, parser->label_count, &parser->label_room,
                                sizeof *parser->labels);
    TRY(new_blank(parser, place));
    parser->labels[parser->label_count++] =
        (struct label){name, place->number, parser->block, *bucket};
    *bucket = (uint32_t)parser->label_count;
    return STATUS_OK;
}

enum status
parse_place(struct parser *parser, struct place *place)
{
    const struct token *token = &parser->lexer.token;
    struct term term;
    switch (token->kind) {
    case TOKEN_VARIABLE:
        if (parser->no_variables) {
            return lexer_fail(&parser->lexer, token->text.at, "no variable can stand in DATA");
        }
        place->kind = PLACE_SLOT;
        TRY(parser_variable_slot(parser, token->value, &place->number));
        return parser_next(parser);
    case TOKEN_BLANK:
        TRY(labelled_blank(parser, place));
        return parser_next(parser);
    case TOKEN_ANON:
        TRY(new_blank(parser, place));
        return parser_next(parser);
    case TOKEN_NIL:
        TRY(constant_place(parser, SLICE(RDF "nil"), place));
        return parser_next(parser);
    default:
        if (parser_at_iri(parser)) {
            struct slice iri;
            TRY(parser_iri(parser, &iri));
            return constant_place(parser, iri, place);
        }
        if (!parser_at_literal(parser)) {
            return lexer_expected(&parser->lexer, "a variable, an IRI, a literal or a blank node");
        }
        TRY(parser_literal(parser, &term));
        place->kind = PLACE_CONSTANT;
        return parser_constant(parser, &term, &place->number);
    }
}

bool
parser_at_triples(const struct parser *parser)
{
    switch (parser->lexer.token.kind) {
    case TOKEN_VARIABLE:
    case TOKEN_BLANK:
    case TOKEN_ANON:
    case TOKEN_NIL:
        return true;
    default:
        return parser_at_iri(parser) || parser_at_literal(parser) || parser_is(parser, "(") ||
               parser_is(parser, "[");
    }
}

/* ---- nodes with triples of their own ---- */

static enum status parse_properties(struct parser *parser, struct algebra *into,
                                    struct place subject);

static enum status
add(struct parser *parser, struct algebra *into, struct place subject, struct place predicate,
    struct place object)
{
    const struct pattern pattern = {subject, predicate, object, NULL};
    return algebra_add_pattern(parser->arena, into, &pattern) ? STATUS_OK
                                                              : parser_too_large(parser);
}

static enum status parse_node(struct parser *parser, struct algebra *into, struct place *place,
                              bool *triples);

static enum status
parse_collection(struct parser *parser, struct algebra *into, struct place *place)
{
    struct place first, rest, nil, item, cell;
    bool triples;
    TRY(constant_place(parser, SLICE(RDF "first"), &first));
    TRY(constant_place(parser, SLICE(RDF "rest"), &rest));
    TRY(constant_place(parser, SLICE(RDF "nil"), &nil));
    TRY(parser_take(parser, "("));
    TRY(new_blank(parser, place));
    cell = *place;
    for (;;) {
        TRY(parse_node(parser, into, &item, &triples));
        TRY(add(parser, into, cell, first, item));
        if (parser_is(parser, ")")) {
            TRY(add(parser, into, cell, rest, nil));
            return parser_next(parser);
        }
        struct place next;
        TRY(new_blank(parser, &next));
        TRY(add(parser, into, cell, rest, next));
        cell = next;
    }
}

/* triples: the node brought triples, so that no property list need follow. */
static enum status
parse_node(struct parser *parser, struct algebra *into, struct place *place, bool *triples)
{
    *triples = parser_is(parser, "(") || parser_is(parser, "[");
    if (!*triples) {
        return parse_place(parser, place);
    }
    TRY(parser_enter(parser));
    if (parser_is(parser, "(")) {
        TRY(parse_collection(parser, into, place));
    } else {
        TRY(parser_next(parser));
        TRY(new_blank(parser, place));
        TRY(parse_properties(parser, into, *place));
        TRY(parser_take(parser, "]"));
    }
    parser_leave(parser);
    return STATUS_OK;
}

static enum status
parse_objects(struct parser *parser, struct algebra *into, struct place subject,
              const struct place *predicate, const struct path *path)
{
    for (;;) {
        struct place object;
        bool triples;
        TRY(parse_node(parser, into, &object, &triples));
        if (path) {
            TRY(parser_add_path(parser, into, subject, path, object));
        } else {
            TRY(add(parser, into, subject, *predicate, object));
        }
        if (!parser_is(parser, ",")) {
            return STATUS_OK;
        }
        TRY(parser_next(parser));
    }
}

static bool
at_verb(const struct parser *parser)
{
    const struct token *token = &parser->lexer.token;
    return token->kind == TOKEN_VARIABLE || parser_at_iri(parser) ||
           (token->kind == TOKEN_WORD && slice_is(token->text, "a")) ||
           (!parser->template && (parser_is(parser, "^") || parser_is(parser, "!") ||
                                  parser_is(parser, "(") || token->kind == TOKEN_NIL));
}

static enum status
parse_verb(struct parser *parser, struct place *predicate, const struct path **path)
{
    *path = NULL;
    if (parser->lexer.token.kind == TOKEN_VARIABLE) {
        return parse_place(parser, predicate);
    }
    if (!parser->template) {
        return parse_path(parser, path);
    }
    if (parser->lexer.token.kind == TOKEN_WORD) {
        TRY(constant_place(parser, SLICE(RDF "type"), predicate));
        return parser_next(parser);
    }
    return parse_place(parser, predicate);
}

static enum status
parse_properties(struct parser *parser, struct algebra *into, struct place subject)
{
    if (!at_verb(parser)) {
        return lexer_expected(&parser->lexer, "a predicate");
    }
    for (;;) {
        struct place predicate = {0};
        const struct path *path;
        TRY(parse_verb(parser, &predicate, &path));
        TRY(parse_objects(parser, into, subject, &predicate, path));
        if (!parser_is(parser, ";")) {
            return STATUS_OK;
        }
        while (parser_is(parser, ";")) {
            TRY(parser_next(parser));
        }
        if (!at_verb(parser)) {
            return STATUS_OK;
        }
    }
}

enum status
parse_triples_same_subject(struct parser *parser, struct algebra *into)
{
    struct place subject;
    bool triples;
    TRY(parse_node(parser, into, &subject, &triples));
    if (triples && !at_verb(parser)) {
        return STATUS_OK;
    }
    return parse_properties(parser, into, subject);
}

/* ---- templates ---- */

static enum status
add_templates(struct parser *parser, const struct algebra *patterns, struct place graph,
              bool removal)
{
    struct query *query = parser->query;
    for (size_t i = 0; i < patterns->pattern_count; i++) {
        if (query->template_count == query->template_room) {
            const size_t room = query->template_room ? query->template_room * 2 : 16;
            struct template_quad *more = arena_alloc(parser->arena, room * sizeof *more);
            if (!more) {
                return parser_too_large(parser);
            }
            if (query->template_count) {
                memcpy(more, query->template, query->template_count * sizeof *more);
            }
            query->template = more;
            query->template_room = room;
        }
        query->template[query->template_count++] =
            (struct template_quad){patterns->patterns[i], graph, removal};
    }
    return STATUS_OK;
}

enum status
parse_template_triples(struct parser *parser, struct place graph, bool removal)
{
    struct algebra *patterns = algebra_new(parser->arena, ALGEBRA_PATTERNS);
    if (!patterns) {
        return parser_too_large(parser);
    }
    while (parser_at_triples(parser)) {
        TRY(parse_triples_same_subject(parser, patterns));
        if (!parser_is(parser, ".")) {
            break;
        }
        TRY(parser_next(parser));
    }
    return add_templates(parser, patterns, graph, removal);
}

/* ---- paths ---- */

static enum status
new_path(struct parser *parser, enum path_kind kind, const struct path *left,
         const struct path *right, const struct path **path)
{
    struct path *made = arena_zero(parser->arena, sizeof *made);
    if (!made) {
        return parser_too_large(parser);
    }
    made->kind = kind;
    made->left = left;
    made->right = right;
    const uint32_t deeper = left && (!right || left->depth > right->depth) ? left->depth
                            : right                                        ? right->depth
                                                                           : 0;
    made->depth = deeper + 1;
    if (made->depth > DEPTH_MAXIMUM) {
        return parser_too_large(parser);
    }
    *path = made;
    return STATUS_OK;
}

static enum status
parse_link(struct parser *parser, uint32_t *constant)
{
    struct slice iri = SLICE(RDF "type");
    if (parser->lexer.token.kind == TOKEN_WORD && slice_is(parser->lexer.token.text, "a")) {
        TRY(parser_next(parser));
    } else {
        TRY(parser_iri(parser, &iri));
    }
    const struct term term = term_iri(iri);
    return parser_constant(parser, &term, constant);
}

static enum status
parse_negated_one(struct parser *parser, struct path *path)
{
    const bool backward = parser_is(parser, "^");
    if (backward) {
        TRY(parser_next(parser));
    }
    uint32_t **numbers = backward ? &path->backward : &path->forward;
    size_t *count = backward ? &path->backward_count : &path->forward_count;
    uint32_t constant;
    TRY(parse_link(parser, &constant));
    uint32_t *more = arena_alloc(parser->arena, (*count + 1) * sizeof *more);
    if (!more) {
        return parser_too_large(parser);
    }
    if (*count) {
        memcpy(more, *numbers, *count * sizeof *more);
    }
    more[(*count)++] = constant;
    *numbers = more;
    return STATUS_OK;
}

static enum status
parse_negated(struct parser *parser, const struct path **result)
{
    struct path *path = arena_zero(parser->arena, sizeof *path);
    if (!path) {
        return parser_too_large(parser);
    }
    path->kind = PATH_NEGATED;
    path->depth = 1;
    *result = path;
    if (parser->lexer.token.kind == TOKEN_NIL) {
        return parser_next(parser);
    }
    if (!parser_is(parser, "(")) {
        return parse_negated_one(parser, path);
    }
    do {
        TRY(parser_next(parser));
        TRY(parse_negated_one(parser, path));
    } while (parser_is(parser, "|"));
    return parser_take(parser, ")");
}

static enum status
parse_path_primary(struct parser *parser, const struct path **path)
{
    if (parser_is(parser, "!")) {
        TRY(parser_next(parser));
        return parse_negated(parser, path);
    }
    if (parser_is(parser, "(")) {
        TRY(parser_enter(parser));
        TRY(parser_next(parser));
        TRY(parse_path(parser, path));
        parser_leave(parser);
        return parser_take(parser, ")");
    }
    if (!parser_at_iri(parser) &&
        !(parser->lexer.token.kind == TOKEN_WORD && slice_is(parser->lexer.token.text, "a"))) {
        return lexer_expected(&parser->lexer, "a property path");
    }
    uint32_t constant;
    TRY(parse_link(parser, &constant));
    struct path *link = arena_zero(parser->arena, sizeof *link);
    if (!link) {
        return parser_too_large(parser);
    }
    *link = (struct path){.kind = PATH_LINK, .constant = constant, .depth = 1};
    *path = link;
    return STATUS_OK;
}

static enum status
parse_path_element(struct parser *parser, const struct path **path)
{
    const bool inverse = parser_is(parser, "^");
    if (inverse) {
        TRY(parser_next(parser));
    }
    TRY(parse_path_primary(parser, path));
    static const struct {
        const char *sign;
        enum path_kind kind;
    } modifiers[] = {{"?", PATH_ZERO_OR_ONE}, {"*", PATH_ZERO_OR_MORE}, {"+", PATH_ONE_OR_MORE}};
    for (size_t i = 0; i < sizeof modifiers / sizeof *modifiers; i++) {
        if (parser_is(parser, modifiers[i].sign)) {
            TRY(parser_next(parser));
            TRY(new_path(parser, modifiers[i].kind, *path, NULL, path));
            break;
        }
    }
    return inverse ? new_path(parser, PATH_INVERSE, *path, NULL, path) : STATUS_OK;
}

static enum status
parse_path_sequence(struct parser *parser, const struct path **path)
{
    TRY(parse_path_element(parser, path));
    while (parser_is(parser, "/")) {
        const struct path *right;
        TRY(parser_next(parser));
        TRY(parse_path_element(parser, &right));
        TRY(new_path(parser, PATH_SEQUENCE, *path, right, path));
    }
    return STATUS_OK;
}

static enum status
parse_path(struct parser *parser, const struct path **path)
{
    TRY(parse_path_sequence(parser, path));
    while (parser_is(parser, "|")) {
        const struct path *right;
        TRY(parser_next(parser));
        TRY(parse_path_sequence(parser, &right));
        TRY(new_path(parser, PATH_ALTERNATIVE, *path, right, path));
    }
    return STATUS_OK;
}

/* One branch of an alternative, as a node of its own. */
static enum status
branch(struct parser *parser, struct place subject, const struct path *path, struct place object,
       struct algebra **node)
{
    struct algebra *patterns = algebra_new(parser->arena, ALGEBRA_PATTERNS);
    struct algebra *unions = parser->unions;
    if (!patterns) {
        return parser_too_large(parser);
    }
    parser->unions = NULL;
    TRY(parser_add_path(parser, patterns, subject, path, object));
    *node = patterns->pattern_count ? patterns : NULL;
    if (parser->unions) {
        *node = *node ? algebra_join(parser->arena, *node, parser->unions) : parser->unions;
    }
    parser->unions = unions;
    return *node ? STATUS_OK : parser_too_large(parser);
}

/* Adds what either gives; one may be NULL. */
static enum status
add_union(struct parser *parser, struct algebra *left, struct algebra *right)
{
    struct algebra *both = left && right
                               ? algebra_binary(parser->arena, ALGEBRA_UNION, left, right, NULL)
                           : left ? left
                                  : right;
    if (both && parser->unions) {
        both = algebra_join(parser->arena, parser->unions, both);
    }
    parser->unions = both;
    return both ? STATUS_OK : parser_too_large(parser);
}

static enum status
add_alternative(struct parser *parser, struct place subject, const struct path *path,
                struct place object)
{
    struct algebra *left, *right;
    TRY(branch(parser, subject, path->left, object, &left));
    TRY(branch(parser, subject, path->right, object, &right));
    return add_union(parser, left, right);
}

/* Triples whose predicate is none of a negated set's. */
static enum status
exclude(struct parser *parser, struct place subject, const uint32_t *constants, size_t count,
        struct place object, struct algebra **node)
{
    struct pattern pattern = {.subject = subject, .object = object};
    const struct expression *filter;
    struct algebra *patterns = algebra_new(parser->arena, ALGEBRA_PATTERNS);
    pattern.predicate.kind = PLACE_SLOT;
    TRY(parser_new_slot(parser, (struct slice){NULL, 0}, &pattern.predicate.number));
    if (!patterns || !algebra_add_pattern(parser->arena, patterns, &pattern)) {
        return parser_too_large(parser);
    }
    *node = patterns;
    if (count) {
        TRY(parser_not_in(parser, pattern.predicate.number, constants, count, &filter));
        *node = algebra_binary(parser->arena, ALGEBRA_FILTER, patterns, NULL, filter);
    }
    return *node ? STATUS_OK : parser_too_large(parser);
}

/* A negated set, which gives one solution for each triple. */
static enum status
add_negated(struct parser *parser, struct place subject, const struct path *path,
            struct place object)
{
    struct algebra *forward = NULL, *backward = NULL;
    if (path_negates(path, true)) {
        TRY(exclude(parser, subject, path->forward, path->forward_count, object, &forward));
    }
    if (path_negates(path, false)) {
        TRY(exclude(parser, object, path->backward, path->backward_count, subject, &backward));
    }
    return add_union(parser, forward, backward);
}

/* Adds subject path object: sequences and inverses become patterns, alternatives unions, and
 * negated sets patterns with a filter. */
static enum status
parser_add_path(struct parser *parser, struct algebra *into, struct place subject,
                const struct path *path, struct place object)
{
    struct pattern pattern = {subject, {PLACE_CONSTANT, path->constant}, object, NULL};
    struct place middle;
    switch (path->kind) {
    case PATH_LINK:
        break;
    case PATH_INVERSE:
        return parser_add_path(parser, into, object, path->left, subject);
    case PATH_SEQUENCE:
        middle.kind = PLACE_SLOT;
        TRY(parser_new_slot(parser, (struct slice){NULL, 0}, &middle.number));
        TRY(parser_add_path(parser, into, subject, path->left, middle));
        return parser_add_path(parser, into, middle, path->right, object);
    case PATH_ALTERNATIVE:
        return add_alternative(parser, subject, path, object);
    case PATH_NEGATED:
        return add_negated(parser, subject, path, object);
    default:
        pattern.predicate = (struct place){PLACE_NONE, 0};
        pattern.path = path;
    }
    return algebra_add_pattern(parser->arena, into, &pattern) ? STATUS_OK
                                                              : parser_too_large(parser);
}
