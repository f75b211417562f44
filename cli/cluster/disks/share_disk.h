/* The data directories of shares on the disk of one machine, DISK/SHARE.COPY: shares/FORMAT.md.
 * A copy that is not whole, or of which nobody knows it yet, has ".part" behind its name. */
#ifndef CLI_CLUSTER_DISKS_SHARE_DISK_H
#define CLI_CLUSTER_DISKS_SHARE_DISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "shares/share_records.h"

enum { SHARE_DISK_PATH_SIZE = MACHINE_DISK_SIZE + SHARE_COPY_SIZE + 64 };
#define SHARE_PART ".part"

void share_disk_path(const char *disk, size_t share, const char *copy, const char *suffix,
                     char path[SHARE_DISK_PATH_SIZE]);
/* Makes the folder, with SHARE_PART, of a share that has no data yet. */
enum status share_disk_make(const char *disk, size_t share, const char *copy, struct reason *why);
/* Gives the copy of which a claim says that it is the share its name, and the settings that ROOT
 * has for it. directory: its path. MISUSE: it is not there. */
enum status share_disk_prepare(const char *root, const char *disk, size_t share, const char *copy,
                               char directory[SHARE_DISK_PATH_SIZE], struct reason *why);
/* Finds what files there are. Those that were written to at the time `since` (of the wall clock, in
 * seconds) or later count as written now: a copy that was made at that time may take them for what
 * it has, since their times are rounded. UINT64_MAX: none. Thread-safe. */
enum status share_disk_measure(const char *directory, uint64_t since, struct share_extent *extent,
                               struct reason *why);

#endif
