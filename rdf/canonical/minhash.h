/* Near duplicates: what two documents say, compared by a few bytes of each.
 *
 * A document's shingles are its statements, its own URI and the labels of blank nodes left out, and
 * sequences of four words of its longer literals. Their hashes are spread over 16 places, and each
 * place keeps the least (one-permutation min-hash: Li, Owen, Zhang 2012; places that stay empty
 * borrow from the next: Shrivastava, Li 2014). Two MinHashes agree in a place with the probability
 * of their resemblance: shingles that both have / shingles that either has (Broder 1997). */
#ifndef RDF_CANONICAL_MINHASH_H
#define RDF_CANONICAL_MINHASH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slice.h"

enum {
    MINHASH_PLACES = 16,
    MINHASH_SAME = 14, /* places that agree in near duplicates */
    MINHASH_BANDS = 4, /* each of four places: near duplicates nearly always share one */
    MINHASH_TEXT = MINHASH_PLACES * 8 + 1
};

struct minhash {
    uint32_t places[MINHASH_PLACES];
};

/* nquads: lines, as writers of ours make them; document: its URI. False: it says nothing. */
bool minhash_of(struct slice nquads, struct slice document, struct minhash *minhash);
unsigned minhash_agreement(const struct minhash *a, const struct minhash *b);
/* 0..SKETCH_BANDS - 1; equal bands have equal fingerprints. */
uint64_t minhash_band(const struct minhash *minhash, unsigned band);
/* Writes the sketch in hexadecimal digits. */
void minhash_write(const struct minhash *minhash, char text[MINHASH_TEXT]);
bool minhash_read(struct slice text, struct minhash *minhash);

#endif
