/* Blank node labels that parsers give out: see rdf/core/parse.h. */
#ifndef RDF_CORE_BLANK_LABEL_H
#define RDF_CORE_BLANK_LABEL_H

#include <stdint.h>

#include "rdf/core/scratch.h"

enum { BLANK_LABEL_SIZE = 21 };

/* "g" and number, into text, not NUL-terminated. */
static inline struct slice
blank_label_made(uint64_t number, char text[BLANK_LABEL_SIZE])
{
    char digits[BLANK_LABEL_SIZE];
    size_t n = 0;
    do {
        digits[n++] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    text[0] = 'g';
    for (size_t i = 0; i < n; i++) {
        text[1 + i] = digits[n - 1 - i];
    }
    return slice_of(text, n + 1);
}

/* The label for one that the document gave: never equal to one made, nor to another's. */
static inline struct slice
blank_label_given(struct scratch *scratch, struct slice label)
{
    return label.at[0] == 'g' ? scratch_join(scratch, SLICE("gx"), label) : label;
}

#endif
