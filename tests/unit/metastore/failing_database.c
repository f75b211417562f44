#include "tests/unit/metastore/failing_database.h"

#include <db.h>
#include <errno.h>
#include <stddef.h>
#include <sys/statvfs.h>

struct failing_database failing_database = {.calls = -1};

/* The library's own. */
static struct {
    int (*open)(DB_ENV *, const char *, u_int32_t, int);
    int (*open_tree)(DB *, DB_TXN *, const char *, const char *, DBTYPE, u_int32_t, int);
    int (*txn_begin)(DB_ENV *, DB_TXN *, DB_TXN **, u_int32_t);
    int (*checkpoint)(DB_ENV *, u_int32_t, u_int32_t, u_int32_t);
    int (*commit)(DB_TXN *, u_int32_t);
    int (*abort)(DB_TXN *);
    int (*put)(DB *, DB_TXN *, DBT *, DBT *, u_int32_t);
    int (*remove)(DB *, DB_TXN *, DBT *, u_int32_t);
    int (*get)(DB *, DB_TXN *, DBT *, DBT *, u_int32_t);
    int (*cursor)(DB *, DB_TXN *, DBC **, u_int32_t);
    int (*cursor_get)(DBC *, DBT *, DBT *, u_int32_t);
    int (*cursor_close)(DBC *);
} library;

static int
strikes(void)
{
    return failing_database.calls >= 0 && failing_database.calls-- == 0 ? failing_database.error
                                                                        : 0;
}

static int
fail_commit(DB_TXN *transaction, u_int32_t flags)
{
    const int error = strikes();
    if (error != 0) {
        (void)library.abort(transaction);
        return error;
    }
    return library.commit(transaction, flags);
}

static int
fail_abort(DB_TXN *transaction)
{
    const int error = library.abort(transaction);
    return failing_database.aborts_fail ? EIO : error;
}

static int
fail_begin(DB_ENV *environment, DB_TXN *parent, DB_TXN **transaction, u_int32_t flags)
{
    const int struck = strikes();
    const int error =
        struck != 0 ? struck : library.txn_begin(environment, parent, transaction, flags);
    if (error == 0 && (*transaction)->commit != fail_commit) {
        library.commit = (*transaction)->commit;
        (*transaction)->commit = fail_commit;
        library.abort = (*transaction)->abort;
        (*transaction)->abort = fail_abort;
    }
    return error;
}

static int
fail_checkpoint(DB_ENV *environment, u_int32_t kilobytes, u_int32_t minutes, u_int32_t flags)
{
    const int error = strikes();
    failing_database.checkpoints++;
    failing_database.kilobytes = kilobytes;
    return error != 0 ? error : library.checkpoint(environment, kilobytes, minutes, flags);
}

static int
fail_put(DB *tree, DB_TXN *transaction, DBT *key, DBT *value, u_int32_t flags)
{
    const int error = strikes();
    return error != 0 ? error : library.put(tree, transaction, key, value, flags);
}

static int
fail_remove(DB *tree, DB_TXN *transaction, DBT *key, u_int32_t flags)
{
    const int error = strikes();
    return error != 0 ? error : library.remove(tree, transaction, key, flags);
}

static int
fail_get(DB *tree, DB_TXN *transaction, DBT *key, DBT *value, u_int32_t flags)
{
    const int error = strikes();
    return error != 0 ? error : library.get(tree, transaction, key, value, flags);
}

static int
fail_cursor_get(DBC *cursor, DBT *key, DBT *value, u_int32_t flags)
{
    const int error = strikes();
    return error != 0 ? error : library.cursor_get(cursor, key, value, flags);
}

static int
fail_cursor_close(DBC *cursor)
{
    const int struck = strikes();
    const int error = library.cursor_close(cursor);
    return struck != 0 ? struck : error;
}

static int
fail_cursor(DB *tree, DB_TXN *transaction, DBC **cursor, u_int32_t flags)
{
    const int struck = strikes();
    const int error = struck != 0 ? struck : library.cursor(tree, transaction, cursor, flags);
    if (error == 0 && (*cursor)->get != fail_cursor_get) { /* the library keeps used ones */
        library.cursor_get = (*cursor)->get;
        (*cursor)->get = fail_cursor_get;
        library.cursor_close = (*cursor)->close;
        (*cursor)->close = fail_cursor_close;
    }
    return error;
}

static int
fail_open(DB_ENV *environment, const char *folder, u_int32_t flags, int mode)
{
    const int struck = strikes();
    u_int32_t gigabytes = 0, bytes = 0, set = 0;
    int parts = 0, removes = 0;
    (void)environment->get_cachesize(environment, &gigabytes, &bytes, &parts);
    (void)environment->get_lg_max(environment, &failing_database.log_file_bytes);
    (void)environment->get_lg_bsize(environment, &failing_database.log_buffer_bytes);
    (void)environment->log_get_config(environment, DB_LOG_AUTO_REMOVE, &removes);
    (void)environment->get_flags(environment, &set);
    failing_database.cache_bytes = ((uint64_t)gigabytes << 30) + bytes;
    failing_database.removes_logs = removes != 0;
    failing_database.writes_without_sync = (set & DB_TXN_WRITE_NOSYNC) != 0;
    return struck != 0 ? struck : library.open(environment, folder, flags, mode);
}

static int
fail_open_tree(DB *tree, DB_TXN *transaction, const char *file, const char *name, DBTYPE type,
               u_int32_t flags, int mode)
{
    const int struck = strikes();
    (void)tree->get_pagesize(tree, &failing_database.page_bytes);
    return struck != 0 ? struck
                       : library.open_tree(tree, transaction, file, name, type, flags, mode);
}

int __real_db_env_create(DB_ENV **environment, u_int32_t flags);
int __wrap_db_env_create(DB_ENV **environment, u_int32_t flags);
int __real_db_create(DB **tree, DB_ENV *environment, u_int32_t flags);
int __wrap_db_create(DB **tree, DB_ENV *environment, u_int32_t flags);
int __real_flock(int descriptor, int operation);
int __wrap_flock(int descriptor, int operation);
int __real_statvfs(const char *path, struct statvfs *space);
int __wrap_statvfs(const char *path, struct statvfs *space);

int
__wrap_db_env_create(DB_ENV **environment, u_int32_t flags)
{
    const int struck = strikes();
    const int error = struck != 0 ? struck : __real_db_env_create(environment, flags);
    if (error == 0) {
        library.open = (*environment)->open;
        library.txn_begin = (*environment)->txn_begin;
        library.checkpoint = (*environment)->txn_checkpoint;
        (*environment)->open = fail_open;
        (*environment)->txn_begin = fail_begin;
        (*environment)->txn_checkpoint = fail_checkpoint;
    }
    return error;
}

int
__wrap_db_create(DB **tree, DB_ENV *environment, u_int32_t flags)
{
    const int struck = strikes();
    const int error = struck != 0 ? struck : __real_db_create(tree, environment, flags);
    if (error == 0) {
        library.open_tree = (*tree)->open;
        library.put = (*tree)->put;
        library.remove = (*tree)->del;
        library.get = (*tree)->get;
        library.cursor = (*tree)->cursor;
        (*tree)->open = fail_open_tree;
        (*tree)->put = fail_put;
        (*tree)->del = fail_remove;
        (*tree)->get = fail_get;
        (*tree)->cursor = fail_cursor;
    }
    return error;
}

int
__wrap_statvfs(const char *path, struct statvfs *space)
{
    const int result = failing_database.no_disk ? -1 : __real_statvfs(path, space);
    failing_database.looks++;
    if (failing_database.no_disk) {
        errno = EIO;
    } else if (failing_database.free != 0) {
        space->f_frsize = 1;
        space->f_bavail = failing_database.free;
    }
    return result;
}

int
__wrap_flock(int descriptor, int operation)
{
    if (failing_database.locks_fail > 0) {
        failing_database.locks_fail--;
        errno = failing_database.lock_error;
        return -1;
    }
    return __real_flock(descriptor, operation);
}
