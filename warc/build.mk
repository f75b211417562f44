warc_OBJECTS := $(addprefix warc/,compress.o decode.o reader.o record.o remote.o warc_options.o writer.o)
UNIT_TESTS += tests/unit/warc/test_compress tests/unit/warc/test_content_codings \
	tests/unit/warc/test_remote tests/unit/warc/test_warc
FUZZERS += fuzz_warc
test_content_codings_PARTS := tests/unit/warc/packed.o
test_content_codings_WRAPS := libdeflate_alloc_decompressor inflateInit2_ BrotliDecoderCreateInstance \
	ZSTD_createDStream
test_warc_PARTS := tests/unit/warc/packed.o tests/unit/warc/warc_files.o tests/unit/warc/warc_records.o \
	tests/unit/warc/warc_members.o tests/unit/warc/warc_faults.o
test_warc_WRAPS := clock_wall_ms randombytes_buf file_write_all ftruncate fdatasync fsync openat
