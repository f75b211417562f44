stages_OBJECTS := stages/document.o stages/scope.o stages/services.o stages/content.o stages/resources.o stages/document_meta.o stages/stage.o stages/stage_batch.o \
	stages/stage_events.o stages/stage_options.o stages/extract_options.o stages/recrawl.o stages/recrawl_options.o stages/schedule.o
PROGRAMS += quadrille-extract
quadrille-extract_OBJECTS := stages/extract.o stages/extract_sweep.o
UNIT_TESTS += tests/unit/test_document tests/unit/test_scope tests/unit/test_recrawl
stages_OBJECTS += stages/robots.o stages/robots_tags.o stages/traps.o stages/fetch_credentials.o stages/url_rules.o
CONFORMANCE += run_robots
FUZZERS += fuzz_robots fuzz_robots_tags
UNIT_TESTS += tests/unit/test_robots_tags tests/unit/test_traps tests/unit/test_fetch_credentials tests/unit/test_url_rules
stages_OBJECTS += stages/fetch_options.o stages/fetch_parser.o stages/fetch_parser_work.o stages/fetch_address.o stages/fetch_http.o stages/fetch_transfer.o stages/fetch_ftp.o stages/fetch_hosts.o stages/fetch_balance.o stages/fetch_pace.o stages/fetch_names.o stages/fetch_crowd.o stages/fetch_rests.o
PROGRAMS += quadrille-fetch
quadrille-fetch_OBJECTS := stages/fetch.o stages/fetch_rules.o stages/fetch_pacing.o stages/fetch_asking.o stages/fetch_slow.o stages/fetch_page.o stages/fetch_sitemap.o stages/fetch_refused.o stages/fetch_listing.o stages/fetch_share.o stages/fetch_visit.o stages/fetch_plan.o stages/fetch_decide.o stages/fetch_dump.o stages/fetch_endpoint.o stages/fetch_slice.o
stages_OBJECTS += stages/media_type.o stages/detect.o stages/detect_tables.o stages/detect_signatures.o stages/detect_json.o \
	stages/detect_rdf.o stages/detect_text.o \
	stages/sandbox.o stages/sandbox_calls.o stages/landlock.o stages/sandbox_selftest.o stages/sandbox_selftest_program.o stages/worker.o \
	stages/worker_nursery.o stages/document_worker.o
PROGRAMS += quadrille-detect quadrille-transform
quadrille-detect_OBJECTS := stages/detect_program.o
quadrille-transform_OBJECTS := stages/transform.o
# Thousands of transfers come and go, each of some fifty pieces of all sizes.
$(BUILD)/bin/quadrille-fetch: allocator := -ljemalloc
CONFORMANCE += run_mime
UNIT_TESTS += tests/unit/test_worker tests/unit/test_fetch_parser
UNIT_TESTS += tests/unit/test_hostile
UNIT_TESTS += tests/unit/test_fetch_stage tests/unit/test_stage_pace tests/unit/test_fetch_http tests/unit/test_fetch_ftp tests/unit/test_fetch_pace tests/unit/test_fetch_places tests/unit/test_fetch_balance tests/unit/test_robots
UNIT_TESTS += tests/unit/test_detect
FUZZERS += fuzz_detect
stages_OBJECTS += stages/fetch_dns.o stages/fetch_proxy.o stages/url_rewrite.o
UNIT_TESTS += tests/unit/test_fetch_network
test_fetch_http_PARTS := tests/unit/fetch_addresses.o
test_stage_pace_PARTS := tests/unit/stage_batches.o
test_stage_pace_WRAPS := queue_complete metastore_put clock_monotonic_ms process_state_wait process_state_goes_on process_state_end
test_worker_PARTS := tests/unit/sandbox_steps.o tests/hooks/document_hook.o
test_worker_WRAPS := transform_run setrlimit prctl landlock_enter landlock_enter_alone seccomp_init seccomp_rule_add seccomp_load
test_robots_PARTS := tests/unit/robots_limits.o
