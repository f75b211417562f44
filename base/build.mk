base_OBJECTS := base/status.o base/memory.o base/slice.o base/buf.o base/file.o base/outcome.o base/arena.o base/codec.o \
	base/log.o base/clock.o base/opt.o base/opt_print.o base/nearest.o base/program.o base/text_print.o base/digest.o base/digest_pair.o \
	base/rpc_socket.o base/rpc_server.o base/rpc_client.o base/map.o
base_OBJECTS += base/watchdog.o base/iri.o base/url.o base/url_host.o base/url_key.o base/url_percent.o base/url_text.o
CONFORMANCE += run_urls
FUZZERS += fuzz_url

UNIT_TESTS += tests/unit/test_buf tests/unit/test_codec tests/unit/test_log tests/unit/test_opt \
	tests/unit/test_rpc tests/unit/test_watchdog
FUZZERS += fuzz_codec fuzz_opt fuzz_rpc
UNIT_TESTS += tests/unit/test_url tests/unit/test_file tests/unit/test_map
test_url_PARTS := tests/unit/url_parts.o
