/* The keyword index: its tree and its memory. literals.c has its life and follows the lexicon,
 * posting_write.c writes memory to the tree; searches (posting_lists.c) and verify
 * (posting_check.c) read both. */
#ifndef INDEX_WORDS_LITERALS_INDEX_H
#define INDEX_WORDS_LITERALS_INDEX_H

#include "index/words/literals.h"
#include "index/words/literals_state.h"

struct literals {
    struct environment *environment;
    struct tree *tree;
    uint64_t memory;
    size_t build_from; /* 0: never; else the tree is built anew for so many runs of words */

    struct latch memory_latch; /* for what follows: changed by the thread that follows alone */
    struct literals_state state;
    struct posting_memtable *active, *writing; /* writing: NULL when nothing is */
    uint64_t stems;                            /* set of languages */

    atomic_uint_fast64_t writes; /* steps begun and ended: odd while one is under way */

    /* literals.c alone changes the fields that follow. */
    uint64_t next;        /* the first number not in active */
    uint64_t again_until; /* after a start: up to here active is what was being written */
    struct tokenizer *tokenizer;
    struct change_marks *marks;

    /* posting_write.c keeps here how far `writing` is written. */
    struct writing_progress {
        struct memory_head *sorted; /* words of `writing` */
        size_t sorted_count, written;
        struct words_build *build; /* posting_build.c; NULL: writing goes into the tree as it is */
    } progress;
};

#endif
