#include "base/edit_distance.h"

/* Only three lines of the table are kept. */
size_t
edit_distance(struct slice a, struct slice b)
{
    size_t lines[3][EDIT_DISTANCE_MOST + 1];
    for (size_t k = 0; k <= b.length; k++) {
        lines[0][k] = k;
    }
    for (size_t i = 1; i <= a.length; i++) {
        size_t *line = lines[i % 3];
        const size_t *above = lines[(i + 2) % 3], *before = lines[(i + 1) % 3];
        line[0] = i;
        for (size_t k = 1; k <= b.length; k++) {
            size_t best = above[k - 1] + (a.at[i - 1] != b.at[k - 1]);
            best = above[k] + 1 < best ? above[k] + 1 : best;
            best = line[k - 1] + 1 < best ? line[k - 1] + 1 : best;
            if (i > 1 && k > 1 && a.at[i - 1] == b.at[k - 2] && a.at[i - 2] == b.at[k - 1] &&
                before[k - 2] + 1 < best) {
                best = before[k - 2] + 1;
            }
            line[k] = best;
        }
    }
    return lines[a.length % 3][b.length];
}
