/* Blocks of postings (index/words/posting_blocks.c): what was written into blocks of any size is
 * read from them; malformed ones are bad, whatever byte it is. */
#include "tests/unit/index_parts/index_parts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/varint.h"
#include "index/words/posting_blocks.h"

enum { WORDS = 5, CLASSES = 3, POSTINGS = 40, ITEMS = WORDS * (1 + CLASSES * POSTINGS) };

void
words_have_classes_and_keys(void **state)
{
    (void)state;
    static const struct {
        uint64_t length, count;
        unsigned class;
    } cases[] = {{0, 1, 0},
                 {1, 1, 0},
                 {2, 1, 4},
                 {2, 2, 5},
                 {3, 3, 10},
                 {4, 4, 14},
                 {5, 5, 15},
                 {6, 1, 16},
                 {8, 1, 16},
                 {9, 1, 20},
                 {13, 1, 20},
                 {14, 1, 24},
                 {22, 1, 24},
                 {23, 1, 28},
                 {45, 1, 28},
                 {46, 1, 32},
                 {120, 1, 32},
                 {121, 1, 36},
                 {UINT64_MAX, UINT64_MAX, 39}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(word_class(cases[i].length, cases[i].count), cases[i].class);
    }
    uint8_t key[WORD_KEY_MAXIMUM];
    assert_int_equal(word_key(SLICE("ab"), true, 7, 9, key), 4);
    assert_memory_equal(key, "ab\0\0", 4);
    assert_int_equal(word_key(SLICE("ab"), false, 39, UINT64_C(0x11020304050607), key), 11);
    assert_memory_equal(key, "ab\0\x28\x11\x02\x03\x04\x05\x06\x07", 11);
}

/* ---- a model ---- */

/* A head, or a posting. Compared as bytes, so there are none between its fields. */
struct item {
    char word[8];
    uint64_t head, tagged, literals, classes, number, class;
};
static struct item items[ITEMS], found[ITEMS];
static size_t found_count;

static const char *const words[WORDS] = {"a", "ab", "abcdef", "abcdxy", "b"};

static size_t
postings_of(size_t word, unsigned class)
{
    return 1 + (word * 7 + class * 13) % POSTINGS;
}

static uint64_t
number_of(size_t word, unsigned class, size_t i)
{
    return 3 + class + i * (word == 2 ? UINT64_C(1) << 40 : word + 1);
}

static size_t
make_items(void)
{
    size_t n = 0;
    for (size_t w = 0; w < WORDS; w++) {
        struct item item = {.head = true, .literals = 1000 * w, .classes = UINT64_C(1) << (8 * w)};
        snprintf(item.word, sizeof item.word, "%s", words[w]);
        items[n++] = item;
        for (unsigned c = 0; c < CLASSES; c++) {
            for (size_t i = 0; i < postings_of(w, c); i++) {
                struct item posting = {
                    .class = c * 19, .number = number_of(w, c, i), .tagged = (i + w) % 3 == 0};
                memcpy(posting.word, item.word, sizeof item.word);
                items[n++] = posting;
            }
        }
    }
    return n;
}

static void
read_block(const uint8_t *bytes, size_t length)
{
    struct posting_block_reader reader;
    posting_block_open(&reader, bytes, length);
    while (posting_block_next(&reader)) {
        const struct posting_run *run = &reader.run;
        struct item item = {.head = run->head};
        assert_true(run->word.length < sizeof item.word);
        memcpy(item.word, run->word.at, run->word.length);
        if (run->head) {
            item.literals = run->literals;
            item.classes = run->classes;
            found[found_count++] = item;
            continue;
        }
        struct posting_reader postings;
        posting_reader_open(&postings, run);
        item.class = run->class;
        do {
            item.number = postings.number;
            item.tagged = postings.tagged;
            assert_true(found_count < ITEMS);
            found[found_count++] = item;
        } while (posting_next(&postings));
        assert_true(posting_run_last(run) == item.number);
    }
    assert_false(reader.bad);
}

/* A writer's last key is that of the last posting in the block. */
static void
check_last_key(const struct posting_block_writer *writer)
{
    const struct item *last = &found[found_count - 1];
    uint8_t key[WORD_KEY_MAXIMUM];
    const size_t length =
        word_key(slice_string(last->word), last->head, last->class, last->number, key);
    assert_int_equal(writer->last_key_length, length);
    assert_memory_equal(writer->last_key, key, length);
}

static void
end_block(struct posting_block_writer *writer, const uint8_t *bytes, size_t size)
{
    assert_true(posting_block_length(writer) <= size);
    read_block(bytes, posting_block_length(writer));
    check_last_key(writer);
}

static void
add_run(struct posting_block_writer *writer, uint8_t *bytes, size_t size, struct posting_run run)
{
    while (!posting_block_add(writer, &run)) {
        assert_true(posting_block_length(writer) > 1); /* one run of a posting fits into any */
        end_block(writer, bytes, size);
        posting_block_begin(writer, bytes, size);
    }
}

static void
write_all(uint8_t *bytes, size_t size)
{
    struct posting_block_writer writer;
    posting_block_begin(&writer, bytes, size);
    for (size_t w = 0; w < WORDS; w++) {
        const struct slice word = slice_string(words[w]);
        add_run(&writer, bytes, size,
                (struct posting_run){.word = word,
                                     .head = true,
                                     .literals = 1000 * w,
                                     .classes = UINT64_C(1) << (8 * w)});
        for (unsigned c = 0; c < CLASSES; c++) {
            uint8_t gaps[POSTINGS * VARINT_MAXIMUM], *at = gaps;
            for (size_t i = 1; i < postings_of(w, c); i++) {
                const uint64_t gap = number_of(w, c, i) - number_of(w, c, i - 1);
                at = varint_put(at, gap << 1 | ((i + w) % 3 == 0));
            }
            const struct posting_run run = {.word = word,
                                            .class = c * 19,
                                            .first = number_of(w, c, 0) << 1 | (w % 3 == 0),
                                            .gaps = slice_of((char *)gaps, (size_t)(at - gaps))};
            assert_true(posting_run_size(&run) >= run.gaps.length);
            add_run(&writer, bytes, size, run);
        }
    }
    end_block(&writer, bytes, size);
}

void
postings_come_back(void **state)
{
    (void)state;
    const size_t count = make_items();
    for (size_t size = 30; size < 1200; size += size < 300 ? 1 : 37) {
        uint8_t *bytes = malloc(size); /* of its own, so that writing past it is found */
        found_count = 0;
        write_all(bytes, size);
        assert_int_equal(found_count, count);
        assert_memory_equal(found, items, count * sizeof *items);
        free(bytes);
    }
}

/* ---- malformed blocks ---- */

static bool
is_bad(const void *block, size_t length)
{
    struct posting_block_reader reader;
    uint8_t *bytes = malloc(length + 1);
    memcpy(bytes, block, length);
    bytes = realloc(bytes, length > 0 ? length : 1);
    posting_block_open(&reader, bytes, length);
    for (size_t runs = 0; posting_block_next(&reader); runs++) {
        assert_true(runs <= length);
    }
    assert_false(posting_block_next(&reader));
    const bool bad = reader.bad;
    free(bytes);
    return bad;
}

void
malformed_postings_are_bad(void **state)
{
    (void)state;
    /* A word "ab" with its head (5 literals, classes 3), then a run of class 0 with one posting. */
    static const char good[] = "\x01\xff\x00\x02"
                               "ab"
                               "\x00\x05\x03\x01\x02\x08\x02";
    enum { LENGTH = sizeof good - 1, MARK = 9 };
    static const struct {
        size_t at;
        uint8_t byte;
        bool bad;
    } changes[] = {
        {0, 0, true},
        {0, 2, true},
        {1, 0, true}, /* no word yet */
        {2, 1, true},
        {3, 200, true},
        {3, 7, true}, /* longer words */
        {MARK, 40, false},
        {MARK, 41, true},
        {MARK, 254, true},
        {MARK, 255, true},
        {MARK + 1, 1, true}, /* then a run follows without an end */
        {MARK + 1, 3, true},
        {MARK + 1, 0, true},
        {MARK + 2, 0x88, false},
        {MARK + 3, 0x80, false},
    };
    assert_false(is_bad("", 0));
    assert_false(is_bad("\x01", 1));
    assert_false(is_bad(good, LENGTH));
    for (size_t length = 1; length < LENGTH; length++) {
        /* Whole runs may end. */
        assert_int_equal(is_bad(good, length), length != 1 && length != MARK);
    }
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        char bytes[LENGTH];
        memcpy(bytes, good, LENGTH);
        bytes[changes[i].at] = (char)changes[i].byte;
        if (is_bad(bytes, LENGTH) != changes[i].bad) {
            fail_msg("byte %zu as %u", changes[i].at, changes[i].byte);
        }
    }
    /* Words have WORD_MOST bytes at most. */
    for (size_t length = WORD_MOST; length <= WORD_MOST + 1; length++) {
        uint8_t bytes[WORD_MOST + 32], *at = bytes;
        *at++ = 1;
        *at++ = 255;
        *at++ = 0;
        at = varint_put(at, length);
        memset(at, 'w', length);
        at += length;
        memcpy(at, "\0\1\1", 3);
        assert_int_equal(is_bad(bytes, (size_t)(at - bytes) + 3), length > WORD_MOST);
    }
}
