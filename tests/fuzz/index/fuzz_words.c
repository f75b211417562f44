/* Texts, queries and damaged blocks of the keyword index: texts are cut into words that are never
 * too long and are found again by themselves as phrases; queries are read or refused; blocks are
 * read without harm, and what is read as good runs is written and read again as the same. */
#include <stdlib.h>
#include <string.h>

#include "index/words/posting_blocks.h"
#include "index/words/word_query.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct tokenizer *tokenizer;

struct counting {
    size_t words;
    int language;
};

static bool
check_token(void *context, const struct token *token)
{
    struct counting *c = context;
    if (token->word.length == 0 || token->word.length > WORD_MOST) {
        abort();
    }
    for (size_t i = 0; i < token->word.length; i++) {
        if ((uint8_t)token->word.at[i] < 0x20) {
            abort();
        }
    }
    c->words++;
    const struct slice stem = tokenizer_stem(tokenizer, c->language, token);
    if (stem.length == 0 || stem.length > WORD_MOST) {
        abort();
    }
    return true;
}

static void
try_text(struct slice text, uint8_t choice)
{
    int languages = 0;
    while (stem_language_name(languages) != NULL) {
        languages++;
    }
    struct counting c = {0, choice % languages};
    tokenizer_split(tokenizer, text, check_token, &c);
}

static void
try_query(struct slice text)
{
    struct arena arena;
    struct query_item *items;
    arena_init(&arena, 0);
    if (word_query_parse(&items, text, tokenizer, &arena, NULL) == STATUS_OK) {
        size_t words = 0;
        for (const struct query_item *item = items; item != NULL; item = item->next) {
            for (const struct query_phrase *p = item->phrase; p != NULL; p = p->other) {
                words += p->count;
                if (p->count == 0) {
                    abort();
                }
            }
        }
        if (words == 0 || words > QUERY_WORDS_MOST) {
            abort();
        }
    }
    arena_release(&arena);
}

/* Reads both blocks; they must say the same. */
static void
compare(const uint8_t *one, size_t one_length, const uint8_t *two, size_t two_length)
{
    struct posting_block_reader a, b;
    posting_block_open(&a, one, one_length);
    posting_block_open(&b, two, two_length);
    while (posting_block_next(&a)) {
        if (!posting_block_next(&b) || !slice_equal(a.run.word, b.run.word) ||
            a.run.head != b.run.head ||
            (a.run.head ? a.run.literals != b.run.literals || a.run.classes != b.run.classes
                        : a.run.class != b.run.class || a.run.first != b.run.first ||
                              posting_run_last(&a.run) != posting_run_last(&b.run))) {
            abort();
        }
    }
    if (posting_block_next(&b)) {
        abort();
    }
}

static void
try_block(const uint8_t *data, size_t size)
{
    static uint8_t block[BLOCK_MAXIMUM];
    static char words[BLOCK_MAXIMUM][WORD_MOST];
    struct posting_block_reader reader;
    struct posting_block_writer writer;
    size_t count = 0;
    if (size > BLOCK_MAXIMUM) {
        return;
    }
    posting_block_begin(&writer, block, BLOCK_MAXIMUM);
    posting_block_open(&reader, data, size);
    while (posting_block_next(&reader)) {
        struct posting_run run = reader.run;
        struct posting_reader postings;
        if (!run.head) {
            posting_reader_open(&postings, &run);
            while (posting_next(&postings)) {
            }
            if (postings.at != postings.end) {
                return; /* the check of the tree refuses it */
            }
        }
        memcpy(words[count], run.word.at, run.word.length);
        run.word.at = words[count++];
        if (!posting_block_add(&writer, &run)) {
            return; /* what is written in a longer form than needed may not fit */
        }
    }
    if (!reader.bad && count > 0) {
        compare(data, size, block, posting_block_length(&writer));
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (tokenizer == NULL) {
        tokenizer = tokenizer_new();
    }
    if (size < 2) {
        return 0;
    }
    const struct slice text = slice_of((const char *)data + 2, size - 2);
    switch (data[0] % 3) {
    case 0:
        try_text(text, data[1]);
        break;
    case 1:
        try_query(text);
        break;
    default:
        try_block(data + 2, size - 2);
        break;
    }
    return 0;
}
