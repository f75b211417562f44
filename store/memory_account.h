/* Counts what somebody holds in memory against a limit. */
#ifndef STORE_MEMORY_ACCOUNT_H
#define STORE_MEMORY_ACCOUNT_H

#include <stddef.h>

#include "base/status.h"

struct memory_account {
    size_t used, highest, maximum;
};
/* STATUS_LIMIT when bytes more would pass the maximum; what: for whom, in the reason. */
enum status memory_take(struct memory_account *account, size_t bytes, const char *what,
                        struct reason *why);
void memory_give(struct memory_account *account, size_t bytes);

#endif
