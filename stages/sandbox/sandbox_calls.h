/* The system calls of external programs, as a filter (seccomp): stages/sandbox/sandbox.h. */
#ifndef STAGES_SANDBOX_SANDBOX_CALLS_H
#define STAGES_SANDBOX_SANDBOX_CALLS_H

#include <seccomp.h>

/* Adds the calls that a program needs which reads its standard input and writes its standard
 * output, and what a worker needs to start one. landlock is the kernel's version; what that does
 * not forbid, these rules do. Returns 0 or a negative errno. */
int sandbox_add_program_calls(scmp_filter_ctx filter, int landlock);
/* Refuses the calls that the worker needs and the program must not have. */
int sandbox_add_program_refusals(scmp_filter_ctx filter, int landlock);

#endif
