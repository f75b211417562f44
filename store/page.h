/* Pages of Berkeley DB's B+trees as they stand in files, told sound from damaged without the
 * library. */
#ifndef STORE_PAGE_H
#define STORE_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Page number `page`, of `size` bytes. One that was never written, all of it zeros, is sound. */
bool page_is_sound(const uint8_t *bytes, size_t size, uint32_t page);
/* The size of a file's pages, as its first PAGE_LEAST bytes say. 0: these are no tree's. */
enum { PAGE_LEAST = 512, PAGE_MOST = 64 << 10 };
size_t page_size_told(const uint8_t *bytes);

#endif
