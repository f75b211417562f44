/* How a task asks its host, and what it tells the queue of that:
 *
 *   request_turn.c      when the host is asked: one request at a time, rests between them
 *   slow_hosts.c        requests that take longer than usual
 *   host_line.c         jobs that do not wait here for their host go back to the queue
 *   host_report.c       what requests tell of the host, and how long it rests for that */
#ifndef STAGES_FETCH_TASK_ASKING_H
#define STAGES_FETCH_TASK_ASKING_H

#include "base/map.h"
#include "base/options/opt.h"
#include "queue/politeness/pace.h"
#include "stages/fetch/hosts/host_delays.h"
#include "stages/fetch/http/fetch_http.h"

struct fetch;
struct task;

/* ---- request_turn.c ---- */

/* request_turn.c changes it. */
struct asking {
    struct fetch_request request; /* to be sent, or under way */
    uint64_t host;                /* fingerprint of its origin */
    struct host_delays_turn turn; /* in the line of that host */
    bool lined_up;                /* it stood there */
    struct slice ip;              /* of the task's host, when asked; in the job's arena */
};

/* Sends the request when its host has rested; turns the job back when its address is at its limit.
 */
void task_ask(struct task *task, const struct fetch_request *request);
/* First thing when a request has ended. */
void task_note_end(struct task *task, const struct fetch_result *result);

/* ---- slow_hosts.c ---- */

/* Requests under way. slow_hosts.c changes it. */
struct slow {
    struct task *first, *last; /* in order of their start */
    uint64_t usual_ms;         /* of an answer, smoothed, times a constant */
    uint64_t patience_ms;      /* fetch.patience */
    size_t places, aside;      /* fetch_slow_places, and how many are taken */
    bool looking;              /* a look at them is due */
    uint64_t whole_ms;         /* fetch.timeout */
    struct map flows; /* URIs of bodies that flowed until then -> bytes that had come; a few */
};

/* A request in that list. slow_hosts.c changes it. */
struct asked {
    struct transfer *transfer;
    uint64_t since_ms; /* monotonic */
    struct task *next, *previous;
    bool aside; /* it holds no place of fetch.window */
    bool alone; /* who waited in line behind it was sent away, once */
};

void fetch_slow_open(struct fetch *fetch, const struct opt_set *options);
void fetch_slow_close(struct fetch *fetch);
/* The body flowed until fetch.timeout and had not ended: another attempt is given up sooner when
 * no more comes of it in the same time. */
void task_note_flow(const struct task *task, const struct fetch_result *result);
/* The task's request is sent, and has ended. */
void task_begin_request(struct task *task);
void task_end_request(struct task *task, const struct fetch_result *result);

/* ---- host_line.c ---- */

/* Another job is being fetched from the address: back to the queue, which knows from now on with
 * which hosts this one shares it. */
void task_turn_back(struct task *task, uint64_t address);
/* The host fell into trouble while the job stood in line: it does not wait here. */
void task_leave_line(struct task *task, uint64_t wait_ms);
/* Jobs that wait for the host which this one asks go back to the queue. */
void task_clear_line(const struct task *task);

/* ---- host_report.c: task->report, but for its rest, which may be longer by what ends a task ----
 */

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

#endif
