dumps_OBJECTS := dumps/slicing.o dumps/spool.o dumps/components.o dumps/closure.o dumps/slicer.o \
	dumps/slicer_group.o
