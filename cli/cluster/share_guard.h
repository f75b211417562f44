/* The process between `quadrille cluster run` and the `quadrille up` of one share, which ends the
 * share's processes when the lease runs out, whatever else hangs, is stopped or is gone. It touches
 * no file. Three things end them, each without the others:
 *
 *   - shortly before the time it kills the share's process group;
 *   - at the time a kernel timer kills it, also while it is stopped, and with it, by
 * PR_SET_PDEATHSIG from parent to child, all processes of the share, also stopped ones;
 *   - the end of `quadrille cluster run` does the same.
 *
 * Times are those of share_clock_ms. */
#ifndef CLI_CLUSTER_SHARE_GUARD_H
#define CLI_CLUSTER_SHARE_GUARD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/options/opt.h"
#include "base/status.h"

/* Milliseconds since the machine started, times of sleep among them. */
uint64_t share_clock_ms(void *unused);

struct share_guard {
    pid_t pid; /* also the process group of all it guards; 0: none */
    int orders;
    bool gone; /* with `code`; of those that it guarded some are there */
    int code;
};
struct share_guard_settings {
    const char *directory;               /* of the share */
    const struct flag_list *assignments; /* --set of its processes */
    const char *only; /* names of those that run, separated by commas; NULL: all */
    uint64_t until_ms;
    uint64_t fetch_after_ms; /* how long fetch waits before it starts */
};
enum status share_guard_start(struct share_guard *guard,
                              const struct share_guard_settings *settings, struct reason *why);
/* The lease holds until then. */
void share_guard_extend(const struct share_guard *guard, uint64_t until_ms);
/* Ends its processes in order. */
void share_guard_stop(const struct share_guard *guard);
/* Ends them at once. */
void share_guard_kill(const struct share_guard *guard);
/* Tells whether the guard has ended, with all that it guarded: the caller is who waits for these
 * after the guard (PR_SET_CHILD_SUBREAPER), so that one is missed neither when the kill has not
 * reached it nor when it is in a call to the file system that nothing interrupts. code: what
 * `quadrille up` ended with, or more than 128 when it was killed. */
bool share_guard_has_ended(struct share_guard *guard, int *code);
/* Waits for what has ended and is in no group of a guard. When a guarded process was killed, what
 * it had started in groups of its own is the caller's to wait for, too. */
typedef bool share_guard_is_group(const void *context, pid_t group);
void share_guard_reap_strays(share_guard_is_group *is_of_a_guard, const void *context);

#endif
