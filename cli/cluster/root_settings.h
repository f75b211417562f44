/* The settings of a cluster, ROOT/quadrille.conf and ROOT/cluster.conf, as one of its machines has
 * read them last. One thread per object. */
#ifndef CLI_CLUSTER_ROOT_SETTINGS_H
#define CLI_CLUSTER_ROOT_SETTINGS_H

#include <stdint.h>

#include "base/buf.h"
#include "base/options/opt.h"
#include "cli/shared/cli.h"
#include "shares/share_records.h"

enum { ROOT_SETTINGS_PATH_SIZE = 4096 };

struct root_settings {
    const char *root;
    struct cli_common common; /* its assignments are those of every share: first of ROOT's file */
    char option[ROOT_SETTINGS_PATH_SIZE + 1]; /* "@ROOT/quadrille.conf", one of them */
    uint64_t version;                         /* fingerprint of both files; 0: never read */
    struct cli cli;
    struct reason wrong; /* what keeps the present files from use; empty: nothing */
};
/* own: --set of the machine. Both must outlive *settings. MISUSE: too many. */
enum status root_settings_open(struct root_settings *settings, const char *root,
                               const struct flag_list *own, struct reason *why);
void root_settings_close(struct root_settings *settings);
/* Reads the files anew when they have changed. With `wrong` there may be no options in cli. */
void root_settings_look(struct root_settings *settings);
/* Lines of a session or helper: what it has read, and what it holds against it. */
void root_settings_tell(const struct root_settings *settings, struct buf *text);

/* Is the line of a session that has the version which a share of the machine runs with. */
#define SHARE_SETTINGS_LINE "runs_with %zu"

/* The version of the files as they are; 0 and why: one cannot be read. */
uint64_t root_settings_version(const char *root, struct reason *why);

#endif
