/* Going through a node's documents once more when the scope has changed: docs/SCOPE.md.
 *
 * A sweep is an extract job. Each of its steps reads some records of this node's metadata store
 * and ends with a job for each document whose links, redirect or datasets may have been refused,
 * and with the sweep itself from there on: so it goes on after a crash where it was, and a crawl
 * does not end before it. One thread. */
#ifndef STAGES_EXTRACT_SCOPE_SWEEP_H
#define STAGES_EXTRACT_SCOPE_SWEEP_H

#include "stages/skeleton/stage.h"

struct sweep;

enum status sweep_open(struct sweep **sweep, struct stage_run *run, struct reason *why);
void sweep_close(struct sweep *sweep); /* NULL is allowed */

/* Returns whether the URI is that of a job for fetch which asks for no document: the plan of a
 * host's datasets, or what an older scope refused of sitemaps. It is put again as it is. */
bool sweep_is_errand(struct slice uri);

/* Takes the job and ends it. scope: the version in force; a sweep of an older one is over. */
void sweep_step(struct sweep *sweep, struct stage_job *job, uint64_t scope);

#endif
