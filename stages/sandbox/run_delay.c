#include "stages/sandbox/run_delay.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { TEXT_BYTES = 256 };

int
run_delay_open(pid_t process)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d", (int)process);
    return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* Reads the beginning of a file of the folder; empty when it cannot be read. */
static void
read_text(int folder, const char *name, char text[TEXT_BYTES])
{
    const int descriptor = openat(folder, name, O_RDONLY | O_CLOEXEC);
    const ssize_t n = descriptor < 0 ? 0 : read(descriptor, text, TEXT_BYTES - 1);
    text[n > 0 ? n : 0] = '\0';
    if (descriptor >= 0) {
        close(descriptor);
    }
}

/* The file is three numbers: nanoseconds run, nanoseconds waited, how often it ran. */
uint64_t
run_delay_ms(int folder)
{
    char text[TEXT_BYTES];
    uint64_t waited_ns;
    read_text(folder, "schedstat", text);
    return sscanf(text, "%*u %" SCNu64, &waited_ns) == 1 ? waited_ns / 1000000 : 0;
}

/* The file begins "NUMBER (NAME) STATE"; a name may have any characters. */
bool
run_delay_is_ready(int folder)
{
    char text[TEXT_BYTES];
    read_text(folder, "stat", text);
    const char *name_end = strrchr(text, ')');
    return name_end != NULL && name_end[1] == ' ' && name_end[2] == 'R';
}
