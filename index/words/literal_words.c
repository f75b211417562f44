#include "index/words/literal_words.h"

#include <string.h>

#include "base/ascii.h"
#include "base/digest.h"

enum {
    TEXT_MAXIMUM = 1 << 20, /* bytes of a literal that are indexed */
    TAG_MOST = 60,
    WAITING_MOST = 16
};

uint64_t
literals_mark_of(struct slice key)
{
    return digest_local(key);
}

struct slice
literals_stem_key(int language, struct slice stem, uint8_t key[STEM_KEY_MOST])
{
    const char *name = stem_language_name(language);
    const size_t length = stem.length < WORD_MOST - 3 ? stem.length : WORD_MOST - 3;
    key[0] = KEY_STEM;
    key[1] = (uint8_t)name[0];
    key[2] = (uint8_t)name[1];
    memcpy(key + 3, stem.at, length);
    return slice_of((const char *)key, 3 + length);
}

struct slice
literals_tag_key(struct slice tag, uint8_t key[WORD_MOST])
{
    const size_t length = tag.length < TAG_MOST ? tag.length : TAG_MOST;
    key[0] = KEY_TAG;
    for (size_t i = 0; i < length; i++) {
        key[1 + i] = (uint8_t)ascii_lower(tag.at[i]);
    }
    return slice_of((const char *)key, 1 + length);
}

/* A word that waits to be counted with others, so that memory is waited for together. */
struct waiting_word {
    struct token token; /* its word is copied, */
    uint32_t hash;
    uint8_t word[WORD_MOST]; /* here */
};

struct counting {
    struct posting_memtable *memory;
    struct tokenizer *tokenizer;
    int language;
    uint64_t length;
    size_t waiting_count;
    struct waiting_word waiting[WAITING_MOST];
};

static void
count_stem(struct counting *c, const struct token *token, struct memtable_word *word)
{
    struct memtable_word *stem = token->ascii ? memtable_word_stem(word, c->language) : NULL;
    if (stem != NULL) {
        posting_memtable_count_again(c->memory, stem);
        return;
    }
    uint8_t bytes[STEM_KEY_MOST];
    const struct slice key =
        literals_stem_key(c->language, tokenizer_stem(c->tokenizer, c->language, token), bytes);
    stem = posting_memtable_count(c->memory, key, posting_memtable_expect(c->memory, key));
    if (token->ascii) {
        memtable_word_keep_stem(word, c->language, stem);
    }
}

static void
count_waiting(struct counting *c)
{
    for (size_t i = 0; i < c->waiting_count; i++) {
        posting_memtable_expect_word(c->memory, c->waiting[i].hash);
    }
    for (size_t i = 0; i < c->waiting_count; i++) {
        const struct waiting_word *waiting = &c->waiting[i];
        struct memtable_word *word =
            posting_memtable_count(c->memory, waiting->token.word, waiting->hash);
        if (c->language >= 0 && waiting->token.kind == TOKEN_WORD) {
            count_stem(c, &waiting->token, word);
        }
    }
    c->waiting_count = 0;
}

static bool
count_token(void *context, const struct token *token)
{
    struct counting *c = context;
    struct waiting_word *waiting = &c->waiting[c->waiting_count++];
    c->length++;
    memcpy(waiting->word, token->word.at, token->word.length);
    waiting->token = *token;
    waiting->token.word = slice_of((const char *)waiting->word, token->word.length);
    waiting->hash = posting_memtable_expect(c->memory, waiting->token.word);
    if (c->waiting_count == WAITING_MOST) {
        count_waiting(c);
    }
    return true;
}

uint64_t
literals_count_words(struct posting_memtable *memory, struct tokenizer *tokenizer,
                     const struct term *term, uint64_t *stems)
{
    struct slice text = term->value;
    text.length = text.length < TEXT_MAXIMUM ? text.length : TEXT_MAXIMUM;
    struct counting c;
    c.memory = memory;
    c.tokenizer = tokenizer;
    c.language = -1;
    c.length = 0;
    c.waiting_count = 0;
    if (term->language.length > 0) {
        uint8_t bytes[WORD_MOST];
        const struct slice key = literals_tag_key(term->language, bytes);
        c.language = stem_language(term->language);
        *stems |= c.language >= 0 ? (uint64_t)1 << c.language : 0;
        (void)posting_memtable_count(memory, key, posting_memtable_expect(memory, key));
    }
    tokenizer_split(tokenizer, text, count_token, &c);
    count_waiting(&c);
    return c.length;
}
