/* The system calls of external programs, as a filter (seccomp): stages/sandbox.h. */
#ifndef STAGES_SANDBOX_CALLS_H
#define STAGES_SANDBOX_CALLS_H

#include <seccomp.h>

/* What a program needs that reads its standard input and writes its standard output, and what a
 * worker needs to start one. landlock: the kernel's version; what that does not forbid, these rules
 * do. 0, or a negative errno. */
int sandbox_add_program_calls(scmp_filter_ctx filter, int landlock);
/* What the worker needs and the program must not have. */
int sandbox_add_program_refusals(scmp_filter_ctx filter, int landlock);

#endif
