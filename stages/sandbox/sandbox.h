/* The cage in which hostile bytes are parsed.
 *
 * SANDBOX_PARSER, for our own code and libraries: no new privileges, no file system (Landlock
 * where the kernel has it, seccomp everywhere), no network, no processes, no executable memory;
 * only the system calls that memory, time and the descriptors already open need. Calls to open
 * something fail with EPERM, so that a library which merely looks for a file goes on without;
 * everything else that is not on the list ends the process (SIGSYS).
 *
 * SANDBOX_PROGRAM, for workers that start external programs of the registry, and for those: no new
 * privileges, limits, and a list of system calls; others fail with EPERM. Files of the system can
 * be read (Landlock); nothing can be written, changed, made or removed by name; no sockets but
 * pairs; no signals to others, no namespaces, io_uring, userfaultfd, tracing, shared memory. The
 * program itself enters a second cage (sandbox_enter_program), in which it leaves neither its
 * process group nor its worker; so that all of its processes end with the document. Where the
 * kernel has no Landlock, or an old one, the list of calls makes up for it but for one thing:
 * without Landlock every file that the user can read can be read.
 *
 * Both: limits of memory, no core dumps, no growing of files.
 */
#ifndef STAGES_SANDBOX_SANDBOX_H
#define STAGES_SANDBOX_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

enum sandbox_policy { SANDBOX_PARSER, SANDBOX_PROGRAM };

/* Closes the cage for this process, for ever. memory: bytes of address space on top of what is
 * mapped now; 0: unlimited. */
enum status sandbox_enter(enum sandbox_policy policy, size_t memory, struct reason *why);

/* Confines a process that a worker under SANDBOX_PROGRAM started, as the leader of a process group,
 * before it becomes the program. False: it must not become it. */
bool sandbox_enter_program(void);

/* Returns whether the kernel has Landlock: the second wall behind seccomp. */
bool sandbox_has_landlock(void);

/* False in builds with a sanitizer, which needs memory and calls that no cage would give: there
 * only limits and Landlock hold. */
bool sandbox_is_complete(void);

/* Proves the sandbox by trying forbidden things in a child. report gets one line per trial;
 * returns how many were not stopped. */
typedef void sandbox_report(void *context, const char *trial, bool stopped, const char *how);
unsigned sandbox_selftest(sandbox_report *report, void *context);
/* Tries what is forbidden to external programs, in their cage. Reading files is not tried without
 * Landlock. */
unsigned sandbox_selftest_program(sandbox_report *report, void *context);

#endif
