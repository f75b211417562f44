/* One line per event to stderr: key=value pairs, or a JSON object a line.
 *
 *   log_info("fetched", "uri=%s status=%d ms=%d", uri, status, ms)
 *
 * The format holds `key=conversion` pairs separated by single blanks, each conversion one of
 * %s %d %u %ld %lu %zu %g %.3f and %.*s (int, const char *); values are quoted and escaped
 * as the chosen form needs. Lines are written with one write(2), cut at 8 KiB. Thread-safe.
 */
#ifndef BASE_SYSTEM_LOG_H
#define BASE_SYSTEM_LOG_H

#include <stdbool.h>

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARNING, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

/* program stays in every line; it must outlive logging. */
void log_open(const char *program, enum log_level level, bool json);
bool log_enabled(enum log_level level);
void log_event(enum log_level level, const char *event, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#define log_error(...) log_event(LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_warning(...) log_event(LOG_LEVEL_WARNING, __VA_ARGS__)
#define log_info(...) log_event(LOG_LEVEL_INFO, __VA_ARGS__)
#define log_debug(...) log_event(LOG_LEVEL_DEBUG, __VA_ARGS__)

#endif
