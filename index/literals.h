/* Keyword index over string literals: SQLite FTS5 with rowid = identifier, in its own file.
 *
 * Terms are numbered in order and never change, so the file needs to remember only one number:
 * the first term it has not seen. It is stored in the same SQLite transaction as the words, and
 * at start what is missing is read from the lexicon again. Words of terms that no quad uses any
 * more stay; a search asks the quads. Indexed are xsd:string and rdf:langString. One writer
 * thread; each searching thread opens its own literals_search. */
#ifndef INDEX_LITERALS_H
#define INDEX_LITERALS_H

#include "index/nodes.h"

struct literals;

enum status literals_open(struct literals **literals, const char *folder, struct reason *why);
void literals_close(struct literals *literals);
/* Takes in terms with numbers below `limit` (which are committed), at most a few ten thousand;
 * *done when none is left. A file that is ahead of the lexicon is begun anew. */
enum status literals_catch_up(struct literals *literals, struct nodes *nodes, uint64_t limit,
                              bool *done, struct reason *why);
/* The first number not yet taken in. */
uint64_t literals_next(const struct literals *literals);
/* For copies: brings everything into the main file. While nobody catches up, that file alone then
 * is the whole. *whole false: a search was in the way for ten seconds. */
enum status literals_gather(struct literals *literals, bool *whole, struct reason *why);
/* One bounded step of merging the index's parts; first: of a new merge. *end: nothing is left. */
enum status literals_merge_step(struct literals *literals, bool first, bool *end,
                                struct reason *why);
/* Gives free pages back when there are many; rewrites the file for it. */
enum status literals_shrink(struct literals *literals, struct reason *why);

struct literals_search;
enum status literals_search_open(struct literals_search **search, const char *folder,
                                 struct reason *why);
void literals_search_close(struct literals_search *search);
/* words: parted by blanks, all must occur; "a phrase"; prefix*. BAD_INPUT when there is no word
 * in it. Ends an earlier search. */
enum status literals_search_start(struct literals_search *search, struct slice words, uint32_t most,
                                  struct reason *why);
/* Best first; a greater score is better. END. */
enum status literals_search_next(struct literals_search *search, oid *literal, double *score,
                                 struct reason *why);
void literals_search_stop(struct literals_search *search);

/* For verify: FTS5's own check, how many literals are indexed, the sum of their identifiers. */
enum status literals_check(struct literals_search *search, uint64_t *count, uint64_t *sum,
                           struct reason *why);

#endif
