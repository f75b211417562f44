crawl_OBJECTS := $(addprefix crawl/,recrawl.o robots.o robots_tags.o scope.o traps.o url_rewrite.o url_rules.o)
UNIT_TESTS += tests/unit/crawl/test_recrawl tests/unit/crawl/test_robots tests/unit/crawl/test_robots_tags \
	tests/unit/crawl/test_scope tests/unit/crawl/test_traps tests/unit/crawl/test_url_rules
FUZZERS += fuzz_robots fuzz_robots_tags
CONFORMANCE += run_robots
test_robots_PARTS := tests/unit/stages/robots_limits.o
