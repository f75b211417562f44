/* The files of a tree: their names, and which of them is the tree when a transaction ends that
 * built one anew. */
#include "index/trees/environment_private.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void
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

enum status
tree_remove_others(struct environment *environment, const char *name, const char *current,
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
