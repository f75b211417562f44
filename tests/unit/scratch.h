/* A folder of a test's own: in memory where there is room, since much of what the stores do is to
 * wait for disks, else under /tmp. */
#ifndef TESTS_UNIT_SCRATCH_H
#define TESTS_UNIT_SCRATCH_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { SCRATCH_SIZE = 40 };

/* Makes it; false on failure. The caller removes it. */
static inline bool
scratch_folder(char path[SCRATCH_SIZE], const char *name)
{
    struct statvfs disk;
    const bool memory = access("/dev/shm", W_OK) == 0 && statvfs("/dev/shm", &disk) == 0 &&
                        disk.f_bavail >= (1u << 30) / disk.f_frsize;
    snprintf(path, SCRATCH_SIZE, "%s/%s.XXXXXX", memory ? "/dev/shm" : "/tmp", name);
    return mkdtemp(path) != NULL;
}

#endif
