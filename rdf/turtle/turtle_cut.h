/* Tells where a Turtle or TriG document may be cut: behind the line ends that follow a statement's
 * full stop or a graph's brace, also within graphs. */
#ifndef RDF_TURTLE_TURTLE_CUT_H
#define RDF_TURTLE_TURTLE_CUT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/slice.h"

struct turtle_cut {
    char quote;      /* in a string that ends with this, or '>' of an IRI, or '\n' of a comment */
    bool is_long;    /* three quotes end it */
    bool escaped;    /* the next character means nothing */
    unsigned quotes; /* of this kind, one behind the other, up to here */
    char last;       /* character outside of all these */
    long depth;      /* of [ ] and ( ) */
};

/* Takes the next bytes; the length up to the last place where they may be cut, 0: there is none. */
size_t turtle_cut_find(struct turtle_cut *cut, struct slice bytes);

#endif
