#include "index/query/values/decimal.h"

#include <math.h>
#include <stdio.h>

static struct decimal
trim(struct decimal value)
{
    while (value.scale > 0 && value.digits % 10 == 0) {
        value.digits /= 10;
        value.scale--;
    }
    return value;
}

bool
decimal_parse(struct slice text, struct decimal *out)
{
    size_t at = 0, count = 0;
    const bool negative = text.length && text.at[0] == '-';
    bool fraction = false;
    struct decimal value = {0, 0};
    at += text.length && (text.at[0] == '-' || text.at[0] == '+');
    for (; at < text.length; at++) {
        if (text.at[at] == '.' && !fraction) {
            fraction = true;
            continue;
        }
        if (text.at[at] < '0' || text.at[at] > '9') {
            return false;
        }
        count++;
        if (fraction && value.scale == DECIMAL_SCALE_MAXIMUM) {
            continue; /* beyond the precision */
        }
        if (__builtin_mul_overflow(value.digits, 10, &value.digits) ||
            __builtin_add_overflow(value.digits, text.at[at] - '0', &value.digits)) {
            return false;
        }
        value.scale += fraction;
    }
    if (negative) {
        value.digits = -value.digits;
    }
    *out = trim(value);
    return count > 0;
}

size_t
decimal_format(struct decimal value, char text[DECIMAL_TEXT_SIZE])
{
    char reversed[DECIMAL_TEXT_SIZE];
    size_t count = 0, length = 0;
    value = trim(value);
    const bool negative = value.digits < 0;
    __extension__ unsigned __int128 rest =
        negative ? -(unsigned __int128)value.digits : (unsigned __int128)value.digits;
    while (rest > 0 || count <= value.scale) {
        reversed[count++] = (char)('0' + (int)(rest % 10));
        rest /= 10;
    }
    if (negative) {
        text[length++] = '-';
    }
    while (count > 0) {
        if (count == value.scale) {
            text[length++] = '.';
        }
        text[length++] = reversed[--count];
    }
    text[length] = 0;
    return length;
}

/* Gives both the larger scale. False when there are too many digits; the values stay the same. */
static bool
align(struct decimal *a, struct decimal *b)
{
    struct decimal *smaller = a->scale < b->scale ? a : b;
    const uint32_t scale = a->scale < b->scale ? b->scale : a->scale;
    while (smaller->scale < scale) {
        decimal_digits digits;
        if (__builtin_mul_overflow(smaller->digits, 10, &digits)) {
            return false;
        }
        smaller->digits = digits;
        smaller->scale++;
    }
    return true;
}

bool
decimal_add(struct decimal a, struct decimal b, struct decimal *out)
{
    if (!align(&a, &b) || __builtin_add_overflow(a.digits, b.digits, &a.digits)) {
        return false;
    }
    *out = trim(a);
    return true;
}

bool
decimal_subtract(struct decimal a, struct decimal b, struct decimal *out)
{
    if (!align(&a, &b) || __builtin_sub_overflow(a.digits, b.digits, &a.digits)) {
        return false;
    }
    *out = trim(a);
    return true;
}

bool
decimal_multiply(struct decimal a, struct decimal b, struct decimal *out)
{
    decimal_digits digits;
    /* Fraction digits are given up before the product is: the larger scale first. */
    while (__builtin_mul_overflow(a.digits, b.digits, &digits) ||
           a.scale + b.scale > DECIMAL_SCALE_MAXIMUM) {
        struct decimal *longer = a.scale > b.scale ? &a : &b;
        if (longer->scale == 0) {
            return false;
        }
        longer->digits /= 10;
        longer->scale--;
    }
    *out = trim((struct decimal){digits, a.scale + b.scale});
    return true;
}

bool
decimal_divide(struct decimal a, struct decimal b, struct decimal *out)
{
    if (b.digits == 0 || !align(&a, &b)) {
        return false;
    }
    struct decimal result = {a.digits / b.digits, 0};
    decimal_digits rest = a.digits % b.digits;
    while (rest != 0 && result.scale < DECIMAL_DIVISION) {
        decimal_digits digits;
        if (__builtin_mul_overflow(rest, 10, &rest) ||
            __builtin_mul_overflow(result.digits, 10, &digits) ||
            __builtin_add_overflow(digits, rest / b.digits, &digits)) {
            break;
        }
        result.digits = digits;
        rest %= b.digits;
        result.scale++;
    }
    *out = trim(result);
    return true;
}

int
decimal_compare(struct decimal a, struct decimal b)
{
    if (!align(&a, &b)) {
        /* The one of the smaller scale is farther from 0 than any decimal of the other's scale. */
        return a.scale < b.scale ? (a.digits > 0 ? 1 : -1) : (b.digits > 0 ? -1 : 1);
    }
    return (a.digits > b.digits) - (a.digits < b.digits);
}

double
decimal_double(struct decimal value)
{
    return value.scale ? (double)((long double)value.digits / powl(10, value.scale))
                       : (double)value.digits;
}

bool
decimal_of_double(double number, struct decimal *out)
{
    if (!isfinite(number) || fabs(number) > 1e36) {
        return false;
    }
    /* 17 significant digits are all a double has; the shortest text that reads back is it. */
    char text[400];
    for (int digits = 1; digits <= 30; digits++) {
        snprintf(text, sizeof text, "%.*f", digits - 1, number);
        struct decimal value;
        if (!decimal_parse(slice_string(text), &value)) {
            return false;
        }
        if (decimal_double(value) == number || digits == 30) {
            *out = value;
            return true;
        }
    }
    return false;
}

struct decimal
decimal_round(struct decimal value, enum decimal_rounding rounding)
{
    decimal_digits unit = 1;
    for (uint32_t i = 0; i < value.scale; i++) {
        unit *= 10;
    }
    decimal_digits whole = value.digits / unit;
    const decimal_digits rest = value.digits % unit;
    if (rounding == DECIMAL_FLOOR) {
        whole -= rest < 0;
    } else if (rounding == DECIMAL_CEIL) {
        whole += rest > 0;
    } else if (rounding == DECIMAL_ROUND && rest) {
        if (rest > 0) {
            whole += rest >= unit - rest;
        } else {
            whole -= -rest > unit + rest;
        }
    }
    return (struct decimal){whole, 0};
}
