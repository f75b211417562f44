/* The operations on the ROOT of a cluster that ownership of shares stands on. Names are relative to
 * ROOT ("claims/3.17"). All may block for as long as the file system likes, and a write that failed
 * may have been done or be done later. */
#ifndef SHARES_SHARE_FILES_H
#define SHARES_SHARE_FILES_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/slice.h"
#include "base/status.h"

typedef void share_file_visit(void *context, const char *name);

struct share_files {
    void *context;
    /* Appends the file. NOT_FOUND: there is none. */
    enum status (*read)(void *context, const char *name, struct buf *text, struct reason *why);
    /* The file has this text, whole and durably; what it had is gone. */
    enum status (*replace)(void *context, const char *name, struct slice text, struct reason *why);
    /* Makes the file, whole and durably, unless there is one: of all who try, one alone has *made.
     */
    enum status (*make)(void *context, const char *name, struct slice text, bool *made,
                        struct reason *why);
    /* Visits the names in a folder; which of those that come and go meanwhile is open. */
    enum status (*list)(void *context, const char *folder, share_file_visit *visit,
                        void *visit_context, struct reason *why);
    enum status (*remove)(void *context, const char *name, struct reason *why);
};

/* The files in the folder ROOT. unique: a text that no other process uses, for names of what is
 * being written. Free with root_files_close. */
enum status root_files_open(struct share_files *files, const char *root, const char *unique,
                            struct reason *why);
void root_files_close(struct share_files *files);

#endif
