/* Hands out the words in memory as runs in the order of the tree, so that they can be merged with
 * the runs that the tree has. */
#ifndef INDEX_LITERALS_RUNS_H
#define INDEX_LITERALS_RUNS_H

#include "base/arena.h"
#include "index/word_memory.h"

struct memory_runs {
    const struct memory_head *sorted; /* all words, sorted; they belong to the caller */
    size_t count;
    size_t word;                     /* number of the word whose runs come next */
    bool head_done;                  /* the head of that word was handed out */
    unsigned class;                  /* its classes below this one were handed out */
    struct memory_postings postings; /* all postings of that word */
    size_t code_capacity;
};

/* Begins with the word of number `first`. */
void memory_runs_open(struct memory_runs *runs, const struct memory_head *sorted, size_t count,
                      size_t first);
void memory_runs_close(struct memory_runs *runs);
/* Returns the word of the next run; NULL when nothing is left. */
const struct memory_head *memory_runs_word(const struct memory_runs *runs);
/* The next run without its postings, and its key; false when nothing is left. */
bool memory_runs_peek(const struct memory_runs *runs, struct word_run *run,
                      uint8_t key[WORD_KEY_MAXIMUM], size_t *length);
/* Its postings, as one piece in the arena. */
void memory_runs_copy(const struct memory_runs *runs, struct word_run *run, struct arena *arena);
void memory_runs_advance(struct memory_runs *runs);

/* By word, head first, class; 0: parts of one run, or of one head. */
int word_runs_compare(const struct word_run *a, const struct word_run *b);

#endif
