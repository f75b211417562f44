/* Lists of literals for a search: of a word and class, from the tree and memory; and many of them
 * as one. */
#ifndef INDEX_WORDS_POSTING_LISTS_H
#define INDEX_WORDS_POSTING_LISTS_H

#include "base/arena.h"
#include "index/words/literals_index.h"
#include "index/words/word_query.h"

/* The state of the index that one search sees, from its beginning to its end. */
struct words_view {
    struct literals *literals;
    uint64_t next; /* numbers below are in the tree, */
    struct posting_memtable
        *memory[2]; /* others here: what is being written (or NULL), what waits */
    uint64_t count; /* literals */
    double length;  /* words of one on average */
    uint64_t stems; /* set of languages */
    struct fence_cursor cursor;
};
void words_view_open(struct words_view *view, struct literals *literals);
void words_view_close(struct words_view *view);

/* A block of the tree, kept. */
struct words_block {
    uint8_t fence[FENCE_SIZE_MAXIMUM];
    size_t fence_length, length;
    uint8_t bytes[BLOCK_MAXIMUM];
};

/* A word that occurs. */
struct words_key {
    struct slice word;
    uint64_t literals, classes;
    uint64_t tree_classes;
    struct memory_head memory[2];         /* without postings: not there */
    struct memory_postings *postings[2];  /* of it, once needed */
    struct words_block *block;            /* where the tree has its head; NULL: nowhere */
    double weight;                        /* of its scores */
    const struct query_phrase *condition; /* must stand in the text, too; NULL: none */
};
/* Finds a word and keeps it in the arena; *key is NULL when it does not occur. */
enum status words_find(struct words_view *view, struct slice word, struct arena *arena,
                       struct words_key **key, struct reason *why);
/* All words with the prefix but the least frequent of more than most; *keys is the caller's. */
enum status words_find_prefix(struct words_view *view, struct slice prefix, size_t most,
                              struct arena *arena, struct words_key ***keys, size_t *count,
                              struct reason *why);

/* Postings of a word and class, in order of their numbers. */
struct words_list {
    struct words_key *key;
    unsigned class;
    double score;
    uint64_t number; /* where it stands */
    bool tagged;
    enum { LIST_TREE, LIST_WRITING, LIST_WAITING, LIST_END } stage;
    struct posting_reader postings;
    uint64_t bound; /* what of the tree is up to here lies in this block */
    struct words_block *block;
    bool own_block;
    const uint64_t *code, *code_end; /* of memory: what is still to come */
};

/* Several lists as one, the least number first. */
struct words_union {
    struct words_view *view;
    struct arena *arena;
    struct words_list **heap;
    size_t count, capacity;
};
void words_union_init(struct words_union *all, struct words_view *view, struct arena *arena);
void words_union_release(struct words_union *all);
void words_union_reset(struct words_union *all);
enum status words_union_add(struct words_union *all, struct words_key *key, unsigned class,
                            double score, struct reason *why);
/* Goes on to the first number not before this one: all lists, or the first one past its own.
 * *first NULL at the end. */
enum status words_union_seek(struct words_union *all, uint64_t number,
                             const struct words_list **first, struct reason *why);
enum status words_union_pass(struct words_union *all, const struct words_list **first,
                             struct reason *why);

#endif
