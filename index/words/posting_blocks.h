/* Postings of the keyword index and the blocks that hold them. Bytes in KEYWORDS.md.
 * Pure functions over memory.
 *
 * A word's literals are divided by class: how many words the literal has, and how often this one
 * stands in it. All literals of a class have the same score for the word, so a search begins with
 * the best class and ends when it has enough; and since a literal's length is the same for all its
 * words, words of a query are looked for together one length at a time. */
#ifndef INDEX_WORDS_POSTING_BLOCKS_H
#define INDEX_WORDS_POSTING_BLOCKS_H

#include "index/trees/fences.h"
#include "index/words/tokenizer.h"

enum {
    LENGTH_CLASSES = 10,
    COUNT_CLASSES = 4,
    WORD_CLASSES = LENGTH_CLASSES * COUNT_CLASSES,
    WORD_KEY_MAXIMUM = WORD_MOST + 2 + 7
};

/* count: how often the word stands in the literal of `length` words. */
unsigned word_class(uint64_t length, uint64_t count);
/* The length and the count that stand for a class in scores. */
extern const double length_class_words[LENGTH_CLASSES], count_class_times[COUNT_CLASSES];

/* A piece of what a block has of a word: first its head, then a run for each class. */
struct posting_run {
    struct slice word;
    bool head;
    uint64_t literals; /* head: that have the word */
    uint64_t classes;  /* head: a bit for each class there is */
    unsigned class;
    uint64_t first;    /* code of the first posting: number * 2 + 1 if it has a language */
    struct slice gaps; /* of the others */
};

/* Goes through the postings of a run. */
struct posting_reader {
    const uint8_t *at, *end;
    uint64_t number;
    bool tagged;
};

void posting_reader_open(struct posting_reader *reader, const struct posting_run *run);
bool posting_next(struct posting_reader *reader);
/* The number of the run's last posting. */
uint64_t posting_run_last(const struct posting_run *run);

/* Key of a posting, and of a head (class and number without meaning). Returns its length. */
size_t word_key(struct slice word, bool head, unsigned class, uint64_t number,
                uint8_t key[WORD_KEY_MAXIMUM]);

struct posting_block_reader {
    const uint8_t *at, *end;
    struct posting_run run; /* its word lives in the reader, its gaps in the block */
    uint8_t word[WORD_MOST];
    size_t word_length;
    bool bad;
};
void posting_block_open(struct posting_block_reader *reader, const uint8_t *bytes, size_t length);
/* False at the end and when bad. */
bool posting_block_next(struct posting_block_reader *reader);

struct posting_block_writer {
    uint8_t *start, *at;
    size_t size;
    struct slice word; /* the last one; the caller's bytes */
    bool any;
    uint8_t last_key[WORD_KEY_MAXIMUM];
    size_t last_key_length;
};
/* bytes: room of BLOCK_MAXIMUM; size at most that. */
void posting_block_begin(struct posting_block_writer *writer, uint8_t *bytes, size_t size);
/* Adds what fits of the run, from its front, and takes that off it; true when nothing is left. The
 * word must live until the next call. */
bool posting_block_add(struct posting_block_writer *writer, struct posting_run *run);
size_t posting_block_length(const struct posting_block_writer *writer);
/* Bytes that the run takes in a block, about. */
size_t posting_run_size(const struct posting_run *run);

#endif
