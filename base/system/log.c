#include "base/system/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/system/clock.h"

/* A line is built pair by pair; a pair that does not fit whole is left out and "cut=yes"
 * stands at the end, so that a cut line is still well-formed. */
enum { LOG_LINE_MAXIMUM = 8 << 10, LOG_TAIL_RESERVE = 16, LOG_VALUE_MAXIMUM = 4 << 10 };

static struct {
    const char *program;
    enum log_level level;
    bool json;
} settings = {"quadrille", LOG_LEVEL_INFO, false}; /* set once, before threads */

void
log_open(const char *program, enum log_level level, bool json)
{
    settings.program = program;
    settings.level = level;
    settings.json = json;
}

bool
log_enabled(enum log_level level)
{
    return level <= settings.level;
}

static bool
needs_quotes(struct slice value)
{
    for (size_t i = 0; i < value.length; i++) {
        const unsigned char c = (unsigned char)value.at[i];
        if (c <= ' ' || c == '"' || c == '=' || c == '\\' || c >= 0x7f) {
            return true;
        }
    }
    return value.length == 0;
}

static void
put_pair(struct buf *line, struct slice key, struct slice value, bool number)
{
    const size_t before = line->length;
    enum status status;
    if (settings.json) {
        const char *quote = number ? "" : "\"";
        status = buf_printf(line, "%s\"%.*s\":%s", before ? "," : "{", SLICE_PRINT(key), quote);
        status = status == STATUS_OK ? buf_append_json(line, value) : status;
        status = status == STATUS_OK ? buf_append_string(line, quote) : status;
    } else {
        const char *quote = needs_quotes(value) ? "\"" : "";
        status = buf_printf(line, "%s%.*s=%s", before ? " " : "", SLICE_PRINT(key), quote);
        status = status == STATUS_OK ? buf_append_json(line, value) : status;
        status = status == STATUS_OK ? buf_append_string(line, quote) : status;
    }
    if (status != STATUS_OK && line->data) {
        line->length = before;
        line->data[before] = '\0';
    }
}

static void
put_string(struct buf *line, const char *key, const char *value)
{
    put_pair(line, slice_string(key), slice_string(value), false);
}

/* Cut to what fits: the first bytes of an over-long URI say more than nothing. */
static void
put_text(struct buf *value, const char *text, int size)
{
    const size_t room = value->maximum - value->length;
    const size_t most = size >= 0 && (size_t)size < room ? (size_t)size : room;
    (void)buf_append(value, text ? text : "", text ? strnlen(text, most) : 0);
}

/* Formats the argument of one conversion ("%.3f") and returns what follows it. number tells
 * whether the text is a JSON number. va_list goes by pointer so that it advances. */
static const char *
format_one(const char *format, va_list *arguments, struct buf *value, bool *number)
{
    char conversion[16] = "%";
    const size_t length = strspn(format + 1, "-+ #0123456789.*lhz") + 2;
    const char kind = format[length - 1];
    const char *modifiers = format + 1;
    const bool is_long = memchr(modifiers, 'l', length - 2) || memchr(modifiers, 'z', length - 2);
    const bool starred = memchr(modifiers, '*', length - 2);
    if (kind == '\0' || length >= sizeof conversion) {
        return format + strlen(format);
    }
    memcpy(conversion, format, length);
    conversion[length] = '\0';
    *number = strchr("diufg", kind) != NULL;
    /* The format was checked by the compiler where log_event was called. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    if (kind == '%') {
        (void)buf_append_char(value, '%');
    } else if (kind == 's') {
        const int size = starred ? va_arg(*arguments, int) : -1;
        put_text(value, va_arg(*arguments, const char *), size);
    } else if (kind == 'f' || kind == 'g') {
        const double real = va_arg(*arguments, double);
        *number = real - real == 0; /* JSON has no infinity and no NaN */
        (void)buf_printf(value, conversion, real);
    } else if (is_long) {
        (void)buf_printf(value, conversion, va_arg(*arguments, long));
    } else {
        (void)buf_printf(value, conversion, va_arg(*arguments, int));
    }
#pragma GCC diagnostic pop
    return format + length;
}

/* "key=%d key=%s:%d": a value ends at the next blank of the format. */
static void
put_formatted(struct buf *line, const char *format, va_list *arguments)
{
    struct buf value;
    buf_init(&value, LOG_VALUE_MAXIMUM);
    while (*format) {
        const char *equals = strchr(format, '=');
        if (!equals) {
            break;
        }
        const struct slice key = slice_of(format, (size_t)(equals - format));
        bool number = false;
        int parts = 0;
        buf_reset(&value);
        for (format = equals + 1; *format && *format != ' '; parts++) {
            if (*format == '%') {
                format = format_one(format, arguments, &value, &number);
            } else {
                (void)buf_append_char(&value, *format++);
            }
        }
        put_pair(line, key, buf_slice(&value), number && parts == 1);
        format += *format == ' ';
    }
    buf_release(&value);
}

void
log_event(enum log_level level, const char *event, const char *format, ...)
{
    static const char *const level_names[] = {"error", "warning", "info", "debug"};
    if (!log_enabled(level)) {
        return;
    }
    const int error = errno;
    struct buf line;
    char time[CLOCK_TEXT_SIZE];
    buf_init(&line, LOG_LINE_MAXIMUM - LOG_TAIL_RESERVE);
    clock_text(clock_wall_ms(), 1, time);
    put_string(&line, "time", time);
    put_string(&line, "level", level_names[level]);
    put_string(&line, "program", settings.program);
    put_string(&line, "event", event);
    va_list arguments;
    va_start(arguments, format);
    put_formatted(&line, format, &arguments);
    va_end(arguments);
    line.maximum = LOG_LINE_MAXIMUM;
    if (line.overflowed) {
        put_string(&line, "cut", "yes");
    }
    (void)buf_append_string(&line, settings.json ? "}\n" : "\n");
    const ssize_t ignored = write(STDERR_FILENO, line.data, line.length);
    (void)ignored; /* where else could it be reported? */
    buf_release(&line);
    errno = error;
}
