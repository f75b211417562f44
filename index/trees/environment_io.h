/* All that Berkeley DB reads and writes goes through functions of this part, which also says what
 * its failures mean. Pages are kept from being written while some are copied from a file; pages
 * that it reads are checked, since its own answer to a wrong checksum makes the whole environment
 * useless. */
#ifndef INDEX_TREES_ENVIRONMENT_IO_H
#define INDEX_TREES_ENVIRONMENT_IO_H

#include <sys/types.h>

#include "index/trees/environment.h"

/* The folder of an environment, among those that are open in this process. */
struct opened_folder {
    dev_t device;
    ino_t inode;
    struct environment *next;
};

/* Is called before the first environment of the process is opened. */
void environment_io_start(void);
/* environment_io_add is called before an environment is opened, environment_io_remove after it is
 * closed. */
void environment_io_add(struct environment *environment);
void environment_io_remove(struct environment *environment);

/* Reads as pread(2) does, while no page is being written. */
ssize_t environment_read_pages(int descriptor, void *bytes, size_t length, off_t offset);

/* Make Berkeley DB's code a status; a failed write leaves the environment broken. */
enum status environment_failed(struct environment *environment, bool writing, int code,
                               struct reason *why, const char *what);
enum status tree_failed(struct tree *tree, bool writing, int code, struct reason *why,
                        const char *what);

#endif
