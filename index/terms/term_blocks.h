/* Keys of terms, and blocks that map them to identifiers. Bytes in FORMAT.md, "Term keys" and
 * "Term blocks". Pure functions over memory. */
#ifndef INDEX_TERMS_TERM_BLOCKS_H
#define INDEX_TERMS_TERM_BLOCKS_H

#include "index/terms/oid.h"
#include "index/trees/fences.h"

enum { TERM_KEY_MAXIMUM = 160, TERM_ENTRY_MOST = 320 /* in one block */ };

struct term_key {
    uint8_t length;
    uint8_t bytes[TERM_KEY_MAXIMUM];
};
/* term: normal (term_set.h), not NONE. */
void term_key_of(const struct term *normal, struct term_key *key);

struct term_entry {
    const uint8_t *key;
    size_t length;
    oid id;
};

static inline struct slice
term_entry_key(const struct term_entry *entry)
{
    return slice_of((const char *)entry->key, entry->length);
}

/* Reads a block from its start, one entry after the other, through one buffer. */
struct term_block_reader {
    const uint8_t *at, *end;
    unsigned count; /* entries read */
    uint64_t number;
    struct term_key key;
    oid id;
    bool bad;
};
/* bad when the bytes are no block; an empty block has no entries. */
void term_block_open(struct term_block_reader *reader, const uint8_t *bytes, size_t length);
/* False at the end and when bad. */
bool term_block_next(struct term_block_reader *reader);

struct term_block_writer {
    uint8_t *start, *at, *limit;
    unsigned count;
    uint64_t number;
    struct slice last; /* the caller's bytes */
};
enum { TERM_ENTRY_BYTES = 2 + 2 + TERM_KEY_MAXIMUM + 10, TERM_BLOCK_HEADER = 1 };
/* bytes: room of size + TERM_ENTRY_BYTES. */
void term_block_begin(struct term_block_writer *writer, uint8_t *bytes, size_t size);
/* False, and nothing added, when it does not fit. The key must live until the next call. */
bool term_block_add(struct term_block_writer *writer, const struct term_entry *entry);
size_t term_block_end(struct term_block_writer *writer);

/* A key not before left and before right: the shortest prefix of right that is after left, or all
 * of left when there is none but right itself. */
struct slice term_fence(struct slice left, struct slice right);

#endif
