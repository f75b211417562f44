/* Reads seeds: from operands and from files with one URI a line, # for comments. */
#ifndef CLI_SHARED_SEEDS_H
#define CLI_SHARED_SEEDS_H

#include <stddef.h>

#include "base/buf.h"
#include "base/options/opt.h"
#include "base/status.h"
#include "cli/shared/cli.h"
#include "queue/client/queue_client.h"

struct seeds {
    char **keys; /* crawl keys */
    size_t count, capacity;
};

void seeds_release(struct seeds *seeds);
enum status seeds_add(struct seeds *seeds, const char *text, struct reason *why);
/* path "-": standard input. A line that is no URI is named with its number. */
enum status seeds_add_file(struct seeds *seeds, const char *path, struct reason *why);
/* Spells the seeds as the operator's rules do (crawl/url_rules.h). */
enum status seeds_apply_rules(struct seeds *seeds, const struct opt_set *options,
                              struct reason *why);
/* "scope.hosts=a,b" of all seeds and the hosts given, for scope_save. */
enum status seeds_scope(const struct seeds *seeds, const char *const *hosts, size_t host_count,
                        struct buf *assignment, struct reason *why);
/* Puts all as fetch jobs of depth 0; flags: JOB_SEED, with JOB_RECRAWL to fetch seen ones again.
 * patience: NULL waits for the queue for ever. */
enum status seeds_put(const struct seeds *seeds, struct queue_client *queue, uint8_t flags,
                      struct cli_patience *patience, struct reason *why);

#endif
