#include "index/words/search_words.h"

#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/memory.h"
#include "index/words/literal_words.h"

enum { EXPANSIONS_MOST = 4096 /* words of a prefix */, NEEDS_BYTES = 1 << 20 };

/* The weight of a word that only has the same stem. */
static const double stem_weight = 0.9;

/* ---- keys ---- */

static struct word_group *
add_group(struct word_groups *groups)
{
    groups->at = array_grow(groups->at, groups->count, &groups->capacity, sizeof(*groups->at));
    groups->at[groups->count] = (struct word_group){0};
    return &groups->at[groups->count++];
}

static void
add_key(struct word_group *group, struct words_key *key)
{
    group->keys =
        array_grow(group->keys, group->count, &group->capacity, sizeof(struct words_key *));
    group->keys[group->count++] = key;
    group->literals += key->literals;
}

static double
weight_of(const struct word_wants *w, uint64_t literals)
{
    const double count = (double)w->view.count;
    const double with = (double)literals < count ? (double)literals : count;
    return log(1 + (count - with + 0.5) / (with + 0.5));
}

static enum status
add_word(struct word_wants *w, struct word_group *group, struct slice word, struct reason *why)
{
    struct words_key *key;
    change_needs_add(&w->needs, literals_mark_of(word));
    TRY(words_find(&w->view, word, &w->arena, &key, why));
    if (key != NULL) {
        key->weight = weight_of(w, key->literals);
        add_key(group, key);
    }
    return STATUS_OK;
}

static enum status
add_prefix(struct word_wants *w, struct word_group *group, struct slice prefix, size_t most,
           struct reason *why)
{
    struct words_key **keys;
    size_t count;
    change_needs_add(&w->needs, LITERALS_ANY);
    const enum status status =
        words_find_prefix(&w->view, prefix, most, &w->arena, &keys, &count, why);
    uint64_t literals = 0;
    for (size_t i = 0; i < count; i++) {
        literals += keys[i]->literals;
    }
    for (size_t i = 0; i < count; i++) {
        keys[i]->weight = weight_of(w, literals);
        add_key(group, keys[i]);
    }
    free(keys);
    return status;
}

/* Word i of a phrase. */
static enum status
add_phrase_word(struct word_wants *w, struct word_group *group, const struct query_phrase *phrase,
                size_t i, struct reason *why)
{
    const struct slice word = phrase->words[i].word;
    return phrase->prefix && i + 1 == phrase->count
               ? add_prefix(w, group, word, EXPANSIONS_MOST, why)
               : add_word(w, group, word, why);
}

/* The stems that the word would have in each language. They weigh less than the word itself, which
 * has `least` literals. */
static enum status
add_stems(struct word_wants *w, struct word_group *group, const struct token *token, uint64_t least,
          struct reason *why)
{
    const size_t first = group->count;
    for (int i = 0; stem_language_name(i) != NULL; i++) {
        if (w->view.stems >> i & 1) {
            uint8_t key[STEM_KEY_MOST];
            const struct slice stem = tokenizer_stem(w->tokenizer, i, token);
            TRY(add_word(w, group, literals_stem_key(i, stem, key), why));
        }
    }
    for (size_t i = first; i < group->count; i++) {
        const uint64_t literals = group->keys[i]->literals;
        group->keys[i]->weight = stem_weight * weight_of(w, literals > least ? literals : least);
    }
    return STATUS_OK;
}

/* The keys of the phrase's rarest word, on condition that the phrase stands in the text. */
static enum status
add_rarest(struct word_wants *w, struct word_group *group, struct query_phrase *phrase,
           struct reason *why)
{
    struct word_group best = {0};
    enum status status = STATUS_OK;
    for (size_t i = 0; i < phrase->count && status == STATUS_OK; i++) {
        struct word_group one = {0};
        status = add_phrase_word(w, &one, phrase, i, why);
        struct word_group *worse = i > 0 && one.literals >= best.literals ? &one : &best;
        free(worse->keys);
        best = worse == &one ? best : one;
    }
    for (size_t i = 0; i < best.count; i++) {
        best.keys[i]->condition = phrase;
        add_key(group, best.keys[i]);
    }
    free(best.keys);
    return status;
}

static enum status
add_alternatives(struct word_wants *w, struct word_group *group, struct query_phrase *phrase,
                 struct reason *why)
{
    for (; phrase != NULL; phrase = phrase->other) {
        if (phrase->count > 1) {
            TRY(add_rarest(w, group, phrase, why));
            continue;
        }
        const size_t before = group->count;
        TRY(add_phrase_word(w, group, phrase, 0, why));
        if (!phrase->exact) {
            const bool found = group->count > before;
            TRY(add_stems(w, group, &phrase->words[0],
                          found ? group->keys[group->count - 1]->literals : 0, why));
        }
    }
    return STATUS_OK;
}

/* en: the tag, and what begins with en-. */
static enum status
add_tag(struct word_wants *w, struct word_group *group, struct slice tag, struct reason *why)
{
    uint8_t key[WORD_MOST];
    const struct slice plain = literals_tag_key(tag, key);
    TRY(add_word(w, group, plain, why));
    key[plain.length] = '-';
    TRY(add_prefix(w, group, slice_of((const char *)key, plain.length + 1), EXPANSIONS_MOST, why));
    for (size_t i = 0; i < group->count; i++) {
        group->keys[i]->weight = 0;
    }
    return STATUS_OK;
}

static enum status
add_item(struct word_wants *w, const struct query_item *item, struct reason *why)
{
    struct word_groups *groups = item->excluded ? &w->excluded : &w->wanted;
    struct query_phrase *phrase = item->phrase;
    if (phrase == NULL && slice_equal_nocase(item->tag, SLICE("none"))) {
        w->tagged |= item->excluded;
        w->untagged |= !item->excluded;
        return STATUS_OK;
    }
    if (phrase == NULL) {
        return add_tag(w, add_group(groups), item->tag, why);
    }
    if (item->excluded || phrase->other != NULL || phrase->count == 1) {
        return add_alternatives(w, add_group(groups), phrase, why);
    }
    for (size_t i = 0; i < phrase->count; i++) {
        TRY(add_phrase_word(w, add_group(groups), phrase, i, why));
    }
    w->conditions[w->condition_count++] = phrase;
    return STATUS_OK;
}

/* ---- all of them ---- */

void
word_wants_open(struct word_wants *w, struct literals *literals)
{
    words_view_open(&w->view, literals);
    arena_init(&w->arena, 0);
    buf_init(&w->needs, NEEDS_BYTES);
    w->tokenizer = tokenizer_new();
}

static void
init_unions(struct word_wants *w, struct word_groups *groups)
{
    for (size_t g = 0; g < groups->count; g++) {
        words_union_init(&groups->at[g].all, &w->view, &w->arena);
    }
}

enum status
word_wants_read(struct word_wants *w, struct slice words, struct reason *why)
{
    struct query_item *items;
    TRY(word_query_parse(&items, words, w->tokenizer, &w->arena, why));
    w->conditions = arena_alloc(&w->arena, QUERY_WORDS_MOST * sizeof(struct query_phrase *));
    for (const struct query_item *item = items; item != NULL; item = item->next) {
        TRY(add_item(w, item, why));
    }
    init_unions(w, &w->wanted);
    init_unions(w, &w->excluded);
    return STATUS_OK;
}

static void
groups_release(struct word_groups *groups)
{
    for (size_t g = 0; g < groups->count; g++) {
        words_union_release(&groups->at[g].all);
        free(groups->at[g].keys);
    }
    free(groups->at);
}

void
word_wants_close(struct word_wants *w)
{
    groups_release(&w->wanted);
    groups_release(&w->excluded);
    words_view_close(&w->view);
    buf_release(&w->needs);
    tokenizer_free(w->tokenizer);
    arena_release(&w->arena);
}
