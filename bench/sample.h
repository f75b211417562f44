/* What benches of an index ask for, taken at random from the index itself: documents, quads and
 * words, so often as they occur. */
#ifndef BENCH_SAMPLE_H
#define BENCH_SAMPLE_H

#include "index/write/partition.h"

struct sample {
    struct arena arena; /* holds all terms */
    struct slice *documents;
    size_t document_count;
    struct quad *quads;
    size_t quad_count;
    struct slice *words; /* ASCII, of four letters or more, from literals among the quads */
    size_t word_count;
};
/* All documents' URIs; the quads of `documents` of them, at most `quads_each` of each. */
enum status sample_take(struct sample *sample, struct partition *partition, size_t documents,
                        size_t quads_each, struct reason *why);
void sample_release(struct sample *sample);

/* Numbers that look random, the same in each run; *state is not 0. */
uint64_t sample_random(uint64_t *state);

/* Sorts; the time at or below which `share` (0 to 1) of them are; 0 when there are none. */
uint64_t sample_percentile(uint64_t *times, size_t count, double share);

#endif
