index_OBJECTS := $(addprefix index/changes/,change_log.o change_position.o)
index_OBJECTS += $(addprefix index/client/,client_changes.o client_graph.o client_identity.o client_lookup.o \
	client_maintenance.o client_statistics.o client_update.o import_client.o index_client.o)
index_OBJECTS += $(addprefix index/client/federation/,federation.o federation_counts.o federation_keys.o \
	federation_repeated.o federation_repeated_cache.o federation_scan.o federation_search.o federation_share.o \
	federation_stream.o federation_terms.o federation_totals.o federation_values.o federation_values_cache.o)
index_OBJECTS += $(addprefix index/client/partitions/,client_calls.o client_links.o client_stream.o)
index_OBJECTS += $(addprefix index/maintenance/,backup.o backup_files.o compact.o statistics_check.o verify.o \
	verify_rolling.o)
index_OBJECTS += $(addprefix index/protocol/,service_protocol.o share_request.o)
index_OBJECTS += $(addprefix index/quads/,change_set.o documents.o memtable.o quads.o quads_build.o quads_divide.o quads_merge.o \
	quads_scan.o recent_blocks.o rows.o snapshot.o)
index_OBJECTS += $(addprefix index/read/,answer_cache.o dump.o links.o links_default.o partition_counts.o provenance.o \
	provenance_many.o provenance_records.o provenance_terms.o quad_text.o query_answer.o)
index_OBJECTS += $(addprefix index/serve/,answer_keys.o answer_lookup.o answer_rows.o answer_share.o answer_triples.o answer_values.o answers.o change_lines.o cursor.o \
	index_options.o index_service.o publisher.o row_names.o sessions.o turns.o work_pool.o)
index_OBJECTS += $(addprefix index/sort/,checked_sort.o key_sort.o oid_sort.o)
index_OBJECTS += $(addprefix index/statistics/,census.o characteristic_sets.o node_lists.o predicate_sets.o statistics.o \
	triple_counts.o)
index_OBJECTS += $(addprefix index/terms/,block_packing.o change_marks.o lexicon.o node_block.o node_cache.o nodes.o oid.o \
	term_blocks.o term_cache.o term_digests.o term_set.o terms_write.o)
index_OBJECTS += $(addprefix index/trees/,environment.o environment_build.o environment_copy.o environment_io.o \
	fences.o latch.o)
index_OBJECTS += $(addprefix index/words/,literal_words.o literals.o literals_state.o posting_blocks.o posting_build.o posting_check.o posting_lists.o \
	posting_memtable.o posting_runs.o posting_write.o search.o search_words.o tokenizer.o word_query.o)
index_OBJECTS += $(addprefix index/write/,batch_commit.o batch_gather.o batch_stage.o gathering.o graph_differences.o \
	graph_transaction.o keeper.o packed_quads.o partition.o partition_keys.o partition_needs.o partition_whole.o \
	partition_reader.o partition_state.o patch.o staging.o \
	staging_merge.o)
PROGRAMS += quadrille-index
quadrille-index_OBJECTS := stages/index/index_stage.o
UNIT_TESTS += tests/unit/index/test_backup_stream tests/unit/index/test_index_changes \
	tests/unit/index/test_index_blocks tests/unit/index/test_index_faults tests/unit/index/test_index_gathering \
	tests/unit/index/test_index_kill tests/unit/index/test_index_maintenance tests/unit/index/test_index_mixed \
	tests/unit/index/test_index_partition tests/unit/index/test_index_quads tests/unit/index/test_index_rows \
	tests/unit/index/test_index_staging tests/unit/index/test_index_statistics tests/unit/index/test_index_verify \
	tests/unit/index_trees/test_trees tests/unit/index_trees/test_waiting_rows tests/unit/index/test_node_lists \
	tests/unit/index/test_patch tests/unit/index/test_triple_counts tests/unit/index_service/test_answer_cache \
	tests/unit/index_service/test_change_stream tests/unit/federation/test_federation_counts \
	tests/unit/index_answers/test_answer_share tests/unit/index_answers/test_change_lines \
	tests/unit/index_answers/test_publisher tests/unit/index_answers/test_answers \
	tests/unit/index_answers/test_service_loop tests/unit/index_answers/test_service_room \
	tests/unit/index_answers/test_work_pool tests/unit/index_answers/test_protocol \
	tests/unit/index_answers/test_sessions tests/unit/index_answers/test_cursor_window \
	tests/unit/index_answers/test_answer_triples tests/unit/index_service/test_cursor \
	tests/unit/federation/test_federation_estimates tests/unit/federation/test_federation_waits \
	tests/unit/index_service/test_parted_joins tests/unit/index_service/test_follower \
	tests/unit/index_service/test_import_client tests/unit/index_service/test_index_counts \
	tests/unit/index_service/test_index_requests tests/unit/index_service/test_index_service \
	tests/unit/index_service/test_index_update tests/unit/index_service/test_merged_streams \
	tests/unit/index/test_partition_keys tests/unit/federation/test_federation_keys \
	tests/unit/index_service/test_provenance tests/unit/index_service/test_share \
	tests/unit/index_service/test_stream_reader tests/unit/index_service/test_turns \
	tests/unit/index_terms/test_checked_sort tests/unit/index_terms/test_index_nodes \
	tests/unit/index_terms/test_index_oid tests/unit/index_terms/test_lexicon tests/unit/index_terms/test_node_cache \
	tests/unit/federation/test_federation_values tests/unit/index_terms/test_term_digests \
	tests/unit/index_terms/test_term_blocks tests/unit/index_terms/test_term_cache tests/unit/index_terms/test_tokens \
	tests/unit/index_terms/test_word_trees tests/unit/index_terms/test_words \
	tests/unit/index_provenance/test_provenance_source tests/unit/index_terms/test_search_words \
	tests/unit/index_terms/test_word_runs tests/unit/index_answers/test_row_names \
	tests/unit/index_client/test_positions tests/unit/index_client/test_client_calls \
	tests/unit/index_client/test_client_whole tests/unit/index_client/test_client_queries
FUZZERS += fuzz_index_blocks fuzz_index_requests fuzz_words
fuzz_index_requests_ALONE := it turns leak detection off
test_backup_stream_WRAPS := file_write_all fsync close
test_index_changes_PARTS := tests/unit/index/index_change_log.o tests/unit/index/index_change_damage.o
test_index_nodes_WRAPS := term_cache_put node_cache_put
test_index_changes_WRAPS := clock_wall_ms tree_get tree_put tree_cursor_open tree_cursor_move tree_cursor_delete \
	latch_enter_writing latch_leave
test_index_partition_PARTS := tests/unit/index/index_steps.o tests/unit/index/index_outcomes.o \
	tests/unit/moved_clock.o
test_index_partition_WRAPS := documents_get documents_put lexicon_assign lexicon_find_all lexicon_find quads_apply \
	change_log_append differences_add statistics_apply transaction_begin snapshots_publish fence_seek clock_wall_ms \
	clock_monotonic_ms
test_search_words_PARTS := tests/unit/index_terms/words_world.o
test_word_runs_PARTS := tests/unit/index_terms/words_world.o
test_words_PARTS := $(addprefix tests/unit/index_terms/,words_world.o words_tokens.o words_model.o words_crashes.o)
test_word_trees_PARTS := $(addprefix tests/unit/index_terms/,words_world.o word_layers.o word_prefixes.o)
test_word_trees_WRAPS := fence_seek fence_next fence_emit fence_finish tree_get tree_put tree_build_begin tree_build_add \
	transaction_begin transaction_commit_unsynced
test_index_service_PARTS := $(addprefix tests/unit/index_service/,lookup_checks.o service_world.o service_shares.o service_links.o \
	service_readers.o)
test_index_service_WRAPS := cursor_write cursor_write_last
test_index_staging_WRAPS := poll
test_trees_PARTS := tests/unit/index_trees/trees_files.o tests/unit/index_trees/trees_blocks.o
test_triple_counts_PARTS := tests/unit/index_parts/kept_triple_counts.o
test_index_rows_PARTS := tests/unit/index/row_blocks.o
test_stream_reader_PARTS := tests/unit/index_answers/told_links.o
test_stream_reader_WRAPS := stream_pass_on rpc_client_post clock_monotonic_ms poll
told_streams_WRAPS := stream_start stream_take stream_close rpc_client_post
test_federation_counts_PARTS := tests/unit/federation/told_streams.o
test_federation_counts_WRAPS := $(told_streams_WRAPS)
test_parted_joins_PARTS := tests/unit/index_service/served_partitions.o
test_federation_estimates_WRAPS := rpc_client_post client_wait
test_federation_values_PARTS := tests/unit/federation/told_streams.o tests/unit/federation/kept_counts.o
test_federation_values_WRAPS := $(told_streams_WRAPS)
test_federation_waits_PARTS := tests/unit/federation/told_streams.o
test_federation_waits_WRAPS := $(told_streams_WRAPS) client_wait federation_put_shared clock_monotonic_ms
test_federation_keys_PARTS := tests/unit/federation/told_streams.o tests/unit/federation/told_rows.o
test_federation_keys_WRAPS := $(told_streams_WRAPS)
test_merged_streams_PARTS := tests/unit/index_answers/told_lookups.o
test_merged_streams_WRAPS := stream_start client_next_bytes stream_close stream_pass_on rpc_call
test_client_queries_WRAPS := clock_monotonic_ms getrandom rpc_client_open rpc_client_close rpc_client_outstanding client_wait \
	client_links_cancel federation_new federation_free federation_source answer_query stream_pass_on
test_client_whole_WRAPS := stream_pass_on index_pattern client_change federation_new federation_free federation_source \
	provenance_new provenance_free provenance_source identity_new identity_free identity_find identity_write index_update
test_client_calls_WRAPS := rpc_client_descriptor rpc_client_wait_ms rpc_client_process client_links_post clock_monotonic_ms poll
test_positions_WRAPS := rpc_client_post client_wait
test_change_stream_PARTS := tests/unit/index_service/told_changes.o
test_change_stream_WRAPS := stream_start stream_next stream_close rpc_client_post client_wait poll
test_share_PARTS := tests/unit/index_service/federation_searches.o
test_share_WRAPS := stream_start stream_next stream_close client_miss
test_index_update_PARTS := tests/unit/index_service/served_partitions.o
test_index_update_WRAPS := rpc_call
test_index_counts_PARTS := tests/unit/index_service/served_partitions.o
test_index_counts_WRAPS := stream_pass_on
test_import_client_PARTS := tests/unit/index_service/served_partitions.o
test_import_client_WRAPS := rpc_client_post
test_index_requests_PARTS := tests/unit/index_service/served_partitions.o tests/unit/moved_clock.o
test_index_requests_WRAPS := clock_monotonic_ms clock_wall_ms
test_answer_share_WRAPS := cursor_write cursor_write_last query_prepare query_free share_run dictionary_term dictionary_trim
test_service_loop_PARTS := $(addprefix tests/unit/index_answers/,told_service.o told_parts.o)
test_service_loop_WRAPS := clock_monotonic_ms eventfd read write file_close pthread_create pthread_join poll turns_new turns_free \
	threads_new threads_free sessions_new sessions_free sessions_end sessions_tend patch_queue_new patch_queue_free \
	patch_queue_add patch_queue_take work_pool_start work_pool_stop work_pool_add work_pool_take work_free \
	publisher_start publisher_wake publisher_stop answer_cache_new answer_cache_free answer_cache_find \
	answer_cache_put partition_stats partition_position partition_version partition_marks partition_announce_to \
	answer_new answer_free answer_is_query answer_is_maintenance answer_client answer_needs cursor_open cursor_close \
	cursor_cancel cursor_ended cursor_id cursor_read rpc_server_open rpc_server_close rpc_server_descriptor \
	rpc_server_receive rpc_reply rpc_request_drop
test_service_room_PARTS := $(test_service_loop_PARTS)
test_service_room_WRAPS := $(test_service_loop_WRAPS)
test_sessions_WRAPS := clock_monotonic_ms partition_reader_open partition_reader_share partition_reader_close cursor_step \
	cursor_cancelled cursor_write partition_keys_read
told_locks_WRAPS := pthread_mutex_init pthread_mutex_destroy pthread_mutex_lock pthread_mutex_unlock pthread_cond_init \
	pthread_cond_destroy pthread_cond_signal pthread_cond_broadcast
test_row_names_WRAPS := cursor_write cursor_write_last
test_answer_triples_WRAPS := cursor_write cursor_step cursor_cancelled cursor_memory partition_reader_source \
	partition_reader_version partition_reader_digest answer_values answer_triples_of_values
test_cursor_window_PARTS := tests/unit/index_answers/told_locks.o
test_cursor_window_WRAPS := $(told_locks_WRAPS) pthread_cond_wait threads_start threads_join write turn_open turn_close turn_take \
	turn_give turn_step turns_wake
test_work_pool_PARTS := tests/unit/index_answers/told_locks.o
test_work_pool_WRAPS := $(told_locks_WRAPS) pthread_create pthread_join pthread_cond_wait clock_monotonic_ms write rpc_request_drop \
	partition_reader_open partition_reader_close partition_reader_renew partition_reader_source answer_pattern \
	links_run_new links_run_free links_of
test_answers_PARTS := tests/unit/index_answers/told_answers.o
test_answers_WRAPS := cursor_write cursor_write_last cursor_memory cursor_cancelled cursor_turn cursor_threads turn_may_lend \
	turn_is_wanted turn_lend turn_lent_back turn_cpu_us threads_start threads_join partition_reader_open \
	partition_reader_share partition_reader_close partition_reader_source sessions_reader answer_query answer_share \
	partition_keys_set answer_pattern quad_lines partition_dump partition_last_change partition_backup \
	partition_counts partition_verify partition_compact partition_changes answer_rows answer_triples answer_keys \
	answer_find answer_describe
test_change_lines_WRAPS := change_reader_open change_reader_open_at change_reader_close change_reader_batch \
	change_reader_block change_log_state change_log_after lexicon_nodes nodes_reader_new nodes_reader_free nodes_resolve \
	lexicon_find tree_latch latch_enter_reading latch_leave documents_get
test_provenance_source_PARTS := $(addprefix tests/unit/index_provenance/,told_records.o provenance_bed.o provenance_calls.o \
	provenance_store.o)
test_provenance_source_WRAPS := metastore_client_open metastore_client_close metastore_get metastore_scan metastore_wait \
	meta_quads clock_monotonic_ms
test_publisher_WRAPS := rpc_publisher_open rpc_publisher_close rpc_publisher_descriptor rpc_publisher_wanted rpc_publish \
	partition_position partition_changes pthread_create pthread_join eventfd file_close
test_cursor_PARTS := tests/unit/index_answers/direct_answers.o tests/unit/index_answers/direct_lookups.o
test_turns_PARTS := tests/unit/moved_clock.o
test_turns_WRAPS := clock_monotonic_ms clock_wall_ms
test_follower_PARTS := tests/unit/index_service/served_partitions.o
test_follower_WRAPS := stream_next
test_index_maintenance_WRAPS := environment_checkpoint
UNIT_TESTS += tests/unit/index_parts/test_index_parts tests/unit/index_parts/test_index_tables \
	tests/unit/index_parts/test_tree_calls tests/unit/index_maintenance/test_verify_steps \
	tests/unit/index_maintenance/test_maintenance_steps tests/unit/index_maintenance/test_verify_rolling \
	tests/unit/index_parts/test_read_steps tests/unit/index_parts/test_quads_steps \
	tests/unit/index_parts/test_snapshots tests/unit/index_parts/test_quads_writes \
	tests/unit/index_write/test_batches tests/unit/index_write/test_gathered_changes tests/unit/index_write/test_keeper \
	tests/unit/index_write/test_packed_quads tests/unit/index_write/test_partition_state \
	tests/unit/index_write/test_staged_batches tests/unit/index_write/test_staging_merge
test_index_tables_PARTS := tests/unit/index_parts/index_records.o
test_index_tables_WRAPS := tree_get tree_put cursor_write cursor_write_last clock_monotonic_ms partition_reader_open \
	partition_reader_share partition_reader_close
test_tree_calls_WRAPS := tree_get tree_position tree_cursor_open tree_cursor_move fence_seek fence_next tree_copy_pages \
	tree_compact_step
test_maintenance_steps_WRAPS := environment_tree tree_name tree_file tree_copy_pages environment_log_files \
	environment_hold_log environment_release_log partition_hold_staging partition_release_staging partition_lock_writer \
	partition_health transaction_begin transaction_abort transaction_commit environment_close_latches \
	environment_open_latches environment_checkpoint environment_bytes tree_latch latch_enter_reading latch_leave \
	quads_merge_step tree_compact_step read usleep
test_verify_rolling_PARTS := tests/unit/index_maintenance/rolling_world.o
test_verify_rolling_WRAPS := snapshot_next snapshot_go_on partition_reader_open partition_reader_hold \
	partition_reader_close partition_reader_snapshot partition_reader_source partition_lock_writer lexicon_find quads_check
test_read_steps_WRAPS := tree_latch latch_enter_reading latch_leave partition_totals statistics_totals statistics_next \
	statistics_next_host characteristic_sets_totals characteristic_sets_copy lexicon_nodes nodes_reader_new \
	nodes_reader_free nodes_resolve partition_reader_open partition_reader_close partition_reader_position \
	partition_reader_renew partition_reader_source quad_walk nquads_write line_sort_add line_sort_finish line_sort_next
test_quads_writes_PARTS := tests/unit/index_parts/quads_world.o
test_quads_writes_WRAPS := quads_tree quads_tree_name tree_latch latch_enter_reading latch_leave fence_open fence_close \
	fence_seek fence_next fence_is_last tree_position tree_open tree_close tree_pages latch_enter_writing fence_emit \
	fence_finish tree_delete quads_build_pays quads_build
test_quads_steps_PARTS := tests/unit/index_parts/quads_world.o
test_quads_steps_WRAPS := quads_tree quads_tree_name tree_latch latch_enter_reading latch_leave fence_open fence_close \
	fence_seek fence_next fence_is_last tree_position
test_verify_steps_PARTS := tests/unit/index_maintenance/verify_told.o
test_verify_steps_WRAPS := partition_merge_staged partition_health partition_write_words partition_stats environment_tree \
	tree_copy_pages literals_check lexicon_nodes nodes_walk lexicon_find_stored lexicon_walk rolling_open rolling_close \
	rolling_lock rolling_step rolling_document rolling_subjects partition_reader_document partition_reader_source \
	quad_lines change_log_check quads_tree_name statistics_next statistics_compare
test_keeper_PARTS := tests/unit/index_write/keeper_world.o
test_keeper_WRAPS := lexicon_nodes literals_next literals_written literals_to_write literals_catch_up literals_write_step \
	partition_merge_staged gathering_flush_some environment_checkpoint environment_is_broken staging_rows \
	snapshots_health snapshots_gathered_changes malloc_trim watchdog_pause watchdog_resume clock_gettime pthread_create \
	pthread_mutex_lock pthread_mutex_unlock \
	pthread_join pthread_cond_destroy pthread_cond_signal pthread_cond_broadcast pthread_cond_timedwait pthread_cond_wait
test_gathered_changes_WRAPS := statistics_read statistics_write tree_latch latch_enter_writing latch_leave change_log_keep \
	change_log_holds change_reader_open_at change_reader_close change_reader_batch change_reader_block snapshots_gathered \
	snapshots_set_missing snapshots_gathered_changes snapshots_gathered_from snapshots_health snapshots_flush \
	snapshots_flushing snapshots_flushed snapshots_publish snapshots_end partition_keys_note partition_mark quads_blocks \
	quads_flush quads_apply quads_apply_graphs transaction_begin transaction_commit_unsynced transaction_abort \
	environment_close_latches environment_open_latches
test_partition_state_WRAPS := tree_is_empty tree_name quads_tree lexicon_terms lexicon_nodes snapshots_set_missing \
	nodes_committed keeper_note_commit keeper_words snapshots_committed change_log_state environment_bytes \
	environment_is_broken watchdog_pause watchdog_resume pthread_mutex_lock pthread_mutex_unlock
test_staged_batches_WRAPS := partition_health merge_staged index_batch_commit staging_rows staging_runs staging_begin \
	staging_add staging_end staging_committed lexicon_assign lexicon_bytes lexicon_forget tree_latch latch_enter_writing \
	latch_leave statistics_put_totals transaction_begin transaction_commit transaction_abort environment_close_latches \
	environment_open_latches partition_committed
test_staging_merge_WRAPS := partition_health environment_bytes clock_wall_ms staging_rows staging_runs staging_terms \
	staging_reader_open staging_reader_next staging_reader_close staging_forget staging_forgotten lexicon_nodes \
	nodes_reader_new nodes_reader_free nodes_resolve documents_get documents_put tree_latch latch_enter_writing latch_leave \
	differences_add_rows transaction_begin commit_quads commit_statistics commit_end
test_index_parts_PARTS := tests/unit/index_parts/posting_pieces.o tests/unit/index_parts/links_lists.o \
	tests/unit/index_parts/census_model.o tests/unit/index_parts/memtable_model.o tests/unit/index_parts/statistics_records.o \
	tests/unit/index_parts/statistics_batches.o tests/unit/index_parts/verify_reports.o tests/unit/index_parts/word_queries.o
test_provenance_ALONE := it starts itself anew as the metadata store
test_index_mixed_ALONE := it starts itself anew as a partition
