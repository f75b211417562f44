#include "index/trees/environment_state.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/memory.h"

enum {
    LOG_BUFFER = 2 << 20,
    LOG_FILE = 8 << 20, /* recovery fills the rest of the last one with zeros */
    PATH_SIZE = 4096
};

/* ---- opening ---- */

enum status
environment_open(struct environment **result, const struct environment_options *options,
                 struct reason *why)
{
    environment_io_start();
    struct environment *environment = memory_new(sizeof(*environment));
    const struct database_options settings = {.folder = options->folder,
                                              .cache_bytes = options->cache_bytes,
                                              .log_file_bytes = LOG_FILE,
                                              .log_buffer_bytes = LOG_BUFFER,
                                              .lock_wait_ms = options->lock_wait_ms,
                                              .file_mode = 0666,
                                              .no_sync = options->no_sync,
                                              .threads = true};
    environment->options = *options;
    enum status status = database_hold(&environment->database, &settings, why);
    environment_io_add(environment);
    if (status == STATUS_OK) {
        status = database_open(&environment->database, &settings, why);
    }
    if (status == STATUS_OK) {
        status = tree_open(&environment->files, environment, "files", why);
    }
    if (status != STATUS_OK) {
        environment_close(environment);
        environment = NULL;
    }
    *result = environment;
    return status;
}

void
environment_close(struct environment *environment)
{
    if (environment == NULL) {
        return;
    }
    tree_close(environment->files);
    database_close(&environment->database);
    environment_io_remove(environment);
    free(environment);
}

enum status
environment_checkpoint(struct environment *environment, bool force, struct reason *why)
{
    if (!force && atomic_load(&environment->checkpoints_held)) {
        return STATUS_OK;
    }
    const uint32_t kilobytes = (uint32_t)(environment->options.checkpoint_bytes >> 10);
    const int code = environment->database.environment->txn_checkpoint(
        environment->database.environment, force ? 0 : kilobytes, 0, force ? DB_FORCE : 0);
    /* Pages that found no room stay in the cache. */
    const bool full = code == ENOSPC || code == EDQUOT;
    return code == 0
               ? STATUS_OK
               : environment_failed(environment, !full, code, why, "cannot write a checkpoint");
}

bool
environment_is_broken(const struct environment *environment)
{
    return environment->database.broken;
}

uint64_t
environment_bytes(const struct environment *environment)
{
    uint64_t bytes = 0;
    DIR *folder = opendir(environment->database.folder);
    if (folder == NULL) {
        return 0;
    }
    const struct dirent *entry;
    while ((entry = readdir(folder)) != NULL) {
        struct stat status;
        if (fstatat(dirfd(folder), entry->d_name, &status, 0) == 0 && S_ISREG(status.st_mode)) {
            bytes += (uint64_t)status.st_size;
        }
    }
    closedir(folder);
    return bytes;
}

/* ---- trees ---- */

enum status
tree_open_file(DB **result, struct environment *environment, const char *file, uint32_t flags,
               struct reason *why)
{
    return database_open_tree(&environment->database, result, file, flags, why);
}

enum status
tree_open(struct tree **result, struct environment *environment, const char *name,
          struct reason *why)
{
    *result = NULL;
    uint64_t number;
    char file[TREE_FILE_SIZE];
    DB *db;
    TRY(tree_find_file(environment, name, &number, file, why));
    TRY(tree_open_file(&db, environment, file, DB_CREATE | DB_AUTO_COMMIT, why));
    struct tree *tree = memory_new(sizeof(*tree));
    *tree = (struct tree){.db = db,
                          .environment = environment,
                          .name = memory_string(name),
                          .number = number,
                          .next = environment->trees};
    latch_init(&tree->latch);
    environment->trees = tree;
    *result = tree;
    return STATUS_OK;
}

void
tree_close(struct tree *tree)
{
    if (tree != NULL) {
        struct tree **link = &tree->environment->trees;
        while (*link != tree) {
            link = &(*link)->next;
        }
        *link = tree->next;
        tree->db->close(tree->db, 0);
        latch_release(&tree->latch);
        free(tree->name);
        free(tree);
    }
}

const char *
tree_name(const struct tree *tree)
{
    return tree->name;
}

uint32_t
tree_pages(struct tree *tree)
{
    DB_MPOOLFILE *pool = tree->db->get_mpf(tree->db);
    db_pgno_t last = 0;
    return pool->get_last_pgno(pool, &last) == 0 ? last : 0;
}

uint64_t
tree_bytes(struct tree *tree)
{
    uint32_t size = 0;
    return tree->db->get_pagesize(tree->db, &size) == 0 ? ((uint64_t)tree_pages(tree) + 1) * size
                                                        : 0;
}

struct latch *
tree_latch(struct tree *tree)
{
    return &tree->latch;
}

void
environment_close_latches(struct environment *environment)
{
    for (struct tree *tree = environment->trees; tree != NULL; tree = tree->next) {
        latch_enter_writing(&tree->latch);
    }
}

void
environment_open_latches(struct environment *environment)
{
    for (struct tree *tree = environment->trees; tree != NULL; tree = tree->next) {
        latch_leave(&tree->latch);
    }
}

/* ---- transactions ---- */

/* New pages that are in the cache alone, and have no room on the disk yet. */
static uint64_t
unwritten_bytes(const struct environment *environment)
{
    uint64_t bytes = 0;
    for (struct tree *tree = environment->trees; tree != NULL; tree = tree->next) {
        char path[PATH_SIZE];
        char name[TREE_FILE_SIZE];
        struct stat file;
        tree_file(tree, name);
        snprintf(path, sizeof(path), "%s/%s", environment->database.folder, name);
        if (stat(path, &file) == 0) {
            const uint64_t wanted = tree_bytes(tree);
            const uint64_t present = (uint64_t)file.st_blocks * 512;
            bytes += wanted > present ? wanted - present : 0;
        }
    }
    return bytes;
}

static enum status
check_room(const struct environment *environment, uint64_t bytes, struct reason *why)
{
    uint64_t room;
    if (environment->options.disk_reserve == 0 ||
        database_room(&environment->database, &room, NULL) != STATUS_OK) {
        return STATUS_OK;
    }
    const uint64_t needed =
        environment->options.disk_reserve + bytes + unwritten_bytes(environment);
    return room >= needed
               ? STATUS_OK
               : status_fail(why, STATUS_FULL,
                             "%s: %llu MiB are free on the disk, %llu MiB must be (with "
                             "index.disk_reserve, %llu MiB)",
                             environment->database.folder, (unsigned long long)(room >> 20),
                             (unsigned long long)(needed >> 20),
                             (unsigned long long)(environment->options.disk_reserve >> 20));
}

enum status
transaction_begin(struct transaction **result, struct environment *environment, uint64_t bytes,
                  struct reason *why)
{
    *result = NULL;
    if (environment->database.broken) {
        return status_fail(why, STATUS_SYSTEM, "%s: an earlier write failed; start again",
                           environment->database.folder);
    }
    if (bytes != TRANSACTION_WITHIN_RESERVE) {
        TRY(check_room(environment, bytes, why));
    }
    DB_TXN *txn = NULL;
    const int code = environment->database.environment->txn_begin(environment->database.environment,
                                                                  NULL, &txn, 0);
    if (code != 0) {
        return environment_failed(environment, true, code, why, "cannot begin a transaction");
    }
    struct transaction *transaction = memory_new(sizeof(*transaction));
    *transaction = (struct transaction){.txn = txn, .environment = environment};
    *result = transaction;
    return STATUS_OK;
}

static enum status
commit(struct transaction *transaction, uint32_t flags, struct reason *why)
{
    struct environment *environment = transaction->environment;
    const int code = transaction->txn->commit(transaction->txn, flags);
    environment->database.broken = environment->database.broken || code != 0;
    tree_builds_finish(transaction->builds, code == 0);
    free(transaction);
    return code == 0 ? STATUS_OK
                     : environment_failed(environment, true, code, why, "cannot commit");
}

enum status
transaction_commit(struct transaction *transaction, struct reason *why)
{
    return commit(transaction, 0, why);
}

enum status
transaction_commit_unsynced(struct transaction *transaction, struct reason *why)
{
    return commit(transaction, DB_TXN_NOSYNC, why);
}

void
transaction_abort(struct transaction *transaction)
{
    if (transaction != NULL) {
        if (transaction->txn->abort(transaction->txn) != 0) {
            transaction->environment->database.broken = true;
        }
        tree_builds_finish(transaction->builds, false);
        free(transaction);
    }
}

/* ---- single keys ---- */

static DB_TXN *
engine_transaction(struct transaction *transaction)
{
    return transaction ? transaction->txn : NULL;
}

static DBT
output(void *memory, size_t size)
{
    return (DBT){.data = memory, .ulen = (uint32_t)size, .flags = DB_DBT_USERMEM};
}

enum status
tree_get(struct tree *tree, struct transaction *transaction, struct slice key, void *value,
         size_t *length, struct reason *why)
{
    DBT key_dbt = database_bytes(key);
    DBT value_dbt = output(value, *length);
    const int code =
        tree->db->get(tree->db, engine_transaction(transaction), &key_dbt, &value_dbt, 0);
    *length = value_dbt.size;
    switch (code) {
    case 0:
        return STATUS_OK;
    case DB_NOTFOUND:
        return status_fail(why, STATUS_NOT_FOUND, "tree %s: no such key", tree->name);
    case DB_BUFFER_SMALL:
        return status_fail(why, STATUS_LIMIT, "tree %s: a value of %zu bytes", tree->name, *length);
    default:
        return tree_failed(tree, false, code, why, "cannot read");
    }
}

static int
put(DB *db, DB_TXN *txn, struct slice key, struct slice value)
{
    DBT key_dbt = database_bytes(key);
    DBT value_dbt = database_bytes(value);
    return db->put(db, txn, &key_dbt, &value_dbt, 0);
}

enum status
tree_put(struct tree *tree, struct transaction *transaction, struct slice key, struct slice value,
         struct reason *why)
{
    const int code = put(tree->db, engine_transaction(transaction), key, value);
    return code == 0 ? STATUS_OK : tree_failed(tree, true, code, why, "cannot write");
}

/* When an item does not fit into the last page, Berkeley DB moves the last one that did to the new
 * page with it, which leaves a page of four blocks a quarter empty. So the key goes in without
 * value first: for that there is room, and then it is what moves. */
int
tree_append_to(DB *db, DB_TXN *txn, struct slice key, struct slice value)
{
    const int code = put(db, txn, key, SLICE(""));
    return code == 0 ? put(db, txn, key, value) : code;
}

enum status
tree_append(struct tree *tree, struct transaction *transaction, struct slice key,
            struct slice value, struct reason *why)
{
    const int code = tree_append_to(tree->db, engine_transaction(transaction), key, value);
    return code == 0 ? STATUS_OK : tree_failed(tree, true, code, why, "cannot write");
}

enum status
tree_delete(struct tree *tree, struct transaction *transaction, struct slice key,
            struct reason *why)
{
    DBT key_dbt = database_bytes(key);
    const int code = tree->db->del(tree->db, engine_transaction(transaction), &key_dbt, 0);
    return code == 0 || code == DB_NOTFOUND ? STATUS_OK
                                            : tree_failed(tree, true, code, why, "cannot delete");
}

enum status
tree_is_empty(struct tree *tree, bool *empty, struct reason *why)
{
    DBT key = {.flags = DB_DBT_USERMEM | DB_DBT_PARTIAL}, value = key;
    DBC *cursor = NULL;
    int code = tree->db->cursor(tree->db, NULL, &cursor, 0);
    if (code == 0) {
        code = cursor->get(cursor, &key, &value, DB_FIRST);
        (void)cursor->close(cursor);
    }
    *empty = code == DB_NOTFOUND;
    return code == 0 || *empty ? STATUS_OK : tree_failed(tree, false, code, why, "cannot read");
}

enum status
tree_position(struct tree *tree, struct slice key, double *position, struct reason *why)
{
    DBT key_dbt = database_bytes(key);
    DB_KEY_RANGE range;
    const int code = tree->db->key_range(tree->db, NULL, &key_dbt, &range, 0);
    if (code != 0) {
        return tree_failed(tree, false, code, why, "cannot estimate");
    }
    *position = range.less;
    return STATUS_OK;
}

/* ---- cursors ---- */

enum status
tree_cursor_open(struct tree_cursor **result, struct tree *tree, struct transaction *transaction,
                 struct reason *why)
{
    *result = NULL;
    DBC *dbc = NULL;
    const int code = tree->db->cursor(tree->db, engine_transaction(transaction), &dbc, 0);
    if (code != 0) {
        return tree_failed(tree, false, code, why, "cannot open a cursor");
    }
    struct tree_cursor *cursor = memory_alloc(sizeof(*cursor));
    *cursor = (struct tree_cursor){dbc, tree, transaction != NULL};
    *result = cursor;
    return STATUS_OK;
}

void
tree_cursor_close(struct tree_cursor *cursor)
{
    if (cursor != NULL) {
        if (cursor->dbc->close(cursor->dbc) != 0 && cursor->writes) {
            cursor->tree->environment->database.broken = true;
        }
        free(cursor);
    }
}

enum status
tree_cursor_move(struct tree_cursor *cursor, enum tree_move move, void *key, size_t key_size,
                 size_t *key_length, void *value, size_t value_size, size_t *value_length,
                 struct reason *why)
{
    static const uint32_t flags[] = {[TREE_FIRST] = DB_FIRST,
                                     [TREE_LAST] = DB_LAST,
                                     [TREE_NEXT] = DB_NEXT,
                                     [TREE_PREVIOUS] = DB_PREV,
                                     [TREE_AT_OR_AFTER] = DB_SET_RANGE};
    DBT key_dbt = output(key, key_size);
    DBT value_dbt = output(value, value_size);
    if (move == TREE_AT_OR_AFTER) {
        key_dbt.size = (uint32_t)*key_length;
    }
    const int code = cursor->dbc->get(cursor->dbc, &key_dbt, &value_dbt, flags[move]);
    switch (code) {
    case 0:
        *key_length = key_dbt.size;
        *value_length = value_dbt.size;
        return STATUS_OK;
    case DB_NOTFOUND:
        return STATUS_END;
    case DB_BUFFER_SMALL:
        *value_length = value_dbt.size;
        return status_fail(why, STATUS_LIMIT, "tree %s: a value of %u bytes", cursor->tree->name,
                           value_dbt.size);
    default:
        return tree_failed(cursor->tree, cursor->writes, code, why, "cannot read");
    }
}

enum status
tree_cursor_replace(struct tree_cursor *cursor, struct slice value, struct reason *why)
{
    DBT key_dbt = {0};
    DBT value_dbt = database_bytes(value);
    const int code = cursor->dbc->put(cursor->dbc, &key_dbt, &value_dbt, DB_CURRENT);
    return code == 0 ? STATUS_OK : tree_failed(cursor->tree, true, code, why, "cannot write");
}

enum status
tree_cursor_delete(struct tree_cursor *cursor, struct reason *why)
{
    const int code = cursor->dbc->del(cursor->dbc, 0);
    return code == 0 ? STATUS_OK : tree_failed(cursor->tree, true, code, why, "cannot delete");
}
