#include "tests/power_loss/commands.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { COMMAND_SIZE = 8192 };

int
run(const char *format, ...)
{
    char command[COMMAND_SIZE];
    va_list arguments;
    va_start(arguments, format);
    const int n = vsnprintf(command, sizeof command, format, arguments);
    va_end(arguments);
    return n > 0 && n < COMMAND_SIZE ? system(command) : -1;
}

void
must_run(int code, const char *what)
{
    if (code != 0) {
        fprintf(stderr, "%s failed with %d\n", what, code);
        exit(1);
    }
}

bool
complain(const char *what)
{
    fprintf(stderr, "%s\n", what);
    return false;
}
