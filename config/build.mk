config_OBJECTS := config/config.o
