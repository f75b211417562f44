/* The trace of what processes did to the files below one folder, in the order in which the system
 * saw it: written by recorder.c, read by disk.c. Each record is a trace_record, the names, the
 * bytes. Files and folders are named by inode; a number that was freed and given again begins with
 * a new CREATE or MKDIR. */
#ifndef TESTS_POWER_LOSS_TRACE_H
#define TESTS_POWER_LOSS_TRACE_H

#include <stdint.h>

#define TRACE_FOLDER_VARIABLE "QUADRILLE_POWER_FOLDER" /* absolute, without symbolic links */
#define TRACE_FILE_VARIABLE "QUADRILLE_POWER_TRACE"    /* absolute, outside of that folder */
#define TRACE_DIE_FUNCTION "power_loss_die"   /* void (unsigned n): at a folder's n-th sync */
#define TRACE_MARK_FUNCTION "power_loss_mark" /* void (const char *text) */

enum trace_kind {
    TRACE_CREATE,   /* inode in folder by name */
    TRACE_MKDIR,    /* the same for a folder */
    TRACE_LINK,     /* one more name */
    TRACE_UNLINK,   /* folder, name; also of folders */
    TRACE_RENAME,   /* folder, name; folder2, name2 */
    TRACE_WRITE,    /* inode, offset, bytes */
    TRACE_CONTENT,  /* inode, bytes: all of it, where the single writes could not be seen */
    TRACE_TRUNCATE, /* inode; offset: its size */
    TRACE_SYNC,     /* inode of a file or folder; bytes: the calls that led to it */
    TRACE_MARK      /* bytes: what was acknowledged */
};

struct trace_record {
    uint32_t kind, name_length, name2_length, unused;
    uint64_t inode, folder, folder2, offset, length; /* length: of the bytes */
};

#endif
