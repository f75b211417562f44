/* The grammar of RDF/XML, section 7.2 of the recommendation, over a stack of open elements.
 * Statements go out as soon as they are known: that a property's object is a node when the
 * node starts, that it is a literal when the property ends.
 */
#include "rdf/core/lexical.h"
#include "rdf/core/vocabulary.h"
#include "rdf/rdfxml/rdfxml_reader.h"

#define BIT(term) (1u << XML_TERM_##term)

static struct term
made_blank(struct rdfxml_reader *reader)
{
    char *text = scratch_take(&reader->scratch, BLANK_LABEL_SIZE);
    return term_blank(blank_label_made(reader->generated++, text));
}

/* ---- statements ---- */

/* The statement that a property element makes, and its reification. */
static enum status
emit_statement(struct rdfxml_reader *reader, const struct rdfxml_frame *property,
               const struct term *object)
{
    const struct term *subject = &property[-1].node;
    TRY(rdfxml_emit(reader, property->line, subject, property->predicate, object));
    if (property->reification.length == 0) {
        return STATUS_OK;
    }
    const struct term statement = term_iri(property->reification);
    const struct term predicate = term_iri(property->predicate);
    const struct term type = term_iri(SLICE(RDF_STATEMENT));
    TRY(rdfxml_emit(reader, property->line, &statement, SLICE(RDF_TYPE), &type));
    TRY(rdfxml_emit(reader, property->line, &statement, SLICE(RDF_SUBJECT), subject));
    TRY(rdfxml_emit(reader, property->line, &statement, SLICE(RDF_PREDICATE), &predicate));
    return rdfxml_emit(reader, property->line, &statement, SLICE(RDF_OBJECT), object);
}

/* Hangs a node on the collection's end. */
static enum status
emit_item(struct rdfxml_reader *reader, struct rdfxml_frame *collection, const struct term *item)
{
    const uint32_t line = collection[1].line;
    char label[BLANK_LABEL_SIZE];
    const struct term cell = term_blank(blank_label_made(reader->generated++, label));
    if (collection->cell.kind == TERM_NONE) {
        TRY(emit_statement(reader, collection, &cell));
    } else {
        TRY(rdfxml_emit(reader, line, &collection->cell, SLICE(RDF_REST), &cell));
    }
    memcpy(collection->cell_label, label, sizeof label);
    collection->cell = term_blank(slice_of(collection->cell_label, cell.value.length));
    return rdfxml_emit(reader, line, &collection->cell, SLICE(RDF_FIRST), item);
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
          const struct rdfxml_attributes *attributes)
{
    frame->kind = RDFXML_RDF; /* also after the error: what it holds is none the worse */
    return attributes->present != 0 || attributes->properties > 0
               ? rdfxml_fail(reader, "rdf:RDF with attributes of RDF")
               : STATUS_OK;
}

/* The subject that a node element's attributes name. */
static enum status
read_subject(struct rdfxml_reader *reader, const struct rdfxml_frame *frame,
             const struct rdfxml_attributes *attributes, struct term *node)
{
    const struct slice *values = attributes->values;
    switch (attributes->present) {
    case 0:
        *node = made_blank(reader);
        return STATUS_OK;
    case BIT(ABOUT):
        node->kind = TERM_IRI;
        return rdfxml_resolve(reader, &frame->base, values[XML_TERM_ABOUT], &node->value);
    case BIT(ID):
        node->kind = TERM_IRI;
        return rdfxml_read_id(reader, &frame->base, values[XML_TERM_ID], &node->value);
    case BIT(NODE_ID):
        return rdfxml_read_node_id(reader, values[XML_TERM_NODE_ID], node);
    default:
        return rdfxml_fail(reader, "node element with attributes of RDF that exclude each other");
    }
}

static enum status
start_node(struct rdfxml_reader *reader, struct rdfxml_frame *frame, const struct xml_name *name,
           const struct rdfxml_attributes *attributes)
{
    struct rdfxml_frame *parent = frame - 1;
    if (parent->kind == RDFXML_PROPERTY) {
        if (parent->node_seen || parent->datatype.length > 0) {
            return rdfxml_fail(reader, "property element may not hold this node element");
        }
        parent->node_seen = true;
        if (!is_blank(buf_slice(&reader->text))) {
            return rdfxml_fail(reader, "text beside a node element");
        }
    }
    if (name->iri.at == NULL || !(name->places & XML_NAME_NODE)) {
        return rdfxml_fail(reader, "not the name of a node element");
    }
    TRY(read_subject(reader, frame, attributes, &frame->node));
    if (parent->kind == RDFXML_PROPERTY) {
        TRY(emit_statement(reader, parent, &frame->node));
    } else if (parent->kind == RDFXML_COLLECTION) {
        TRY(emit_item(reader, parent, &frame->node));
    }
    if (name->term != XML_TERM_DESCRIPTION) {
        const struct term type = term_iri(name->iri);
        TRY(rdfxml_emit(reader, frame->line, &frame->node, SLICE(RDF_TYPE), &type));
    }
    TRY(rdfxml_emit_property_attributes(reader, frame, attributes, &frame->node));
    frame->kind = RDFXML_NODE;
    return STATUS_OK;
}

static enum status
start_parse_type(struct rdfxml_reader *reader, struct rdfxml_frame *frame,
                 const struct rdfxml_attributes *attributes)
{
    const struct slice type = attributes->values[XML_TERM_PARSE_TYPE];
    if ((attributes->present & ~(BIT(PARSE_TYPE) | BIT(ID))) != 0 || attributes->properties > 0) {
        return rdfxml_fail(reader, "rdf:parseType with other attributes");
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
            const struct rdfxml_attributes *attributes)
{
    struct term object = {0};
    switch (attributes->present & ~BIT(ID)) {
    case 0:
        object = made_blank(reader);
        break;
    case BIT(RESOURCE):
        object.kind = TERM_IRI;
        TRY(rdfxml_resolve(reader, &frame->base, attributes->values[XML_TERM_RESOURCE],
                           &object.value));
        break;
    case BIT(NODE_ID):
        TRY(rdfxml_read_node_id(reader, attributes->values[XML_TERM_NODE_ID], &object));
        break;
    default:
        return rdfxml_fail(reader,
                           "property element with attributes of RDF that exclude each other");
    }
    TRY(emit_statement(reader, frame, &object));
    TRY(rdfxml_emit_property_attributes(reader, frame, attributes, &object));
    frame->kind = RDFXML_EMPTY;
    return STATUS_OK;
}

static enum status
read_predicate(struct rdfxml_reader *reader, struct rdfxml_frame *frame,
               const struct xml_name *name)
{
    if (name->iri.at == NULL || !(name->places & XML_NAME_PROPERTY)) {
        return rdfxml_fail(reader, "not the name of a property element");
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
               const struct xml_name *name, const struct rdfxml_attributes *attributes)
{
    TRY(read_predicate(reader, frame, name));
    if (attributes->present & BIT(ABOUT)) {
        return rdfxml_fail(reader, "rdf:about on a property element");
    }
    if (attributes->present & BIT(ID)) {
        TRY(rdfxml_read_id(reader, &frame->base, attributes->values[XML_TERM_ID],
                           &frame->reification));
    }
    if (attributes->present & BIT(PARSE_TYPE)) {
        return start_parse_type(reader, frame, attributes);
    }
    if ((attributes->present & ~(BIT(ID) | BIT(DATATYPE))) != 0 || attributes->properties > 0) {
        return start_empty(reader, frame, attributes);
    }
    if (attributes->present & BIT(DATATYPE)) {
        TRY(rdfxml_resolve(reader, &frame->base, attributes->values[XML_TERM_DATATYPE],
                           &frame->datatype));
    }
    buf_reset(&reader->text);
    frame->kind = RDFXML_PROPERTY;
    return STATUS_OK;
}

static enum status
start_element(struct rdfxml_reader *reader, struct rdfxml_frame *frame, const xmlChar *local,
              const xmlChar *space, struct rdfxml_attributes *attributes)
{
    const enum rdfxml_kind parent = frame[-1].kind;
    const struct xml_name *found = xml_names_get(&reader->names, space, local);
    if (found == NULL) {
        return rdfxml_fail_limit(reader, "too many names");
    }
    const struct xml_name name = *found;
    TRY(rdfxml_read_attributes(reader, frame, attributes));
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
        return rdfxml_fail(reader, "element in a property element that must be empty");
    }
}

enum status
rdfxml_start(struct rdfxml_reader *reader, const xmlChar *local, const xmlChar *prefix,
             const xmlChar *space, int attribute_count, const xmlChar **attributes)
{
    struct rdfxml_frame *parent = &reader->frames[reader->count - 1];
    if (parent->kind == RDFXML_LITERAL) {
        xml_literal_start(&reader->literal, local, prefix, space, attribute_count, attributes);
        return reader->literal.text.overflowed
                   ? rdfxml_fail_limit(reader, "XML literal is too long")
                   : STATUS_OK;
    }
    if (reader->count == reader->maximum) {
        return rdfxml_fail_limit(reader, "elements are nested too deep");
    }
    struct rdfxml_frame *frame = &reader->frames[reader->count++];
    frame->kind = RDFXML_SKIPPED;
    frame->node_seen = false;
    frame->line = reader->line;
    frame->members = 0;
    frame->node = frame->cell = (struct term){0};
    frame->predicate = frame->datatype = frame->reification = (struct slice){NULL, 0};
    frame->base = parent->base;
    frame->language = parent->language;
    frame->mark = scratch_mark(&reader->scratch);
    if (parent->kind == RDFXML_SKIPPED) {
        return STATUS_OK;
    }
    struct rdfxml_attributes sorted = {.count = attribute_count, .all = attributes};
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
                   : rdfxml_emit(reader, frame->line, &frame->cell, SLICE(RDF_REST), &nil);
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
        return reader->literal.text.overflowed
                   ? rdfxml_fail_limit(reader, "XML literal is too long")
                   : STATUS_OK;
    }
    if (frame->kind == RDFXML_PROPERTY && !frame->node_seen) {
        return buf_append_slice(&reader->text, text) == STATUS_OK
                   ? STATUS_OK
                   : rdfxml_fail_limit(reader, "literal is too long");
    }
    return frame->kind == RDFXML_SKIPPED || is_blank(text)
               ? STATUS_OK
               : rdfxml_fail(reader, "text where RDF/XML allows none");
}

struct xml_literal *
rdfxml_open_literal(struct rdfxml_reader *reader)
{
    return reader->frames[reader->count - 1].kind == RDFXML_LITERAL ? &reader->literal : NULL;
}
