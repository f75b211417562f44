/* Documents that are longer than memory: read piece by piece.
 *
 * What rdf/core/parse.h promises holds, except that bytes which are not UTF-8 may be found after
 * the statements before them were handed on, and that columns of errors are not always known.
 */
#ifndef RDF_CORE_SOURCE_H
#define RDF_CORE_SOURCE_H

#include "rdf/core/parse.h"

struct rdf_source {
    /* Fills bytes, at most size (never 0); *length 0: the end. */
    enum status (*read)(void *context, char *bytes, size_t size, size_t *length,
                        struct reason *why);
    void *context;
};

enum {
    RDF_STATEMENT_MAXIMUM = 256 << 20, /* bytes of a statement of Turtle with all that is in it */
    RDF_WHOLE_MAXIMUM = 1 << 30        /* of documents in syntaxes that are read whole */
};

typedef enum status rdf_read_function(const struct rdf_source *source,
                                      const struct parse_options *options,
                                      const struct quad_sink *sink, struct reason *why);

#endif
