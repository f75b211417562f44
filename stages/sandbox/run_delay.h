/* How long a process has waited for a processor: what limits by the clock do not count. Linux tells
 * it of the first thread of a process in /proc/PID. The functions may be called from any thread. */
#ifndef STAGES_SANDBOX_RUN_DELAY_H
#define STAGES_SANDBOX_RUN_DELAY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Opens the folder that tells of a process; the caller closes it. It tells of no other process that
 * gets the number later. -1: the process is gone. */
int run_delay_open(pid_t process);

/* Returns the time for which the process was ready to run and had no processor, since it began,
 * without the wait in which it may be now. 0: the process has ended, the folder is -1, or the
 * kernel does not count this. */
uint64_t run_delay_ms(int folder);

/* Returns whether the process runs or waits for a processor now. */
bool run_delay_is_ready(int folder);

#endif
