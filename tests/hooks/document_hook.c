/* Stands in for transform_run in detect and transform processes for tests: documents of the type
 * application/x-quadrille-hook do in their worker what a hostile one might bring a parser to. */
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/memory.h"
#include "transforms/transform.h"

enum status __real_transform_run(struct transformer *transformer,
                                 const struct transform_request *request,
                                 struct transform_result *result, struct reason *why);
enum status __wrap_transform_run(struct transformer *transformer,
                                 const struct transform_request *request,
                                 struct transform_result *result, struct reason *why);

static void
obey_hook(struct slice bytes)
{
    bytes = slice_trim(bytes);
    if (slice_is(bytes, "crash")) {
        raise(SIGSEGV);
    } else if (slice_is(bytes, "abort")) {
        abort();
    } else if (slice_is(bytes, "loop")) {
        for (volatile unsigned turn = 0;; turn = turn + 1) {
        }
    } else if (slice_is(bytes, "sleep")) {
        for (;;) {
            poll(NULL, 0, 1000);
        }
    } else if (slice_is(bytes, "memory")) {
        for (;;) {
            *(volatile char *)memory_alloc(1 << 20) = 1;
        }
    } else if (slice_is(bytes, "open")) {
        (void)!chdir("/");
    }
}

enum status
__wrap_transform_run(struct transformer *transformer, const struct transform_request *request,
                     struct transform_result *result, struct reason *why)
{
    if (slice_is(request->type, "application/x-quadrille-hook")) {
        obey_hook(request->bytes);
    }
    return __real_transform_run(transformer, request, result, why);
}
