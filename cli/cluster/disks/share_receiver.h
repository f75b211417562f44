/* Minds the copies of shares that other machines make on the disk of this one: says whether they
 * are whole, once they are on the disk for good, and removes those that came to nothing. */
#ifndef CLI_CLUSTER_DISKS_SHARE_RECEIVER_H
#define CLI_CLUSTER_DISKS_SHARE_RECEIVER_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/status.h"
#include "shares/share_files.h"
#include "shares/share_records.h"

struct share_receiver;
/* Both texts are absolute paths and outlive it. */
struct share_receiver *share_receiver_open(const char *root, const char *disk, const char *machine,
                                           const struct share_settings *cluster);
/* Waits for the check that is under way. */
void share_receiver_close(struct share_receiver *receiver);
/* Looks for what is sent to the session. A check runs in a thread of its own. The first call tells
 * in the log of copies that lie here and are the share no longer. */
void share_receiver_mind(struct share_receiver *receiver, const struct share_files *files,
                         const char *session);
/* Tells whether it is the process group of a command that runs, which is the receiver's to wait
 * for. */
bool share_receiver_has_group(const struct share_receiver *receiver, pid_t group);

#endif
