rdf_OBJECTS := rdf/term.o rdf/lexical.o rdf/scratch.o rdf/problem.o rdf/resolve.o rdf/graph.o \
	rdf/writer.o rdf/nquads.o rdf/turtle.o rdf/turtle_terms.o rdf/format.o
