/* Commands that scenarios run by the shell; under the recorder they inherit it. */
#ifndef TESTS_POWER_LOSS_COMMANDS_H
#define TESTS_POWER_LOSS_COMMANDS_H

#include <stdbool.h>

#define quadrille "build/bin/quadrille"

/* The exit code as of system(3); -1: the command is too long. */
int run(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Ends this process if the code is not 0. */
void must_run(int code, const char *what);
/* Tells it on standard error; false. */
bool complain(const char *what);

#endif
