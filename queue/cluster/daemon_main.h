/* The main function of the daemons: flags, configuration, cluster, exit code. The stages have
 * stages/skeleton/stage.h instead. */
#ifndef QUEUE_CLUSTER_DAEMON_MAIN_H
#define QUEUE_CLUSTER_DAEMON_MAIN_H

#include "base/options/opt.h"
#include "queue/cluster/cluster.h"

struct daemon_setting {
    const char *directory;
    const struct opt_set *options;
    const struct cluster *cluster;
    int ready_descriptor; /* -1: nobody waits */
};

/* Runs until a signal ends it. Statuses other than OK are told on stderr with why. */
typedef enum status daemon_run(const struct daemon_setting *setting, struct reason *why);

/* program: name, summary, description, examples; flags and synopsis are filled in here. */
int daemon_main(const struct program *program, daemon_run *run, int argc, char **argv);

/* Writes the newline that tells readiness and closes the descriptor. */
void daemon_tell_ready(int ready_descriptor);

#endif
