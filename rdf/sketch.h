/* Near duplicates: what two documents say, compared by a few bytes of each.
 *
 * A document's shingles are its statements, its own URI and the labels of blank nodes left out, and
 * sequences of four words of its longer literals. Their hashes are spread over 16 places, and each
 * place keeps the least (one-permutation min-hash: Li, Owen, Zhang 2012; places that stay empty
 * borrow from the next: Shrivastava, Li 2014). Two sketches agree in a place with the probability
 * of their resemblance: shingles that both have / shingles that either has (Broder 1997). */
#ifndef RDF_SKETCH_H
#define RDF_SKETCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slice.h"

enum {
    SKETCH_PLACES = 16,
    SKETCH_SAME = 14, /* places that agree in near duplicates */
    SKETCH_BANDS = 4, /* each of four places: near duplicates nearly always share one */
    SKETCH_TEXT = SKETCH_PLACES * 8 + 1
};

struct sketch {
    uint32_t places[SKETCH_PLACES];
};

/* nquads: lines, as writers of ours make them; document: its URI. False: it says nothing. */
bool sketch_of(struct slice nquads, struct slice document, struct sketch *sketch);
unsigned sketch_agreement(const struct sketch *a, const struct sketch *b);
/* 0..SKETCH_BANDS - 1; equal bands have equal prints. */
uint64_t sketch_band(const struct sketch *sketch, unsigned band);
/* In hexadecimal digits. */
void sketch_write(const struct sketch *sketch, char text[SKETCH_TEXT]);
bool sketch_read(struct slice text, struct sketch *sketch);

#endif
