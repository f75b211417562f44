/* When nobody acts for a share any more, as who claims it finds that out. */
#ifndef CLI_CLUSTER_SHARE_END_H
#define CLI_CLUSTER_SHARE_END_H

#include <stdbool.h>
#include <stdio.h>

#include "base/status.h"
#include "shares/share_files.h"
#include "shares/share_records.h"

/* The session of the owner; empty: none. */
enum status share_end_owner(const struct share_files *files, const struct share_settings *settings,
                            size_t share, char session[SESSION_NAME_SIZE], struct reason *why);
/* Waits until the owner gave it back, is dead, or shows one beat for so long that its processes
 * have ended. must_be_silent: MISUSE when the owner shows that it lives; else it is waited for. */
enum status share_end_await(const struct share_files *files, const struct share_settings *settings,
                            size_t share, bool must_be_silent, FILE *out, struct reason *why);

#endif
