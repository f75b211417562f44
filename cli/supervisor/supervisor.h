/* Starts the processes of one machine and keeps them running: `quadrille up`, and the helpers of
 * commands. docs/PROCESSES.md says who runs what and how it changes hands.
 *
 * Every child runs in the foreground with its log in DIR/log/NAME.log and dies with the
 * supervisor (PR_SET_PDEATHSIG), whatever kills it. A child that ends is started again: at
 * once when it retired (exit 0), else after a pause that doubles up to 5 s and starts afresh
 * once a child has lived for 10 s. Exit 100 (misuse) of a child stops everything: its
 * configuration is wrong and starting again will not mend it.
 */
#ifndef CLI_SUPERVISOR_SUPERVISOR_H
#define CLI_SUPERVISOR_SUPERVISOR_H

#include "base/options/opt.h"
#include "queue/cluster/cluster.h"

extern const struct opt process_options[];

struct supervisor;
struct supervisor_settings {
    const char *directory;
    const struct opt_set *options;
    const struct cluster *cluster;
    const struct flag_list *assignments;
    const char *only; /* names of what to start, separated by commas ("queue,index"); NULL: all */
    uint64_t fetch_after_ms; /* fetch starts so much later than the rest */
    /* A helper of a command: runs what nobody else does. */
    bool helper;
    int staying; /* a helper writes a byte here when it stays for others after its user's end */
};
/* DENIED when there is a supervisor already, unless it is to be a helper. What the settings point
 * to must outlive it. */
enum status supervisor_open(struct supervisor **supervisor,
                            const struct supervisor_settings *settings, struct reason *why);
/* Returns whether it is to run processes that fetch. */
bool supervisor_fetches(const struct supervisor *supervisor);
/* Runs until it is told to end by a signal, then stops all children: stages first, then the index,
 * then queue and metadata store; a helper each when nobody uses it any more. SIGUSR1: the crawl
 * that it was for is over; others say that whoever uses it is to stop. */
enum status supervisor_run(struct supervisor *supervisor, struct reason *why);
void supervisor_close(struct supervisor *supervisor);

/* The `quadrille up` of DIR; 0: none. */
int supervisor_pid(const char *directory);
/* Returns whether the latest one was told to stop, and has. */
bool supervisor_was_stopped(const char *directory);

/* A command's use of a part, until the descriptor is closed: while somebody has it, no helper ends
 * that part. -1 and errno. */
int supervisor_use(const char *directory, const char *part);
/* The name of a process that runs in DIR, whoever started it; false: none. */
bool supervisor_any_process(const char *directory, char name[32], int *pid);
/* Does the same but passes over the supervisor itself, which stays while the directory is at
 * rest. */
bool supervisor_any_worker(const char *directory, char name[32], int *pid);

#endif
