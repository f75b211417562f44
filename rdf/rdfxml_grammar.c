/* The grammar of RDF/XML, section 7.2 of the recommendation, over a stack of open elements.
 * Statements go out as soon as they are known: that a property's object is a node when the
 * node starts, that it is a literal when the property ends.
 */
#include <stdlib.h>
#include <strings.h>

#include "base/memory.h"
#include "rdf/lexical.h"
#include "rdf/rdfxml_reader.h"
#include "rdf/vocabulary.h"

enum { FIRST_IDS = 64 };

#define BIT(term) (1u << XML_TERM_##term)

/* The attributes of one element, sorted out. */
struct attributes {
    unsigned present; /* BIT of each that the grammar names, but rdf:type */
    struct slice values[XML_TERM_COUNT];
    int properties; /* number of property attributes, rdf:type among them */
    int count;
    const xmlChar **all; /* SAX2's array */
};

static enum status
fail(struct rdfxml_reader *reader, const char *message)
{
    reader->message = message;
    return STATUS_BAD_INPUT;
}

static enum status
fail_limit(struct rdfxml_reader *reader, const char *what)
{
    return status_fail(reader->why, STATUS_LIMIT, "%s", what);
}

static enum status
emit(struct rdfxml_reader *reader, const struct term *subject, struct slice predicate,
     const struct term *object)
{
    const struct quad quad = {
        .subject = *subject, .predicate = term_iri(predicate), .object = *object};
    return reader->sink.quad(reader->sink.context, &quad, reader->why);
}

static struct term
made_blank(struct rdfxml_reader *reader)
{
    char *text = scratch_take(&reader->scratch, BLANK_LABEL_SIZE);
    return term_blank(blank_label_made(reader->generated++, text));
}

/* ---- names in attributes ---- */

/* The IRI that an attribute's value refers to; the result lies in scratch. */
static enum status
resolve(struct rdfxml_reader *reader, const struct iri_base *base, struct slice value,
        struct slice *iri)
{
    *iri = value;
    if (!iri_base_resolve(base, iri, &reader->scratch, &reader->work)) {
        return fail(reader, "relative IRI where no base is known");
    }
    if (!lexical_iri_valid(*iri)) {
        return fail(reader, "not a valid IRI");
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
static enum status
read_node_id(struct rdfxml_reader *reader, struct slice name, struct term *node)
{
    if (!is_name(name)) {
        return fail(reader, "rdf:nodeID is not a name");
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

static uint8_t *
find_id(const struct rdfxml_ids *ids, const uint8_t print[FINGERPRINT_SIZE])
{
    static const uint8_t none[FINGERPRINT_SIZE];
    size_t slot = 0;
    memcpy(&slot, print, sizeof slot);
    for (slot &= ids->size - 1; memcmp(ids->prints[slot], none, FINGERPRINT_SIZE) != 0 &&
                                memcmp(ids->prints[slot], print, FINGERPRINT_SIZE) != 0;
         slot = (slot + 1) & (ids->size - 1)) {
    }
    return ids->prints[slot];
}

/* False when the IRI was there already. */
static bool
add_id(struct rdfxml_ids *ids, struct slice iri)
{
    uint8_t print[FINGERPRINT_SIZE];
    if (ids->count * 2 >= ids->size) {
        struct rdfxml_ids grown = {.size = ids->size == 0 ? FIRST_IDS : ids->size * 2,
                                   .count = ids->count};
        grown.prints = memory_zero(grown.size, sizeof *grown.prints);
        for (size_t i = 0; i < ids->size; i++) {
            memcpy(find_id(&grown, ids->prints[i]), ids->prints[i], FINGERPRINT_SIZE);
        }
        free(ids->prints);
        *ids = grown;
    }
    fingerprint(iri, print);
    uint8_t *slot = find_id(ids, print);
    if (memcmp(slot, print, sizeof print) == 0) {
        return false;
    }
    memcpy(slot, print, sizeof print);
    ids->count++;
    return true;
}

/* rdf:ID: "#" and the name, against the base; only once in a document. */
static enum status
read_id(struct rdfxml_reader *reader, const struct iri_base *base, struct slice name,
        struct slice *iri)
{
    if (!is_name(name)) {
        return fail(reader, "rdf:ID is not a name");
    }
    TRY(resolve(reader, base, scratch_join(&reader->scratch, SLICE("#"), name), iri));
    return add_id(&reader->ids, *iri) ? STATUS_OK
                                      : fail(reader, "rdf:ID has been given before");
}

static enum status
read_language(struct rdfxml_reader *reader, struct slice value, struct slice *language)
{
    *language = (struct slice){NULL, 0};
    if (value.length == 0) {
        return STATUS_OK;
    }
    if (!lexical_language_valid(value)) {
        return problem_report(&reader->problems, (uint64_t)reader->context->input->line, 0,
                              "xml:lang is not a language tag", reader->why);
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
            TRY(resolve(reader, &frame->base, value_of(attribute), &iri));
            frame->base = iri_base_of(iri);
        } else if (strcmp((const char *)attribute[0], "lang") == 0) {
            TRY(read_language(reader, value_of(attribute), &frame->language));
        }
    }
    return STATUS_OK;
}

static enum status
read_attribute(struct rdfxml_reader *reader, const xmlChar **attribute,
               struct attributes *attributes)
{
    enum xml_term term;
    if (attribute[2] == NULL) {
        term = bare_term(attribute[0]);
        if (term == XML_TERM_OTHER) {
            return fail(reader, "attribute without a namespace");
        }
    } else {
        const struct xml_name *name = xml_names_get(&reader->names, attribute[2], attribute[0]);
        if (name == NULL) {
            return fail_limit(reader, "too many names");
        }
        if (name->iri.at == NULL) {
            return fail(reader, "attribute's name is not a valid IRI");
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
        return fail(reader, "name of RDF's that must not be an attribute");
    }
}

static enum status
read_attributes(struct rdfxml_reader *reader, struct rdfxml_frame *frame,
                struct attributes *attributes)
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

/* propertyAttr: a literal each, rdf:type an IRI. */
static enum status
emit_property_attributes(struct rdfxml_reader *reader, const struct rdfxml_frame *frame,
                         const struct attributes *attributes, const struct term *subject)
{
    for (int i = 0; attributes->properties > 0 && i < attributes->count; i++) {
        const xmlChar **attribute = attributes->all + 5 * i;
        if (is_reserved(attribute)) {
            continue;
        }
        const bool bare = attribute[2] == NULL;
        const struct xml_name *name =
            bare ? NULL : xml_names_get(&reader->names, attribute[2], attribute[0]);
        const enum xml_term term = bare ? bare_term(attribute[0]) : name->term;
        struct term object = term_literal(value_of(attribute));
        if (term == XML_TERM_TYPE) {
            object.kind = TERM_IRI;
            TRY(resolve(reader, &frame->base, object.value, &object.value));
            TRY(emit(reader, subject, SLICE(RDF_TYPE), &object));
        } else if (term == XML_TERM_OTHER) {
            object.language = frame->language;
            TRY(emit(reader, subject, name->iri, &object));
        }
    }
    return STATUS_OK;
}

/* ---- statements ---- */

/* The statement that a property element makes, and its reification. */
static enum status
emit_statement(struct rdfxml_reader *reader, const struct rdfxml_frame *property,
               const struct term *object)
{
    const struct term *subject = &property[-1].node;
    TRY(emit(reader, subject, property->predicate, object));
    if (property->reification.length == 0) {
        return STATUS_OK;
    }
    const struct term statement = term_iri(property->reification);
    const struct term predicate = term_iri(property->predicate);
    const struct term type = term_iri(SLICE(RDF_STATEMENT));
    TRY(emit(reader, &statement, SLICE(RDF_TYPE), &type));
    TRY(emit(reader, &statement, SLICE(RDF_SUBJECT), subject));
    TRY(emit(reader, &statement, SLICE(RDF_PREDICATE), &predicate));
    return emit(reader, &statement, SLICE(RDF_OBJECT), object);
}

/* Hangs a node on the collection's end. */
static enum status
emit_item(struct rdfxml_reader *reader, struct rdfxml_frame *collection, const struct term *item)
{
    char label[BLANK_LABEL_SIZE];
    const struct term cell = term_blank(blank_label_made(reader->generated++, label));
    if (collection->cell.kind == TERM_NONE) {
        TRY(emit_statement(reader, collection, &cell));
    } else {
        TRY(emit(reader, &collection->cell, SLICE(RDF_REST), &cell));
    }
    memcpy(collection->cell_label, label, sizeof label);
    collection->cell = term_blank(slice_of(collection->cell_label, cell.value.length));
    return emit(reader, &collection->cell, SLICE(RDF_FIRST), item);
}

static bool
is_blank(struct slice text)
{
    for (size_t i = 0; i < text.length; i++) {
        if (!lexical_is(text.at[i], LEXICAL_SPACE)) {
            return false;
        }
    }
    return true;
}

/* ---- elements ---- */

static enum status
start_rdf(struct rdfxml_reader *reader, struct rdfxml_frame *frame,
          const struct attributes *attributes)
{
    if (attributes->present != 0 || attributes->properties > 0) {
        return fail(reader, "rdf:RDF with attributes of RDF");
    }
    frame->kind = RDFXML_RDF;
    return STATUS_OK;
}

/* The subject that a node element's attributes name. */
static enum status
read_subject(struct rdfxml_reader *reader, const struct rdfxml_frame *frame,
             const struct attributes *attributes, struct term *node)
{
    const struct slice *values = attributes->values;
    switch (attributes->present) {
    case 0:
        *node = made_blank(reader);
        return STATUS_OK;
    case BIT(ABOUT):
        node->kind = TERM_IRI;
        return resolve(reader, &frame->base, values[XML_TERM_ABOUT], &node->value);
    case BIT(ID):
        node->kind = TERM_IRI;
        return read_id(reader, &frame->base, values[XML_TERM_ID], &node->value);
    case BIT(NODE_ID):
        return read_node_id(reader, values[XML_TERM_NODE_ID], node);
    default:
        return fail(reader, "node element with attributes of RDF that exclude each other");
    }
}

static enum status
start_node(struct rdfxml_reader *reader, struct rdfxml_frame *frame, const struct xml_name *name,
           const struct attributes *attributes)
{
    struct rdfxml_frame *parent = frame - 1;
    if (parent->kind == RDFXML_PROPERTY) {
        if (parent->node_seen || parent->datatype.length > 0) {
            return fail(reader, "property element may not hold this node element");
        }
        parent->node_seen = true;
        if (!is_blank(buf_slice(&reader->text))) {
            return fail(reader, "text beside a node element");
        }
    }
    if (name->iri.at == NULL || !(name->places & XML_NAME_NODE)) {
        return fail(reader, "not the name of a node element");
    }
    TRY(read_subject(reader, frame, attributes, &frame->node));
    if (parent->kind == RDFXML_PROPERTY) {
        TRY(emit_statement(reader, parent, &frame->node));
    } else if (parent->kind == RDFXML_COLLECTION) {
        TRY(emit_item(reader, parent, &frame->node));
    }
    if (name->term != XML_TERM_DESCRIPTION) {
        const struct term type = term_iri(name->iri);
        TRY(emit(reader, &frame->node, SLICE(RDF_TYPE), &type));
    }
    TRY(emit_property_attributes(reader, frame, attributes, &frame->node));
    frame->kind = RDFXML_NODE;
    return STATUS_OK;
}

static enum status
start_parse_type(struct rdfxml_reader *reader, struct rdfxml_frame *frame,
                 const struct attributes *attributes)
{
    const struct slice type = attributes->values[XML_TERM_PARSE_TYPE];
    if ((attributes->present & ~(BIT(PARSE_TYPE) | BIT(ID))) != 0 || attributes->properties > 0) {
        return fail(reader, "rdf:parseType with other attributes");
    }
    if (slice_is(type, "Resource")) {
        frame->node = made_blank(reader);
        TRY(emit_statement(reader, frame, &frame->node));
        frame->kind = RDFXML_RESOURCE;
    } else if (slice_is(type, "Collection")) {
        frame->kind = RDFXML_COLLECTION;
    } else {
        xml_literal_reset(&reader->literal);
        frame->kind = RDFXML_LITERAL;
    }
    return STATUS_OK;
}

/* emptyPropertyElt with rdf:resource, rdf:nodeID or property attributes. */
static enum status
start_empty(struct rdfxml_reader *reader, struct rdfxml_frame *frame,
            const struct attributes *attributes)
{
    struct term object = {0};
    switch (attributes->present & ~BIT(ID)) {
    case 0:
        object = made_blank(reader);
        break;
    case BIT(RESOURCE):
        object.kind = TERM_IRI;
        TRY(resolve(reader, &frame->base, attributes->values[XML_TERM_RESOURCE], &object.value));
        break;
    case BIT(NODE_ID):
        TRY(read_node_id(reader, attributes->values[XML_TERM_NODE_ID], &object));
        break;
    default:
        return fail(reader, "property element with attributes of RDF that exclude each other");
    }
    TRY(emit_statement(reader, frame, &object));
    TRY(emit_property_attributes(reader, frame, attributes, &object));
    frame->kind = RDFXML_EMPTY;
    return STATUS_OK;
}

static enum status
read_predicate(struct rdfxml_reader *reader, struct rdfxml_frame *frame,
               const struct xml_name *name)
{
    if (name->iri.at == NULL || !(name->places & XML_NAME_PROPERTY)) {
        return fail(reader, "not the name of a property element");
    }
    frame->predicate = name->iri;
    if (name->term == XML_TERM_LI) {
        char *text = scratch_take(&reader->scratch, sizeof RDF_NAMESPACE "_4294967295");
        const int length = snprintf(text, sizeof RDF_NAMESPACE "_4294967295", RDF_NAMESPACE "_%u",
                                    ++frame[-1].members);
        frame->predicate = slice_of(text, (size_t)length);
    }
    return STATUS_OK;
}

static enum status
start_property(struct rdfxml_reader *reader, struct rdfxml_frame *frame,
               const struct xml_name *name, const struct attributes *attributes)
{
    TRY(read_predicate(reader, frame, name));
    if (attributes->present & BIT(ABOUT)) {
        return fail(reader, "rdf:about on a property element");
    }
    if (attributes->present & BIT(ID)) {
        TRY(read_id(reader, &frame->base, attributes->values[XML_TERM_ID], &frame->reification));
    }
    if (attributes->present & BIT(PARSE_TYPE)) {
        return start_parse_type(reader, frame, attributes);
    }
    if ((attributes->present & ~(BIT(ID) | BIT(DATATYPE))) != 0 || attributes->properties > 0) {
        return start_empty(reader, frame, attributes);
    }
    if (attributes->present & BIT(DATATYPE)) {
        TRY(resolve(reader, &frame->base, attributes->values[XML_TERM_DATATYPE],
                    &frame->datatype));
    }
    buf_reset(&reader->text);
    frame->kind = RDFXML_PROPERTY;
    return STATUS_OK;
}

static enum status
start_element(struct rdfxml_reader *reader, struct rdfxml_frame *frame, const xmlChar *local,
              const xmlChar *space, struct attributes *attributes)
{
    const enum rdfxml_kind parent = frame[-1].kind;
    const struct xml_name *found = xml_names_get(&reader->names, space, local);
    if (found == NULL) {
        return fail_limit(reader, "too many names");
    }
    const struct xml_name name = *found;
    TRY(read_attributes(reader, frame, attributes));
    switch (parent) {
    case RDFXML_DOCUMENT:
        return name.term == XML_TERM_RDF ? start_rdf(reader, frame, attributes)
                                         : start_node(reader, frame, &name, attributes);
    case RDFXML_RDF:
    case RDFXML_PROPERTY:
    case RDFXML_COLLECTION:
        return start_node(reader, frame, &name, attributes);
    case RDFXML_NODE:
    case RDFXML_RESOURCE:
        return start_property(reader, frame, &name, attributes);
    default:
        return fail(reader, "element in a property element that must be empty");
    }
}

enum status
rdfxml_start(struct rdfxml_reader *reader, const xmlChar *local, const xmlChar *prefix,
             const xmlChar *space, int attribute_count, const xmlChar **attributes)
{
    struct rdfxml_frame *parent = &reader->frames[reader->count - 1];
    if (parent->kind == RDFXML_LITERAL) {
        xml_literal_start(&reader->literal, local, prefix, space, attribute_count, attributes);
        return reader->literal.text.overflowed ? fail_limit(reader, "XML literal is too long")
                                               : STATUS_OK;
    }
    if (reader->count == reader->maximum) {
        return fail_limit(reader, "elements are nested too deep");
    }
    struct rdfxml_frame *frame = &reader->frames[reader->count++];
    frame->kind = RDFXML_SKIPPED;
    frame->node_seen = false;
    frame->members = 0;
    frame->node = frame->cell = (struct term){0};
    frame->predicate = frame->datatype = frame->reification = (struct slice){NULL, 0};
    frame->base = parent->base;
    frame->language = parent->language;
    frame->mark = scratch_mark(&reader->scratch);
    if (parent->kind == RDFXML_SKIPPED) {
        return STATUS_OK;
    }
    struct attributes sorted = {.count = attribute_count, .all = attributes};
    return start_element(reader, frame, local, space, &sorted);
}

static enum status
end_property(struct rdfxml_reader *reader, const struct rdfxml_frame *frame)
{
    if (frame->node_seen) {
        return STATUS_OK;
    }
    struct term object = term_literal(buf_slice(&reader->text));
    if (frame->datatype.length == 0) {
        object.language = frame->language;
    } else if (!slice_is(frame->datatype, XSD_STRING)) {
        object.datatype = frame->datatype;
    }
    return emit_statement(reader, frame, &object);
}

static enum status
end_element(struct rdfxml_reader *reader, const struct rdfxml_frame *frame)
{
    const struct term nil = term_iri(SLICE(RDF_NIL));
    switch (frame->kind) {
    case RDFXML_PROPERTY:
        return end_property(reader, frame);
    case RDFXML_COLLECTION:
        return frame->cell.kind == TERM_NONE
                   ? emit_statement(reader, frame, &nil)
                   : emit(reader, &frame->cell, SLICE(RDF_REST), &nil);
    case RDFXML_LITERAL: {
        struct term object = term_literal(buf_slice(&reader->literal.text));
        object.datatype = SLICE(RDF_XML_LITERAL);
        return emit_statement(reader, frame, &object);
    }
    default:
        return STATUS_OK;
    }
}

enum status
rdfxml_end(struct rdfxml_reader *reader, const xmlChar *local, const xmlChar *prefix)
{
    struct rdfxml_frame *frame = &reader->frames[reader->count - 1];
    if (frame->kind == RDFXML_LITERAL && reader->literal.depth > 0) {
        xml_literal_end(&reader->literal, local, prefix);
        return STATUS_OK;
    }
    const enum status status = end_element(reader, frame);
    scratch_rewind(&reader->scratch, frame->mark);
    reader->count--;
    return status;
}

enum status
rdfxml_text(struct rdfxml_reader *reader, struct slice text)
{
    const struct rdfxml_frame *frame = &reader->frames[reader->count - 1];
    if (frame->kind == RDFXML_LITERAL) {
        xml_literal_text(&reader->literal, text);
        return reader->literal.text.overflowed ? fail_limit(reader, "XML literal is too long")
                                               : STATUS_OK;
    }
    if (frame->kind == RDFXML_PROPERTY && !frame->node_seen) {
        return buf_append_slice(&reader->text, text) == STATUS_OK
                   ? STATUS_OK
                   : fail_limit(reader, "literal is too long");
    }
    return frame->kind == RDFXML_SKIPPED || is_blank(text)
               ? STATUS_OK
               : fail(reader, "text where RDF/XML allows none");
}

struct xml_literal *
rdfxml_open_literal(struct rdfxml_reader *reader)
{
    return reader->frames[reader->count - 1].kind == RDFXML_LITERAL ? &reader->literal : NULL;
}
