#include "base/status.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name, *text;
} statuses[STATUS_COUNT] = {
#define X(name, text) {#name, text},
    STATUS_MAP(X)
#undef X
};

const char *
status_name(enum status status)
{
    return (unsigned)status < STATUS_COUNT ? statuses[status].name : "UNKNOWN";
}

const char *
status_text(enum status status)
{
    return (unsigned)status < STATUS_COUNT ? statuses[status].text : "unknown status";
}

int
status_exit_code(enum status status)
{
    switch (status) {
    case STATUS_OK:
    case STATUS_END:
        return EXIT_DONE;
    case STATUS_MISUSE:
        return EXIT_MISUSE;
    default:
        return EXIT_SYSTEM;
    }
}

/* Texts of libraries and of hostile documents end up here: one line, no control characters. */
static void
reason_flatten(struct reason *why)
{
    size_t length = 0;
    for (size_t i = 0; why->text[i]; i++) {
        const unsigned char c = (unsigned char)why->text[i];
        if (c < 0x20 || c == 0x7f) {
            why->text[i] = ' ';
        }
        if (why->text[i] != ' ') {
            length = i + 1;
        }
    }
    why->text[length] = '\0';
}

/* Built aside, because the arguments and the tail may point into *why. */
static void
reason_fill(struct reason *why, const char *tail, const char *format, va_list arguments)
{
    struct reason made;
    const int length = vsnprintf(made.text, sizeof made.text, format, arguments);
    size_t used = length < 0 ? 0 : (size_t)length;
    for (const char *part = tail ? ": " : NULL; part; part = part == tail ? NULL : tail) {
        for (const char *at = part; *at && used < sizeof made.text - 1; at++) {
            made.text[used++] = *at;
        }
    }
    made.text[used < sizeof made.text ? used : sizeof made.text - 1] = '\0';
    *why = made;
    reason_flatten(why);
}

enum status
status_fail(struct reason *why, enum status status, const char *format, ...)
{
    if (why) {
        va_list arguments;
        va_start(arguments, format);
        reason_fill(why, NULL, format, arguments);
        va_end(arguments);
    }
    return status;
}

enum status
status_fail_errno(struct reason *why, const char *format, ...)
{
    if (why) {
        const char *tail = strerror(errno);
        va_list arguments;
        va_start(arguments, format);
        reason_fill(why, tail, format, arguments);
        va_end(arguments);
    }
    return STATUS_SYSTEM;
}

enum status
status_prefix(struct reason *why, enum status status, const char *format, ...)
{
    if (why) {
        va_list arguments;
        va_start(arguments, format);
        reason_fill(why, why->text, format, arguments);
        va_end(arguments);
    }
    return status;
}
