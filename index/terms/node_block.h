/* A block of terms, unpacked: FORMAT.md, "Node blocks". */
#ifndef INDEX_TERMS_NODE_BLOCK_H
#define INDEX_TERMS_NODE_BLOCK_H

#include "base/arena.h"
#include "base/codec.h"
#include "index/terms/oid.h"

enum { NODE_BLOCK_MOST = 64 << 20 /* bytes unpacked */ };

struct node_block {
    uint64_t first; /* number of its first term; 0: nothing in it */
    size_t count;
    struct buf raw;
    uint32_t *offsets; /* of terms in raw */
    size_t room;       /* of offsets */
};

void node_block_init(struct node_block *block);
void node_block_release(struct node_block *block);
void node_block_trim(struct node_block *block); /* gives back what raw does not need */

/* One entry of raw: written, and read. */
void node_block_put(struct buf *raw, const struct term *term);
bool node_block_get(struct codec_reader *reader, enum oid_kind *kind, struct term *term);

/* Finds the offsets of first .. first + count - 1 in raw. */
enum status node_block_index(struct node_block *block, struct reason *why);
static inline bool
node_block_has(const struct node_block *block, uint64_t number)
{
    return block->first != 0 && number - block->first < block->count;
}
/* The bytes of a term that the block has. */
struct slice node_block_entry(const struct node_block *block, uint64_t number);
/* Copies the term at the front of *entry, and sets its length to what the term takes. */
enum status node_block_entry_copy(struct slice *entry, uint64_t number, enum oid_kind kind,
                                  struct arena *arena, struct term *term, struct reason *why);
/* Copies a term that the block has. CORRUPT when it is of another kind, LIMIT past the arena. */
enum status node_block_copy(const struct node_block *block, uint64_t number, enum oid_kind kind,
                            struct arena *arena, struct term *term, struct reason *why);

#endif
