/* Text as the keyword index sees it: words, in order.
 *
 * A word is a run of letters and digits, folded: full case folding and compatibility forms
 * (NFKC_Casefold), accents of Latin, Greek, Cyrillic, Hebrew and Arabic taken off; vowel signs of
 * other scripts belong to the word. What else there is parts words. Scripts without blanks:
 *
 *   Han, kana, Hangul     overlapping pairs of characters, and the last character of the run by
 *                         itself. So one word begins at every character, any text inside a run is
 *                         a sequence of whole words, and a single character is a prefix. A
 *                         dictionary would find fewer: where it cuts depends on what stands around.
 *   Thai, Lao, Khmer,     words of ICU's dictionaries.
 *   Myanmar
 *
 * One thread each. Sources: Unicode UAX 15, UAX 29; Snowball (libstemmer). */
#ifndef INDEX_WORDS_TOKENIZER_H
#define INDEX_WORDS_TOKENIZER_H

#include <stdbool.h>

#include "base/slice.h"

enum {
    WORD_MOST = 120, /* bytes; the rest of a longer word goes in as a 16-digit hash */
    STEM_LANGUAGE_MOST = 64
};

enum token_kind {
    TOKEN_WORD,
    TOKEN_PAIR, /* two characters of a run of Han, kana, Hangul */
    TOKEN_LAST  /* its last character */
};

struct token {
    struct slice word; /* folded; no byte below 0x20 */
    struct slice text; /* where it stands */
    enum token_kind kind;
    bool ascii; /* the text is */
};

struct tokenizer;
struct tokenizer *tokenizer_new(void);
void tokenizer_free(struct tokenizer *tokenizer);
/* Bytes that are no UTF-8 part words. The token lives during the call; false ends. */
typedef bool tokenizer_take(void *context, const struct token *token);
void tokenizer_split(struct tokenizer *tokenizer, struct slice text, tokenizer_take *take,
                     void *context);

/* ---- stems ---- */

/* Number of the stemmer for a language tag (en, de-AT), -1 when there is none. */
int stem_language(struct slice tag);
/* Its two letters; NULL past the last. */
const char *stem_language_name(int language);
/* The folded stem of a word of a text; lives until the next call. */
struct slice tokenizer_stem(struct tokenizer *tokenizer, int language, const struct token *token);

#endif
