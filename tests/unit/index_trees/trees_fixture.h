/* An environment of trees in a folder of its own, for each test anew: shared by the tests of trees.
 */
#ifndef TESTS_UNIT_INDEX_TREES_TREES_FIXTURE_H
#define TESTS_UNIT_INDEX_TREES_TREES_FIXTURE_H

#include "tests/unit/index/index_fixture.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "index/trees/environment.h"

int trees_files(void);  /* trees_files.c: trees built anew, copies, damage, the log, compacting */
int trees_blocks(void); /* trees_blocks.c: blocks under fences, latches */

enum { CACHE = 1 << 20, CHECKPOINT = 64 << 10, PAGE = 4096, VALUE = 900, PATH = 200 };

static char folder[SCRATCH_SIZE];
static struct environment *environment;
static struct reason why;

static inline void
open_with(uint64_t reserve)
{
    const struct environment_options options = {.folder = folder,
                                                .cache_bytes = CACHE,
                                                .checkpoint_bytes = CHECKPOINT,
                                                .disk_reserve = reserve,
                                                .no_sync = true};
    must(environment_open(&environment, &options, &why), &why);
}

static inline struct tree *
tree_named(const char *name)
{
    struct tree *tree;
    must(tree_open(&tree, environment, name, &why), &why);
    assert_string_equal(tree_name(tree), name);
    return tree;
}

static inline struct transaction *
begun(void)
{
    struct transaction *transaction;
    must(transaction_begin(&transaction, environment, 0, &why), &why);
    return transaction;
}

static inline void
path_of(const char *file, char path[PATH])
{
    snprintf(path, PATH, "%s/%s", folder, file);
}

static inline bool
is_there(const char *file)
{
    char path[PATH];
    path_of(file, path);
    return access(path, F_OK) == 0;
}

static inline uint64_t
file_bytes(const char *file)
{
    char path[PATH];
    struct stat info;
    path_of(file, path);
    return stat(path, &info) == 0 ? (uint64_t)info.st_size : 0;
}

static inline void
make_file(const char *file, size_t size)
{
    char path[PATH];
    path_of(file, path);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    for (size_t i = 0; i < size; i++) {
        assert_int_equal(fputc('x', out), 'x');
    }
    assert_int_equal(fclose(out), 0);
}

enum { KEY = 8 };

static inline struct slice
key_of(unsigned number, char key[KEY])
{
    snprintf(key, KEY, "%05u", number);
    return slice_string(key);
}

/* Its length tells values apart. */
static inline struct slice
value_of(unsigned value, char bytes[VALUE])
{
    memset(bytes, (int)('a' + value % 26), value);
    return slice_of(bytes, value);
}

static inline void
fill(struct tree *tree, unsigned from, unsigned to, unsigned value)
{
    char key[KEY], bytes[VALUE];
    struct transaction *transaction = begun();
    for (unsigned i = from; i < to; i++) {
        must(tree_append(tree, transaction, key_of(i, key), value_of(value, bytes), &why), &why);
    }
    must(transaction_commit(transaction, &why), &why);
}

static inline void
assert_file(const struct tree *tree, const char *expected)
{
    char file[TREE_FILE_SIZE];
    tree_file(tree, file);
    assert_string_equal(file, expected);
    assert_true(is_there(expected));
}

static inline int
set_up(void **state)
{
    (void)state;
    if (!scratch_folder(folder, "trees")) {
        return -1;
    }
    open_with(0);
    return 0;
}

static inline int
tear_down(void **state)
{
    (void)state;
    environment_fault(FAULT_NONE, 0);
    environment_close(environment);
    fixture_run("rm -rf %s%s", folder, "");
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif
