#include "index/query/values/value.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "rdf/core/vocabulary.h"

/* ---- numbers as text ---- */

bool
number_parse(struct slice text, double *number)
{
    char copy[128];
    if (slice_is(text, "INF") || slice_is(text, "+INF") || slice_is(text, "-INF")) {
        *number = text.at[0] == '-' ? -INFINITY : INFINITY;
        return true;
    }
    if (slice_is(text, "NaN")) {
        *number = NAN;
        return true;
    }
    if (!text.length || text.length >= sizeof copy) {
        return false;
    }
    memcpy(copy, text.at, text.length);
    copy[text.length] = 0;
    if (strspn(copy, "+-.0123456789eE") < text.length) {
        return false;
    }
    char *end;
    *number = strtod(copy, &end);
    return *end == 0 && end != copy;
}

/* The shortest digits that read back: d.ddde+x in text. */
static void
shortest(double number, bool is_float, char *text, size_t size)
{
    for (int digits = 0; digits <= 16; digits++) {
        snprintf(text, size, "%.*e", digits, number);
        const double back = strtod(text, NULL);
        if (back == number || (is_float && (float)back == (float)number)) {
            return;
        }
    }
}

static size_t
special(double number, char *text)
{
    strcpy(text, isnan(number) ? "NaN" : number > 0 ? "INF" : "-INF");
    return strlen(text);
}

static size_t
number_canonical(double number, bool is_float, char text[NUMBER_TEXT_SIZE])
{
    char digits[NUMBER_TEXT_SIZE];
    if (!isfinite(number)) {
        return special(number, text);
    }
    shortest(number, is_float, digits, sizeof digits);
    const size_t mantissa = strcspn(digits, "e");
    const int exponent = atoi(digits + mantissa + 1);
    const bool point = memchr(digits, '.', mantissa) != NULL;
    return (size_t)snprintf(text, NUMBER_TEXT_SIZE, "%.*s%sE%d", (int)mantissa, digits,
                            point ? "" : ".0", exponent);
}

size_t
number_plain(double number, bool is_float, char text[NUMBER_TEXT_SIZE])
{
    if (!isfinite(number)) {
        return special(number, text);
    }
    if (number == 0) {
        strcpy(text, signbit(number) ? "-0" : "0");
        return strlen(text);
    }
    if (fabs(number) < 1e-6 || fabs(number) >= 1e6) {
        return number_canonical(number, is_float, text);
    }
    for (int digits = 0; digits <= 24; digits++) {
        snprintf(text, NUMBER_TEXT_SIZE, "%.*f", digits, number);
        const double back = strtod(text, NULL);
        if (back == number || (is_float && (float)back == (float)number)) {
            break;
        }
    }
    return strlen(text);
}

/* ---- terms to values ---- */

/* Datatypes with a value space that is known here; of some integers it has ends. */
struct datatype {
    const char *name;
    enum value_kind kind;
    bool bounded_below, bounded_above;
    __extension__ __int128 least, most;
};
static const struct datatype datatypes[] = {
    {"string", VALUE_STRING, false, false, 0, 0},
    {"integer", VALUE_INTEGER, false, false, 0, 0},
    {"boolean", VALUE_BOOLEAN, false, false, 0, 0},
    {"decimal", VALUE_DECIMAL, false, false, 0, 0},
    {"double", VALUE_DOUBLE, false, false, 0, 0},
    {"float", VALUE_FLOAT, false, false, 0, 0},
    {"dateTime", VALUE_DATE_TIME, false, false, 0, 0},
    {"date", VALUE_DATE, false, false, 0, 0},
    {"time", VALUE_TIME, false, false, 0, 0},
    {"int", VALUE_INTEGER, true, true, INT32_MIN, INT32_MAX},
    {"long", VALUE_INTEGER, true, true, INT64_MIN, INT64_MAX},
    {"short", VALUE_INTEGER, true, true, INT16_MIN, INT16_MAX},
    {"byte", VALUE_INTEGER, true, true, INT8_MIN, INT8_MAX},
    {"nonNegativeInteger", VALUE_INTEGER, true, false, 0, 0},
    {"positiveInteger", VALUE_INTEGER, true, false, 1, 0},
    {"nonPositiveInteger", VALUE_INTEGER, false, true, 0, 0},
    {"negativeInteger", VALUE_INTEGER, false, true, 0, -1},
    {"unsignedLong", VALUE_INTEGER, true, true, 0, UINT64_MAX},
    {"unsignedInt", VALUE_INTEGER, true, true, 0, UINT32_MAX},
    {"unsignedShort", VALUE_INTEGER, true, true, 0, UINT16_MAX},
    {"unsignedByte", VALUE_INTEGER, true, true, 0, UINT8_MAX},
    {"duration", VALUE_DURATION, false, false, 0, 0},
    {"dayTimeDuration", VALUE_DURATION, false, false, 0, 0},
    {"yearMonthDuration", VALUE_DURATION, false, false, 0, 0}};

static const struct datatype *
find_datatype(struct slice datatype)
{
    const size_t prefix = sizeof XSD - 1;
    if (datatype.length > prefix && memcmp(datatype.at, XSD, prefix) == 0) {
        const struct slice name = slice_of(datatype.at + prefix, datatype.length - prefix);
        for (size_t i = 0; i < sizeof datatypes / sizeof *datatypes; i++) {
            if (*name.at == *datatypes[i].name && slice_is(name, datatypes[i].name)) {
                return &datatypes[i];
            }
        }
    }
    return NULL;
}

static bool
within(const struct datatype *datatype, const struct decimal *integer)
{
    return (!datatype->bounded_below || integer->digits >= datatype->least) &&
           (!datatype->bounded_above || integer->digits <= datatype->most);
}

static bool
parse_literal(struct slice text, enum value_kind kind, struct value *out)
{
    text = kind == VALUE_STRING ? text : slice_trim(text);
    switch (kind) {
    case VALUE_STRING:
        return true;
    case VALUE_BOOLEAN:
        out->boolean = slice_is(text, "true") || slice_is(text, "1");
        return out->boolean || slice_is(text, "false") || slice_is(text, "0");
    case VALUE_INTEGER:
        return slice_find(text, '.') == text.length && decimal_parse(text, &out->decimal);
    case VALUE_DECIMAL:
        return decimal_parse(text, &out->decimal);
    case VALUE_FLOAT:
    case VALUE_DOUBLE:
        if (!number_parse(text, &out->number)) {
            return false;
        }
        out->number = kind == VALUE_FLOAT ? (double)(float)out->number : out->number;
        return true;
    case VALUE_DATE_TIME:
        return moment_parse(text, MOMENT_DATE_TIME, &out->moment);
    case VALUE_DATE:
        return moment_parse(text, MOMENT_DATE, &out->moment);
    case VALUE_TIME:
        return moment_parse(text, MOMENT_TIME, &out->moment);
    case VALUE_DURATION:
        return duration_parse(text, &out->duration);
    default:
        return false;
    }
}

void
value_of_term(const struct term *term, struct value *out)
{
    out->term = *term;
    out->has_term = true;
    if (!term->value.at) {
        out->term.value.at = "";
    }
    if (term->kind != TERM_LITERAL) {
        out->kind = term->kind == TERM_IRI ? VALUE_IRI : VALUE_BLANK;
    } else if (term->language.length) {
        out->kind = VALUE_LANGUAGE;
    } else if (!term->datatype.length) {
        out->kind = VALUE_STRING;
    } else {
        const struct datatype *datatype = find_datatype(term->datatype);
        out->kind = datatype ? datatype->kind : VALUE_OTHER;
        if (!parse_literal(term->value, out->kind, out) ||
            (out->kind == VALUE_INTEGER && !within(datatype, &out->decimal))) {
            out->kind = VALUE_OTHER;
        }
    }
}

/* ---- values to terms ---- */

struct slice
value_datatype(const struct value *value)
{
    if (value->has_term) {
        return value->kind == VALUE_STRING     ? SLICE(XSD "string")
               : value->kind == VALUE_LANGUAGE ? SLICE(RDF_LANG_STRING)
                                               : value->term.datatype;
    }
    switch (value->kind) {
    case VALUE_BOOLEAN:
        return SLICE(XSD "boolean");
    case VALUE_INTEGER:
        return SLICE(XSD "integer");
    case VALUE_DECIMAL:
        return SLICE(XSD "decimal");
    case VALUE_FLOAT:
        return SLICE(XSD "float");
    case VALUE_DOUBLE:
        return SLICE(XSD "double");
    default:
        return SLICE(XSD "string");
    }
}

bool
value_term(const struct value *value, struct arena *arena, struct term *term)
{
    char text[NUMBER_TEXT_SIZE];
    size_t length = 0;
    if (value->has_term) {
        *term = value->term;
        return true;
    }
    switch (value->kind) {
    case VALUE_BOOLEAN:
        *term = term_literal(value->boolean ? SLICE("true") : SLICE("false"));
        term->datatype = SLICE(XSD "boolean");
        return true;
    case VALUE_INTEGER:
    case VALUE_DECIMAL:
        length = decimal_format(value->decimal, text);
        break;
    case VALUE_FLOAT:
    case VALUE_DOUBLE:
        length = number_canonical(value->number, value->kind == VALUE_FLOAT, text);
        break;
    default:
        return false;
    }
    *term = term_literal(arena_copy(arena, slice_of(text, length)));
    term->datatype = value_datatype(value);
    return term->value.at != NULL;
}

struct value
value_boolean(bool boolean)
{
    return (struct value){.kind = VALUE_BOOLEAN, .boolean = boolean};
}

struct value
value_integer(int64_t integer)
{
    return (struct value){.kind = VALUE_INTEGER, .decimal = decimal_of(integer)};
}

struct value
value_decimal(struct decimal decimal)
{
    return (struct value){.kind = VALUE_DECIMAL, .decimal = decimal};
}

struct value
value_double(double number)
{
    return (struct value){.kind = VALUE_DOUBLE, .number = number};
}

struct value
value_string(struct slice text)
{
    if (!text.at) {
        text.at = "";
    }
    return (struct value){.kind = VALUE_STRING, .has_term = true, .term = term_literal(text)};
}

double
value_number(const struct value *value)
{
    return value->kind == VALUE_INTEGER || value->kind == VALUE_DECIMAL
               ? decimal_double(value->decimal)
               : value->number;
}

int
value_effective_boolean(const struct value *value)
{
    switch (value->kind) {
    case VALUE_BOOLEAN:
        return value->boolean;
    case VALUE_STRING:
    case VALUE_LANGUAGE:
        return value->term.value.length > 0;
    case VALUE_INTEGER:
    case VALUE_DECIMAL:
        return value->decimal.digits != 0;
    case VALUE_FLOAT:
    case VALUE_DOUBLE:
        return value->number != 0 && !isnan(value->number);
    case VALUE_OTHER: {
        /* An ill-formed boolean or number is false; other datatypes are an error. */
        const struct datatype *datatype = find_datatype(value->term.datatype);
        const enum value_kind kind = datatype ? datatype->kind : VALUE_OTHER;
        return kind == VALUE_BOOLEAN || (kind >= VALUE_INTEGER && kind <= VALUE_DOUBLE) ? 0 : -1;
    }
    default:
        return -1;
    }
}

/* ---- comparing ---- */

static int
compare_numbers(const struct value *a, const struct value *b)
{
    if (a->kind <= VALUE_DECIMAL && b->kind <= VALUE_DECIMAL) {
        return decimal_compare(a->decimal, b->decimal);
    }
    double x = value_number(a), y = value_number(b);
    if (a->kind != VALUE_DOUBLE && b->kind != VALUE_DOUBLE) {
        x = (float)x;
        y = (float)y;
    }
    return isnan(x) || isnan(y) ? 2 : (x > y) - (x < y);
}

static int
sign(int order)
{
    return (order > 0) - (order < 0);
}

/* Order of values of one type; 3 when the two have none. */
static int
compare_values(const struct value *a, const struct value *b)
{
    if (value_is_number(a) && value_is_number(b)) {
        return compare_numbers(a, b);
    }
    if (a->kind != b->kind) {
        return 3;
    }
    int order;
    switch (a->kind) {
    case VALUE_STRING:
        return sign(slice_compare(a->term.value, b->term.value));
    case VALUE_LANGUAGE: /* beyond the standard: within one language */
        return slice_equal(a->term.language, b->term.language)
                   ? sign(slice_compare(a->term.value, b->term.value))
                   : 3;
    case VALUE_BOOLEAN:
        return (int)a->boolean - (int)b->boolean;
    case VALUE_DATE_TIME:
    case VALUE_DATE:
    case VALUE_TIME:
        order = moment_compare(&a->moment, &b->moment);
        return order == 2 ? 3 : order;
    case VALUE_DURATION:
        order = decimal_compare(a->duration.seconds, b->duration.seconds);
        if (a->duration.months != b->duration.months) {
            const int months = a->duration.months < b->duration.months ? -1 : 1;
            return order == 0 || order == months ? months : 3;
        }
        return order;
    default:
        return 3;
    }
}

int
value_compare(const struct value *a, const struct value *b)
{
    return compare_values(a, b);
}

static bool
same_term(const struct value *a, const struct value *b)
{
    return a->has_term && b->has_term && term_equal(&a->term, &b->term);
}

int
value_equals(const struct value *a, const struct value *b)
{
    const int order = compare_values(a, b);
    if (order != 3) {
        return order == 0;
    }
    if (same_term(a, b)) {
        return 1;
    }
    if (a->kind <= VALUE_IRI || b->kind <= VALUE_IRI) {
        return 0;
    }
    /* Two literals: of unknown value they may be the same value, which is an error. Known
     * values of different kinds are not the same. */
    if (a->kind == VALUE_OTHER || b->kind == VALUE_OTHER) {
        return a->kind == VALUE_LANGUAGE || b->kind == VALUE_LANGUAGE ? 0 : -1;
    }
    return a->kind == b->kind && a->kind != VALUE_LANGUAGE ? -1 : 0;
}

/* Classes of the total order. */
int
value_class(enum value_kind kind)
{
    static const int classes[] = {
        [VALUE_BLANK] = 0,     [VALUE_IRI] = 1,   [VALUE_BOOLEAN] = 3,  [VALUE_INTEGER] = 4,
        [VALUE_DECIMAL] = 4,   [VALUE_FLOAT] = 4, [VALUE_DOUBLE] = 4,   [VALUE_DATE_TIME] = 5,
        [VALUE_DATE] = 6,      [VALUE_TIME] = 7,  [VALUE_DURATION] = 8, [VALUE_STRING] = 9,
        [VALUE_LANGUAGE] = 10, [VALUE_OTHER] = 11};
    return classes[kind];
}

static int
order_terms(const struct value *a, const struct value *b)
{
    if (!a->has_term || !b->has_term) {
        return 0;
    }
    int order = slice_compare(a->term.value, b->term.value);
    if (!order) {
        order = slice_compare(a->term.language, b->term.language);
    }
    return order ? order : slice_compare(a->term.datatype, b->term.datatype);
}

int
value_order(const struct value *a, const struct value *b)
{
    const int classes = value_class(a->kind) - value_class(b->kind);
    if (classes) {
        return classes;
    }
    const int order = compare_values(a, b);
    if (order == 1 || order == -1) {
        return order;
    }
    if (order == 2) { /* NaN stands before all numbers */
        return (int)isnan(value_number(b)) - (int)isnan(value_number(a));
    }
    return order_terms(a, b);
}

/* ---- arithmetic ---- */

static bool
decimal_arithmetic(char op, const struct value *a, const struct value *b, struct value *out)
{
    const bool integers = a->kind == VALUE_INTEGER && b->kind == VALUE_INTEGER && op != '/';
    *out = (struct value){.kind = integers ? VALUE_INTEGER : VALUE_DECIMAL};
    switch (op) {
    case '+':
        return decimal_add(a->decimal, b->decimal, &out->decimal);
    case '-':
        return decimal_subtract(a->decimal, b->decimal, &out->decimal);
    case '*':
        return decimal_multiply(a->decimal, b->decimal, &out->decimal);
    default:
        return decimal_divide(a->decimal, b->decimal, &out->decimal);
    }
}

bool
value_arithmetic(char op, const struct value *a, const struct value *b, struct value *out)
{
    if (!value_is_number(a) || !value_is_number(b)) {
        return false;
    }
    if (a->kind <= VALUE_DECIMAL && b->kind <= VALUE_DECIMAL) {
        return decimal_arithmetic(op, a, b, out);
    }
    const bool is_double = a->kind == VALUE_DOUBLE || b->kind == VALUE_DOUBLE;
    const double x = value_number(a), y = value_number(b);
    const double result = op == '+' ? x + y : op == '-' ? x - y : op == '*' ? x * y : x / y;
    *out = (struct value){.kind = is_double ? VALUE_DOUBLE : VALUE_FLOAT,
                          .number = is_double ? result : (double)(float)result};
    return true;
}
