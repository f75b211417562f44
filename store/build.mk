store_OBJECTS := $(addprefix store/,database.o line_sort.o memory_account.o page.o sorter.o spill.o)
UNIT_TESTS += tests/unit/store/test_database tests/unit/store/test_database_faults tests/unit/store/test_sorter \
	tests/unit/store/test_spill
test_database_WRAPS := statvfs db_env_set_func_open db_env_set_func_rename flock nanosleep clock_monotonic_ms
test_database_faults_WRAPS := db_env_create db_create statvfs
test_spill_WRAPS := file_write_all_at posix_fallocate pread
