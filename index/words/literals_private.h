/* Inside of the keyword index: literals.c (life, following the lexicon), literals_state.c,
 * posting_write.c (memory to tree), posting_build.c (and to a new tree), search.c, posting_check.c.
 */
#ifndef INDEX_WORDS_LITERALS_PRIVATE_H
#define INDEX_WORDS_LITERALS_PRIVATE_H

#include "base/buf.h"
#include "index/words/literals.h"
#include "index/words/posting_memtable.h"

/* The first byte of a key of the tree that is no word. */
enum { KEY_STATE = 0, KEY_STEM = 1 /* letters of the language */, KEY_TAG = 2 /* language tag */ };

/* Record in the tree. */
struct literals_state {
    uint64_t next;     /* the first number that is not in the tree */
    uint64_t literals; /* that are, */
    uint64_t words;    /* and how many words they have */
    uint64_t until;    /* words of literals below are being written; 0: none are */
    uint8_t done[WORD_MOST];
    size_t done_length; /* words up to this one are */
};

struct literals {
    struct environment *environment;
    struct tree *tree;
    uint64_t memory;
    size_t build_from; /* 0: never; else the tree is built anew for so many runs of words */

    struct latch memory_latch; /* for what follows: changed by the follower alone */
    struct literals_state state;
    struct posting_memtable *active, *writing; /* writing: NULL when nothing is */
    uint64_t stems;                            /* set of languages */

    atomic_uint_fast64_t writes; /* steps begun and ended: odd while one is under way */

    uint64_t next;              /* the first number not in active */
    uint64_t again_until;       /* after a start: up to here active is what was being written */
    struct memory_head *sorted; /* of writing */
    size_t sorted_count, written;
    struct words_build *build; /* NULL: writing goes into the tree as it is */
    struct tokenizer *tokenizer;
    struct change_marks *marks;
};

/* Returns the mark of a key of the tree. A search passes LITERALS_ANY when any literal concerns
 * it. */
static const uint64_t LITERALS_ANY = 1;
uint64_t literals_mark_of(struct slice key);

enum status literals_damaged(struct reason *why, const char *what);
#define LITERALS_STATE_KEY ((struct slice){"", 1})
/* Fills literals->state; a tree without a record is empty. */
enum status literals_state_get(struct literals *literals, struct reason *why);
/* record: initialised here, released by the caller. */
void literals_state_encode(const struct literals_state *state, struct buf *record);
/* When all that is being written will be. */
void literals_state_after(const struct literals *literals, struct literals_state *state);
enum status literals_state_put(struct literals *literals, struct transaction *transaction,
                               const struct literals_state *state, struct reason *why);

/* posting_build.c: of what is being written, when none of it is yet. A failure leaves the build to
 * be dropped. */
enum status literals_build_pays(struct literals *literals, bool *pays, struct reason *why);
enum status literals_build_begin(struct literals *literals, struct reason *why);
enum status literals_build_some(struct literals *literals, bool *end, struct reason *why);
/* Once, when there is no more. Commit it outside of the latches. */
enum status literals_build_end(struct literals *literals, struct transaction *transaction,
                               struct reason *why);
void literals_build_drop(struct literals *literals);

/* Counts the words of a literal into memory; its length in words. stems: set of languages. */
uint64_t literals_count_words(struct posting_memtable *memory, struct tokenizer *tokenizer,
                              const struct term *term, uint64_t *stems);
/* Keys of stems and language tags: written to bytes. */
enum { STEM_KEY_MOST = 3 + WORD_MOST };
struct slice literals_stem_key(int language, struct slice stem, uint8_t key[STEM_KEY_MOST]);
struct slice literals_tag_key(struct slice tag, uint8_t key[WORD_MOST]);

#endif
