/* RDF/XML's attributes: the names they hold, and the statements that property attributes make. */
#include <stdlib.h>
#include <strings.h>

#include "base/digest.h"
#include "base/map.h"
#include "rdf/core/lexical.h"
#include "rdf/core/vocabulary.h"
#include "rdf/rdfxml/rdfxml_reader.h"
#include "rdf/rdfxml/xml_line.h"

enum status
rdfxml_fail(struct rdfxml_reader *reader, const char *message)
{
    reader->message = message;
    return STATUS_BAD_INPUT;
}

enum status
rdfxml_fail_limit(struct rdfxml_reader *reader, const char *what)
{
    return status_fail(reader->why, STATUS_LIMIT, "%s", what);
}

enum status
rdfxml_emit(struct rdfxml_reader *reader, uint32_t line, const struct term *subject,
            struct slice predicate, const struct term *object)
{
    const struct quad quad = {
        .subject = *subject, .predicate = term_iri(predicate), .object = *object, .line = line};
    return reader->sink.quad(reader->sink.context, &quad, reader->why);
}

/* ---- names in attributes ---- */

/* The IRI that an attribute's value refers to; the result lies in scratch. */
enum status
rdfxml_resolve(struct rdfxml_reader *reader, const struct iri_base *base, struct slice value,
               struct slice *iri)
{
    *iri = value;
    if (!iri_base_resolve(base, iri, &reader->scratch, &reader->work)) {
        return rdfxml_fail(reader, "relative IRI where no base is known");
    }
    if (!lexical_iri_valid(*iri)) {
        return rdfxml_fail(reader, "not a valid IRI");
    }
    if (iri->at == value.at) {
        *iri = scratch_copy(&reader->scratch, value);
    }
    return STATUS_OK;
}

/* NCName of Namespaces in XML; the text is UTF-8. */
static bool
is_name(struct slice text)
{
    const char *at = text.at, *end = text.at + text.length;
    if (at == end || lexical_is(*at, LEXICAL_DIGIT) || *at == '-') {
        return false;
    }
    int length = 0;
    if (!lexical_name_start(lexical_decode(at, &length))) {
        return false;
    }
    while (at < end) {
        length = *at == '.' ? 1 : lexical_name_length(at, end);
        if (length == 0) {
            return false;
        }
        at += length;
    }
    return true;
}

/* rdf:nodeID. A label must not end in '.', which a name may: such get a label of a third kind. */
enum status
rdfxml_read_node_id(struct rdfxml_reader *reader, struct slice name, struct term *node)
{
    if (!is_name(name)) {
        return rdfxml_fail(reader, "rdf:nodeID is not a name");
    }
    struct slice label = scratch_copy(&reader->scratch, name);
    if (label.at[label.length - 1] == '.') {
        label = scratch_join(&reader->scratch, SLICE("gd"), label);
        label = scratch_join(&reader->scratch, label, SLICE("-"));
    } else {
        label = blank_label_given(&reader->scratch, label);
    }
    *node = term_blank(label);
    return STATUS_OK;
}

/* rdf:ID: "#" and the name, against the base; only once in a document. */
enum status
rdfxml_read_id(struct rdfxml_reader *reader, const struct iri_base *base, struct slice name,
               struct slice *iri)
{
    if (!is_name(name)) {
        return rdfxml_fail(reader, "rdf:ID is not a name");
    }
    TRY(rdfxml_resolve(reader, base, scratch_join(&reader->scratch, SLICE("#"), name), iri));
    return map_add(&reader->ids, fingerprint64(*iri))
               ? STATUS_OK
               : rdfxml_fail(reader, "rdf:ID has been given before");
}

/* A fault that costs no more than the attribute. */
static enum status
problem(struct rdfxml_reader *reader, const char *text)
{
    const xmlParserInputPtr input = reader->context->input;
    return problem_report(&reader->problems, input != NULL ? (uint64_t)input->line : 0,
                          input != NULL ? (uint64_t)input->col : 0, text, reader->why);
}

static enum status
read_language(struct rdfxml_reader *reader, struct slice value, struct slice *language)
{
    *language = (struct slice){NULL, 0};
    if (value.length == 0) {
        return STATUS_OK;
    }
    if (!lexical_language_valid(value)) {
        return problem(reader, "xml:lang is not a language tag");
    }
    char *to = scratch_take(&reader->scratch, value.length);
    lexical_lower(value, to);
    *language = slice_of(to, value.length);
    return STATUS_OK;
}

/* ---- attributes ---- */

static struct slice
value_of(const xmlChar **attribute)
{
    return slice_of((const char *)attribute[3], (size_t)(attribute[4] - attribute[3]));
}

static bool
is_xml(const xmlChar *prefix)
{
    return prefix != NULL && strcmp((const char *)prefix, "xml") == 0;
}

/* Names that start with "xml" in any case are reserved, and ignored. */
static bool
is_reserved(const xmlChar **attribute)
{
    return is_xml(attribute[1]) ||
           (attribute[2] == NULL && strncasecmp((const char *)attribute[0], "xml", 3) == 0);
}

/* Attributes without namespace that stand for those of RDF's (section 6.1.4). */
static enum xml_term
bare_term(const xmlChar *local)
{
    static const struct {
        const char *local;
        enum xml_term term;
    } bare[] = {{"ID", XML_TERM_ID},
                {"about", XML_TERM_ABOUT},
                {"resource", XML_TERM_RESOURCE},
                {"parseType", XML_TERM_PARSE_TYPE},
                {"type", XML_TERM_TYPE}};
    for (size_t i = 0; i < sizeof bare / sizeof *bare; i++) {
        if (strcmp((const char *)local, bare[i].local) == 0) {
            return bare[i].term;
        }
    }
    return XML_TERM_OTHER;
}

/* xml:base and xml:lang, which hold for the element's other attributes whatever their order. */
static enum status
read_inherited(struct rdfxml_reader *reader, struct rdfxml_frame *frame, int count,
               const xmlChar **all)
{
    for (int i = 0; i < count; i++) {
        const xmlChar **attribute = all + 5 * i;
        if (!is_xml(attribute[1])) {
            continue;
        }
        if (strcmp((const char *)attribute[0], "base") == 0) {
            struct slice iri;
            TRY(rdfxml_resolve(reader, &frame->base, value_of(attribute), &iri));
            frame->base = iri_base_of(iri);
        } else if (strcmp((const char *)attribute[0], "lang") == 0) {
            TRY(read_language(reader, value_of(attribute), &frame->language));
        }
    }
    return STATUS_OK;
}

static enum status
read_attribute(struct rdfxml_reader *reader, const xmlChar **attribute,
               struct rdfxml_attributes *attributes)
{
    enum xml_term term;
    if (attribute[2] == NULL) {
        term = bare_term(attribute[0]);
        if (term == XML_TERM_OTHER) {
            return problem(reader, "attribute without a namespace");
        }
    } else {
        const struct xml_name *name = xml_names_get(&reader->names, attribute[2], attribute[0]);
        if (name == NULL) {
            return rdfxml_fail_limit(reader, "too many names");
        }
        if (name->iri.at == NULL) {
            return rdfxml_fail(reader, "attribute's name is not a valid IRI");
        }
        term = name->term;
    }
    switch (term) {
    case XML_TERM_OTHER:
    case XML_TERM_TYPE:
        attributes->properties++;
        return STATUS_OK;
    case XML_TERM_ABOUT:
    case XML_TERM_ID:
    case XML_TERM_NODE_ID:
    case XML_TERM_RESOURCE:
    case XML_TERM_DATATYPE:
    case XML_TERM_PARSE_TYPE:
        attributes->present |= 1u << term;
        attributes->values[term] = value_of(attribute);
        return STATUS_OK;
    default:
        return rdfxml_fail(reader, "name of RDF's that must not be an attribute");
    }
}

enum status
rdfxml_read_attributes(struct rdfxml_reader *reader, struct rdfxml_frame *frame,
                       struct rdfxml_attributes *attributes)
{
    TRY(read_inherited(reader, frame, attributes->count, attributes->all));
    for (int i = 0; i < attributes->count; i++) {
        const xmlChar **attribute = attributes->all + 5 * i;
        if (!is_reserved(attribute)) {
            TRY(read_attribute(reader, attribute, attributes));
        }
    }
    return STATUS_OK;
}

/* Values without references lie in libxml2's buffer; others are taken to be in the line before. */
static void
pass_to_value(const struct rdfxml_reader *reader, const xmlChar **attribute, const xmlChar **at,
              uint32_t *line)
{
    const xmlChar *value = attribute[3];
    if (reader->tag != NULL && value >= *at && value < reader->context->input->cur) {
        xml_line_pass(at, value, line);
    }
}

/* propertyAttr: a literal each, rdf:type an IRI. */
enum status
rdfxml_emit_property_attributes(struct rdfxml_reader *reader, const struct rdfxml_frame *frame,
                                const struct rdfxml_attributes *attributes,
                                const struct term *subject)
{
    const xmlChar *at = reader->tag;
    uint32_t line = frame->line;
    for (int i = 0; attributes->properties > 0 && i < attributes->count; i++) {
        const xmlChar **attribute = attributes->all + 5 * i;
        if (is_reserved(attribute)) {
            continue;
        }
        pass_to_value(reader, attribute, &at, &line);
        const bool bare = attribute[2] == NULL;
        const struct xml_name *name =
            bare ? NULL : xml_names_get(&reader->names, attribute[2], attribute[0]);
        const enum xml_term term = bare ? bare_term(attribute[0]) : name->term;
        struct term object = term_literal(value_of(attribute));
        if (term == XML_TERM_TYPE) {
            object.kind = TERM_IRI;
            TRY(rdfxml_resolve(reader, &frame->base, object.value, &object.value));
            TRY(rdfxml_emit(reader, line, subject, SLICE(RDF_TYPE), &object));
        } else if (!bare && term == XML_TERM_OTHER) {
            object.language = frame->language;
            TRY(rdfxml_emit(reader, line, subject, name->iri, &object));
        }
    }
    return STATUS_OK;
}
