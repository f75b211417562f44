queue_OBJECTS := $(addprefix queue/broker/,complete.o disk_room.o explain_uri.o lane_rows.o later.o node_forget.o node_receive.o node_set.o \
	node_transfer.o open.o parked.o put.o reserve.o round.o round_changes.o scope_change.o submit.o trouble.o view.o workers.o)
queue_OBJECTS += $(addprefix queue/client/,job.o message.o outcomes.o queue_client.o)
queue_OBJECTS += $(addprefix queue/cluster/,cluster.o daemon_main.o queue_options.o)
queue_OBJECTS += $(addprefix queue/daemon/,daemon_scope.o metadata_intake.o node_links.o queue_daemon.o)
queue_OBJECTS += $(addprefix queue/frontier/,estimate_table.o upcoming_jobs.o leases.o priority.o seen.o sequences.o)
queue_OBJECTS += $(addprefix queue/politeness/,host_report.o host_troubles.o lane_groups.o lane_marks.o lane_queues.o lanes.o pace.o paces.o)
queue_OBJECTS += $(addprefix queue/storage/,frontier_engine.o frontier_engine_work.o frontier_layers.o run_filter.o run_merge.o \
	run_read.o run_write.o sorted_map.o store.o store_batch.o)
PROGRAMS += quadrille-queue
quadrille-queue_OBJECTS := queue/daemon/queue_main.o
UNIT_TESTS += tests/unit/queue_daemon/test_daemon_steps tests/unit/queue/test_upcoming_jobs tests/unit/queue/test_frontier tests/unit/queue/test_pace tests/unit/queue/test_priority tests/unit/queue/test_queue \
	tests/unit/queue/test_queue_client tests/unit/queue_daemon/test_queue_daemon tests/unit/queue/test_queue_messages tests/unit/queue/test_queue_parts \
	tests/unit/queue/test_queue_tables tests/unit/queue_daemon/test_queue_main
FUZZERS += fuzz_queue_records fuzz_queue_requests fuzz_run
fuzz_queue_requests_ALONE := it stands in for the frontier
test_queue_client_WRAPS := rpc_client_open rpc_client_close rpc_client_post rpc_client_process rpc_client_wait_ms \
	rpc_client_peer_incarnation rpc_call clock_monotonic_ms
test_frontier_PARTS := tests/unit/queue/run_writes.o tests/unit/queue/frontier_runs.o tests/unit/queue_parts/run_lies.o \
	tests/unit/metastore/failing_database.o tests/unit/moved_clock.o
test_frontier_WRAPS := clock_monotonic_ms clock_wall_ms db_env_create db_create statvfs flock fsync file_write_all pread
test_queue_PARTS := tests/unit/queue/queue_bursts.o tests/unit/queue/queue_leases.o tests/unit/queue/queue_lanes.o \
	tests/unit/queue/queue_seen.o tests/unit/queue/queue_model.o tests/unit/queue/queue_fetch_model.o \
	tests/unit/queue/queue_faults.o tests/unit/queue/queue_nodes.o tests/unit/queue/queue_peers.o \
	tests/unit/queue/queue_rounds.o tests/unit/queue/queue_requests.o tests/unit/queue/queue_scope.o \
	tests/unit/queue/queue_troubles.o tests/unit/queue/queue_answers.o tests/unit/queue_parts/broker_corners.o tests/unit/queue_parts/broker_faults.o \
	tests/unit/queue_parts/strangers.o tests/unit/queue/told_frontier.o tests/unit/moved_clock.o
test_queue_WRAPS := clock_monotonic_ms clock_wall_ms frontier_get frontier_scan frontier_scan_within frontier_apply \
	frontier_tick frontier_room frontier_broken
test_queue_messages_PARTS := tests/unit/queue_parts/message_fields.o
test_priority_PARTS := tests/unit/queue_parts/rank_parts.o
test_queue_parts_PARTS := tests/unit/queue/queue_store.o tests/unit/queue_parts/lanes_alone.o tests/unit/queue_parts/cluster_lines.o tests/unit/queue_parts/freed_tables.o tests/unit/queue_parts/seen_alone.o tests/unit/queue_parts/small_tables.o \
	tests/unit/metastore/failing_database.o \
	tests/unit/moved_clock.o
test_queue_parts_WRAPS := clock_monotonic_ms clock_wall_ms db_env_create db_create statvfs flock
test_daemon_steps_PARTS := tests/unit/queue_daemon/daemon_stand_ins.o
test_daemon_steps_WRAPS := clock_monotonic_ms clock_wall_ms rpc_client_open rpc_client_close rpc_client_descriptor \
	rpc_client_process rpc_client_wait_ms rpc_client_post broker_tell_node broker_outgoing broker_delivered broker_scope \
	broker_set_scope broker_metadata_of broker_open broker_close broker_serve_as broker_counters broker_has_room \
	broker_submit broker_work broker_wait_ms metastore_client_open metastore_client_close metastore_descriptors \
	metastore_process metastore_wait_ms metastore_put scope_edition_read scope_file_read scope_told_read scope_told_write \
	scope_change_take rpc_server_open rpc_server_close rpc_server_descriptor rpc_server_incarnation rpc_server_receive \
	rpc_reply rpc_request_drop daemon_tell_ready nanosleep poll sigprocmask signalfd
test_queue_main_PARTS := tests/unit/queue_daemon/daemon_mains.o queue/daemon/queue_main.o
test_queue_main_WRAPS := main queue_daemon_run
test_upcoming_jobs_WRAPS := frontier_scan_within
test_queue_daemon_ALONE := it starts itself anew as the daemon
