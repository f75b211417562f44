transforms_OBJECTS := $(addprefix transforms/,builtin.o transform.o transforms_options.o)
transforms_OBJECTS += $(addprefix transforms/common/,contexts.o dates.o emit.o encoding.o encoding_labels.o links.o \
	meta_names.o relations.o unpack.o)
transforms_OBJECTS += $(addprefix transforms/core/,external_program.o rdf_syntax.o registry.o transform_request.o \
	transformation.o)
transforms_OBJECTS += $(addprefix transforms/embedded/,html_builtin.o jsonld_builtin.o link_header.o \
	rdfxml_islands.o)
transforms_OBJECTS += $(addprefix transforms/html/,features.o formatting.o html_entities.o html_entity_table.o ids.o \
	insertion_modes.o insertion_modes_body.o insertion_modes_table.o names.o open_elements.o profile.o quirks.o token.o \
	tree.o tree_build.o tree_parse.o)
transforms_OBJECTS += $(addprefix transforms/media/,exif.o image.o iptc.o iso_media.o matroska.o media.o pdf.o \
	recording.o recording_tags.o xmp.o)
transforms_OBJECTS += $(addprefix transforms/microdata/,microdata.o microdata_builtin.o microdata_findings.o \
	microdata_types.o microdata_values.o)
transforms_OBJECTS += $(addprefix transforms/microformats/,microformats.o microformats_builtin.o \
	microformats_children.o microformats_classes.o microformats_classic.o microformats_dates.o microformats_emit.o microformats_implied.o \
	microformats_values.o microformats_vocabulary.o)
transforms_OBJECTS += $(addprefix transforms/page/,page_extract.o page_links.o page_meta.o page_rdfa_names.o \
	page_walk.o)
transforms_OBJECTS += $(addprefix transforms/rdfa/,rdfa.o rdfa_attributes.o rdfa_builtin.o rdfa_initial.o \
	rdfa_markup.o rdfa_names.o rdfa_output.o rdfa_rules.o rdfa_steps.o rdfa_value.o)
transforms_OBJECTS += $(addprefix transforms/text/,calendar.o content_line.o csv.o csv_builtin.o vcard.o)
transforms_OBJECTS += $(addprefix transforms/xml/,tidy.o xhtml.o xml.o xml_lines.o xml_mend.o xml_peek.o)
transforms_OBJECTS += $(addprefix transforms/xslt/,construct.o grddl.o grddl_find.o page_xml.o stylesheet.o \
	stylesheet_functions.o stylesheet_lines.o stylesheet_names.o)
UNIT_TESTS += tests/unit/transforms/test_contexts tests/unit/transforms/test_csv \
	tests/unit/transforms/test_encoding_labels tests/unit/transforms/test_explain tests/unit/transforms/test_feed \
	tests/unit/transforms/test_grddl tests/unit/transforms/test_html tests/unit/transforms/test_html_paths \
	tests/unit/transforms/test_html_statements tests/unit/transforms/test_jsonld_pages tests/unit/transforms/test_media \
	tests/unit/transforms/test_microdata tests/unit/transforms/test_microformats tests/unit/transforms/test_rdfa \
	tests/unit/transforms/test_tidy tests/unit/transforms/test_transform tests/unit/transforms/test_transform_examples \
	tests/unit/transforms/test_xml_mend
FUZZERS += fuzz_calendar fuzz_csv fuzz_feed fuzz_html fuzz_media fuzz_microdata fuzz_microformats fuzz_rdfa \
	fuzz_transform fuzz_unpack
CONFORMANCE += compare_extractors run_feeds run_html_encoding run_html_tokenizer run_html_tree run_jsonld \
	run_microdata run_microformats run_rdfa
test_html_PARTS := tests/unit/transforms/html_tokens.o tests/unit/transforms/html_tokenizer_model.o
test_media_PARTS := tests/unit/transforms/media_recordings.o
