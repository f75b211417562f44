/* What the opener of environments (store/database.c) says when a call of Berkeley DB fails. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

#include <cmocka.h>
#include <db.h>

#include "store/database.h"
#include "tests/unit/scratch.h"

/* ---- stand-ins: the methods of a handle may be replaced, and one of them fails ---- */

enum call {
    NO_CALL,
    CREATE_ENVIRONMENT,
    SET_CACHESIZE,
    SET_MUTEXES,
    INIT_MUTEXES,
    SET_LOG_BUFFER,
    SET_LOG_SIZE,
    CONFIGURE_LOG,
    SET_FLAGS,
    OPEN_ENVIRONMENT,
    CREATE_TREE,
    SET_TREE_FLAGS,
    SET_PAGESIZE,
    OPEN_TREE,
    GET_PAGESIZE,
};

static char folder[SCRATCH_SIZE];
static enum call failing;
static int failure;
static uint64_t room; /* of the disk */
static bool no_room_is_told;
static unsigned checkpoints, closed_trees;
static int (*close_tree)(DB *tree, uint32_t flags);

int __real_db_env_create(DB_ENV **environment, uint32_t flags);
int __wrap_db_env_create(DB_ENV **environment, uint32_t flags);
int __real_db_create(DB **tree, DB_ENV *environment, uint32_t flags);
int __wrap_db_create(DB **tree, DB_ENV *environment, uint32_t flags);
int __wrap_statvfs(const char *path, struct statvfs *disk);

int
__wrap_statvfs(const char *path, struct statvfs *disk)
{
    (void)path;
    *disk = (struct statvfs){.f_frsize = 1, .f_bavail = room};
    errno = EIO;
    return no_room_is_told ? -1 : 0;
}

static int
fail_two_and_count(DB_ENV *environment, uint32_t a, uint32_t b, int n)
{
    (void)environment, (void)a, (void)b, (void)n;
    return failure;
}

static int
fail_number(DB_ENV *environment, uint32_t number)
{
    (void)environment, (void)number;
    return failure;
}

static int
fail_switch(DB_ENV *environment, uint32_t number, int on)
{
    (void)environment, (void)number, (void)on;
    return failure;
}

static int
fail_open(DB_ENV *environment, const char *path, uint32_t flags, int mode)
{
    (void)environment, (void)path, (void)flags, (void)mode;
    return failure;
}

static int
count_checkpoint(DB_ENV *environment, uint32_t kilobytes, uint32_t minutes, uint32_t flags)
{
    (void)environment;
    assert_int_equal(kilobytes, 0);
    assert_int_equal(minutes, 0);
    assert_int_equal(flags, DB_FORCE);
    checkpoints++;
    return 0;
}

int
__wrap_db_env_create(DB_ENV **environment, uint32_t flags)
{
    if (failing == CREATE_ENVIRONMENT) {
        return failure;
    }
    const int error = __real_db_env_create(environment, flags);
    if (error != 0) {
        return error;
    }
    DB_ENV *made = *environment;
    made->txn_checkpoint = count_checkpoint;
    switch (failing) {
    case SET_CACHESIZE:
        made->set_cachesize = fail_two_and_count;
        break;
    case SET_MUTEXES:
        made->set_mp_mtxcount = fail_number;
        break;
    case INIT_MUTEXES:
        made->mutex_set_init = fail_number;
        break;
    case SET_LOG_BUFFER:
        made->set_lg_bsize = fail_number;
        break;
    case SET_LOG_SIZE:
        made->set_lg_max = fail_number;
        break;
    case CONFIGURE_LOG:
        made->log_set_config = fail_switch;
        break;
    case SET_FLAGS:
        made->set_flags = fail_switch;
        break;
    case OPEN_ENVIRONMENT:
        made->open = fail_open;
        break;
    default:
        break;
    }
    return 0;
}

static int
fail_tree_number(DB *tree, uint32_t number)
{
    (void)tree, (void)number;
    return failure;
}

static int
fail_tree_open(DB *tree, DB_TXN *transaction, const char *file, const char *name, DBTYPE type,
               uint32_t flags, int mode)
{
    (void)tree, (void)transaction, (void)file, (void)name, (void)type, (void)flags, (void)mode;
    return failure;
}

static int
fail_get_pagesize(DB *tree, uint32_t *bytes)
{
    (void)tree, (void)bytes;
    return failure;
}

static int
count_closed(DB *tree, uint32_t flags)
{
    closed_trees++;
    return close_tree(tree, flags);
}

int
__wrap_db_create(DB **tree, DB_ENV *environment, uint32_t flags)
{
    if (failing == CREATE_TREE) {
        return failure;
    }
    const int error = __real_db_create(tree, environment, flags);
    if (error != 0) {
        return error;
    }
    DB *made = *tree;
    close_tree = made->close;
    made->close = count_closed;
    switch (failing) {
    case SET_TREE_FLAGS:
        made->set_flags = fail_tree_number;
        break;
    case SET_PAGESIZE:
        made->set_pagesize = fail_tree_number;
        break;
    case OPEN_TREE:
        made->open = fail_tree_open;
        break;
    case GET_PAGESIZE:
        made->get_pagesize = fail_get_pagesize;
        break;
    default:
        break;
    }
    return 0;
}

/* ---- an environment for each case ---- */

static int
begin(void **state)
{
    (void)state;
    failing = NO_CALL;
    failure = EIO;
    room = UINT64_C(1) << 30;
    no_room_is_told = false;
    checkpoints = closed_trees = 0;
    return scratch_folder(folder, "database_faults") ? 0 : -1;
}

static int
end(void **state)
{
    char command[SCRATCH_SIZE + 32];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

static enum status
open_database(struct database *database, struct reason *why)
{
    const struct database_options options = {.folder = folder,
                                             .cache_bytes = 1 << 20,
                                             .log_file_bytes = 1 << 20,
                                             .log_buffer_bytes = 1 << 16,
                                             .file_mode = 0600,
                                             .no_sync = true,
                                             .threads = true};
    const enum status status = database_hold(database, &options, why);
    assert_int_equal(status, STATUS_OK);
    return database_open(database, &options, why);
}

/* ---- cases ---- */

/* An environment of which one option could not be set is not opened with the others: it would sync
 * other than its owner promised, or share handles that may not be shared. */
static void
each_call_that_opens_must_succeed(void **state)
{
    (void)state;
    for (failing = CREATE_ENVIRONMENT; failing <= OPEN_ENVIRONMENT; failing++) {
        struct database database;
        struct reason why = {""};
        assert_int_equal(open_database(&database, &why), STATUS_SYSTEM);
        assert_non_null(strstr(why.text, failing == CREATE_ENVIRONMENT
                                             ? ": cannot make an environment: "
                                             : ": cannot open or recover: "));
        assert_int_equal(database.environment == NULL, failing == CREATE_ENVIRONMENT);
        assert_true(database.broken);
        database_close(&database);
        assert_int_equal(database.lock, -1);
    }
    assert_int_equal(checkpoints, 0); /* what is not open, or broken, has nothing to be written */
}

static void
what_is_whole_ends_with_a_checkpoint(void **state)
{
    struct database database;
    struct reason why = {""};
    (void)state;
    assert_int_equal(open_database(&database, &why), STATUS_OK);
    database_close(&database);
    assert_int_equal(checkpoints, 1);
    assert_int_equal(open_database(&database, &why), STATUS_OK);
    assert_int_equal(database_failed(&database, DB_RUNRECOVERY, &why, "test"), STATUS_CORRUPT);
    database_close(&database);
    assert_int_equal(checkpoints, 1);
}

/* Recovery needs room for its log; without it the library speaks of damage where there is none. */
static void
recovery_without_room_is_no_damage(void **state)
{
    static const struct {
        int failure;
        uint64_t room;
        bool no_room_is_told;
        enum status status;
        const char *said;
    } cases[] = {
        {DB_RUNRECOVERY, (16 << 20) - 1, false, STATUS_FULL, "the disk has only 16383 KB left"},
        {DB_RUNRECOVERY, 16 << 20, false, STATUS_CORRUPT, "the database or its log is damaged"},
        {DB_RUNRECOVERY, 0, true, STATUS_CORRUPT, "the database or its log is damaged"},
        {EIO, 0, false, STATUS_SYSTEM, "cannot open or recover: "},
    };
    (void)state;
    failing = OPEN_ENVIRONMENT;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct database database;
        struct reason why = {""};
        failure = cases[i].failure;
        room = cases[i].room;
        no_room_is_told = cases[i].no_room_is_told;
        assert_int_equal(open_database(&database, &why), cases[i].status);
        assert_non_null(strstr(why.text, cases[i].said));
        assert_true(database.broken);
        database_close(&database);
    }
}

/* A tree without checksums, or of another size of pages, is not made because a call failed; the
 * handle is given back. */
static void
each_call_that_opens_a_tree_must_succeed(void **state)
{
    struct database database;
    struct reason why = {""};
    (void)state;
    assert_int_equal(open_database(&database, &why), STATUS_OK);
    for (failing = CREATE_TREE; failing <= GET_PAGESIZE; failing++) {
        DB *tree = (DB *)&why;
        closed_trees = 0;
        assert_int_equal(
            database_open_tree(&database, &tree, "a.db", DB_CREATE | DB_AUTO_COMMIT, &why),
            STATUS_SYSTEM);
        assert_non_null(
            strstr(why.text, failing == GET_PAGESIZE ? ": a.db: " : ": cannot open a.db: "));
        assert_null(tree);
        assert_int_equal(closed_trees, failing != CREATE_TREE);
    }
    database_close(&database);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_call_that_opens_must_succeed, begin, end),
        cmocka_unit_test_setup_teardown(what_is_whole_ends_with_a_checkpoint, begin, end),
        cmocka_unit_test_setup_teardown(recovery_without_room_is_no_damage, begin, end),
        cmocka_unit_test_setup_teardown(each_call_that_opens_a_tree_must_succeed, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
