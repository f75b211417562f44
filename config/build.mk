config_OBJECTS := config/config.o config/run_lock.o config/wanted_jobs.o
UNIT_TESTS += tests/unit/test_config
