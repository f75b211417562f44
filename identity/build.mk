identity_OBJECTS := $(addprefix identity/,authority.o cluster.o edges.o identity.o identity_graph.o \
	identity_write.o meaning.o refused_values.o schema.o vocabulary.o)
CONFORMANCE += run_identity
UNIT_TESTS += tests/unit/identity/test_identity
