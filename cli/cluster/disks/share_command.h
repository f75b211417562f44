/* Runs the commands that `quadrille cluster run` has others do: one that copies a share to another
 * machine, and one that removes a folder. What they say comes into the log of the machine, and they
 * end with it. */
#ifndef CLI_CLUSTER_DISKS_SHARE_COMMAND_H
#define CLI_CLUSTER_DISKS_SHARE_COMMAND_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/status.h"
#include "cli/cluster/disks/share_disk.h"

struct share_command {
    pid_t pid; /* also its process group; 0: none */
};
/* The texts that take the places of {from}, {to}, {address} and {machine} in cluster.copy. */
struct share_copy_words {
    char from[SHARE_DISK_PATH_SIZE], to[SHARE_DISK_PATH_SIZE], address[MACHINE_ADDRESS_SIZE];
    const char *machine;
};
/* Starts the words of `text`, which are separated by blanks and not quoted; no shell sees them.
 * MISUSE: it has no {from} or {to}. */
enum status share_command_copy(struct share_command *command, const char *text,
                               const struct share_copy_words *words, struct reason *why);
/* Starts the removal of a folder with all it holds. */
enum status share_command_remove(struct share_command *command, const char *path,
                                 struct reason *why);
/* Tells whether it has ended, or none was started. code: its exit status, or more than 128 when it
 * was killed. */
bool share_command_has_ended(struct share_command *command, int *code);
/* Ends it at once, with all that it has started. */
void share_command_kill(struct share_command *command);

#endif
