/* The processes that a supervisor runs: which ones there are, how one starts, and what its end
 * means. A child waits for the lock of its name before it runs its program. One thread. */
#ifndef CLI_SUPERVISOR_SUPERVISOR_CHILD_H
#define CLI_SUPERVISOR_SUPERVISOR_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/options/opt.h"
#include "queue/cluster/cluster.h"

/* Stopped from the last rank to the first, so that stages still find their daemons. */
enum rank { RANK_STORE, RANK_INDEX, RANK_STAGE, RANK_COUNT };

struct child {
    char name[32];
    const char *part; /* its name without a number */
    const char *program;
    unsigned number; /* 0: the program takes no --number */
    enum rank rank;
    pid_t pid;
    uint64_t started_ms, start_at_ms; /* monotonic; start_at_ms 0: running or not wanted */
    uint32_t pause_ms, deaths;
};

struct children {
    struct child *list; /* by children_add; the owner frees it */
    size_t count;
};

/* Says what all children are run with; the owner keeps it while any runs. */
struct child_settings {
    char *directory, *programs; /* the data directory; the folder of the programs */
    bool helper;                /* of a command: a supervisor goes before it */
    const struct flag_list *assignments;
};

/* Says what the end of a child means for the others. */
enum child_end {
    CHILD_AGAIN,   /* it starts again, now or after a pause */
    CHILD_MISUSED, /* it refused its configuration: all have to end */
    CHILD_LOCKLESS /* the file system has lost the lock of its name: all have to end, since none can
                      be locked while processes of ours live */
};

/* MISUSE when a word of a list "queue,index" is no part; NULL: all parts. */
enum status children_check_parts(const char *only, struct reason *why);
/* Adds what is to run on this node, or those of the list alone. */
void children_add(struct children *children, const struct opt_set *options,
                  const struct cluster *cluster, const char *only);
/* Starts it: it stands by until nobody else runs what it is to be. */
void child_start(const struct child_settings *settings, struct child *child);
/* Notes that it ended as waitpid tells, and when it starts again. */
enum child_end child_ended(struct child *child, int how);
/* Returns whether it runs its program and does not stand by. */
bool child_runs(const struct child_settings *settings, const struct child *child);
/* Writes our process id into a lock. */
void child_sign_lock(int lock);

#endif
