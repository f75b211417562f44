/* The end of an asynchronous call, for those who wait for it. */
#ifndef BASE_OUTCOME_H
#define BASE_OUTCOME_H

#include <stdbool.h>

#include "base/status.h"

struct outcome {
    bool given;
    enum status status;
    struct reason why;
};

/* A callback; context is the outcome. why may be NULL. */
void outcome_take(void *context, enum status status, const struct reason *why);
/* Its status and, unless that is OK, its reason. */
enum status outcome_status(const struct outcome *outcome, struct reason *why);

#endif
