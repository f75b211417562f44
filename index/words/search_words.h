/* A search wants groups of words: each word wanted is a group of keys (the word, its stems, what OR
 * or a prefix adds), a literal must be in each group and in no excluded one. Words: word_query.h.
 * One thread. */
#ifndef INDEX_WORDS_SEARCH_WORDS_H
#define INDEX_WORDS_SEARCH_WORDS_H

#include "base/arena.h"
#include "index/words/posting_lists.h"

struct word_group {
    struct words_key **keys;
    size_t count, capacity;
    uint64_t literals;
    struct words_union all;      /* lists of the cell under way, */
    bool open;                   /* once they are needed */
    double best[LENGTH_CLASSES]; /* scores; 0: none */
};

struct word_groups {
    struct word_group *at;
    size_t count, capacity;
};

struct word_wants {
    struct words_view view;
    struct arena arena;
    struct tokenizer *tokenizer;
    struct word_groups wanted, excluded;
    struct query_phrase **conditions; /* phrases that all must stand in the text */
    size_t condition_count;
    struct buf needs;      /* change_marks.h */
    bool tagged, untagged; /* only literals with a language tag, without one */
};

void word_wants_open(struct word_wants *wants, struct literals *literals);
void word_wants_close(struct word_wants *wants);
/* Once. MISUSE: the words are no query. */
enum status word_wants_read(struct word_wants *wants, struct slice words, struct reason *why);

#endif
