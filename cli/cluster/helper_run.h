/* `quadrille cluster run --stages`: a machine that runs no share and does some stages' work of all
 * shares, wherever they run. docs/SHARES.md. */
#ifndef CLI_CLUSTER_HELPER_RUN_H
#define CLI_CLUSTER_HELPER_RUN_H

#include "base/options/opt.h"
#include "base/status.h"
#include "shares/share_records.h"

/* ROOT/helpers/MACHINE/helper: what a helper says of itself. */
#define HELPERS_FOLDER "helpers"
#define HELPER_FILE "helper"

struct helper_run_settings {
    const char *root; /* absolute */
    struct share_settings cluster;
    const char *machine;
    const char *stages; /* separated by commas, checked by helper_stages_check */
    const struct flag_list *assignments;
};
/* MISUSE unless all are stages that can be done for another machine, and there is one. */
enum status helper_stages_check(const char *stages, struct reason *why);
/* Runs until SIGTERM or SIGINT. DENIED: another helper has that name. */
enum status helper_run(const struct helper_run_settings *settings, struct reason *why);

#endif
