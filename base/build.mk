base_OBJECTS := $(addprefix base/,arena.o buf.o codec.o digest.o digest_pair.o edit_distance.o html_text.o map.o memory.o outcome.o slice.o \
	status.o)
base_OBJECTS += $(addprefix base/options/,nearest.o opt.o opt_print.o program.o text_print.o)
base_OBJECTS += $(addprefix base/rpc/,rpc_address.o rpc_client.o rpc_server.o rpc_socket.o)
base_OBJECTS += $(addprefix base/system/,clock.o file.o log.o threads.o watchdog.o)
base_OBJECTS += $(addprefix base/url/,iri.o url.o url_host.o url_key.o url_percent.o url_text.o)
UNIT_TESTS += tests/unit/base/test_buf tests/unit/base/test_codec tests/unit/base/test_file tests/unit/base/test_heap \
	tests/unit/base/test_lasting_files tests/unit/base/test_log \
	tests/unit/base/test_map tests/unit/base/test_opt tests/unit/base/test_rpc tests/unit/base/test_texts tests/unit/base/test_url \
	tests/unit/base/test_threads \
	tests/unit/base/test_watchdog
FUZZERS += fuzz_codec fuzz_opt fuzz_rpc fuzz_url
CONFORMANCE += run_urls
test_texts_WRAPS := madvise
test_threads_WRAPS := pthread_create
test_watchdog_WRAPS := setitimer clock_monotonic_ms
test_rpc_PARTS := tests/unit/base/rpc_publishers.o tests/unit/base/rpc_texts.o tests/unit/base/rpc_servers.o \
	tests/unit/base/rpc_faults.o tests/unit/moved_clock.o
test_rpc_WRAPS := clock_monotonic_ms clock_wall_ms zmq_ctx_new zmq_socket zmq_bind zmq_connect zmq_setsockopt zmq_getsockopt \
	zmq_socket_monitor zmq_msg_init_size zmq_curve_keypair epoll_create1 epoll_ctl eventfd getrandom
test_url_PARTS := tests/unit/base/url_parts.o tests/unit/base/url_keys.o
test_lasting_files_PARTS := tests/unit/base/file_faults.o
test_lasting_files_WRAPS := open fsync close fclose unlink rename renameat2 mkostemp getrlimit setrlimit write pwrite
test_opt_PARTS := tests/unit/base/opt_texts.o
