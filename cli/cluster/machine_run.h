/* `quadrille cluster run`: takes shares, runs their processes, gives them back. */
#ifndef CLI_CLUSTER_MACHINE_RUN_H
#define CLI_CLUSTER_MACHINE_RUN_H

#include <stdbool.h>

#include "base/options/opt.h"
#include "base/status.h"
#include "shares/share_records.h"

struct machine_run_settings {
    const char *root; /* absolute */
    struct share_settings cluster;
    const char *machine, *address;
    unsigned weight;
    const bool *only; /* NULL: whichever */
    const char *disk; /* absolute: where shares lie here; NULL: they lie in ROOT */
    const struct flag_list *assignments;
};
/* Runs until SIGTERM or SIGINT; then it gives all shares back. */
enum status machine_run(const struct machine_run_settings *settings, struct reason *why);

#endif
