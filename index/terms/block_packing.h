/* Packing blocks of terms by zstd, with dictionaries that are trained on the index's own terms and
 * kept in the tree "dictionaries". FORMAT.md, "Node blocks".
 *
 * Small blocks pack badly each by itself: most of what repeats does so from block to block. A new
 * dictionary is made when the lexicon has grown eightfold since the last; blocks keep theirs. */
#ifndef INDEX_TERMS_BLOCK_PACKING_H
#define INDEX_TERMS_BLOCK_PACKING_H

#include <zstd.h>

#include "index/trees/environment.h"

struct packing;

enum status packing_open(struct packing **packing, struct environment *environment,
                         struct reason *why);
void packing_close(struct packing *packing);
/* After a transaction was aborted. */
enum status packing_reload(struct packing *packing, struct reason *why);

/* ---- the writer ---- */

/* Returns whether a dictionary should be made now that there are to be so many terms. */
bool packing_is_due(const struct packing *packing, uint64_t terms);
enum { PACKING_SAMPLE_BYTES = 1 << 20 /* enough */ };
/* Makes a dictionary of samples that lie end to end: takes a tenth of a second. What is no use as
 * samples gives none. */
void packing_train(struct packing *packing, uint64_t terms, const char *samples,
                   const size_t *sizes, unsigned count);
/* Stores what was trained, if anything, and uses it from now on. Readers need no latch: they never
 * read the tree. */
enum status packing_store(struct packing *packing, struct transaction *transaction,
                          struct reason *why);
/* Number of the dictionary in use, 0: none. */
unsigned packing_dictionary(const struct packing *packing);
/* Packed bytes at target, which has room for ZSTD_compressBound; 0: they would not be fewer. */
size_t packing_pack(struct packing *packing, char *target, struct slice raw);

/* ---- any thread ---- */

/* False when the bytes are not `length` packed ones. The context is the caller's. */
bool packing_unpack(struct packing *packing, ZSTD_DCtx *context, uint64_t dictionary, char *target,
                    size_t length, struct slice packed);

#endif
