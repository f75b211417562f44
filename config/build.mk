config_OBJECTS := config/config.o config/wanted_jobs.o
UNIT_TESTS += tests/unit/test_config
