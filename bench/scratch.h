/* Where a bench puts what it throws away: in $TMPDIR, or /tmp where there is none or where its name
 * is too long for the sockets in it. */
#ifndef BENCH_SCRATCH_H
#define BENCH_SCRATCH_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BENCH_SCRATCH_SIZE = 100, BENCH_SCRATCH_MOST = 60 };

/* A path with XXXXXX at its end, for mkdtemp and mkstemp. */
static inline char *
bench_scratch(char path[BENCH_SCRATCH_SIZE], const char *name)
{
    const char *folder = getenv("TMPDIR");
    if (folder == NULL || strlen(folder) > BENCH_SCRATCH_MOST) {
        folder = "/tmp";
    }
    snprintf(path, BENCH_SCRATCH_SIZE, "%s/%s.XXXXXX", folder, name);
    return path;
}

#endif
