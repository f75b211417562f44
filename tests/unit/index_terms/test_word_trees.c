/* The tree of the keyword index beside what waits in memory (index/words): lists of literals of
 * each word and class, trees whose blocks are made by hand, and calls of the tree that fail, each
 * one in its turn. */
#include "base/varint.h"
#include "index/words/literal_words.h"
#include "index/words/posting_lists.h"
#include "tests/unit/index_terms/word_layers.h"

/* ---- lists ---- */

/* The first number from this one on that has the word in the class; UINT64_MAX: none. */
static uint64_t
expected_from(size_t word, unsigned class, uint64_t number, uint64_t end)
{
    for (number = number > 0 ? number : 1; number < end; number++) {
        if (layers_times(word, number) > 0 && layers_class(word, number) == class) {
            return number;
        }
    }
    return UINT64_MAX;
}

/* Up to its bound a list in the tree has all postings in its block. */
static void
check_bound(const struct words_list *list, size_t word)
{
    struct posting_reader rest = list->postings;
    uint64_t last = list->number;
    while (posting_next(&rest)) {
        last = rest.number;
    }
    const uint64_t next = expected_from(word, list->class, last + 1, 1 + LAYER_TREE);
    assert_true(list->bound >= last);
    assert_true(next == UINT64_MAX || list->bound < next);
}

static void
check_first(const struct words_list *first, size_t word, uint64_t expected)
{
    if (expected == UINT64_MAX) {
        assert_null(first);
        return;
    }
    assert_non_null(first);
    assert_int_equal(first->number, expected);
    assert_int_equal(first->tagged, layers_tagged(expected));
    assert_int_equal(first->stage, expected <= LAYER_TREE                   ? LIST_TREE
                                   : expected <= LAYER_TREE + LAYER_WRITING ? LIST_WRITING
                                                                            : LIST_WAITING);
    if (first->stage == LIST_TREE) {
        check_bound(first, word);
    }
}

/* From each of some numbers on: the one found, the one after it, and one that lies further. */
static void
check_class(struct words_view *view, struct arena *arena, struct words_key *key, size_t word,
            unsigned class)
{
    const struct words_list *first;
    struct reason why = {""};
    for (uint64_t number = 0; number < LAYER_LITERALS + 3; number += 61) {
        struct words_union all;
        words_union_init(&all, view, arena);
        must(words_union_add(&all, key, class, 0.5, &why), &why);
        must(words_union_seek(&all, number, &first, &why), &why);
        uint64_t expected = expected_from(word, class, number, 1 + LAYER_LITERALS);
        check_first(first, word, expected);
        if (first != NULL) {
            must(words_union_pass(&all, &first, &why), &why);
            expected = expected_from(word, class, expected + 1, 1 + LAYER_LITERALS);
            check_first(first, word, expected);
        }
        if (first != NULL) {
            must(words_union_seek(&all, expected + 300, &first, &why), &why);
            check_first(first, word,
                        expected_from(word, class, expected + 300, 1 + LAYER_LITERALS));
        }
        words_union_release(&all);
    }
}

static void
check_all_classes(struct words_view *view, struct arena *arena, struct words_key *key, size_t word)
{
    const struct words_list *first;
    struct reason why = {""};
    struct words_union all;
    words_union_init(&all, view, arena);
    for (unsigned class = 0; class < WORD_CLASSES; class += 1) {
        must(words_union_add(&all, key, class, class, &why), &why);
    }
    must(words_union_seek(&all, 0, &first, &why), &why);
    for (uint64_t number = 1; number <= LAYER_LITERALS; number++) {
        if (layers_times(word, number) > 0) {
            assert_non_null(first);
            assert_int_equal(first->number, number);
            assert_int_equal(first->class, layers_class(word, number));
            assert_true(first->score == (double)first->class && first->key == key);
            must(words_union_pass(&all, &first, &why), &why);
        }
    }
    assert_null(first);
    assert_int_equal(all.count, 0);
    words_union_release(&all);
}

/* A list goes on from the tree to what is being written and then to what waits, whatever number it
 * is sought from. */
static void
lists_go_on_from_the_tree_to_memory(void **state)
{
    struct words_world w;
    struct words_view view;
    struct words_key *key;
    struct arena arena;
    struct reason why = {""};
    (void)state;
    layers_open(&w);
    arena_init(&arena, 0);
    words_view_open(&view, w.literals);
    uint64_t lengths = 0;
    for (uint64_t number = 1; number <= LAYER_LITERALS; number++) {
        lengths += layers_length(number);
    }
    assert_int_equal(view.next, 1 + LAYER_TREE);
    assert_int_equal(view.count, LAYER_LITERALS);
    assert_true(view.length == (double)lengths / LAYER_LITERALS);
    assert_true(view.stems == UINT64_C(1) << stem_language(SLICE("en")));
    for (size_t word = 0; word < COMMON_WORDS; word++) {
        uint64_t classes = 0, tree_classes = 0, count = 0;
        for (uint64_t number = 1; number <= LAYER_LITERALS; number++) {
            if (layers_times(word, number) > 0) {
                classes |= UINT64_C(1) << layers_class(word, number);
                tree_classes |=
                    number <= LAYER_TREE ? UINT64_C(1) << layers_class(word, number) : 0;
                count++;
            }
        }
        must(words_find(&view, slice_string(common_words[word]), &arena, &key, &why), &why);
        assert_non_null(key);
        assert_int_equal(key->literals, count);
        assert_int_equal(key->classes, classes);
        assert_int_equal(key->tree_classes, tree_classes);
        for (unsigned class = 0; class < WORD_CLASSES; class += 1) {
            check_class(&view, &arena, key, word, class);
        }
        check_all_classes(&view, &arena, key, word);
    }
    static const char *const absent[] = {"al", "alm", "allz", "u0x", "zzz", "0"};
    for (size_t i = 0; i < sizeof absent / sizeof *absent; i++) {
        must(words_find(&view, slice_string(absent[i]), &arena, &key, &why), &why);
        assert_null(key);
    }
    words_view_close(&view);
    arena_release(&arena);
    words_end(&w);
}

static void
check_mean(struct words_world *w, uint64_t count, double mean)
{
    struct words_view view;
    words_view_open(&view, w->literals);
    assert_int_equal(view.count, count);
    assert_true(view.length == mean);
    words_view_close(&view);
}

/* The mean length, by which scores are divided, is one where no literal has a word. */
static void
literals_have_a_mean_length(void **state)
{
    struct words_world w;
    (void)state;
    words_build_from = 0;
    words_new(&w);
    check_mean(&w, 0, 1);
    words_add(&w, "", NULL);
    check_mean(&w, 1, 1);
    words_add(&w, "a", NULL);
    check_mean(&w, 2, 0.5);
    words_end(&w);
    words_new(&w);
    words_add(&w, "a b c", NULL);
    check_mean(&w, 1, 3);
    words_end(&w);
}

/* ---- trees made by hand ---- */

/* A head, or a run of one or two literals. */
struct piece {
    const char *word;
    bool head;
    uint64_t literals, classes;
    unsigned class;
    uint64_t codes[2];
};

static void
put_pieces(struct words_world *w, struct slice fence, const struct piece *pieces, size_t count)
{
    uint8_t bytes[BLOCK_MAXIMUM], gaps[VARINT_MAXIMUM];
    struct posting_block_writer writer;
    posting_block_begin(&writer, bytes, BLOCK_MAXIMUM);
    for (size_t i = 0; i < count; i++) {
        struct posting_run run = {.word = slice_string(pieces[i].word),
                                  .head = pieces[i].head,
                                  .literals = pieces[i].literals,
                                  .classes = pieces[i].classes,
                                  .class = pieces[i].class,
                                  .first = pieces[i].codes[0]};
        if (pieces[i].codes[1] > 0) {
            const uint64_t gap = pieces[i].codes[1] - (pieces[i].codes[0] & ~UINT64_C(1));
            run.gaps = slice_of((char *)gaps, (size_t)(varint_put(gaps, gap) - gaps));
        }
        assert_true(posting_block_add(&writer, &run));
    }
    layers_put(w, fence, slice_of((char *)bytes, count > 0 ? posting_block_length(&writer) : 0));
}

static void
reopen(struct words_world *w)
{
    struct reason why = {""};
    literals_close(w->literals);
    must(literals_open(&w->literals, w->environment, 64 << 20, 0, &why), &why);
}

/* A language has stems when a key of the tree begins with its letters, be it in the block where
 * they would begin or, past the end of that, in the next one. */
static void
languages_with_stems_are_found(void **state)
{
    static const struct {
        const char *fence; /* of the first of two blocks; NULL: there is but one */
        const char *first[2], *second[2];
        const char *languages[3];
    } cases[] = {
        {NULL, {NULL}, {"abc", NULL}, {NULL}},
        {NULL, {NULL}, {"\1dehaus", "abc"}, {"de"}},
        {NULL, {NULL}, {"\1dehaus", "\1enhous"}, {"de", "en"}},
        {NULL, {NULL}, {"\1ara", "\1yiz"}, {"ar", "yi"}},
        {NULL, {NULL}, {"\1do", "\1eo"}, {NULL}},
        {"\1en", {"\1dehaus", NULL}, {"\1enhous", "abc"}, {"de", "en"}},
        {"\1eo", {"\1dehaus", NULL}, {"abc", NULL}, {"de"}},
        {"\1enm", {"\1dehaus", "\1enhous"}, {"\1enout", "\1fra"}, {"de", "en", "fr"}},
        {"\1fr", {"\1enhous", NULL}, {"\1fra", NULL}, {"en", "fr"}},
        {"a", {"\1es", NULL}, {"abc", NULL}, {"es"}},
    };
    struct words_world w;
    (void)state;
    words_build_from = 0;
    words_new(&w);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int b = 0; b < 2; b++) {
            const char *const *const words = b == 0 ? cases[i].first : cases[i].second;
            struct piece pieces[2];
            size_t count = 0;
            for (int k = 0; k < 2 && words[k] != NULL; k++) {
                pieces[count++] =
                    (struct piece){.word = words[k], .head = true, .literals = 1, .classes = 1};
            }
            if (count > 0) {
                put_pieces(&w, b == 0 ? slice_string(cases[i].fence) : FENCE_LAST, pieces, count);
            }
        }
        reopen(&w);
        uint64_t expected = 0;
        for (int k = 0; k < 3 && cases[i].languages[k] != NULL; k++) {
            expected |= UINT64_C(1) << stem_language(slice_string(cases[i].languages[k]));
        }
        if (w.literals->stems != expected) {
            fail_msg("case %zu: languages %llx, not %llx", i, (unsigned long long)w.literals->stems,
                     (unsigned long long)expected);
        }
        if (cases[i].fence != NULL) {
            layers_put(&w, slice_string(cases[i].fence), SLICE(""));
        }
    }
    words_end(&w);
}

/* ---- what verify says ---- */

static void
assert_checked(struct words_world *w, enum status expected, const char *what)
{
    struct reason why = {""};
    const atomic_bool cancel = false;
    uint64_t count = 99;
    assert_int_equal(literals_check(w->literals, w->nodes, &cancel, &count, &why), expected);
    assert_string_equal(why.text, what);
    assert_int_equal(count, w->literals->state.literals);
}

#define NO_ORDER "tree words: words are not in order, or not as many as their head says"
#define LAST_WORD "tree words: the last word has other postings than its head says"
#define OTHERS(found) "tree words: " found " postings are not those of the literals (3)"

/* The literals "a b" and "a": a tree that says anything else is told what is wrong with it. */
static void
verify_names_what_is_wrong(void **state)
{
    enum { CLASS = 4 /* once in two words */, BOTH = 1 << CLASS | 1, PIECES = 5 };
    static const struct piece good[PIECES] = {
        {.word = "a", .head = true, .literals = 2, .classes = BOTH},
        {.word = "a", .class = 0, .codes = {4}},
        {.word = "a", .class = CLASS, .codes = {2}},
        {.word = "b", .head = true, .literals = 1, .classes = 1 << CLASS},
        {.word = "b", .class = CLASS, .codes = {2}},
    };
    static const struct {
        size_t at; /* where another piece stands */
        struct piece piece;
        const char *what;
    } cases[] = {
        {0, {.word = "a", .head = true, .literals = 3, .classes = BOTH}, NO_ORDER},
        {0, {.word = "a", .head = true, .literals = 1, .classes = BOTH}, NO_ORDER},
        {0, {.word = "a", .head = true, .literals = 2, .classes = 1}, NO_ORDER},
        {0, {.word = "a", .head = true, .literals = 2, .classes = BOTH | 2}, NO_ORDER},
        {0, {.word = "0", .head = true, .literals = 2, .classes = BOTH}, NO_ORDER},
        {1, {.word = "a", .class = CLASS + 1, .codes = {4}}, NO_ORDER},
        {1, {.word = "a", .class = 1, .codes = {4}}, NO_ORDER},
        {1, {.word = "a", .class = 0, .codes = {5}}, OTHERS("3")},
        {2, {.word = "a", .class = CLASS, .codes = {4}}, OTHERS("3")},
        {3, {.word = "b", .head = true, .literals = 2, .classes = 1 << CLASS}, LAST_WORD},
        {3, {.word = "b", .head = true, .literals = 1, .classes = 1}, LAST_WORD},
        {3, {.word = "a", .head = true, .literals = 1, .classes = 1 << CLASS}, NO_ORDER},
        {4, {.word = "b", .class = CLASS, .codes = {3}}, OTHERS("3")},
        {4, {.word = "b", .class = CLASS, .codes = {4}}, OTHERS("3")},
        {4, {.word = "b", .class = CLASS, .codes = {2, 4}}, LAST_WORD},
    };
    struct words_world w;
    struct piece pieces[PIECES];
    (void)state;
    words_build_from = 0;
    words_new(&w);
    words_add(&w, "a b", NULL);
    words_add(&w, "a", NULL);
    words_write_all(&w);
    assert_checked(&w, STATUS_OK, "");
    put_pieces(&w, FENCE_LAST, good, PIECES);
    assert_checked(&w, STATUS_OK, "");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        memcpy(pieces, good, sizeof pieces);
        pieces[cases[i].at] = cases[i].piece;
        put_pieces(&w, FENCE_LAST, pieces, PIECES);
        assert_checked(&w, STATUS_CORRUPT, cases[i].what);
    }
    /* Postings of literals that are written meanwhile are passed over. */
    memcpy(pieces, good, sizeof pieces);
    pieces[3].literals = 2;
    pieces[4].codes[1] = 6;
    put_pieces(&w, FENCE_LAST, pieces, PIECES);
    assert_checked(&w, STATUS_OK, "");
    put_pieces(&w, FENCE_LAST, good, 3);
    assert_checked(&w, STATUS_CORRUPT, OTHERS("2"));
    /* A word in two blocks: the fence lies between them, or it does not. */
    put_pieces(&w, FENCE_LAST, good + 3, 2);
    put_pieces(&w, SLICE("az"), good, 3);
    assert_checked(&w, STATUS_OK, "");
    put_pieces(&w, SLICE("az"), good, 0);
    put_pieces(&w, SLICE("a"), good, 3);
    assert_checked(&w, STATUS_CORRUPT, NO_ORDER);
    put_pieces(&w, SLICE("a"), good, 0);
    put_pieces(&w, SLICE("c"), good, 3);
    assert_checked(&w, STATUS_CORRUPT, NO_ORDER);
    put_pieces(&w, SLICE("c"), good, 0);
    put_pieces(&w, FENCE_LAST, good, 0);
    assert_checked(&w, STATUS_CORRUPT, OTHERS("0"));
    /* What the record counts. */
    put_pieces(&w, FENCE_LAST, good, PIECES);
    w.literals->state.literals++;
    assert_checked(&w, STATUS_CORRUPT,
                   "tree words: its count of literals or of their words is wrong");
    w.literals->state.literals--;
    w.literals->state.words++;
    assert_checked(&w, STATUS_CORRUPT,
                   "tree words: its count of literals or of their words is wrong");
    w.literals->state.words--;
    assert_checked(&w, STATUS_OK, "");
    words_end(&w);
}

/* ---- the record ---- */

static void
assert_record(struct words_world *w, uint64_t next, uint64_t until, uint64_t limit, bool good)
{
    const struct literals_state state = {.next = next, .until = until};
    struct reason why = {""};
    struct buf record;
    literals_state_encode(&state, &record);
    layers_put(w, LITERALS_STATE_KEY, buf_slice(&record));
    buf_release(&record);
    reopen(w);
    assert_int_equal(literals_next(w->literals), next);
    assert_int_equal(literals_written(w->literals), next);
    assert_int_equal(literals_catch_up(w->literals, w->nodes, limit, &why),
                     good ? STATUS_OK : STATUS_CORRUPT);
    assert_string_equal(why.text,
                        good ? "" : "tree words: it has words of terms that are not there");
}

/* An index that has words of terms that the lexicon lacks is damaged; one that was stopped while
 * it wrote takes in as many terms as it was writing before it writes on. */
static void
a_record_is_held_to_the_lexicon(void **state)
{
    struct words_world w;
    struct reason why = {""};
    (void)state;
    words_build_from = 0;
    words_new(&w);
    for (int i = 0; i < 4; i++) {
        words_add(&w, i % 2 ? "one" : "another", NULL);
    }
    assert_record(&w, 1, 0, 5, true);
    assert_int_equal(literals_next(w.literals), 5);
    assert_record(&w, 5, 0, 5, true);
    assert_record(&w, 6, 0, 5, false);
    assert_record(&w, 1, 6, 5, false);
    assert_record(&w, 1, 5, 5, true);
    assert_int_equal(literals_next(w.literals), 5);
    assert_record(&w, 1, 3, 5, true);
    assert_int_equal(literals_next(w.literals), 3);
    assert_true(literals_to_write(w.literals, false));
    must(literals_catch_up(w.literals, w.nodes, 5, &why), &why);
    assert_int_equal(literals_next(w.literals), 3);
    must(literals_write_step(w.literals, false, &why), &why);
    assert_int_equal(literals_written(w.literals), 3);
    assert_false(literals_to_write(w.literals, false));
    must(literals_catch_up(w.literals, w.nodes, 5, &why), &why);
    assert_int_equal(literals_next(w.literals), 5);
    assert_true(literals_to_write(w.literals, true));
    words_write_all(&w);
    words_check(&w);
    words_assert_found(&w, "one", "2 4");
    words_end(&w);
}

/* ---- failures ---- */

/* What a search finds, as text. */
static enum status
search_into(struct words_world *w, const char *words, struct buf *out, struct reason *why)
{
    struct literals_search *search;
    enum status status =
        literals_search_open(&search, w->literals, w->nodes, slice_string(words), 40, why);
    if (status != STATUS_OK) {
        assert_null(search);
        return status;
    }
    for (int i = 0; i < 300 && status == STATUS_OK; i++) {
        oid literal;
        double score;
        status = literals_search_next(search, &literal, &score, why);
        if (status == STATUS_OK) {
            (void)buf_printf(out, "%llu %.9f ", (unsigned long long)literal, score);
        }
    }
    literals_search_close(search);
    return status == STATUS_END ? STATUS_OK : status;
}

/* A search whose call of the tree fails says so, and the next one finds what was found before. */
static void
searches_tell_of_failures(void **state)
{
    static const char *const queries[] = {
        "all",         "few",          "u10*",
        "all few",     "all -few",     "odd lang:en",
        "\"few few\"", "few OR u7919", "\"all odd\" -\"few few\""};
    struct words_world w;
    (void)state;
    layers_open(&w);
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) {
        struct buf expected, found;
        struct reason why = {""};
        buf_init(&expected, 1 << 20);
        buf_init(&found, 1 << 20);
        must(search_into(&w, queries[i], &expected, &why), &why);
        assert_true(expected.length > 0);
        unsigned step = 1;
        for (unsigned at = 1;; at += step, step += at / 16) {
            calls_fail_at(at);
            buf_reset(&found);
            const enum status status = search_into(&w, queries[i], &found, &why);
            if (!calls_failed()) {
                assert_int_equal(status, STATUS_OK);
                break;
            }
            assert_int_equal(status, STATUS_SYSTEM);
            assert_string_equal(why.text, "a fault of the test");
        }
        assert_true(slice_equal(buf_slice(&expected), buf_slice(&found)));
        buf_release(&expected);
        buf_release(&found);
    }
    words_end(&w);
}

/* So does opening the index, and verifying it. */
static void
opening_and_verifying_tell_of_failures(void **state)
{
    struct words_world w;
    struct reason why = {""};
    const atomic_bool cancel = false;
    uint64_t count;
    unsigned at = 1;
    (void)state;
    layers_open(&w);
    for (;; at++) {
        calls_fail_at(at);
        const enum status status = literals_check(w.literals, w.nodes, &cancel, &count, &why);
        if (!calls_failed()) {
            must(status, &why);
            break;
        }
        assert_int_equal(status, STATUS_SYSTEM);
        assert_string_equal(why.text, "a fault of the test");
    }
    assert_true(at > 10);
    literals_close(w.literals);
    for (at = 1;; at++) {
        struct literals *const before = w.literals;
        calls_fail_at(at);
        const enum status status = literals_open(&w.literals, w.environment, 64 << 20, 0, &why);
        if (!calls_failed()) {
            must(status, &why);
            break;
        }
        assert_int_equal(status, STATUS_SYSTEM);
        assert_string_equal(why.text, "a fault of the test");
        assert_null(w.literals);
        w.literals = before;
    }
    assert_true(at > 20); /* each language is looked for */
    assert_true(w.literals->stems == UINT64_C(1) << stem_language(SLICE("en")));
    words_end(&w);
}

/* Writing that fails is told, loses no word and doubles none, in place as in a new tree. */
static void
writing_tells_of_failures(void **state)
{
    (void)state;
    for (size_t build_from = 0; build_from < 2; build_from++) {
        struct words_world w;
        struct reason why = {""};
        words_build_from = build_from;
        words_new(&w);
        layers_add(&w, 1, 200);
        words_write_all(&w);
        uint64_t number = 200;
        unsigned at = 1;
        for (bool failed = true; failed; at++) {
            layers_add(&w, number, number + 1);
            number++;
            calls_fail_at(at);
            enum status status = STATUS_OK;
            while (status == STATUS_OK && literals_to_write(w.literals, true)) {
                status = literals_write_step(w.literals, false, &why);
            }
            failed = calls_failed();
            if (failed) {
                assert_int_equal(status, STATUS_SYSTEM);
                assert_string_equal(why.text, "a fault of the test");
                assert_null(w.literals->progress.build);
                assert_int_equal(literals_written(w.literals), number - 1);
            }
            words_write_all(&w);
            assert_int_equal(words_check(&w), number - 1);
        }
        assert_true(at > 8);
        words_end(&w);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_go_on_from_the_tree_to_memory),
        cmocka_unit_test(words_that_begin_alike_are_found),
        cmocka_unit_test(literals_have_a_mean_length),
        cmocka_unit_test(malformed_blocks_are_told),
        cmocka_unit_test(languages_with_stems_are_found),
        cmocka_unit_test(verify_names_what_is_wrong),
        cmocka_unit_test(a_record_is_held_to_the_lexicon),
        cmocka_unit_test(searches_tell_of_failures),
        cmocka_unit_test(opening_and_verifying_tell_of_failures),
        cmocka_unit_test(writing_tells_of_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
