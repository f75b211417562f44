/* Terms <-> identifiers: the tree "terms" (key of a term -> identifier, blocks under fences) and
 * the tree "nodes" (number -> term, nodes.h). A term that was ever stored keeps its identifier.
 *
 * Writing takes all terms of a batch at once, sorted, so that each block is read and written
 * once; recently used terms are answered from memory. Readers enter the latches themselves. */
#ifndef INDEX_TERMS_LEXICON_H
#define INDEX_TERMS_LEXICON_H

#include "index/terms/nodes.h"
#include "index/terms/term_set.h"

struct lexicon;

/* memory: bytes for recent terms of the writer; blocks: for blocks of terms that readers unpacked.
 */
enum status lexicon_open(struct lexicon **lexicon, struct environment *environment, size_t memory,
                         size_t blocks, struct reason *why);
void lexicon_close(struct lexicon *lexicon);
struct tree *lexicon_terms(struct lexicon *lexicon);
struct nodes *lexicon_nodes(struct lexicon *lexicon);

/* Returns the bytes of the tree of terms. Only the writer may call it. */
uint64_t lexicon_bytes(struct lexicon *lexicon);

/* Both pass over terms marked unwanted and those that have an identifier already.
 * Gives every term of the set its identifier (set->terms[i].id). New terms are numbered in the
 * order of the set and stored; for build_from of them the tree of terms may be built anew (0:
 * never). *added: how many. The writer's thread, outside the latches. After a failure the
 * transaction must not be committed and lexicon_forget must be called. */
enum status lexicon_assign(struct lexicon *lexicon, struct transaction *transaction,
                           struct term_set *set, size_t build_from, uint64_t *added,
                           struct reason *why);
/* The identifiers that stored terms have, OID_NONE for others; stores nothing. */
enum status lexicon_find_all(struct lexicon *lexicon, struct term_set *set, struct reason *why);
/* Finds terms in the tree alone, whatever memory recalls. Any thread may call it. */
enum status lexicon_find_stored(struct lexicon *lexicon, struct term_set *set, struct reason *why);
/* Drops what is remembered of a transaction that was aborted. */
enum status lexicon_forget(struct lexicon *lexicon, struct reason *why);

/* One term, any thread. *id = OID_NONE when it is not stored. */
enum status lexicon_find(struct lexicon *lexicon, const struct term *term, oid *id,
                         struct reason *why);

/* Walks the tree of terms for verify, leaving the latch now and then; a term stored meanwhile may
 * be visited or not. */
typedef enum status lexicon_visit(void *context, struct slice key, oid id, struct reason *why);
enum status lexicon_walk(struct lexicon *lexicon, lexicon_visit *visit, void *context,
                         struct reason *why);

#endif
