warc_OBJECTS := warc/options.o warc/compress.o warc/writer.o warc/reader.o warc/scan.o warc/decode.o
warc_OBJECTS += warc/remote.o
UNIT_TESTS += tests/unit/test_warc tests/unit/test_compress
FUZZERS += fuzz_warc
