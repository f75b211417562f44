dumps_OBJECTS := $(addprefix dumps/,closure.o components.o dictionary.o gather.o slicer.o slicer_closures.o \
	slicer_group.o slicer_taker.o slicing.o spool.o streaming.o text_sort.o)
