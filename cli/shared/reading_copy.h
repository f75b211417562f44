/* A data directory that may only be read (somebody else's, a read-only mount, a snapshot): commands
 * that read work on a private copy of the parts that they need, which recovers for itself what was
 * not ended cleanly, and has sockets and locks of its own. docs/OPERATION.md, "Directories that may
 * only be read". */
#ifndef CLI_SHARED_READING_COPY_H
#define CLI_SHARED_READING_COPY_H

#include <stdbool.h>

#include "base/status.h"

/* Returns whether the folder's file system or mode forbids to write in it. */
bool reading_copy_needed(const char *directory);

/* parts: as of cli_serve. *copy: the new folder, to be removed. Archived files are not copied.
 * DENIED: a file may not be read, or somebody wrote all the while; FULL: no room; CANCELLED: a
 * signal came that ends programs, which is delivered when the copy is removed. */
enum status reading_copy_make(const char *directory, const char *parts, char **copy,
                              struct reason *why);
/* Removes the copy with everything in it and frees the name. NULL is allowed. */
void reading_copy_remove(char *copy);

#endif
