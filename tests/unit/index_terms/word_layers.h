/* A keyword index in three layers, with literals whose words follow from their numbers, and calls
 * of its tree that fail when they are told to. */
#ifndef TESTS_UNIT_INDEX_TERMS_WORD_LAYERS_H
#define TESTS_UNIT_INDEX_TERMS_WORD_LAYERS_H

#include "tests/unit/index_terms/words_world.h"

/* From now on calls are counted, and this one fails: the first is 1. */
void calls_fail_at(unsigned at);
/* Whether the call that was to fail has been made; none is counted any more. */
bool calls_failed(void);

enum {
    LAYER_TREE = 1500,
    LAYER_WRITING = 100,
    LAYER_WAITING = 100,
    LAYER_LITERALS = LAYER_TREE + LAYER_WRITING + LAYER_WAITING,
    COMMON_WORDS = 3
};
extern const char *const common_words[COMMON_WORDS];

/* How often the literal with the number has the word; its length, its class for the word, and
 * whether it has a language. */
unsigned layers_times(size_t word, uint64_t number);
unsigned layers_length(uint64_t number);
unsigned layers_class(size_t word, uint64_t number);
bool layers_tagged(uint64_t number);
/* It has the word u and this number once. */
unsigned long layers_own(uint64_t number);
/* Adds the literals with these numbers; each has a word of its own, too. Nothing is written. */
void layers_add(struct words_world *w, uint64_t from, uint64_t to);
/* All of them: some in the tree, some that are being written, and some that wait. */
void layers_open(struct words_world *w);
/* Puts a value into the tree as it is; an empty one takes the key out. */
void layers_put(struct words_world *w, struct slice key, struct slice value);

/* word_prefixes.c */
void words_that_begin_alike_are_found(void **state);
void malformed_blocks_are_told(void **state);

#endif
