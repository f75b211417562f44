/* Single characters of the formats that are defined in terms of ASCII, whatever the locale. */
#ifndef BASE_ASCII_H
#define BASE_ASCII_H

#include <stdbool.h>

/* ASCII whitespace of the Infra standard: no vertical tab, which isspace() and slice_trim have.
 * Source: https://infra.spec.whatwg.org/#ascii-whitespace */
static inline bool
ascii_is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f';
}

static inline bool
ascii_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline bool
ascii_is_letter(char c)
{
    return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

static inline char
ascii_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

/* 0 to 15, -1 when c is no hexadecimal digit. */
static inline int
ascii_hex_value(char c)
{
    if (ascii_is_digit(c)) {
        return c - '0';
    }
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

#endif
