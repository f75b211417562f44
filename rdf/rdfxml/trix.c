#include "rdf/rdfxml/trix.h"

#include <pthread.h>
#include <stdio.h>

#include <libxml/SAX2.h>
#include <libxml/parserInternals.h>
#include <libxml/xmlerror.h>

#include "rdf/core/blank_label.h"
#include "rdf/core/lexical.h"
#include "rdf/core/problem.h"
#include "rdf/core/resolve.h"

enum {
    EXPANSION_FREE = 10 << 20, /* bytes delivered before the factor is looked at */
    EXPANSION_FACTOR = 5
};

#define XML_SPACE "http://www.w3.org/XML/1998/namespace"
#define RDF_LANG_STRING "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString"

/* Tells where the reader is; places inside of others come after them. */
enum place { OUTSIDE, IN_ROOT, IN_GRAPH, IN_TRIPLE };

enum element { ROOT, GRAPH, TRIPLE, URI, ID, PLAIN, TYPED, ELEMENTS };
static const char *const element_names[ELEMENTS] = {"TriX", "graph",        "triple",      "uri",
                                                    "id",   "plainLiteral", "typedLiteral"};

struct trix_reader {
    xmlParserCtxtPtr context;
    struct quad_sink sink;
    struct reason *why;
    enum status status;
    struct problems problems;
    bool lenient;
    struct iri_base base;
    struct scratch scratch; /* the graph's name, above it the triple's terms */
    struct scratch_mark graph_mark, triple_mark;
    struct buf work, text;
    size_t given, delivered;

    enum place place;
    unsigned skipped; /* depth of elements that are left out */
    enum element element;
    struct quad quad;
    unsigned terms; /* of the triple, so far */
    bool named;     /* the graph has its name, or is past it */
    bool spoilt;    /* the triple was found faulty, and that was reported */
    struct slice datatype, language;
};

static struct trix_reader *
reader_of(void *context)
{
    return ((xmlParserCtxtPtr)context)->_private;
}

static void
settle(struct trix_reader *reader, enum status status)
{
    if (status != STATUS_OK && reader->status == STATUS_OK) {
        reader->status = status;
        xmlStopParser(reader->context);
    }
}

static void
report(struct trix_reader *reader, const char *text)
{
    const xmlParserInputPtr input = reader->context->input;
    settle(reader, problem_report(&reader->problems, input ? (uint64_t)input->line : 0,
                                  input ? (uint64_t)input->col : 0, text, reader->why));
}

/* The triple at hand will be left out. */
static void
spoil(struct trix_reader *reader, const char *text)
{
    if (!reader->spoilt) {
        report(reader, text);
    }
    reader->spoilt = true;
}

/* Tells whether so many bytes more may be delivered. The text of entities is bounded, by libxml2
 * too. */
static bool
deliver(struct trix_reader *reader, size_t bytes)
{
    reader->delivered += bytes;
    if (reader->delivered > EXPANSION_FREE &&
        reader->delivered / EXPANSION_FACTOR > reader->given) {
        settle(reader, status_fail(reader->why, STATUS_LIMIT, "entities multiply the document"));
    }
    return reader->status == STATUS_OK;
}

/* ---- terms ---- */

static struct slice
copy(struct trix_reader *reader, struct slice text)
{
    return text.length > 0 ? scratch_copy(&reader->scratch, text) : (struct slice){"", 0};
}

static bool
make_iri(struct trix_reader *reader, struct slice text, struct term *term)
{
    struct slice iri = slice_trim(text);
    if (!iri_base_resolve(&reader->base, &iri, &reader->scratch, &reader->work) ||
        !lexical_iri_valid(iri)) {
        return false;
    }
    *term = term_iri(copy(reader, iri));
    return true;
}

/* Any text may be an id; what cannot be a label is written in hexadecimal digits. */
static bool
make_blank(struct trix_reader *reader, struct slice text, struct term *term)
{
    const struct slice id = slice_trim(text);
    if (id.length == 0) {
        return false;
    }
    if (lexical_blank_label(id.at, id.at + id.length) == id.length) {
        *term = term_blank(blank_label_given(&reader->scratch, copy(reader, id)));
        return true;
    }
    char *to = scratch_take(&reader->scratch, 3 + 2 * id.length);
    memcpy(to, "gy", 2);
    for (size_t i = 0; i < id.length; i++) {
        snprintf(to + 2 + 2 * i, 3, "%02x", (unsigned)(unsigned char)id.at[i]);
    }
    *term = term_blank(slice_of(to, 2 + 2 * id.length));
    return true;
}

static bool
make_literal(struct trix_reader *reader, struct slice text, struct term *term)
{
    *term = term_literal(copy(reader, text));
    if (reader->element == PLAIN) {
        char *lower = scratch_take(&reader->scratch, reader->language.length + 1);
        lexical_lower(reader->language, lower);
        term->language = slice_of(lower, reader->language.length);
        return reader->language.length == 0 || lexical_language_valid(reader->language);
    }
    struct term datatype;
    if (reader->datatype.length == 0 || !make_iri(reader, reader->datatype, &datatype) ||
        slice_is(datatype.value, RDF_LANG_STRING)) {
        return false;
    }
    if (!slice_is(datatype.value, "http://www.w3.org/2001/XMLSchema#string")) {
        term->datatype = datatype.value;
    }
    return true;
}

static bool
make_term(struct trix_reader *reader, struct term *term)
{
    const struct slice text = buf_slice(&reader->text);
    switch (reader->element) {
    case URI:
        return make_iri(reader, text, term);
    case ID:
        return make_blank(reader, text, term);
    default:
        return make_literal(reader, text, term);
    }
}

static void
take_name(struct trix_reader *reader)
{
    struct term term = {0};
    if (reader->named) {
        report(reader, "a graph has one name, before its triples");
    } else if (!make_term(reader, &term)) {
        report(reader, "not the name of a graph");
    } else {
        reader->quad.graph = term;
    }
    reader->named = true;
}

static void
take_term(struct trix_reader *reader)
{
    static const char *const bad[] = {"the subject is not an IRI or blank node",
                                      "the predicate is not an IRI",
                                      "the object is not an IRI, blank node or literal"};
    struct term *const places[] = {&reader->quad.subject, &reader->quad.predicate,
                                   &reader->quad.object};
    if (reader->place == IN_GRAPH) {
        take_name(reader);
        return;
    }
    if (reader->terms >= 3) {
        spoil(reader, "a triple has three terms");
        return;
    }
    struct term *term = places[reader->terms];
    const unsigned n = reader->terms++;
    if (!make_term(reader, term) || (n == 0 && term->kind == TERM_LITERAL) ||
        (n == 1 && term->kind != TERM_IRI)) {
        spoil(reader, bad[n]);
    }
}

static void
take_triple(struct trix_reader *reader)
{
    if (reader->terms < 3) {
        spoil(reader, "a triple has three terms");
    }
    if (!reader->spoilt && reader->status == STATUS_OK) {
        settle(reader, reader->sink.quad(reader->sink.context, &reader->quad, reader->why));
    }
    scratch_rewind(&reader->scratch, reader->triple_mark);
}

/* ---- handlers ---- */

static enum element
element_of(const xmlChar *local)
{
    int i = 0;
    while (i < ELEMENTS && strcmp(element_names[i], (const char *)local) != 0) {
        i++;
    }
    return (enum element)i;
}

static struct slice
attribute(struct trix_reader *reader, const char *name, const char *space, int count,
          const xmlChar **attributes)
{
    for (int i = 0; i < count; i++, attributes += 5) {
        const char *its = attributes[2] ? (const char *)attributes[2] : "";
        if (strcmp((const char *)attributes[0], name) == 0 && strcmp(its, space) == 0) {
            const struct slice value = {(const char *)attributes[3],
                                        (size_t)(attributes[4] - attributes[3])};
            return copy(reader, value);
        }
    }
    return (struct slice){0};
}

static void
start_triple(struct trix_reader *reader)
{
    const struct term none = {0};
    reader->named = true;
    reader->terms = 0;
    reader->spoilt = false;
    reader->triple_mark = scratch_mark(&reader->scratch);
    reader->quad.subject = reader->quad.predicate = reader->quad.object = none;
    reader->quad.line = reader->context->input ? (uint32_t)reader->context->input->line : 0;
    reader->place = IN_TRIPLE;
}

static bool
is_term(enum element element)
{
    return element == URI || element == ID || element == PLAIN || element == TYPED;
}

static void
on_start(void *context, const xmlChar *local, const xmlChar *prefix, const xmlChar *space,
         int namespace_count, const xmlChar **namespaces, int attribute_count, int defaulted_count,
         const xmlChar **attributes)
{
    struct trix_reader *reader = reader_of(context);
    const enum element element = element_of(local);
    (void)prefix, (void)space, (void)namespace_count, (void)namespaces, (void)defaulted_count;
    if (reader->status != STATUS_OK) {
        return;
    }
    if (reader->skipped > 0) {
        reader->skipped++;
    } else if (reader->place == OUTSIDE && element == ROOT) {
        reader->place = IN_ROOT;
    } else if (reader->place == IN_ROOT && element == GRAPH) {
        reader->place = IN_GRAPH;
        reader->named = false;
        reader->graph_mark = scratch_mark(&reader->scratch);
        reader->quad.graph = (struct term){0};
    } else if (reader->place == IN_GRAPH && element == TRIPLE) {
        start_triple(reader);
    } else if ((reader->place == IN_TRIPLE || (reader->place == IN_GRAPH && element <= ID)) &&
               is_term(element) && reader->element == ELEMENTS) {
        reader->element = element;
        buf_reset(&reader->text);
        reader->datatype = attribute(reader, "datatype", "", attribute_count, attributes);
        reader->language = attribute(reader, "lang", XML_SPACE, attribute_count, attributes);
    } else {
        reader->skipped = 1;
        if (reader->place == IN_TRIPLE) {
            spoil(reader, "an element that cannot be inside of a triple");
        } else {
            report(reader, reader->place == OUTSIDE ? "the root element is not TriX"
                                                    : "an element that TriX does not have here");
        }
    }
}

static void
on_end(void *context, const xmlChar *local, const xmlChar *prefix, const xmlChar *space)
{
    struct trix_reader *reader = reader_of(context);
    (void)local, (void)prefix, (void)space;
    if (reader->status != STATUS_OK) {
        return;
    }
    if (reader->skipped > 0) {
        reader->skipped--;
    } else if (reader->element != ELEMENTS) {
        if (reader->text.overflowed) {
            settle(reader, status_fail(reader->why, STATUS_LIMIT, "a term is too long"));
        } else {
            take_term(reader);
        }
        reader->element = ELEMENTS;
    } else if (reader->place == IN_TRIPLE) {
        take_triple(reader);
        reader->place = IN_GRAPH;
    } else if (reader->place == IN_GRAPH) {
        reader->quad.graph = (struct term){0};
        scratch_rewind(&reader->scratch, reader->graph_mark);
        reader->place = IN_ROOT;
    } else {
        reader->place = OUTSIDE;
    }
}

static void
on_text(void *context, const xmlChar *text, int length)
{
    struct trix_reader *reader = reader_of(context);
    if (reader->status != STATUS_OK || !deliver(reader, (size_t)length)) {
        return;
    }
    const struct slice piece = {(const char *)text, (size_t)length};
    if (reader->element != ELEMENTS && reader->skipped == 0) {
        buf_append_slice(&reader->text, piece);
    } else if (reader->skipped == 0 && slice_trim(piece).length > 0) {
        report(reader, "text where only elements may be");
    }
}

static void
on_entity(void *context, const xmlChar *name, int type, const xmlChar *public_id,
          const xmlChar *system_id, xmlChar *content)
{
    static xmlChar nothing[] = "";
    (void)public_id, (void)system_id;
    if (type == XML_EXTERNAL_GENERAL_PARSED_ENTITY || type == XML_EXTERNAL_PARAMETER_ENTITY) {
        const bool general = type == XML_EXTERNAL_GENERAL_PARSED_ENTITY;
        if (reader_of(context)->lenient) {
            report(reader_of(context), "external entity is read as empty");
        }
        xmlSAX2EntityDecl(context, name,
                          general ? XML_INTERNAL_GENERAL_ENTITY : XML_INTERNAL_PARAMETER_ENTITY,
                          NULL, NULL, nothing);
    } else if (type != XML_EXTERNAL_GENERAL_UNPARSED_ENTITY) {
        xmlSAX2EntityDecl(context, name, type, NULL, NULL, content);
    }
}

static void
on_error(void *context, xmlErrorPtr error)
{
    struct trix_reader *reader = reader_of(context);
    if (reader->status != STATUS_OK || error->level != XML_ERR_FATAL) {
        return;
    }
    char text[REASON_SIZE];
    snprintf(text, sizeof text, "%s", error->message ? error->message : "not XML");
    text[strcspn(text, "\n")] = 0;
    const xmlParserInputPtr input = reader->context->input;
    reader->status = status_fail(reader->why, STATUS_BAD_INPUT, "line %d, column %d: %s",
                                 input ? input->line : 0, input ? input->col : 0, text);
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
    .serror = on_error,
};

/* ---- the document ---- */

struct input {
    struct trix_reader *reader;
    struct slice left;
};

static int
give_input(void *context, char *to, int size)
{
    struct input *input = context;
    const size_t n = input->left.length < (size_t)size ? input->left.length : (size_t)size;
    if (input->reader->status != STATUS_OK) {
        return -1;
    }
    if (n > 0) {
        memcpy(to, input->left.at, n);
    }
    input->left = slice_of(input->left.at + n, input->left.length - n);
    input->reader->given += n;
    return (int)n;
}

static void
read_document(struct trix_reader *reader, struct slice bytes)
{
    xmlSAXHandler sax = handlers;
    struct input input = {reader, bytes};
    xmlParserCtxtPtr context =
        xmlCreateIOParserCtxt(&sax, NULL, give_input, NULL, &input, XML_CHAR_ENCODING_NONE);
    if (!context) {
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
    xmlFreeDoc(context->myDoc);
    xmlFreeParserCtxt(context);
}

enum status
trix_parse(struct slice bytes, const struct parse_options *options, const struct quad_sink *sink,
           struct reason *why)
{
    static const struct parse_options defaults;
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct reason unused = {{0}};
    struct trix_reader reader = {.sink = *sink, .why = why ? why : &unused, .element = ELEMENTS};
    pthread_once(&once, xmlInitParser);
    options = options ? options : &defaults;
    const size_t term_size = options->term_size > 0 ? options->term_size : (size_t)PARSE_TERM_SIZE;
    reader.lenient = options->lenient;
    if (options->base.length > 0) {
        reader.base = iri_base_of(options->base);
    }
    problems_init(&reader.problems, options);
    scratch_init(&reader.scratch);
    buf_init(&reader.work, term_size);
    buf_init(&reader.text, term_size);
    read_document(&reader, bytes);
    buf_release(&reader.text);
    buf_release(&reader.work);
    scratch_release(&reader.scratch);
    return reader.status;
}
