#include "index/words/word_query.h"

#include "base/ascii.h"

enum { TEXT_MOST = 64 << 10 };

#define TAG_PREFIX SLICE("lang:")

struct parsing {
    struct slice text;
    size_t at;
    struct tokenizer *tokenizer;
    struct arena *arena;
    struct token words[QUERY_WORDS_MOST]; /* of the phrase at hand */
    size_t count, total;
    bool too_many;
};

static bool
take_word(void *context, const struct token *token)
{
    struct parsing *p = context;
    p->too_many = p->total >= QUERY_WORDS_MOST;
    if (p->too_many) {
        return false;
    }
    p->words[p->count] = *token;
    p->words[p->count++].word = arena_copy(p->arena, token->word);
    p->total++;
    return true;
}

/* NULL when there is no word in the text. */
static struct query_phrase *
phrase_of(struct parsing *p, struct slice text, bool prefix, bool exact)
{
    p->count = 0;
    tokenizer_split(p->tokenizer, text, take_word, p);
    if (p->count == 0) {
        return NULL;
    }
    if (p->words[p->count - 1].kind == TOKEN_LAST) {
        /* The last character of a run begins a pair in a literal where the run goes on. */
        const bool alone = p->count == 1 || p->words[p->count - 2].kind != TOKEN_PAIR;
        p->count -= !alone;
        prefix = alone;
    }
    struct query_phrase *phrase = arena_zero(p->arena, sizeof(*phrase));
    phrase->words = arena_alloc(p->arena, p->count * sizeof(*phrase->words));
    for (size_t i = 0; i < p->count; i++) {
        phrase->words[i] = p->words[i];
    }
    phrase->count = p->count;
    phrase->prefix = prefix;
    phrase->exact = exact || prefix || p->count > 1;
    return phrase;
}

static void
skip_blanks(struct parsing *p)
{
    while (p->at < p->text.length && ascii_is_space(p->text.at[p->at])) {
        p->at++;
    }
}

static struct slice
until(struct parsing *p, bool quote)
{
    const size_t first = p->at;
    while (p->at < p->text.length &&
           (quote ? p->text.at[p->at] != '"' : !ascii_is_space(p->text.at[p->at]))) {
        p->at++;
    }
    return slice_of(p->text.at + first, p->at - first);
}

static bool
next_is(const struct parsing *p, char c)
{
    return p->at < p->text.length && p->text.at[p->at] == c;
}

/* A word or a phrase in quotes, as it stands. */
static struct query_phrase *
read_phrase(struct parsing *p)
{
    const bool quoted = next_is(p, '"');
    p->at += quoted;
    struct slice text = until(p, quoted);
    bool prefix = false;
    if (quoted) {
        p->at += p->at < p->text.length;
        prefix = next_is(p, '*');
        p->at += prefix;
    } else if (text.length > 0 && text.at[text.length - 1] == '*') {
        prefix = true;
        text.length--;
    }
    return phrase_of(p, text, prefix, quoted);
}

/* Takes "OR" when something follows it. */
static bool
take_or(struct parsing *p)
{
    const size_t before = p->at;
    skip_blanks(p);
    if (slice_is(until(p, false), "OR")) {
        skip_blanks(p);
        if (p->at < p->text.length) {
            return true;
        }
    }
    p->at = before;
    return false;
}

static struct query_item *
read_item(struct parsing *p)
{
    struct query_item *item = arena_zero(p->arena, sizeof(*item));
    const struct slice rest = slice_of(p->text.at + p->at, p->text.length - p->at);
    item->excluded = rest.length > 1 && rest.at[0] == '-' && !ascii_is_space(rest.at[1]);
    p->at += item->excluded;
    if (slice_starts_nocase(slice_of(p->text.at + p->at, p->text.length - p->at), TAG_PREFIX)) {
        p->at += TAG_PREFIX.length;
        item->tag = until(p, false);
        return item;
    }
    struct query_phrase **link = &item->phrase;
    do {
        *link = read_phrase(p);
        link = *link ? &(*link)->other : link;
    } while (take_or(p));
    return item;
}

enum status
word_query_parse(struct query_item **items, struct slice text, struct tokenizer *tokenizer,
                 struct arena *arena, struct reason *why)
{
    struct parsing p = {.text = text, .tokenizer = tokenizer, .arena = arena};
    *items = NULL;
    if (text.length > TEXT_MOST) {
        return status_fail(why, STATUS_LIMIT, "a search of more than %d bytes", TEXT_MOST);
    }
    bool any = false;
    for (skip_blanks(&p); p.at < text.length; skip_blanks(&p)) {
        struct query_item *item = read_item(&p);
        if (item->phrase == NULL && item->tag.length == 0) {
            continue; /* signs alone */
        }
        any = any || (item->phrase != NULL && !item->excluded);
        *items = item;
        items = &item->next;
    }
    if (p.too_many) {
        return status_fail(why, STATUS_LIMIT, "a search of more than %d words", QUERY_WORDS_MOST);
    }
    return any ? STATUS_OK : status_fail(why, STATUS_BAD_INPUT, "there is no word to search for");
}
