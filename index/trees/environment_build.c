/* Building a tree anew beside the one in use.
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
#include "index/trees/environment_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"

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

/* ---- building ---- */

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
    struct tree_build *build = memory_zero(1, sizeof(*build));
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
