metastore_OBJECTS := metastore/options.o metastore/record.o metastore/store.o metastore/pack.o metastore/service.o \
	metastore/daemon.o metastore/client.o metastore/archive.o metastore/rdf.o metastore/rdf_emit.o metastore/rdf_http.o
PROGRAMS += quadrille-metastore
quadrille-metastore_OBJECTS := metastore/main.o
UNIT_TESTS += tests/unit/test_metastore_record tests/unit/test_metastore_rdf \
	tests/unit/test_metastore tests/unit/test_metastore_pack tests/unit/test_archive_link
FUZZERS += fuzz_metastore
test_metastore_PARTS := tests/unit/metastore_model.o tests/unit/metastore_faults.o tests/unit/metastore_turns.o tests/unit/failing_database.o \
	tests/unit/moved_clock.o
test_metastore_WRAPS := clock_monotonic_ms clock_wall_ms db_env_create db_create statvfs flock meta_store_put meta_store_broken \
	rpc_server_receive rpc_reply rpc_request_drop process_state_wait process_state_goes_on
