/* Postings in memory (index/words/posting_memtable.c), beside plain arrays: thousands of words, one
 * of them in every literal, one of them in none. */
#include "tests/unit/index_parts/index_parts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "index/words/posting_memtable.h"
#include "index/words/tokenizer.h"
#include "tests/unit/memory_in_use.h"

enum { WORDS = 5000, LITERALS = 3000, EACH = 5, CODES_MOST = LITERALS };

struct posting {
    uint64_t code;
    unsigned class;
};

static struct {
    struct posting *postings;
    size_t count, capacity;
    unsigned times; /* in the literal under way */
} model[WORDS];
static uint64_t literals, lengths;

/* Words of one to 120 bytes; many begin with the same two. */
static struct slice
word_of(unsigned number, char text[128])
{
    int length = number < 26 ? snprintf(text, 128, "%c", 'a' + number)
                             : snprintf(text, 128, "%c%u", 'a' + number % 7, number);
    if (number % 100 == 99) {
        memset(text + length, 'x', 120 - (size_t)length);
        length = 120;
    }
    return slice_of(text, (size_t)length);
}

static void
count_word(struct posting_memtable *memory, unsigned number)
{
    char text[128];
    const struct slice word = word_of(number, text);
    const uint32_t hash = posting_memtable_expect(memory, word);
    posting_memtable_expect_word(memory, hash);
    struct memtable_word *entry = posting_memtable_count(memory, word, hash);
    model[number].times++;
    if (number % 5 == 0) {
        posting_memtable_count_again(memory, entry);
        model[number].times++;
    }
}

static void
end_literal(struct posting_memtable *memory, uint64_t number, bool tagged, uint64_t length)
{
    for (unsigned i = 0; i < WORDS; i++) {
        if (model[i].times > 0) {
            if (model[i].count == model[i].capacity) {
                model[i].capacity = 2 * model[i].capacity + 8;
                model[i].postings =
                    memory_resize(model[i].postings, model[i].capacity, sizeof *model[i].postings);
            }
            model[i].postings[model[i].count++] =
                (struct posting){number << 1 | tagged, word_class(length, model[i].times)};
            model[i].times = 0;
        }
    }
    posting_memtable_end_literal(memory, number, tagged, length);
    literals++;
    lengths += length;
}

static struct posting_memtable *
fill(unsigned *seed)
{
    struct posting_memtable *memory = posting_memtable_new();
    uint64_t number = 0;
    memset(model, 0, sizeof model);
    literals = lengths = 0;
    for (unsigned i = 0; i < LITERALS; i++) {
        number += 1 + (unsigned)rand_r(seed) % (i % 50 == 0 ? 1u << 20 : 3);
        const unsigned common = 1 + (unsigned)rand_r(seed) % 20;
        for (unsigned k = 0; k < common; k++) {
            count_word(memory, 0);
        }
        for (unsigned k = 0; k < EACH; k++) {
            count_word(memory, 1 + (unsigned)rand_r(seed) % (WORDS - 1));
        }
        end_literal(memory, number, rand_r(seed) % 3 == 0, 1 + (unsigned)rand_r(seed) % 300);
    }
    return memory;
}

static void
forget_model(void)
{
    for (unsigned i = 0; i < WORDS; i++) {
        free(model[i].postings);
    }
}

static void
check_head(const struct memory_head *head, unsigned number)
{
    static uint64_t codes[CODES_MOST];
    struct memory_postings postings = {.codes = codes};
    char text[128];
    uint64_t classes = 0;
    assert_true(slice_equal(head->word, word_of(number, text)));
    assert_int_equal(head->literals, model[number].count);
    for (size_t i = 0; i < model[number].count; i++) {
        classes |= UINT64_C(1) << model[number].postings[i].class;
    }
    assert_int_equal(head->classes, classes);
    memory_postings_read(&postings, head);
    for (unsigned class = 0; class < WORD_CLASSES; class ++) {
        if (classes >> class & 1) {
            size_t count, at = 0;
            const uint64_t *const found = memory_postings_of(&postings, class, &count);
            for (size_t i = 0; i < model[number].count; i++) {
                if (model[number].postings[i].class == class) {
                    assert_true(at < count);
                    assert_int_equal(found[at], model[number].postings[i].code);
                    at++;
                }
            }
            assert_int_equal(at, count);
        }
    }
}

static bool
note_found(void *context, const struct memory_head *head)
{
    size_t *found = context;
    char text[128];
    for (unsigned i = 0; i < WORDS; i++) {
        if (slice_equal(head->word, word_of(i, text))) {
            assert_int_equal(head->literals, model[i].count);
            break;
        }
    }
    ++*found;
    return true;
}

static bool
stop_at_third(void *context, const struct memory_head *head)
{
    (void)head;
    return ++*(size_t *)context < 3;
}

static void
check_prefix(const struct posting_memtable *memory, const char *prefix)
{
    char text[128];
    size_t expected = 0, found = 0;
    for (unsigned i = 0; i < WORDS; i++) {
        expected += model[i].count > 0 && slice_starts(word_of(i, text), slice_string(prefix));
    }
    posting_memtable_prefix(memory, slice_string(prefix), note_found, &found);
    assert_int_equal(found, expected);
    found = 0;
    posting_memtable_prefix(memory, slice_string(prefix), stop_at_third, &found);
    assert_int_equal(found, expected < 3 ? expected : 3);
}

void
words_in_memory_are_found(void **state)
{
    unsigned seed = 5;
    struct posting_memtable *memory = fill(&seed);
    struct memory_head head;
    char text[128];
    size_t known = 0, count;
    (void)state;
    assert_int_equal(posting_memtable_literals(memory), literals);
    assert_int_equal(posting_memtable_words(memory), lengths);
    for (unsigned i = 0; i < WORDS; i++) {
        const bool found = posting_memtable_find(memory, word_of(i, text), &head);
        assert_int_equal(found, model[i].count > 0);
        known += found;
        if (found) {
            check_head(&head, i);
        }
    }
    assert_true(known > WORDS / 2 && known < WORDS);
    assert_false(posting_memtable_find(memory, SLICE("nowhere"), &head));
    static const char *const prefixes[] = {"a",   "b",   "z", "a1", "b2",
                                           "c49", "d99", "q", "zz", "g4"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        check_prefix(memory, prefixes[i]);
    }
    struct memory_head *sorted = posting_memtable_sorted(memory, &count);
    assert_int_equal(count, known);
    for (size_t i = 1; i < count; i++) {
        assert_true(slice_compare(sorted[i - 1].word, sorted[i].word) < 0);
    }
    free(sorted);
    posting_memtable_free(memory);
    forget_model();
}

static void
take_counted(void *context, struct slice word)
{
    (void)word;
    ++*(size_t *)context;
}

/* What the literal under way has is not found before it ends. */
void
words_count_from_the_end_of_their_literal(void **state)
{
    struct posting_memtable *memory = posting_memtable_new();
    struct memory_head head;
    size_t counted = 0, found = 0;
    (void)state;
    memset(model, 0, sizeof model);
    const size_t empty = posting_memtable_bytes(memory);
    for (unsigned i = 0; i < 30; i++) {
        count_word(memory, i % 10);
    }
    posting_memtable_counted(memory, take_counted, &counted);
    assert_int_equal(counted, 10);
    assert_true(posting_memtable_bytes(memory) > empty);
    assert_false(posting_memtable_find(memory, SLICE("a"), &head));
    posting_memtable_prefix(memory, SLICE("a"), stop_at_third, &found);
    assert_int_equal(found, 0);
    assert_int_equal(posting_memtable_literals(memory), 0);
    end_literal(memory, 7, true, 30);
    assert_true(posting_memtable_find(memory, SLICE("a"), &head));
    check_head(&head, 0);
    counted = 0;
    posting_memtable_counted(memory, take_counted, &counted);
    assert_int_equal(counted, 0);
    const uint32_t hash = posting_memtable_expect(memory, SLICE("a"));
    struct memtable_word *word = posting_memtable_count(memory, SLICE("a"), hash);
    assert_null(memtable_word_stem(word, 3));
    memtable_word_keep_stem(word, 3, word);
    assert_ptr_equal(memtable_word_stem(word, 3), word);
    assert_null(memtable_word_stem(word, 4));
    struct posting_memtable *shared = posting_memtable_share(memory);
    assert_ptr_equal(shared, memory);
    posting_memtable_free(memory);
    assert_true(posting_memtable_find(shared, SLICE("a"), &head));
    posting_memtable_free(shared);
    posting_memtable_free(NULL);
    assert_null(posting_memtable_share(NULL));
    forget_model();
}

static void
fill_and_free(void)
{
    struct posting_memtable *memory = posting_memtable_new();
    for (unsigned i = 0; i < 50; i++) {
        count_word(memory, i);
    }
    posting_memtable_end_literal(memory, 1, false, 50);
    posting_memtable_free(posting_memtable_share(memory));
    posting_memtable_free(memory);
}

void
words_in_memory_are_freed(void **state)
{
    (void)state;
    assert_true(leaves_no_memory(fill_and_free));
}

static bool
stem_it(void *context, const struct token *token)
{
    const struct slice stem = tokenizer_stem(context, stem_language(SLICE("en")), token);
    assert_true(slice_is(stem, "run"));
    return true;
}

static void
stem_and_free(void)
{
    struct tokenizer *tokenizer = tokenizer_new();
    tokenizer_split(tokenizer, SLICE("running"), stem_it, tokenizer);
    tokenizer_free(tokenizer);
}

void
tokenizers_are_freed(void **state)
{
    (void)state;
    tokenizer_free(NULL);
    assert_true(leaves_no_memory(stem_and_free));
}
