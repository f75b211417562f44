# Quadrille. `make help` lists the targets.
#
# Each folder names the objects of itself and of its folders, its programs and tests in FOLDER/build.mk:
#   base_OBJECTS       objects of build/lib/base.a and of its folders (index/query: index_query_OBJECTS)
#   PROGRAMS           names in build/bin/; NAME_OBJECTS are its own objects
#   UNIT_TESTS         tests/unit/FOLDER/test_x, from tests/unit/FOLDER/test_x.c and, if it has more files, test_x_PARTS;
#                      test_x_WRAPS: functions f that its __wrap_f stands in for; test_x_ALONE: why it cannot be joined with others
#   FUZZERS            fuzz_x, from tests/fuzz/FOLDER/fuzz_x.c; fuzz_x_ALONE: why it cannot be joined with others
#   CONFORMANCE        run_x, from tests/conformance/run_x.c
#   BENCHES            bench_x, from bench/bench_x.c
#   SUBCOMMANDS        of quadrille, for the manual pages
# Outputs appear by rename: a make that is killed, or two at a time, leave no half file.

CC       = gcc
AR       = ar
CFLAGS   = -O2 -g
LDFLAGS  =
BUILD    = build
PREFIX   = /usr/local
DESTDIR  =
SECONDS  = 60
SANITIZE =#          address,undefined: with a BUILD of its own
TESTS    =#          which of the unit tests that are programs of their own units-of-check and fuzz-build make: all
export QUADRILLE_SHARED ?= $(abspath ../shared)

# Lowest layer first; each may include only what stands before it.
FOLDERS  := base store rdf dumps warc datasets shares queue metastore index_query identity index transforms detection crawl stages config search web cli
PACKAGES := libzmq libcurl libcares libxml-2.0 libxslt tidy libmagic libpsl icu-uc libpcre2-8 libseccomp \
	zlib libdeflate libisal libzstd libarchive libbrotlidec jansson nettle libgcrypt libsodium libmicrohttpd \
	libexif libical poppler-glib libxxhash liblz4

PROGRAMS :=
UNIT_TESTS :=
FUZZERS :=
CONFORMANCE :=
BENCHES :=
SUBCOMMANDS :=
all:
build_files := $(wildcard */build.mk */*/build.mk)
include $(build_files)

ifneq ($(shell pkg-config --exists $(PACKAGES) && echo found),found)
$(info Libraries are missing; deploy/install-deps installs them. pkg-config --print-errors tells which.)
endif
package_cflags := $(patsubst -I%,-isystem %,$(shell pkg-config --cflags $(PACKAGES) 2>/dev/null))
package_libs   := $(shell pkg-config --libs $(PACKAGES) 2>/dev/null) -ldb-5.3 -lstemmer -lpthread -lm
# An empty slice is {NULL, 0}; clang minds adding its 0 to its NULL.
sanitize       := $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-omit-frame-pointer \
	-fno-sanitize-recover=all -fno-stack-protector $(if $(findstring clang,$(CC)),-fno-sanitize=pointer-overflow))
compile        := -std=c17 -D_GNU_SOURCE -I. -Wall -Wextra -Wpedantic -Werror -Wshadow \
	-Wno-missing-field-initializers -Wstrict-prototypes -Wmissing-prototypes -Wvla -fstack-protector-strong $(package_cflags)
link           := -Wl,--as-needed -Wl,-z,relro,-z,now

tests_support_OBJECTS := tests/support/jsonld_text.o tests/support/media_type_text.o tests/support/memory_source.o tests/support/nquads_writer.o tests/support/warc_scan.o
archives  := $(foreach f,$(FOLDERS),$(if $($(f)_OBJECTS),$(BUILD)/lib/$(f).a))
support   := $(BUILD)/lib/tests_support.a
programs  := $(PROGRAMS:%=$(BUILD)/bin/%)
# Copies of programs that tests make fail: tests/hooks/ has what stands in for a function of theirs.
hooked    := quadrille quadrille-index quadrille-detect quadrille-transform
units     := $(addprefix $(BUILD)/tests/,$(notdir $(UNIT_TESTS)))
# Unit tests that replace no function of the project's are in one program, too (tests/unit/joined.c).
joined    := $(foreach t,$(UNIT_TESTS),$(if $($(notdir $(t))_WRAPS)$($(notdir $(t))_ALONE),,$(t)))
apart     := $(filter-out $(notdir $(joined)),$(notdir $(UNIT_TESTS)))
chosen    := $(if $(TESTS),$(filter $(TESTS),$(apart)),$(apart))
fuzzers   := $(FUZZERS:%=$(BUILD)/tests/%)
fuzz_object = $(patsubst %.c,%.o,$(wildcard tests/fuzz/*/$(1).c))
# As with unit tests, most are in one program (tests/fuzz/joined.c).
fuzz_joined := $(foreach f,$(FUZZERS),$(if $($(f)_ALONE),,$(f)))
fuzz_alone  := $(filter-out $(fuzz_joined),$(FUZZERS))
benches   := $(BENCHES:%=$(BUILD)/bench/%)
suites    := $(CONFORMANCE:%=$(BUILD)/tests/%)
services  := $(filter-out quadrille,$(PROGRAMS))
manuals   := $(BUILD)/man/quadrille.1 $(SUBCOMMANDS:%=$(BUILD)/man/quadrille-%.1) \
	$(services:%=$(BUILD)/man/%.8)
unit_objects := $(UNIT_TESTS:%=%.o) $(foreach t,$(UNIT_TESTS),$($(notdir $(t))_PARTS)) tests/unit/joined.o
objects   := $(foreach f,$(FOLDERS) tests_support,$($(f)_OBJECTS)) $(foreach p,$(PROGRAMS),$($(p)_OBJECTS)) \
	$(unit_objects) $(foreach p,$(hooked),$($(p)_HOOK)) $(foreach f,$(FUZZERS),$(call fuzz_object,$(f))) tests/fuzz/joined.o $(CONFORMANCE:%=tests/conformance/%.o) \
	$(BENCHES:%=bench/%.o)
# What is in unit tests and fuzzers, and what is not.
sanitized := $(sort $(foreach f,$(FOLDERS) tests_support,$($(f)_OBJECTS)) tests/unit/joined.o \
	$(foreach t,$(UNIT_TESTS),$(if $(filter $(notdir $(t)),$(notdir $(joined)) $(chosen)),$(t).o $($(notdir $(t))_PARTS))) \
	$(foreach f,$(FUZZERS),$(call fuzz_object,$(f))) tests/fuzz/joined.o)
unsanitized := $(sort $(filter-out $(sanitized) $(unit_objects) bench/%,$(objects)))
archives_of_group = -Wl,--start-group $(filter $(support),$^) $(archives) -Wl,--end-group
sources   = $(shell git ls-files -co --exclude-standard '*.c' '*.h')

.PHONY: FORCE all help run check check-whole check-cluster check-packages deb bench conformance coverage mutants install asan ubsan fuzz fuzz-build clean format lint sample \
	tests units units-of-check test-tools together warnings fuzzers suites benches man print-tests print-joined print-fuzzers print-suites
.DELETE_ON_ERROR:
.SECONDARY:

all: $(archives) $(programs)
tests: $(units) test-tools
units: $(units)
# As `units`, where most are only in the program of all: what tests/run asks for.
units-of-check: $(chosen:%=$(BUILD)/tests/%) $(BUILD)/tests/unit_tests
test-tools: $(PROGRAMS:%=$(BUILD)/tests/bin/%)
warnings: $(unsanitized:%.o=$(BUILD)/syntax/%)
fuzzers: $(fuzzers)
suites: $(suites)
benches: $(benches)
man: $(manuals)
print-tests:
	@echo $(notdir $(units))
print-joined:
	@echo $(notdir $(joined))
print-fuzzers:
	@echo $(FUZZERS)
print-suites:
	@echo $(suites)

help:
	@echo 'make all          programs in $(BUILD)/bin'
	@echo 'make run          crawl the example web; SEEDS="https://example.org/" for another'
	@echo 'make check        the tests of a commit; ends with the counts'
	@echo 'make check-whole  every test, trying every place that check tries some of'
	@echo 'make check-cluster  machines that share a real CephFS and fail, disks that rsync copies; as root, not in make check'
	@echo 'make bench        rates of each part and stage, beside stock tools; SECTIONS="stores index" for some'
	@echo 'make conformance  the W3C and other suites, one row each'
	@echo 'make install      PREFIX=$(PREFIX) DESTDIR=$(DESTDIR)'
	@echo 'make deb          a Debian package; make check-packages tries it in a bare Debian 12'
	@echo 'make coverage     lines that the unit tests run, by folder; FOLDER=stages for some'
	@echo 'make mutants      how many small faults of the sources the unit tests notice; PATTERNS="queue/*" EACH=2 SEED=1'
	@echo 'make asan ubsan fuzz format lint sample clean'

# V=1 prints whole commands.
quiet := $(if $(V),,@)
say = $(if $(V),,$(info $() $(1)))

# ---- objects, archives, programs ----

# Other flags: everything anew.
flags := $(CC) $(compile) $(CFLAGS) $(sanitize)
$(BUILD)/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(flags)' | cmp -s - $@ || echo '$(flags)' >$@
FORCE:

# Tests run once for each time that they are compiled, so their own code is not optimized; nor is, under sanitizers,
# what does not run for long.
flags_of = $(if $(filter tests/unit/% tests/fuzz/% tests/conformance/%,$(1)),-O0,$(if $(SANITIZE),$(if \
	$(filter base/% store/% index/% queue/%,$(1)),-O1,-O0))) $(if $(filter tests/fuzz/%,$(1)),-Wno-missing-prototypes) \
	$(if $(filter tests/%/joined.c,$(1)),-I$(BUILD))

# DRAFT=1 leaves out what is missing or does not compile.
$(BUILD)/obj/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,compile $<)
	$(if $(DRAFT),-)$(quiet)$(flags) $(call flags_of,$<) -MMD -MP -MF $(@:.o=.d) -MT $@ -c $< -o $@.$$$$ && mv $@.$$$$ $@

# Compiled for its warnings alone.
$(BUILD)/syntax/%: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(quiet)$(CC) $(compile) $(CFLAGS) -fsyntax-only -MMD -MP -MF $@.d -MT $@ $< && touch $@

# Most of the sanitized build, with few processes; make compiles what is left.
tab := $(subst x,,x	x)
together: $(BUILD)/flags $(BUILD)/joined_tests.h $(BUILD)/joined_fuzzers.h
	$(file >$(BUILD)/together.list,$(foreach o,$(sanitized),$(BUILD)/obj/$(o)$(tab)$(o:.o=.c)$(tab)$(sanitize) $(call flags_of,$(o:.o=.c))$(newline)))
	$(file >>$(BUILD)/together.list,$(foreach o,$(unsanitized),$(BUILD)/syntax/$(o:.o=)$(tab)$(o:.o=.c)$(tab)-fsyntax-only$(newline)))
	@tests/compile_together $(BUILD) $(BUILD)/together.list $(CC) $(compile) $(CFLAGS)

define archive
$(BUILD)/lib/$(1).a: $(patsubst %,$(BUILD)/obj/%,$(if $(DRAFT),$(patsubst %.c,%.o,$(wildcard $($(1)_OBJECTS:.o=.c))),$($(1)_OBJECTS)))
	@mkdir -p $$(@D)
	$$(call say,archive $$@)
	$$(quiet)$(AR) rcs $$@.$$$$$$$$ $(if $(DRAFT),$$(wildcard $$^),$$^) && mv $$@.$$$$$$$$ $$@
endef
$(foreach f,$(FOLDERS) tests_support,$(if $($(f)_OBJECTS),$(eval $(call archive,$(f)))))

define program
$(BUILD)/bin/$(1): $($(1)_OBJECTS:%=$(BUILD)/obj/%) $(archives)
endef
$(foreach p,$(PROGRAMS),$(eval $(call program,$(p))))

link_command = @mkdir -p $(@D)$(newline)$(call say,link $@)$(newline)$(quiet)$(CC) $(CFLAGS) $(sanitize) $(LDFLAGS) $(link) $(filter %.o,$^) \
	$(archives_of_group)
# The same for a test. There are many, and lld links them in a third of the time.
link_test = $(link_command) $(if $(wildcard /usr/bin/ld.lld),-fuse-ld=lld)
define newline


endef
comma := ,

# A program may name a malloc of its own; sanitizers bring theirs.
$(programs):
	$(link_command) $(if $(SANITIZE),,$(allocator)) $(package_libs) -o $@.$$$$ && mv $@.$$$$ $@

quadrille_HOOK           := tests/hooks/index_fault.o tests/hooks/document_hook.o
quadrille_WRAP           := transform_run
quadrille-index_HOOK     := tests/hooks/index_fault.o
quadrille-transform_HOOK := tests/hooks/document_hook.o
quadrille-transform_WRAP := transform_run
quadrille-detect_HOOK    := $(quadrille-transform_HOOK)
quadrille-detect_WRAP    := transform_run
$(foreach p,$(hooked),$(eval $(BUILD)/tests/bin/$(p): $($(p)_OBJECTS:%=$(BUILD)/obj/%) $($(p)_HOOK:%=$(BUILD)/obj/%)))
$(hooked:%=$(BUILD)/tests/bin/%): $(BUILD)/tests/bin/%: $(archives)
	$(link_test) $($(@F)_WRAP:%=-Wl$(comma)--wrap=%) $(if $(SANITIZE),,$(allocator)) $(package_libs) -o $@.$$$$ && mv $@.$$$$ $@

$(patsubst %,$(BUILD)/tests/bin/%,$(filter-out $(hooked),$(PROGRAMS))): $(BUILD)/tests/bin/%: $(BUILD)/bin/%
	@mkdir -p $(@D)
	$(quiet)ln -f $< $@

$(foreach t,$(UNIT_TESTS),$(eval $(BUILD)/tests/$(notdir $(t)): $(BUILD)/obj/$(t).o $($(notdir $(t))_PARTS:%=$(BUILD)/obj/%)))
$(units): $(support) $(archives)
	$(link_test) $($(@F)_WRAPS:%=-Wl$(comma)--wrap=%) -lcmocka $(package_libs) -o $@.$$$$ && mv $@.$$$$ $@

$(joined:%=$(BUILD)/obj/%.joined.o): %.joined.o: %.o
	$(quiet)objcopy --redefine-sym main=$(notdir $*)_main $< $@.$$$$ && mv $@.$$$$ $@
$(BUILD)/joined_tests.h: $(BUILD)/flags $(build_files)
	$(file >$@,$(foreach t,$(notdir $(joined)),TEST($(t))$(newline)))
$(BUILD)/obj/tests/unit/joined.o: $(BUILD)/joined_tests.h
$(BUILD)/tests/unit_tests: $(BUILD)/obj/tests/unit/joined.o $(joined:%=$(BUILD)/obj/%.joined.o) \
		$(sort $(foreach t,$(notdir $(joined)),$($(t)_PARTS:%=$(BUILD)/obj/%))) $(support) $(archives)
	$(link_test) -lcmocka $(package_libs) -o $@.$$$$ && mv $@.$$$$ $@

$(suites): $(BUILD)/tests/%: $(BUILD)/obj/tests/conformance/%.o $(support) $(archives)
	$(link_test) $(package_libs) -o $@.$$$$ && mv $@.$$$$ $@

$(benches): $(BUILD)/bench/%: $(BUILD)/obj/bench/%.o $(support) $(archives)
	$(link_command) $(package_libs) -o $@.$$$$ && mv $@.$$$$ $@

fuzz_objects := $(foreach f,$(fuzz_joined),$(BUILD)/obj/$(patsubst %.o,%.joined.o,$(call fuzz_object,$(f))))
$(fuzz_objects): %.joined.o: %.o
	$(quiet)objcopy --redefine-sym LLVMFuzzerTestOneInput=$(notdir $*)_input $< $@.$$$$ && mv $@.$$$$ $@
$(BUILD)/joined_fuzzers.h: $(BUILD)/flags $(build_files)
	$(file >$@,$(foreach f,$(fuzz_joined),FUZZER($(f))$(newline)))
$(BUILD)/obj/tests/fuzz/joined.o: $(BUILD)/joined_fuzzers.h
$(BUILD)/tests/fuzzers: $(BUILD)/obj/tests/fuzz/joined.o $(fuzz_objects)
$(foreach f,$(fuzz_alone),$(eval $(BUILD)/tests/$(f): $(BUILD)/obj/$(call fuzz_object,$(f))))
$(fuzz_alone:%=$(BUILD)/tests/%) $(BUILD)/tests/fuzzers: $(support) $(archives)
	$(link_test) -fsanitize=fuzzer $(package_libs) -o $@.$$$$ && mv $@.$$$$ $@
$(fuzz_joined:%=$(BUILD)/tests/%): $(BUILD)/tests/fuzzers
	$(quiet)ln -f $< $@

$(BUILD)/man/quadrille.1: $(BUILD)/bin/quadrille
	@mkdir -p $(@D)
	@$< --man >$@.$$$$ && mv $@.$$$$ $@

$(services:%=$(BUILD)/man/%.8): $(BUILD)/man/%.8: $(BUILD)/bin/%
	@mkdir -p $(@D)
	@$< --man >$@.$$$$ && mv $@.$$$$ $@

$(SUBCOMMANDS:%=$(BUILD)/man/quadrille-%.1): $(BUILD)/man/quadrille-%.1: $(BUILD)/bin/quadrille
	@mkdir -p $(@D)
	@$< $* --man >$@.$$$$ && mv $@.$$$$ $@

-include $(patsubst %.o,$(BUILD)/obj/%.d,$(objects)) $(patsubst %.o,$(BUILD)/syntax/%.d,$(unsanitized))

# ---- what people ask for; these install what is missing first ----

# As many jobs as processors, unless make was told otherwise.
make_now = @$(MAKE) --no-print-directory $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc))

run:
	@deploy/install-deps
	$(make_now) all
	@examples/run $(SEEDS)

check:
	@deploy/install-deps
	$(make_now) all test-tools suites man
	@tests/run

# At full length: some twice as long. QUADRILLE_POWER_SITES=1 is longer still.
check-whole: export QUADRILLE_WHOLE = 1
check-whole: check

check-cluster:
	@deploy/install-deps --cluster
	$(make_now) all
	@tests/cluster/rsync.sh
	@tests/cluster/ceph.sh

bench:
	@deploy/install-deps
	@bench/run $(SECTIONS)

conformance:
	@deploy/install-deps
	$(make_now) all suites
	@tests/conformance/run $(BUILD)/conformance $(suites)

# Built apart, unoptimized, so that a line is a line; programs, too, since lines that are in no test count as not run.
# What forked processes run counts, however they end (tests/hooks/shared_counts.c).
coverage: coverage = BUILD=build/coverage CFLAGS='-O0 -g --coverage -fdata-sections'
coverage:
	@deploy/install-deps
	$(make_now) $(coverage) build/coverage/obj/tests/hooks/shared_counts.o
	$(make_now) $(coverage) LDFLAGS='-Wl,-T,tests/hooks/shared_counts.ld \
		build/coverage/obj/tests/hooks/shared_counts.o' all units
	@tests/coverage $(FOLDER)

mutants:
	@deploy/install-deps
	@tests/mutants/measure $(if $(EACH),--each $(EACH)) $(if $(SEED),--seed $(SEED)) $(PATTERNS:%='%')

asan:
	$(MAKE) BUILD=build/asan SANITIZE=address,undefined CFLAGS='-g' all tests

ubsan:
	$(MAKE) BUILD=build/ubsan SANITIZE=undefined CFLAGS='-g' all tests

# The unit tests and the fuzzers by clang under its sanitizers; clang warns of the other sources, too.
fuzz-build: fuzz = BUILD=build/sanitize CC=clang SANITIZE=fuzzer-no-link,address,undefined CFLAGS=-gline-tables-only
fuzz-build:
	@$(MAKE) --no-print-directory $(fuzz) together
	@$(MAKE) --no-print-directory $(fuzz) units-of-check fuzzers warnings

# Each fuzzer for SECONDS; what they find is kept in build/fuzz/.
fuzz: fuzz-build
	@mkdir -p $(FUZZERS:%=build/fuzz/%)
	@$(foreach f,$(FUZZERS),build/sanitize/tests/$(f) -max_total_time=$(SECONDS) \
		-artifact_prefix=build/fuzz/$(f)- build/fuzz/$(f) tests/fuzz/corpus/$(f) &&) true

install: all man
	install -d $(addprefix $(DESTDIR)$(PREFIX)/,bin share/man/man1 share/man/man8 share/quadrille)
	install -m 755 $(programs) $(DESTDIR)$(PREFIX)/bin
	install -m 644 $(filter %.1,$(manuals)) $(DESTDIR)$(PREFIX)/share/man/man1
	install -m 644 $(filter %.8,$(manuals)) $(DESTDIR)$(PREFIX)/share/man/man8
	cp -R transforms/data/. $(DESTDIR)$(PREFIX)/share/quadrille

deb:
	@deploy/install-deps --package
	$(make_now) all man
	@deploy/package/build

# As root; asks Debian's mirror.
check-packages: deb
	@tests/packages

# deploy/quadrille.conf, after a change of an option table.
sample: $(BUILD)/bin/quadrille
	@rm -rf $(BUILD)/sample && $< init --dir $(BUILD)/sample >/dev/null
	cp $(BUILD)/sample/quadrille.conf deploy/quadrille.conf

format:
	clang-format -i $(sources)

lint:
	tests/lint

clean:
	rm -rf build
