/* How many descriptors the process has. */
#ifndef TESTS_UNIT_OPEN_DESCRIPTORS_H
#define TESTS_UNIT_OPEN_DESCRIPTORS_H

#include <dirent.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Those of files whose names begin so. */
static inline size_t
open_files(const char *begin)
{
    size_t n = 0;
    DIR *descriptors = opendir("/proc/self/fd");
    if (descriptors == NULL) {
        abort();
    }
    for (struct dirent *entry; (entry = readdir(descriptors)) != NULL;) {
        char file[PATH_MAX];
        const ssize_t length = readlinkat(dirfd(descriptors), entry->d_name, file, sizeof file);
        n += length >= (ssize_t)strlen(begin) && memcmp(file, begin, strlen(begin)) == 0;
    }
    (void)closedir(descriptors);
    return n;
}

static inline size_t
open_descriptors(void)
{
    return open_files("");
}

#endif
