#include "base/memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/status.h"

/* No stdio: it may want memory. */
static _Noreturn void
memory_exhausted(void)
{
    static const char message[] = "out of memory\n";
    const ssize_t ignored = write(STDERR_FILENO, message, sizeof message - 1);
    (void)ignored;
    _exit(EXIT_SYSTEM);
}

void *
memory_alloc(size_t size)
{
    void *memory = malloc(size ? size : 1);
    if (!memory) {
        memory_exhausted();
    }
    return memory;
}

void *
memory_zero(size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size ? size : 1);
    if (!memory) {
        memory_exhausted();
    }
    return memory;
}

void *
memory_new(size_t size)
{
    return memory_zero(1, size);
}

void *
memory_resize(void *old, size_t count, size_t size)
{
    void *memory = reallocarray(old, count ? count : 1, size ? size : 1);
    if (!memory) {
        memory_exhausted();
    }
    return memory;
}

char *
memory_string(const char *text)
{
    return memory_string_n(text, strlen(text));
}

char *
memory_string_n(const char *text, size_t length)
{
    char *copy = memory_alloc(length + 1);
    if (length > 0) {
        memcpy(copy, text, length);
    }
    copy[length] = '\0';
    return copy;
}

void
memory_prefer_large_pages(void *memory, size_t size)
{
    enum { PAGE = 2 << 20, LEAST = 4 * PAGE };
    if (size >= LEAST) {
        const uintptr_t first = ((uintptr_t)memory + PAGE - 1) / PAGE * PAGE;
        const uintptr_t end = ((uintptr_t)memory + size) / PAGE * PAGE;
        (void)madvise((void *)first, end - first, MADV_HUGEPAGE); /* without, it is slower */
    }
}
