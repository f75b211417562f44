/* A backup's files become a data directory, or what ROOT has for itself. docs/BACKUP.md */
#ifndef CLI_BACKUP_DIRECTORY_RESTORE_H
#define CLI_BACKUP_DIRECTORY_RESTORE_H

#include <stdint.h>

#include "base/status.h"

enum backup_kind { BACKUP_OF_INDEX, BACKUP_OF_DIRECTORY, BACKUP_OF_CLUSTER };

struct restored {
    enum backup_kind kind;
    int64_t count; /* partitions of the index; shares of a cluster */
};
/* Copies all files that source/MANIFEST names into the folder, which is there, and compares each
 * with its checksum. CORRUPT when one differs. A directory's cluster.conf has another name until
 * directory_restore_end, so that it can be checked by itself. */
enum status directory_restore(const char *source, const char *folder, struct restored *restored,
                              struct reason *why);
enum status directory_restore_end(const char *folder, struct reason *why);

#endif
