/* Inside of the supervisor: supervisor.c has its life, supervisor_child.c what it runs. */
#ifndef CLI_SUPERVISOR_SUPERVISOR_PRIVATE_H
#define CLI_SUPERVISOR_SUPERVISOR_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "cli/supervisor/scope_keeper.h"
#include "cli/supervisor/supervisor.h"

enum { CHILDREN_MOST = 1200, PAUSE_MOST_MS = 5000 };

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

struct supervisor {
    char *directory, *programs;
    bool helper;
    int staying; /* where to say so once; -1: said */
    const struct flag_list *assignments;
    struct child *children;
    size_t count;
    int signals, lock;
    int claim; /* on the jobs being done */
    uint64_t log_most, logs_checked_ms;
    struct scope_keeper scope;
    bool stopping, crawl_over;
    char misused[32];  /* name of a child that refused its configuration */
    char lockless[32]; /* of one whose lock the file system has lost */
};

/* MISUSE when a word of a list "queue,index" is no part. */
enum status supervisor_check_parts(const char *only, struct reason *why);
/* Fills supervisor->children with what is to run here. */
void supervisor_add_children(struct supervisor *supervisor, const struct opt_set *options,
                             const struct cluster *cluster, const char *only);
/* It stands by until nobody else runs what it is to be. */
void child_start(struct supervisor *supervisor, struct child *child);
/* how: as waitpid tells. Decides when it starts again. */
void child_ended(struct supervisor *supervisor, struct child *child, int how);
/* Returns whether it runs its program and does not stand by. */
bool child_runs(const struct supervisor *supervisor, const struct child *child);
/* Writes our process id into a lock. */
void supervisor_sign_lock(int lock);

#endif
