metastore_OBJECTS := $(addprefix metastore/,archive_keep.o archive_link.o metastore_client.o metastore_daemon.o metastore_get.o \
	metastore_options.o metastore_scan.o metastore_service.o pack.o record.o record_rdf.o record_rdf_emit.o record_rdf_http.o store.o)
PROGRAMS += quadrille-metastore
quadrille-metastore_OBJECTS := metastore/metastore_main.o
UNIT_TESTS += tests/unit/metastore/test_archive_faults tests/unit/metastore/test_archive_link tests/unit/metastore/test_content tests/unit/metastore/test_metastore tests/unit/metastore/test_metastore_client tests/unit/metastore/test_metastore_daemon \
	tests/unit/metastore/test_metastore_pack tests/unit/metastore/test_metastore_rdf \
	tests/unit/metastore/test_metastore_record tests/unit/queue_daemon/test_metastore_main
FUZZERS += fuzz_metastore
fuzz_metastore_ALONE := it stands in for meta_store_get and others
test_metastore_record_PARTS := tests/unit/metastore/record_fields.o
test_metastore_client_PARTS := tests/unit/metastore/metastore_messages.o tests/unit/metastore/metastore_calls.o
test_metastore_client_WRAPS := rpc_client_open rpc_client_close rpc_client_descriptor rpc_client_wait_ms \
	rpc_client_process rpc_client_post rpc_call
test_metastore_PARTS := tests/unit/metastore/metastore_model.o tests/unit/metastore/metastore_faults.o \
	tests/unit/metastore/metastore_turns.o tests/unit/metastore/failing_database.o tests/unit/moved_clock.o
test_metastore_WRAPS := clock_monotonic_ms clock_wall_ms db_env_create db_create statvfs flock meta_store_put \
	meta_store_broken rpc_server_receive rpc_reply rpc_request_drop process_state_wait process_state_goes_on
test_metastore_main_PARTS := tests/unit/queue_daemon/daemon_mains.o metastore/metastore_main.o
test_metastore_main_WRAPS := main meta_daemon_run
test_archive_faults_WRAPS := warc_writer_open warc_writer_close warc_append_member warc_sync pread
test_metastore_daemon_WRAPS := meta_store_open meta_store_close meta_store_epoch meta_store_tick sigprocmask signalfd file_close \
	rpc_server_open rpc_server_close rpc_server_descriptor meta_service_open meta_service_free meta_service_serve_archive \
	meta_service_turn archive_keep_new archive_keep_free daemon_tell_ready poll
