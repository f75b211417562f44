warc_OBJECTS := warc/options.o warc/compress.o warc/writer.o warc/reader.o warc/scan.o warc/decode.o
warc_OBJECTS += warc/remote.o
UNIT_TESTS += tests/unit/test_warc tests/unit/test_compress
test_warc_PARTS := tests/unit/warc_files.o tests/unit/warc_records.o tests/unit/warc_faults.o
test_warc_WRAPS := clock_wall_ms randombytes_buf file_write_all ftruncate fdatasync fsync openat
FUZZERS += fuzz_warc
