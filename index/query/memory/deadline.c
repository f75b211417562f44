#include "index/query/memory/deadline.h"

#include "base/system/clock.h"

void
deadline_begin(struct deadline *deadline, const struct query_options *options)
{
    *deadline = (struct deadline){
        options, options->timeout_ms ? clock_monotonic_ms() + options->timeout_ms : 0};
}

enum status
deadline_check(const void *context, struct reason *why)
{
    const struct deadline *deadline = context;
    const struct query_options *options = deadline->options;
    if (options->step != NULL) {
        options->step(options->step_context);
    }
    if (options->cancel && atomic_load_explicit(options->cancel, memory_order_relaxed)) {
        return status_fail(why, STATUS_CANCELLED, "the query was cancelled");
    }
    if (deadline->at_ms && clock_monotonic_ms() > deadline->at_ms) {
        return status_fail(why, STATUS_TIMEOUT, "the query took longer than its %llu ms",
                           (unsigned long long)options->timeout_ms);
    }
    return STATUS_OK;
}
