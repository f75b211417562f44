/* Writing what is in memory into a new tree of words, a merge of the old one and of memory. The
 * thread that writes. A failure leaves the build to be dropped. */
#ifndef INDEX_WORDS_POSTING_BUILD_H
#define INDEX_WORDS_POSTING_BUILD_H

#include "index/words/literals.h"

/* Tells whether a new tree costs less than changing the old one, when nothing is written yet. */
enum status literals_build_pays(struct literals *literals, bool *pays, struct reason *why);
enum status literals_build_begin(struct literals *literals, struct reason *why);
enum status literals_build_some(struct literals *literals, bool *end, struct reason *why);
/* Once, when there is no more. Commit it outside of the latches. */
enum status literals_build_end(struct literals *literals, struct transaction *transaction,
                               struct reason *why);
void literals_build_drop(struct literals *literals);

#endif
