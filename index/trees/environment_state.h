/* An environment, its trees and its transactions with the handles of Berkeley DB, for the files of
 * this folder that call it: environment.c (life, trees, transactions, cursors; owner of all that
 * is not said otherwise) and environment_copy.c. */
#ifndef INDEX_TREES_ENVIRONMENT_STATE_H
#define INDEX_TREES_ENVIRONMENT_STATE_H

#include <stdatomic.h>

#include "index/trees/environment.h"
#include "index/trees/environment_io.h"
#include "store/database.h"

struct environment {
    struct database database;
    struct environment_options options; /* not its folder */
    atomic_bool checkpoints_held;       /* environment_copy.c */
    struct tree *files;                 /* which file each tree is: environment_build.c */
    struct tree *trees;                 /* open ones, the last opened first */
    struct opened_folder opened;        /* environment_io.c */
};

struct tree {
    DB *db;
    struct environment *environment;
    char *name;
    uint64_t number; /* of its file; changes in the latch, and with `writer` of
                        index/write/partition_state.h held */
    struct latch latch;
    struct tree *next;
};

struct transaction {
    DB_TXN *txn;
    struct environment *environment;
    struct tree_build *builds; /* in use from the commit on: environment_build.c */
};

struct tree_cursor {
    DBC *dbc;
    struct tree *tree;
    bool writes;
};

/* Opens a file as database_open_tree does. */
enum status tree_open_file(DB **db, struct environment *environment, const char *file,
                           uint32_t flags, struct reason *why);
/* Does what tree_append does, for a handle. Returns Berkeley DB's code. */
int tree_append_to(DB *db, DB_TXN *txn, struct slice key, struct slice value);

/* ---- the files of trees: environment_build.c ---- */

/* Finds which file has the tree of this name, and removes others that a crash has left beside it.
 */
enum status tree_find_file(struct environment *environment, const char *name, uint64_t *number,
                           char file[TREE_FILE_SIZE], struct reason *why);
/* Ends the builds of a transaction and frees them. */
void tree_builds_finish(struct tree_build *builds, bool committed);

#endif
