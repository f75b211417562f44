# Sends random and mutated messages to daemons, for tests/pipeline/messages.sh.
mutant_client_OBJECTS := tests/messages/mutant_client.o tests/messages/mutate.o tests/messages/seeds.o
mutant_client := $(BUILD)/tests/mutant_client
$(mutant_client): $(mutant_client_OBJECTS:%=$(BUILD)/obj/%) $(BUILD)/lib/base.a
	@mkdir -p $(@D)
	$(call say,link $@)
	$(quiet)$(CC) $(CFLAGS) $(sanitize) $(LDFLAGS) $(link) $^ $(package_libs) -o $@.$$$$ && mv $@.$$$$ $@
test-tools: $(mutant_client)
-include $(mutant_client_OBJECTS:%.o=$(BUILD)/obj/%.d)
