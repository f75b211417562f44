/* Copying and shrinking an environment in use.
 *
 * A copy is Berkeley DB's hot backup: pages of all files, each as the disk has it at some time
 * after the checkpoint that environment_hold_log writes, then the log from that checkpoint on,
 * flushed after the last page was read. Recovery, which runs at every start, brings the pages to
 * the state at the end of that log. No page is written while some are read, so none is half
 * written; each has its checksum, which is compared, so that damage is found and not copied.
 *
 * Compacting is DB->compact over a range of keys at a time. Nothing may write between the steps'
 * beginning and their end, and no transaction may be open: without locks its undoing would go to
 * pages that have moved. */
#include "base/system/file.h"
#include "index/trees/environment_state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/page.h"

enum { PATH_SIZE = 4096 };
enum { STEP_KEYS = 2000, STEPS = 128, KEYS_OF_PAGE = 4 };

enum status
environment_hold_log(struct environment *environment, struct reason *why)
{
    atomic_store(&environment->checkpoints_held, true);
    const enum status status = environment_checkpoint(environment, true, why);
    if (status != STATUS_OK) {
        environment_release_log(environment);
    }
    return status;
}

void
environment_release_log(struct environment *environment)
{
    atomic_store(&environment->checkpoints_held, false);
}

struct tree *
environment_tree(const struct environment *environment, const struct tree *after)
{
    return after == NULL ? environment->trees : after->next;
}

/* The tree may be built anew meanwhile, but not between these two. */
static enum status
open_pages(struct tree *tree, int *file, uint32_t *size, char name[TREE_FILE_SIZE],
           struct reason *why)
{
    char path[PATH_SIZE];
    latch_enter_reading(&tree->latch);
    tree_file(tree, name);
    snprintf(path, sizeof(path), "%s/%s", tree->environment->database.folder, name);
    *file = open(path, O_RDONLY | O_CLOEXEC);
    const int error = errno;
    const int code = tree->db->get_pagesize(tree->db, size);
    latch_leave(&tree->latch);
    errno = error;
    if (*file < 0) {
        return status_fail_errno(why, "cannot read %s", path);
    }
    return code == 0 ? STATUS_OK : tree_failed(tree, false, code, why, "cannot copy pages");
}

static enum status
read_pages(struct tree *tree, int file, uint32_t size, const char *name, uint32_t *page,
           uint8_t *bytes, size_t most, size_t *length, bool *end, struct reason *why)
{
    const size_t wanted = (most - *length) / size * size;
    const ssize_t n =
        environment_read_pages(file, bytes + *length, wanted, (off_t)*page * (off_t)size);
    if (n < 0) {
        return tree_failed(tree, false, errno, why, "cannot copy pages");
    }
    *end = (size_t)n < wanted;
    /* A part of a page at the end was never finished; recovery writes it anew. */
    for (size_t done = 0; done + size <= (size_t)n; done += size) {
        if (!page_is_sound(bytes + *length, size, *page)) {
            return status_fail(why, STATUS_CORRUPT, "%s/%s: page %u is damaged",
                               tree->environment->database.folder, name, *page);
        }
        *length += size;
        ++*page;
    }
    return STATUS_OK;
}

enum status
tree_copy_pages(struct tree *tree, uint32_t *page, uint8_t *bytes, size_t most, size_t *length,
                bool *end, struct reason *why)
{
    char name[TREE_FILE_SIZE];
    int file = -1;
    uint32_t size = 0;
    enum status status = open_pages(tree, &file, &size, name, why);
    if (status == STATUS_OK) {
        status = read_pages(tree, file, size, name, page, bytes, most, length, end, why);
    }
    file_close(file);
    return status;
}

enum status
environment_log_files(struct environment *environment, environment_log_file *visit, void *context,
                      struct reason *why)
{
    DB_ENV *env = environment->database.environment;
    char **names = NULL;
    int code = env->log_flush(env, NULL);
    if (code == 0) {
        code = env->log_archive(env, &names, DB_ARCH_LOG);
    }
    if (code != 0) {
        return environment_failed(environment, false, code, why, "cannot list the log");
    }
    enum status status = STATUS_OK;
    for (char **name = names; name != NULL && *name != NULL && status == STATUS_OK; name++) {
        status = visit(context, *name, why);
    }
    free(names);
    return status;
}

/* ---- compacting ---- */

/* A large tree is gone through in a bounded number of steps, since each looks at all free pages. */
static unsigned
step_keys(struct tree *tree)
{
    const uint64_t keys = (uint64_t)tree_pages(tree) * KEYS_OF_PAGE / STEPS;
    return keys > STEP_KEYS ? (unsigned)(keys < UINT32_MAX ? keys : UINT32_MAX) : STEP_KEYS;
}

/* key -> the one so many keys further on; *end when there is none. */
static enum status
step_forward(struct tree *tree, struct transaction *transaction, uint8_t *key, size_t *length,
             bool *end, struct reason *why)
{
    struct tree_cursor *cursor;
    TRY(tree_cursor_open(&cursor, tree, transaction, why));
    DBT key_dbt = {
        .data = key, .size = (uint32_t)*length, .ulen = TREE_KEY_MAXIMUM, .flags = DB_DBT_USERMEM};
    DBT none = {.flags = DB_DBT_USERMEM | DB_DBT_PARTIAL};
    int code = cursor->dbc->get(cursor->dbc, &key_dbt, &none, DB_SET_RANGE);
    for (unsigned left = step_keys(tree); code == 0 && left > 0; left--) {
        code = cursor->dbc->get(cursor->dbc, &key_dbt, &none, DB_NEXT);
    }
    tree_cursor_close(cursor);
    *length = key_dbt.size;
    *end = code == DB_NOTFOUND;
    return code == 0 || code == DB_NOTFOUND
               ? STATUS_OK
               : tree_failed(tree, true, code, why, "cannot find the end of a step");
}

enum status
tree_compact_step(struct tree *tree, struct transaction *transaction, uint8_t key[TREE_KEY_MAXIMUM],
                  size_t *length, bool *end, struct reason *why)
{
    uint8_t first[TREE_KEY_MAXIMUM];
    memcpy(first, key, *length);
    DBT start = {.data = first, .size = (uint32_t)*length};
    TRY(step_forward(tree, transaction, key, length, end, why));
    DBT stop = {.data = key, .size = (uint32_t)*length};
    DB_COMPACT how = {0};
    const int code = tree->db->compact(tree->db, transaction->txn, start.size > 0 ? &start : NULL,
                                       *end ? NULL : &stop, &how, DB_FREE_SPACE, NULL);
    return code == 0 ? STATUS_OK : tree_failed(tree, true, code, why, "cannot compact");
}
