#include "index/query/functions/expression.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"

enum { SCRATCH_MAXIMUM = 256 << 20, SCRATCH_KEEP = 16 << 10, MILLISECOND_SCALE = 3 };
enum { RESULTS = 16384, WORTH_KEEPING = 512 /* evaluations */ };

void
evaluation_init(struct evaluation *evaluation, const struct query *query,
                struct dictionary *dictionary, const oid *constants, const struct value *values,
                uint64_t now_ms)
{
    *evaluation = (struct evaluation){
        .query = query, .dictionary = dictionary, .constants = constants, .values = values};
    arena_init(&evaluation->scratch, SCRATCH_MAXIMUM);
    regex_cache_init(&evaluation->regexes);
    clock_text(now_ms ? now_ms : clock_wall_ms(), 1, evaluation->now_text);
    evaluation->now = term_literal(slice_string(evaluation->now_text));
    evaluation->now.datatype = SLICE(XSD "dateTime");
    evaluation->random[0] = clock_wall_ms() ^ (uint64_t)(uintptr_t)evaluation << 16;
    evaluation->random[1] = clock_monotonic_us() | 1;
}

void
evaluation_release(struct evaluation *evaluation)
{
    if (evaluation->results) {
        memory_give(evaluation->dictionary->spill->account, RESULTS * sizeof *evaluation->results);
        free(evaluation->results);
    }
    arena_release(&evaluation->scratch);
    regex_cache_release(&evaluation->regexes);
}

void
evaluation_next_row(struct evaluation *evaluation)
{
    if (evaluation->depth == 0) {
        evaluation->label_count = 0;
        if (evaluation->scratch.used > SCRATCH_KEEP) {
            arena_reset(&evaluation->scratch);
        }
        dictionary_trim(evaluation->dictionary);
    }
}

enum status
evaluation_check(const struct evaluation *evaluation, struct reason *why)
{
    return evaluation->status == STATUS_OK
               ? STATUS_OK
               : status_fail(why, evaluation->status, "%s", evaluation->reason.text);
}

bool
evaluation_text(struct evaluation *evaluation, struct slice text, struct value *out)
{
    const struct slice copy = arena_copy(&evaluation->scratch, text);
    *out = value_string(copy);
    return copy.at != NULL;
}

/* Keeps the first status that must end the query. */
static bool
fatal(struct evaluation *evaluation, enum status status, const struct reason *why)
{
    if (evaluation->status == STATUS_OK) {
        evaluation->status = status;
        evaluation->reason = *why;
    }
    return false;
}

bool
identifier_value(struct evaluation *evaluation, oid id, struct value *out)
{
    struct term term;
    struct reason why;
    if (id == OID_NONE) {
        return false;
    }
    const enum status status = dictionary_term(evaluation->dictionary, id, &term, &why);
    if (status != STATUS_OK) {
        return fatal(evaluation, status, &why);
    }
    value_of_term(&term, out);
    return true;
}

bool
identifier_kept_value(struct evaluation *evaluation, oid id, struct value *out)
{
    const size_t trims = evaluation->dictionary->trims;
    const size_t place = hash_mix(0, id) % KEPT_VALUES;
    if (id != OID_NONE && evaluation->kept[place].id == id &&
        evaluation->kept[place].trims == trims) {
        *out = evaluation->kept[place].value;
        return true;
    }
    if (!identifier_value(evaluation, id, out)) {
        return false;
    }
    evaluation->kept[place].id = id;
    evaluation->kept[place].trims = trims;
    evaluation->kept[place].value = *out;
    return true;
}

/* The moment of a date or dateTime. */
static struct moment
moment_of(const struct oid_value *value)
{
    return (struct moment){.year = value->year,
                           .month = value->month,
                           .day = value->day,
                           .hour = value->hour,
                           .minute = value->minute,
                           .second = {value->milliseconds, MILLISECOND_SCALE},
                           .has_zone = value->utc};
}

bool
identifier_says(const struct evaluation *evaluation, oid id, struct oid_value *value)
{
    const struct quad_source *source = evaluation->dictionary->source;
    return oid_is_of_source(id) && source->value && source->value(id, value);
}

bool
identifier_number(struct evaluation *evaluation, oid id, struct value *out)
{
    struct oid_value said;
    if (!identifier_says(evaluation, id, &said)) {
        return identifier_value(evaluation, id, out);
    }
    if (said.kind == OID_VALUE_INTEGER) {
        *out = value_integer(said.integer);
        return true;
    }
    *out = (struct value){.kind = said.kind == OID_VALUE_DATE ? VALUE_DATE : VALUE_DATE_TIME,
                          .moment = moment_of(&said)};
    return true;
}

/* The identifier of an integer that was computed, if the source says it without a look at terms. */
static oid
integer_id(const struct evaluation *evaluation, const struct value *value)
{
    const struct quad_source *source = evaluation->dictionary->source;
    if (value->has_term || value->kind != VALUE_INTEGER || !source->integer ||
        value->decimal.scale != 0 || value->decimal.digits > INT64_MAX ||
        value->decimal.digits < INT64_MIN) {
        return OID_NONE;
    }
    return source->integer((int64_t)value->decimal.digits);
}

oid
value_id(struct evaluation *evaluation, const struct value *value)
{
    struct term term;
    struct reason why;
    oid id = integer_id(evaluation, value);
    if (id != OID_NONE) {
        return id;
    }
    if (!value_term(value, &evaluation->scratch, &term)) {
        return OID_NONE;
    }
    const enum status status = dictionary_intern(evaluation->dictionary, &term, &id, &why);
    if (status != STATUS_OK) {
        (void)fatal(evaluation, status, &why);
        return OID_NONE;
    }
    return id;
}

static bool
evaluate_exists(struct evaluation *evaluation, const struct expression *expression, const oid *row,
                struct value *out)
{
    bool answer = false;
    struct reason why;
    evaluation->depth++;
    const enum status status =
        evaluation->exists(evaluation->exists_context, expression, row, &answer, &why);
    evaluation->depth--;
    *out = value_boolean(answer);
    return status == STATUS_OK || fatal(evaluation, status, &why);
}

static bool
call_strict(struct evaluation *evaluation, const struct expression *call, const oid *row,
            struct value *out)
{
    enum { USUAL = 3 };
    struct value usual[USUAL], *arguments = usual;
    if (call->count > USUAL) {
        arguments = arena_alloc(&evaluation->scratch, call->count * sizeof *arguments);
        if (!arguments) {
            return false;
        }
    }
    for (size_t i = 0; i < call->count; i++) {
        const struct expression *argument = call->arguments[i];
        const bool number = call->function->numbers && argument->kind == EXPRESSION_VARIABLE;
        if (!(number ? identifier_number(evaluation, row[argument->number], &arguments[i])
                     : expression_value(evaluation, argument, row, &arguments[i]))) {
            return false;
        }
    }
    return call->function->apply(evaluation, arguments, call->count, out);
}

bool
expression_value(struct evaluation *evaluation, const struct expression *expression, const oid *row,
                 struct value *out)
{
    switch (expression->kind) {
    case EXPRESSION_CONSTANT:
        *out = evaluation->values[expression->number];
        return true;
    case EXPRESSION_VARIABLE:
        return identifier_value(evaluation, row[expression->number], out);
    case EXPRESSION_EXISTS:
        return evaluate_exists(evaluation, expression, row, out);
    default:
        return expression->function->form
                   ? expression->function->form(evaluation, expression, row, out)
                   : call_strict(evaluation, expression, row, out);
    }
}

oid
operand_id(const struct evaluation *evaluation, const struct expression *operand, const oid *row)
{
    return operand->kind == EXPRESSION_VARIABLE   ? row[operand->number]
           : operand->kind == EXPRESSION_CONSTANT ? evaluation->constants[operand->number]
                                                  : OID_NONE;
}

/* Tells whether two identifiers are of terms of which one is no literal, and so is equal to itself
 * alone. */
static bool
are_terms(const struct quad_source *source, oid a, oid b)
{
    return source->kind && oid_is_of_source(a) && oid_is_of_source(b) &&
           (source->kind(a) != TERM_LITERAL || source->kind(b) != TERM_LITERAL);
}

int
identifiers_equal(const struct evaluation *evaluation, oid a, oid b)
{
    const struct quad_source *source = evaluation->dictionary->source;
    struct oid_value said;
    if (quad_source_compare(source, a, b) != 0) {
        return 0;
    }
    if (are_terms(source, a, b)) {
        return a == b;
    }
    return a == b && identifier_says(evaluation, a, &said) ? 1 : -1;
}

/* A comparison of two identifiers that needs no look at terms, since the source says which value is
 * before the other or only the terms count: 1 or 0; -1: it needs one. */
int
expression_test_identifiers(const struct evaluation *evaluation, const struct expression *call,
                            const oid *row)
{
    const unsigned relation = call->kind == EXPRESSION_CALL ? call->function->relation : 0;
    if (!relation) {
        return -1;
    }
    const struct quad_source *source = evaluation->dictionary->source;
    const oid a = operand_id(evaluation, call->arguments[0], row);
    const oid b = operand_id(evaluation, call->arguments[1], row);
    const int compared = quad_source_compare(source, a, b);
    if (compared != 0) {
        return (relation & (compared < 0 ? RELATION_LESS : RELATION_GREATER)) != 0;
    }
    const bool equality = relation == RELATION_EQUAL || relation == RELATION_UNEQUAL;
    const int equal = equality ? identifiers_equal(evaluation, a, b) : -1;
    return equal < 0 ? -1 : equal == (relation == RELATION_EQUAL);
}

int
expression_test(struct evaluation *evaluation, const struct expression *expression, const oid *row)
{
    struct value value;
    const int compared = expression_test_identifiers(evaluation, expression, row);
    if (compared >= 0) {
        return compared;
    }
    return expression_value(evaluation, expression, row, &value) ? value_effective_boolean(&value)
                                                                 : -1;
}

oid
expression_id(struct evaluation *evaluation, const struct expression *expression, const oid *row)
{
    struct value value;
    if (expression->kind == EXPRESSION_VARIABLE) {
        return row[expression->number];
    }
    if (expression->kind == EXPRESSION_CONSTANT) {
        return evaluation->constants[expression->number];
    }
    if (expression->kind == EXPRESSION_CALL && expression->function->id) {
        return expression->function->id(evaluation, expression, row);
    }
    return expression_value(evaluation, expression, row, &value) ? value_id(evaluation, &value)
                                                                 : OID_NONE;
}

/* ---- rows like the one before ---- */

void
remembered_prepare(struct remembered *remembered, const struct expression *expression)
{
    *remembered = (struct remembered){.expression = expression};
    if (expression->kind != EXPRESSION_CALL || expression->exists || expression->volatile_value) {
        return;
    }
    for (uint32_t slot = slots_next(&expression->slots, 0); slot < SLOTS_MAXIMUM;
         slot = slots_next(&expression->slots, slot + 1)) {
        if (remembered->count == REMEMBERED_SLOTS) {
            return;
        }
        remembered->slots[remembered->count++] = slot;
    }
    remembered->steady = true;
}

/* Tells whether the row is like the one before; if not, it is the one before from now on. */
static bool
is_again(struct remembered *remembered, const oid *row)
{
    bool again = remembered->known;
    for (size_t i = 0; i < remembered->count; i++) {
        again = again && remembered->seen[i] == row[remembered->slots[i]];
    }
    for (size_t i = 0; i < remembered->count && !again; i++) {
        remembered->seen[i] = row[remembered->slots[i]];
    }
    remembered->known = true;
    return again;
}

int
remembered_test(struct remembered *remembered, struct evaluation *evaluation, const oid *row)
{
    if (!remembered->steady || !is_again(remembered, row)) {
        remembered->test = expression_test(evaluation, remembered->expression, row);
    }
    return remembered->test;
}

/* The place of what the expression gave for the row's value; NULL: it is not kept, since that does
 * not pay yet or there is no room. */
static struct known_result *
find_result(struct remembered *remembered, struct evaluation *evaluation, const oid *row)
{
    struct spill *spill = evaluation->dictionary->spill;
    const size_t bytes = RESULTS * sizeof *evaluation->results;
    const oid value = row[remembered->slots[0]];
    struct oid_value said;
    if (remembered->count != 1 || remembered->asked++ < WORTH_KEEPING ||
        identifier_says(evaluation, value, &said)) {
        return NULL;
    }
    if (!evaluation->results && spill_may_take(spill, bytes) &&
        memory_take(spill->account, bytes, "results of expressions", NULL) == STATUS_OK) {
        evaluation->results = memory_zero(RESULTS, sizeof *evaluation->results);
    }
    const uint64_t hash = (value ^ (uintptr_t)remembered) * UINT64_C(0x9E3779B97F4A7C15);
    return evaluation->results ? &evaluation->results[(hash ^ hash >> 32) % RESULTS] : NULL;
}

oid
remembered_id(struct remembered *remembered, struct evaluation *evaluation, const oid *row)
{
    if (remembered->steady && is_again(remembered, row)) {
        return remembered->id;
    }
    struct known_result *result =
        remembered->steady ? find_result(remembered, evaluation, row) : NULL;
    const oid value = result ? row[remembered->slots[0]] : OID_NONE;
    if (result && result->owner == remembered && result->value == value) {
        remembered->id = result->id;
        return result->id;
    }
    remembered->id = expression_id(evaluation, remembered->expression, row);
    if (result) {
        *result = (struct known_result){remembered, value, remembered->id};
    }
    return remembered->id;
}
