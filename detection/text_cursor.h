/* Reading forward through bounded text: shared by the files that sniff text. Private. */
#ifndef DETECTION_TEXT_CURSOR_H
#define DETECTION_TEXT_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

#include "base/slice.h"

struct cursor {
    const char *at, *end;
};

static inline struct cursor
cursor_of(struct slice text)
{
    return (struct cursor){text.at, text.at + text.length};
}

static inline bool
is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f';
}

static inline bool
is_letter(char c)
{
    return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

static inline bool
is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The byte `ahead` of here, 0 past the end. */
static inline char
cursor_peek(const struct cursor *cursor, size_t ahead)
{
    return (size_t)(cursor->end - cursor->at) > ahead ? cursor->at[ahead] : 0;
}

static inline void
cursor_skip_space(struct cursor *cursor)
{
    while (cursor->at < cursor->end && is_space(*cursor->at)) {
        cursor->at++;
    }
}

static inline void
cursor_skip_line(struct cursor *cursor)
{
    const char *newline = memchr(cursor->at, '\n', (size_t)(cursor->end - cursor->at));
    cursor->at = newline ? newline + 1 : cursor->end;
}

/* The next line without its end, behind which the cursor then stands. */
static inline struct slice
cursor_line(struct cursor *cursor)
{
    const char *from = cursor->at;
    const char *newline = memchr(from, '\n', (size_t)(cursor->end - from));
    const char *to = newline ? newline : cursor->end;
    cursor->at = newline ? newline + 1 : cursor->end;
    to -= to > from && to[-1] == '\r';
    return slice_of(from, (size_t)(to - from));
}

static inline bool
cursor_at(const struct cursor *cursor, const char *text)
{
    const size_t n = strlen(text);
    return (size_t)(cursor->end - cursor->at) >= n && memcmp(cursor->at, text, n) == 0;
}

static inline bool
cursor_at_nocase(const struct cursor *cursor, const char *word)
{
    const size_t n = strlen(word);
    return (size_t)(cursor->end - cursor->at) >= n && strncasecmp(cursor->at, word, n) == 0;
}

#endif
