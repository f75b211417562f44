/* A set of 64-bit fingerprints that grows: open addressing, no removal. {0} is empty. One thread.
 */
#ifndef BASE_PRINT_SET_H
#define BASE_PRINT_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct print_set {
    uint64_t *slots;
    size_t mask, used;
};

/* False: it was there. */
bool print_set_add(struct print_set *set, uint64_t print);
void print_set_release(struct print_set *set);

#endif
