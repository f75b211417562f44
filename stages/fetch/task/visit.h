/* Recrawling, as far as a task knows of it: what was found at earlier visits of its document, and
 * when the next one is. */
#ifndef STAGES_FETCH_TASK_VISIT_H
#define STAGES_FETCH_TASK_VISIT_H

#include "base/options/opt.h"
#include "crawl/recrawl.h"
#include "stages/fetch/http/fetch_http.h"
#include "stages/skeleton/visit_schedule.h"

struct fetch;
struct task;

/* visit.c changes it, and visit_begin.c takes from the budget. */
struct recrawling {
    bool on, threshold_known;
    struct recrawl_budget budget;
    double first_seconds;
    uint64_t confirm_ms;
};

/* visit.c changes it. Slices are in the job's arena. */
struct task_visit {
    struct document_visit document;     /* goes on with the document */
    bool content_stands;                /* what its state says holds while it is not modified */
    uint64_t visited_ms, gone_since_ms; /* as known before */
    double host_period, frequency_trust;
    bool spared; /* its sitemap says that it has not changed, and is believed: no request */
    struct slice digest, redirect; /* of the earlier answer */
};

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

#endif
