/* Between the files of the XSLT transform: stylesheet.c compiles and runs, stylesheet_names.c
 * makes names equal, stylesheet_functions.c has the functions, construct.c the texts of feeds. */
#ifndef TRANSFORMS_XSLT_STYLESHEET_H
#define TRANSFORMS_XSLT_STYLESHEET_H

#include <libxml/hash.h>
#include <libxslt/xsltInternals.h>

#include "transforms/core/transformation.h"

/* The state of one run: a transform context's _private. */
struct stylesheet_state {
    struct transformation *transformation;
    xmlHashTablePtr names; /* what q:once has given out */
};

/* Once per process: makes the functions known. */
void stylesheet_functions_register(void);

/* A stylesheet in memory, named for messages; stylesheet_close frees it. */
enum status stylesheet_compile(const char *name, struct slice text, void **stylesheet,
                               struct reason *why);
/* Makes the XML that a stylesheet is run on: the page as Tidy mends it where the registry says so,
 * the page's tree, or the document as XML. The transformation's own. */
enum status stylesheet_input(struct transformation *transformation, xmlDocPtr *input,
                             struct reason *why);
/* On a document of the caller's, as it is. */
enum status stylesheet_run_document(struct transformation *transformation, void *stylesheet,
                                    xmlDocPtr input, struct reason *why);
/* xsltApplyStylesheetUser; elements of the result get lines (transforms/xml/xml_lines.h): those of
 * the nodes of input that they were made at, or are copies of. */
xmlDocPtr stylesheet_apply_with_lines(xsltStylesheetPtr compiled, xmlDocPtr input,
                                      xsltTransformContextPtr context);

/* ---- names ----
 *
 * Vocabularies have namespaces that changed, are written in other letters or are left out. A
 * stylesheet says at its top level what is meant by the same, and matches one name only:
 *
 *   <q:namespace iri="..." as="..." prefix="p" names="lower"/>
 *       elements in iri are taken to be in `as`; so are those whose prefix p is not declared.
 *       names="lower": their local names, and attributes without namespace, in lower case
 *   <q:root name="feed" as="..."/>
 *       the namespace of a root element of this name, whatever it is, is taken to be `as`
 *   <q:when type="TYPE" text="A B"/>
 *       for documents of this type: run only when one of the words is in the document's head
 */
struct stylesheet_names;
/* NULL when the stylesheet says nothing of the kind. */
struct stylesheet_names *stylesheet_names_read(xmlDocPtr stylesheet);
void stylesheet_names_free(struct stylesheet_names *names);
/* Returns whether q:when lets the stylesheet run. */
bool stylesheet_names_apply(const struct stylesheet_names *names, struct slice type,
                            struct slice text);
/* The document with names made equal; the caller frees it. NULL: no memory. */
xmlDocPtr stylesheet_names_copy(const struct stylesheet_names *names, xmlDocPtr document);

/* ---- texts of feeds ----
 *
 * A text construct of Atom (RFC 4287, and 0.3 with its modes) or an element of RSS, whose text is
 * escaped HTML by custom. Markup that is not escaped is taken for what it is.
 */
enum construct_kind { CONSTRUCT_NONE, CONSTRUCT_PLAIN, CONSTRUCT_HTML };
enum { CONSTRUCT_MAXIMUM = 4 << 20 /* bytes; the rest is cut off */ };
enum construct_kind construct_read(xmlNodePtr node, struct buf *out);
/* Its text: tags off, references decoded, white space collapsed. Lives in the extractor. */
struct slice construct_text(struct transformation *transformation, struct slice html);
/* Plain text as HTML. */
void construct_escape(struct buf *out, struct slice text);
/* HTML with absolute links, without scripts, styles and comments. */
void construct_html(struct transformation *transformation, xmlNodePtr node, struct slice html,
                    struct buf *out);
/* Each link of a, area (is_image false) and img. */
void construct_links(struct transformation *transformation, xmlNodePtr node, struct slice html,
                     void (*take)(void *context, bool is_image, struct slice iri), void *context);
/* Makes extractor.links resolve as xml:base says at the node. */
void construct_base(struct transformation *transformation, xmlNodePtr node);

#endif
