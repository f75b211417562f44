/* Ends a process whose thread stands still: one that neither comes back to its loop nor waits for
 * somebody else.
 *
 * The watched thread feeds the watchdog each time it comes round. Waiting is no standstill: a wait
 * in the loop is cut by watchdog_wait_ms, and a wait inside of a call (for a peer, a lock, another
 * thread) stands between watchdog_pause and watchdog_resume, and has a limit of its own. All calls
 * but the first do nothing in threads that are not watched. One watched thread in a process. */
#ifndef BASE_SYSTEM_WATCHDOG_H
#define BASE_SYSTEM_WATCHDOG_H

#include <stdint.h>

/* Watches the calling thread. limit_ms 0: it never bites. When it does, a line goes to standard
 * error and the process ends with EXIT_SYSTEM. */
void watchdog_start(uint64_t limit_ms);
/* Cheap when it was fed moments ago. */
void watchdog_feed(void);
/* A wait in milliseconds, -1 for one without end, made short enough to feed in time. */
int watchdog_wait_ms(int wait_ms);
/* May be nested. */
void watchdog_pause(void);
void watchdog_resume(void);

#endif
