/* What evaluating expressions (index/query/functions/expression.c) keeps between rows, asks of the
 * source of quads, and says when that fails. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "rdf/core/vocabulary.h"
#include "tests/unit/query_parts/expression_bed.h"

enum { SOME_MEMORY = 64 << 20 };

struct expression_bed bed;

static enum status
resolve(void *context, oid id, struct arena *arena, struct term *term, struct reason *why)
{
    char text[32];
    (void)context;
    bed.resolved++;
    if (bed.failure != STATUS_OK) {
        return status_fail(why, bed.failure, "%s", bed.reason);
    }
    if (id == A_DATE || id == A_MOMENT) {
        *term = term_literal(id == A_DATE ? SLICE("0020-03-09") : SLICE("0021-04-10T05:06:00"));
        term->datatype = id == A_DATE ? SLICE(XSD "date") : SLICE(XSD "dateTime");
        return STATUS_OK;
    }
    snprintf(text, sizeof text, id < IRIS ? "%u" : "e:%u", (unsigned)id);
    const struct slice copy = arena_copy(arena, slice_string(text));
    *term = id < IRIS ? term_literal(copy) : term_iri(copy);
    if (id < IRIS) {
        term->datatype = SLICE(XSD "integer");
    }
    return STATUS_OK;
}

static enum status
lookup(void *context, const struct term *term, oid *id, struct reason *why)
{
    (void)context;
    (void)term;
    bed.looked_up++;
    *id = OID_NONE;
    return bed.failure == STATUS_OK ? STATUS_OK : status_fail(why, bed.failure, "%s", bed.reason);
}

bool
value_said(oid id, struct oid_value *value)
{
    *value =
        id == A_DATE ? (struct oid_value){.kind = OID_VALUE_DATE, .year = 20, .month = 3, .day = 9}
        : id == A_MOMENT ? (struct oid_value){.kind = OID_VALUE_DATE_TIME,
                                              .year = 21,
                                              .month = 4,
                                              .day = 10,
                                              .hour = 5,
                                              .minute = 6}
                         : (struct oid_value){.kind = OID_VALUE_INTEGER, .integer = (int64_t)id};
    return id < IRIS || id == A_DATE || id == A_MOMENT;
}

enum term_kind
kind_said(oid id)
{
    return id < IRIS || id == A_DATE || id == A_MOMENT ? TERM_LITERAL : TERM_IRI;
}

oid
id_of_integer(int64_t integer)
{
    return integer == 8 ? OID_NONE : FIRST_INTEGER + (oid)(integer & 0xff);
}

int
begin(void **state)
{
    (void)state;
    memset(&bed, 0, sizeof bed);
    bed.source = (struct quad_source){.resolve = resolve, .lookup = lookup};
    bed.account.maximum = SOME_MEMORY;
    spill_init(&bed.spill, &bed.account, NULL, 0);
    dictionary_init(&bed.dictionary, &bed.source, &bed.spill);
    evaluation_init(&bed.evaluation, NULL, &bed.dictionary, NULL, NULL, 1700000000123);
    return 0;
}

int
end(void **state)
{
    (void)state;
    evaluation_release(&bed.evaluation);
    dictionary_release(&bed.dictionary);
    spill_release(&bed.spill);
    return bed.account.used == 0 ? 0 : -1;
}

/* ---- rows ---- */

/* Text that rows computed is forgotten when there is much of it, but not while an outer row's
 * expression asks for EXISTS, since that still holds some. */
static void
text_of_rows_is_forgotten(void **state)
{
    enum { KEPT = 16 << 10 };
    static const struct {
        size_t bytes;
        unsigned depth;
        bool forgotten;
    } cases[] = {{KEPT, 0, false}, {KEPT + 64, 0, true}, {KEPT + 64, 1, false}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        arena_reset(&bed.evaluation.scratch);
        assert_non_null(arena_alloc(&bed.evaluation.scratch, cases[i].bytes));
        const size_t used = bed.evaluation.scratch.used;
        bed.evaluation.label_count = 3;
        bed.evaluation.depth = cases[i].depth;
        evaluation_next_row(&bed.evaluation);
        assert_int_equal(bed.evaluation.scratch.used, cases[i].forgotten ? 0 : used);
        assert_int_equal(bed.evaluation.label_count, cases[i].depth == 0 ? 0 : 3);
    }
    bed.evaluation.depth = 0;
    assert_null(arena_alloc(&bed.evaluation.scratch, (256 << 20) + 1)); /* it has a limit */
}

/* Terms that were resolved are forgotten between rows when they are many MiB, or a query over many
 * rows would end for want of memory; inside EXISTS the outer row has some of them. */
static void
terms_of_rows_are_forgotten(void **state)
{
    (void)state;
    assert_non_null(arena_alloc(&bed.dictionary.resolved, 32 << 20));
    bed.evaluation.depth = 1;
    evaluation_next_row(&bed.evaluation);
    assert_int_equal(bed.dictionary.trims, 0);
    bed.evaluation.depth = 0;
    evaluation_next_row(&bed.evaluation);
    assert_int_equal(bed.dictionary.trims, 1);
    evaluation_next_row(&bed.evaluation);
    assert_int_equal(bed.dictionary.trims, 1);
}

/* ---- values of identifiers ---- */

static void
the_first_failure_ends_the_query(void **state)
{
    struct value value;
    struct reason why = {""};
    (void)state;
    assert_int_equal(evaluation_check(&bed.evaluation, &why), STATUS_OK);
    assert_true(identifier_value(&bed.evaluation, 7, &value));
    assert_int_equal(value.kind, VALUE_INTEGER);
    assert_true(value.decimal.digits == 7);
    bed.failure = STATUS_CORRUPT;
    bed.reason = "the first";
    assert_false(identifier_value(&bed.evaluation, 8, &value));
    bed.failure = STATUS_SYSTEM;
    bed.reason = "the second";
    assert_false(identifier_value(&bed.evaluation, 9, &value));
    assert_int_equal(evaluation_check(&bed.evaluation, &why), STATUS_CORRUPT);
    assert_string_equal(why.text, "the first");
}

/* What is not bound has no value; to ask for it is an error of the expression, not of the query. */
static void
what_is_unbound_has_no_value(void **state)
{
    struct value value;
    (void)state;
    assert_false(identifier_value(&bed.evaluation, OID_NONE, &value));
    assert_false(identifier_kept_value(&bed.evaluation, OID_NONE, &value));
    assert_false(identifier_kept_value(&bed.evaluation, OID_NONE, &value));
    assert_int_equal(bed.resolved, 0);
    assert_int_equal(bed.evaluation.status, STATUS_OK);
}

/* A value that is asked for again is the one that was kept, unless the terms of which it was made
 * have been forgotten meanwhile. */
static void
values_are_kept_as_long_as_their_terms(void **state)
{
    struct value value;
    size_t kept = 0;
    (void)state;
    assert_true(identifier_kept_value(&bed.evaluation, 7, &value));
    assert_true(value.decimal.digits == 7);
    while (kept < KEPT_VALUES && bed.evaluation.kept[kept].id != 7) {
        kept++;
    }
    assert_true(kept < KEPT_VALUES);
    bed.evaluation.kept[kept].value = value_integer(70); /* tells it from one that is made anew */
    assert_true(identifier_kept_value(&bed.evaluation, 7, &value));
    assert_true(value.decimal.digits == 70);
    assert_int_equal(bed.resolved, 1);
    bed.dictionary.trims++;
    assert_true(identifier_kept_value(&bed.evaluation, 7, &value));
    assert_true(value.decimal.digits == 7);
    bed.evaluation.kept[kept].value = value_integer(70);
    assert_true(identifier_kept_value(&bed.evaluation, 7, &value));
    assert_true(value.decimal.digits == 70);
    bed.failure = STATUS_SYSTEM;
    bed.reason = "no answer";
    assert_false(identifier_kept_value(&bed.evaluation, 8, &value));
    assert_false(identifier_kept_value(&bed.evaluation, 8, &value));
    assert_int_equal(bed.resolved, 3);
}

/* Where identifiers say integers, no term is looked at; else its term is. */
static void
numbers_are_what_identifiers_say(void **state)
{
    struct value value;
    struct oid_value said;
    (void)state;
    assert_false(identifier_says(&bed.evaluation, 7, &said)); /* the source says none */
    bed.source.value = value_said;
    assert_true(identifier_says(&bed.evaluation, 7, &said));
    assert_false(identifier_says(&bed.evaluation, IRIS, &said));
    assert_false(identifier_says(&bed.evaluation, OID_NONE, &said));
    assert_false(identifier_says(&bed.evaluation, OID_LOCAL, &said));
    assert_true(identifier_number(&bed.evaluation, 7, &value));
    assert_int_equal(value.kind, VALUE_INTEGER);
    assert_true(value.decimal.digits == 7 && !value.has_term);
    assert_int_equal(bed.resolved, 0);
    assert_true(identifier_number(&bed.evaluation, IRIS, &value));
    assert_int_equal(value.kind, VALUE_IRI);
    assert_int_equal(bed.resolved, 1);
}

/* ---- identifiers of values ---- */

/* The source's identifier of an integer stands for its canonical literal alone: what was written
 * otherwise, is no integer or is beyond 64 bits is looked up as a term. */
static void
integers_have_their_identifiers(void **state)
{
    struct term written = term_literal(SLICE("07"));
    struct value as_written, large = value_integer(0), small = value_integer(0);
    struct value scaled = value_integer(75), highest = value_integer(INT64_MAX);
    struct value lowest = value_integer(INT64_MIN);
    (void)state;
    written.datatype = SLICE(XSD "integer");
    value_of_term(&written, &as_written);
    assert_true(as_written.has_term);
    large.decimal.digits = INT64_MAX;
    large.decimal.digits += 1;
    small.decimal.digits = INT64_MIN;
    small.decimal.digits -= 1;
    scaled.decimal.scale = 1;
    struct value seven = value_integer(7), eight = value_integer(8);
    struct value decimal = value_decimal((struct decimal){.digits = 75, .scale = 1});
    const struct {
        const struct value *value;
        oid id; /* OID_NONE: of a term that is not the source's */
    } cases[] = {
        {&seven, FIRST_INTEGER + 7}, {&eight, OID_NONE},
        {&as_written, OID_NONE},     {&large, OID_NONE},
        {&small, OID_NONE},          {&scaled, OID_NONE},
        {&decimal, OID_NONE},        {&highest, FIRST_INTEGER + 0xff},
        {&lowest, FIRST_INTEGER},
    };
    for (unsigned source_says = 0; source_says < 2; source_says++) {
        bed.source.integer = source_says ? id_of_integer : NULL;
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
            const bool said = source_says && cases[i].id != OID_NONE;
            const unsigned before = bed.looked_up;
            const oid id = value_id(&bed.evaluation, cases[i].value);
            if (said) {
                assert_int_equal(id, cases[i].id);
                assert_int_equal(bed.looked_up, before);
            } else {
                assert_true(id >= OID_LOCAL);
            }
        }
    }
    assert_int_equal(bed.evaluation.status, STATUS_OK);
    bed.failure = STATUS_CORRUPT;
    bed.reason = "a page is damaged";
    struct value other = value_string(SLICE("not seen before"));
    assert_int_equal(value_id(&bed.evaluation, &other), OID_NONE);
    assert_int_equal(bed.evaluation.status, STATUS_CORRUPT);
    assert_string_equal(bed.evaluation.reason.text, "a page is damaged");
}

/* ---- EXISTS ---- */

static unsigned depth_within;
static bool exists_answer;
static enum status exists_status;

static enum status
exists(void *context, const struct expression *expression, const oid *row, bool *answer,
       struct reason *why)
{
    assert_ptr_equal(context, &bed);
    assert_int_equal(expression->kind, EXPRESSION_EXISTS);
    assert_int_equal(row[0], 7);
    depth_within = bed.evaluation.depth;
    *answer = exists_answer;
    return exists_status == STATUS_OK ? STATUS_OK : status_fail(why, exists_status, "too long");
}

static void
exists_is_asked_one_level_deeper(void **state)
{
    const struct expression asks = {.kind = EXPRESSION_EXISTS};
    const oid row[] = {7};
    struct value value;
    (void)state;
    bed.evaluation.exists = exists;
    bed.evaluation.exists_context = &bed;
    exists_status = STATUS_OK;
    for (unsigned outer = 0; outer < 2; outer++) {
        for (int answer = 0; answer < 2; answer++) {
            bed.evaluation.depth = outer;
            exists_answer = answer;
            assert_true(expression_value(&bed.evaluation, &asks, row, &value));
            assert_int_equal(value.kind, VALUE_BOOLEAN);
            assert_int_equal(value.boolean, answer);
            assert_int_equal(depth_within, outer + 1);
            assert_int_equal(bed.evaluation.depth, outer);
            assert_int_equal(expression_test(&bed.evaluation, &asks, row), answer);
        }
    }
    exists_status = STATUS_LIMIT;
    assert_false(expression_value(&bed.evaluation, &asks, row, &value));
    assert_int_equal(bed.evaluation.status, STATUS_LIMIT);
    assert_string_equal(bed.evaluation.reason.text, "too long");
    bed.evaluation.depth = 0;
}

/* ---- comparisons by identifiers ---- */

/* IRIs have no order; of integers some are too near to each other to be told apart. */
static bool
before(oid a, oid b)
{
    return a < IRIS && b < IRIS && a / 10 < b / 10;
}

static int
compared(unsigned relation, oid a, oid b)
{
    const struct function function = {.relation = (uint8_t)relation};
    const struct expression left = {.kind = EXPRESSION_VARIABLE, .number = 0};
    const struct expression right = {.kind = EXPRESSION_VARIABLE, .number = 1};
    const struct expression *operands[] = {&left, &right};
    const struct expression call = {
        .kind = EXPRESSION_CALL, .function = &function, .arguments = operands, .count = 2};
    return expression_test_identifiers(&bed.evaluation, &call, (const oid[]){a, b});
}

/* What identifiers say of a comparison is 1 or 0; of what they do not say the terms decide. */
static void
identifiers_decide_what_they_say(void **state)
{
    enum { LESS = RELATION_LESS, EQUAL = RELATION_EQUAL, MORE = RELATION_GREATER };
    static const struct {
        oid a, b;
        int less, equal, more, unequal, at_most, at_least;
    } cases[] = {
        {5, 25, 1, 0, 0, 1, 1, 0},
        {25, 5, 0, 0, 1, 1, 0, 1},
        {21, 25, -1, -1, -1, -1, -1, -1},               /* near to each other */
        {25, 25, -1, 1, -1, 0, -1, -1},                 /* the same, and a number */
        {IRIS, IRIS, -1, 1, -1, 0, -1, -1},             /* the same IRI */
        {IRIS, IRIS + 1, -1, 0, -1, 1, -1, -1},         /* two IRIs */
        {25, IRIS, -1, 0, -1, 1, -1, -1},               /* an IRI is equal to no literal */
        {OID_LOCAL, OID_LOCAL, -1, -1, -1, -1, -1, -1}, /* what was computed says nothing */
        {25, OID_NONE, -1, -1, -1, -1, -1, -1},
        {OID_NONE, OID_NONE, -1, -1, -1, -1, -1, -1},
    };
    (void)state;
    bed.source.before = before;
    bed.source.kind = kind_said;
    bed.source.value = value_said;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const oid a = cases[i].a, b = cases[i].b;
        assert_int_equal(compared(LESS, a, b), cases[i].less);
        assert_int_equal(compared(EQUAL, a, b), cases[i].equal);
        assert_int_equal(compared(MORE, a, b), cases[i].more);
        assert_int_equal(compared(RELATION_UNEQUAL, a, b), cases[i].unequal);
        assert_int_equal(compared(LESS + EQUAL, a, b), cases[i].at_most);
        assert_int_equal(compared(MORE + EQUAL, a, b), cases[i].at_least);
        assert_int_equal(identifiers_equal(&bed.evaluation, a, b), cases[i].equal);
        assert_int_equal(compared(0, a, b), -1); /* no comparison */
    }
    /* The terms of two IRIs need not be looked at for a test, and those of two numbers must. */
    bed.source.value = NULL;
    assert_int_equal(compared(EQUAL, 25, 25), -1); /* it may be NaN */
    assert_int_equal(compared(EQUAL, IRIS, IRIS), 1);
    bed.source.kind = NULL;
    assert_int_equal(compared(EQUAL, IRIS, IRIS), -1);
    assert_int_equal(bed.resolved, 0);
}

/* A test that identifiers decide does not come to its function. */
static bool
apply_never(struct evaluation *evaluation, const struct value *arguments, size_t count,
            struct value *out)
{
    (void)evaluation;
    (void)count;
    assert_true(arguments[0].decimal.digits / 10 == arguments[1].decimal.digits / 10);
    *out = value_boolean(arguments[0].decimal.digits < arguments[1].decimal.digits);
    return true;
}

static void
tests_look_at_terms_last(void **state)
{
    static const struct function less = {.relation = RELATION_LESS, .apply = apply_never};
    const struct expression left = {.kind = EXPRESSION_VARIABLE, .number = 0};
    const struct expression right = {.kind = EXPRESSION_CONSTANT, .number = 1};
    const struct expression *operands[] = {&left, &right};
    const struct expression call = {
        .kind = EXPRESSION_CALL, .function = &less, .arguments = operands, .count = 2};
    const oid constants[] = {OID_NONE, 25};
    const struct value values[] = {value_integer(0), value_integer(25)};
    (void)state;
    bed.source.before = before;
    bed.evaluation.constants = constants;
    bed.evaluation.values = values;
    assert_int_equal(operand_id(&bed.evaluation, &left, (const oid[]){7}), 7);
    assert_int_equal(operand_id(&bed.evaluation, &right, (const oid[]){7}), 25);
    assert_int_equal(operand_id(&bed.evaluation, &call, (const oid[]){7}), OID_NONE);
    assert_int_equal(expression_test(&bed.evaluation, &call, (const oid[]){7}), 1);
    assert_int_equal(expression_test(&bed.evaluation, &call, (const oid[]){31}), 0);
    assert_int_equal(bed.resolved, 0);
    assert_int_equal(expression_test(&bed.evaluation, &call, (const oid[]){24}), 1);
    assert_int_equal(expression_test(&bed.evaluation, &call, (const oid[]){26}), 0);
    assert_int_equal(bed.resolved, 2);
    assert_int_equal(expression_id(&bed.evaluation, &left, (const oid[]){7}), 7);
    assert_int_equal(expression_id(&bed.evaluation, &right, (const oid[]){7}), 25);
    assert_int_equal(bed.resolved, 2);
}

/* ---- what expressions of one variable gave ---- */

static unsigned applied;

static bool
apply_counted(struct evaluation *evaluation, const struct value *arguments, size_t count,
              struct value *out)
{
    (void)evaluation;
    assert_int_equal(count, 1);
    applied++;
    *out = arguments[0];
    return true;
}

/* Makes an expression of the variable of slot 0. */
static const struct expression *
call_of_a_variable(void)
{
    static const struct function counted = {.name = "COUNTED", .apply = apply_counted};
    static struct expression variable, call;
    static const struct expression *arguments[] = {&variable};
    variable = (struct expression){.kind = EXPRESSION_VARIABLE, .number = 0};
    call = (struct expression){
        .kind = EXPRESSION_CALL, .function = &counted, .arguments = arguments, .count = 1};
    slots_add(&call.slots, 0);
    return &call;
}

/* Results are kept from the 513th different row on, when they pay; their table is counted. */
static void
results_are_kept_when_they_pay(void **state)
{
    enum { WORTH = 512, TABLE = 16384 * sizeof(struct known_result) };
    struct remembered remembered;
    (void)state;
    applied = 0;
    remembered_prepare(&remembered, call_of_a_variable());
    assert_true(remembered.steady);
    assert_int_equal(remembered.count, 1);
    oid row[] = {1}, first = OID_NONE;
    const size_t before = bed.account.used;
    for (oid i = 0; i < WORTH; i++) {
        row[0] = 1 + i % 2;
        const oid id = remembered_id(&remembered, &bed.evaluation, row);
        assert_true(id >= OID_LOCAL);
        first = i == 0 ? id : first;
        assert_int_equal(remembered_id(&remembered, &bed.evaluation, row), id);
    }
    assert_int_equal(applied, WORTH); /* the row before is known in any case */
    const size_t least = bed.account.used;
    assert_true(least - before < TABLE);
    for (unsigned i = 0; i < 2 * WORTH; i++) {
        row[0] = 1 + i % 2;
        const oid id = remembered_id(&remembered, &bed.evaluation, row);
        assert_int_equal(id == first, i % 2 == 0);
        assert_int_equal(remembered_id(&remembered, &bed.evaluation, row), id);
    }
    /* Where two values have one place neither stays; these two have places of their own unless
     * the address of what is remembered puts them together. */
    assert_true(applied == WORTH + 2 || applied == 3 * WORTH);
    assert_int_equal(bed.account.used, least + TABLE);
}

/* Without room for the table, and where the identifier says the value, nothing is kept. */
static void
results_are_not_kept_without_room(void **state)
{
    enum { ROWS = 1500 };
    (void)state;
    for (unsigned says = 0; says < 2; says++) {
        struct remembered remembered;
        oid row[] = {1};
        applied = 0;
        remembered_prepare(&remembered, call_of_a_variable());
        (void)remembered_id(&remembered, &bed.evaluation, (const oid[]){2});
        const size_t used = bed.account.used;
        bed.source.value = says ? value_said : NULL;
        bed.account.maximum = says ? SOME_MEMORY : used + 100;
        for (unsigned i = 0; i < ROWS; i++) {
            row[0] = 1 + i % 2;
            assert_true(remembered_id(&remembered, &bed.evaluation, row) >= OID_LOCAL);
        }
        assert_int_equal(applied, ROWS + 1);
        assert_null(bed.evaluation.results);
        assert_true(bed.account.used - used < 100);
    }
}

/* A row is like the one before when all that the expression mentions is; an expression that
 * mentions too much, asks for EXISTS, or is other each time is evaluated for each row. */
static void
rows_like_the_one_before_are_known(void **state)
{
    struct expression call = *call_of_a_variable();
    struct remembered remembered;
    (void)state;
    for (uint32_t slots = 1; slots <= REMEMBERED_SLOTS + 1; slots++) {
        oid row[REMEMBERED_SLOTS + 1] = {1, 1, 1, 1, 1};
        slots_add(&call.slots, slots - 1);
        remembered_prepare(&remembered, &call);
        assert_int_equal(remembered.steady, slots <= REMEMBERED_SLOTS);
        applied = 0;
        assert_int_equal(remembered_test(&remembered, &bed.evaluation, row), 1);
        assert_int_equal(remembered_test(&remembered, &bed.evaluation, row), 1);
        assert_int_equal(applied, slots <= REMEMBERED_SLOTS ? 1 : 2);
        for (uint32_t i = 0; i < slots && slots <= REMEMBERED_SLOTS; i++) {
            applied = 0;
            row[i]++; /* any of them makes another row */
            (void)remembered_test(&remembered, &bed.evaluation, row);
            assert_int_equal(applied, 1);
            (void)remembered_test(&remembered, &bed.evaluation, row);
            assert_int_equal(applied, 1);
        }
    }
    for (unsigned kind = 0; kind < 3; kind++) {
        struct expression other = *call_of_a_variable();
        other.kind = kind == 0 ? EXPRESSION_VARIABLE : EXPRESSION_CALL;
        other.exists = kind == 1;
        other.volatile_value = kind == 2;
        remembered_prepare(&remembered, &other);
        assert_false(remembered.steady);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(text_of_rows_is_forgotten, begin, end),
        cmocka_unit_test_setup_teardown(terms_of_rows_are_forgotten, begin, end),
        cmocka_unit_test_setup_teardown(the_first_failure_ends_the_query, begin, end),
        cmocka_unit_test_setup_teardown(what_is_unbound_has_no_value, begin, end),
        cmocka_unit_test_setup_teardown(values_are_kept_as_long_as_their_terms, begin, end),
        cmocka_unit_test_setup_teardown(numbers_are_what_identifiers_say, begin, end),
        cmocka_unit_test_setup_teardown(integers_have_their_identifiers, begin, end),
        cmocka_unit_test_setup_teardown(exists_is_asked_one_level_deeper, begin, end),
        cmocka_unit_test_setup_teardown(identifiers_decide_what_they_say, begin, end),
        cmocka_unit_test_setup_teardown(tests_look_at_terms_last, begin, end),
        cmocka_unit_test_setup_teardown(rows_like_the_one_before_are_known, begin, end),
        cmocka_unit_test_setup_teardown(results_are_kept_when_they_pay, begin, end),
        cmocka_unit_test_setup_teardown(results_are_not_kept_without_room, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) + told_functions_run();
}
