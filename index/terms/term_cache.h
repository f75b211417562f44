/* Terms that readers have resolved, for all readers of a partition. An answer from many documents
 * has each term from another block: a block of some 3 KiB is then kept for one term of 60 bytes,
 * and here fifty of them are kept instead. Thread-safe.
 *
 * Entries as they stand in blocks, one after the other in a ring; what is found in its older half
 * is written again, so that what is asked for again and again stays. Only what is committed may be
 * put in, since that never changes. */
#ifndef INDEX_TERMS_TERM_CACHE_H
#define INDEX_TERMS_TERM_CACHE_H

#include "index/terms/node_block.h"

struct term_cache;

/* memory: bytes in all. */
struct term_cache *term_cache_new(size_t memory);
/* Returns how many bytes of entries there is room for. */
size_t term_cache_room(const struct term_cache *cache);
void term_cache_free(struct term_cache *cache);
/* NOT_FOUND (without a reason) when the term is not here; else as node_block_copy. */
enum status term_cache_find(struct term_cache *cache, uint64_t number, enum oid_kind kind,
                            struct arena *arena, struct term *term, struct reason *why);
/* Keeps an entry (node_block_entry); false: it is too large. */
bool term_cache_put(struct term_cache *cache, uint64_t number, struct slice entry);

#endif
