/* Takers: each puts triples to the documents that they belong to, by a hash of the document over
 * the parts of a spool. One thread per taker. */
#ifndef DUMPS_SLICER_TAKER_H
#define DUMPS_SLICER_TAKER_H

#include "dumps/slicer.h"

/* Documents that are a term of the triple, without its fragment, are not written. A record: u64
 * hash of the document, place, then for DOCUMENT_WRITTEN u64 hash of the condition's line (0:
 * none), length and name of the document, then a run of triples: their subject, then predicate and
 * object of each, packed. */
enum document_place { DOCUMENT_OF_SUBJECT, DOCUMENT_OF_OBJECT, DOCUMENT_WRITTEN };

/* Returns the hash of a document's name or of a condition; never 0. */
uint64_t sliced_hash(struct slice bytes);
/* Puts the triple, which is a line of N-Triples, to this document. condition: another line that the
 * document must have; empty: none. */
enum status slicer_taker_put_line(struct slicer_taker *taker, struct slice document,
                                  struct slice line, struct slice condition, struct reason *why);
/* Adds what it took, which the slicer counts when it is freed. */
void slicer_taker_add_counts(const struct slicer_taker *taker, struct slicer_counts *counts);

#endif
