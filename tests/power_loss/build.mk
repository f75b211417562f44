# What a power failure may leave: tests/power_loss/power_loss.c and the recorder that it preloads.
power_loss_OBJECTS := $(addprefix tests/power_loss/,power_loss.o disk.o disk_sites.o disk_trace.o scenario_stores.o \
	scenario_index.o scenario_settings.o scenario_crawl.o commands.o)
power_loss := $(BUILD)/tests/power_loss
recorder := $(BUILD)/tests/recorder.so
$(power_loss): $(power_loss_OBJECTS:%=$(BUILD)/obj/%) $(FOLDERS:%=$(BUILD)/lib/%.a)
	$(link_command) -lcmocka $(package_libs) -o $@.$$$$ && mv $@.$$$$ $@
$(recorder): tests/power_loss/recorder.c tests/power_loss/trace.h $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,link $@)
	$(quiet)$(CC) $(filter-out -fsanitize% -fno-sanitize%,$(compile)) -O2 -g -fPIC -shared -Wno-missing-prototypes $< -o $@.$$$$ && mv $@.$$$$ $@
test-tools: $(power_loss) $(recorder)
-include $(power_loss_OBJECTS:%.o=$(BUILD)/obj/%.d)
