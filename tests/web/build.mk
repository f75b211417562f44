# The synthetic web, for tests/pipeline/synthetic.sh and bench/web.sh.
synthetic_web_OBJECTS := tests/web/synthetic_web.o tests/web/model.o
synthetic_web := $(BUILD)/tests/synthetic_web
$(synthetic_web): $(synthetic_web_OBJECTS:%=$(BUILD)/obj/%) $(BUILD)/lib/base.a
	@mkdir -p $(@D)
	$(call say,link $@)
	$(quiet)$(CC) $(CFLAGS) $(sanitize) $(LDFLAGS) $(link) $^ $(package_libs) -o $@.$$$$ && mv $@.$$$$ $@
test-tools benches: $(synthetic_web)
-include $(synthetic_web_OBJECTS:%.o=$(BUILD)/obj/%.d)
