/* Words that begin alike, in a keyword index of three layers: each is found once, with all of its
 * literals, wherever these lie. */
#include "index/words/posting_lists.h"
#include "tests/unit/index_terms/word_layers.h"

static const char *
own_word(uint64_t number, char word[16])
{
    snprintf(word, 16, "u%lu", layers_own(number));
    return word;
}

/* What is to be found of one word. */
struct expected {
    uint64_t literals, classes, tree_classes;
    bool layers[3]; /* tree, writing, waiting */
};

static void
expect_literal(struct expected *expected, uint64_t number, unsigned times)
{
    if (times == 0) {
        return;
    }
    const uint64_t class = UINT64_C(1) << word_class(layers_length(number), times);
    expected->literals++;
    expected->classes |= class;
    expected->tree_classes |= number <= LAYER_TREE ? class : 0;
    expected->layers[number <= LAYER_TREE                   ? 0
                     : number <= LAYER_TREE + LAYER_WRITING ? 1
                                                            : 2] = true;
}

static void
check_key(const struct words_key *key)
{
    struct expected expected = {.literals = 0};
    char word[16];
    for (uint64_t number = 1; number <= LAYER_LITERALS; number++) {
        for (size_t i = 0; i < COMMON_WORDS; i++) {
            if (slice_is(key->word, common_words[i])) {
                expect_literal(&expected, number, layers_times(i, number));
            }
        }
        expect_literal(&expected, number, slice_is(key->word, own_word(number, word)));
    }
    assert_int_equal(key->literals, expected.literals);
    assert_int_equal(key->classes, expected.classes);
    assert_int_equal(key->tree_classes, expected.tree_classes);
    assert_int_equal(key->block != NULL, expected.layers[0]);
    assert_int_equal(key->memory[0].postings != NULL, expected.layers[1]);
    assert_int_equal(key->memory[1].postings != NULL, expected.layers[2]);
}

/* All literals of the keys together, in order. */
static void
check_literals(struct words_view *view, struct arena *arena, struct words_key **keys, size_t count,
               const char *prefix)
{
    const struct words_list *first;
    struct words_union all;
    struct reason why = {""};
    char word[16];
    words_union_init(&all, view, arena);
    for (size_t i = 0; i < count; i++) {
        for (unsigned class = 0; class < WORD_CLASSES; class += 1) {
            must(words_union_add(&all, keys[i], class, 1, &why), &why);
        }
    }
    must(words_union_seek(&all, 0, &first, &why), &why);
    for (uint64_t number = 1; number <= LAYER_LITERALS; number++) {
        if (strncmp(own_word(number, word), prefix, strlen(prefix)) == 0) {
            assert_non_null(first);
            assert_int_equal(first->number, number);
            assert_int_equal(first->tagged, layers_tagged(number));
            assert_true(slice_is(first->key->word, word));
            must(words_union_pass(&all, &first, &why), &why);
        }
    }
    assert_null(first);
    words_union_release(&all);
}

void
words_that_begin_alike_are_found(void **state)
{
    static const char *const prefixes[] = {"u", "u1", "u10", "u99", "u7919", "u0", "zz", "0"};
    struct words_world w;
    struct words_view view;
    struct arena arena;
    struct words_key **keys;
    struct reason why = {""};
    size_t count;
    char word[16];
    (void)state;
    layers_open(&w);
    arena_init(&arena, 0);
    words_view_open(&view, w.literals);
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        const struct slice prefix = slice_string(prefixes[i]);
        size_t expected = 0;
        for (uint64_t number = 1; number <= LAYER_LITERALS; number++) {
            expected += slice_starts(slice_string(own_word(number, word)), prefix);
        }
        must(words_find_prefix(&view, prefix, 100000, &arena, &keys, &count, &why), &why);
        assert_int_equal(count, expected);
        for (size_t k = 0; k < count; k++) {
            assert_true(slice_starts(keys[k]->word, prefix));
            assert_true(k == 0 || slice_compare(keys[k - 1]->word, keys[k]->word) < 0);
            if (k % 50 == 0) {
                check_key(keys[k]);
            }
        }
        check_literals(&view, &arena, keys, count, prefixes[i]);
        free(keys);
    }
    for (size_t i = 0; i < COMMON_WORDS; i++) {
        for (size_t length = 1; length <= 3; length++) {
            const struct slice prefix = slice_of(common_words[i], length);
            must(words_find_prefix(&view, prefix, 10, &arena, &keys, &count, &why), &why);
            assert_int_equal(count, 1);
            assert_true(slice_is(keys[0]->word, common_words[i]));
            check_key(keys[0]);
            free(keys);
        }
    }
    /* The most frequent of too many: all have one literal, so the first by their letters. */
    must(words_find_prefix(&view, SLICE("u1"), 5, &arena, &keys, &count, &why), &why);
    assert_int_equal(count, 5);
    struct words_key **all;
    must(words_find_prefix(&view, SLICE("u1"), 100000, &arena, &all, &count, &why), &why);
    for (size_t k = 0; k < 5; k++) {
        assert_true(slice_equal(keys[k]->word, all[k]->word));
    }
    free(keys);
    free(all);
    words_view_close(&view);
    arena_release(&arena);
    words_end(&w);
}

static void
check_block(struct words_world *w, struct slice block, enum status word, enum status prefix)
{
    struct words_view view;
    struct arena arena;
    struct words_key *key, **keys;
    struct reason why = {""};
    size_t count;
    layers_put(w, FENCE_LAST, block);
    arena_init(&arena, 0);
    words_view_open(&view, w->literals);
    assert_int_equal(words_find(&view, SLICE("ab"), &arena, &key, &why), word);
    assert_string_equal(why.text, word ? "tree words: a block is malformed" : "");
    assert_null(key);
    why.text[0] = '\0';
    assert_int_equal(words_find_prefix(&view, SLICE("ab"), 10, &arena, &keys, &count, &why),
                     prefix);
    assert_string_equal(why.text, prefix ? "tree words: a block is malformed" : "");
    free(keys);
    words_view_close(&view);
    arena_release(&arena);
}

/* A block that is no block is told to who looks for a word in it, and one without a word to who
 * looks for all that begin with one. */
void
malformed_blocks_are_told(void **state)
{
    struct words_world w;
    (void)state;
    words_build_from = 0;
    words_new(&w);
    check_block(&w, SLICE("\1"), STATUS_OK, STATUS_CORRUPT);
    check_block(&w, SLICE("\2"), STATUS_CORRUPT, STATUS_CORRUPT);
    /* The head of "aa", with its parts; without the last one. */
    check_block(&w, slice_of("\1\xff\0\2aa\0\1\1", 8), STATUS_CORRUPT, STATUS_CORRUPT);
    words_end(&w);
}
