/* Inside of the environment: shared by environment.c and environment_care.c. */
#ifndef INDEX_ENVIRONMENT_PRIVATE_H
#define INDEX_ENVIRONMENT_PRIVATE_H

#include <db.h>
#include <stdatomic.h>

#include "index/environment.h"

struct environment {
    DB_ENV *env;
    char *folder;
    int lock;
    struct environment_options options;
    bool broken;
    atomic_bool checkpoints_held;
    struct tree *trees; /* open ones, the last opened first */
};

struct tree {
    DB *db;
    struct environment *environment;
    char *name;
    struct tree *next;
};

struct transaction {
    DB_TXN *txn;
    struct environment *environment;
};

struct tree_cursor {
    DBC *dbc;
    struct tree *tree;
    bool writes;
};

/* Berkeley DB's code as a status; a failed write leaves the environment broken. */
enum status environment_failed(struct environment *environment, bool writing, int code,
                               struct reason *why, const char *what);
enum status tree_failed(struct tree *tree, bool writing, int code, struct reason *why,
                        const char *what);

#endif
