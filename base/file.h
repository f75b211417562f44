/* Whole files as bytes, and writes of all that is given. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/slice.h"
#include "base/status.h"

/* Appends all of the file at path. NOT_FOUND: there is none; LIMIT: it is longer than
 * bytes->maximum allows; SYSTEM: it cannot be read. */
enum status file_read(const char *path, struct buf *bytes, struct reason *why);

/* As file_read, with standard input for "-". */
enum status file_read_or_input(const char *path, struct buf *bytes, struct reason *why);

/* Writes all of it, over short writes and signals. False and errno when it cannot: some of it may
 * be written. */
bool file_write_all(int descriptor, struct slice bytes);
/* The same at an offset, which leaves the descriptor's own place. */
bool file_write_all_at(int descriptor, struct slice bytes, uint64_t offset);

/* Raises the limit of files open at a time to the highest that this process may set, and tells it.
 */
enum status file_raise_limit(uint64_t *limit, struct reason *why);

/* A file for reading and writing in the folder, of the owner alone, that has no name, so it is gone
 * with its last descriptor. Where the file system knows no unnamed files (CephFS, NFS, some
 * overlays) it is made with a name, which is removed at once. */
enum status file_open_unnamed(const char *folder, int *descriptor, struct reason *why);

/* So that names made, changed and removed in the folder outlast a power failure. */
enum status file_sync_folder(const char *folder, struct reason *why);

#endif
