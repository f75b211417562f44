/* Expressions: ConditionalOrExpression down to PrimaryExpression, aggregates included. */
#include "index/query/functions/function.h"
#include "index/query/parser/parser.h"

enum { ARGUMENTS_MAXIMUM = 4096 };

/* Arguments while they are read. */
struct arguments {
    const struct expression **items;
    size_t count, room;
};

static enum status
append(struct parser *parser, struct arguments *arguments, const struct expression *item)
{
    if (arguments->count == ARGUMENTS_MAXIMUM) {
        return parser_too_large(parser);
    }
    if (arguments->count == arguments->room) {
        const size_t room = arguments->room ? arguments->room * 2 : 2;
        const struct expression **items = arena_alloc(parser->arena, room * sizeof *items);
        if (!items) {
            return parser_too_large(parser);
        }
        if (arguments->count) {
            memcpy(items, arguments->items, arguments->count * sizeof *items);
        }
        arguments->items = items;
        arguments->room = room;
    }
    arguments->items[arguments->count++] = item;
    return STATUS_OK;
}

static struct expression *
new_expression(struct parser *parser, enum expression_kind kind)
{
    struct expression *expression = arena_zero(parser->arena, sizeof *expression);
    if (expression) {
        expression->kind = kind;
        expression->depth = 1;
    }
    return expression;
}

static enum status
new_call(struct parser *parser, const struct function *function, const struct arguments *arguments,
         const struct expression **result)
{
    struct expression *call = new_expression(parser, EXPRESSION_CALL);
    if (!call) {
        return parser_too_large(parser);
    }
    call->function = function;
    call->arguments = arguments->items;
    call->count = arguments->count;
    call->volatile_value = function->volatile_value;
    for (size_t i = 0; i < call->count; i++) {
        const struct expression *argument = call->arguments[i];
        call->slots = slots_union(&call->slots, &argument->slots);
        call->exists = call->exists || argument->exists;
        call->volatile_value = call->volatile_value || argument->volatile_value;
        if (argument->depth >= call->depth) {
            call->depth = argument->depth + 1;
        }
    }
    if (call->depth > DEPTH_MAXIMUM) {
        return parser_too_large(parser);
    }
    *result = call;
    return STATUS_OK;
}

static enum status
new_binary(struct parser *parser, const char *name, const struct expression *left,
           const struct expression *right, const struct expression **result)
{
    struct arguments arguments = {0};
    TRY(append(parser, &arguments, left));
    if (right) {
        TRY(append(parser, &arguments, right));
    }
    return new_call(parser, function_find(slice_string(name)), &arguments, result);
}

enum status
parser_new_variable(struct parser *parser, uint32_t slot, const struct expression **result)
{
    struct expression *variable = new_expression(parser, EXPRESSION_VARIABLE);
    if (!variable) {
        return parser_too_large(parser);
    }
    variable->number = slot;
    slots_add(&variable->slots, slot);
    *result = variable;
    return STATUS_OK;
}

static enum status
new_constant(struct parser *parser, const struct term *term, const struct expression **result)
{
    struct expression *constant = new_expression(parser, EXPRESSION_CONSTANT);
    if (!constant) {
        return parser_too_large(parser);
    }
    *result = constant;
    return parser_constant(parser, term, &constant->number);
}

enum status
parser_and(struct parser *parser, const struct expression *left, const struct expression *right,
           const struct expression **both)
{
    if (!left || !right) {
        *both = left ? left : right;
        return STATUS_OK;
    }
    return new_binary(parser, "&&", left, right, both);
}

/* ---- calls ---- */

/* "(" expression ("," expression)* ")" or "()". */
static enum status
parse_arguments(struct parser *parser, struct arguments *arguments, bool distinct_allowed)
{
    if (parser->lexer.token.kind == TOKEN_NIL) {
        return parser_next(parser);
    }
    TRY(parser_take(parser, "("));
    if (distinct_allowed && parser_word(parser, "DISTINCT")) {
        TRY(parser_next(parser));
    }
    for (;;) {
        const struct expression *argument;
        TRY(parse_expression(parser, &argument));
        TRY(append(parser, arguments, argument));
        if (!parser_is(parser, ",")) {
            return parser_take(parser, ")");
        }
        TRY(parser_next(parser));
    }
}

static enum status
parse_exists(struct parser *parser, bool negated, const struct expression **result)
{
    struct algebra *pattern;
    TRY(parser_take_word(parser, "EXISTS"));
    const uint32_t block = parser->block;
    struct algebra *unions = parser->unions;
    parser->unions = NULL;
    TRY(parse_group(parser, &pattern, NULL));
    parser->unions = unions;
    parser->block = block;
    struct expression *exists = new_expression(parser, EXPRESSION_EXISTS);
    if (!exists) {
        return parser_too_large(parser);
    }
    exists->pattern = pattern;
    exists->exists = true;
    exists->number = parser->query->exists_count++;
    exists->slots = algebra_mentioned(pattern);
    *result = exists;
    return negated ? new_binary(parser, "!", exists, NULL, result) : STATUS_OK;
}

static const struct {
    const char *name;
    enum aggregate_kind kind;
} aggregates[] = {{"COUNT", AGGREGATE_COUNT},
                  {"SUM", AGGREGATE_SUM},
                  {"MIN", AGGREGATE_MIN},
                  {"MAX", AGGREGATE_MAX},
                  {"AVG", AGGREGATE_AVG},
                  {"SAMPLE", AGGREGATE_SAMPLE},
                  {"GROUP_CONCAT", AGGREGATE_GROUP_CONCAT}};

static bool
at_aggregate(const struct parser *parser, enum aggregate_kind *kind)
{
    for (size_t i = 0; i < sizeof aggregates / sizeof *aggregates; i++) {
        if (parser_word(parser, aggregates[i].name)) {
            *kind = aggregates[i].kind;
            return true;
        }
    }
    return false;
}

static enum status
parse_separator(struct parser *parser, struct aggregate *aggregate)
{
    aggregate->separator = SLICE(" ");
    if (aggregate->kind != AGGREGATE_GROUP_CONCAT || !parser_is(parser, ";")) {
        return STATUS_OK;
    }
    TRY(parser_next(parser));
    TRY(parser_take_word(parser, "SEPARATOR"));
    TRY(parser_take(parser, "="));
    if (parser->lexer.token.kind != TOKEN_STRING) {
        return lexer_expected(&parser->lexer, "a string");
    }
    aggregate->separator = parser->lexer.token.value;
    return parser_next(parser);
}

/* Becomes the variable that the group will bind. */
static enum status
parse_aggregate(struct parser *parser, enum aggregate_kind kind, const struct expression **result)
{
    struct scope *scope = parser->scope;
    struct aggregate aggregate = {.kind = kind};
    if (!scope->aggregates_allowed || scope->inside_aggregate) {
        return lexer_fail(&parser->lexer, parser->lexer.token.text.at,
                          "an aggregate cannot be used here");
    }
    TRY(parser_next(parser));
    TRY(parser_take(parser, "("));
    if (parser_word(parser, "DISTINCT")) {
        aggregate.distinct = true;
        TRY(parser_next(parser));
    }
    if (kind == AGGREGATE_COUNT && parser_is(parser, "*")) {
        TRY(parser_next(parser));
    } else {
        scope->inside_aggregate = true;
        TRY(parse_expression(parser, &aggregate.argument));
        scope->inside_aggregate = false;
    }
    TRY(parse_separator(parser, &aggregate));
    TRY(parser_take(parser, ")"));
    if (scope->aggregate_count == AGGREGATES_MAXIMUM) {
        return parser_too_large(parser);
    }
    TRY(parser_new_slot(parser, (struct slice){NULL, 0}, &aggregate.slot));
    scope->aggregates[scope->aggregate_count++] = aggregate;
    return parser_new_variable(parser, aggregate.slot, result);
}

static enum status
check_arity(struct parser *parser, const char *at, const struct function *function,
            const struct arguments *arguments)
{
    if (arguments->count < function->least ||
        (function->most != FUNCTION_ANY && arguments->count > function->most)) {
        return lexer_fail(&parser->lexer, at, "%s does not take %zu arguments", function->name,
                          arguments->count);
    }
    return STATUS_OK;
}

static enum status
parse_builtin(struct parser *parser, const struct expression **result)
{
    const struct token word = parser->lexer.token;
    const struct function *function = function_find(word.text);
    struct arguments arguments = {0};
    TRY(parser_next(parser));
    if (slice_equal_nocase(word.text, SLICE("BOUND"))) {
        TRY(parser_take(parser, "("));
        if (parser->lexer.token.kind != TOKEN_VARIABLE) {
            return lexer_expected(&parser->lexer, "a variable");
        }
        const struct expression *variable;
        uint32_t slot;
        TRY(parser_variable_slot(parser, parser->lexer.token.value, &slot));
        TRY(parser_new_variable(parser, slot, &variable));
        TRY(append(parser, &arguments, variable));
        TRY(parser_next(parser));
        TRY(parser_take(parser, ")"));
    } else {
        TRY(parse_arguments(parser, &arguments, false));
        TRY(check_arity(parser, word.text.at, function, &arguments));
    }
    return new_call(parser, function, &arguments, result);
}

/* A function that nobody knows is an error when it is called, not when it is read. */
static enum status
unknown_function(struct parser *parser, struct slice iri, struct arguments *arguments,
                 const struct expression **result)
{
    struct function *function = arena_zero(parser->arena, sizeof *function);
    const struct slice name = arena_copy(parser->arena, iri);
    if (!function || !name.at) {
        return parser_too_large(parser);
    }
    *function = *function_find(SLICE("unknown function"));
    function->name = name.at;
    return new_call(parser, function, arguments, result);
}

/* An IRI, or a call of the function that it names. */
static enum status
parse_iri_or_function(struct parser *parser, bool call_needed, const struct expression **result)
{
    const char *at = parser->lexer.token.text.at;
    struct slice iri;
    TRY(parser_iri(parser, &iri));
    if (!parser_is(parser, "(") && parser->lexer.token.kind != TOKEN_NIL) {
        const struct term term = term_iri(iri);
        return call_needed ? lexer_expected(&parser->lexer, "'(' after the function's name")
                           : new_constant(parser, &term, result);
    }
    const struct function *function = function_find_iri(iri);
    struct arguments arguments = {0};
    TRY(parse_arguments(parser, &arguments, true));
    if (!function) {
        return unknown_function(parser, iri, &arguments, result);
    }
    TRY(check_arity(parser, at, function, &arguments));
    return new_call(parser, function, &arguments, result);
}

bool
parser_at_call(const struct parser *parser)
{
    enum aggregate_kind kind;
    const struct token *token = &parser->lexer.token;
    if (token->kind == TOKEN_WORD) {
        return parser_word(parser, "NOT") || parser_word(parser, "EXISTS") ||
               at_aggregate(parser, &kind) || function_find(token->text) != NULL;
    }
    return parser_at_iri(parser);
}

static enum status
parse_call(struct parser *parser, bool call_needed, const struct expression **result)
{
    enum aggregate_kind kind;
    if (parser_at_iri(parser)) {
        return parse_iri_or_function(parser, call_needed, result);
    }
    if (parser_word(parser, "EXISTS")) {
        return parse_exists(parser, false, result);
    }
    if (parser_word(parser, "NOT")) {
        TRY(parser_next(parser));
        return parse_exists(parser, true, result);
    }
    if (at_aggregate(parser, &kind)) {
        return parse_aggregate(parser, kind, result);
    }
    if (parser->lexer.token.kind != TOKEN_WORD || !function_find(parser->lexer.token.text)) {
        return lexer_expected(&parser->lexer, "an expression");
    }
    return parse_builtin(parser, result);
}

enum status
parse_constraint(struct parser *parser, const struct expression **result)
{
    if (!parser_is(parser, "(")) {
        return parse_call(parser, true, result);
    }
    TRY(parser_next(parser));
    TRY(parse_expression(parser, result));
    return parser_take(parser, ")");
}

/* ---- operators, weakest last ---- */

static enum status
parse_primary(struct parser *parser, const struct expression **result)
{
    if (parser_is(parser, "(")) {
        TRY(parser_next(parser));
        TRY(parse_expression(parser, result));
        return parser_take(parser, ")");
    }
    if (parser->lexer.token.kind == TOKEN_VARIABLE) {
        uint32_t slot;
        TRY(parser_variable_slot(parser, parser->lexer.token.value, &slot));
        TRY(parser_new_variable(parser, slot, result));
        return parser_next(parser);
    }
    if (parser_at_literal(parser)) {
        struct term term;
        TRY(parser_literal(parser, &term));
        return new_constant(parser, &term, result);
    }
    return parse_call(parser, false, result);
}

static enum status
parse_unary(struct parser *parser, const struct expression **result)
{
    static const struct {
        const char *sign, *name;
    } signs[] = {{"!", "!"}, {"-", "unary -"}, {"+", "unary +"}};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        if (parser_is(parser, signs[i].sign) && !parser_at_literal(parser)) {
            TRY(parser_enter(parser));
            TRY(parser_next(parser));
            TRY(parse_unary(parser, result));
            parser_leave(parser);
            return new_binary(parser, signs[i].name, *result, NULL, result);
        }
    }
    return parse_primary(parser, result);
}

static enum status
parse_product(struct parser *parser, const struct expression **result)
{
    TRY(parse_unary(parser, result));
    while (parser_is(parser, "*") || parser_is(parser, "/")) {
        const char *name = parser_is(parser, "*") ? "*" : "/";
        const struct expression *right;
        TRY(parser_next(parser));
        TRY(parse_unary(parser, &right));
        TRY(new_binary(parser, name, *result, right, result));
    }
    return STATUS_OK;
}

static enum status
parse_sum(struct parser *parser, const struct expression **result)
{
    TRY(parse_product(parser, result));
    while (parser_is(parser, "+") || parser_is(parser, "-")) {
        const char *name = parser_is(parser, "+") ? "+" : "-";
        const struct expression *right;
        TRY(parser_next(parser));
        TRY(parse_product(parser, &right));
        TRY(new_binary(parser, name, *result, right, result));
    }
    return STATUS_OK;
}

static enum status
parse_in(struct parser *parser, const struct expression *left, const char *name,
         const struct expression **result)
{
    struct arguments arguments = {0};
    TRY(parser_take_word(parser, "IN"));
    TRY(append(parser, &arguments, left));
    TRY(parse_arguments(parser, &arguments, false));
    return new_call(parser, function_find(slice_string(name)), &arguments, result);
}

enum status
parser_not_in(struct parser *parser, uint32_t slot, const uint32_t *constants, size_t count,
              const struct expression **result)
{
    struct arguments arguments = {0};
    const struct expression *item;
    TRY(parser_new_variable(parser, slot, &item));
    TRY(append(parser, &arguments, item));
    for (size_t i = 0; i < count; i++) {
        struct expression *constant = new_expression(parser, EXPRESSION_CONSTANT);
        if (!constant) {
            return parser_too_large(parser);
        }
        constant->number = constants[i];
        TRY(append(parser, &arguments, constant));
    }
    return new_call(parser, function_find(SLICE("not in list")), &arguments, result);
}

static enum status
parse_relation(struct parser *parser, const struct expression **result)
{
    static const char *const relations[] = {"=", "!=", "<", ">", "<=", ">="};
    TRY(parse_sum(parser, result));
    for (size_t i = 0; i < sizeof relations / sizeof *relations; i++) {
        if (parser_is(parser, relations[i])) {
            const struct expression *right;
            TRY(parser_next(parser));
            TRY(parse_sum(parser, &right));
            return new_binary(parser, relations[i], *result, right, result);
        }
    }
    if (parser_word(parser, "IN")) {
        return parse_in(parser, *result, "in list", result);
    }
    if (parser_word(parser, "NOT")) {
        TRY(parser_next(parser));
        return parse_in(parser, *result, "not in list", result);
    }
    return STATUS_OK;
}

/* Operands of && and || become the arguments of one call: a long chain is not a deep tree. */
static enum status
parse_chain(struct parser *parser, const char *sign,
            enum status (*operand)(struct parser *, const struct expression **),
            const struct expression **result)
{
    TRY(operand(parser, result));
    if (!parser_is(parser, sign)) {
        return STATUS_OK;
    }
    struct arguments arguments = {0};
    TRY(append(parser, &arguments, *result));
    while (parser_is(parser, sign)) {
        const struct expression *right;
        TRY(parser_next(parser));
        TRY(operand(parser, &right));
        TRY(append(parser, &arguments, right));
    }
    return new_call(parser, function_find(slice_string(sign)), &arguments, result);
}

static enum status
parse_conjunction(struct parser *parser, const struct expression **result)
{
    return parse_chain(parser, "&&", parse_relation, result);
}

enum status
parse_expression(struct parser *parser, const struct expression **result)
{
    TRY(parser_enter(parser));
    TRY(parse_chain(parser, "||", parse_conjunction, result));
    parser_leave(parser);
    return STATUS_OK;
}
