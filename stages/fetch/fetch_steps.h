/* The steps of a task of a page or sitemap, from its lease on; docs/ARCHITECTURE.md draws its way.
 *
 *   fetch_stage.c       the program: options, events, flush
 *   visit_begin.c       a visit that is repeated waits for the budget
 *   rules.c             may this URI be fetched? robots.txt from cache, metadata store or the host
 *   page.c              the GET and what its end means: archive, metadata, next stage, retry
 *   refused_sitemaps.c  what an older scope refused of sitemaps; no request
 *   sitemap_fetch.c     a sitemap's entries as new jobs
 *   sitemap_entries.c   what is new in a sitemap
 *
 * A file calls those below it only, and then stages/fetch/datasets/ and stages/fetch/task/. Each
 * function here either goes on to another or ends the task. */
#ifndef STAGES_FETCH_FETCH_STEPS_H
#define STAGES_FETCH_FETCH_STEPS_H

#include "stages/fetch/task/fetch_task.h"

enum { METADATA_RETRY_MS = 1000 };

/* visit_begin.c */
void task_begin(struct task *task);

/* rules.c */
void task_check_rules(struct task *task);

/* page.c */
void task_get(struct task *task);

/* refused_sitemaps.c */
/* The end of a job for the host's sitemaps, whose rules are known. */
void task_put_refused_sitemaps(struct task *task);
/* A job for the entries of a sitemap. */
void task_list_again(struct task *task);

/* sitemap_fetch.c */
/* The end of a task that was answered: queues the entries when the response is a sitemap, which
 * workers find out. */
void task_follow_sitemap(struct task *task, const struct fetch_result *result);
/* Queues the entries of a sitemap whose bytes are out of the archive; coding is that of the job's
 * document. */
void task_list(struct task *task, struct slice coding, struct slice bytes);

#endif
