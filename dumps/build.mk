dumps_OBJECTS := dumps/slicing.o dumps/spool.o dumps/text_sort.o dumps/components.o dumps/closure.o dumps/slicer.o \
	dumps/slicer_group.o dumps/slicer_closures.o dumps/gather.o dumps/dictionary.o dumps/streaming.o
UNIT_TESTS += tests/unit/test_slicer
