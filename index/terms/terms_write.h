/* New keys into the tree "terms": into the blocks where they belong, or, when these are most of
 * them, by writing the tree anew. */
#ifndef INDEX_TERMS_TERMS_WRITE_H
#define INDEX_TERMS_TERMS_WRITE_H

#include "index/terms/term_blocks.h"
#include "index/terms/term_set.h"

struct wanted_term {
    struct slice key;
    uint32_t index; /* in the set */
};

/* The terms, sorted by key, with the identifiers that the set has for them; none is in the tree.
 * build_from: the tree may be built anew for so many (0: never). The writer, outside the latches.
 */
enum status terms_write(struct tree *terms, struct transaction *transaction,
                        struct wanted_term *const *wanted, size_t count, const struct term_set *set,
                        size_t build_from, struct reason *why);

enum status terms_damaged(const struct tree *terms, struct reason *why);

static inline struct slice
term_key_slice(const struct term_key *key)
{
    return slice_of((const char *)key->bytes, key->length);
}

#endif
