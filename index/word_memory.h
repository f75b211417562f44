/* Postings of literals that are not in the tree yet. One thread adds; others look things up at the
 * same time. What they look up keeps its meaning while more is added behind it, so only looking up
 * itself has to be kept apart from adding (a gate, the caller's); postings are then read without.
 * Freed with the last reference. */
#ifndef INDEX_WORD_MEMORY_H
#define INDEX_WORD_MEMORY_H

#include <stddef.h>

#include "index/word_blocks.h"

struct word_memory;
struct word_memory *word_memory_new(void);
struct word_memory *word_memory_share(struct word_memory *memory); /* any thread */
void word_memory_free(struct word_memory *memory);                 /* any thread; NULL is fine */
size_t word_memory_bytes(const struct word_memory *memory);
uint64_t word_memory_literals(const struct word_memory *memory);
uint64_t word_memory_words(const struct word_memory *memory); /* sum of their lengths */

/* ---- adding: the words of one literal, then its number ---- */

struct memory_word;
/* Two steps ahead of counting, for several words one after the other, so that they are waited for
 * together: bring in where the word is found, then the word. */
uint32_t word_memory_expect(const struct word_memory *memory, struct slice word);
void word_memory_expect_word(const struct word_memory *memory, uint32_t hash);
/* Counts the word once more for the literal under way. hash: from word_memory_expect. */
struct memory_word *word_memory_count(struct word_memory *memory, struct slice word, uint32_t hash);
/* The stem that was kept for the word and language; NULL. */
struct memory_word *memory_word_stem(const struct memory_word *word, int language);
void memory_word_keep_stem(struct memory_word *word, int language, struct memory_word *stem);
/* Counts an occurrence as word_memory_count does, of a word that the caller has. */
void word_memory_count_again(struct word_memory *memory, struct memory_word *word);
/* Adds postings of all words counted; numbers grow. length: of the literal in words. */
void word_memory_end_literal(struct word_memory *memory, uint64_t number, bool tagged,
                             uint64_t length);

/* ---- looking up ---- */

struct memory_head {
    struct slice word;
    uint64_t literals, classes;
    const struct memory_chunk *postings;
};
bool word_memory_find(const struct word_memory *memory, struct slice word,
                      struct memory_head *head);
/* All words with the prefix, in no order; false ends. */
typedef bool word_memory_visit(void *context, const struct memory_head *head);
void word_memory_prefix(const struct word_memory *memory, struct slice prefix,
                        word_memory_visit *visit, void *context);

/* The postings there were when the head was read, by class: codes (number * 2 + 1 if it has a
 * language), ascending. The caller gives codes room for head->literals. */
struct memory_postings {
    uint64_t *codes;
    uint64_t classes;
    uint32_t ends[WORD_CLASSES]; /* of the classes there are, one after the other */
};
void memory_postings_read(struct memory_postings *postings, const struct memory_head *head);
/* Those of a class that there is. */
const uint64_t *memory_postings_of(const struct memory_postings *postings, unsigned class,
                                   size_t *count);

/* ---- writing out: nothing is added any more ---- */

/* The words in order; the array is the caller's to free. */
struct memory_head *word_memory_sorted(const struct word_memory *memory, size_t *count);

#endif
