config_OBJECTS := $(addprefix config/,access.o config.o option_tables.o pass_settings.o places.o process_state.o run_lock.o \
	scope_change.o scope_file.o wanted_jobs.o web_address.o)
UNIT_TESTS += tests/unit/config/test_config tests/unit/config/test_process_state tests/unit/config/test_run_lock tests/unit/config/test_scope_change
