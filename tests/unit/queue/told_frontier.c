#include "tests/unit/queue/told_frontier.h"

#include <stdio.h>
#include <string.h>

struct told_frontier told_frontier = {.calls = -1};

__typeof__(frontier_get) __wrap_frontier_get, __real_frontier_get;
__typeof__(frontier_scan) __wrap_frontier_scan, __real_frontier_scan;
__typeof__(frontier_scan_within) __wrap_frontier_scan_within, __real_frontier_scan_within;
__typeof__(frontier_apply) __wrap_frontier_apply;
__typeof__(frontier_tick) __wrap_frontier_tick, __real_frontier_tick;
__typeof__(frontier_room) __wrap_frontier_room, __real_frontier_room;
__typeof__(frontier_broken) __wrap_frontier_broken, __real_frontier_broken;

void
told_frontier_reset(void)
{
    told_frontier = (struct told_frontier){.calls = -1};
}

/* Returns whether this call fails: by its turn, or because all of its kind do. */
static enum status
told(enum status of_its_kind, const char *what, struct reason *why)
{
    if (told_frontier.calls >= 0 && told_frontier.calls-- == 0) {
        return status_fail(why, told_frontier.status, "a fault");
    }
    return of_its_kind != STATUS_OK ? status_fail(why, of_its_kind, "%s", what) : STATUS_OK;
}

enum status
__wrap_frontier_get(struct frontier *frontier, enum store_tree tree, struct slice key,
                    struct slice *value, struct reason *why)
{
    const bool missing =
        told_frontier.missing.length > 0 && slice_equal(key, told_frontier.missing);
    TRY(told(missing ? STATUS_NOT_FOUND : STATUS_OK, "it is missing", why));
    return __real_frontier_get(frontier, tree, key, value, why);
}

enum status
__wrap_frontier_scan(struct frontier *frontier, enum store_tree tree, struct slice from,
                     store_visit *visit, void *context, struct reason *why)
{
    TRY(told(told_frontier.scans_fail ? STATUS_SYSTEM : STATUS_OK, "a fault", why));
    return __real_frontier_scan(frontier, tree, from, visit, context, why);
}

enum status
__wrap_frontier_scan_within(struct frontier *frontier, enum store_tree tree, struct slice from,
                            size_t within, store_visit *visit, void *context, struct reason *why)
{
    TRY(told(STATUS_OK, "", why));
    return __real_frontier_scan_within(frontier, tree, from, within, visit, context, why);
}

enum status
__wrap_frontier_apply(struct frontier *frontier, const struct store_operation *const *operations,
                      size_t n, struct reason *why)
{
    TRY(told(told_frontier.apply, "apply failed", why));
    told_frontier.written += n;
    told_frontier.wrote[0] = '\0';
    for (size_t i = 0; i < n; i++) {
        const size_t used = strlen(told_frontier.wrote);
        (void)snprintf(told_frontier.wrote + used, sizeof told_frontier.wrote - used, "%s%c ",
                       store_tree_name((enum store_tree)operations[i]->tree),
                       operations[i]->remove ? '-' : '+');
    }
    return __real_frontier_apply(frontier, operations, n, why);
}

enum status
__wrap_frontier_tick(struct frontier *frontier, uint64_t *wait_ms, struct reason *why)
{
    TRY(told(told_frontier.tick, "tick failed", why));
    TRY(__real_frontier_tick(frontier, wait_ms, why));
    *wait_ms = told_frontier.wait_ms != 0 ? told_frontier.wait_ms : *wait_ms;
    return STATUS_OK;
}

enum status
__wrap_frontier_room(struct frontier *frontier, uint64_t *bytes, struct reason *why)
{
    if (told_frontier.room != STATUS_OK) {
        return status_fail(why, told_frontier.room, "room failed");
    }
    TRY(__real_frontier_room(frontier, bytes, why));
    *bytes = told_frontier.free != 0 ? told_frontier.free : *bytes;
    return STATUS_OK;
}

bool
__wrap_frontier_broken(const struct frontier *frontier)
{
    return told_frontier.broken || __real_frontier_broken(frontier);
}
