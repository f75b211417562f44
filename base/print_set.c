#include "base/print_set.h"

#include <stdlib.h>

#include "base/memory.h"

bool
print_set_add(struct print_set *set, uint64_t print)
{
    print |= print == 0; /* 0 marks an empty slot */
    if (set->slots == NULL || set->used * 2 > set->mask) {
        struct print_set larger = {.mask = set->slots == NULL ? 63 : set->mask * 2 + 1};
        larger.slots = memory_zero(larger.mask + 1, sizeof *larger.slots);
        for (size_t i = 0; set->slots != NULL && i <= set->mask; i++) {
            if (set->slots[i] != 0) {
                print_set_add(&larger, set->slots[i]);
            }
        }
        free(set->slots);
        *set = larger;
    }
    size_t at = print & set->mask;
    while (set->slots[at] != 0) {
        if (set->slots[at] == print) {
            return false;
        }
        at = (at + 1) & set->mask;
    }
    set->slots[at] = print;
    set->used++;
    return true;
}

void
print_set_release(struct print_set *set)
{
    free(set->slots);
    *set = (struct print_set){0};
}
