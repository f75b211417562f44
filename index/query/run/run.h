/* The life of a run, for those who begin one. */
#ifndef INDEX_QUERY_RUN_RUN_H
#define INDEX_QUERY_RUN_RUN_H

#include "index/query/operators/operator.h"

void query_run_init(struct run *run, const struct query *query, const struct quad_source *source,
                    const struct query_options *options);
/* All but the plan, and the row that is as wide as it. */
enum status query_run_prepare(struct run *run, struct reason *why);
void query_run_close(struct run *run);

/* run_help.c: how another thread helps with a run. */
extern const struct run_help run_helping;

#endif
