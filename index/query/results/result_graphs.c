/* Graphs in RDF/XML (https://www.w3.org/TR/rdf-syntax-grammar/) and as flattened JSON-LD without a
 * context (https://www.w3.org/TR/json-ld11/), as they come: runs of one subject share an element,
 * runs of one subject and property a node. */
#include "index/query/results/result_syntax.h"
#include "rdf/core/lexical.h"

#define RDF_TYPE "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"

static struct slice
copy_of(struct buf *memory, struct slice text)
{
    buf_reset(memory);
    (void)buf_append_slice(memory, text);
    return buf_slice(memory);
}

/* Tells whether a run goes on; notes the quad as its last. */
static bool
same_subject(struct result_writer *writer, const struct quad *quad)
{
    const bool same = writer->run.open && writer->run.subject_kind == quad->subject.kind &&
                      slice_equal(buf_slice(&writer->run.subject), quad->subject.value);
    writer->run.subject_kind = quad->subject.kind;
    (void)copy_of(&writer->run.subject, quad->subject.value);
    return same;
}

static bool
same_property(struct result_writer *writer, const struct quad *quad)
{
    const bool same = slice_equal(buf_slice(&writer->run.property), quad->predicate.value);
    (void)copy_of(&writer->run.property, quad->predicate.value);
    return same;
}

/* ---- RDF/XML ---- */

static bool
is_name_character(char c)
{
    return lexical_is(c, LEXICAL_DIGIT) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           c == '_' || c == '-' || c == '.';
}

/* Bytes of the IRI before what can be the local name of an element: its longest end in ASCII. */
static size_t
local_name(struct slice iri)
{
    size_t start = iri.length;
    while (start > 0 && is_name_character(iri.at[start - 1])) {
        start--;
    }
    if (start > 0 && iri.at[start - 1] == '%') { /* an escape is not to be cut */
        start = iri.length - start > 2 ? start + 2 : iri.length;
    }
    while (start < iri.length && (lexical_is(iri.at[start], LEXICAL_DIGIT) ||
                                  iri.at[start] == '-' || iri.at[start] == '.')) {
        start++;
    }
    return start;
}

/* A label as a name of XML: any may begin with a digit or hold signs. */
static void
rdfxml_label(struct buf *buf, struct slice label)
{
    (void)buf_append_char(buf, 'b');
    for (size_t i = 0; i < label.length; i++) {
        const char c = label.at[i];
        if (is_name_character(c) && c != '_') {
            (void)buf_append_char(buf, c);
        } else {
            (void)buf_printf(buf, "_%02x", (unsigned char)c);
        }
    }
}

static void
rdfxml_begin(struct result_writer *writer)
{
    if (!writer->answered) {
        (void)buf_append_string(&writer->buf,
                                "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<rdf:RDF xmlns:rdf="
                                "\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\">\n");
        writer->answered = true;
    }
}

static void
rdfxml_object(struct buf *buf, const struct term *object, struct slice local)
{
    if (object->kind == TERM_IRI) {
        (void)buf_append_string(buf, " rdf:resource=\"");
        result_xml_text(buf, object->value);
        (void)buf_append_string(buf, "\"/>\n");
        return;
    }
    if (object->kind == TERM_BLANK) {
        (void)buf_append_string(buf, " rdf:nodeID=\"");
        rdfxml_label(buf, object->value);
        (void)buf_append_string(buf, "\"/>\n");
        return;
    }
    if (object->language.length > 0) {
        (void)buf_printf(buf, " xml:lang=\"%.*s\"", SLICE_PRINT(object->language));
    } else if (object->datatype.length > 0) {
        (void)buf_append_string(buf, " rdf:datatype=\"");
        result_xml_text(buf, object->datatype);
        (void)buf_append_char(buf, '"');
    }
    (void)buf_append_char(buf, '>');
    result_xml_text(buf, object->value);
    (void)buf_printf(buf, "</n:%.*s>\n", SLICE_PRINT(local));
}

static enum status
rdfxml_quad(struct result_writer *writer, const struct quad *quad, struct reason *why)
{
    struct buf *buf = &writer->buf;
    const struct slice iri = quad->predicate.value;
    const size_t start = local_name(iri);
    const struct slice local = slice_of(iri.at + start, iri.length - start);
    if (local.length == 0 || start == 0) {
        return status_fail(why, STATUS_UNSUPPORTED, "RDF/XML has no name for the property <%.*s>",
                           SLICE_PRINT(iri));
    }
    rdfxml_begin(writer);
    const bool open = writer->run.open;
    if (!same_subject(writer, quad)) {
        (void)buf_append_string(buf, open ? "</rdf:Description>\n<rdf:Description rdf:"
                                          : "<rdf:Description rdf:");
        if (quad->subject.kind == TERM_BLANK) {
            (void)buf_append_string(buf, "nodeID=\"");
            rdfxml_label(buf, quad->subject.value);
        } else {
            (void)buf_append_string(buf, "about=\"");
            result_xml_text(buf, quad->subject.value);
        }
        (void)buf_append_string(buf, "\">\n");
    }
    writer->run.open = true;
    (void)buf_printf(buf, "<n:%.*s xmlns:n=\"", SLICE_PRINT(local));
    result_xml_text(buf, slice_of(iri.at, start));
    (void)buf_append_char(buf, '"');
    rdfxml_object(buf, &quad->object, local);
    return STATUS_OK;
}

static enum status
rdfxml_finish(struct result_writer *writer, struct reason *why)
{
    (void)why;
    rdfxml_begin(writer);
    return buf_append_string(&writer->buf, writer->run.open ? "</rdf:Description>\n</rdf:RDF>\n"
                                                            : "</rdf:RDF>\n");
}

const struct result_syntax result_rdfxml = {NULL, NULL, NULL, rdfxml_quad, rdfxml_finish};

/* ---- JSON-LD ---- */

static void
jsonld_name(struct buf *buf, const struct term *term)
{
    (void)buf_append_string(buf, term->kind == TERM_BLANK ? "\"_:" : "\"");
    (void)buf_append_json(buf, term->value);
    (void)buf_append_char(buf, '"');
}

static void
jsonld_object(struct buf *buf, const struct term *object)
{
    if (object->kind != TERM_LITERAL) {
        (void)buf_append_string(buf, "{\"@id\":");
        jsonld_name(buf, object);
    } else {
        (void)buf_append_string(buf, "{\"@value\":");
        jsonld_name(buf, object);
        const struct slice more = object->language.length > 0 ? object->language : object->datatype;
        if (more.length > 0) {
            (void)buf_append_string(buf, object->language.length > 0 ? ",\"@language\":\""
                                                                     : ",\"@type\":\"");
            (void)buf_append_json(buf, more);
            (void)buf_append_char(buf, '"');
        }
    }
    (void)buf_append_char(buf, '}');
}

static enum status
jsonld_quad(struct result_writer *writer, const struct quad *quad, struct reason *why)
{
    struct buf *buf = &writer->buf;
    const bool open = writer->run.open;
    const bool typed = slice_is(quad->predicate.value, RDF_TYPE) && quad->object.kind == TERM_IRI;
    const bool same_node = same_subject(writer, quad);
    const bool goes_on = same_property(writer, quad) && same_node && writer->run.typed == typed;
    (void)why;
    if (goes_on) {
        (void)buf_append_char(buf, ',');
    } else {
        (void)buf_append_string(buf, open ? "]},\n{\"@id\":" : "[\n{\"@id\":");
        jsonld_name(buf, &quad->subject);
        (void)buf_append_string(buf, ",\"");
        (void)buf_append_json(buf, typed ? SLICE("@type") : quad->predicate.value);
        (void)buf_append_string(buf, "\":[");
    }
    writer->run.open = true;
    writer->run.typed = typed;
    if (typed) {
        jsonld_name(buf, &quad->object);
    } else {
        jsonld_object(buf, &quad->object);
    }
    return STATUS_OK;
}

static enum status
jsonld_finish(struct result_writer *writer, struct reason *why)
{
    (void)why;
    return buf_append_string(&writer->buf, writer->run.open ? "]}\n]\n" : "[]\n");
}

const struct result_syntax result_jsonld = {NULL, NULL, NULL, jsonld_quad, jsonld_finish};
