/* Parts of the queue's tests that have files of their own. Each runs its tests and returns how many
 * failed. */
#ifndef TESTS_UNIT_QUEUE_QUEUE_SUITES_H
#define TESTS_UNIT_QUEUE_QUEUE_SUITES_H

/* Who has which jobs (queue_leases.c). */
int queue_leases_run(void);
/* Hosts take turns (queue_lanes.c). */
int queue_lanes_run(void);
/* Tests what is known of URIs (queue_seen.c). */
int queue_seen_run(void);
/* The broker beside a model of its rules (queue_model.c). */
int queue_model_run(void);
/* Tests what fetch knows of URIs, beside a model (queue_fetch_model.c). */
int queue_fetch_model_run(void);
/* Stores that fail, and the edges of single rules (queue_faults.c). */
int queue_faults_run(void);
/* Rounds: what is written, who is told, when the daemon wakes (queue_rounds.c). */
int queue_rounds_run(void);
/* Requests as they come in (queue_requests.c). */
int queue_requests_run(void);
/* Jobs between nodes (queue_nodes.c). */
int queue_nodes_run(void);
/* Tests what a node sends to others (queue_peers.c). */
int queue_peers_run(void);
/* The scope changes under a running crawl (queue_scope.c). */
int queue_scope_run(void);
/* Hosts that fail are set aside (queue_troubles.c). */
int queue_troubles_run(void);
/* Which jobs of a lane go out together (queue_bursts.c). */
int queue_bursts_run(void);
/* What is answered, figure by figure (queue_answers.c). */
int queue_answers_run(void);
/* Rare ways through the broker (../queue_parts/broker_corners.c), and what fails on them
 * (../queue_parts/broker_faults.c). */
int broker_corners_run(void);
int broker_faults_run(void);
/* Nodes that are named no more (../queue_parts/strangers.c). */
int strangers_run(void);
/* Berkeley DB, whose calls fail (queue_store.c); of test_queue_parts. */
int queue_store_run(void);
/* Lanes without a broker (lanes_alone.c), lines of cluster.conf (cluster_lines.c), what is given
 * back (freed_tables.c); in ../queue_parts/, of test_queue_parts. */
int lanes_alone_run(void);
int cluster_lines_run(void);
int freed_tables_run(void);
/* What is known of URIs, without a store (../queue_parts/seen_alone.c); of test_queue_parts. */
int seen_alone_run(void);
/* Fields of messages (../queue_parts/message_fields.c); of test_queue_messages. */
int message_fields_run(void);
/* Sequences and paces (../queue_parts/small_tables.c); of test_queue_parts. */
int small_tables_run(void);
/* Ranks number by number (../queue_parts/rank_parts.c); of test_priority. */
int rank_parts_run(void);
/* Runs as they are written (run_writes.c), and their engine (frontier_runs.c); of test_frontier. */
int run_writes_run(void);
int frontier_runs_run(void);
/* Runs that lie (../queue_parts/run_lies.c); of test_frontier. */
int run_lies_run(void);

#endif
