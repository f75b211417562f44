/* Tells who wants the jobs of a data directory done, and with which settings: docs/PROCESSES.md.
 *
 * A command that needs the index runs its process with the command's own settings, though a crawl
 * that begins meanwhile has others. So a stage process that a command runs takes jobs only while
 * somebody wants them done, and then with that one's --set.
 *
 * DIR/run/jobs.wanted is locked, shared, by everyone who wants jobs done (fcntl(2), open file
 * descriptions: whoever looks need not take the lock). DIR/run/settings has the --set arguments of
 * the latest of them, as lines of quadrille.conf; it is replaced whole. Not thread-safe. */
#ifndef CONFIG_WANTED_JOBS_H
#define CONFIG_WANTED_JOBS_H

#include <stdbool.h>
#include <sys/types.h>
#include <time.h>

#include "base/options/opt.h"
#include "base/status.h"

/* Says that jobs are wanted from now on, until the descriptor is closed or the process has ended.
 */
enum status wanted_jobs_claim(const char *directory, const struct flag_list *assignments,
                              int *claim, struct reason *why);

/* The side of the process that a command runs. */
struct wanted_jobs {
    const char *directory; /* the caller's */
    int claims;
    ino_t settings; /* those that were given last */
    struct timespec written;
};
enum status wanted_jobs_open(struct wanted_jobs *wanted, const char *directory, struct reason *why);
/* Returns whether somebody wants jobs done. */
bool wanted_jobs_any(const struct wanted_jobs *wanted);
/* Options as config_load makes them, with the settings of whoever wants jobs done; NULL when they
 * are those that it gave before. Free with opt_set_free. */
enum status wanted_jobs_settings(struct wanted_jobs *wanted, struct opt_set **options,
                                 struct reason *why);
void wanted_jobs_close(struct wanted_jobs *wanted);

#endif
