/* Reads the text of a search and says what to look for; docs/SEARCH.md has the syntax. A pure
 * function over text. */
#ifndef INDEX_WORDS_WORD_QUERY_H
#define INDEX_WORDS_WORD_QUERY_H

#include "base/arena.h"
#include "base/status.h"
#include "index/words/tokenizer.h"

enum { QUERY_WORDS_MOST = 64 };

/* One word, or several that stand one behind the other. */
struct query_phrase {
    struct token *words; /* at least one */
    size_t count;
    bool prefix;                /* the last one is the beginning of a word */
    bool exact;                 /* not by its stem */
    struct query_phrase *other; /* OR */
};

struct query_item {
    struct query_phrase *phrase; /* a literal must have one of them; or, NULL, */
    struct slice tag;            /* a language tag that begins so */
    bool excluded;               /* it must not */
    struct query_item *next;
};

/* The items live in the arena. BAD_INPUT when no word is wanted; LIMIT. */
enum status word_query_parse(struct query_item **items, struct slice text,
                             struct tokenizer *tokenizer, struct arena *arena, struct reason *why);

#endif
