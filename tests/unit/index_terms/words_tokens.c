/* Words and stems of texts in many scripts. */
#include "index/words/word_query.h"
#include "tests/unit/index_terms/words_world.h"

static bool
note_token(void *context, const struct token *token)
{
    struct buf *out = context;
    (void)buf_printf(out, "%s%.*s", out->length > 0 ? " " : "", SLICE_PRINT(token->word));
    return true;
}

static void
assert_tokens(const char *text, const char *expected)
{
    struct tokenizer *tokenizer = tokenizer_new();
    struct buf out;
    buf_init(&out, 1 << 20);
    tokenizer_split(tokenizer, slice_string(text), note_token, &out);
    (void)buf_append_char(&out, '\0');
    assert_string_equal(out.data, expected);
    buf_release(&out);
    tokenizer_free(tokenizer);
}

void
texts_of_all_scripts_have_words(void **state)
{
    (void)state;
    assert_tokens("", "");
    assert_tokens("The QUICK, brown-fox; 42 a_b", "the quick brown fox 42 a b");
    assert_tokens("Crème Brûlée don't", "creme brulee don t");
    assert_tokens("cre\u0300me e\u0301", "creme e");
    assert_tokens("Straße ŁÓDŹ ﬁne Ａｂ１ x²", "strasse łodz fine ab1 x2");
    assert_tokens("Ελλάδα ΣΊΣΥΦΟΣ", "ελλαδα σισυφοσ");
    assert_tokens("ёлка Йод", "елка йод");
    assert_tokens("co\u00adoperate \u2019til", "cooperate til");
    assert_tokens("שָׁלוֹם مُحَمَّد", "שלום محمد");
    assert_tokens("हिन्दी में", "हिन्दी में");
    assert_tokens("東京都 iPhone手机", "東京 京都 都 iphone 手机 机");
    assert_tokens("ｶﾞｷﾞ か\u3099", "ガギ ギ が");
    assert_tokens("서울에서", "서울 울에 에서 서");
    assert_tokens("\u1112\u1161\u11ab국", "한국 국");
    assert_tokens("ภาษาไทย", "ภาษา ไทย");
    assert_tokens("a\xff\xfe"
                  "b \xc3",
                  "a b");
    assert_tokens("𝐇ello 🎉 \U00020000\U00020001", "hello \U00020000\U00020001 \U00020001");
}

static bool
note_lengths(void *context, const struct token *token)
{
    size_t *longest = context;
    *longest = token->word.length > *longest ? token->word.length : *longest;
    return true;
}

void
long_words_stay_apart(void **state)
{
    (void)state;
    enum { LENGTH = 5000 };
    struct tokenizer *tokenizer = tokenizer_new();
    struct buf one, two;
    char text[LENGTH];
    buf_init(&one, 1 << 16);
    buf_init(&two, 1 << 16);
    memset(text, 'x', LENGTH);
    tokenizer_split(tokenizer, slice_of(text, LENGTH), note_token, &one);
    text[LENGTH - 1] = 'y';
    tokenizer_split(tokenizer, slice_of(text, LENGTH), note_token, &two);
    assert_int_equal(one.length, two.length);
    assert_true(one.length <= WORD_MOST);
    assert_false(slice_equal(buf_slice(&one), buf_slice(&two)));
    /* A run of pairs that is longer than what is looked at together: none is lost. */
    struct buf han;
    buf_init(&han, 1 << 20);
    for (int i = 0; i < 10000; i++) {
        (void)buf_append_string(&han, "\u4e00\u4e01");
    }
    buf_reset(&one);
    tokenizer_split(tokenizer, buf_slice(&han), note_token, &one);
    assert_true(one.overflowed || one.length > 0);
    size_t longest = 0;
    tokenizer_split(tokenizer, buf_slice(&han), note_lengths, &longest);
    assert_int_equal(longest, 6);
    buf_release(&han);
    buf_release(&one);
    buf_release(&two);
    tokenizer_free(tokenizer);
}

/* Words of a run are taken while stems of earlier ones are made. */
struct words_and_stems {
    struct tokenizer *tokenizer;
    bool stems;
    struct buf words;
};

static bool
take_with_stem(void *context, const struct token *token)
{
    struct words_and_stems *all = context;
    const struct token accented = {
        .word = SLICE("etes"), .text = SLICE("\xc3\xaates"), .kind = TOKEN_WORD};
    buf_append_slice(&all->words, token->word);
    buf_append_char(&all->words, ' ');
    if (all->stems) {
        (void)tokenizer_stem(all->tokenizer, stem_language(SLICE("fr")), &accented);
    }
    return true;
}

void
stems_leave_a_run_alone(void **state)
{
    (void)state;
    const struct slice text = SLICE("\xe6\xad\xa3\xe5\xbc\x8f\xe3\x81\xab\xe5\xbc\x95\xe3\x81\x8d"
                                    "\xe7\xb6\x99\xe3\x81\x8e \xe0\xb8\xa0\xe0\xb8\xb2\xe0\xb8\xa9"
                                    "\xe0\xb8\xb2\xe0\xb9\x84\xe0\xb8\x97\xe0\xb8\xa2 abc");
    struct words_and_stems with = {.tokenizer = tokenizer_new(), .stems = true}, without = with;
    without.stems = false;
    buf_init(&with.words, 4096);
    buf_init(&without.words, 4096);
    tokenizer_split(with.tokenizer, text, take_with_stem, &with);
    tokenizer_split(with.tokenizer, text, take_with_stem, &without);
    assert_true(without.words.length > 10);
    assert_string_equal(with.words.data, without.words.data);
    buf_release(&with.words);
    buf_release(&without.words);
    tokenizer_free(with.tokenizer);
}
