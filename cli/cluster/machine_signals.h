/* How `quadrille cluster run` waits: for a time, and for what it is told by signals. */
#ifndef CLI_CLUSTER_MACHINE_SIGNALS_H
#define CLI_CLUSTER_MACHINE_SIGNALS_H

#include <stdbool.h>
#include <stdint.h>

/* A descriptor by which SIGTERM, SIGINT, SIGHUP and SIGCHLD come from now on. */
int machine_signals_take(void);
/* Waits until that time of share_clock_ms; false when a signal came first. *told gets true when one
 * of them tells us to end. */
bool machine_signals_pause(int signals, uint64_t time, bool *told);

#endif
