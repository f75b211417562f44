/* Keyword index over string literals: their words in the tree `words` and, until they are written
 * there, in memory. KEYWORDS.md, has the bytes.
 *
 * Terms are numbered in order and never change, so all the index remembers is one number: the
 * first term whose words are not in the tree. What comes after is read from the lexicon into
 * memory, at start as after each commit, and is found from there. A full memory is closed and
 * written out in steps, each a transaction that ends with a word; the last one moves the number.
 * A search takes postings below the number from the tree and the others from memory, so what is
 * being written is never seen twice; a start after a crash reads the same terms again and goes on
 * after the last word written. Words of terms that no quad uses any more stay; a search asks the
 * quads. Indexed are xsd:string and rdf:langString. One thread follows the lexicon and writes;
 * any searches. */
#ifndef INDEX_WORDS_LITERALS_H
#define INDEX_WORDS_LITERALS_H

#include <stdatomic.h>

#include "index/terms/change_marks.h"
#include "index/terms/nodes.h"

struct literals;

/* memory: bytes of words that wait to be written. build_from: for so many words (of each length and
 * count) the tree is built anew where that pays; 0: never. */
enum status literals_open(struct literals **literals, struct environment *environment,
                          uint64_t memory, size_t build_from, struct reason *why);
void literals_close(struct literals *literals); /* what waits is read again at the next start */
/* Takes in terms with numbers below `limit` (which are committed), at most a few thousand, and
 * none while the memory is full. */
enum status literals_catch_up(struct literals *literals, struct nodes *nodes, uint64_t limit,
                              struct reason *why);
/* The first number not yet taken in; and not yet in the tree. */
uint64_t literals_next(const struct literals *literals);
uint64_t literals_written(const struct literals *literals);
/* When a literal with a key came last: its number + 1. Keys are what literals_search_needs gives.
 */
const struct change_marks *literals_marks(const struct literals *literals);

/* Returns whether something is to be written; all: or could be. */
bool literals_is_full(const struct literals *literals);
bool literals_to_write(const struct literals *literals, bool all);
/* One bounded step, in a transaction of its own that is not synced. Begins with what waits when
 * nothing is being written. No other transaction may be open. copying: the log is held, so no new
 * tree is begun; AGAIN when one is finished. */
enum status literals_write_step(struct literals *literals, bool copying, struct reason *why);

struct literals_search;
/* Words in text as docs/SEARCH.md has them. BAD_INPUT when there is nothing to
 * search for; LIMIT. most: results wanted, about; more will come when asked for. */
enum status literals_search_open(struct literals_search **search, struct literals *literals,
                                 struct nodes *nodes, struct slice words, uint32_t most,
                                 struct reason *why);
void literals_search_close(struct literals_search *search);
/* Returns what decides which literals are found: they are the same until a mark of one is passed.
 * Scores also depend on how many literals there are in all. */
struct slice literals_search_needs(const struct literals_search *search);
/* Best first, then as they were numbered; a greater score is better. END. */
enum status literals_search_next(struct literals_search *search, oid *literal, double *score,
                                 struct reason *why);

/* Compares, for verify, what is in the tree with the literals of the lexicon. *count: how many were
 * there when it began. Any thread; writing goes on. CORRUPT, CANCELLED. */
enum status literals_check(struct literals *literals, struct nodes *nodes,
                           const atomic_bool *cancel, uint64_t *count, struct reason *why);

#endif
