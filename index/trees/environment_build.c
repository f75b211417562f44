/* The files of a tree, and building it anew beside the one in use.
 *
 * A tree is the file NAME.db or, once it was built anew, NAME.N.db; the tree `files` says which N.
 * A build writes a file of the next number, outside of any transaction, so nothing of it is logged.
 * When all of it and its entry in the folder are on the disk, N is written in the transaction,
 * whose commit is what makes the new file the tree. Only then the old file is removed. A crash at
 * any time leaves at most one file that is not the tree's, which the next start removes (after
 * recovery, so no log needs it any more).
 *
 * Keys come in order, so each goes in past the end of the tree, where Berkeley DB fills pages, and
 * pages are never written twice. Readers read the old file until the commit and need not wait. */
#include "index/trees/environment_state.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/varint.h"

/* The record of a tree in the tree `files` is a version and the number of its file. */
enum { TREE_RECORD_SIZE = 1 + VARINT_MAXIMUM, TREE_RECORD_VERSION = 1 };

struct tree_build {
    struct tree *tree;
    uint64_t number;
    char file[TREE_FILE_SIZE];
    DB *db;                  /* not transactional until tree_build_end */
    struct tree_build *next; /* of the transaction */
};

/* ---- files ---- */

static void
tree_file_name(const char *name, uint64_t number, char file[TREE_FILE_SIZE])
{
    if (number == 0) {
        snprintf(file, TREE_FILE_SIZE, "%s.db", name);
    } else {
        snprintf(file, TREE_FILE_SIZE, "%s.%" PRIu64 ".db", name, number);
    }
}

void
tree_file(const struct tree *tree, char file[TREE_FILE_SIZE])
{
    tree_file_name(tree->name, tree->number, file);
}

/* Tells whether the file is of the tree with this name, whatever its number. */
static bool
is_file_of(const char *file, const char *name)
{
    const size_t length = strlen(name);
    if (strncmp(file, name, length) != 0 || file[length] != '.') {
        return false;
    }
    const char *rest = file + length + 1;
    const size_t digits = strspn(rest, "0123456789");
    return strcmp(rest, "db") == 0 || (digits > 0 && strcmp(rest + digits, ".db") == 0);
}

/* Removes the files of the tree beside the current one. */
static enum status
remove_others(struct environment *environment, const char *name, const char *current,
              struct reason *why)
{
    DIR *folder = opendir(environment->database.folder);
    if (folder == NULL) {
        return status_fail_errno(why, "cannot read %s", environment->database.folder);
    }
    enum status status = STATUS_OK;
    const struct dirent *entry;
    const bool present = faccessat(dirfd(folder), current, F_OK, 0) == 0;
    while (status == STATUS_OK && (entry = readdir(folder)) != NULL) {
        if (!is_file_of(entry->d_name, name) || strcmp(entry->d_name, current) == 0) {
            continue;
        }
        if (!present) { /* what is there may be all that is left */
            status =
                status_fail(why, STATUS_CORRUPT, "%s/%s is missing, and %s is there in its place",
                            environment->database.folder, current, entry->d_name);
        } else if (unlinkat(dirfd(folder), entry->d_name, 0) != 0) {
            status = status_fail_errno(why, "cannot remove %s/%s", environment->database.folder,
                                       entry->d_name);
        }
    }
    closedir(folder);
    return status;
}

/* Reads which file of the tree is in use; 0 when it was never built anew. */
static enum status
read_number(struct environment *environment, const char *name, uint64_t *number, struct reason *why)
{
    uint8_t record[TREE_RECORD_SIZE] = {0};
    size_t length = sizeof(record);
    *number = 0;
    if (environment->files == NULL) {
        return STATUS_OK;
    }
    const enum status status =
        tree_get(environment->files, NULL, slice_of(name, strlen(name)), record, &length, why);
    if (status == STATUS_NOT_FOUND) {
        return STATUS_OK;
    }
    TRY(status);
    return record[0] == TREE_RECORD_VERSION &&
                   varint_get(record + 1, record + length, number) == record + length
               ? STATUS_OK
               : status_fail(why, STATUS_CORRUPT, "tree files: the record of %s is malformed",
                             name);
}

enum status
tree_find_file(struct environment *environment, const char *name, uint64_t *number,
               char file[TREE_FILE_SIZE], struct reason *why)
{
    TRY(read_number(environment, name, number, why));
    tree_file_name(name, *number, file);
    return remove_others(environment, name, file, why);
}

/* ---- building ---- */

enum { PATH_SIZE = 4096 };

static enum status
write_number(const struct tree_build *build, struct transaction *transaction, struct reason *why)
{
    struct tree *files = build->tree->environment->files;
    uint8_t record[TREE_RECORD_SIZE] = {TREE_RECORD_VERSION};
    const uint8_t *end = varint_put(record + 1, build->number);
    const char *name = build->tree->name;
    latch_enter_writing(&files->latch);
    const enum status status = tree_put(files, transaction, slice_of(name, strlen(name)),
                                        slice_of((char *)record, (size_t)(end - record)), why);
    latch_leave(&files->latch);
    return status;
}

/* Berkeley DB makes a file under another name and renames it. One that an earlier attempt has left,
 * for want of room or by a crash, is none of a build that is under way, and it would be in the way.
 */
static void
remove_unfinished(const struct tree_build *build)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof(path), "%s/__db.%s", build->tree->environment->database.folder,
             build->file);
    (void)unlink(path);
}

enum status
tree_build_begin(struct tree_build **result, struct tree *tree, struct reason *why)
{
    struct tree_build *build = memory_new(sizeof(*build));
    *build = (struct tree_build){.tree = tree, .number = tree->number + 1};
    tree_file_name(tree->name, build->number, build->file);
    remove_unfinished(build);
    const enum status status =
        tree_open_file(&build->db, tree->environment, build->file, DB_CREATE | DB_EXCL, why);
    if (status != STATUS_OK) {
        free(build);
        build = NULL;
    }
    *result = build;
    return status;
}

enum status
tree_build_add(struct tree_build *build, struct slice key, struct slice value, struct reason *why)
{
    const int code = tree_append_to(build->db, NULL, key, value);
    return code == 0 ? STATUS_OK : tree_failed(build->tree, true, code, why, "cannot build anew");
}

enum status
tree_build_sync(struct tree_build *build, struct reason *why)
{
    const int code = build->db->sync(build->db, 0);
    return code == 0 ? STATUS_OK : tree_failed(build->tree, true, code, why, "cannot build anew");
}

/* Its handle becomes one whose writes are logged. */
static enum status
open_for_use(struct tree_build *build, struct reason *why)
{
    struct tree *tree = build->tree;
    DB *db = build->db;
    build->db = NULL;
    const int code = db->close(db, DB_NOSYNC);
    return code == 0
               ? tree_open_file(&build->db, tree->environment, build->file, DB_AUTO_COMMIT, why)
               : tree_failed(tree, true, code, why, "cannot build anew");
}

enum status
tree_build_end(struct tree_build *build, struct transaction *transaction, struct reason *why)
{
    build->next = transaction->builds;
    transaction->builds = build;
    TRY(tree_build_sync(build, why)); /* its name was synced when it was made */
    TRY(open_for_use(build, why));
    return write_number(build, transaction, why);
}

/* ---- the end of a transaction ---- */

/* The tree was closed without writing its pages: nobody needs them. Berkeley DB syncs the log of a
 * removal, and with it a commit that was not synced, before it touches the file. */
static void
remove_file(struct environment *environment, const char *file)
{
    struct reason why;
    const int code = environment->database.environment->dbremove(environment->database.environment,
                                                                 NULL, file, NULL, DB_AUTO_COMMIT);
    if (code != 0) {
        (void)environment_failed(environment, true, code, &why, file);
    }
}

static void
take_into_use(struct tree_build *build)
{
    struct tree *tree = build->tree;
    char file[TREE_FILE_SIZE];
    tree_file_name(tree->name, tree->number, file);
    latch_enter_writing(&tree->latch);
    DB *old = tree->db;
    tree->db = build->db;
    tree->number = build->number;
    latch_leave(&tree->latch);
    if (old->close(old, DB_NOSYNC) != 0) {
        tree->environment->database.broken = true;
        return;
    }
    remove_file(tree->environment, file);
}

void
tree_build_drop(struct tree_build *build)
{
    if (build == NULL) {
        return;
    }
    struct environment *environment = build->tree->environment;
    if (build->db != NULL) {
        (void)build->db->close(build->db, DB_NOSYNC);
        if (!environment->database.broken) {
            remove_file(environment, build->file);
        }
    }
    free(build);
}

void
tree_builds_finish(struct tree_build *builds, bool committed)
{
    while (builds != NULL) {
        struct tree_build *build = builds;
        builds = build->next;
        if (committed) {
            take_into_use(build);
            free(build);
        } else {
            tree_build_drop(build);
        }
    }
}
