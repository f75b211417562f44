/* Functions on numbers, dates and times: sections 17.4.4 and 17.4.5. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>

#include "index/query/functions/functions.h"

static bool
rounded(const struct value *number, enum decimal_rounding rounding, struct value *out)
{
    if (!value_is_number(number)) {
        return false;
    }
    *out = (struct value){.kind = number->kind};
    if (number->kind <= VALUE_DECIMAL) {
        out->decimal = decimal_round(number->decimal, rounding);
    } else {
        out->number = rounding == DECIMAL_FLOOR  ? floor(number->number)
                      : rounding == DECIMAL_CEIL ? ceil(number->number)
                                                 : floor(number->number + 0.5);
    }
    return true;
}

bool
apply_abs(struct evaluation *evaluation, const struct value *arguments, size_t count,
          struct value *out)
{
    (void)evaluation, (void)count;
    if (!value_is_number(&arguments[0])) {
        return false;
    }
    *out = (struct value){.kind = arguments[0].kind};
    if (out->kind <= VALUE_DECIMAL) {
        out->decimal = arguments[0].decimal;
        out->decimal.digits = out->decimal.digits < 0 ? -out->decimal.digits : out->decimal.digits;
    } else {
        out->number = fabs(arguments[0].number);
    }
    return true;
}

bool
apply_ceil(struct evaluation *evaluation, const struct value *arguments, size_t count,
           struct value *out)
{
    (void)evaluation, (void)count;
    return rounded(&arguments[0], DECIMAL_CEIL, out);
}

bool
apply_floor(struct evaluation *evaluation, const struct value *arguments, size_t count,
            struct value *out)
{
    (void)evaluation, (void)count;
    return rounded(&arguments[0], DECIMAL_FLOOR, out);
}

bool
apply_round(struct evaluation *evaluation, const struct value *arguments, size_t count,
            struct value *out)
{
    (void)evaluation, (void)count;
    return rounded(&arguments[0], DECIMAL_ROUND, out);
}

bool
apply_now(struct evaluation *evaluation, const struct value *arguments, size_t count,
          struct value *out)
{
    (void)arguments, (void)count;
    value_of_term(&evaluation->now, out);
    return true;
}

static bool
has_date(const struct value *value)
{
    return value->kind == VALUE_DATE_TIME || value->kind == VALUE_DATE;
}

static bool
has_time(const struct value *value)
{
    return value->kind == VALUE_DATE_TIME || value->kind == VALUE_TIME;
}

bool
apply_year(struct evaluation *evaluation, const struct value *arguments, size_t count,
           struct value *out)
{
    (void)evaluation, (void)count;
    *out = value_integer(arguments[0].moment.year);
    return has_date(&arguments[0]);
}

bool
apply_month(struct evaluation *evaluation, const struct value *arguments, size_t count,
            struct value *out)
{
    (void)evaluation, (void)count;
    *out = value_integer(arguments[0].moment.month);
    return has_date(&arguments[0]);
}

bool
apply_day(struct evaluation *evaluation, const struct value *arguments, size_t count,
          struct value *out)
{
    (void)evaluation, (void)count;
    *out = value_integer(arguments[0].moment.day);
    return has_date(&arguments[0]);
}

bool
apply_hours(struct evaluation *evaluation, const struct value *arguments, size_t count,
            struct value *out)
{
    (void)evaluation, (void)count;
    *out = value_integer(arguments[0].moment.hour);
    return has_time(&arguments[0]);
}

bool
apply_minutes(struct evaluation *evaluation, const struct value *arguments, size_t count,
              struct value *out)
{
    (void)evaluation, (void)count;
    *out = value_integer(arguments[0].moment.minute);
    return has_time(&arguments[0]);
}

/* Reads the part that the function asks for from the identifier of a date or time. False: it has to
 * be read from the value. */
static bool
said_part(const struct evaluation *evaluation, function_apply *apply, oid id, int *part)
{
    static const struct {
        function_apply *apply;
        size_t at; /* in struct oid_value */
        bool time;
    } parts[] = {{apply_year, offsetof(struct oid_value, year), false},
                 {apply_month, offsetof(struct oid_value, month), false},
                 {apply_day, offsetof(struct oid_value, day), false},
                 {apply_hours, offsetof(struct oid_value, hour), true},
                 {apply_minutes, offsetof(struct oid_value, minute), true}};
    struct oid_value said;
    size_t i = 0;
    if (!identifier_says(evaluation, id, &said) || said.kind == OID_VALUE_INTEGER) {
        return false;
    }
    while (parts[i].apply != apply) {
        i++;
    }
    memcpy(part, (const char *)&said + parts[i].at, sizeof *part);
    return !parts[i].time || said.kind == OID_VALUE_DATE_TIME;
}

oid
id_part(struct evaluation *evaluation, const struct expression *call, const oid *row)
{
    const struct expression *argument = call->arguments[0];
    const struct quad_source *source = evaluation->dictionary->source;
    struct value value;
    int part;
    if (argument->kind == EXPRESSION_VARIABLE && source->integer &&
        said_part(evaluation, call->function->apply, row[argument->number], &part)) {
        const oid id = source->integer(part);
        if (id != OID_NONE) {
            return id;
        }
    }
    return expression_value(evaluation, call, row, &value) ? value_id(evaluation, &value)
                                                           : OID_NONE;
}

bool
apply_seconds(struct evaluation *evaluation, const struct value *arguments, size_t count,
              struct value *out)
{
    (void)evaluation, (void)count;
    *out = value_decimal(arguments[0].moment.second);
    return has_time(&arguments[0]);
}

static bool
is_moment(const struct value *value)
{
    return value->kind >= VALUE_DATE_TIME && value->kind <= VALUE_TIME;
}

bool
apply_timezone(struct evaluation *evaluation, const struct value *arguments, size_t count,
               struct value *out)
{
    (void)count;
    if (!is_moment(&arguments[0]) || !arguments[0].moment.has_zone) {
        return false;
    }
    const int zone = arguments[0].moment.zone, east = zone < 0 ? -zone : zone;
    char hours[16] = "", minutes[16] = "", text[40];
    if (east >= 60) {
        snprintf(hours, sizeof hours, "%dH", east / 60);
    }
    if (east % 60) {
        snprintf(minutes, sizeof minutes, "%dM", east % 60);
    }
    snprintf(text, sizeof text, "%sPT%s%s%s", zone < 0 ? "-" : "", hours, minutes,
             east ? "" : "0S");
    struct term term = term_literal(arena_copy(&evaluation->scratch, slice_string(text)));
    term.datatype = SLICE(XSD "dayTimeDuration");
    value_of_term(&term, out);
    return term.value.at != NULL;
}

bool
apply_tz(struct evaluation *evaluation, const struct value *arguments, size_t count,
         struct value *out)
{
    (void)evaluation, (void)count;
    if (!is_moment(&arguments[0])) {
        return false;
    }
    /* The number counts as it is written: Z and +00:00 differ. */
    const struct slice text = slice_trim(arguments[0].term.value);
    size_t length = 0;
    if (arguments[0].moment.has_zone) {
        length = text.at[text.length - 1] == 'Z' ? 1 : 6;
    }
    *out = value_string(slice_of(text.at + text.length - length, length));
    return true;
}
