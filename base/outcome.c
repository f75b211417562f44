#include "base/outcome.h"

#include <stddef.h>

void
outcome_take(void *context, enum status status, const struct reason *why)
{
    struct outcome *outcome = context;
    outcome->given = true;
    outcome->status = status;
    if (status != STATUS_OK && why != NULL) {
        outcome->why = *why;
    }
}

enum status
outcome_status(const struct outcome *outcome, struct reason *why)
{
    return outcome->status == STATUS_OK
               ? STATUS_OK
               : status_fail(why, outcome->status, "%s", outcome->why.text);
}
