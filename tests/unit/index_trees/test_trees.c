/* The trees themselves (index/trees): beside arrays that hold the same, in what they keep on the
 * disk, in what is refused, and who is inside of a latch when. */
#include "index/trees/environment.h"
#include "tests/unit/index_trees/trees_fixture.h"

#include <sys/statvfs.h>

/* ---- keys and values ---- */

/* Value 0: no such key. */
enum { KEYS = 500 };

static void
compare_keys(struct tree *tree, struct transaction *transaction, const unsigned values[KEYS])
{
    char key[KEY], bytes[VALUE], expected[VALUE];
    unsigned count = 0;
    bool empty;
    for (unsigned i = 0; i < KEYS; i++) {
        size_t length = sizeof bytes;
        const enum status status =
            tree_get(tree, transaction, key_of(i, key), bytes, &length, &why);
        if (values[i] == 0) {
            assert_int_equal(status, STATUS_NOT_FOUND);
            assert_non_null(strstr(why.text, tree_name(tree)));
            continue;
        }
        must(status, &why);
        assert_true(slice_equal(slice_of(bytes, length), value_of(values[i], expected)));
        length = values[i] - 1;
        assert_int_equal(tree_get(tree, transaction, key_of(i, key), bytes, &length, &why),
                         STATUS_LIMIT);
        assert_int_equal(length, values[i]);
        count++;
    }
    if (transaction == NULL) {
        must(tree_is_empty(tree, &empty, &why), &why);
        assert_int_equal(empty, count == 0);
    }
}

/* Steps of a cursor, each way, and from each key on. */
static void
compare_moves(struct tree *tree, struct transaction *transaction, const unsigned values[KEYS])
{
    static const enum tree_move ends[2] = {TREE_FIRST, TREE_LAST},
                                steps[2] = {TREE_NEXT, TREE_PREVIOUS};
    struct tree_cursor *cursor;
    char key[KEY], wanted[KEY], bytes[VALUE], expected[VALUE];
    size_t key_length, length;
    must(tree_cursor_open(&cursor, tree, transaction, &why), &why);
    for (int way = 0; way < 2; way++) {
        enum tree_move move = ends[way];
        for (unsigned i = 0; i < KEYS; i++) {
            const unsigned at = way == 0 ? i : KEYS - 1 - i;
            if (values[at] == 0) {
                continue;
            }
            must(tree_cursor_move(cursor, move, key, sizeof key, &key_length, bytes, sizeof bytes,
                                  &length, &why),
                 &why);
            assert_true(slice_equal(slice_of(key, key_length), key_of(at, wanted)));
            assert_true(slice_equal(slice_of(bytes, length), value_of(values[at], expected)));
            move = steps[way];
        }
        assert_int_equal(tree_cursor_move(cursor, move, key, sizeof key, &key_length, bytes,
                                          sizeof bytes, &length, &why),
                         STATUS_END);
    }
    for (unsigned i = 0; i < KEYS; i++) {
        unsigned at = i;
        while (at < KEYS && values[at] == 0) {
            at++;
        }
        key_length = key_of(i, key).length;
        enum status status = tree_cursor_move(cursor, TREE_AT_OR_AFTER, key, sizeof key,
                                              &key_length, bytes, sizeof bytes, &length, &why);
        assert_int_equal(status, at < KEYS ? STATUS_OK : STATUS_END);
        if (at < KEYS) {
            assert_true(slice_equal(slice_of(key, key_length), key_of(at, wanted)));
            key_length = key_of(i, key).length;
            status = tree_cursor_move(cursor, TREE_AT_OR_AFTER, key, sizeof key, &key_length, bytes,
                                      values[at] - 1, &length, &why);
            assert_int_equal(status, STATUS_LIMIT);
            assert_int_equal(length, values[at]);
        }
    }
    tree_cursor_close(cursor);
}

static void
change_some(struct tree *tree, struct transaction *transaction, unsigned values[KEYS])
{
    struct tree_cursor *cursor;
    char key[KEY], bytes[VALUE];
    for (unsigned n = 0; n < 200; n++) {
        const unsigned i = (unsigned)(random_number() % KEYS);
        const unsigned value = 1 + (unsigned)(random_number() % (VALUE - 1));
        const struct slice name = key_of(i, key);
        size_t key_length = name.length, length;
        switch (random_number() % 4) {
        case 0:
            must(tree_delete(tree, transaction, name, &why), &why);
            values[i] = 0;
            break;
        case 1:
            must(tree_append(tree, transaction, name, value_of(value, bytes), &why), &why);
            values[i] = value;
            break;
        case 2:
            must(tree_put(tree, transaction, name, value_of(value, bytes), &why), &why);
            values[i] = value;
            break;
        default:
            must(tree_cursor_open(&cursor, tree, transaction, &why), &why);
            if (values[i] != 0) {
                must(tree_cursor_move(cursor, TREE_AT_OR_AFTER, key, sizeof key, &key_length, bytes,
                                      sizeof bytes, &length, &why),
                     &why);
                if (n % 2 == 0) {
                    must(tree_cursor_delete(cursor, &why), &why);
                    values[i] = 0;
                } else {
                    must(tree_cursor_replace(cursor, value_of(value, bytes), &why), &why);
                    values[i] = value;
                }
            }
            tree_cursor_close(cursor);
        }
    }
}

static void
a_tree_is_a_sorted_map(void **state)
{
    (void)state;
    static unsigned values[KEYS], before[KEYS];
    struct tree *tree = tree_named("map");
    compare_keys(tree, NULL, values);
    compare_moves(tree, NULL, values);
    for (unsigned round = 0; round < 12; round++) {
        struct transaction *transaction = begun();
        memcpy(before, values, sizeof values);
        change_some(tree, transaction, values);
        compare_keys(tree, transaction, values);
        compare_moves(tree, transaction, values);
        if (round % 3 == 0) {
            transaction_abort(transaction);
            memcpy(values, before, sizeof values);
        } else if (round % 3 == 1) {
            must(transaction_commit(transaction, &why), &why);
        } else {
            must(transaction_commit_unsynced(transaction, &why), &why);
        }
        compare_keys(tree, NULL, values);
        if (round % 4 == 3) {
            tree_close(tree);
            environment_close(environment);
            open_with(0);
            tree = tree_named("map");
            compare_keys(tree, NULL, values);
            compare_moves(tree, NULL, values);
        }
    }
    transaction_abort(NULL);
    tree_cursor_close(NULL);
    tree_close(NULL);
    assert_false(environment_is_broken(environment));
    tree_close(tree);
}

/* Four to a page when they go in past the end; the place of a key grows with it. */
static void
appended_keys_fill_pages(void **state)
{
    (void)state;
    enum { COUNT = 2000 };
    struct tree *tree = tree_named("appended");
    char key[KEY];
    fill(tree, 0, COUNT, VALUE);
    assert_in_range(tree_pages(tree), COUNT / 4, COUNT / 4 + COUNT / 40);
    assert_int_equal(tree_bytes(tree), ((uint64_t)tree_pages(tree) + 1) * PAGE);
    double before = 0, position = 0;
    for (unsigned i = 0; i <= COUNT; i += 100) {
        must(tree_position(tree, key_of(i, key), &position, &why), &why);
        assert_true(position >= before && position <= 1);
        before = position;
        assert_true(i > 0 || position < 0.01);
    }
    assert_true(position > 0.9);
    tree_close(tree);
}

/* ---- files ---- */

static void
bytes_are_those_of_the_files(void **state)
{
    (void)state;
    char path[PATH];
    const uint64_t before = environment_bytes(environment);
    make_file("other", 12345);
    path_of("sub", path);
    assert_int_equal(mkdir(path, 0777), 0);
    assert_int_equal(environment_bytes(environment), before + 12345);
    assert_true(before >= file_bytes("files.db"));
    assert_int_equal(rmdir(path), 0);
}

static void
no_transaction_begins_without_room(void **state)
{
    (void)state;
    struct transaction *transaction;
    struct statvfs disk;
    assert_int_equal(statvfs(folder, &disk), 0);
    const uint64_t room = (uint64_t)disk.f_bavail * disk.f_frsize;
    const uint64_t most = UINT64_C(1) << 60;
    /* Without a reserve nobody looks. */
    must(transaction_begin(&transaction, environment, most, &why), &why);
    transaction_abort(transaction);
    environment_close(environment);
    open_with(1 << 20);
    must(transaction_begin(&transaction, environment, room / 2, &why), &why);
    transaction_abort(transaction);
    assert_int_equal(transaction_begin(&transaction, environment, most, &why), STATUS_FULL);
    assert_null(transaction);
    assert_non_null(strstr(why.text, "index.disk_reserve, 1 MiB"));
    environment_close(environment);
    open_with(most);
    assert_int_equal(transaction_begin(&transaction, environment, 0, &why), STATUS_FULL);
    must(transaction_begin(&transaction, environment, TRANSACTION_WITHIN_RESERVE, &why), &why);
    transaction_abort(transaction);
    assert_false(environment_is_broken(environment));
}

/* What is in memory alone needs room, too: as much as the reserve leaves is asked for. */
static void
pages_without_room_yet_are_counted(void **state)
{
    (void)state;
    enum { COUNT = 400 };
    struct transaction *transaction;
    environment_close(environment);
    open_with(1 << 20);
    struct tree *tree = tree_named("unwritten");
    must(environment_hold_log(environment, &why), &why);
    fill(tree, 0, COUNT, VALUE);
    assert_int_equal(transaction_begin(&transaction, environment, UINT64_C(1) << 60, &why),
                     STATUS_FULL);
    unsigned long long unwritten, written;
    const char *told = strstr(why.text, "on the disk, ");
    assert_non_null(told);
    assert_int_equal(sscanf(told, "on the disk, %llu MiB must be", &unwritten), 1);
    environment_release_log(environment);
    must(environment_checkpoint(environment, true, &why), &why);
    assert_int_equal(transaction_begin(&transaction, environment, UINT64_C(1) << 60, &why),
                     STATUS_FULL);
    told = strstr(why.text, "on the disk, ");
    assert_int_equal(sscanf(told, "on the disk, %llu MiB must be", &written), 1);
    const uint64_t more = (unwritten - written) << 20;
    assert_in_range(more, (COUNT / 4 * PAGE) >> 20 << 20, tree_bytes(tree) + (1 << 20));
    assert_int_equal(written, (UINT64_C(1) << 40) + 1);
    tree_close(tree);
}

/* ---- checkpoints ---- */

static uint64_t
writes_of_checkpoint(bool force)
{
    const uint64_t before = environment_writes();
    must(environment_checkpoint(environment, force, &why), &why);
    return environment_writes() - before;
}

static void
checkpoints_come_with_the_log(void **state)
{
    (void)state;
    struct tree *tree = tree_named("checkpoints");
    environment_fault(FAULT_NONE, 0);
    fill(tree, 0, 4, VALUE);
    (void)writes_of_checkpoint(true);
    fill(tree, 4, 8, VALUE);
    assert_int_equal(writes_of_checkpoint(false), 0);
    fill(tree, 8, 8 + CHECKPOINT / VALUE * 2, VALUE);
    assert_true(writes_of_checkpoint(false) > 0);
    must(environment_hold_log(environment, &why), &why);
    fill(tree, 1000, 1000 + CHECKPOINT / VALUE * 2, VALUE);
    assert_int_equal(writes_of_checkpoint(false), 0);
    environment_release_log(environment);
    assert_true(writes_of_checkpoint(false) > 0);
    fill(tree, 2000, 2001, VALUE);
    assert_true(writes_of_checkpoint(true) > 0);
    /* Holding writes one. */
    fill(tree, 3000, 3001, VALUE);
    const uint64_t before = environment_writes();
    must(environment_hold_log(environment, &why), &why);
    assert_true(environment_writes() > before);
    environment_release_log(environment);
    /* Nobody knows what a sync that failed has left: it is one for good, for want of room, too. */
    fill(tree, 4000, 4008, VALUE);
    environment_fault(FAULT_FULL, 1);
    assert_int_equal(environment_hold_log(environment, &why), STATUS_SYSTEM);
    assert_non_null(strstr(why.text, "Input/output error"));
    environment_fault(FAULT_NONE, 0);
    assert_true(environment_is_broken(environment));
    struct transaction *transaction;
    assert_int_equal(transaction_begin(&transaction, environment, 0, &why), STATUS_SYSTEM);
    assert_null(transaction);
    assert_non_null(strstr(why.text, "start again"));
    tree_close(tree);
}

/* ---- writes that are counted ---- */

static void
files_are_written_where_they_are_asked_to_be(void **state)
{
    (void)state;
    char path[PATH], bytes[16];
    path_of("waiting", path);
    const int file = open(path, O_RDWR | O_CREAT, 0666);
    assert_true(file >= 0);
    environment_fault(FAULT_NONE, 0);
    must(environment_write_file(file, SLICE("0123456789"), 0, &why), &why);
    must(environment_write_file(file, SLICE("abc"), 4, &why), &why);
    must(environment_write_file(file, SLICE(""), 100, &why), &why);
    must(environment_sync_file(file, &why), &why);
    assert_int_equal(environment_writes(), 3);
    assert_int_equal(pread(file, bytes, sizeof bytes, 0), 10);
    assert_memory_equal(bytes, "0123abc789", 10);
    environment_fault(FAULT_FULL, 2);
    must(environment_write_file(file, SLICE("d"), 0, &why), &why);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(environment_write_file(file, SLICE("e"), 1, &why), STATUS_FULL);
        assert_int_equal(environment_sync_file(file, &why), STATUS_SYSTEM);
    }
    environment_fault(FAULT_ONCE, 2);
    must(environment_write_file(file, SLICE("f"), 2, &why), &why);
    assert_int_equal(environment_write_file(file, SLICE("g"), 3, &why), STATUS_SYSTEM);
    must(environment_write_file(file, SLICE("h"), 4, &why), &why);
    environment_fault(FAULT_ONCE, 1);
    assert_int_equal(environment_sync_file(file, &why), STATUS_SYSTEM);
    must(environment_sync_file(file, &why), &why);
    environment_fault(FAULT_NONE, 0);
    assert_int_equal(pread(file, bytes, sizeof bytes, 0), 10);
    assert_memory_equal(bytes, "d1f3hbc789", 10);
    assert_int_equal(close(file), 0);
    assert_int_equal(environment_write_file(file, SLICE("i"), 0, &why), STATUS_SYSTEM);
    assert_int_equal(environment_sync_file(file, &why), STATUS_SYSTEM);
}

/* Who gives back what he never had does no harm. */
static void
what_never_was_is_let_go(void **state)
{
    (void)state;
    environment_close(NULL);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_tree_is_a_sorted_map),
        TEST(appended_keys_fill_pages),
        TEST(bytes_are_those_of_the_files),
        TEST(no_transaction_begins_without_room),
        TEST(pages_without_room_yet_are_counted),
        TEST(checkpoints_come_with_the_log),
        TEST(files_are_written_where_they_are_asked_to_be),
        cmocka_unit_test(what_never_was_is_let_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) + trees_files() + trees_blocks();
}
