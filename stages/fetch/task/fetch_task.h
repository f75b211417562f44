/* A task of fetch and what every task does: it waits for its turn and asks, archives, puts jobs and
 * records, and ends. For stages/fetch/ and its folders only; docs/ARCHITECTURE.md draws a task's
 * way.
 *
 *   request_turn.c      when the host is asked: one request at a time, rests between them
 *   slow_hosts.c        requests that take longer than usual
 *   host_line.c         jobs that do not wait here for their host go back to the queue
 *   task_archive.c      the exchange in the archive, the answer in the document's record
 *   task_end.c          a task is done, buried, or tried again
 *   sitemap_notes.c     the sitemaps that robots.txt names as jobs; what is noted of sitemaps
 *   queue_shares.c      how fetches are divided between what sitemaps list and what links lead to
 *   visit.c             recrawling: what is known of its changes, the next visit
 *   host_report.c       what requests tell of the host, and how long it rests for that
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

#include "base/map.h"
#include "crawl/recrawl.h"
#include "crawl/scope.h"
#include "crawl/traps.h"
#include "crawl/url_rules.h"
#include "datasets/execution.h"
#include "queue/politeness/host_report.h"
#include "stages/fetch/hosts/fetch_hosts.h"
#include "stages/fetch/hosts/host_delays.h"
#include "stages/fetch/http/fetch_http.h"
#include "stages/fetch/parser/fetch_parser.h"
#include "stages/skeleton/content.h"
#include "stages/skeleton/stage.h"
#include "stages/skeleton/visit_schedule.h"
#include "warc/warc.h"

enum sitemap_score { SCORE_PRIORITY, SCORE_LINK, SCORE_BOTH };

/* Requests under way. */
struct slow {
    struct task *first, *last; /* in order of their start */
    uint64_t usual_ms;         /* of an answer, smoothed, times a constant */
    uint64_t patience_ms;      /* fetch.patience */
    size_t places, aside;      /* fetch_slow_places, and how many are taken */
    bool looking;              /* a look at them is due */
    uint64_t whole_ms;         /* fetch.timeout */
    struct map flows; /* URIs of bodies that flowed until then -> bytes that had come; a few */
};

struct fetch {
    struct stage_run *run;
    struct fetch_http *http;
    struct fetch_parser *parser;
    struct warc_writer *warc;
    struct scope *scope;
    struct url_rules url_rules;
    struct hosts *hosts;
    struct trap_budget *queries; /* of URIs that differ in their query only */
    struct pace_rules pace_rules;
    struct host_delays *host_delays;
    struct slow slow;
    const char *node; /* name in cluster.conf */
    const char *robots_name;
    uint64_t retry_ms;
    unsigned attempts;
    bool robots, sitemaps;
    bool guess;         /* /sitemap.xml is asked for where nobody names one */
    bool obey_location; /* sitemaps speak for their folder only */
    enum sitemap_score score;
    uint64_t sitemap_files;     /* most that a host's indexes and robots.txt have fetched */
    uint64_t submission_budget; /* new URLs of sitemaps of a host a day; 0: all */
    bool signals;               /* reservations in robots.txt are honoured */
    bool recrawl, threshold_known;
    struct recrawl_budget budget;
    double first_seconds;
    uint64_t confirm_ms;
    bool plan, execute;      /* datasets.plan: made; followed */
    const char *prefer;      /* datasets.prefer */
    uint64_t page_resources; /* of SPARQL endpoints */
    bool void_rdf, void_all; /* which hosts are asked for /.well-known/void */
    uint64_t dump_size, wait_ms;
    struct content *content;  /* of descriptions; opened when first needed */
    struct watched **watched; /* by descriptor */
    size_t watched_count;
};

/* A request in that list. */
struct asked {
    struct transfer *transfer;
    uint64_t since_ms; /* monotonic */
    struct task *next, *previous;
    bool aside; /* it holds no place of fetch.window */
    bool alone; /* nobody waits in line behind it */
};

struct task {
    struct fetch *fetch;
    struct stage_job *job;
    struct slice origin;              /* of the URI */
    struct slice url;                 /* the job's URI without fragment: what is asked for */
    bool resource;                    /* fetched for another document: kept, not followed */
    struct slice etag, last_modified; /* of the earlier fetch, on a recrawl; in the job's arena */
    struct buf robots_url;            /* of the robots.txt being fetched, after redirects */
    unsigned robots_hops;
    uint16_t robots_status;       /* of the answer that has the rules */
    struct fetch_request request; /* to be sent, or under way */
    uint64_t asked_host;          /* fingerprint of its origin */
    struct slice truncated;       /* as WARC-Truncated says: why the body is not whole */
    struct host_delays_turn turn; /* in the line of that host */
    bool lined_up;                /* it stood there */
    struct host_report report;    /* of its own host; cause in the job's arena */
    struct asked asked;
    struct slice ip; /* of the host, when asked; in the job's arena */
    /* A copy of what the host's robots.txt says, since the cache may forget it any time. */
    struct slice *sitemaps; /* still to be queued; in the job's arena */
    size_t sitemap_count;
    enum job_outcome counts_as; /* NONE: as its state says */
    unsigned refused;           /* by the scope: enum scope_refused */
    bool mapped;                /* the host has sitemaps */
    bool sitemaps_again;        /* they were queued before, at a greater depth */
    bool guess;                 /* no sitemap is named: the one of them is where one may be */
    /* Recrawling; slices in the job's arena. */
    struct document_visit visit;        /* goes on with the document */
    enum visit_outcome outcome;         /* when no later stage hears of it */
    bool handed_on;                     /* a later stage schedules the next visit */
    bool content_stands;                /* what its state says holds while it is not modified */
    uint64_t visited_ms, gone_since_ms; /* as known before */
    double host_period, frequency_trust;
    bool spared; /* its sitemap says that it has not changed, and is believed: no request */
    struct slice digest, redirect; /* of the earlier answer */
    struct slice authority;        /* dc:publisher; in the job's arena */
    bool readable;                 /* of a sitemap: the node that knows more of it answers */
    bool unverified; /* a stranger named it, and nothing was ever had of it: one try is all */
    bool again;      /* it was had before: what is known of it was read */
    bool describes;  /* and it describes datasets of the host */
    struct download *download;
};

/* visit.c */
void fetch_read_recrawl(struct fetch *fetch, const struct opt_set *options);
/* From the records of host, document and what sitemaps say of it; empty when it is new. */
void task_take_visit(struct task *task, struct slice host, struct slice record,
                     struct slice sighting);
/* Returns whether the document was fetched after this job was scheduled: by another job, which has
 * scheduled the next visit. */
bool task_is_superseded(const struct task *task, struct slice record);
/* Learns from the answer (NULL when there is none) how often the document changes. */
void task_learn(struct task *task, const struct fetch_result *result);
/* The end of every task: the next visit. */
void task_schedule(struct task *task);

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

/* sitemap_notes.c */
#define GUESS_FOUND "found"
/* Tells the host's other jobs what the guess came to: GUESS_FOUND, or why it is none. */
void task_note_guess(struct task *task, const char *outcome);
/* Queues the sitemaps that the host's robots.txt names, unless that was done; a guess only after a
 * good page. */
void task_queue_sitemaps(struct task *task, bool good);
/* Puts a job of a sitemap, or of what one lists. */
void sitemap_put_job(struct task *task, struct slice key, unsigned depth, uint8_t priority,
                     struct slice via, struct slice data, uint8_t flags);
/* The data of a sitemap's job: who names it, and how far below robots.txt. */
void sitemap_encode_naming(struct slice origin, bool guess, uint64_t nesting, struct buf *data);
/* Notes of a sitemap on another host that whoever follows it may take entries of the host that
 * names it. */
void sitemap_note_naming(struct task *task, struct slice sitemap, struct slice origins);
/* A sitemap that was read before has not changed. */
void task_note_reading(struct task *task);
/* Notes when a link led to it, of what links found before any sitemap. */
void task_note_first_link(struct task *task);

/* queue_shares.c */
/* Counts the fetch for the balance of the host's two queues. */
void task_balance(struct task *task);

/* host_report.c */
/* The pace of the task's host, which the queue handed out, and what was told since. Valid until the
 * next host is met. */
struct pace *task_pace(const struct task *task);
/* A request to the task's own origin has ended; rules: it was for robots.txt. */
void task_note_host(struct task *task, const struct fetch_result *result, bool rules);
/* The host's robots.txt could not be had; status: 0 unless it was answered. Where it lies on
 * another host this one rests as if it had failed itself. */
void task_note_no_rules(struct task *task, uint16_t status, bool silent, const char *reason);
/* Notes the Crawl-delay that the host's robots.txt says; less than 1: none. */
void task_note_crawl_delay(struct task *task, int64_t crawl_delay_ms);
/* Returns how long the host rests after this job. */
uint64_t task_delay_ms(const struct task *task);
/* From now on the host of the job rests. */
void task_rest(struct task *task);
/* The rest of a host to which another's robots.txt moved. */
uint64_t fetch_delay_of_other_ms(const struct fetch *fetch, struct slice origin);
/* Tells the queue, once the task will tell no more. */
void task_report_host(struct task *task);

/* host_line.c */
/* Another job is being fetched from the address: back to the queue, which knows from now on with
 * which hosts this one shares it. */
void task_turn_back(struct task *task, uint64_t address);
/* The host fell into trouble while the job stood in line: it does not wait here. */
void task_leave_line(struct task *task, uint64_t wait_ms);
/* Jobs that wait for the host which this one asks go back to the queue. */
void task_clear_line(const struct task *task);

/* request_turn.c */
/* Sends the request when its host has rested; turns the job back when its address is at its limit.
 */
void task_ask(struct task *task, const struct fetch_request *request);
/* First thing when a request has ended. */
void task_note_end(struct task *task, const struct fetch_result *result);

/* slow_hosts.c */
void fetch_slow_open(struct fetch *fetch, const struct opt_set *options);
void fetch_slow_close(struct fetch *fetch);
/* The body flowed until fetch.timeout and had not ended: another attempt is given up sooner when
 * no more comes of it in the same time. */
void task_note_flow(const struct task *task, const struct fetch_result *result);
/* The task's request is sent, and has ended. */
void task_begin_request(struct task *task);
void task_end_request(struct task *task, const struct fetch_result *result);

#endif
