search_OBJECTS := $(addprefix search/,describe.o facets.o filters.o find.o group.o lines.o marks.o select.o shared_values.o spelling.o)
UNIT_TESTS += $(addprefix tests/unit/search/test_,search search_lines search_lookups spelling)
# They bring an index client of their own.
$(foreach t,search search_lines search_lookups spelling,$(eval test_$(t)_ALONE := index_client_open))
test_search_PARTS := tests/unit/search/made_index.o
test_search_lookups_PARTS := tests/unit/search/made_index.o
test_search_lines_PARTS := tests/unit/search/made_index.o
