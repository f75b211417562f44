/* Parts of test_queue that have files of their own. Each runs its tests and returns how many
 * failed. */
#ifndef TESTS_UNIT_QUEUE_SUITES_H
#define TESTS_UNIT_QUEUE_SUITES_H

/* The broker beside a model of its rules (queue_model.c). */
int queue_model_run(void);
/* What fetch knows of URIs, beside a model (queue_fetch_model.c). */
int queue_fetch_model_run(void);
/* Stores that fail, and the edges of single rules (queue_faults.c). */
int queue_faults_run(void);
/* Jobs between nodes (queue_nodes.c). */
int queue_nodes_run(void);

#endif
