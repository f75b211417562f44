/* DIR/log/NAME.log: where a child of the supervisor writes, and how that stays within bounds. */
#ifndef CLI_SUPERVISOR_PROCESS_LOG_H
#define CLI_SUPERVISOR_PROCESS_LOG_H

#include <stdint.h>

/* Opens the log for appending; -1 and errno. */
int process_log_open(const char *directory, const char *name);
/* Moves what is there to NAME.log.1 when it is more than so many bytes. */
void process_log_bound(const char *directory, const char *name, uint64_t most);

#endif
