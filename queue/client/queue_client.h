/* The queue as its users see it: put, reserve, done, release, bury, touch.
 *
 * All calls are asynchronous and batched; callbacks run inside queue_client_process(), on the
 * caller's thread. Repeating any call is harmless (PROTOCOL.md says why for each).
 * A job obtained by reserve is leased for a minute (LEASE_MS of queue/daemon/queue_main.c); touch
 * renews. When the daemon was restarted the client renews by itself what it still holds.
 */
#ifndef QUEUE_CLIENT_QUEUE_CLIENT_H
#define QUEUE_CLIENT_QUEUE_CLIENT_H

#include "base/rpc/rpc.h"
#include "queue/client/job.h"
#include "queue/client/outcomes.h"

struct queue_client;

struct queue_client_options {
    const char *endpoint;
    const char *name; /* worker name, stable over restarts: "fetch.1"; leases of an older
                         incarnation of the same name are given back at once */
    const struct rpc_keys *keys;
};

enum status queue_client_open(struct queue_client **client,
                              const struct queue_client_options *options, struct reason *why);
void queue_client_close(struct queue_client *client); /* NULL is allowed */
int queue_client_descriptor(struct queue_client *client);
void queue_client_process(struct queue_client *client);
int queue_client_wait_ms(const struct queue_client *client);

/* Jobs live (bytes included) until the callback returns: copy. n may be 0: nothing due; the
 * daemon holds the request up to wait_ms until something is. */
typedef void queue_reserved(void *context, enum status status, const struct job *jobs, size_t n,
                            const struct reason *why);
/* lane: only for index (its partition), else 0. */
void queue_reserve(struct queue_client *client, enum stage stage, uint64_t lane, uint32_t most,
                   uint32_t wait_ms, queue_reserved *done, void *context);

/* Returns the version of the scope that was in force when jobs were last reserved; 0 when there was
 * none. */
uint64_t queue_client_scope(const struct queue_client *client);

/* Tells how one reserved job ended. */
enum verdict { VERDICT_DONE, VERDICT_RELEASE, VERDICT_BURY };
struct completion {
    struct job_key key;
    enum verdict verdict;
    struct slice reason;     /* RELEASE, BURY: text for people */
    struct slice reproducer; /* BURY: a shell command */
    uint64_t delay_ms;       /* RELEASE: not before; does not count as an attempt if no_attempt */
    bool no_attempt;
    struct slice report; /* fetch: of the host (queue/politeness/host_report.h); empty: nothing */
    uint8_t share;       /* fetch: of 256 jobs of the lane so many are sitemaps'; 0: as it was */
    enum job_outcome outcome; /* DONE: what it is counted as */
    uint64_t scope; /* fetch, extract: version of the scope by which the outputs were filtered */
    const struct job *outputs; /* jobs for later stages, if DONE, and metadata of other nodes;
                                  key.stage and key.lane set by caller */
    size_t output_count;
};
typedef void queue_completed(void *context, enum status status, const struct reason *why);
/* One transaction for the whole batch: all jobs end and all outputs are queued, or none. */
void queue_complete(struct queue_client *client, const struct completion *completions, size_t n,
                    queue_completed *done, void *context);

/* Seeds and additions. FULL when intake is stopped (disk or configured limit). */
void queue_put(struct queue_client *client, const struct job *jobs, size_t n, queue_completed *done,
               void *context);

/* Renewal runs by itself every third of a lease for all jobs reserved and not yet completed. */

/* ---- for people: the command line ---- */

struct queue_stage_stats {
    uint64_t ready, leased, delayed, scheduled,
        buried;                         /* delayed: retry soon; scheduled: recrawl */
    uint64_t outbox;                    /* waiting for other nodes */
    uint64_t put, done, released, dead; /* totals since init */
    uint64_t oldest_ms;                 /* age of the oldest ready job */
    uint64_t aside;                     /* fetch: would be ready, but the host is set aside */
    bool throttled;                     /* reserve held back: downstream full */
};
struct queue_stats {
    struct queue_stage_stats stages[STAGE_COUNT];
    uint64_t seen;              /* URIs ever put */
    uint64_t lanes, lanes_busy; /* in memory */
    uint64_t workers;
    uint64_t sent, received; /* jobs moved between nodes */
    uint64_t incarnation, disk_free;
    uint64_t hosts_aside, hosts_failing; /* queue_hosts tells which, and why */
    uint64_t network_ms;                 /* wall time at which any host answered last; 0: never */
    uint64_t outcomes[OUTCOME_COUNT];    /* jobs that ended, since init */
    bool intake_stopped;
    bool cut_off; /* many hosts, and no other, are silent since network_ms: it may be our network */
};
/* The following block until answered or timeout_ms. */
enum status queue_stats_get(struct queue_client *client, struct queue_stats *stats,
                            uint32_t timeout_ms, struct reason *why);
typedef bool queue_visit(void *context, const struct job *job, struct slice state,
                         struct slice reason, struct slice reproducer);
/* A host in trouble. Slices live until the callback returns. */
struct queue_host {
    struct slice origin, cause;
    bool aside;           /* set aside; else it is still tried like others */
    bool silent, doubted; /* nobody answered; and this may be our own network's fault */
    bool counted;         /* jobs are all that wait for it; else there are more, still uncounted */
    uint64_t jobs;        /* set aside */
    uint64_t failures;    /* in a row */
    uint64_t probes;      /* that failed since it is set aside */
    uint64_t since_ms, last_ms; /* wall time: the first and the last failure */
    uint64_t aside_ms;          /* set aside since; 0: it never was */
    uint64_t next_ms;           /* it is asked again, at the soonest */
    uint64_t lane;
};
typedef bool queue_host_visit(void *context, const struct queue_host *host);
/* Hosts in trouble of this queue's node, in no order that means something; origin: only that one,
 * empty: all; aside_only: those set aside. visit returns false to stop. */
enum status queue_hosts(struct queue_client *client, struct slice origin, bool aside_only,
                        queue_host_visit *visit, void *context, struct reason *why);
/* Hosts that are set aside are tried at once: that of the URI; empty: all. *jobs, if not NULL, gets
 * how many wait for them. */
enum status queue_retry(struct queue_client *client, struct slice uri, uint64_t *hosts,
                        uint64_t *jobs, struct reason *why);
/* state: "ready", "aside", "delayed", "scheduled", "buried", "outbox", "jobs" (ready or leased).
 * visit returns false to stop. */
enum status queue_peek(struct queue_client *client, enum stage stage, const char *state,
                       uint32_t most, queue_visit *visit, void *context, struct reason *why);
/* Tells where a URI stands in the frontier and why: numbers only, in the order of the message
 * (PROTOCOL.md, LOOK). */
struct queue_explanation {
    uint64_t node; /* that has its host, in cluster.conf, from 1 on; 0: this one. Then no more */
    /* what is known of the URI */
    uint64_t known, fetched, waiting, scheduled; /* 0 or 1 */
    uint64_t depth, generation;
    uint64_t linking; /* about how many other registrable domains link to it */
    /* its job, if it is in its lane */
    uint64_t found, leased; /* 0 or 1 */
    uint64_t rank, priority;
    uint64_t ahead;  /* jobs of its class that go before it */
    uint64_t behind; /* 1: it was not found among so many jobs of the lane, and they are not all */
    /* what priority_rank makes of it, in thousandths of a rank; signed, two's complement */
    uint64_t depth_cost, links_gain, yield_gain, weight;
    /* doublings of new quads per fetch, in thousandths; of how many fetches */
    uint64_t mean_all, mean_host, mean_pattern, fetches_host, fetches_pattern;
    /* its lane */
    uint64_t lane_state; /* enum lane_place */
    uint64_t due_ms, jobs_out, eased, listed, share, group;
    uint64_t speed, poor;
    /* the pace of its host (queue/politeness/pace.h); quiet_until_ms: wall time, 0: none */
    uint64_t response_ms, crawl_delay_ms, troubles, failures, address_troubles, quiet_until_ms;
    /* the registrable domain: fetches of late, in thousandths */
    uint64_t level, budget, period_ms;
};
enum status queue_explanation(struct queue_client *client, struct slice uri,
                              struct queue_explanation *look, struct reason *why);
/* Another node as this queue sees it. Slices live until the callback returns. */
struct queue_node {
    struct slice name, trouble; /* trouble: why it takes nothing although it answers; empty: none */
    bool down;                  /* it does not answer */
    bool unknown;               /* cluster.conf does not name it any more, and jobs wait for it */
    uint64_t since_ms;          /* wall time; down: when it last answered */
    uint64_t jobs;              /* that wait for it, and updates of metadata */
};
typedef void queue_node_visit(void *context, const struct queue_node *node);
/* All nodes but this one. */
enum status queue_nodes(struct queue_client *client, queue_node_visit *visit, void *context,
                        uint32_t timeout_ms, struct reason *why);
/* Gives what waits for a node that cluster.conf does not name any more to whoever has its part now.
 * NOT_FOUND: nothing waits for such a node; MISUSE: cluster.conf names it. */
enum status queue_forget(struct queue_client *client, struct slice name, uint64_t *moved,
                         uint64_t *dropped, struct reason *why);
/* Buried jobs of a stage back to ready; uri empty: all. *kicked gets how many. */
enum status queue_kick(struct queue_client *client, enum stage stage, struct slice uri,
                       uint64_t *kicked, struct reason *why);

#endif
