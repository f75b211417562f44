/* A view of bytes that somebody else owns. Not NUL-terminated. {NULL, 0} is "none". */
#ifndef BASE_SLICE_H
#define BASE_SLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct slice {
    const char *at;
    size_t length;
};

#define SLICE(literal) ((struct slice){(literal), sizeof(literal) - 1})
/* Makes a slice of a literal where C wants a constant, as in a static table. */
#define SLICE_INIT(literal)            \
    {                                  \
        (literal), sizeof(literal) - 1 \
    }
/* Gives the two arguments that printf's "%.*s" needs to print a slice. */
#define SLICE_PRINT(slice) (int)(slice).length, (slice).at ? (slice).at : ""

static inline struct slice
slice_of(const char *at, size_t length)
{
    return (struct slice){at, length};
}

static inline struct slice
slice_string(const char *text)
{
    return (struct slice){text, text ? strlen(text) : 0};
}

static inline bool
slice_equal(struct slice a, struct slice b)
{
    return a.length == b.length && (a.length == 0 || memcmp(a.at, b.at, a.length) == 0);
}

static inline bool
slice_is(struct slice a, const char *text)
{
    return slice_equal(a, slice_string(text));
}

static inline bool
slice_starts(struct slice a, struct slice prefix)
{
    return a.length >= prefix.length &&
           (prefix.length == 0 || memcmp(a.at, prefix.at, prefix.length) == 0);
}

/* Byte order, shorter first among equals: the order of all sorted output here. */
int slice_compare(struct slice a, struct slice b);
bool slice_equal_nocase(struct slice a, struct slice b); /* ASCII only */
bool slice_starts_nocase(struct slice a, struct slice prefix);
struct slice slice_trim(struct slice a); /* ASCII white space off both ends */
/* Takes the first word off a list separated by ASCII whitespace; empty at its end. */
struct slice slice_next_word(struct slice *list);
/* The decimal number at its front, as strtoull(3) reads it; 0 for none, or past SLICE_NUMBER_MOST
 * characters. */
uint64_t slice_number(struct slice text);
enum { SLICE_NUMBER_MOST = 23 }; /* characters */
/* Index of the first c, or a.length. */
size_t slice_find(struct slice a, char c);
/* Takes what stands before the first end off the front, and end itself; the whole where there is
 * none. */
struct slice slice_take(struct slice *rest, char end);
/* Index of the first occurrence of needle, or a.length. */
size_t slice_find_slice(struct slice a, struct slice needle);

#endif
