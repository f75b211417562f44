/* A task of fetch and what every task does: it waits for its turn and asks, archives, puts jobs and
 * records, and ends. For stages/fetch/ and its folders only; docs/ARCHITECTURE.md draws a task's
 * way.
 *
 *   asking.h            when and how its host is asked; what that tells of it
 *   task_archive.c      the exchange in the archive, the answer in the document's record
 *   task_end.c          a task is done, buried, or tried again
 *   sitemap_notes.h     the host's sitemaps
 *   visit.h             recrawling: what is known of its changes, the next visit
 *   task_jobs.c         jobs and records that a task puts for its host
 *   task_output.c       what a task puts
 *   task_kind.c         what a job is for
 *   download.c          the file of a dump that is being fetched
 *
 * A file calls those below it only. What comes back to a task does so by the `done` of its request.
 *
 * A task ends in exactly one of task_done, task_retry, stage_release or stage_bury, after which it
 * is freed by task_free. */
#ifndef STAGES_FETCH_TASK_FETCH_TASK_H
#define STAGES_FETCH_TASK_FETCH_TASK_H

#include "crawl/scope.h"
#include "crawl/traps.h"
#include "crawl/url_rules.h"
#include "datasets/execution.h"
#include "queue/politeness/host_report.h"
#include "stages/fetch/hosts/fetch_hosts.h"
#include "stages/fetch/parser/fetch_parser.h"
#include "stages/fetch/task/asking.h"
#include "stages/fetch/task/sitemap_notes.h"
#include "stages/fetch/task/visit.h"
#include "stages/skeleton/content.h"
#include "stages/skeleton/stage.h"
#include "warc/warc.h"

/* The process. */
struct fetch {
    /* What options say, and tables that have functions of their own. */
    struct stage_run *run;
    struct fetch_http *http;
    struct fetch_parser *parser;
    struct warc_writer *warc;
    struct scope *scope;
    struct url_rules url_rules;
    struct hosts *hosts;
    struct trap_budget *queries; /* of URIs that differ in their query only */
    struct host_delays *host_delays;
    struct pace_rules pace_rules;
    const char *node; /* name in cluster.conf */
    uint64_t retry_ms;
    unsigned attempts;
    struct robots_settings {
        bool obeyed;
        bool signals; /* reservations in robots.txt are honoured */
        const char *name;
    } robots;
    struct sitemap_settings sitemaps;
    struct dataset_settings {
        bool plan, execute;      /* datasets.plan: made; followed */
        const char *prefer;      /* datasets.prefer */
        uint64_t page_resources; /* of SPARQL endpoints */
        bool void_rdf, void_all; /* which hosts are asked for /.well-known/void */
        uint64_t dump_size, wait_ms;
    } datasets;

    struct recrawling recrawl;
    struct slow slow;
    struct content *content;  /* of descriptions: task_open_content */
    struct watched_sockets {  /* of fetch_stage.c */
        struct watched **all; /* by descriptor */
        size_t count;
    } watched;
};

/* One job. */
struct task {
    /* Set when it begins. */
    struct fetch *fetch;
    struct stage_job *job;
    struct slice origin; /* of the URI */
    struct slice url;    /* the job's URI without fragment: what is asked for */
    bool resource;       /* fetched for another document: kept, not followed */
    bool unverified;     /* a stranger named it, and nothing was ever had of it: one try is all */

    struct asking asking;
    struct asked asked;
    struct host_report report; /* of its own host; cause in the job's arena */
    struct task_visit visit;
    struct named_sitemaps sitemaps;
    struct robots_question { /* of rules.c */
        struct buf url;      /* of the robots.txt being fetched, after redirects */
        unsigned hops;
        uint16_t status; /* of the answer that has the rules */
        bool readable;   /* of a sitemap: the node that knows more of it answers */
    } robots;
    struct known_before { /* what the document's record says; of rules.c, in the job's arena */
        bool known;
        bool describes;                   /* it describes datasets of the host */
        struct slice etag, last_modified; /* of the earlier fetch, on a recrawl */
    } before;
    struct download *download; /* of datasets/dump_fetch.c */

    /* What it ends with, set by the step that finds it out. */
    struct task_end {
        struct slice truncated;     /* as WARC-Truncated says: why the body is not whole */
        struct slice authority;     /* dc:publisher; in the job's arena */
        enum job_outcome counts_as; /* NONE: as its state says */
        unsigned refused;           /* by the scope: enum scope_refused */
        enum visit_outcome visit;   /* what it came to, when no later stage hears of it */
        bool handed_on;             /* a later stage schedules the next visit */
    } end;
};

/* task_end.c */
/* Ends the job with a state; queues the host's sitemaps with it. */
void task_done(struct task *task, const char *state, const char *reason);
/* Another attempt later, or, when there were enough, the state "failed". */
void task_retry(struct task *task, uint64_t least_delay_ms, const char *reason);
void task_bury(struct task *task, const char *reason);
/* No document could be had of the host: the job waits for the host (docs/POLITENESS.md, "Hosts that
 * fail"), but what another document needs is tried so often and no more. */
void task_wait_for_host(struct task *task, const char *reason);
/* Notes what came of an attempt, for people. */
void task_note_attempt(struct task *task, const char *outcome);
void task_free(struct task *task);

/* task_archive.c */
/* Writes the exchange to the archive; on failure the job has been released: the task is over. */
bool task_archive(struct task *task, struct slice url, const struct fetch_result *result,
                  struct slice truncated, struct warc_location *location);
/* The response as archived and noted; false when the task is over. */
bool task_keep_response(struct task *task, const struct fetch_result *result,
                        struct warc_location *location);
/* Puts that the document is no more what it was: its graph is emptied. */
void task_remove_graph(struct task *task, const struct fetch_result *result);
/* Returns what a sitemap's bytes say of its change: sitemaps are read here, and change with their
 * bytes. */
enum visit_outcome task_change_of_bytes(const struct task *task, const struct fetch_result *result);
/* Opens fetch->content. False: it cannot be, and the task is over. */
bool task_open_content(struct task *task);

/* task_kind.c */
/* The purposes of jobs, told by the fragments of their URIs. */
enum task_kind { TASK_PAGE, TASK_PLAN, TASK_DUMP, TASK_SLICE, TASK_SITEMAPS, TASK_LISTING };
enum task_kind task_kind(struct slice uri);
/* The same, told by the types of the records that jobs carry. */
#define SITEMAP_TYPE "sitemap"
#define GUESS_TYPE "sitemap?"
#define SAMPLE_TYPE "sample"
/* Returns whether the job is that of a sitemap which robots.txt or an index named, or of a guess.
 */
bool task_is_sitemap(const struct task *task);
/* Returns whether it is only where a sitemap may be (fetch.sitemaps). */
bool task_is_guess(const struct task *task);
bool task_is_sample(const struct task *task);
/* Returns whether the job is that of the host's /.well-known/void, or what it redirects to. */
bool task_is_void(const struct task *task);
/* Returns whether robots.txt of the task's host, as far as it is known, allows it. */
bool task_may_ask(const struct task *task, struct slice url);

/* task_output.c */
/* A job of this host that asks no other document; priority as docs/DATASETS.md says. */
void task_output(struct task *task, struct slice uri, uint8_t priority, uint8_t flags,
                 struct slice data);
/* Puts a job that does again what was done before, and is told why. type, about: the type
 * and content type of its document record. */
void task_put(struct task *task, struct slice uri, uint8_t priority, struct slice type,
              struct slice about);
/* Puts a job that is done for the first time. */
void task_put_first(struct task *task, struct slice uri, uint8_t priority, struct slice type,
                    struct slice about);
/* Notes that the scope refused something that the document led to: it is considered again when the
 * scope has changed. */
void task_note_refused(struct task *task, enum scope_refused what);

/* task_jobs.c */
void task_put_sample(struct task *task, struct slice uri, uint8_t flags);
/* Notes that the task's sitemap speaks of datasets, and has the host's plan made. */
void task_describe(struct task *task);
/* Queues the host's /.well-known/void, once. */
void task_ask_void(struct task *task);
/* For the record of a host. */
void task_put_host(struct task *task, struct slice origin, const struct meta_update *update);
/* Has the host's plan made. */
void task_put_plan(struct task *task);

#endif
