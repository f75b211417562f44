/* N-Triples and N-Quads read by several threads: the input is cut behind line ends, and each thread
 * parses one piece after the other into a sink of its own. */
#ifndef CLI_IMPORT_IMPORT_LINES_H
#define CLI_IMPORT_IMPORT_LINES_H

#include "rdf/core/parse.h"

/* Fills bytes, at most size; *length 0: the end. */
typedef enum status import_fill(void *context, char *bytes, size_t size, size_t *length,
                                struct reason *why);

struct import_lines {
    import_fill *fill;
    void *context;
    bool triples; /* a graph is an error */
    const struct parse_options
        *options;                  /* its problem function is called by one thread at a time */
    const struct quad_sink *sinks; /* one for each thread */
    unsigned threads;
};
/* Reads the lines of a dump in several threads. Of several errors the first in the input is
 * reported. Statements behind an error may have been handed on. */
enum status import_lines(const struct import_lines *lines, struct reason *why);

#endif
