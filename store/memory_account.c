#include "store/memory_account.h"

enum status
memory_take(struct memory_account *account, size_t bytes, const char *what, struct reason *why)
{
    if (bytes > account->maximum - account->used) {
        return status_fail(why, STATUS_LIMIT,
                           "the query needs more than its %zu MiB of memory (%s)",
                           account->maximum >> 20, what);
    }
    account->used += bytes;
    if (account->used > account->highest) {
        account->highest = account->used;
    }
    return STATUS_OK;
}

void
memory_give(struct memory_account *account, size_t bytes)
{
    account->used -= bytes;
}
