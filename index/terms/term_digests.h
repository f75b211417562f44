/* Digests of terms at hand. Numbers of terms are each partition's own, so partitions that compare
 * what they have need something that is made of the text; to unpack that takes far longer than all
 * else. A digest is BLAKE2b-128 of the term: terms with the same digest are the same. The first
 * asking makes a term's digest, later ones find it by the term's number, which always means the
 * same while a partition is open. Any thread may ask. */
#ifndef INDEX_TERMS_TERM_DIGESTS_H
#define INDEX_TERMS_TERM_DIGESTS_H

#include "index/quad_source.h"

/* Numbers of terms whose digests are kept at most: 16 bytes each. */
enum { TERM_DIGESTS_MOST = 1 << 22 };

struct term_digests;
struct term_digests *term_digests_new(void);
void term_digests_free(struct term_digests *digests);
/* The digest of a term, or of an inline identifier. arena: for what is unpacked; it is reset. */
enum status term_digests_find(struct term_digests *digests, const struct quad_source *source,
                              oid id, struct arena *arena, struct term_digest *digest,
                              struct reason *why);

#endif
