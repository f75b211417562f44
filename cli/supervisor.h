/* Starts the processes of one machine and keeps them running: `quadrille up`.
 *
 * Every child runs in the foreground with its log in DIR/log/NAME.log and dies with the
 * supervisor (PR_SET_PDEATHSIG), whatever kills it. A child that ends is started again: at
 * once when it retired (exit 0), else after a pause that doubles up to 5 s and starts afresh
 * once a child has lived for 10 s. Exit 100 (misuse) of a child stops everything: its
 * configuration is wrong and starting again will not mend it.
 */
#ifndef CLI_SUPERVISOR_H
#define CLI_SUPERVISOR_H

#include "base/opt.h"
#include "queue/cluster.h"

extern const struct opt process_options[];

struct supervisor;
/* Locks DIR/run/supervisor.lock; when another supervisor has it, waits for its end, or is DENIED
 * without `wait`. only: names of what to start, parted by commas ("queue,metastore,index"); NULL:
 * all. */
enum status supervisor_open(struct supervisor **supervisor, const char *directory,
                            const struct opt_set *options, const struct cluster *cluster,
                            const struct flag_list *assignments, const char *only, bool wait,
                            struct reason *why);
/* Runs until SIGTERM or SIGINT, then stops all children: stages first, then the index, then
 * queue and metadata store. */
enum status supervisor_run(struct supervisor *supervisor, struct reason *why);
void supervisor_close(struct supervisor *supervisor);

/* The process that holds the lock of DIR; 0: nobody. */
int supervisor_pid(const char *directory);

#endif
