config_OBJECTS := config/config.o config/run_lock.o config/wanted_jobs.o config/access.o config/web_address.o config/pass_settings.o config/scope_file.o config/scope_change.o config/process_state.o
UNIT_TESTS += tests/unit/test_config tests/unit/test_scope_change
