/* A data directory at rest: none of its processes runs, and none starts. docs/PROCESSES.md has the
 * protocol. Whoever wants it has DIR/run/rest locked; the kernel gives the lock back when he ends,
 * however he ends, and the processes go on. */
#ifndef CLI_SUPERVISOR_DIRECTORY_REST_H
#define CLI_SUPERVISOR_DIRECTORY_REST_H

#include <stdbool.h>

#include "base/status.h"

/* Asks for rest: a supervisor ends its processes in order, and nobody starts any. rest: to be
 * closed. DENIED when somebody else has asked. */
enum status directory_rest_ask(const char *directory, int *rest, struct reason *why);
/* Waits until the last process has ended. TIMEOUT when one goes on, because a command uses it. */
enum status directory_rest_await(const char *directory, struct reason *why);

/* Is called before a process is started. Waits while somebody has the rest; false when it cannot
 * tell. */
bool directory_rest_pass(int rest);
/* Returns at once whether nobody has the rest. `rest` is a descriptor of run_lock_open. */
bool directory_rest_over(int rest);

#endif
