/* The words of a literal, as keys of the tree `words`: each as it stands, its stem, and the
 * language tag. */
#ifndef INDEX_WORDS_LITERAL_WORDS_H
#define INDEX_WORDS_LITERAL_WORDS_H

#include "index/terms/nodes.h"
#include "index/words/posting_memtable.h"

/* The first byte of a key of the tree that is no word. */
enum { KEY_STATE = 0, KEY_STEM = 1 /* letters of the language */, KEY_TAG = 2 /* language tag */ };

/* Counts the words of a literal into memory and returns its length in words. stems: the set of
 * languages, to which its own is added. */
uint64_t literals_count_words(struct posting_memtable *memory, struct tokenizer *tokenizer,
                              const struct term *term, uint64_t *stems);
/* Write the keys of a stem and of a language tag to bytes, and return them. */
enum { STEM_KEY_MOST = 3 + WORD_MOST };
struct slice literals_stem_key(int language, struct slice stem, uint8_t key[STEM_KEY_MOST]);
struct slice literals_tag_key(struct slice tag, uint8_t key[WORD_MOST]);

/* Returns the mark of a key of the tree. A search passes LITERALS_ANY when any literal concerns
 * it. */
static const uint64_t LITERALS_ANY = 1;
uint64_t literals_mark_of(struct slice key);

#endif
