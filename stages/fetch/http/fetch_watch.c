/* Descriptors that the owner's loop watches for libcurl. */
#include "base/memory.h"
#include "stages/fetch/http/http_state.h"

struct descriptor *
fetch_http_descriptor(struct fetch_http *http, int number)
{
    const size_t at = (size_t)number;
    if (at >= http->descriptors.count) {
        const size_t count = 2 * (at + 1);
        http->descriptors.all =
            memory_resize(http->descriptors.all, count, sizeof *http->descriptors.all);
        for (size_t i = http->descriptors.count; i < count; i++) {
            http->descriptors.all[i] = (struct descriptor){0};
        }
        http->descriptors.count = count;
    }
    return &http->descriptors.all[at];
}

void
fetch_http_watch(struct fetch_http *http, int number, uint32_t epoll_events)
{
    struct descriptor *descriptor = fetch_http_descriptor(http, number);
    if (descriptor->watched != epoll_events) {
        descriptor->watched = epoll_events;
        http->loop.watch(http->loop.context, number, epoll_events);
    }
}

void
fetch_http_forget(struct fetch_http *http, int descriptor)
{
    fetch_http_watch(http, descriptor, 0);
}
