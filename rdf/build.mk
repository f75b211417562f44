rdf_OBJECTS := rdf/term.o rdf/lexical.o rdf/scratch.o rdf/problem.o rdf/resolve.o rdf/graph.o \
	rdf/writer.o rdf/nquads.o rdf/turtle.o rdf/turtle_terms.o rdf/turtle_n3.o rdf/turtle_cut.o rdf/turtle_document.o rdf/rdfxml.o \
	rdf/trix.o rdf/rdfxml_grammar.o rdf/rdfxml_attributes.o rdf/xml_line.o rdf/xml_names.o rdf/xml_literal.o rdf/format.o rdf/blank_index.o \
	rdf/canonical.o rdf/relabel.o rdf/turtle_writer.o rdf/sketch.o \
	rdf/json.o rdf/json_tree.o rdf/json_lenient.o rdf/json_write.o rdf/jsonld.o \
	rdf/jsonld_contexts.o rdf/jsonld_context.o rdf/jsonld_term.o rdf/jsonld_iri.o \
	rdf/jsonld_expand.o rdf/jsonld_keywords.o rdf/jsonld_maps.o rdf/jsonld_values.o rdf/jsonld_rdf.o rdf/jsonld_link.o
CONFORMANCE += run_rdf rdfcat
UNIT_TESTS += tests/unit/test_scan tests/unit/test_nquads tests/unit/test_turtle tests/unit/test_rdfxml \
	tests/unit/test_canonical tests/unit/test_rdf_writer tests/unit/test_sketch tests/unit/test_jsonld
FUZZERS += fuzz_nquads fuzz_turtle fuzz_rdfxml fuzz_jsonld
UNIT_TESTS += tests/unit/test_trix
FUZZERS += fuzz_trix
UNIT_TESTS += tests/unit/test_source
FUZZERS += fuzz_source
test_turtle_PARTS := tests/unit/turtle_documents.o tests/unit/turtle_limits.o
test_nquads_PARTS := tests/unit/nquads_lines.o
test_canonical_PARTS := tests/unit/canonical_model.o
