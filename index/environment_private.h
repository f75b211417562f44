/* Inside of the environment: shared by environment.c and environment_care.c. */
#ifndef INDEX_ENVIRONMENT_PRIVATE_H
#define INDEX_ENVIRONMENT_PRIVATE_H

#include <db.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "index/environment.h"

struct environment {
    DB_ENV *env;
    char *folder;
    int lock;
    struct environment_options options;
    bool broken;
    atomic_bool checkpoints_held;
    struct tree *trees; /* open ones, the last opened first */
    dev_t device;       /* of the folder */
    ino_t inode;
    struct environment *next; /* of those open in this process */
};

struct tree {
    DB *db;
    struct environment *environment;
    char *name;
    struct gate gate;
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

/* Berkeley DB's checksum of a page in a file; page: its number. environment_care.c. */
bool page_is_sound(const uint8_t *bytes, size_t size, uint32_t page);

#endif
