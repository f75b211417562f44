search_OBJECTS := $(addprefix search/,describe.o facets.o filters.o find.o group.o lines.o marks.o select.o shared_values.o spelling.o)
UNIT_TESTS += tests/unit/search/test_search
