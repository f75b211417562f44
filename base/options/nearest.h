/* Tells which of some known words a mistyped one most likely was meant to be.
 *
 *   struct nearest nearest = nearest_to(typed);
 *   for each known word: nearest_offer(&nearest, word);
 *   nearest_text(&nearest, "", text) */
#ifndef BASE_OPTIONS_NEAREST_H
#define BASE_OPTIONS_NEAREST_H

#include <stddef.h>

#include "base/slice.h"

struct nearest {
    struct slice typed;
    const char *word;
    size_t distance; /* of word: characters inserted, deleted, replaced or swapped; halves count */
};

struct nearest nearest_to(struct slice typed);
void nearest_offer(struct nearest *nearest, const char *word);

/* Returns a piece of a message: "; is it WORD?" with what stands before words, or nothing. */
enum { NEAREST_TEXT_SIZE = 96 };
const char *nearest_text(const struct nearest *nearest, const char *before,
                         char text[NEAREST_TEXT_SIZE]);

#endif
