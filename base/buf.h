/* A growing byte buffer with a declared maximum.
 *
 * Invariants: length <= maximum; data[length] == 0 whenever data != NULL, so that text
 * can be used as a C string. An append that would pass the maximum appends nothing and
 * returns STATUS_LIMIT; the sticky `overflowed` lets a writer check once at the end.
 */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/slice.h"
#include "base/status.h"

struct buf {
    char *data;
    size_t length;
    size_t capacity;
    size_t maximum;
    bool overflowed;
};

void buf_init(struct buf *buf, size_t maximum); /* allocates nothing yet */
void buf_release(struct buf *buf);              /* frees; ready for buf_init again */
void buf_reset(struct buf *buf);                /* length 0, keeps memory, clears overflowed */

char *buf_grow(struct buf *buf, size_t n); /* of buf_reserve */
/* Room for n more bytes: a pointer to write to (then buf_commit), or NULL past the maximum. */
static inline char *
buf_reserve(struct buf *buf, size_t n)
{
    return n < buf->capacity - buf->length ? buf->data + buf->length : buf_grow(buf, n);
}
static inline void
buf_commit(struct buf *buf, size_t n)
{
    buf->length += n;
    buf->data[buf->length] = '\0';
}

enum status buf_append(struct buf *buf, const void *bytes, size_t n);
enum status buf_append_slice(struct buf *buf, struct slice slice);
enum status buf_append_string(struct buf *buf, const char *text);
enum status buf_append_char(struct buf *buf, char c);
enum status buf_printf(struct buf *buf, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
enum status buf_vprintf(struct buf *buf, const char *format, va_list arguments);
/* Appends text as the inside of a JSON string (quotes not added). Bad UTF-8 becomes U+FFFD. */
enum status buf_append_json(struct buf *buf, struct slice text);

struct slice buf_slice(const struct buf *buf);

#endif
