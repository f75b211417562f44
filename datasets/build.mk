datasets_OBJECTS := datasets/lenient_xml.o datasets/sitemap.o datasets/sitemap_date.o datasets/sitemap_score.o \
	datasets/description.o datasets/dump_key.o datasets/semantic_sitemap.o datasets/claims.o datasets/execution.o datasets/harvest.o datasets/rdf_description.o datasets/plan.o
CONFORMANCE += run_sitemaps run_semantic_sitemaps
FUZZERS += fuzz_sitemap fuzz_semantic_sitemap fuzz_execution fuzz_harvest
UNIT_TESTS += tests/unit/test_dump_key tests/unit/test_sitemap tests/unit/test_sitemap_score tests/unit/test_semantic_sitemap tests/unit/test_rdf_description tests/unit/test_dataset_plan tests/unit/test_execution tests/unit/test_harvest
