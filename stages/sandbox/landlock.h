/* Landlock (https://docs.kernel.org/userspace-api/landlock.html): which files a process may open,
 * and, in newer kernels, whether it may use TCP, signal others and reach abstract sockets. */
#ifndef STAGES_SANDBOX_LANDLOCK_H
#define STAGES_SANDBOX_LANDLOCK_H

#include <stdbool.h>

#include "base/status.h"

enum landlock_version {
    LANDLOCK_NONE = 0,
    LANDLOCK_TRUNCATES = 3, /* from there on: truncating, too */
    LANDLOCK_NETWORK = 4,   /* TCP */
    LANDLOCK_SCOPES = 6     /* signals and abstract sockets */
};

/* Returns the version of Landlock that this kernel has; LANDLOCK_NONE when it has none or this
 * process may not use it. */
int landlock_version(void);
/* Shuts this process in, for ever: no file can be opened; with programs, those of the system can be
 * read and executed. Without Landlock it does nothing. */
enum status landlock_enter(bool programs, struct reason *why);
/* Once more, for a process that was started inside: it can signal nobody but whom it starts.
 * Without LANDLOCK_SCOPES it does nothing. */
enum status landlock_enter_alone(struct reason *why);

#endif
