/* The record that says how far the words of literals are in the tree `words`. KEYWORDS.md has its
 * bytes. */
#ifndef INDEX_WORDS_LITERALS_STATE_H
#define INDEX_WORDS_LITERALS_STATE_H

#include "base/buf.h"
#include "index/trees/environment.h"
#include "index/words/posting_memtable.h"

struct literals_state {
    uint64_t next;     /* the first number that is not in the tree */
    uint64_t literals; /* that are, */
    uint64_t words;    /* and how many words they have */
    uint64_t until;    /* words of literals below are being written; 0: none are */
    uint8_t done[WORD_MOST];
    size_t done_length; /* words up to this one are */
};

#define LITERALS_STATE_KEY ((struct slice){"", 1})
/* Reads the state; a tree without a record is empty. CORRUPT. */
enum status literals_state_get(struct tree *tree, struct literals_state *state, struct reason *why);
/* record: initialised here, released by the caller. */
void literals_state_encode(const struct literals_state *state, struct buf *record);
enum status literals_state_put(struct tree *tree, struct transaction *transaction,
                               const struct literals_state *state, struct reason *why);
/* Makes the state what it is when all that is being written is in the tree. */
void literals_state_finish(struct literals_state *state, const struct posting_memtable *written);

/* Fails with CORRUPT: something of the tree `words` is not as it must be. */
enum status literals_damaged(struct reason *why, const char *what);

#endif
