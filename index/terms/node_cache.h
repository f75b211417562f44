/* Blocks of terms that readers have unpacked, for all readers of a partition: a term that is here
 * costs neither the latch nor unpacking. Only what is committed may be put in, since that never
 * changes. Thread-safe.
 *
 * Two-way: every 64 numbers have a pair of places, the one that was used longer ago is given up. */
#ifndef INDEX_TERMS_NODE_CACHE_H
#define INDEX_TERMS_NODE_CACHE_H

#include "index/terms/node_block.h"

struct node_cache;

/* memory: bytes of blocks that are kept. */
struct node_cache *node_cache_new(size_t memory);
void node_cache_free(struct node_cache *cache);
/* NOT_FOUND (without a reason) when the term is not here; else as node_block_copy. */
enum status node_cache_find(struct node_cache *cache, uint64_t number, enum oid_kind kind,
                            struct arena *arena, struct term *term, struct reason *why);
/* Tells whether a block with this number would take no other's place. */
bool node_cache_has_room(struct node_cache *cache, uint64_t number);
/* Takes the block's content in exchange for older content; the block is empty then. What is too
 * large stays with the caller. */
void node_cache_put(struct node_cache *cache, uint64_t number, struct node_block *block);

#endif
