/* Status for control, reason for people.
 *
 * Every fallible function returns an enum status and takes a `struct reason *why`
 * as its last argument (may be NULL). On any status other than STATUS_OK and
 * STATUS_END the function has filled the reason with one line of text that says
 * what could not be done and why, naming the file, line, URI or option at fault.
 *
 * Memory exhaustion is not a status: base/memory.h ends the process with exit 111,
 * because hostile input is bounded elsewhere and everything here survives a crash.
 */
#ifndef BASE_STATUS_H
#define BASE_STATUS_H

/* name, text */
#define STATUS_MAP(X)                                     \
    X(OK, "done")                                         \
    X(END, "no more")                                     \
    X(AGAIN, "not now, try again")                        \
    X(BAD_INPUT, "input is malformed")                    \
    X(LIMIT, "a configured limit was reached")            \
    X(NOT_FOUND, "not found")                             \
    X(DENIED, "not allowed")                              \
    X(FULL, "no room left")                               \
    X(STALE, "superseded by newer work")                  \
    X(TIMEOUT, "took too long")                           \
    X(CANCELLED, "cancelled")                             \
    X(UNSUPPORTED, "not supported")                       \
    X(PROTOCOL, "a message was not understood")           \
    X(CORRUPT, "stored data is damaged")                  \
    X(MISUSE, "called with wrong arguments")              \
    X(SYSTEM, "the operating system or a library failed") \
    X(UNAVAILABLE, "another node does not answer")

enum status {
#define X(name, text) STATUS_##name,
    STATUS_MAP(X)
#undef X
        STATUS_COUNT
};

enum { REASON_SIZE = 512 };

/* One line of text, NUL-terminated, cut at REASON_SIZE - 1 bytes. No newline inside. */
struct reason {
    char text[REASON_SIZE];
};

/* Exit codes of every program. */
enum { EXIT_DONE = 0, EXIT_MISUSE = 100, EXIT_SYSTEM = 111 };

const char *status_name(enum status status); /* "BAD_INPUT" */
const char *status_text(enum status status); /* "input is malformed" */

/* EXIT_DONE for OK and END, EXIT_MISUSE for MISUSE, EXIT_SYSTEM otherwise. */
int status_exit_code(enum status status);

/* Fills *why (when not NULL) and returns status: `return status_fail(why, STATUS_LIMIT, ...)`. */
enum status status_fail(struct reason *why, enum status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Fails as status_fail does, with ": strerror(errno)" appended; always returns STATUS_SYSTEM. */
enum status status_fail_errno(struct reason *why, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Puts "text: " before what *why already says; returns status unchanged. */
enum status status_prefix(struct reason *why, enum status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Hands any status but OK to the caller. For functions with nothing to clean up. */
#define TRY(expression)                               \
    do {                                              \
        const enum status try_status_ = (expression); \
        if (try_status_ != STATUS_OK) {               \
            return try_status_;                       \
        }                                             \
    } while (0)

#endif
