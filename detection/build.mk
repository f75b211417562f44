detection_OBJECTS := $(addprefix detection/,detect.o detect_json.o detect_rdf.o detect_signatures.o detect_tables.o \
	detect_text.o media_type.o)
UNIT_TESTS += tests/unit/detection/test_detect
FUZZERS += fuzz_detect
CONFORMANCE += run_mime
