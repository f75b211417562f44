/* Copies a share of this machine to the disk of another one, by a command of the operator's, while
 * the share runs and once more after its processes have ended; docs/CLUSTER_DISKS.md. One share at
 * a time. Until the machine that gets it has said that the copy is whole nothing has changed, and
 * the share goes on here. */
#ifndef CLI_CLUSTER_DISKS_SHARE_MOVER_H
#define CLI_CLUSTER_DISKS_SHARE_MOVER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/options/opt.h"
#include "base/status.h"
#include "shares/share_owner.h"

enum share_moving {
    MOVING_RUNS,  /* it runs as if nothing were */
    MOVING_STOPS, /* its processes are to end, and not to start */
    MOVING_GOES,  /* it is to be released, to share_mover_place, and nothing else done for it */
};

struct share_mover;
/* disk: absolute, and outlives it. */
struct share_mover *share_mover_open(const char *disk, const struct share_settings *cluster);
void share_mover_close(struct share_mover *mover);
/* For the session that begins: what was under way has ended. files and owner outlive it, or the
 * next call. */
enum status share_mover_begin(struct share_mover *mover, const struct share_files *files,
                              struct share_owner *owner, struct reason *why);

/* One step for a share of ours. runs: processes of it do. options: NULL while the settings cannot
 * be used, when nothing new is begun. */
enum share_moving share_mover_mind(struct share_mover *mover, size_t share, bool runs,
                                   const struct opt_set *options);
/* The place of a share that goes; NULL: it does not. */
const struct share_place *share_mover_place(const struct share_mover *mover, size_t share);
/* One step for a share that is not ours: ends what was under way for it, and removes the copy that
 * it left here when the other machine has taken it. */
void share_mover_tidy(struct share_mover *mover, size_t share);
/* Gives up what is under way for a share of ours that ends, unless it goes. */
void share_mover_drop(struct share_mover *mover, size_t share);
/* The name of a copy that nobody has used. */
void share_mover_new_copy(struct share_mover *mover, size_t share, char copy[SHARE_COPY_SIZE]);

/* Describes to people what is being done for the share; "": nothing. */
void share_mover_tell(const struct share_mover *mover, size_t share, char told[SHARE_TOLD_SIZE]);
/* Tells whether it is the process group of a command that runs, which is the mover's to wait for.
 */
bool share_mover_has_group(const struct share_mover *mover, pid_t group);

#endif
