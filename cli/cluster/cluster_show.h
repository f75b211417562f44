/* `quadrille cluster status`: who runs which share, with which settings, and how far it is behind.
 */
#ifndef CLI_CLUSTER_CLUSTER_SHOW_H
#define CLI_CLUSTER_CLUSTER_SHOW_H

#include <stdbool.h>
#include <stdio.h>

#include "base/status.h"
#include "shares/share_records.h"

enum status cluster_show(const char *root, const struct share_settings *settings, bool json,
                         FILE *out, struct reason *why);

#endif
