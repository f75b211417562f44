BENCHES += bench_detect bench_index bench_jsonld bench_metastore bench_parse bench_query bench_queue bench_transform
