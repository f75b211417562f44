/* A value is what expressions compute with: a term seen as a value of its datatype. Source:
 * https://www.w3.org/TR/sparql11-query/#operandDataTypes and section 17.3.
 *
 * A value made from a term keeps the term, so that it can be given back as it was written; a
 * computed number has no term until value_term makes one. Bytes belong to whoever made them.
 */
#ifndef INDEX_QUERY_VALUES_VALUE_H
#define INDEX_QUERY_VALUES_VALUE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "index/query/values/decimal.h"
#include "index/query/values/moment.h"
#include "rdf/core/term.h"

#define XSD "http://www.w3.org/2001/XMLSchema#"

enum value_kind {
    VALUE_BLANK,
    VALUE_IRI,
    VALUE_STRING,   /* simple literals and xsd:string */
    VALUE_LANGUAGE, /* a string with a language */
    VALUE_BOOLEAN,
    VALUE_INTEGER, /* xsd:integer and all derived from it */
    VALUE_DECIMAL,
    VALUE_FLOAT,
    VALUE_DOUBLE,
    VALUE_DATE_TIME,
    VALUE_DATE,
    VALUE_TIME,
    VALUE_DURATION,
    VALUE_OTHER /* an unknown datatype, or a lexical form that its datatype does not have */
};

struct value {
    enum value_kind kind;
    bool has_term;
    struct term term; /* strings always have it; others when has_term */
    union {
        bool boolean;
        struct decimal decimal; /* INTEGER and DECIMAL */
        double number;          /* FLOAT and DOUBLE */
        struct moment moment;
        struct duration duration;
    };
};

void value_of_term(const struct term *term, struct value *out);
/* The term; makes its text in the arena when it has none. False past the arena's maximum. */
bool value_term(const struct value *value, struct arena *arena, struct term *term);

struct value value_boolean(bool boolean);
struct value value_integer(int64_t integer);
struct value value_decimal(struct decimal decimal);
struct value value_double(double number);
struct value value_string(struct slice text);

static inline bool
value_is_number(const struct value *value)
{
    return value->kind >= VALUE_INTEGER && value->kind <= VALUE_DOUBLE;
}
static inline bool
value_is_text(const struct value *value)
{
    return value->kind == VALUE_STRING || value->kind == VALUE_LANGUAGE;
}
double value_number(const struct value *value);

/* Effective boolean value (section 17.2.2): 1, 0, or -1 for an error. */
int value_effective_boolean(const struct value *value);
/* The = operator: 1, 0, or -1 for an error. */
int value_equals(const struct value *a, const struct value *b);
/* <, = and > as -1, 0, 1; 2 when NaN stands there, 3 for an error. */
int value_compare(const struct value *a, const struct value *b);
/* Kinds in the order in which ORDER BY has them; numbers are of one class. */
int value_class(enum value_kind kind);
/* The total order of ORDER BY: blank nodes, IRIs, literals (by value where they have an order,
 * then by their characters). */
int value_order(const struct value *a, const struct value *b);
/* op: + - * / with the promotion of section 17.3. False: an error. */
bool value_arithmetic(char op, const struct value *a, const struct value *b, struct value *out);

/* The canonical lexical form of XML Schema, or the shorter one of fn:string. Returns the length. */
enum { NUMBER_TEXT_SIZE = 64 };
size_t number_plain(double number, bool is_float, char text[NUMBER_TEXT_SIZE]);
/* Lexical forms of xsd:double: INF, NaN, exponents. */
bool number_parse(struct slice text, double *number);
struct slice value_datatype(const struct value *value);

#endif
