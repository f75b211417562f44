/* Folders and files of a test's own, in the folder of the whole run (QUADRILLE_SCRATCH, which
 * tests/run makes, so that what stays behind is known to be its own), else in memory where there is
 * room, since much of what the stores do is to wait for disks, else under /tmp. */
#ifndef TESTS_UNIT_SCRATCH_H
#define TESTS_UNIT_SCRATCH_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { SCRATCH_SIZE = 64 }; /* names of sockets are in it, which have 108 bytes at most */

static inline bool
scratch_name(char path[SCRATCH_SIZE], const char *name)
{
    struct statvfs disk;
    const bool memory = access("/dev/shm", W_OK) == 0 && statvfs("/dev/shm", &disk) == 0 &&
                        disk.f_bavail >= (1u << 30) / disk.f_frsize;
    const char *folder = getenv("QUADRILLE_SCRATCH");
    if (folder == NULL || folder[0] == '\0') {
        folder = memory ? "/dev/shm" : "/tmp";
    }
    const int n = snprintf(path, SCRATCH_SIZE, "%s/%s.XXXXXX", folder, name);
    return n > 0 && n < SCRATCH_SIZE;
}

/* Makes it; false on failure. The caller removes it. */
static inline bool
scratch_folder(char path[SCRATCH_SIZE], const char *name)
{
    return scratch_name(path, name) && mkdtemp(path) != NULL;
}

/* Makes it; its descriptor, -1 on failure. The caller removes it. */
static inline int
scratch_file(char path[SCRATCH_SIZE], const char *name)
{
    return scratch_name(path, name) ? mkstemp(path) : -1;
}

#endif
