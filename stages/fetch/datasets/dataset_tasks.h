/* Tasks that are about a host's datasets instead of one document (docs/DATASETS.md).
 *
 *   plan_read.c         which datasets of a host are had by their dumps; no request
 *   plan_decide.c       and what that puts
 *   slice.c             dumps into documents, by a program of its own; no request
 *   dump_fetch.c        the GET of a dump, to a file
 *   endpoint.c          a SPARQL endpoint's triples, to a file
 *
 * Each function here ends its task, sooner or later. */
#ifndef STAGES_FETCH_DATASETS_DATASET_TASKS_H
#define STAGES_FETCH_DATASETS_DATASET_TASKS_H

#include "stages/fetch/task/fetch_task.h"

enum { COVER_AGE_MS = 5000 }; /* what is covered is looked up so often */
void task_plan(struct task *task);
void task_download(struct task *task);
void task_harvest(struct task *task);
void task_slice(struct task *task);

#endif
