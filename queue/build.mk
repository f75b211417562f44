queue_OBJECTS := queue/options.o queue/job.o queue/outcomes.o queue/message.o queue/store.o \
	queue/store_batch.o queue/ordered.o queue/run_filter.o \
	queue/run_write.o queue/run_read.o queue/merge.o \
	queue/frontier.o queue/frontier_work.o queue/heads.o \
	queue/estimates.o queue/worth.o queue/seen.o queue/lanes.o queue/leases.o queue/troubles.o queue/cluster.o \
	queue/broker_open.o queue/broker.o queue/broker_submit.o queue/broker_put.o queue/broker_complete.o \
	queue/broker_reserve.o queue/broker_scope.o queue/broker_view.o queue/broker_look.o queue/broker_node.o queue/broker_trouble.o \
	queue/daemon.o queue/daemon_scope.o queue/daemon_main.o queue/client.o
PROGRAMS += quadrille-queue
quadrille-queue_OBJECTS := queue/main.o
UNIT_TESTS += tests/unit/test_queue tests/unit/test_queue_daemon
UNIT_TESTS += tests/unit/test_queue_parts tests/unit/test_frontier tests/unit/test_worth
FUZZERS += fuzz_run fuzz_queue_records fuzz_queue_requests
test_queue_PARTS := tests/unit/queue_bursts.o tests/unit/queue_leases.o tests/unit/queue_lanes.o tests/unit/queue_seen.o \
	tests/unit/queue_model.o tests/unit/queue_fetch_model.o tests/unit/queue_faults.o tests/unit/queue_nodes.o \
	tests/unit/queue_peers.o tests/unit/queue_rounds.o tests/unit/queue_requests.o tests/unit/queue_scope.o \
	tests/unit/queue_troubles.o tests/unit/told_frontier.o tests/unit/moved_clock.o
test_queue_WRAPS := clock_monotonic_ms clock_wall_ms frontier_get frontier_scan frontier_scan_within frontier_apply \
	frontier_tick frontier_room frontier_broken
test_queue_parts_PARTS := tests/unit/queue_store.o tests/unit/failing_database.o tests/unit/moved_clock.o
test_queue_parts_WRAPS := clock_monotonic_ms clock_wall_ms db_env_create db_create statvfs flock
test_frontier_PARTS := tests/unit/run_writes.o tests/unit/frontier_runs.o tests/unit/failing_database.o tests/unit/moved_clock.o
test_frontier_WRAPS := clock_monotonic_ms clock_wall_ms db_env_create db_create statvfs flock fsync file_write_all
