transforms_OBJECTS := transforms/html_names.o transforms/html_features.o transforms/html_entities.o transforms/html_entity_table.o transforms/html_tree.o \
	transforms/html_token.o transforms/html_parse.o transforms/html_build.o \
	transforms/html_stack.o transforms/html_formatting.o transforms/html_modes.o \
	transforms/html_modes_body.o transforms/html_modes_table.o transforms/html_quirks.o transforms/html_profile.o transforms/xhtml.o \
	transforms/html_advice.o transforms/html_extract.o transforms/html_extract_links.o transforms/html_extract_meta.o transforms/html_meta_names.o \
	transforms/html_rdfa_names.o transforms/relations.o transforms/link_header.o \
	transforms/html_ids.o transforms/microdata.o transforms/microdata_types.o transforms/microdata_values.o transforms/microdata_findings.o transforms/microdata_builtin.o \
	transforms/microformats.o transforms/microformats_children.o transforms/microformats_values.o transforms/microformats_implied.o \
	transforms/microformats_dates.o transforms/microformats_classic.o \
	transforms/microformats_vocabulary.o transforms/microformats_emit.o transforms/microformats_builtin.o \
	transforms/encoding.o transforms/encoding_labels.o transforms/emit.o transforms/links.o \
	transforms/xml.o transforms/xml_lines.o transforms/xml_peek.o transforms/xml_mend.o transforms/dates.o transforms/registry.o \
	transforms/unpack.o transforms/csv.o transforms/csv_builtin.o transforms/material.o transforms/page_xml.o transforms/tidy.o transforms/builtin.o transforms/stylesheet.o transforms/stylesheet_names.o \
	transforms/stylesheet_functions.o transforms/stylesheet_lines.o transforms/construct.o transforms/islands.o transforms/grddl.o transforms/grddl_find.o transforms/program.o \
	transforms/transform.o transforms/transform_request.o transforms/rdf_syntax.o transforms/options.o \
	transforms/jsonld.o transforms/contexts.o
CONFORMANCE += run_jsonld
UNIT_TESTS += tests/unit/test_jsonld_pages
CONFORMANCE += run_feeds
CONFORMANCE += run_html_encoding run_html_tokenizer run_html_tree compare_extractors
UNIT_TESTS += tests/unit/test_transform_examples
UNIT_TESTS += tests/unit/test_html tests/unit/test_html_paths tests/unit/test_html_statements
UNIT_TESTS += tests/unit/test_transform tests/unit/test_tidy
FUZZERS += fuzz_html fuzz_transform
UNIT_TESTS += tests/unit/test_encoding_labels
UNIT_TESTS += tests/unit/test_contexts
CONFORMANCE += run_microdata run_microformats
CONFORMANCE += run_rdfa
FUZZERS += fuzz_rdfa
UNIT_TESTS += tests/unit/test_rdfa
transforms_OBJECTS += transforms/media.o transforms/image.o transforms/exif.o transforms/iptc.o \
	transforms/xmp.o transforms/recording.o transforms/tags.o transforms/iso_media.o \
	transforms/matroska.o transforms/pdf.o transforms/content_line.o transforms/calendar.o \
	transforms/vcard.o
UNIT_TESTS += tests/unit/test_media
FUZZERS += fuzz_media fuzz_calendar
transforms_OBJECTS += transforms/rdfa.o transforms/rdfa_attributes.o transforms/rdfa_names.o transforms/rdfa_initial.o \
	transforms/rdfa_steps.o transforms/rdfa_value.o transforms/rdfa_markup.o transforms/rdfa_rules.o transforms/rdfa_builtin.o
FUZZERS += fuzz_csv fuzz_unpack
UNIT_TESTS += tests/unit/test_csv tests/unit/test_explain
UNIT_TESTS += tests/unit/test_microdata tests/unit/test_microformats
FUZZERS += fuzz_microdata fuzz_microformats
UNIT_TESTS += tests/unit/test_grddl tests/unit/test_xml_mend tests/unit/test_feed
FUZZERS += fuzz_feed
test_html_PARTS := tests/unit/html_tokens.o tests/unit/html_tokenizer_model.o
test_media_PARTS := tests/unit/media_recordings.o
