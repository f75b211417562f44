/* The folder ROOT of a cluster: made, checked, and what people ask of it. shares/FORMAT.md
 * has its files. */
#ifndef CLI_CLUSTER_CLUSTER_ROOT_H
#define CLI_CLUSTER_CLUSTER_ROOT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "shares/share_files.h"
#include "shares/share_records.h"

enum { LEASE_USUAL_MS = 75000 };

/* Makes ROOT and all that a new cluster has. MISUSE when there is one. */
enum status cluster_root_make(const char *root, const struct share_settings *settings,
                              struct reason *why);
/* Those of ROOT that are missing, and those of its shares. */
enum status cluster_root_make_folders(const char *root, size_t shares, struct reason *why);
/* Its absolute path and settings. MISUSE unless there is a cluster. */
enum status cluster_root_open(const char *text, char root[ROOT_PATH_SIZE],
                              struct share_settings *settings, struct reason *why);
/* The machine gives its shares away and takes none, or takes some again. */
enum status cluster_root_drain(const char *root, const char *machine, bool drain,
                               struct reason *why);
/* The share goes to the machine, as soon as and as long as that one lives; "any": to whichever. */
enum status cluster_root_move(const char *root, const struct share_settings *settings,
                              const char *share, const char *machine, struct reason *why);

/* The number of a share, as people write it. */
enum status cluster_root_share(const struct share_settings *settings, const char *text,
                               size_t *share, struct reason *why);

#endif
