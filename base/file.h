/* Whole files as bytes. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include "base/buf.h"
#include "base/status.h"

/* Appends all of the file at path. NOT_FOUND: there is none; LIMIT: it is longer than
 * bytes->maximum allows; SYSTEM: it cannot be read. */
enum status file_read(const char *path, struct buf *bytes, struct reason *why);

/* As file_read, with standard input for "-". */
enum status file_read_or_input(const char *path, struct buf *bytes, struct reason *why);

#endif
