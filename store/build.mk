store_OBJECTS := store/database.o
UNIT_TESTS += tests/unit/test_database
test_database_WRAPS := statvfs
