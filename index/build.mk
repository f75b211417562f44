index_OBJECTS := index/gate.o index/oid.o index/rows.o index/environment.o index/environment_build.o index/environment_io.o \
	index/fences.o index/oid_sort.o index/key_sort.o index/changes.o index/snapshot.o index/quads.o index/quads_scan.o \
	index/term_set.o index/term_blocks.o index/packing.o index/node_block.o index/node_cache.o index/term_cache.o index/nodes.o index/lexicon.o index/documents.o \
	index/statistics.o index/predicate_sets.o index/census.o index/characteristic_sets.o index/partition.o index/batch_gather.o index/batch.o index/commit.o index/waiting.o index/bring_in.o index/differences.o index/reader.o \
	index/quad_text.o index/dump.o index/verify.o index/verify_rolling.o index/statistics_check.o index/links.o \
	index/links_default.o index/service_protocol.o index/cursor.o index/turns.o index/answers.o \
	index/work_pool.o index/service.o index/patch.o index/packed_quads.o index/client_update.o index/import.o index/options.o index/client.o index/client_links.o index/client_care.o index/client_statistics.o index/counts.o index/backup.o \
	index/backup_files.o index/compact.o index/quads_merge.o index/quads_build.o index/terms_write.o index/environment_care.o index/federation.o
index_OBJECTS += index/row_names.o index/answer_rows.o index/answer_share.o index/share_request.o index/query_answer.o index/federation_stream.o \
	index/federation_share.o index/sessions.o index/client_stream.o \
	index/federation_scan.o index/federation_search.o
index_OBJECTS += index/provenance.o index/provenance_many.o index/provenance_records.o
index_OBJECTS += index/change_log.o index/publisher.o index/change_position.o index/change_lines.o index/client_changes.o
index_OBJECTS += index/tokenizer.o index/word_blocks.o index/word_memory.o index/word_query.o \
	index/literals.o index/literals_write.o index/literals_runs.o index/literals_build.o index/literals_lists.o index/literals_wants.o index/literals_search.o \
	index/literals_check.o
UNIT_TESTS += tests/unit/test_words
FUZZERS += fuzz_words
PROGRAMS += quadrille-index
quadrille-index_OBJECTS := stages/index.o
UNIT_TESTS += tests/unit/test_index_oid tests/unit/test_index_rows tests/unit/test_index_quads \
	tests/unit/test_index_partition tests/unit/test_index_kill tests/unit/test_index_faults tests/unit/test_index_waiting tests/unit/test_index_mixed tests/unit/test_index_service tests/unit/test_turns tests/unit/test_index_care tests/unit/test_index_verify \
	tests/unit/test_index_statistics
UNIT_TESTS += tests/unit/test_index_changes tests/unit/test_index_nodes tests/unit/test_node_cache tests/unit/test_term_cache
UNIT_TESTS += tests/unit/test_provenance tests/unit/test_share
FUZZERS += fuzz_index_blocks fuzz_index_requests
test_index_rows_PARTS := tests/unit/row_blocks.o
test_index_partition_PARTS := tests/unit/index_steps.o tests/unit/index_outcomes.o tests/unit/moved_clock.o
test_index_partition_WRAPS := documents_get documents_put lexicon_assign lexicon_find_all lexicon_find quads_apply \
	change_log_append differences_add statistics_apply transaction_begin snapshots_publish fence_seek clock_wall_ms clock_monotonic_ms
test_share_PARTS := tests/unit/federation_searches.o
test_share_WRAPS := stream_start stream_next stream_close client_miss
test_index_changes_PARTS := tests/unit/index_change_log.o tests/unit/index_change_damage.o
test_index_changes_WRAPS := clock_wall_ms tree_get tree_put tree_cursor_open tree_cursor_move tree_cursor_delete
