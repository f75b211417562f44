datasets_OBJECTS := $(addprefix datasets/,claims.o dataset_plan.o description.o dump_key.o execution.o harvest.o \
	lenient_xml.o rdf_description.o semantic_sitemap.o sitemap.o sitemap_date.o sitemap_score.o)
UNIT_TESTS += tests/unit/datasets/test_dataset_plan tests/unit/datasets/test_dump_key \
	tests/unit/datasets/test_execution tests/unit/datasets/test_harvest tests/unit/datasets/test_rdf_description \
	tests/unit/datasets/test_semantic_sitemap tests/unit/datasets/test_sitemap tests/unit/datasets/test_sitemap_score \
	tests/unit/datasets/test_slicer
FUZZERS += fuzz_execution fuzz_harvest fuzz_semantic_sitemap fuzz_sitemap
CONFORMANCE += run_semantic_sitemaps run_sitemaps
