#include "base/options/nearest.h"

#include <stdio.h>
#include <string.h>

enum { WORD_MAXIMUM = 48, STEP = 2 };

/* Damerau's and Levenshtein's distance, with swaps of neighbours, times STEP. Only three lines of
 * the table are kept. */
static size_t
distance(struct slice a, struct slice b)
{
    size_t lines[3][WORD_MAXIMUM + 1];
    for (size_t k = 0; k <= b.length; k++) {
        lines[0][k] = k * STEP;
    }
    for (size_t i = 1; i <= a.length; i++) {
        size_t *line = lines[i % 3];
        const size_t *above = lines[(i + 2) % 3], *before = lines[(i + 1) % 3];
        line[0] = i * STEP;
        for (size_t k = 1; k <= b.length; k++) {
            size_t best = above[k - 1] + (a.at[i - 1] == b.at[k - 1] ? 0 : STEP);
            best = above[k] + STEP < best ? above[k] + STEP : best;
            best = line[k - 1] + STEP < best ? line[k - 1] + STEP : best;
            if (i > 1 && k > 1 && a.at[i - 1] == b.at[k - 2] && a.at[i - 2] == b.at[k - 1] &&
                before[k - 2] + STEP < best) {
                best = before[k - 2] + STEP;
            }
            line[k] = best;
        }
    }
    return lines[a.length % 3][b.length];
}

struct nearest
nearest_to(struct slice typed)
{
    /* A third of the letters may be wrong, and one of a short word. */
    const size_t most = typed.length < 6 ? 1 : typed.length / 3;
    return (struct nearest){.typed = typed, .distance = most * STEP + 1};
}

void
nearest_offer(struct nearest *nearest, const char *word)
{
    const struct slice known = slice_string(word);
    const struct slice typed = nearest->typed;
    if (typed.length == 0 || typed.length > WORD_MAXIMUM || known.length > WORD_MAXIMUM) {
        return;
    }
    size_t found = distance(typed, known);
    /* What was cut short comes behind a single mistake. */
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
