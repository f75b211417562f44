/* Searches beside a model that looks at every literal. */
#include <math.h>

#include "index/words/posting_lists.h"
#include "index/words/word_query.h"
#include "tests/unit/brief.h"
#include "tests/unit/index_terms/words_world.h"

enum { LITERALS = 6000, LENGTH_MOST = 30, VOCABULARY = 400, SCORES_MOST = 20 };

struct model {
    uint16_t words[LITERALS][LENGTH_MOST];
    size_t lengths[LITERALS];
    bool tagged[LITERALS];
    size_t count, total; /* literals, words of them */
};

/* Low numbers often. */
static unsigned
random_word(void)
{
    const uint64_t x = random_number() % VOCABULARY;
    return (unsigned)(x * (random_number() % VOCABULARY) / VOCABULARY);
}

static void
add_random(struct words_world *w, struct model *model, size_t count)
{
    static struct term terms[LITERALS];
    static char texts[LITERALS][LENGTH_MOST * 6];
    for (size_t i = 0; i < count; i++) {
        const size_t l = model->count++;
        size_t at = 0;
        model->lengths[l] = 1 + random_number() % (random_number() % 4 ? 6 : LENGTH_MOST - 1);
        model->total += model->lengths[l];
        model->tagged[l] = random_number() % 3 == 0;
        for (size_t n = 0; n < model->lengths[l]; n++) {
            model->words[l][n] = (uint16_t)random_word();
            at += (size_t)sprintf(texts[i] + at, "w%u ", model->words[l][n]);
        }
        terms[i] = words_literal(slice_of(texts[i], at), model->tagged[l] ? "en" : NULL);
    }
    words_commit(w, terms, count);
}

static bool
model_has(const struct model *model, size_t l, unsigned word)
{
    for (size_t i = 0; i < model->lengths[l]; i++) {
        if (model->words[l][i] == word) {
            return true;
        }
    }
    return false;
}

static bool
model_begins(const struct model *model, size_t l, const char *prefix)
{
    for (size_t i = 0; i < model->lengths[l]; i++) {
        char word[8];
        sprintf(word, "w%u", model->words[l][i]);
        if (strncmp(word, prefix, strlen(prefix)) == 0) {
            return true;
        }
    }
    return false;
}

static bool
model_phrase(const struct model *model, size_t l, unsigned a, unsigned b)
{
    for (size_t i = 0; i + 1 < model->lengths[l]; i++) {
        if (model->words[l][i] == a && model->words[l][i + 1] == b) {
            return true;
        }
    }
    return false;
}

static bool
matches(const struct model *m, size_t l, unsigned kind, unsigned a, unsigned b, unsigned c)
{
    char prefix[8];
    sprintf(prefix, "w%u", a % 40);
    switch (kind) {
    case 0:
        return model_has(m, l, a);
    case 1:
        return model_has(m, l, a) && model_has(m, l, b);
    case 2:
        return model_has(m, l, a) && model_has(m, l, b) && model_has(m, l, c);
    case 3:
        return model_phrase(m, l, a, b);
    case 4:
        return model_begins(m, l, prefix);
    case 5:
        return model_begins(m, l, prefix) && model_has(m, l, b);
    case 6:
        return model_has(m, l, a) && !model_has(m, l, b) && !model_phrase(m, l, a, c);
    case 7:
        return (model_has(m, l, a) || model_phrase(m, l, b, c)) && m->tagged[l];
    default:
        return (model_has(m, l, a) || model_has(m, l, b)) && !m->tagged[l];
    }
}

enum { KINDS = 9 };
static const char *const forms[KINDS] = {"w%u",
                                         "w%u w%u",
                                         "w%u w%u w%u",
                                         "\"w%u w%u\"",
                                         "w%u*",
                                         "w%u* w%u",
                                         "w%1$u -w%2$u -\"w%1$u w%3$u\"",
                                         "lang:en w%u OR \"w%u w%u\"",
                                         "w%u OR w%u -lang:en"};

/* A key of a search as KEYWORDS.md weighs it: by BM25 of classes; of several for one the best
 * counts. */
struct model_key {
    unsigned word;
    bool prefix;
    double weight;
};

static bool
model_is(const struct model_key *key, unsigned word)
{
    while (key->prefix && word > key->word && word >= 10) {
        word /= 10;
    }
    return word == key->word;
}

/* Returns the weight of all words with a prefix together: a literal that has several counts for
 * each. */
static double
model_weight(const struct model *model, const struct model_key *key)
{
    double with = 0;
    for (size_t l = 0; l < model->count; l++) {
        for (size_t i = 0; i < model->lengths[l]; i++) {
            bool again = !model_is(key, model->words[l][i]);
            for (size_t k = 0; k < i && !again; k++) {
                again = model->words[l][k] == model->words[l][i];
            }
            with += !again;
        }
    }
    const double count = (double)model->count;
    with = with < count ? with : count;
    return log(1 + (count - with + 0.5) / (with + 0.5));
}

static struct model_key
model_key(const struct model *model, unsigned word, bool prefix)
{
    struct model_key key = {.word = word, .prefix = prefix};
    key.weight = model_weight(model, &key);
    return key;
}

static double
model_score(const struct model *model, size_t l, const struct model_key *key)
{
    const double average = (double)model->total / (double)model->count;
    double best = -1;
    for (size_t i = 0; i < model->lengths[l]; i++) {
        uint64_t count = 0;
        for (size_t k = 0; k < model->lengths[l]; k++) {
            count += model->words[l][k] == model->words[l][i];
        }
        const unsigned class = word_class(model->lengths[l], count);
        const double times = count_class_times[class % COUNT_CLASSES];
        const double norm =
            1.2 * (0.25 + 0.75 * length_class_words[class / COUNT_CLASSES] / average);
        const double score = key->weight * times * 2.2 / (times + norm);
        best = model_is(key, model->words[l][i]) && score > best ? score : best;
    }
    return best;
}

static double
best_of(double a, double b)
{
    return a > b ? a : b;
}

static void
compare_scores(const struct model *m, unsigned kind, const unsigned words[3],
               const struct words_found *all)
{
    struct model_key keys[3];
    for (int i = 0; i < 3; i++) {
        keys[i] = i == 0 && (kind == 4 || kind == 5) ? model_key(m, words[0] % 40, true)
                                                     : model_key(m, words[i], false);
    }
    /* Of a phrase that is an alternative its rarest word counts. */
    const struct model_key *rarest = keys[1].weight >= keys[2].weight ? &keys[1] : &keys[2];
    for (size_t f = 0; f < all->count && f < SCORES_MOST; f++) {
        const size_t l = all->numbers[f] - 1;
        const double a = model_score(m, l, &keys[0]), b = model_score(m, l, &keys[1]),
                     c = model_score(m, l, &keys[2]);
        const bool phrase = kind == 7 && model_phrase(m, l, words[1], words[2]);
        const double expected[KINDS] = {a,
                                        a + b,
                                        a + b + c,
                                        a + b,
                                        a,
                                        a + b,
                                        a,
                                        phrase ? best_of(a, model_score(m, l, rarest)) : a,
                                        best_of(a, b)};
        if (fabs(all->scores[f] - expected[kind]) > 1e-9) {
            fail_msg("query of kind %u: %zu scores %g, not %g", kind, l + 1, all->scores[f],
                     expected[kind]);
        }
    }
}

static unsigned frequencies[VOCABULARY]; /* literals with the word */

static int
compare_frequencies(const void *a, const void *b)
{
    const unsigned left = *(const unsigned *)a, right = *(const unsigned *)b;
    char texts[2][8];
    sprintf(texts[0], "w%u", left);
    sprintf(texts[1], "w%u", right);
    return frequencies[left] != frequencies[right]
               ? (frequencies[left] < frequencies[right] ? 1 : -1)
               : strcmp(texts[0], texts[1]);
}

/* When more words are there than are wanted, the most frequent are found, whether they stand in the
 * tree, in memory, or in both. */
static void
compare_prefix(struct words_world *w, const struct model *model, unsigned first)
{
    enum { MOST = 7 };
    struct words_view view;
    struct words_key **keys;
    struct arena arena;
    struct reason why = {""};
    const struct model_key prefix = {.word = first, .prefix = true};
    unsigned expected[VOCABULARY];
    size_t count = 0, found;
    char text[8];
    for (unsigned word = 0; word < VOCABULARY; word++) {
        frequencies[word] = 0;
        for (size_t l = 0; l < model->count && model_is(&prefix, word); l++) {
            frequencies[word] += model_has(model, l, word);
        }
        if (frequencies[word] > 0) {
            expected[count++] = word;
        }
    }
    qsort(expected, count, sizeof *expected, compare_frequencies);
    arena_init(&arena, 0);
    words_view_open(&view, w->literals);
    sprintf(text, "w%u", first);
    must(words_find_prefix(&view, slice_string(text), MOST, &arena, &keys, &found, &why), &why);
    assert_int_equal(found, count < MOST ? count : MOST);
    for (size_t i = 0; i < found; i++) {
        size_t at = 0;
        sprintf(text, "w%u", expected[i]);
        while (count > MOST ? at < i : at < found && !slice_is(keys[at]->word, text)) {
            at++;
        }
        assert_true(at < found && slice_is(keys[at]->word, text));
        assert_int_equal(keys[at]->literals, frequencies[expected[i]]);
    }
    free(keys);
    words_view_close(&view);
    arena_release(&arena);
}

static void
compare_with_model(struct words_world *w, const struct model *model)
{
    compare_prefix(w, model, 1 + (unsigned)(random_number() % 3));
    compare_prefix(w, model, 10 + (unsigned)(random_number() % 40));
    static struct words_found all, some;
    for (unsigned i = 0; i < 60; i++) {
        const unsigned kind = i % KINDS;
        const unsigned a = random_word(), b = random_word(), c = random_word();
        char words[100];
        snprintf(words, sizeof(words), forms[kind], kind == 4 || kind == 5 ? a % 40 : a, b, c);
        words_search(w, words, WORDS_FOUND_MOST, &all);
        size_t expected = 0;
        for (size_t l = 0; l < model->count; l++) {
            expected += matches(model, l, kind, a, b, c);
        }
        for (size_t f = 0; f < all.count; f++) {
            if (!matches(model, all.numbers[f] - 1, kind, a, b, c)) {
                fail_msg("%s finds %lu", words, (unsigned long)all.numbers[f]);
            }
        }
        if (all.count != expected) {
            fail_msg("%s finds %zu of %zu", words, all.count, expected);
        }
        compare_scores(model, kind, (const unsigned[]){a, b, c}, &all);
        words_search(w, words, 7, &some);
        assert_int_equal(some.count, expected < 7 ? expected : 7);
        assert_memory_equal(some.numbers, all.numbers, some.count * sizeof(some.numbers[0]));
    }
}

void
searches_agree_with_the_model(void **state)
{
    (void)state;
    static struct model model;
    struct words_world w;
    struct reason why = {""};
    words_new(&w);
    model.count = model.total = 0;
    while (model.count + 600 < brief(LITERALS, LITERALS / 3)) {
        add_random(&w, &model, 1 + random_number() % 600);
        words_follow(&w);
        compare_with_model(&w, &model);
        if (random_number() % 2) {
            must(literals_write_step(w.literals, false, &why), &why); /* the first of some */
            add_random(&w, &model, 20);
            words_follow(&w);
            compare_with_model(&w, &model);
            words_check(&w);
            words_write_all(&w);
            compare_with_model(&w, &model);
        }
        if (random_number() % 4 == 0) {
            words_close(&w);
            words_open(&w, WORDS_CACHE);
            words_follow(&w);
            compare_with_model(&w, &model);
        }
        words_check(&w);
    }
    words_end(&w);
}
