/* Postings of literals that are not in the tree yet. One thread adds; others look things up at the
 * same time. What they look up keeps its meaning while more is added behind it, so only looking up
 * itself has to be kept apart from adding (a latch, the caller's); postings are then read without.
 * Freed with the last reference. */
#ifndef INDEX_WORDS_POSTING_MEMTABLE_H
#define INDEX_WORDS_POSTING_MEMTABLE_H

#include <stddef.h>

#include "index/words/posting_blocks.h"

struct posting_memtable;
struct posting_memtable *posting_memtable_new(void);
struct posting_memtable *posting_memtable_share(struct posting_memtable *memory); /* any thread */
void posting_memtable_free(struct posting_memtable *memory); /* any thread; NULL is fine */
size_t posting_memtable_bytes(const struct posting_memtable *memory);
uint64_t posting_memtable_literals(const struct posting_memtable *memory);
uint64_t posting_memtable_words(const struct posting_memtable *memory); /* sum of their lengths */

/* ---- adding: the words of one literal, then its number ---- */

struct memtable_word;
/* Two steps ahead of counting, for several words one after the other, so that they are waited for
 * together: bring in where the word is found, then the word. */
uint32_t posting_memtable_expect(const struct posting_memtable *memory, struct slice word);
void posting_memtable_expect_word(const struct posting_memtable *memory, uint32_t hash);
/* Counts the word once more for the literal under way. hash: from posting_memtable_expect. */
struct memtable_word *posting_memtable_count(struct posting_memtable *memory, struct slice word,
                                             uint32_t hash);
/* The stem that was kept for the word and language; NULL. */
struct memtable_word *memtable_word_stem(const struct memtable_word *word, int language);
void memtable_word_keep_stem(struct memtable_word *word, int language, struct memtable_word *stem);
/* Counts an occurrence as posting_memtable_count does, of a word that the caller has. */
void posting_memtable_count_again(struct posting_memtable *memory, struct memtable_word *word);
/* Calls visit with each word counted for the literal under way. */
void posting_memtable_counted(const struct posting_memtable *memory,
                              void (*visit)(void *context, struct slice word), void *context);
/* Adds postings of all words counted; numbers grow. length: of the literal in words. */
void posting_memtable_end_literal(struct posting_memtable *memory, uint64_t number, bool tagged,
                                  uint64_t length);

/* ---- looking up ---- */

struct memory_head {
    struct slice word;
    uint64_t literals, classes;
    const struct memory_chunk *postings;
};
bool posting_memtable_find(const struct posting_memtable *memory, struct slice word,
                           struct memory_head *head);
/* All words with the prefix, in no order; false ends. */
typedef bool posting_memtable_visit(void *context, const struct memory_head *head);
void posting_memtable_prefix(const struct posting_memtable *memory, struct slice prefix,
                             posting_memtable_visit *visit, void *context);

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
struct memory_head *posting_memtable_sorted(const struct posting_memtable *memory, size_t *count);

#endif
