/* These are the rules that every parser of this folder keeps.
 *
 * A parser is a function over one document in memory. It hands quads to a sink in document
 * order; their slices point into the document or into the parser and die when the sink
 * returns. Blank nodes keep the label the document gave them, except that a label starting
 * with 'g' gets "gx" before it: "g" and digits are the labels parsers make up. N-Triples
 * and N-Quads, which make up none, keep all labels.
 *
 * Strict (the default): the first error ends parsing with BAD_INPUT and a reason that says
 * "line L, column C: what was wrong". Quads before the error have been handed on already.
 * Lenient: errors go to `problems`, the statement at fault is skipped, parsing goes on and
 * ends with OK; XML that is not well-formed is BAD_INPUT all the same.
 * A byte order mark at the start is skipped. Parsers are re-entrant and thread-safe.
 */
#ifndef RDF_CORE_PARSE_H
#define RDF_CORE_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/slice.h"
#include "base/status.h"
#include "rdf/core/term.h"

enum {
    PARSE_DEPTH = 200,           /* nesting of [ ], ( ), XML elements: default */
    PARSE_DEPTH_MAXIMUM = 2000,  /* what an 8 MiB stack bears */
    PARSE_TERM_SIZE = 16 << 20,  /* bytes of one term: default */
    PARSE_PROBLEM_MAXIMUM = 1000 /* problems reported of one document; the rest is skipped mutely */
};

/* The lines that the elements of XML come from, when it was made from another document, in the
 * order of start tags. 0 means unknown. */
struct parse_origin {
    const uint32_t *lines;
    size_t count;
};

struct parse_options {
    struct slice base; /* IRI against which relative ones are resolved; empty: they are errors */
    bool lenient;
    struct problem_sink problems;      /* called in lenient parsing; .problem may be NULL */
    bool lines;                        /* fill quad.line; some parsers always do */
    const struct parse_origin *origin; /* RDF/XML: lines are these; NULL: the document's own */
    uint32_t depth;                    /* 0: PARSE_DEPTH */
    size_t term_size;                  /* 0: PARSE_TERM_SIZE; a longer term is STATUS_LIMIT */
};

/* options may be NULL: strict, no base. Returns OK; BAD_INPUT; LIMIT for input past depth or
 * term_size; or whatever status other than OK the sink returned. */
typedef enum status parse_function(struct slice bytes, const struct parse_options *options,
                                   const struct quad_sink *sink, struct reason *why);

#endif
