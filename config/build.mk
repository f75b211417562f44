config_OBJECTS := config/config.o config/run_lock.o config/wanted_jobs.o config/access.o config/pass_settings.o
UNIT_TESTS += tests/unit/test_config
