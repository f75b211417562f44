/* Between rdfxml.c (libxml2's events and limits), rdfxml_grammar.c (what they mean) and
 * rdfxml_attributes.c: private. */
#ifndef RDF_RDFXML_RDFXML_READER_H
#define RDF_RDFXML_RDFXML_READER_H

#include <libxml/parser.h>

#include "base/map.h"
#include "rdf/core/blank_label.h"
#include "rdf/core/problem.h"
#include "rdf/core/resolve.h"
#include "rdf/rdfxml/xml_literal.h"
#include "rdf/rdfxml/xml_names.h"

/* The kinds of open elements. */
enum rdfxml_kind {
    RDFXML_DOCUMENT,   /* no element: below the root */
    RDFXML_SKIPPED,    /* an error was reported of it, or of one around it */
    RDFXML_RDF,        /* rdf:RDF */
    RDFXML_NODE,       /* a node element: it holds property elements */
    RDFXML_PROPERTY,   /* holds one node element or text: not known yet, or node_seen */
    RDFXML_EMPTY,      /* a property element whose attributes said all */
    RDFXML_RESOURCE,   /* parseType="Resource": property and node in one */
    RDFXML_COLLECTION, /* parseType="Collection": holds node elements */
    RDFXML_LITERAL     /* parseType="Literal" */
};

struct rdfxml_frame {
    enum rdfxml_kind kind;
    bool node_seen;
    uint32_t line;            /* of its start tag */
    uint32_t members;         /* rdf:li so far */
    struct term node;         /* NODE, RESOURCE: the subject of what it holds */
    struct slice predicate;   /* of properties; their subject is the frame below */
    struct slice datatype;    /* empty: none */
    struct slice reification; /* IRI from rdf:ID; empty: none */
    struct term cell;         /* COLLECTION: the latest cell; NONE: no item yet */
    char cell_label[BLANK_LABEL_SIZE];
    struct iri_base base;
    struct slice language;
    struct scratch_mark mark; /* before all that the frame took */
};

struct rdfxml_reader {
    struct quad_sink sink;
    struct reason *why;
    struct problems problems;
    const char *message; /* of the latest BAD_INPUT */
    size_t term_size;

    struct rdfxml_frame *frames; /* frames[0]: RDFXML_DOCUMENT */
    uint32_t count, maximum;
    struct scratch scratch;
    struct buf work;
    struct buf text; /* of the innermost property element */
    struct xml_names names;
    struct xml_literal literal;
    struct map ids; /* fingerprints of those of rdf:ID */
    uint64_t generated;

    /* rdfxml.c */
    xmlParserCtxtPtr context; /* of the document; entities get their own */
    enum status status;       /* other than OK: over */
    const struct rdf_source *source;
    uint64_t given, delivered; /* bytes to libxml2, and from it */
    bool lines;
    const struct parse_origin *origin;
    size_t elements;    /* started so far */
    uint32_t line;      /* of the start tag read last */
    const xmlChar *tag; /* that tag while it is handled; NULL: elsewhere */
};

/* Events; BAD_INPUT with reader->message set can be survived: the element is skipped. */
enum status rdfxml_start(struct rdfxml_reader *reader, const xmlChar *local, const xmlChar *prefix,
                         const xmlChar *space, int attribute_count, const xmlChar **attributes);
enum status rdfxml_end(struct rdfxml_reader *reader, const xmlChar *local, const xmlChar *prefix);
enum status rdfxml_text(struct rdfxml_reader *reader, struct slice text);
/* Returns the literal in which comments and instructions count, or NULL outside of one. */
struct xml_literal *rdfxml_open_literal(struct rdfxml_reader *reader);

/* ---- rdfxml_attributes.c ---- */

/* The attributes of one element, sorted out. */
struct rdfxml_attributes {
    unsigned present; /* a bit 1 << XML_TERM_... for each that the grammar names, but rdf:type */
    struct slice values[XML_TERM_COUNT];
    int properties; /* number of property attributes, rdf:type among them */
    int count;
    const xmlChar **all; /* SAX2's array */
};

enum status rdfxml_fail(struct rdfxml_reader *reader, const char *message);
enum status rdfxml_fail_limit(struct rdfxml_reader *reader, const char *what);
enum status rdfxml_emit(struct rdfxml_reader *reader, uint32_t line, const struct term *subject,
                        struct slice predicate, const struct term *object);

/* The IRI that an attribute's value refers to; the result lies in scratch. */
enum status rdfxml_resolve(struct rdfxml_reader *reader, const struct iri_base *base,
                           struct slice value, struct slice *iri);
/* rdf:nodeID. */
enum status rdfxml_read_node_id(struct rdfxml_reader *reader, struct slice name, struct term *node);
/* rdf:ID: "#" and the name, against the base; only once in a document. */
enum status rdfxml_read_id(struct rdfxml_reader *reader, const struct iri_base *base,
                           struct slice name, struct slice *iri);
/* Sorts the attributes and applies xml:base and xml:lang to the frame. */
enum status rdfxml_read_attributes(struct rdfxml_reader *reader, struct rdfxml_frame *frame,
                                   struct rdfxml_attributes *attributes);
/* propertyAttr: a literal each, rdf:type an IRI. */
enum status rdfxml_emit_property_attributes(struct rdfxml_reader *reader,
                                            const struct rdfxml_frame *frame,
                                            const struct rdfxml_attributes *attributes,
                                            const struct term *subject);

#endif
