index_query_OBJECTS := $(addprefix index/query/,quad_walk.o)
index_query_OBJECTS += $(addprefix index/query/algebra/,algebra.o)
index_query_OBJECTS += $(addprefix index/query/functions/,expression.o function.o function_cast.o function_form.o \
	function_number.o function_term.o function_text.o)
index_query_OBJECTS += $(addprefix index/query/memory/,deadline.o dictionary.o join_spill.o key_filter.o row_set.o row_table.o)
index_query_OBJECTS += $(addprefix index/query/operators/,aggregate.o lists.o count_triples.o duplicates.o group.o hash_join.o hash_join_build.o join.o leaf.o leaps.o lookup_first.o merge_join.o operator.o \
	last_objects.o order_by.o path.o ranges.o scan_pattern.o scan_range.o share_rows.o tally.o)
index_query_OBJECTS += $(addprefix index/query/parser/,lexer.o parser.o parser_expression.o parser_pattern.o parser_prologue.o parser_tokens.o \
	parser_select.o parser_term.o parser_triples.o parser_update.o prefixes.o query_graphs.o)
index_query_OBJECTS += $(addprefix index/query/plan/,cost.o filter.o graph_clause.o join_order.o optional.o plan.o plan_counts.o plan_lists.o plan_ranges.o plan_share.o \
	share_parts.o share_split.o share_tally.o weights.o)
index_query_OBJECTS += $(addprefix index/query/results/,result.o result_graphs.o result_markup.o result_text.o)
index_query_OBJECTS += $(addprefix index/query/run/,describe.o query_run.o run_help.o update_run.o)
index_query_OBJECTS += $(addprefix index/query/values/,decimal.o moment.o regex.o value.o)
UNIT_TESTS += tests/unit/query/test_query tests/unit/query/test_query_functions tests/unit/query/test_query_parser tests/unit/query/test_query_faults \
	tests/unit/query/test_query_first tests/unit/query/test_query_identifiers tests/unit/query/test_query_lists tests/unit/query/test_query_plans \
	tests/unit/query/test_result_graphs tests/unit/query/test_query_ranges tests/unit/query/test_query_spill tests/unit/query/test_query_stops \
	tests/unit/query/test_query_update tests/unit/query/test_query_value tests/unit/query/test_query_answers \
	tests/unit/query/test_query_leading tests/unit/query_parts/test_query_tallies tests/unit/query_parts/test_query_shares \
	tests/unit/query_parts/test_query_room tests/unit/query_parts/test_expression tests/unit/query_model/test_query_model \
	tests/unit/query_parts/test_parser_errors tests/unit/query_parts/test_query_orders \
	tests/unit/query_parts/test_query_runs tests/unit/query_parts/test_update_steps \
	tests/unit/query_parts/test_result_limits tests/unit/query_parts/test_run_help tests/unit/query_parts/test_query_datasets
FUZZERS += fuzz_sparql
CONFORMANCE += run_sparql
test_query_plans_PARTS := tests/unit/query/plan_case.o tests/unit/query/plan_watched.o
test_query_parser_PARTS := tests/unit/query/grammar_tokens.o
test_query_shares_PARTS := tests/unit/query_parts/parted_source.o tests/unit/query_parts/parted_plans.o
test_query_orders_PARTS := tests/unit/query_parts/parted_source.o tests/unit/query_parts/parted_plans.o
test_query_answers_PARTS := tests/unit/query/path_model.o tests/unit/query_parts/query_corners.o
test_query_PARTS := tests/unit/query/plan_case.o tests/unit/query/plan_shapes.o
test_query_value_PARTS := tests/unit/query/value_edges.o tests/unit/query/value_limits.o tests/unit/query/result_rows.o
test_expression_PARTS := tests/unit/query_parts/told_functions.o
test_query_model_PARTS := tests/unit/query_model/algebra_model.o tests/unit/query_model/query_maker.o
test_query_room_PARTS := tests/unit/query/plan_case.o
test_query_room_WRAPS := arena_alloc arena_zero arena_copy memory_take
test_result_limits_WRAPS := buf_init graph_init
test_query_datasets_WRAPS := clock_monotonic_us
test_run_help_WRAPS := ranges_run ranges_spec_of ranges_help scan_spec_of query_run_init query_run_prepare \
	query_run_close plan_help operators_close
UNIT_TESTS += $(addprefix tests/unit/query_operators/,test_aggregated_values test_asked_ranges test_counted_rows test_graph_rows test_grouped_rows test_handed_rows test_joined_rows \
	test_kept_rows test_leaf_rows test_listed_joins test_ranges test_row_sources test_sorted_values)
test_aggregated_values_PARTS := tests/unit/query_operators/operator_stand.o
test_counted_rows_PARTS := $(addprefix tests/unit/query_operators/,counting_source.o operator_stand.o)
test_handed_rows_PARTS := tests/unit/query_operators/operator_stand.o
test_joined_rows_PARTS := tests/unit/query_operators/operator_stand.o
test_kept_rows_PARTS := tests/unit/query_operators/operator_stand.o
test_leaf_rows_PARTS := tests/unit/query_operators/operator_stand.o
test_grouped_rows_PARTS := $(addprefix tests/unit/query_operators/,counting_source.o operator_stand.o)
test_sorted_values_PARTS := tests/unit/query_operators/operator_stand.o
test_sorted_values_WRAPS := value_of_term
test_ranges_PARTS := $(addprefix tests/unit/query_operators/,operator_stand.o ranges_stand.o)
test_asked_ranges_PARTS := $(addprefix tests/unit/query_operators/,operator_stand.o ranges_stand.o)
test_asked_ranges_WRAPS := scan_set_range counts_set_range counts_divide counts_lend hash_join_can_lend \
	hash_join_borrow clock_monotonic_us clock_gettime
test_ranges_WRAPS := scan_set_range
test_graph_rows_PARTS := tests/unit/query_operators/operator_stand.o
test_listed_joins_PARTS := $(addprefix tests/unit/query_operators/,counting_source.o operator_stand.o)
test_row_sources_PARTS := tests/unit/query_operators/operator_stand.o
