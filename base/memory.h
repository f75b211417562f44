/* Allocation that succeeds or ends the process (exit 111, message on stderr). */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include <stddef.h>

void *memory_alloc(size_t size);                           /* not zeroed; never NULL */
void *memory_new(size_t size);                             /* zeroed */
void *memory_zero(size_t count, size_t size);              /* zeroed, overflow-checked */
void *memory_resize(void *old, size_t count, size_t size); /* overflow-checked realloc */
char *memory_string(const char *text);                     /* copy of a C string */
char *memory_string_n(const char *text, size_t length);    /* copy, NUL added */

/* Asks the kernel for large pages where the memory is large: for what is read here and there, as
 * hash tables and what is sorted, so that half of the time does not go to finding its pages. */
void memory_prefer_large_pages(void *memory, size_t size);

#endif
