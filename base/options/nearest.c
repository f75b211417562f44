#include "base/options/nearest.h"

#include <stdio.h>
#include <string.h>

#include "base/edit_distance.h"

enum { STEP = 2 }; /* of one mistake, so that halves can be told */

struct nearest
nearest_to(struct slice typed)
{
    /* A third of the letters may be wrong, and one of a short word; or the rest is missing. */
    const size_t most = typed.length < 6 ? 1 : typed.length / 3;
    return (struct nearest){.typed = typed, .distance = most * STEP + 2};
}

void
nearest_offer(struct nearest *nearest, const char *word)
{
    const struct slice known = slice_string(word);
    const struct slice typed = nearest->typed;
    if (typed.length == 0 || typed.length > EDIT_DISTANCE_MOST ||
        known.length > EDIT_DISTANCE_MOST) {
        return;
    }
    size_t found = STEP * edit_distance(typed, known);
    /* A word that was cut short comes behind one that has a single mistake. */
    if (typed.length > 1 && slice_starts(known, typed) && found > STEP) {
        found = STEP + 1;
    }
    if (found < nearest->distance && found < known.length * STEP) {
        nearest->distance = found;
        nearest->word = word;
    }
}

const char *
nearest_text(const struct nearest *nearest, const char *before, char text[NEAREST_TEXT_SIZE])
{
    text[0] = '\0';
    if (nearest->word != NULL) {
        snprintf(text, NEAREST_TEXT_SIZE, "; is it %s%s?", before, nearest->word);
    }
    return text;
}
