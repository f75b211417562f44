store_OBJECTS := store/database.o store/memory_account.o store/spill.o store/sorter.o store/line_sort.o
UNIT_TESTS += tests/unit/test_database tests/unit/test_sorter
test_database_WRAPS := statvfs
