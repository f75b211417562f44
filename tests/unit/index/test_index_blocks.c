/* These tests are of what lies below quads and terms: when writing a tree anew pays
 * (index/trees/fences.c), the dictionaries by which blocks are packed
 * (index/terms/block_packing.c), and changes that are taken back (index/quads/snapshot.c). */
#include "tests/unit/index/index_fixture.h"

#include "base/codec.h"
#include "index/quads/snapshot.h"
#include "index/terms/block_packing.h"
#include "index/trees/fences.h"

enum { CACHE = 1 << 20, BLOCKS = 2000, KEY = 8, SAMPLES = 2000, SAMPLE = 64 };

static char folder[SCRATCH_SIZE];
static struct environment *environment;

static void
open_environment(void)
{
    struct reason why = {""};
    const struct environment_options options = {
        .folder = folder, .cache_bytes = CACHE, .checkpoint_bytes = CACHE};
    must(environment_open(&environment, &options, &why), &why);
}

/* ---- blocks in place, or anew ---- */

static struct slice
key_of(size_t block, char key[KEY])
{
    snprintf(key, KEY, "%05zu", block);
    return slice_string(key);
}

static void
fill_blocks(struct tree *tree, size_t count)
{
    static char bytes[BLOCK_MAXIMUM - KEY];
    struct transaction *transaction;
    struct fence_cursor *cursor = calloc(1, sizeof *cursor);
    struct reason why = {""};
    must(transaction_begin(&transaction, environment, 0, &why), &why);
    fence_open(cursor, tree, transaction);
    must(fence_seek(cursor, SLICE(""), &why), &why);
    assert_false(cursor->stored);
    for (size_t i = 0; i < count; i++) {
        char key[KEY];
        const struct slice fence = key_of(i, key);
        memcpy(bytes, fence.at, fence.length);
        must(fence_emit(cursor, fence, slice_of(bytes, sizeof bytes), &why), &why);
    }
    must(fence_finish(cursor, SLICE("last"), &why), &why);
    fence_close(cursor);
    free(cursor);
    must(transaction_commit(transaction, &why), &why);
}

/* Changes that are spread evenly: `each` of them in every block of `step`. */
struct spread {
    size_t step, each, count;
};

static enum status
pass(void *context, struct fence_cursor *cursor, size_t *next, struct reason *why)
{
    const struct spread *spread = context;
    char key[KEY];
    const size_t block = *next / spread->each * spread->step;
    TRY(fence_seek(cursor, key_of(block, key), why));
    assert_true(slice_equal(slice_of((const char *)cursor->fence, cursor->fence_length),
                            slice_string(key)));
    *next = (*next / spread->each + 1) * spread->each;
    *next = *next < spread->count ? *next : spread->count;
    return STATUS_OK;
}

static bool
pays(struct tree *tree, size_t step, size_t each, size_t blocks)
{
    struct spread spread = {step, each, each * blocks};
    struct reason why = {""};
    bool result;
    must(fence_build_pays(tree, spread.count, pass, &spread, &result, &why), &why);
    return result;
}

/* It does when about twice the blocks that are to be changed are more than there are, four in a
 * page, however many changes fall into a block. */
static void
writing_anew_pays_when_many_blocks_change(void **state)
{
    (void)state;
    struct tree *tree;
    struct reason why = {""};
    must(tree_open(&tree, environment, "blocks", &why), &why);
    assert_true(pays(tree, 1, 1, 1)); /* nothing is there */
    fill_blocks(tree, BLOCKS);
    const size_t limit = (size_t)tree_pages(tree) * 2;
    assert_in_range(limit, 100, BLOCKS);
    static const size_t each[] = {1, 2, 7, 50};
    for (size_t i = 0; i < sizeof each / sizeof *each; i++) {
        assert_false(pays(tree, 1, each[i], 1));
        assert_false(pays(tree, 1, each[i], 5));
        assert_false(pays(tree, BLOCKS / limit, each[i], limit * 8 / 10));
        assert_true(pays(tree, BLOCKS / limit, each[i],
                         limit * 12 / 10 < BLOCKS / (BLOCKS / limit) ? limit * 12 / 10
                                                                     : BLOCKS / (BLOCKS / limit)));
    }
    tree_close(tree);
}

/* ---- dictionaries ---- */

static void
put_record(const char *bytes, size_t length)
{
    struct tree *tree;
    struct transaction *transaction;
    struct reason why = {""};
    uint8_t number[4];
    codec_write_u32(number, 1);
    must(tree_open(&tree, environment, "dictionaries", &why), &why);
    must(transaction_begin(&transaction, environment, 0, &why), &why);
    must(tree_put(tree, transaction, slice_of((const char *)number, sizeof number),
                  slice_of(bytes, length), &why),
         &why);
    must(transaction_commit(transaction, &why), &why);
    tree_close(tree);
}

static void
malformed_dictionaries_are_told(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t length;
    } malformed[] = {{"", 0}, {"\x01", 1}, {"\x01\x80", 2}, {"\x02\x01xyz", 5}, {"\x00\x01x", 3}};
    for (size_t i = 0; i < sizeof malformed / sizeof *malformed; i++) {
        struct packing *packing;
        struct reason why = {""};
        put_record(malformed[i].bytes, malformed[i].length);
        assert_int_equal(packing_open(&packing, environment, &why), STATUS_CORRUPT);
        assert_null(packing);
        assert_non_null(strstr(why.text, "dictionary 1 is malformed"));
    }
}

static void
train(struct packing *packing, uint64_t terms, char kind)
{
    static char samples[SAMPLES * SAMPLE + 1];
    static size_t sizes[SAMPLES];
    for (size_t i = 0; i < SAMPLES; i++) {
        snprintf(samples + i * SAMPLE, SAMPLE + 1, "http://www.%c%c%c.example/resource/%08lx/%0*zu",
                 kind, kind, kind, (unsigned long)random_number() & 0xffffffff, SAMPLE - 44,
                 i % 97);
        sizes[i] = SAMPLE;
    }
    packing_train(packing, terms, samples, sizes, SAMPLES);
}

static void
store(struct packing *packing, bool commits)
{
    struct transaction *transaction;
    struct reason why = {""};
    must(transaction_begin(&transaction, environment, 0, &why), &why);
    must(packing_store(packing, transaction, &why), &why);
    if (commits) {
        must(transaction_commit(transaction, &why), &why);
    } else {
        transaction_abort(transaction);
    }
}

static const char raw[] = "http://www.aaa.example/resource/00000000/0000000000000000001 "
                          "http://www.aaa.example/resource/11111111/0000000000000000002";

static bool
unpacks(struct packing *packing, ZSTD_DCtx *context, unsigned dictionary, struct slice packed)
{
    char target[sizeof raw];
    return packing_unpack(packing, context, dictionary, target, sizeof raw, packed) &&
           memcmp(target, raw, sizeof raw) == 0;
}

/* What was packed is unpacked by its own dictionary, after others came and after a restart; a
 * dictionary whose transaction was aborted is none. */
static void
blocks_are_unpacked_by_their_dictionary(void **state)
{
    (void)state;
    struct packing *packing;
    struct reason why = {""};
    static char packed[3][1024];
    size_t lengths[3];
    ZSTD_DCtx *context = ZSTD_createDCtx();
    must(packing_open(&packing, environment, &why), &why);
    assert_int_equal(packing_dictionary(packing), 0);
    assert_false(packing_is_due(packing, 4095));
    assert_true(packing_is_due(packing, 4096));
    store(packing, true); /* nothing was trained */
    assert_int_equal(packing_dictionary(packing), 0);
    for (unsigned i = 0; i < 3; i++) {
        lengths[i] = packing_pack(packing, packed[i], slice_of(raw, sizeof raw));
        assert_in_range(lengths[i], 1, sizeof raw - 1);
        assert_true(unpacks(packing, context, i, slice_of(packed[i], lengths[i])));
        assert_int_equal(packing_dictionary(packing), i);
        assert_false(unpacks(packing, context, i + 1, slice_of(packed[i], lengths[i])));
        if (i < 2) {
            train(packing, 5000 * (i + 1), (char)('a' + i));
            store(packing, true);
        }
    }
    assert_true(lengths[1] < lengths[0]); /* it is made of such texts */
    train(packing, 40000, 'c');
    store(packing, false);
    assert_int_equal(packing_dictionary(packing), 3);
    must(packing_reload(packing, &why), &why);
    for (unsigned again = 0; again < 2; again++) {
        assert_int_equal(packing_dictionary(packing), 2);
        assert_false(packing_is_due(packing, 8 * 10000 - 1));
        assert_true(packing_is_due(packing, 8 * 10000));
        char same[1024];
        assert_int_equal(packing_pack(packing, same, slice_of(raw, sizeof raw)), lengths[2]);
        assert_memory_equal(same, packed[2], lengths[2]);
        for (unsigned i = 0; i < 3; i++) {
            assert_true(unpacks(packing, context, i, slice_of(packed[i], lengths[i])));
            assert_false(unpacks(packing, context, i, slice_of(packed[i], lengths[i] - 1)));
        }
        packing_close(packing);
        must(packing_open(&packing, environment, &why), &why);
    }
    /* What does not get smaller is not packed; what is no use as samples gives no dictionary. */
    char target[64];
    assert_int_equal(packing_pack(packing, target, SLICE("ab")), 0);
    packing_train(packing, 100000, "x", (const size_t[]){1}, 1);
    store(packing, true);
    assert_int_equal(packing_dictionary(packing), 2);
    assert_false(packing_is_due(packing, 8 * 100000 - 1));
    packing_close(packing);
    ZSTD_freeDCtx(context);
}

/* ---- changes that are taken back ---- */

static struct change_set *
set_of(uint64_t batch)
{
    struct quad_change *change = malloc(sizeof *change);
    *change = (struct quad_change){{batch, 2, 3, 4}, false};
    struct change_set *set = change_set_new(change, 1);
    set->batch = batch;
    return set;
}

/* Gathered changes whose transaction failed are gathered no longer, and those before them are. */
static void
changes_that_fail_are_not_gathered(void **state)
{
    (void)state;
    struct snapshots *snapshots = snapshots_new(1 << 20);
    struct reason why = {""};
    snapshots_publish(snapshots, set_of(7), true);
    assert_int_equal(snapshots_gathered_changes(snapshots), 1);
    snapshots_end(snapshots, false, false);
    assert_int_equal(snapshots_gathered_changes(snapshots), 0);
    assert_int_equal(snapshots_gathered_from(snapshots, false), 0);
    assert_int_equal(snapshots_committed(snapshots), 0);
    for (uint64_t batch = 8; batch < 11; batch++) {
        snapshots_publish(snapshots, set_of(batch), true);
        snapshots_end(snapshots, batch != 9, false);
    }
    assert_int_equal(snapshots_gathered_changes(snapshots), 2);
    assert_int_equal(snapshots_gathered_from(snapshots, false), 8);
    assert_int_equal(snapshots_committed(snapshots), 2);
    must(snapshots_health(snapshots, &why), &why);
    snapshots_tidy(snapshots);
    snapshots_free(snapshots);
}

/* How many of the batches' quads a snapshot sees when the tree has them all; -1: it has ended. */
static int
seen_by(struct snapshot *snapshot, uint64_t batches)
{
    struct row_vector rows = {0};
    struct reason why = {""};
    const struct row from = {{0}};
    row_vector_reserve(&rows, batches);
    for (uint64_t batch = 1; batch <= batches; batch++) {
        const struct quad_oids quad = {batch, 2, 3, 4};
        rows.rows[rows.count++] = row_of(&quad, ORDER_SPOC);
    }
    const enum status status = snapshot_restore(snapshot, ORDER_SPOC, &from, NULL, &rows, &why);
    const int count = (int)rows.count;
    row_vector_release(&rows);
    assert_true(status == STATUS_OK || status == STATUS_STALE);
    return status == STATUS_OK ? count : -1;
}

static void
commit_batch(struct snapshots *snapshots, uint64_t batch)
{
    snapshots_publish(snapshots, set_of(batch), false);
    snapshots_end(snapshots, true, false);
    assert_int_equal(snapshots_committed(snapshots), batch);
}

/* What is kept for old snapshots is bounded: the oldest end first, but none that is held. */
static void
the_oldest_snapshots_end_for_memory(void **state)
{
    (void)state;
    enum { KEPT = 3, BATCHES = 12 };
    struct change_set *one = set_of(1);
    struct snapshots *snapshots = snapshots_new(KEPT * change_set_bytes(one));
    struct snapshot *open[BATCHES + 1];
    change_set_free(one);
    open[0] = snapshot_open(snapshots);
    for (uint64_t batch = 1; batch <= BATCHES; batch++) {
        commit_batch(snapshots, batch);
        open[batch] = snapshot_open(snapshots);
        for (uint64_t version = 0; version <= batch; version++) {
            assert_int_equal(snapshot_version(open[version]), version);
            assert_int_equal(seen_by(open[version], batch),
                             version + KEPT >= batch ? (int)version : -1);
        }
    }
    struct snapshot *held = snapshot_hold(snapshots);
    struct snapshot *beside = snapshot_share(held);
    assert_null(snapshot_next(held));
    for (uint64_t batch = BATCHES + 1; batch <= 2 * BATCHES; batch++) {
        commit_batch(snapshots, batch);
        assert_int_equal(seen_by(held, batch), BATCHES);
        assert_int_equal(seen_by(beside, batch), BATCHES);
    }
    assert_int_equal(seen_by(open[BATCHES - 1], 2 * BATCHES), -1);
    for (uint64_t batch = BATCHES + 1; batch <= 2 * BATCHES; batch++) {
        const struct change_set *next = snapshot_next(held);
        assert_non_null(next);
        assert_int_equal(next->version, batch);
        snapshot_go_on(held);
    }
    assert_null(snapshot_next(held));
    assert_int_equal(seen_by(held, 2 * BATCHES), 2 * BATCHES);
    commit_batch(snapshots, 2 * BATCHES + 1); /* nothing holds the others any more */
    assert_int_equal(seen_by(beside, 2 * BATCHES + 1), -1);
    snapshot_close(held);
    snapshot_close(beside);
    for (size_t i = 0; i <= BATCHES; i++) {
        snapshot_close(open[i]);
    }
    snapshot_close(NULL);
    snapshots_free(snapshots);
    snapshots_free(NULL);
}

/* ---- setup ---- */

static int
set_up(void **state)
{
    (void)state;
    if (!scratch_folder(folder, "blocks")) {
        return -1;
    }
    open_environment();
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    environment_close(environment);
    fixture_run("rm -rf %s%s", folder, "");
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(writing_anew_pays_when_many_blocks_change), TEST(malformed_dictionaries_are_told),
        TEST(blocks_are_unpacked_by_their_dictionary),   TEST(changes_that_fail_are_not_gathered),
        TEST(the_oldest_snapshots_end_for_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
