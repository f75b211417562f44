BENCHES += bench_detect bench_frontier bench_html bench_http bench_identity bench_incremental bench_index bench_jsonld bench_lookups bench_measure bench_metastore bench_parse bench_plans bench_query bench_queue bench_ranking bench_recrawl bench_transform

$(BUILD)/bench/bench_http $(BUILD)/bench/bench_incremental $(BUILD)/bench/bench_lookups: $(BUILD)/obj/bench/sample.o
-include $(BUILD)/obj/bench/sample.d

$(BUILD)/bench/bench_jsonld: $(BUILD)/obj/bench/jansson_reader.o
-include $(BUILD)/obj/bench/jansson_reader.d

# Beside libgumbo's tree, where it is installed.
ifeq ($(shell pkg-config --exists gumbo && echo found),found)
$(BUILD)/bench/bench_html: package_libs += -lgumbo
endif

# Beside SQLite's FTS5; nothing else needs the library.
ifeq ($(shell pkg-config --exists sqlite3 && echo found),found)
BENCHES += bench_words
$(BUILD)/bench/bench_words: package_libs += -lsqlite3
endif
