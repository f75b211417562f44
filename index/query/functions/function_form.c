/* Operators and functional forms: sections 17.3 and 17.4.1. */
#include "index/query/functions/functions.h"

/* decisive: the value that decides whatever the other operands are. */
static bool
logical(struct evaluation *evaluation, const struct expression *call, const oid *row, bool decisive,
        struct value *out)
{
    bool error = false;
    for (size_t i = 0; i < call->count; i++) {
        const int test = expression_test(evaluation, call->arguments[i], row);
        if (test == (int)decisive) {
            *out = value_boolean(decisive);
            return true;
        }
        error = error || test < 0;
    }
    *out = value_boolean(!decisive);
    return !error;
}

bool
form_and(struct evaluation *evaluation, const struct expression *call, const oid *row,
         struct value *out)
{
    return logical(evaluation, call, row, false, out);
}

bool
form_or(struct evaluation *evaluation, const struct expression *call, const oid *row,
        struct value *out)
{
    return logical(evaluation, call, row, true, out);
}

static int
is_in(struct evaluation *evaluation, const struct expression *call, const oid *row)
{
    struct value sought, item;
    const oid id = operand_id(evaluation, call->arguments[0], row);
    bool known = false;
    int result = 0;
    if (call->count == 1) {
        return expression_value(evaluation, call->arguments[0], row, &sought) ? 0 : -1;
    }
    for (size_t i = 1; i < call->count; i++) {
        int equal =
            identifiers_equal(evaluation, id, operand_id(evaluation, call->arguments[i], row));
        if (equal < 0) {
            if (!known && !expression_value(evaluation, call->arguments[0], row, &sought)) {
                return -1;
            }
            known = true;
            equal = expression_value(evaluation, call->arguments[i], row, &item)
                        ? value_equals(&sought, &item)
                        : -1;
        }
        if (equal == 1) {
            return 1;
        }
        result = equal < 0 ? -1 : result;
    }
    return result;
}

bool
form_in(struct evaluation *evaluation, const struct expression *call, const oid *row,
        struct value *out)
{
    const int in = is_in(evaluation, call, row);
    *out = value_boolean(in == 1);
    return in >= 0;
}

bool
form_not_in(struct evaluation *evaluation, const struct expression *call, const oid *row,
            struct value *out)
{
    const int in = is_in(evaluation, call, row);
    *out = value_boolean(in == 0);
    return in >= 0;
}

bool
form_if(struct evaluation *evaluation, const struct expression *call, const oid *row,
        struct value *out)
{
    const int test = expression_test(evaluation, call->arguments[0], row);
    return test >= 0 && expression_value(evaluation, call->arguments[test ? 1 : 2], row, out);
}

bool
form_coalesce(struct evaluation *evaluation, const struct expression *call, const oid *row,
              struct value *out)
{
    for (size_t i = 0; i < call->count; i++) {
        if (expression_value(evaluation, call->arguments[i], row, out)) {
            return true;
        }
    }
    return false;
}

oid
id_if(struct evaluation *evaluation, const struct expression *call, const oid *row)
{
    const int test = expression_test(evaluation, call->arguments[0], row);
    return test < 0 ? OID_NONE : expression_id(evaluation, call->arguments[test ? 1 : 2], row);
}

oid
id_coalesce(struct evaluation *evaluation, const struct expression *call, const oid *row)
{
    oid id = OID_NONE;
    for (size_t i = 0; i < call->count && id == OID_NONE; i++) {
        id = expression_id(evaluation, call->arguments[i], row);
    }
    return id;
}

bool
form_bound(struct evaluation *evaluation, const struct expression *call, const oid *row,
           struct value *out)
{
    (void)evaluation;
    *out = value_boolean(row[call->arguments[0]->number] != OID_NONE);
    return true;
}

bool
form_unknown(struct evaluation *evaluation, const struct expression *call, const oid *row,
             struct value *out)
{
    (void)evaluation, (void)call, (void)row, (void)out;
    return false;
}

bool
apply_not(struct evaluation *evaluation, const struct value *arguments, size_t count,
          struct value *out)
{
    (void)evaluation, (void)count;
    const int test = value_effective_boolean(&arguments[0]);
    *out = value_boolean(test == 0);
    return test >= 0;
}

bool
apply_equal(struct evaluation *evaluation, const struct value *arguments, size_t count,
            struct value *out)
{
    (void)evaluation, (void)count;
    const int equal = value_equals(&arguments[0], &arguments[1]);
    *out = value_boolean(equal == 1);
    return equal >= 0;
}

bool
apply_different(struct evaluation *evaluation, const struct value *arguments, size_t count,
                struct value *out)
{
    (void)evaluation, (void)count;
    const int equal = value_equals(&arguments[0], &arguments[1]);
    *out = value_boolean(equal == 0);
    return equal >= 0;
}

/* wanted: bits for less, equal, greater. */
static bool
relation(const struct value *arguments, unsigned wanted, struct value *out)
{
    const int order = value_compare(&arguments[0], &arguments[1]);
    *out = value_boolean(order < 2 && (wanted >> (order + 1) & 1));
    return order != 3;
}

bool
apply_less(struct evaluation *evaluation, const struct value *arguments, size_t count,
           struct value *out)
{
    (void)evaluation, (void)count;
    return relation(arguments, 1, out);
}

bool
apply_greater(struct evaluation *evaluation, const struct value *arguments, size_t count,
              struct value *out)
{
    (void)evaluation, (void)count;
    return relation(arguments, 4, out);
}

bool
apply_less_equal(struct evaluation *evaluation, const struct value *arguments, size_t count,
                 struct value *out)
{
    (void)evaluation, (void)count;
    return relation(arguments, 3, out);
}

bool
apply_greater_equal(struct evaluation *evaluation, const struct value *arguments, size_t count,
                    struct value *out)
{
    (void)evaluation, (void)count;
    return relation(arguments, 6, out);
}

bool
apply_add(struct evaluation *evaluation, const struct value *arguments, size_t count,
          struct value *out)
{
    (void)evaluation, (void)count;
    return value_arithmetic('+', &arguments[0], &arguments[1], out);
}

bool
apply_subtract(struct evaluation *evaluation, const struct value *arguments, size_t count,
               struct value *out)
{
    (void)evaluation, (void)count;
    return value_arithmetic('-', &arguments[0], &arguments[1], out);
}

bool
apply_multiply(struct evaluation *evaluation, const struct value *arguments, size_t count,
               struct value *out)
{
    (void)evaluation, (void)count;
    return value_arithmetic('*', &arguments[0], &arguments[1], out);
}

bool
apply_divide(struct evaluation *evaluation, const struct value *arguments, size_t count,
             struct value *out)
{
    (void)evaluation, (void)count;
    return value_arithmetic('/', &arguments[0], &arguments[1], out);
}

bool
apply_minus(struct evaluation *evaluation, const struct value *arguments, size_t count,
            struct value *out)
{
    (void)evaluation, (void)count;
    if (!value_is_number(&arguments[0])) {
        return false;
    }
    *out = (struct value){.kind = arguments[0].kind};
    if (out->kind <= VALUE_DECIMAL) {
        out->decimal = arguments[0].decimal;
        out->decimal.digits = -out->decimal.digits;
    } else {
        out->number = -arguments[0].number;
    }
    return true;
}

bool
apply_plus(struct evaluation *evaluation, const struct value *arguments, size_t count,
           struct value *out)
{
    (void)evaluation, (void)count;
    *out = arguments[0];
    return value_is_number(&arguments[0]);
}
