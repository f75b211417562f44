/* Queue statistics of all nodes, two moments of which give rates; for crawl, status, top. */
#ifndef CLI_SHARED_PROGRESS_H
#define CLI_SHARED_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/shared/cli.h"

/* A node with which something is wrong. */
struct progress_trouble {
    char name[65];
    struct reason text; /* why it takes nothing although it answers; empty: none */
    bool down, unknown; /* it does not answer; cluster.conf does not name it any more */
    uint64_t since_ms;  /* wall time; down: when it last answered */
    uint64_t jobs;      /* that wait for it on the nodes that answered */
};

struct progress_node;
struct progress {
    struct progress_node *nodes;
    size_t node_count, first; /* first: is asked first; this node, if we are one (is_node) */
    bool is_node;
    struct queue_stats now, before; /* sums over nodes */
    uint64_t now_ms, before_ms;     /* monotonic; 0: not yet taken */
    uint64_t moved, moved_before;   /* jobs that travelled between nodes */
    bool quiet, quiet_before;       /* no node has work, and none is down */
    struct progress_trouble *troubles;
    size_t trouble_count;
};

/* Opens a client for each node's queue. What a node that is down was known to have is still
 * counted; only this one must answer. */
enum status progress_open(struct progress *progress, struct cli *cli, struct reason *why);
void progress_close(struct progress *progress);
enum status progress_take(struct progress *progress, uint32_t timeout_ms, struct reason *why);
/* Hosts in trouble, of all nodes (queue_hosts). */
enum status progress_hosts(const struct progress *progress, bool aside_only,
                           queue_host_visit *visit, void *context, struct reason *why);
/* Buried jobs of all stages and nodes, some thousands of each at most. */
enum status progress_buried(const struct progress *progress, queue_visit *visit, void *context,
                            struct reason *why);
/* Fetches that wait for another try, a few of each node, the next first. */
enum status progress_delayed(const struct progress *progress, queue_visit *visit, void *context,
                             struct reason *why);
/* All hosts that are set aside are tried at once. */
enum status progress_retry_hosts(const struct progress *progress, struct reason *why);
/* True when there is nothing left to do now. With several nodes a job may travel from one not
 * yet asked to one already asked, so two quiet moments without any travel between are needed. */
bool progress_exhausted(const struct progress *progress);
double progress_rate(const struct progress *progress, enum stage stage); /* done per second */
uint64_t progress_waiting(const struct progress *progress, enum stage stage);
/* Seconds until the known work is done at the present rate; -1: cannot be known. */
double progress_left(const struct progress *progress);

/* A line for each node in trouble. */
void progress_print_troubles(const struct progress *progress, FILE *out);
void progress_print_table(const struct progress *progress, FILE *out);
/* index: NULL: it did not answer. directory: whose processes' troubles are told, too. members:
 * more of the object, each after a comma. */
void progress_print_json(const struct progress *progress, const struct index_stats *index,
                         const char *directory, struct slice members, FILE *out);

#endif
