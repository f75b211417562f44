/* Brings a share whose disk was lost back from a backup, on the disk of another machine. */
#ifndef CLI_CLUSTER_SHARE_RETURN_H
#define CLI_CLUSTER_SHARE_RETURN_H

#include "base/status.h"
#include "cli/cluster/cluster_root.h"
#include "cli/cluster/disks/share_disk.h"

/* The words of the command that brings a share back. */
struct share_return_asked {
    const char *root, *share, *machine, *disk; /* as people say them; NULL: not */
};
struct share_return {
    struct share_files files;
    struct share_settings settings;
    size_t share;
    uint64_t generation; /* of the claim that it takes the place of */
    struct share_place place;
    char directory[SHARE_DISK_PATH_SIZE]; /* to be made; it has data when share_return_end comes */
};
/* MISUSE: the share does not lie on a disk, or its owner lives. To be closed when it is OK. */
enum status share_return_begin(struct share_return *back, const struct share_return_asked *asked,
                               struct reason *why);
/* Says in ROOT that the share lies there. AGAIN: somebody claimed it meanwhile, and nothing has
 * changed. */
enum status share_return_end(struct share_return *back, struct reason *why);
void share_return_close(struct share_return *back);

#endif
