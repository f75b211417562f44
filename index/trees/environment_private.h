/* Inside of the environment: shared by environment.c, environment_build.c and environment_copy.c.
 */
#ifndef INDEX_TREES_ENVIRONMENT_PRIVATE_H
#define INDEX_TREES_ENVIRONMENT_PRIVATE_H

#include <stdatomic.h>
#include <sys/types.h>

#include "base/varint.h"
#include "index/trees/environment.h"
#include "store/database.h"

struct environment {
    struct database database;
    struct environment_options options; /* not its folder */
    atomic_bool checkpoints_held;
    struct tree *files; /* which file each tree is: tree_files.c */
    struct tree *trees; /* open ones, the last opened first */
    dev_t device;       /* of the folder */
    ino_t inode;
    struct environment *next; /* of those open in this process */
};

struct tree {
    DB *db;
    struct environment *environment;
    char *name;
    uint64_t number; /* of its file; changes in the latch, and with `writer` of
                        index/write/partition.c held */
    struct latch latch;
    struct tree *next;
};

struct transaction {
    DB_TXN *txn;
    struct environment *environment;
    struct tree_build *builds; /* in use from the commit on */
};

/* What `files` has of a tree: a version and the number of its file. */
enum { TREE_RECORD_SIZE = 1 + VARINT_MAXIMUM, TREE_RECORD_VERSION = 1 };

/* A tree that is built anew beside the one in use. */
struct tree_build {
    struct tree *tree;
    uint64_t number;
    char file[TREE_FILE_SIZE];
    DB *db;                  /* not transactional until tree_build_end */
    struct tree_build *next; /* of the transaction */
};

struct tree_cursor {
    DBC *dbc;
    struct tree *tree;
    bool writes;
};

/* environment_io.c. Berkeley DB's code as a status; a failed write leaves the environment broken.
 */
enum status environment_failed(struct environment *environment, bool writing, int code,
                               struct reason *why, const char *what);
enum status tree_failed(struct tree *tree, bool writing, int code, struct reason *why,
                        const char *what);

/* tree_files.c. Gives the name of the file that has the tree of this name. */
void tree_file_name(const char *name, uint64_t number, char file[TREE_FILE_SIZE]);
/* Opens a file as database_open_tree does. */
enum status tree_open_file(DB **db, struct environment *environment, const char *file,
                           uint32_t flags, struct reason *why);

/* tree_append for a handle; Berkeley DB's code. */
int tree_append_to(DB *db, DB_TXN *txn, struct slice key, struct slice value);

/* Files of the tree that a crash has left beside the current one. */
enum status tree_remove_others(struct environment *environment, const char *name,
                               const char *current, struct reason *why);
/* Frees them. */
void tree_builds_finish(struct tree_build *builds, bool committed);

/* environment_io.c. Before the first environment of the process. */
void environment_io_start(void);
/* From before it is opened until after it is closed. */
void environment_io_add(struct environment *environment);
void environment_io_remove(struct environment *environment);
/* A read that failed with EBADMSG in this thread met this page of this file. */
enum { DAMAGE_SIZE = 160 };
const char *environment_damage(void);
/* pread(2) while no page is being written. */
ssize_t environment_read_pages(int descriptor, void *bytes, size_t length, off_t offset);

#endif
