rdf_OBJECTS := $(addprefix rdf/,format.o)
rdf_OBJECTS += $(addprefix rdf/canonical/,blank_index.o canonical.o minhash.o relabel.o)
rdf_OBJECTS += $(addprefix rdf/core/,graph.o lexical.o problem.o resolve.o scratch.o term.o writer.o)
rdf_OBJECTS += $(addprefix rdf/json/,json.o json_lenient.o json_tree.o json_write.o)
rdf_OBJECTS += $(addprefix rdf/jsonld/,jsonld.o jsonld_context.o jsonld_contexts.o jsonld_expand.o jsonld_iri.o jsonld_limits.o jsonld_load.o jsonld_words.o \
	jsonld_keywords.o jsonld_link.o jsonld_maps.o jsonld_rdf.o jsonld_term.o jsonld_values.o)
rdf_OBJECTS += $(addprefix rdf/nquads/,nquads.o)
rdf_OBJECTS += $(addprefix rdf/rdfxml/,rdfxml.o rdfxml_attributes.o rdfxml_grammar.o trix.o xml_line.o xml_literal.o \
	xml_names.o)
rdf_OBJECTS += $(addprefix rdf/turtle/,turtle.o turtle_cut.o turtle_document.o turtle_n3.o turtle_terms.o \
	turtle_writer.o)
UNIT_TESTS += tests/unit/rdf/test_canonical tests/unit/rdf/test_jsonld tests/unit/rdf/test_minhash \
	tests/unit/rdf/test_nquads tests/unit/rdf/test_rdf_writer tests/unit/rdf/test_rdfxml tests/unit/rdf/test_scan \
	tests/unit/rdf/test_source tests/unit/rdf/test_trix tests/unit/rdf/test_turtle
FUZZERS += fuzz_jsonld fuzz_nquads fuzz_rdfxml fuzz_source fuzz_trix fuzz_turtle
CONFORMANCE += rdfcat run_rdf
test_canonical_PARTS := tests/unit/rdf/canonical_model.o
test_nquads_PARTS := tests/unit/rdf/nquads_lines.o
test_turtle_PARTS := tests/unit/rdf/turtle_documents.o tests/unit/rdf/turtle_limits.o
