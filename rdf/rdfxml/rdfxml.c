/* RDF/XML: libxml2 reads, rdfxml_grammar.c understands; limits and errors are kept here.
 *
 * libxml2 pulls the document page by page. Entities are expanded, in parser contexts of
 * their own that share dictionary and handlers, so handlers find the reader in _private.
 * All external entities are declared as empty internal ones: nothing is ever loaded.
 */
#include "rdf/rdfxml/rdfxml.h"

#include <pthread.h>
#include <stdlib.h>

#include <libxml/SAX2.h>
#include <libxml/parserInternals.h>
#include <libxml/xmlerror.h>

#include "base/memory.h"
#include "rdf/rdfxml/rdfxml_reader.h"
#include "rdf/rdfxml/xml_line.h"

enum {
    NAMES_SIZE = 64 << 20,
    EXPANSION_FREE = 10 << 20, /* bytes delivered before the factor is looked at */
    EXPANSION_FACTOR = 5
};

static struct rdfxml_reader *
reader_of(void *context)
{
    return ((xmlParserCtxtPtr)context)->_private;
}

/* Notes the line of an element that starts. */
static void
note_line(struct rdfxml_reader *reader, void *context)
{
    const xmlParserInputPtr input = reader->context->input;
    const struct parse_origin *origin = reader->origin;
    reader->tag = NULL;
    if (origin != NULL) {
        reader->line = reader->elements < origin->count ? origin->lines[reader->elements] : 0;
        reader->elements++;
    } else if (input == NULL) {
        reader->line = 0;
    } else if (reader->lines && context == reader->context) { /* else: in an entity */
        reader->tag = xml_line_tag(input, &reader->line);
    } else {
        reader->line = input->line > 0 ? (uint32_t)input->line : 0;
    }
}

static enum status
report(struct rdfxml_reader *reader, const char *message)
{
    if (reader->origin != NULL) {
        return problem_report(&reader->problems, reader->line, 0, message, reader->why);
    }
    const xmlParserInputPtr input = reader->context->input;
    return problem_report(&reader->problems, input != NULL ? (uint64_t)input->line : 0,
                          input != NULL ? (uint64_t)input->col : 0, message, reader->why);
}

/* Ends parsing for any status other than OK; a fault of the document may be survived. */
static void
settle(void *context, enum status status)
{
    struct rdfxml_reader *reader = reader_of(context);
    if (status == STATUS_BAD_INPUT && reader->message != NULL) {
        status = report(reader, reader->message);
        reader->message = NULL;
    }
    if (status != STATUS_OK && reader->status == STATUS_OK) {
        reader->status = status;
    }
    if (reader->status != STATUS_OK) {
        xmlStopParser(context);
    }
}

/* Counts what entities and default attributes may have multiplied. */
static enum status
deliver(struct rdfxml_reader *reader, size_t bytes)
{
    reader->delivered += bytes;
    if (reader->delivered > EXPANSION_FREE &&
        reader->delivered / EXPANSION_FACTOR > reader->given) {
        return status_fail(reader->why, STATUS_LIMIT, "entities multiply the document");
    }
    return reader->status;
}

/* ---- handlers ---- */

static void
on_start(void *context, const xmlChar *local, const xmlChar *prefix, const xmlChar *space,
         int namespace_count, const xmlChar **namespaces, int attribute_count, int defaulted_count,
         const xmlChar **attributes)
{
    struct rdfxml_reader *reader = reader_of(context);
    size_t bytes = 0;
    (void)namespace_count;
    (void)namespaces;
    (void)defaulted_count;
    for (int i = 0; i < attribute_count; i++) {
        bytes += (size_t)(attributes[5 * i + 4] - attributes[5 * i + 3]);
    }
    enum status status = deliver(reader, bytes);
    note_line(reader, context);
    if (status == STATUS_OK) {
        status = rdfxml_start(reader, local, prefix, space, attribute_count, attributes);
    }
    if (status != STATUS_OK) {
        settle(context, status);
    }
}

static void
on_end(void *context, const xmlChar *local, const xmlChar *prefix, const xmlChar *space)
{
    struct rdfxml_reader *reader = reader_of(context);
    (void)space;
    enum status status = reader->status;
    if (status == STATUS_OK) {
        status = rdfxml_end(reader, local, prefix);
    }
    if (status != STATUS_OK) {
        settle(context, status);
    }
}

static void
on_text(void *context, const xmlChar *text, int length)
{
    struct rdfxml_reader *reader = reader_of(context);
    enum status status = deliver(reader, (size_t)length);
    if (status == STATUS_OK) {
        status = rdfxml_text(reader, slice_of((const char *)text, (size_t)length));
    }
    if (status != STATUS_OK) {
        settle(context, status);
    }
}

static void
on_comment(void *context, const xmlChar *text)
{
    struct rdfxml_reader *reader = reader_of(context);
    struct xml_literal *literal = reader->status == STATUS_OK ? rdfxml_open_literal(reader) : NULL;
    if (literal != NULL) {
        xml_literal_comment(literal, (const char *)text);
    }
}

static void
on_instruction(void *context, const xmlChar *target, const xmlChar *data)
{
    struct rdfxml_reader *reader = reader_of(context);
    struct xml_literal *literal = reader->status == STATUS_OK ? rdfxml_open_literal(reader) : NULL;
    if (literal != NULL) {
        xml_literal_instruction(literal, (const char *)target, (const char *)data);
    }
}

static void
on_entity(void *context, const xmlChar *name, int type, const xmlChar *public_id,
          const xmlChar *system_id, xmlChar *content)
{
    static xmlChar nothing[] = "";
    (void)public_id;
    (void)system_id;
    if (type == XML_EXTERNAL_GENERAL_PARSED_ENTITY || type == XML_EXTERNAL_PARAMETER_ENTITY) {
        const bool general = type == XML_EXTERNAL_GENERAL_PARSED_ENTITY;
        struct rdfxml_reader *reader = reader_of(context);
        if (reader->problems.lenient) {
            settle(context, report(reader, "external entity is read as empty"));
        }
        xmlSAX2EntityDecl(context, name,
                          general ? XML_INTERNAL_GENERAL_ENTITY : XML_INTERNAL_PARAMETER_ENTITY,
                          NULL, NULL, nothing);
        return;
    }
    if (type != XML_EXTERNAL_GENERAL_UNPARSED_ENTITY) {
        xmlSAX2EntityDecl(context, name, type, NULL, NULL, content);
    }
}

/* Fatal errors end the document; a prefix that is not declared is as bad for RDF. */
static void
on_error(void *context, xmlErrorPtr error)
{
    struct rdfxml_reader *reader = reader_of(context);
    const bool namespace_error =
        error->domain == XML_FROM_NAMESPACE && error->level == XML_ERR_ERROR;
    if (reader->status != STATUS_OK || (error->level != XML_ERR_FATAL && !namespace_error)) {
        return;
    }
    char text[REASON_SIZE];
    snprintf(text, sizeof text, "%s", error->message != NULL ? error->message : "not XML");
    text[strcspn(text, "\n")] = '\0';
    const xmlParserInputPtr input = reader->context->input;
    status_fail(reader->why, STATUS_BAD_INPUT, "line %d, column %d: %s",
                input != NULL ? input->line : 0, input != NULL ? input->col : 0, text);
    reader->status = STATUS_BAD_INPUT;
}

static const xmlSAXHandler handlers = {
    .initialized = XML_SAX2_MAGIC,
    .startDocument = xmlSAX2StartDocument,
    .endDocument = xmlSAX2EndDocument,
    .internalSubset = xmlSAX2InternalSubset,
    .getEntity = xmlSAX2GetEntity,
    .getParameterEntity = xmlSAX2GetParameterEntity,
    .entityDecl = on_entity,
    .startElementNs = on_start,
    .endElementNs = on_end,
    .characters = on_text,
    .ignorableWhitespace = on_text,
    .cdataBlock = on_text,
    .comment = on_comment,
    .processingInstruction = on_instruction,
    .serror = on_error,
};

/* ---- the document ---- */

static int
give_input(void *context, char *to, int size)
{
    struct rdfxml_reader *reader = context;
    if (reader->status != STATUS_OK) {
        return -1;
    }
    /* Whole: libxml2 tells the encoding from the first bytes that it gets. */
    size_t n = 0;
    for (size_t length = 1; length > 0 && n < (size_t)size; n += length) {
        reader->status = reader->source->read(reader->source->context, to + n, (size_t)size - n,
                                              &length, reader->why);
        if (reader->status != STATUS_OK) {
            return -1;
        }
    }
    reader->given += n;
    return (int)n;
}

static void
read_document(struct rdfxml_reader *reader)
{
    xmlSAXHandler sax = handlers;
    xmlParserCtxtPtr context =
        xmlCreateIOParserCtxt(&sax, NULL, give_input, NULL, reader, XML_CHAR_ENCODING_NONE);
    if (context == NULL) {
        reader->status = status_fail(reader->why, STATUS_SYSTEM, "cannot set up an XML parser");
        return;
    }
    context->_private = reader;
    reader->context = context;
    xmlCtxtUseOptions(context, XML_PARSE_NONET | XML_PARSE_NOENT);
    xmlParseDocument(context);
    if (reader->status == STATUS_OK && !context->wellFormed) {
        reader->status = status_fail(reader->why, STATUS_BAD_INPUT, "not well-formed XML");
    }
    if (context->myDoc != NULL) {
        xmlFreeDoc(context->myDoc);
    }
    xmlFreeParserCtxt(context);
}

static void
open_reader(struct rdfxml_reader *reader, const struct parse_options *options)
{
    const uint32_t depth = options->depth > 0 ? options->depth : PARSE_DEPTH;
    reader->term_size = options->term_size > 0 ? options->term_size : (size_t)PARSE_TERM_SIZE;
    reader->maximum = (depth < PARSE_DEPTH_MAXIMUM ? depth : PARSE_DEPTH_MAXIMUM) + 1;
    reader->frames = memory_zero(reader->maximum, sizeof *reader->frames);
    reader->count = 1;
    if (options->base.length > 0) {
        reader->frames[0].base = iri_base_of(options->base);
    }
    reader->lines = options->lines;
    reader->origin = options->origin;
    problems_init(&reader->problems, options);
    scratch_init(&reader->scratch);
    buf_init(&reader->work, reader->term_size);
    buf_init(&reader->text, reader->term_size);
    xml_names_init(&reader->names, NAMES_SIZE);
    xml_literal_init(&reader->literal, reader->term_size);
}

static void
close_reader(struct rdfxml_reader *reader)
{
    map_release(&reader->ids);
    xml_literal_release(&reader->literal);
    xml_names_release(&reader->names);
    buf_release(&reader->text);
    buf_release(&reader->work);
    scratch_release(&reader->scratch);
    free(reader->frames);
}

enum status
rdfxml_read(const struct rdf_source *source, const struct parse_options *options,
            const struct quad_sink *sink, struct reason *why)
{
    static const struct parse_options defaults;
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct reason unused = {{0}};
    struct rdfxml_reader reader = {
        .sink = *sink, .why = why != NULL ? why : &unused, .source = source};
    pthread_once(&once, xmlInitParser);
    open_reader(&reader, options != NULL ? options : &defaults);
    read_document(&reader);
    close_reader(&reader);
    return reader.status;
}

static enum status
read_bytes(void *context, char *bytes, size_t size, size_t *length, struct reason *why)
{
    struct slice *input = context;
    (void)why;
    *length = input->length < size ? input->length : size;
    if (*length > 0) {
        memcpy(bytes, input->at, *length);
    }
    *input = slice_of(input->at + *length, input->length - *length);
    return STATUS_OK;
}

enum status
rdfxml_parse(struct slice bytes, const struct parse_options *options, const struct quad_sink *sink,
             struct reason *why)
{
    const struct rdf_source source = {read_bytes, &bytes};
    return rdfxml_read(&source, options, sink, why);
}
