/* Counts how many mistakes make one word of another: characters inserted, left out, replaced, or
 * swapped with their neighbour (Damerau and Levenshtein, where no part is changed twice). */
#ifndef BASE_EDIT_DISTANCE_H
#define BASE_EDIT_DISTANCE_H

#include <stddef.h>

#include "base/slice.h"

/* Both have EDIT_DISTANCE_MOST bytes at most. Bytes are compared: who minds no case, lowers them.
 */
enum { EDIT_DISTANCE_MOST = 48 };
size_t edit_distance(struct slice a, struct slice b);

#endif
