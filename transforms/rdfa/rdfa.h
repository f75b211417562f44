/* RDFa in the tree that all extractors share.
 * Source: RDFa Core 1.1 (https://www.w3.org/TR/rdfa-core/), HTML+RDFa 1.1
 * (https://www.w3.org/TR/html-rdfa/), XHTML+RDFa 1.1 (https://www.w3.org/TR/xhtml-rdfa/), RDFa in
 * XHTML 1.0 (https://www.w3.org/TR/2008/REC-rdfa-syntax-20081014/).
 *
 * One walk over the tree's array with a stack of evaluation contexts; nothing recurses. Elements
 * that RDFa does not see push nothing. All triples are kept until the end, since a pattern that is
 * copied (rdfa:copy) is taken out again.
 */
#ifndef TRANSFORMS_RDFA_RDFA_H
#define TRANSFORMS_RDFA_RDFA_H

#include "rdf/core/graph.h"
#include "transforms/html/html.h"

enum rdfa_host {
    RDFA_HTML,      /* HTML+RDFa 1.1, also for XHTML without a word about RDFa */
    RDFA_XHTML,     /* XHTML+RDFa 1.1 */
    RDFA_XHTML_1_0, /* XHTML+RDFa 1.0 */
    RDFA_XML        /* RDFa Core 1.1: any XML, SVG */
};

/* The classes of reports of the processor graph (section 7.6). */
enum rdfa_report {
    RDFA_UNRESOLVED_TERM,
    RDFA_UNRESOLVED_CURIE,
    RDFA_PREFIX_REDEFINITION,
    RDFA_MALFORMED,
    RDFA_TOO_MUCH /* of one thing than is kept */
};

struct rdfa_options {
    enum rdfa_host host;
    struct slice base;    /* absolute IRI of the document */
    bool lines;           /* of every quad; counting them costs */
    bool roles;           /* role attributes are statements too */
    bool processor_graph; /* instead of the output graph: what was reported, as triples */
    size_t memory;        /* bytes of quads, and of text; 0: no maximum */
    /* Is called with what was wrong; may be NULL. text lives for the call. */
    void (*report)(void *context, enum rdfa_report report, uint32_t line, const char *text);
    /* Adds the statements of a vocabulary that the document uses, as far as it can be had: asks
     * for vocabulary expansion (section 10). NULL: none. */
    void (*vocabulary)(void *context, struct slice iri, struct graph *into);
    void *context;
};

/* Hands the document's triples to sink, their graph TERM_NONE. Their slices live until the sink
 * returns; blank nodes are labelled "rdfa..." so that they meet no other extractor's.
 * OK; LIMIT past options->memory; what the sink returned. */
enum status rdfa_extract(const struct html_tree *tree, const struct rdfa_options *options,
                         const struct quad_sink *sink, struct reason *why);

/* Returns whether the page may have RDFa at all: an attribute of RDFa, or a link relation that is
 * one of its terms, a CURIE or an IRI. features: html_features of the tree. */
bool rdfa_is_likely(const struct html_tree *tree, enum rdfa_host host, unsigned features);

/* A vocabulary's own statements, in RDF or RDFa by its media type; what cannot be read says
 * nothing. */
void rdfa_read_vocabulary(struct slice content_type, struct slice bytes, struct slice base,
                          const struct quad_sink *sink);

/* By what the document's root and document type say of themselves. type: media type. */
enum rdfa_host rdfa_host_of(const struct html_tree *tree, struct slice type);

#endif
