/* Trees that are built anew, and their files; copies of pages, damaged ones, the log, compacting.
 */
#include "tests/unit/index_trees/trees_fixture.h"

/* ---- trees built anew ---- */

enum { KEYS = 500 };

/* Value 0: no such key. */
static void
compare_keys(struct tree *tree, const unsigned values[KEYS])
{
    char key[KEY], bytes[VALUE], expected[VALUE];
    for (unsigned i = 0; i < KEYS; i++) {
        size_t length = sizeof bytes;
        const enum status status = tree_get(tree, NULL, key_of(i, key), bytes, &length, &why);
        assert_int_equal(status, values[i] == 0 ? STATUS_NOT_FOUND : STATUS_OK);
        assert_true(values[i] == 0 ||
                    slice_equal(slice_of(bytes, length), value_of(values[i], expected)));
    }
}

static struct tree_build *
built(struct tree *tree, unsigned count, unsigned value)
{
    struct tree_build *build;
    char key[KEY], bytes[VALUE];
    must(tree_build_begin(&build, tree, &why), &why);
    for (unsigned i = 0; i < count; i++) {
        must(tree_build_add(build, key_of(i, key), value_of(value, bytes), &why), &why);
        if (i == count / 2) {
            must(tree_build_sync(build, &why), &why);
        }
    }
    return build;
}

static void
end_build(struct tree_build *build, bool commits)
{
    struct transaction *transaction = begun();
    must(tree_build_end(build, transaction, &why), &why);
    if (commits) {
        must(transaction_commit(transaction, &why), &why);
    } else {
        transaction_abort(transaction);
    }
}

static void
a_tree_is_built_anew_in_a_file_of_its_own(void **state)
{
    (void)state;
    static unsigned values[KEYS], none[KEYS];
    struct tree *tree = tree_named("built");
    struct tree *second = tree_named("second");
    assert_file(tree, "built.db");
    fill(tree, 0, KEYS, 5);
    for (unsigned i = 0; i < KEYS; i++) {
        values[i] = 5;
    }
    struct tree_build *build = built(tree, KEYS, 700);
    assert_true(is_there("built.1.db"));
    compare_keys(tree, values);
    struct tree_build *twice;
    assert_int_equal(tree_build_begin(&twice, tree, &why), STATUS_SYSTEM);
    assert_null(twice);
    tree_build_drop(build);
    tree_build_drop(NULL);
    assert_false(is_there("built.1.db"));
    end_build(built(tree, KEYS, 700), false);
    assert_false(is_there("built.1.db"));
    assert_file(tree, "built.db");
    compare_keys(tree, values);
    /* Two of one transaction. */
    build = built(tree, KEYS / 2, 700);
    struct tree_build *other = built(second, 1, 3);
    struct transaction *transaction = begun();
    must(tree_build_end(build, transaction, &why), &why);
    must(tree_build_end(other, transaction, &why), &why);
    assert_file(tree, "built.db");
    must(transaction_commit(transaction, &why), &why);
    assert_file(tree, "built.1.db");
    assert_file(second, "second.1.db");
    assert_false(is_there("built.db"));
    assert_false(is_there("second.db"));
    for (unsigned i = 0; i < KEYS; i++) {
        values[i] = i < KEYS / 2 ? 700 : 0;
    }
    compare_keys(tree, values);
    fill(tree, 3, 4, 9);
    values[3] = 9;
    tree_close(second);
    tree_close(tree);
    environment_close(environment);
    /* What a crash has left is removed, and nothing that has another name. */
    make_file("built.db", 1);
    make_file("built.77.db", 1);
    make_file("built.db.old", 1);
    make_file("built.x.db", 1);
    make_file("built..db", 1);
    make_file("builtdb", 1);
    make_file("bui.db", 1);
    open_with(0);
    tree = tree_named("built");
    assert_false(is_there("built.db"));
    assert_false(is_there("built.77.db"));
    assert_true(is_there("built.db.old") && is_there("built.x.db") && is_there("built..db") &&
                is_there("builtdb") && is_there("bui.db"));
    assert_file(tree, "built.1.db");
    compare_keys(tree, values);
    end_build(built(tree, 0, 1), true);
    assert_file(tree, "built.2.db");
    assert_false(is_there("built.1.db"));
    compare_keys(tree, none);
    tree_close(tree);
}

/* What an attempt without room, or a crash, has left is not in the way of the next. */
static void
a_build_that_could_not_begin_begins_again(void **state)
{
    (void)state;
    struct tree *tree = tree_named("begun");
    struct tree_build *build;
    unsigned failures = 0;
    for (uint64_t at = 1; at < 8; at++) {
        environment_fault(FAULT_FULL, at);
        const enum status status = tree_build_begin(&build, tree, &why);
        environment_fault(FAULT_NONE, 0);
        if (status == STATUS_OK) {
            tree_build_drop(build);
        } else {
            assert_true(status == STATUS_FULL || status == STATUS_SYSTEM); /* of a sync */
            assert_null(build);
            failures++;
        }
    }
    assert_true(failures > 0);
    end_build(built(tree, 10, 5), true);
    assert_file(tree, "begun.1.db");
    make_file("__db.begun.2.db", 5);
    end_build(built(tree, 10, 5), true);
    assert_file(tree, "begun.2.db");
    assert_false(is_there("__db.begun.1.db") || is_there("__db.begun.2.db"));
    tree_close(tree);
}

/* The file that is the tree is gone, and another is there: nothing is removed, nothing made. */
static void
a_missing_file_is_told(void **state)
{
    (void)state;
    char path[PATH];
    struct tree *tree = tree_named("gone");
    fill(tree, 0, 10, 5);
    end_build(built(tree, 10, 5), true);
    tree_close(tree);
    environment_close(environment);
    path_of("gone.1.db", path);
    assert_int_equal(unlink(path), 0);
    make_file("gone.db", 7);
    open_with(0);
    assert_int_equal(tree_open(&tree, environment, "gone", &why), STATUS_CORRUPT);
    assert_null(tree);
    assert_non_null(strstr(why.text, "gone.1.db is missing"));
    assert_int_equal(file_bytes("gone.db"), 7);
    assert_false(is_there("gone.1.db"));
}

static void
malformed_records_of_files_are_told(void **state)
{
    (void)state;
    static const struct slice malformed[] = {SLICE_INIT(""),         SLICE_INIT("\x01"),
                                             SLICE_INIT("\x02\x01"), SLICE_INIT("\x00\x01"),
                                             SLICE_INIT("\x01\x81"), SLICE_INIT("\x01\x01\x01"),
                                             SLICE_INIT("\x03")};
    struct tree *files = tree_named("files");
    struct tree *tree;
    for (size_t i = 0; i < sizeof malformed / sizeof *malformed; i++) {
        struct transaction *transaction = begun();
        must(tree_put(files, transaction, SLICE("some"), malformed[i], &why), &why);
        must(transaction_commit(transaction, &why), &why);
        assert_int_equal(tree_open(&tree, environment, "some", &why), STATUS_CORRUPT);
        assert_null(tree);
        assert_non_null(strstr(why.text, "the record of some is malformed"));
    }
    struct transaction *transaction = begun();
    must(tree_put(files, transaction, SLICE("some"), SLICE("\x01\xac\x02"), &why), &why);
    must(transaction_commit(transaction, &why), &why);
    tree = tree_named("some");
    assert_file(tree, "some.300.db");
    tree_close(tree);
    tree_close(files);
}

/* ---- copies ---- */

static void
write_byte(const char *file, uint64_t offset, int flip)
{
    char path[PATH];
    uint8_t byte;
    path_of(file, path);
    const int descriptor = open(path, O_RDWR);
    assert_true(descriptor >= 0);
    assert_int_equal(pread(descriptor, &byte, 1, (off_t)offset), 1);
    byte = (uint8_t)(byte ^ flip);
    assert_int_equal(pwrite(descriptor, &byte, 1, (off_t)offset), 1);
    assert_int_equal(close(descriptor), 0);
}

static void
pages_are_copied_as_the_file_has_them(void **state)
{
    (void)state;
    static const size_t most[] = {PAGE, PAGE + 1, 3 * PAGE - 1, 128 << 10};
    struct tree *tree = tree_named("copied");
    fill(tree, 0, 300, VALUE);
    must(environment_checkpoint(environment, true, &why), &why);
    const uint64_t size = file_bytes("copied.db");
    uint8_t *copy = malloc(size + (256 << 10)), *bytes = malloc(size);
    char path[PATH];
    path_of("copied.db", path);
    FILE *in = fopen(path, "r");
    assert_int_equal(fread(bytes, 1, size, in), size);
    assert_int_equal(fclose(in), 0);
    for (size_t i = 0; i < sizeof most / sizeof *most; i++) {
        uint32_t page = 0;
        size_t length = 0;
        bool end = false;
        for (uint64_t pages = 0; !end; pages += most[i] / PAGE) {
            assert_int_equal(page, pages < size / PAGE ? pages : size / PAGE);
            const size_t before = length;
            must(tree_copy_pages(tree, &page, copy, before + most[i], &length, &end, &why), &why);
            assert_true(length - before <= most[i]);
            assert_int_equal(length, (uint64_t)page * PAGE);
        }
        assert_int_equal(length, size);
        assert_memory_equal(copy, bytes, size);
    }
    /* A damaged page ends it; one may go on after it. */
    write_byte("copied.db", 5 * PAGE + 100, 1);
    uint32_t page = 2;
    size_t length = 0;
    bool end;
    assert_int_equal(tree_copy_pages(tree, &page, copy, 128 << 10, &length, &end, &why),
                     STATUS_CORRUPT);
    assert_non_null(strstr(why.text, "copied.db: page 5 is damaged"));
    assert_int_equal(page, 5);
    assert_int_equal(length, 3 * PAGE);
    assert_memory_equal(copy, bytes + 2 * PAGE, 3 * PAGE);
    page++;
    must(tree_copy_pages(tree, &page, copy, length + 2 * PAGE, &length, &end, &why), &why);
    assert_false(end);
    assert_memory_equal(copy + 3 * PAGE, bytes + 6 * PAGE, 2 * PAGE);
    write_byte("copied.db", 5 * PAGE + 100, 1);
    free(copy);
    free(bytes);
    assert_false(environment_is_broken(environment));
    tree_close(tree);
}

/* A reader of a damaged page is told which; all else goes on, in each environment that is open. */
static void
a_damaged_page_harms_nothing_else(void **state)
{
    (void)state;
    enum { COUNT = 2000 };
    char key[KEY], bytes[VALUE], name[64];
    for (unsigned round = 0; round < 2; round++) {
        snprintf(name, sizeof name, "damaged%u", round);
        struct tree *tree = tree_named(name);
        fill(tree, 0, COUNT, VALUE);
        tree_close(tree);
        environment_close(environment);
        snprintf(name, sizeof name, "damaged%u.db", round);
        write_byte(name, 40 * PAGE + 2000, 4);
        open_with(0);
        /* Another environment that comes and goes before and after. */
        char kept[SCRATCH_SIZE];
        struct environment *first = environment, *second;
        memcpy(kept, folder, sizeof kept);
        snprintf(folder + strlen(folder), 10, ".second");
        open_with(0);
        second = environment;
        memcpy(folder, kept, sizeof kept);
        environment = first;
        if (round == 1) {
            environment_close(second);
        }
        snprintf(name, sizeof name, "damaged%u", round);
        tree = tree_named(name);
        unsigned failed = 0;
        for (unsigned i = 0; i < COUNT; i++) {
            size_t length = sizeof bytes;
            const enum status status = tree_get(tree, NULL, key_of(i, key), bytes, &length, &why);
            if (status != STATUS_OK) {
                assert_int_equal(status, STATUS_CORRUPT);
                snprintf(bytes, sizeof bytes, "%s.db: page 40 is damaged", name);
                assert_non_null(strstr(why.text, bytes));
                failed++;
            }
        }
        assert_int_equal(failed, 4);
        assert_false(environment_is_broken(environment));
        fill(tree, COUNT, COUNT + 1, 3);
        tree_close(tree);
        if (round == 0) {
            environment_close(second);
        }
        fixture_run("rm -r %s%s", folder, ".second");
    }
}

/* ---- the log ---- */

struct log_names {
    unsigned count, most;
};

static enum status
note_log(void *context, const char *name, struct reason *reason)
{
    struct log_names *names = context;
    assert_true(strncmp(name, "log.", 4) == 0);
    assert_true(is_there(name));
    names->count++;
    return names->count < names->most ? STATUS_OK : status_fail(reason, STATUS_FULL, "enough");
}

static void
files_of_the_log_are_called_out(void **state)
{
    (void)state;
    struct tree *tree = tree_named("logged");
    must(environment_hold_log(environment, &why), &why);
    for (unsigned i = 0; i < 6; i++) {
        fill(tree, 0, 2500, VALUE - i);
    }
    struct log_names names = {0, 100};
    must(environment_log_files(environment, note_log, &names, &why), &why);
    assert_in_range(names.count, 2, 9);
    names = (struct log_names){0, 1};
    assert_int_equal(environment_log_files(environment, note_log, &names, &why), STATUS_FULL);
    assert_int_equal(names.count, 1);
    assert_string_equal(why.text, "enough");
    environment_release_log(environment);
    must(environment_checkpoint(environment, true, &why), &why);
    names = (struct log_names){0, 100};
    must(environment_log_files(environment, note_log, &names, &why), &why);
    assert_int_equal(names.count, 1);
    tree_close(tree);
}

/* ---- compacting ---- */

static void
compacting_gives_pages_back(void **state)
{
    (void)state;
    enum { COUNT = 9000 };
    struct tree *tree = tree_named("compacted");
    char key[KEY], bytes[VALUE];
    uint8_t at[TREE_KEY_MAXIMUM];
    size_t length = 0;
    bool end = false;
    unsigned steps = 0;
    fill(tree, 0, COUNT, 400);
    const uint32_t pages = tree_pages(tree);
    struct transaction *transaction = begun();
    for (unsigned i = 0; i < COUNT; i++) {
        if (i % 4 != 0) {
            must(tree_delete(tree, transaction, key_of(i, key), &why), &why);
        }
    }
    must(transaction_commit(transaction, &why), &why);
    while (!end) {
        transaction = begun();
        must(tree_compact_step(tree, transaction, at, &length, &end, &why), &why);
        must(transaction_commit(transaction, &why), &why);
        assert_true(end || length == 5);
        steps++;
    }
    /* Steps of 2,000 keys: one of each, and one that finds the end. */
    assert_int_equal(steps, COUNT / 4 / 2000 + 1);
    assert_in_range(tree_pages(tree), COUNT / 4 / 9, pages * 2 / 3);
    for (unsigned i = 0; i < COUNT; i++) {
        length = sizeof bytes;
        assert_int_equal(tree_get(tree, NULL, key_of(i, key), bytes, &length, &why),
                         i % 4 == 0 ? STATUS_OK : STATUS_NOT_FOUND);
    }
    tree_close(tree);
}

int
trees_files(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_tree_is_built_anew_in_a_file_of_its_own),
        TEST(a_build_that_could_not_begin_begins_again),
        TEST(a_missing_file_is_told),
        TEST(malformed_records_of_files_are_told),
        TEST(pages_are_copied_as_the_file_has_them),
        TEST(a_damaged_page_harms_nothing_else),
        TEST(files_of_the_log_are_called_out),
        TEST(compacting_gives_pages_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
