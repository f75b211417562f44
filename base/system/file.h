/* Whole files as bytes, and writes of all that is given. */
#ifndef BASE_SYSTEM_FILE_H
#define BASE_SYSTEM_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/slice.h"
#include "base/status.h"

/* Appends all of the file at path. NOT_FOUND: there is none; LIMIT: it is longer than
 * bytes->maximum allows; SYSTEM: it cannot be read. */
enum status file_read(const char *path, struct buf *bytes, struct reason *why);

/* Reads a file as file_read does, and standard input for "-". */
enum status file_read_or_input(const char *path, struct buf *bytes, struct reason *why);

/* Writes all of it, over short writes and signals. False and errno when it cannot: some of it may
 * be written. */
bool file_write_all(int descriptor, struct slice bytes);
/* Writes all bytes at an offset, and leaves the descriptor's own place alone. */
bool file_write_all_at(int descriptor, struct slice bytes, uint64_t offset);

/* Raises the limit of files open at a time to the highest that this process may set, and tells it.
 */
enum status file_raise_limit(uint64_t *limit, struct reason *why);

/* A file for reading and writing in the folder, of the owner alone, that has no name, so it is gone
 * with its last descriptor. Where the file system knows no unnamed files (CephFS, NFS, some
 * overlays) it is made with a name, which is removed at once. */
enum status file_open_unnamed(const char *folder, int *descriptor, struct reason *why);

/* Syncs the folder, so that names made, changed and removed in it outlast a power failure. */
enum status file_sync_folder(const char *folder, struct reason *why);
/* Makes the folder where it is missing. Its name is there for good when it returns OK: a file
 * system may forget a folder with all that was synced in it. */
enum status file_make_folder(const char *folder, mode_t mode, struct reason *why);
/* Makes a file that is there for good and whole, or not at all. When there is one already, it stays
 * and *made is false. */
enum status file_make(const char *path, struct slice bytes, mode_t mode, bool *made,
                      struct reason *why);
/* Renames a file or folder as rename(2) does. What it holds is synced before and the new name is
 * there for good: a name must not outlast a power failure that the bytes do not. */
int file_rename(const char *from, const char *to);
/* Closes a descriptor, unless it is -1, for files of which nothing can be lost by closing. */
void file_close(int descriptor);
/* Closes a stream that was written: a file's bytes, and its name, are there for good. Pipes and
 * terminals, which cannot be synced, are closed only. False and errno when something is not
 * written.
 */
bool file_close_synced(FILE *file, const char *path);
/* Opens a file as open(2) does; a file that it makes has its name for good before anything is
 * written to it. This and file_rename are for Berkeley DB (db_env_set_func_open), which syncs no
 * folder, so that its log would be forgotten with all the commits that were synced to it, and
 * removes a tree by renaming a file to it that it has not synced, over which recovery fails. */
int file_open(const char *path, int flags, ...);

#endif
