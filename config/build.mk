config_OBJECTS := config/config.o
UNIT_TESTS += tests/unit/test_config
