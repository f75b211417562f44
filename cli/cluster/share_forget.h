/* `quadrille cluster forget SHARE`: gives up a share that is lost for good, so that the others go
 * on without it. docs/SHARES.md has what is lost then. */
#ifndef CLI_CLUSTER_SHARE_FORGET_H
#define CLI_CLUSTER_SHARE_FORGET_H

#include <stdbool.h>
#include <stdio.h>

#include "base/status.h"
#include "shares/share_records.h"

/* Four steps, each of which may be repeated: the share is marked, so that no machine takes it any
 * more; nobody acts for it; no cluster.conf names it; each queue has moved what it had for it.
 * MISUSE, unless forced, while it has an owner or its data are there. TIMEOUT: some shares did not
 * answer, so that the last step is to be done again when they do. */
enum status share_forget(const char *root, const struct share_settings *settings, const char *share,
                         bool force, FILE *out, struct reason *why);

#endif
