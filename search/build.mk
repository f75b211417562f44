search_OBJECTS := $(addprefix search/,describe.o facets.o filters.o find.o group.o lines.o marks.o select.o shared_values.o spelling.o)
UNIT_TESTS += $(addprefix tests/unit/search/test_,search search_lines search_lookups spelling)
test_search_PARTS := tests/unit/search/made_index.o
test_search_lookups_PARTS := tests/unit/search/made_index.o
test_search_lines_PARTS := tests/unit/search/made_index.o
