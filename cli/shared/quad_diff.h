/* Compares two graphs: the quads of each that the other has not, as lines of N-Quads. */
#ifndef CLI_SHARED_QUAD_DIFF_H
#define CLI_SHARED_QUAD_DIFF_H

#include <stdint.h>
#include <stdio.h>

#include "base/slice.h"

struct quad_diff {
    uint64_t removed, added;
};
/* Lines in any order, each once. Prints "- quad" and "+ quad" in the order of the quads, after the
 * heading, which is left out when nothing differs; NULL: none. */
struct quad_diff quad_diff_print(FILE *out, const char *heading, struct slice before,
                                 struct slice after);

#endif
