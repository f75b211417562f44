/* Lines of start tags. libxml2's handlers are called at the end of a tag, and so is its line. */
#ifndef RDF_RDFXML_XML_LINE_H
#define RDF_RDFXML_XML_LINE_H

#include <stdint.h>

#include <libxml/parser.h>

/* Finds where the tag begins that a start handler is called for; its line. Inside of libxml2's
 * buffer: a start tag is never parted. */
const xmlChar *xml_line_tag(const xmlParserInput *input, uint32_t *line);

/* Moves from *at forward to `to` and counts the lines passed. */
void xml_line_pass(const xmlChar **at, const xmlChar *to, uint32_t *line);

#endif
