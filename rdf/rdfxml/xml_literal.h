/* The content of rdf:parseType="Literal" as text, from SAX events.
 * Source: Exclusive XML Canonicalization 1.0 with comments, https://www.w3.org/TR/xml-exc-c14n/.
 *
 * Names and namespaces are pointers into libxml2's dictionary and compared as such.
 */
#ifndef RDF_RDFXML_XML_LITERAL_H
#define RDF_RDFXML_XML_LITERAL_H

#include <libxml/xmlstring.h>

#include "base/buf.h"

struct xml_rendered; /* a namespace declaration that an open element shows */

struct xml_literal {
    struct buf text;
    struct xml_rendered *rendered;
    size_t rendered_count, rendered_size;
    unsigned depth;
};

void xml_literal_init(struct xml_literal *literal, size_t maximum);
void xml_literal_reset(struct xml_literal *literal);
void xml_literal_release(struct xml_literal *literal);

/* attributes: as SAX2 gives them, five pointers each. Check text.overflowed at the end. */
void xml_literal_start(struct xml_literal *literal, const xmlChar *local, const xmlChar *prefix,
                       const xmlChar *space, int attribute_count, const xmlChar **attributes);
void xml_literal_end(struct xml_literal *literal, const xmlChar *local, const xmlChar *prefix);
void xml_literal_text(struct xml_literal *literal, struct slice text);
void xml_literal_comment(struct xml_literal *literal, const char *text);
void xml_literal_instruction(struct xml_literal *literal, const char *target, const char *data);

#endif
