/* Linked into what `make coverage` builds, and into nothing else. The counts of lines are shared
 * with all processes that are forked: those of a worker, which ends with _exit or by a signal and
 * may open no file in its sandbox, are written when the process that has forked it ends. */
#include <string.h>
#include <sys/mman.h>

extern char coverage_counts_begin[], coverage_counts_end[]; /* of shared_counts.ld */

static void share_counts(void) __attribute__((constructor));

static void
share_counts(void)
{
    const size_t size = (size_t)(coverage_counts_end - coverage_counts_begin);
    void *shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared != MAP_FAILED) {
        memcpy(shared, coverage_counts_begin, size);
        (void)mremap(shared, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, coverage_counts_begin);
    }
}
