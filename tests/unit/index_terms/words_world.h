/* A keyword index of literals alone, for the parts of test_words. */
#ifndef TESTS_UNIT_INDEX_TERMS_WORDS_WORLD_H
#define TESTS_UNIT_INDEX_TERMS_WORDS_WORLD_H

#include "index/words/literals_index.h"
#include "tests/unit/index/index_fixture.h"

enum { WORDS_CACHE = 4 << 20, WORDS_FOUND_MOST = 20000, WORDS_MANY = 6000 };

/* 1: trees are built anew; 0: they are changed. */
extern size_t words_build_from;

struct words_world {
    char folder[64];
    struct environment *environment;
    struct nodes *nodes;
    struct literals *literals;
};

/* In a folder of its own, which words_end removes. */
void words_new(struct words_world *w);
void words_end(struct words_world *w);
void words_open(struct words_world *w, uint64_t cache);
void words_close(struct words_world *w);

struct term words_literal(struct slice text, const char *language);
/* Does what a batch does, as far as it matters here. */
void words_commit(struct words_world *w, const struct term *terms, size_t count);
/* Takes into memory what was committed; some is written when it is time to. */
void words_follow(struct words_world *w);
void words_write_all(struct words_world *w);
/* Both, of one literal. */
void words_add(struct words_world *w, const char *text, const char *language);
/* WORDS_MANY literals of random words; the first has w77. */
void words_add_many(struct words_world *w);
/* Returns how many literals a whole index has. */
uint64_t words_check(struct words_world *w);

struct words_found {
    uint64_t numbers[WORDS_FOUND_MOST];
    double scores[WORDS_FOUND_MOST];
    size_t count;
};
/* The best come first, of equals those with the smaller number. */
void words_search(struct words_world *w, const char *words, uint32_t most,
                  struct words_found *found);
/* expected: the numbers found, as text: "1 3". */
void words_assert_found(struct words_world *w, const char *words, const char *expected);
/* Both from memory and from the tree. queries: words, and what they find. */
void words_assert_found_twice(struct words_world *w, const char *const queries[][2], size_t count);

/* ---- the parts of the test ---- */

/* words_tokens.c */
void stems_leave_a_run_alone(void **state);
void texts_of_all_scripts_have_words(void **state);
void long_words_stay_apart(void **state);
/* words_model.c */
void searches_agree_with_the_model(void **state);
/* words_crashes.c */
void a_new_tree_waits_for_copies(void **state);
void every_change_of_a_block_is_found(void **state);
void crashes_between_steps_lose_and_double_nothing(void **state);

#endif
