warc_OBJECTS := warc/options.o warc/writer.o warc/reader.o warc/scan.o warc/decode.o
warc_OBJECTS += warc/remote.o
UNIT_TESTS += tests/unit/test_warc
FUZZERS += fuzz_warc
