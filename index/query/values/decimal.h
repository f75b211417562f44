/* xsd:decimal and xsd:integer: a 128-bit number and how many of its decimal digits are fraction.
 * 38 digits in all; what does not fit is an error (division keeps DECIMAL_DIVISION digits).
 */
#ifndef INDEX_QUERY_VALUES_DECIMAL_H
#define INDEX_QUERY_VALUES_DECIMAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slice.h"

enum { DECIMAL_SCALE_MAXIMUM = 30, DECIMAL_DIVISION = 18, DECIMAL_TEXT_SIZE = 48 };

__extension__ typedef __int128 decimal_digits;
struct decimal {
    decimal_digits digits; /* value = digits / 10^scale */
    uint32_t scale;
};

static inline struct decimal
decimal_of(int64_t integer)
{
    return (struct decimal){integer, 0};
}
/* Sign, digits, point, digits; nothing else. */
bool decimal_parse(struct slice text, struct decimal *out);
/* Without needless zeros and without a point when whole; returns the length. */
size_t decimal_format(struct decimal value, char text[DECIMAL_TEXT_SIZE]);
/* False when the result does not fit, or divides by zero. */
bool decimal_add(struct decimal a, struct decimal b, struct decimal *out);
bool decimal_subtract(struct decimal a, struct decimal b, struct decimal *out);
bool decimal_multiply(struct decimal a, struct decimal b, struct decimal *out);
bool decimal_divide(struct decimal a, struct decimal b, struct decimal *out);
int decimal_compare(struct decimal a, struct decimal b);
double decimal_double(struct decimal value);
/* False for what is not finite or too large. */
bool decimal_of_double(double number, struct decimal *out);

enum decimal_rounding { DECIMAL_FLOOR, DECIMAL_CEIL, DECIMAL_ROUND, DECIMAL_TRUNCATE };
/* To a whole number; ROUND: halves go up, as fn:round has it. */
struct decimal decimal_round(struct decimal value, enum decimal_rounding rounding);

#endif
