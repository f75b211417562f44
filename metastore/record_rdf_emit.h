/* Declarations that the files which write records as RDF share: names, nodes, and triples one at a
 * time. Private. */
#ifndef METASTORE_RECORD_RDF_EMIT_H
#define METASTORE_RECORD_RDF_EMIT_H

#include <stdbool.h>

#include "base/arena.h"
#include "metastore/record.h"
#include "metastore/record_rdf.h"
#include "rdf/core/vocabulary.h"

#define HTTP "http://www.w3.org/2011/http#"
#define HTTP_HEADERS "http://www.w3.org/2011/http-headers#"
#define HTTP_STATUS_CODES "http://www.w3.org/2011/http-statusCodes#"
#define CONTENT "http://www.w3.org/2011/content#"
#define PROV "http://www.w3.org/ns/prov#"
#define DC "http://purl.org/dc/elements/1.1/"
#define DCTERMS "http://purl.org/dc/terms/"
#define DCAT "http://www.w3.org/ns/dcat#"
#define SPDX "http://spdx.org/rdf/terms#"
#define VOID "http://rdfs.org/ns/void#"
#define OA "http://www.w3.org/ns/oa#"
#define RDFS "http://www.w3.org/2000/01/rdf-schema#"
#define SCHEMA "https://schema.org/"
#define XSD_DATE_TIME XSD_NAMESPACE "dateTime"

enum { LABEL_SIZE = 48 };

/* The subjects of triples. All but the document are blank nodes named so. */
enum node {
    NODE_DOCUMENT,
    NODE_CONNECTION,
    NODE_REQUEST,
    NODE_RESPONSE,
    NODE_BODY,
    NODE_FETCH,
    NODE_DETECT,
    NODE_TRANSFORM,
    NODE_INDEX,
    NODE_EXTRACT,
    NODE_ROBOTS,
    NODE_COUNT
};

struct emit {
    struct term document, graph;
    struct slice record;
    const struct quad_sink *sink;
    struct reason *why;
    enum status status;     /* sticky */
    bool named[NODE_COUNT]; /* the node's type was told */
    struct arena arena;     /* texts that had to be recoded */
};

const char *meta_node_label(enum node node); /* NULL: the document */
struct term meta_node(const struct emit *emit, enum node node);
struct term meta_iri(const char *iri);
/* The node, its type told once; activities get their program. */
struct term meta_named(struct emit *emit, enum node node);

void meta_triple(struct emit *emit, struct term subject, const char *predicate, struct term object);
/* datatype NULL: plain, for numbers xsd:integer. */
void meta_literal(struct emit *emit, struct term subject, const char *predicate, struct slice text,
                  const char *datatype);
void meta_number(struct emit *emit, struct term subject, const char *predicate, uint64_t value,
                 const char *datatype);
void meta_date_time(struct emit *emit, struct term subject, const char *predicate,
                    uint64_t wall_ms);
/* An IRI, or a literal when the text is none: servers redirect to anything. */
void meta_uri(struct emit *emit, struct term subject, const char *predicate, struct slice text);
bool meta_is_iri(struct slice text);

/* Request, response and their headers: record_rdf_http.c. */
void meta_exchange(struct emit *emit);

#endif
