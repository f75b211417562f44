/* Hands out the words in memory as runs in the order of the tree, so that they can be merged with
 * the runs that the tree has. */
#ifndef INDEX_WORDS_POSTING_RUNS_H
#define INDEX_WORDS_POSTING_RUNS_H

#include "base/arena.h"
#include "index/words/posting_memtable.h"

struct memtable_runs {
    const struct memory_head *sorted; /* all words, sorted; they belong to the caller */
    size_t count;
    size_t word;                     /* number of the word whose runs come next */
    bool head_done;                  /* the head of that word was handed out */
    unsigned class;                  /* its classes below this one were handed out */
    struct memory_postings postings; /* all postings of that word */
    size_t code_capacity;
};

/* Begins with the word of number `first`. */
void memtable_runs_open(struct memtable_runs *runs, const struct memory_head *sorted, size_t count,
                        size_t first);
void memtable_runs_close(struct memtable_runs *runs);
/* Returns the word of the next run; NULL when nothing is left. */
const struct memory_head *memtable_runs_word(const struct memtable_runs *runs);
/* The next run without its postings, and its key; false when nothing is left. */
bool memtable_runs_peek(const struct memtable_runs *runs, struct posting_run *run,
                        uint8_t key[WORD_KEY_MAXIMUM], size_t *length);
/* Its postings, as one piece in the arena. */
void memtable_runs_copy(const struct memtable_runs *runs, struct posting_run *run,
                        struct arena *arena);
void memtable_runs_advance(struct memtable_runs *runs);

/* Compares by word, then head before others, then class; 0: parts of one run, or of one head. */
int posting_runs_compare(const struct posting_run *a, const struct posting_run *b);

#endif
