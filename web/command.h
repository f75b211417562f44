/* Answers that a process of its own makes, `quadrille COMMAND`: what fetches and parses foreign
 * documents shares no memory with this service, may be ended at any moment, and takes its sandboxed
 * workers along. At most so many run at a time, one for each client, and a host of the web is asked
 * for by one at a time, with fetch.delay in between. */
#ifndef WEB_COMMAND_H
#define WEB_COMMAND_H

#include "web/web_service.h"

enum { WEB_COMMAND_ARGUMENTS = 12, WEB_COMMAND_PLACES = 4, WEB_COMMAND_BYTES = 32 << 20 };

struct web_command {
    const char *name;                             /* "inspect" */
    const char *arguments[WEB_COMMAND_ARGUMENTS]; /* flags; NULL ends them */
    const char *operand;                          /* the last one; never read as a flag */
    struct slice input;                           /* its standard input */
    struct slice host;                            /* of the web that it asks; empty: none */
};

/* A form of an answer. */
struct web_command_format {
    const char *name; /* of format= and of the command's --format */
    const char *type;
    bool page; /* what the command prints stands in the frame of a page */
};

/* One of the formats with these names, NULL ends them, by format= or Accept, which likes the
 * earlier of equals. NULL: the reply has the text `told`. */
const struct web_command_format *web_command_format(const struct web_request *request,
                                                    const char *const *names, const char *told,
                                                    struct web_reply *reply);
/* Give the value of the command's --format, and the reply's type. */
const char *web_command_format_flag(const struct web_command_format *format);
const char *web_command_format_type(const struct web_command_format *format);

/* Runs it and appends what it printed to out, which is bounded. Otherwise the reply says why, and
 * false is returned: too many commands, misuse (400), a failure (422), no answer in time (504). */
bool web_command_run(struct web_service *service, const struct web_request *request,
                     const struct web_command *command, struct buf *out, struct web_reply *reply);

#endif
