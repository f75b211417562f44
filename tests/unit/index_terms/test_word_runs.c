/* Words from memory to the tree of words (index/words/posting_write.c, posting_build.c): runs of
 * many blocks, words of many lengths, into blocks that are there and into a new tree; and when a
 * new tree pays. */
#include "base/memory.h"
#include "index/words/posting_blocks.h"
#include "tests/unit/index_terms/words_world.h"

enum { TEXT = 200, ROUNDS = 4, EACH = 2500 };

static struct words_world world;
static uint64_t count; /* literals */

static void
begin(size_t build_from)
{
    words_build_from = build_from;
    words_new(&world);
    count = 0;
}

/* What comes together is committed together; nothing is written on the way. */
static void
add_all(const char *const *texts, size_t n)
{
    static struct term terms[EACH];
    struct reason why = {""};
    assert_true(n <= EACH);
    for (size_t i = 0; i < n; i++) {
        terms[i] = words_literal(slice_string(texts[i]), NULL);
    }
    words_commit(&world, terms, n);
    count += n;
    while (literals_next(world.literals) <= count) {
        must(literals_catch_up(world.literals, world.nodes, count + 1, &why), &why);
    }
}

/* Blocks of the tree but its record, and the bytes in them. */
static size_t
blocks_of(size_t *bytes)
{
    struct fence_cursor *cursor = memory_alloc(sizeof *cursor);
    struct reason why = {""};
    size_t blocks = 0;
    *bytes = 0;
    fence_open(cursor, world.literals->tree, NULL);
    /* Behind the record. */
    must(fence_seek(cursor, SLICE("\1"), &why), &why);
    enum status status = STATUS_OK;
    while (status == STATUS_OK && cursor->stored) {
        blocks++;
        *bytes += cursor->block_length;
        status = fence_next(cursor, &why);
    }
    assert_true(status == STATUS_OK || status == STATUS_END);
    fence_close(cursor);
    free(cursor);
    return blocks;
}

/* Is the tree in a file that was made anew, so often? */
static void
check_file(unsigned times)
{
    char file[TREE_FILE_SIZE], expected[TREE_FILE_SIZE] = "words.db";
    tree_file(world.literals->tree, file);
    if (times > 0) {
        snprintf(expected, sizeof expected, "words.%u.db", times);
    }
    assert_string_equal(file, expected);
}

/* ---- runs ---- */

static const char *
text_of(size_t round, size_t i, char text[TEXT])
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz";
    const size_t n = round * EACH + i;
    int at = snprintf(text, TEXT, "all");
    if (n % 3 == 0) {
        at += snprintf(text + at, TEXT - (size_t)at, " third");
    }
    if (n % 7 != 0) {
        at += snprintf(text + at, TEXT - (size_t)at, " %c%zu", letters[n % 26], n % 5000);
    }
    if (n % 97 == round) {
        at += snprintf(text + at, TEXT - (size_t)at, " %.*s%zu", (int)(n % 26), letters, n);
    }
    for (size_t k = n % 11; k < 2; k++) {
        at += snprintf(text + at, TEXT - (size_t)at, " all");
    }
    return text;
}

static void
runs_of_many_blocks_are_written(void **state)
{
    (void)state;
    static char texts[EACH][TEXT];
    const char *pointers[EACH];
    for (size_t build_from = 0; build_from < 2; build_from++) {
        begin(build_from);
        for (size_t round = 0; round < ROUNDS; round++) {
            for (size_t i = 0; i < EACH; i++) {
                pointers[i] = text_of(round, i, texts[i]);
            }
            add_all(pointers, round == 2 ? 3 : EACH); /* few to a block, once */
            words_write_all(&world);
            assert_null(world.literals->progress.build);
            assert_int_equal(words_check(&world), count);
        }
        size_t bytes;
        const size_t blocks = blocks_of(&bytes);
        assert_in_range(bytes, blocks * BLOCK_MAXIMUM / 2, blocks * BLOCK_MAXIMUM);
        words_close(&world);
        words_open(&world, WORDS_CACHE);
        assert_int_equal(words_check(&world), count);
        words_end(&world);
    }
}

/* Numbers that come at the end, as those of one word do, fill the blocks; words that come between
 * others leave room for more. */
static void
blocks_are_filled(void **state)
{
    (void)state;
    static char texts[EACH][TEXT];
    const char *pointers[EACH];
    for (unsigned between = 0; between < 2; between++) {
        size_t bytes;
        begin(0);
        for (size_t round = 0; round < 12; round++) {
            for (size_t i = 0; i < 200; i++) {
                const size_t n = between ? (i * 12 + round) : round * 200 + i;
                snprintf(texts[i], TEXT, "w%06zu", n);
                pointers[i] = texts[i];
            }
            add_all(pointers, 200);
            words_write_all(&world);
        }
        assert_int_equal(words_check(&world), count);
        const size_t blocks = blocks_of(&bytes);
        if (between) {
            assert_in_range(bytes, blocks * BLOCK_MAXIMUM / 3, blocks * BLOCK_MAXIMUM);
        } else {
            assert_in_range(bytes, blocks * BLOCK_MAXIMUM * 9 / 10, blocks * BLOCK_MAXIMUM);
        }
        words_end(&world);
    }
}

/* ---- a new tree ---- */

/* Three words, of which one has two lengths of literals. */
static void
a_new_tree_is_made_for_enough_words(void **state)
{
    (void)state;
    static const char *const texts[] = {"one", "two", "one three"};
    static const struct {
        size_t build_from;
        unsigned times;
    } cases[] = {{0, 0}, {1, 1}, {3, 1}, {4, 1}, {5, 0}, {1000, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct reason why = {""};
        begin(cases[i].build_from);
        add_all(texts, 3);
        must(literals_write_step(world.literals, false, &why), &why);
        check_file(cases[i].times);
        assert_null(world.literals->writing);
        assert_int_equal(literals_written(world.literals), 4);
        assert_int_equal(words_check(&world), 3);
        words_end(&world);
        /* Not while copies are made. */
        begin(cases[i].build_from);
        add_all(texts, 3);
        must(literals_write_step(world.literals, true, &why), &why);
        check_file(0);
        assert_int_equal(words_check(&world), 3);
        words_end(&world);
    }
}

static void
a_new_tree_is_made_where_most_blocks_change(void **state)
{
    (void)state;
    static char texts[EACH][TEXT];
    const char *pointers[EACH];
    static const struct {
        size_t words, stride; /* new ones; they lie so far from each other */
        unsigned times;
    } cases[] = {{1, 1, 1}, {40, 1, 1}, {500, 1, 1}, {3, 800, 1}, {500, 5, 2}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        begin(1);
        for (size_t i = 0; i < EACH; i++) {
            snprintf(texts[i], TEXT, "w%05zu w%05zu w%05zu", 30 * i, 30 * i + 10, 30 * i + 20);
            pointers[i] = texts[i];
        }
        add_all(pointers, EACH);
        words_write_all(&world);
        check_file(1);
        for (size_t i = 0; i < cases[c].words; i++) {
            snprintf(texts[i], TEXT, "w%05zu", 30 * i * cases[c].stride + 5);
        }
        add_all(pointers, cases[c].words);
        words_write_all(&world);
        check_file(cases[c].times);
        assert_int_equal(words_check(&world), count);
        words_end(&world);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_of_many_blocks_are_written),
        cmocka_unit_test(blocks_are_filled),
        cmocka_unit_test(a_new_tree_is_made_for_enough_words),
        cmocka_unit_test(a_new_tree_is_made_where_most_blocks_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
