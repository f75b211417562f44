/* Blocks under fences, in place and anew, beside a table of keys; latches. */
#include "tests/unit/index_trees/trees_fixture.h"

#include <pthread.h>
#include <sched.h>

#include "index/trees/fences.h"

/* ---- blocks under fences ---- */

/* A block's bytes begin with the keys that it holds, 5 characters each. */
enum { ENTRY = 5, ENTRIES = BLOCK_MAXIMUM / ENTRY, WORLD = 3000 };

static void
assert_blocks(struct tree *tree, const bool there[WORLD])
{
    struct fence_cursor cursor;
    char before[KEY] = "", key[KEY];
    unsigned next = 0;
    fence_open(&cursor, tree, NULL);
    must(fence_seek(&cursor, SLICE(""), &why), &why);
    enum status status = STATUS_OK;
    while (status == STATUS_OK && cursor.stored) {
        const struct slice fence = slice_of((char *)cursor.fence, cursor.fence_length);
        assert_true(cursor.block_length > 0 && cursor.block_length % ENTRY == 0);
        for (size_t i = 0; i < cursor.block_length; i += ENTRY) {
            while (next < WORLD && !there[next]) {
                next++;
            }
            assert_memory_equal(cursor.block + i, key_of(next++, key).at, ENTRY);
            assert_true(slice_compare(slice_string(before), slice_string(key)) < 0);
            assert_true(slice_compare(slice_string(key), fence) <= 0);
        }
        snprintf(before, sizeof before, "%.*s", SLICE_PRINT(fence));
        const bool last = fence_is_last(&cursor);
        assert_int_equal(last, slice_equal(fence, FENCE_LAST));
        status = fence_next(&cursor, &why);
        assert_int_equal(status, last ? STATUS_END : STATUS_OK);
    }
    while (next < WORLD && !there[next]) {
        next++;
    }
    assert_int_equal(next, WORLD);
    fence_close(&cursor);
}

/* Changes one key in the block where it belongs; a block that overflows becomes three. */
static void
change_block(struct tree *tree, struct transaction *transaction, unsigned number, bool add)
{
    struct fence_cursor cursor;
    char key[KEY], entries[ENTRIES + 1][ENTRY];
    const struct slice name = key_of(number, key);
    fence_open(&cursor, tree, transaction);
    must(fence_seek(&cursor, name, &why), &why);
    size_t count = 0;
    bool added = !add;
    for (size_t i = 0; i < cursor.block_length; i += ENTRY) {
        const int order = memcmp(cursor.block + i, key, ENTRY);
        if (order > 0 && !added) {
            memcpy(entries[count++], key, ENTRY);
            added = true;
        }
        if (order != 0) {
            memcpy(entries[count++], cursor.block + i, ENTRY);
        }
    }
    if (!added) {
        memcpy(entries[count++], key, ENTRY);
    }
    size_t from = 0;
    if (count > 20) {
        for (unsigned piece = 0; piece < 2; piece++, from += 7) {
            must(fence_emit(&cursor, slice_of(entries[from + 6], ENTRY),
                            slice_of(entries[from], (size_t)7 * ENTRY), &why),
                 &why);
        }
    }
    must(fence_finish(&cursor, slice_of(entries[from], (count - from) * ENTRY), &why), &why);
    fence_close(&cursor);
}

static void
blocks_stay_under_their_fences(void **state)
{
    (void)state;
    static bool there[WORLD];
    struct tree *tree = tree_named("fenced");
    assert_blocks(tree, there);
    for (unsigned round = 0; round < 30; round++) {
        struct transaction *transaction = begun();
        for (unsigned n = 0; n < 200; n++) {
            const unsigned number =
                round < 20 ? (unsigned)(random_number() % WORLD) : WORLD / 10 * (round - 20) + n;
            const bool add = round < 20 && !there[number];
            if (add || there[number]) {
                change_block(tree, transaction, number, add);
            }
            there[number] = add;
        }
        must(transaction_commit(transaction, &why), &why);
        assert_blocks(tree, there);
    }
    /* Nothing is left at last; an empty tree has an empty block, which may stay empty. */
    struct transaction *transaction = begun();
    for (unsigned i = 0; i < WORLD; i++) {
        if (there[i]) {
            change_block(tree, transaction, i, false);
            there[i] = false;
        }
    }
    change_block(tree, transaction, 7, false);
    must(transaction_commit(transaction, &why), &why);
    assert_blocks(tree, there);
    bool empty;
    must(tree_is_empty(tree, &empty, &why), &why);
    assert_true(empty);
    struct fence_cursor cursor;
    char longest[FENCE_SIZE_MAXIMUM + 1];
    memset(longest, 'x', sizeof longest);
    fence_open(&cursor, tree, NULL);
    must(fence_seek(&cursor, slice_of(longest, FENCE_SIZE_MAXIMUM), &why), &why);
    assert_true(!cursor.stored && cursor.block_length == 0 && fence_is_last(&cursor));
    assert_int_equal(fence_next(&cursor, &why), STATUS_END);
    assert_int_equal(fence_seek(&cursor, slice_of(longest, sizeof longest), &why), STATUS_MISUSE);
    fence_close(&cursor);
    tree_close(tree);
}

/* Several blocks in the place of one, the last of them empty: the range goes to the next block. */
static void
a_block_of_an_overflow_may_vanish(void **state)
{
    (void)state;
    struct tree *tree = tree_named("vanishing");
    struct transaction *transaction = begun();
    struct fence_cursor cursor;
    static bool there[WORLD];
    fence_open(&cursor, tree, transaction);
    must(fence_seek(&cursor, SLICE(""), &why), &why);
    must(fence_emit(&cursor, SLICE("00001"), SLICE("00001"), &why), &why);
    must(fence_finish(&cursor, SLICE("00005"), &why), &why);
    must(fence_seek(&cursor, SLICE("00001"), &why), &why);
    must(fence_emit(&cursor, SLICE("00000"), SLICE("00000"), &why), &why);
    must(fence_finish(&cursor, SLICE(""), &why), &why);
    must(fence_seek(&cursor, SLICE("00004"), &why), &why);
    assert_true(fence_is_last(&cursor));
    must(fence_emit(&cursor, SLICE("00004"), SLICE("00004"), &why), &why);
    must(fence_finish(&cursor, SLICE(""), &why), &why);
    must(fence_seek(&cursor, SLICE("00005"), &why), &why);
    assert_false(cursor.stored);
    fence_close(&cursor);
    must(transaction_commit(transaction, &why), &why);
    there[0] = there[4] = true;
    fence_open(&cursor, tree, NULL);
    must(fence_seek(&cursor, SLICE(""), &why), &why);
    assert_true(slice_equal(slice_of((char *)cursor.block, cursor.block_length), SLICE("00000")));
    must(fence_next(&cursor, &why), &why);
    assert_true(slice_equal(slice_of((char *)cursor.block, cursor.block_length), SLICE("00004")));
    assert_int_equal(fence_next(&cursor, &why), STATUS_END);
    fence_close(&cursor);
    /* A block that no writer of blocks has written. */
    static char large[BLOCK_MAXIMUM + 1];
    transaction = begun();
    must(tree_put(tree, transaction, SLICE("00002"), slice_of(large, sizeof large), &why), &why);
    must(transaction_commit(transaction, &why), &why);
    fence_open(&cursor, tree, NULL);
    assert_int_equal(fence_seek(&cursor, SLICE("00001"), &why), STATUS_CORRUPT);
    assert_non_null(strstr(why.text, "a block is too long"));
    assert_false(cursor.stored);
    fence_close(&cursor);
    tree_close(tree);
}

/* ---- writing a tree of blocks anew ---- */

struct anew {
    struct tree_build *build;
    unsigned blocks, rests, fail_at;
};

static enum status
keep_block(void *context, const struct fence_cursor *old, struct reason *reason)
{
    struct anew *anew = context;
    if (++anew->blocks == anew->fail_at) {
        return status_fail(reason, STATUS_CORRUPT, "a block of the test");
    }
    return tree_build_add(anew->build, slice_of((char *)old->fence, old->fence_length),
                          slice_of((char *)old->block, old->block_length), reason);
}

static enum status
end_blocks(void *context, struct reason *reason)
{
    struct anew *anew = context;
    return ++anew->rests == anew->fail_at ? status_fail(reason, STATUS_CORRUPT, "a rest")
                                          : STATUS_OK;
}

static void
blocks_are_written_anew_in_one_go(void **state)
{
    (void)state;
    enum { COUNT = 300 };
    static bool there[WORLD];
    struct tree *tree = tree_named("anew");
    struct transaction *transaction = begun();
    for (unsigned i = 0; i < COUNT; i++) {
        change_block(tree, transaction, i * 3, true);
        there[i * 3] = true;
    }
    must(transaction_commit(transaction, &why), &why);
    for (unsigned fail_at = 3;; fail_at--) {
        struct anew anew = {.fail_at = fail_at < 3 ? fail_at : 5};
        transaction = begun();
        const enum status status =
            fence_build(tree, transaction, &anew.build, keep_block, end_blocks, &anew, &why);
        if (fail_at == 0) {
            must(status, &why);
            must(transaction_commit(transaction, &why), &why);
            assert_true(anew.blocks >= COUNT / 20 && anew.rests == 1);
            break;
        }
        assert_int_equal(status, STATUS_CORRUPT);
        transaction_abort(transaction);
        assert_false(is_there("anew.1.db"));
        assert_file(tree, "anew.db");
    }
    assert_file(tree, "anew.1.db");
    assert_blocks(tree, there);
    tree_close(tree);
}

/* ---- anew or in place ---- */

/* Things to be changed, so many in each block; the places that were asked for. */
struct passes {
    size_t each, count, calls, fail_at;
    size_t places[1000];
};

static enum status
pass_things(void *context, struct fence_cursor *cursor, size_t *next, struct reason *reason)
{
    struct passes *passes = context;
    assert_true(*next < passes->count);
    if (passes->calls < 1000) {
        passes->places[passes->calls] = *next;
    }
    if (++passes->calls == passes->fail_at) {
        return status_fail(reason, STATUS_CORRUPT, "a pass of the test");
    }
    must(fence_seek(cursor, SLICE("0"), reason), reason); /* it is open for that */
    *next += passes->each;
    *next = *next < passes->count ? *next : passes->count;
    return STATUS_OK;
}

static bool
pays(struct tree *tree, struct passes *passes, size_t each, size_t count)
{
    bool result = false;
    *passes = (struct passes){.each = each, .count = count};
    must(fence_build_pays(tree, count, pass_things, passes, &result, &why), &why);
    return result;
}

/* A new tree is worth its while when it has no block yet, or when more than half of its blocks
 * would change, as far as a few of each stretch tell. */
static void
a_new_tree_pays_for_many_changes(void **state)
{
    (void)state;
    enum { BLOCKS = 280 };
    char key[KEY], value[VALUE] = "v";
    static struct passes passes;
    bool result;
    struct tree *tree = tree_named("paying");
    assert_true(pays(tree, &passes, 1, 1));
    assert_int_equal(passes.calls, 0);
    struct transaction *transaction = begun();
    for (unsigned i = 0; i < BLOCKS; i++) {
        must(tree_append(tree, transaction, key_of(i, key), slice_of(value, VALUE), &why), &why);
    }
    must(transaction_commit(transaction, &why), &why);
    const size_t half = (size_t)tree_pages(tree) * 4 / 2;
    assert_in_range(half, 129, 255); /* two changes are one stretch */
    for (size_t count = half - 4; count <= half + 4; count++) {
        assert_int_equal(pays(tree, &passes, 1, count), count / 2 * 2 > half);
    }
    /* In pairs that share a block, twice as many; in one block, however many. */
    assert_false(pays(tree, &passes, 2, 2 * half - 8));
    assert_true(pays(tree, &passes, 2, 2 * half + 8));
    assert_false(pays(tree, &passes, 100000, 100000));
    assert_false(pays(tree, &passes, 1, 0));
    assert_int_equal(passes.calls, 0);
    /* Of five: from each on, and three blocks behind it. */
    static const size_t five[] = {0, 1, 2, 3, 1, 2, 3, 4, 2, 3, 4, 3, 4, 4};
    assert_false(pays(tree, &passes, 1, 5));
    assert_int_equal(passes.calls, sizeof five / sizeof *five);
    assert_memory_equal(passes.places, five, sizeof five);
    /* Of more than 128, every second. */
    (void)pays(tree, &passes, 1, 129);
    static const size_t begin[] = {0, 1, 2, 3, 2, 3, 4, 5, 4};
    assert_memory_equal(passes.places, begin, sizeof begin);
    (void)pays(tree, &passes, 1, 127);
    static const size_t each[] = {0, 1, 2, 3, 1, 2, 3, 4, 2};
    assert_memory_equal(passes.places, each, sizeof each);
    for (size_t fail_at = 1; fail_at < 9; fail_at++) {
        passes = (struct passes){.each = 1, .count = 5, .fail_at = fail_at};
        assert_int_equal(fence_build_pays(tree, 5, pass_things, &passes, &result, &why),
                         STATUS_CORRUPT);
        assert_string_equal(why.text, "a pass of the test");
        assert_int_equal(passes.calls, fail_at);
    }
    tree_close(tree);
}

/* A key that is longer than any fence is a mistake of who seeks; a block that is longer than any is
 * damage. */
static void
fences_and_blocks_have_a_size(void **state)
{
    (void)state;
    char key[FENCE_SIZE_MAXIMUM + 1], value[BLOCK_MAXIMUM + 1];
    struct fence_cursor cursor;
    struct tree *tree = tree_named("sizes");
    memset(key, 'k', sizeof key);
    memset(value, 'v', sizeof value);
    for (size_t more = 0; more < 2; more++) {
        struct transaction *transaction = begun();
        must(tree_put(tree, transaction, slice_of(key, FENCE_SIZE_MAXIMUM),
                      slice_of(value, BLOCK_MAXIMUM + more), &why),
             &why);
        must(transaction_commit(transaction, &why), &why);
        fence_open(&cursor, tree, NULL);
        assert_int_equal(fence_seek(&cursor, slice_of(key, FENCE_SIZE_MAXIMUM), &why),
                         more ? STATUS_CORRUPT : STATUS_OK);
        assert_int_equal(cursor.stored, more == 0);
        if (more == 0) {
            assert_int_equal(cursor.fence_length, FENCE_SIZE_MAXIMUM);
            assert_int_equal(cursor.block_length, BLOCK_MAXIMUM);
            assert_false(fence_is_last(&cursor));
            assert_int_equal(fence_next(&cursor, &why), STATUS_END);
        } else {
            assert_non_null(strstr(why.text, "a block is too long"));
        }
        fence_close(&cursor);
    }
    assert_int_equal(fence_seek(&cursor, slice_of(key, FENCE_SIZE_MAXIMUM + 1), &why),
                     STATUS_MISUSE);
    assert_string_equal(why.text, "tree sizes: a key of 177 bytes");
    tree_close(tree);
}

/* ---- latches ---- */

struct visitor {
    struct latch *latch;
    bool writes;
    pthread_t thread;
    atomic_bool inside, leave;
};

static void *
visit(void *context)
{
    struct visitor *visitor = context;
    if (visitor->writes) {
        latch_enter_writing(visitor->latch);
    } else {
        latch_enter_reading(visitor->latch);
    }
    atomic_store(&visitor->inside, true);
    while (!atomic_load(&visitor->leave)) {
        sched_yield();
    }
    latch_leave(visitor->latch);
    return NULL;
}

static void
start(struct visitor *visitor, struct latch *latch, bool writes)
{
    *visitor = (struct visitor){.latch = latch, .writes = writes};
    assert_int_equal(pthread_create(&visitor->thread, NULL, visit, visitor), 0);
}

static void
await_inside(struct visitor *visitor)
{
    while (!atomic_load(&visitor->inside)) {
        sched_yield();
    }
}

static void
end(struct visitor *visitor)
{
    await_inside(visitor);
    atomic_store(&visitor->leave, true);
    assert_int_equal(pthread_join(visitor->thread, NULL), 0);
}

/* So many wait. */
static void
await_waiting(struct latch *latch, unsigned readers, unsigned writers)
{
    bool done = false;
    while (!done) {
        sched_yield();
        pthread_mutex_lock(&latch->mutex);
        done = latch->readers == readers && latch->writers == writers;
        pthread_mutex_unlock(&latch->mutex);
    }
}

static void
a_latch_is_fair_by_phases(void **state)
{
    (void)state;
    enum { A, B, WRITER, C, D, NEXT, E, VISITORS };
    static struct visitor v[VISITORS];
    struct latch latch;
    latch_init(&latch);
    for (unsigned round = 0; round < 20; round++) {
        start(&v[A], &latch, false);
        start(&v[B], &latch, false);
        await_inside(&v[A]);
        await_inside(&v[B]);
        start(&v[WRITER], &latch, true);
        await_waiting(&latch, 0, 1);
        start(&v[C], &latch, false); /* behind the writer */
        start(&v[D], &latch, false);
        await_waiting(&latch, 2, 1);
        end(&v[A]);
        assert_false(atomic_load(&v[WRITER].inside));
        end(&v[B]);
        await_inside(&v[WRITER]);
        assert_true(latch.writing && latch.reading == 0);
        start(&v[NEXT], &latch, true);
        await_waiting(&latch, 2, 1);
        end(&v[WRITER]);
        await_inside(&v[C]); /* before the next writer */
        await_inside(&v[D]);
        assert_false(atomic_load(&v[NEXT].inside));
        start(&v[E], &latch, false);
        await_waiting(&latch, 1, 1);
        end(&v[C]);
        assert_false(atomic_load(&v[NEXT].inside) || atomic_load(&v[E].inside));
        end(&v[D]);
        await_inside(&v[NEXT]);
        assert_false(atomic_load(&v[E].inside));
        end(&v[NEXT]);
        end(&v[E]);
        assert_true(!latch.writing && latch.reading == 0 && latch.readers == 0 &&
                    latch.writers == 0);
    }
    latch_release(&latch);
}

/* Whoever is inside of all latches is alone in each tree. */
static void
all_latches_are_closed_and_opened(void **state)
{
    (void)state;
    struct tree *trees[3];
    static const char *const names[] = {"one", "two", "three"};
    for (size_t i = 0; i < 3; i++) {
        trees[i] = tree_named(names[i]);
    }
    environment_close_latches(environment);
    unsigned count = 0;
    for (struct tree *tree = environment_tree(environment, NULL); tree != NULL;
         tree = environment_tree(environment, tree)) {
        assert_true(tree_latch(tree)->writing);
        count++;
    }
    assert_int_equal(count, 4); /* and `files` */
    environment_open_latches(environment);
    tree_close(trees[1]);
    assert_ptr_equal(environment_tree(environment, NULL), trees[2]);
    assert_ptr_equal(environment_tree(environment, trees[2]), trees[0]);
    assert_false(tree_latch(trees[0])->writing || tree_latch(trees[2])->writing);
    tree_close(trees[2]);
    tree_close(trees[0]);
}

int
trees_blocks(void)
{
    const struct CMUnitTest tests[] = {
        TEST(blocks_stay_under_their_fences),    TEST(a_block_of_an_overflow_may_vanish),
        TEST(blocks_are_written_anew_in_one_go), TEST(a_latch_is_fair_by_phases),
        TEST(all_latches_are_closed_and_opened), TEST(a_new_tree_pays_for_many_changes),
        TEST(fences_and_blocks_have_a_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
