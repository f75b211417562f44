/* Steps of the tests of a daemon's main: what it hands to the loop, which the test stands in for,
 * and what it says. */
#ifndef TESTS_UNIT_QUEUE_DAEMON_DAEMON_MAINS_H
#define TESTS_UNIT_QUEUE_DAEMON_DAEMON_MAINS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/status.h"
#include "config/process_state.h"
#include "tests/unit/scratch.h"

enum { SAID_BYTES = 4096, ARGUMENTS_MOST = 12 };
extern char directory[SCRATCH_SIZE];
extern char said[SAID_BYTES]; /* by the last call, on standard error */

int __wrap_main(void);

int directory_make(void **state);
int directory_remove(void **state);
/* Calls main with these arguments, up to a NULL; a "DIR" becomes the directory. Returns its value.
 */
int call_main(const char *program, const char *const *arguments);
/* Fails unless the endpoint is the directory's socket of that name, and the path one in it. */
void assert_socket(const char *endpoint, const char *name);
void assert_path(const char *path, const char *name);
/* Fails unless the daemon has said that it is in this phase. */
void assert_phase(const char *name, enum process_phase phase, const char *why);
/* Does what a loop does when it takes requests. */
void tell_ready(int descriptor);
/* Calls of main that every daemon refuses, and what it makes of how its loop ends, which is what
 * loop_ends says. */
void check_ends(const char *program, enum status *loop_ends);
/* The descriptor is told once, and closed. */
void check_ready(const char *program);
/* Others may read what the program writes as files.readers says. */
void check_access(const char *program);

#endif
