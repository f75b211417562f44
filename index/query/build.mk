index_query_OBJECTS := index/query/lexer.o index/query/algebra.o index/query/parser.o \
	index/query/parser_term.o index/query/prefixes.o index/query/parser_select.o index/query/parser_pattern.o \
	index/query/parser_triples.o index/query/parser_expression.o index/query/decimal.o \
	index/query/moment.o index/query/value.o index/query/memory.o index/query/deadline.o index/query/row_set.o index/query/join_spill.o index/query/dictionary.o \
	index/query/regex.o index/query/function.o index/query/function_form.o \
	index/query/function_term.o index/query/function_text.o index/query/function_number.o \
	index/query/function_cast.o index/query/expression.o index/query/operator.o \
	index/query/operator_scan.o index/query/operator_path.o index/query/operator_join.o index/query/operator_merge.o \
	index/query/operator_leaf.o index/query/operator_order.o index/query/operator_group.o index/query/aggregate.o \
	index/query/plan.o index/query/plan_join.o index/query/plan_cost.o index/query/plan_filter.o index/query/plan_graph.o index/query/query_graphs.o index/query/share.o index/query/plan_share.o index/query/operator_share.o index/query/run.o index/query/describe.o \
	index/query/result.o index/query/result_markup.o index/query/result_text.o \
	index/query/memory_source.o index/query/quad_walk.o index/query/parser_update.o index/query/update.o
CONFORMANCE += run_sparql
UNIT_TESTS += tests/unit/test_query_update tests/unit/test_query_parser tests/unit/test_query tests/unit/test_query_spill tests/unit/test_query_functions tests/unit/test_query_value
FUZZERS += fuzz_sparql
