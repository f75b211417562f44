/* Tells which line the elements of an XML tree are from, beyond the 65,535 that libxml2 keeps: in
 * _private of elements, which nothing else uses. */
#ifndef TRANSFORMS_XML_XML_LINES_H
#define TRANSFORMS_XML_XML_LINES_H

#include <libxml/parser.h>

#include "base/arena.h"
#include "rdf/core/parse.h"

/* The parser will note the line of each start tag. */
void xml_lines_watch(xmlParserCtxtPtr parser);

void xml_line_set(xmlNodePtr node, uint32_t line);
/* Returns the line of the element, or of the one that the node is in; a document has that of its
 * root. It is libxml2's own when none was set, and 0 when it is unknown. */
uint32_t xml_line(const xmlNode *node);

/* A copy's elements get the lines of the original's. */
void xml_lines_copy(xmlNodePtr original, xmlNodePtr copy);

/* The next element in root, in document order. NULL: none. */
xmlNodePtr xml_next_element(const xmlNode *root, xmlNodePtr node);

/* Lines of the node's elements as rdfxml_parse wants them when the node is written out. No memory
 * in the arena: they are unknown. */
struct parse_origin xml_lines_origin(xmlNodePtr node, struct arena *arena);

#endif
