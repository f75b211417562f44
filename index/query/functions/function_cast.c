/* Constructor functions: section 17.5. */
#include <math.h>

#include "index/query/functions/functions.h"

/* Casting reads strings by the target's lexical rules. */
static bool
from_text(const struct value *from, enum value_kind kind, struct slice datatype, struct value *out)
{
    struct term term = term_literal(slice_trim(from->term.value));
    term.datatype = datatype;
    value_of_term(&term, out);
    return out->kind == kind;
}

bool
apply_to_boolean(struct evaluation *evaluation, const struct value *arguments, size_t count,
                 struct value *out)
{
    (void)evaluation, (void)count;
    if (arguments[0].kind == VALUE_STRING) {
        if (!from_text(&arguments[0], VALUE_BOOLEAN, SLICE(XSD "boolean"), out)) {
            return false;
        }
        *out = value_boolean(out->boolean);
        return true;
    }
    if (arguments[0].kind != VALUE_BOOLEAN && !value_is_number(&arguments[0])) {
        return false;
    }
    *out = value_boolean(value_effective_boolean(&arguments[0]) == 1);
    return true;
}

static bool
to_floating(const struct value *from, bool is_float, struct value *out)
{
    double number;
    if (from->kind == VALUE_STRING) {
        if (!number_parse(slice_trim(from->term.value), &number)) {
            return false;
        }
    } else if (from->kind == VALUE_BOOLEAN) {
        number = from->boolean;
    } else if (value_is_number(from)) {
        number = value_number(from);
    } else {
        return false;
    }
    *out = (struct value){.kind = is_float ? VALUE_FLOAT : VALUE_DOUBLE,
                          .number = is_float ? (double)(float)number : number};
    return true;
}

bool
apply_to_double(struct evaluation *evaluation, const struct value *arguments, size_t count,
                struct value *out)
{
    (void)evaluation, (void)count;
    return to_floating(&arguments[0], false, out);
}

bool
apply_to_float(struct evaluation *evaluation, const struct value *arguments, size_t count,
               struct value *out)
{
    (void)evaluation, (void)count;
    return to_floating(&arguments[0], true, out);
}

static bool
to_decimal(const struct value *from, struct decimal *out)
{
    switch (from->kind) {
    case VALUE_STRING:
        return decimal_parse(slice_trim(from->term.value), out);
    case VALUE_BOOLEAN:
        *out = decimal_of(from->boolean);
        return true;
    case VALUE_INTEGER:
    case VALUE_DECIMAL:
        *out = from->decimal;
        return true;
    case VALUE_FLOAT:
    case VALUE_DOUBLE:
        return decimal_of_double(from->number, out);
    default:
        return false;
    }
}

bool
apply_to_decimal(struct evaluation *evaluation, const struct value *arguments, size_t count,
                 struct value *out)
{
    (void)evaluation, (void)count;
    *out = (struct value){.kind = VALUE_DECIMAL};
    return to_decimal(&arguments[0], &out->decimal);
}

bool
apply_to_integer(struct evaluation *evaluation, const struct value *arguments, size_t count,
                 struct value *out)
{
    (void)evaluation, (void)count;
    struct value whole;
    if (arguments[0].kind == VALUE_STRING) {
        if (!from_text(&arguments[0], VALUE_INTEGER, SLICE(XSD "integer"), &whole)) {
            return false;
        }
    } else {
        struct decimal decimal;
        if (!to_decimal(&arguments[0], &decimal)) {
            return false;
        }
        whole = value_decimal(decimal_round(decimal, DECIMAL_TRUNCATE));
    }
    *out = (struct value){.kind = VALUE_INTEGER, .decimal = whole.decimal};
    return true;
}

static bool
to_moment(const struct value *from, enum value_kind kind, struct slice datatype, struct value *out)
{
    if (from->kind == kind) {
        *out = *from;
        return true;
    }
    return from->kind == VALUE_STRING && from_text(from, kind, datatype, out);
}

bool
apply_to_date_time(struct evaluation *evaluation, const struct value *arguments, size_t count,
                   struct value *out)
{
    (void)count;
    if (arguments[0].kind == VALUE_DATE) {
        const struct slice text = slice_trim(arguments[0].term.value);
        const size_t zone = !arguments[0].moment.has_zone     ? 0
                            : text.at[text.length - 1] == 'Z' ? 1
                                                              : 6;
        struct term term = term_literal(arena_printf(&evaluation->scratch, "%.*sT00:00:00%.*s",
                                                     (int)(text.length - zone), text.at, (int)zone,
                                                     text.at + text.length - zone));
        term.datatype = SLICE(XSD "dateTime");
        value_of_term(&term, out);
        return term.value.at != NULL;
    }
    return to_moment(&arguments[0], VALUE_DATE_TIME, SLICE(XSD "dateTime"), out);
}

bool
apply_to_date(struct evaluation *evaluation, const struct value *arguments, size_t count,
              struct value *out)
{
    (void)count;
    if (arguments[0].kind == VALUE_DATE_TIME) {
        const struct slice text = slice_trim(arguments[0].term.value);
        const size_t zone = !arguments[0].moment.has_zone     ? 0
                            : text.at[text.length - 1] == 'Z' ? 1
                                                              : 6;
        struct term term =
            term_literal(arena_printf(&evaluation->scratch, "%.*s%.*s", (int)slice_find(text, 'T'),
                                      text.at, (int)zone, text.at + text.length - zone));
        term.datatype = SLICE(XSD "date");
        value_of_term(&term, out);
        return term.value.at != NULL;
    }
    return to_moment(&arguments[0], VALUE_DATE, SLICE(XSD "date"), out);
}

bool
apply_to_time(struct evaluation *evaluation, const struct value *arguments, size_t count,
              struct value *out)
{
    (void)evaluation, (void)count;
    return to_moment(&arguments[0], VALUE_TIME, SLICE(XSD "time"), out);
}

bool
apply_to_string(struct evaluation *evaluation, const struct value *arguments, size_t count,
                struct value *out)
{
    char text[NUMBER_TEXT_SIZE];
    struct term term;
    (void)count;
    switch (arguments[0].kind) {
    case VALUE_BLANK:
    case VALUE_LANGUAGE:
        return false;
    case VALUE_BOOLEAN:
        *out = value_string(arguments[0].boolean ? SLICE("true") : SLICE("false"));
        return true;
    case VALUE_INTEGER:
    case VALUE_DECIMAL:
        return evaluation_text(evaluation,
                               slice_of(text, decimal_format(arguments[0].decimal, text)), out);
    case VALUE_FLOAT:
    case VALUE_DOUBLE:
        return evaluation_text(evaluation,
                               slice_of(text, number_plain(arguments[0].number,
                                                           arguments[0].kind == VALUE_FLOAT, text)),
                               out);
    default:
        if (!value_term(&arguments[0], &evaluation->scratch, &term)) {
            return false;
        }
        *out = value_string(term.value);
        return true;
    }
}
