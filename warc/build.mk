warc_OBJECTS := warc/options.o warc/writer.o warc/reader.o warc/scan.o warc/decode.o
UNIT_TESTS += tests/unit/test_warc
