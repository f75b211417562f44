/* Words that nothing has, with the words that they may be meant for.
 *
 * A word of 5 to SPELLING_LETTERS letters of ASCII may differ by one error from what was meant: a
 * letter too many, missing, another one, or two of them exchanged; one of 9 letters and more by
 * two, when its first four are right. Of those that the index has the one is taken that is most
 * frequent in the literals found. Words in quotation marks and with signs are left as they are. */
#ifndef SEARCH_SPELLING_H
#define SEARCH_SPELLING_H

#include "base/buf.h"
#include "base/status.h"
#include "index/client/index_client.h"

enum { SPELLING_LETTERS = 20, SPELLING_WORDS = 8 };

/* Appends the words with those replaced that nothing has; *changed: there were some. To be called
 * when a search for all of them has found nothing. */
enum status spelling_correct(struct index_client *client, struct slice words, struct buf *corrected,
                             bool *changed, struct reason *why);
/* Calls take for words that begin so, the most frequent in the literals found first. */
enum { SPELLING_COMPLETIONS = 10 };
typedef void spelling_take(void *context, struct slice word);
enum status spelling_complete(struct index_client *client, struct slice prefix, spelling_take *take,
                              void *context, struct reason *why);
/* Errors that a word of so many letters may have: 0, 1 or 2. */
unsigned spelling_errors_borne(size_t letters);
/* Errors between two words, at most `most` + 1: an exchange of neighbours is one. */
unsigned spelling_distance(struct slice a, struct slice b, unsigned most);

#endif
