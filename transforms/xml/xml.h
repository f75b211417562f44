/* libxml2 with its doors shut: no network, no file, no external entity or DTD; HTML's named
 * characters known besides XML's five, since pages and feeds use them. */
#ifndef TRANSFORMS_XML_XML_H
#define TRANSFORMS_XML_XML_H

#include <libxml/parser.h>

#include "base/slice.h"
#include "base/status.h"

#define XML_SAFE_OPTIONS                                                           \
    (XML_PARSE_NONET | XML_PARSE_NOENT | XML_PARSE_NOERROR | XML_PARSE_NOWARNING | \
     XML_PARSE_COMPACT | XML_PARSE_NOCDATA)

/* Once per process, before any parser and before threads. */
void xml_prepare(void);

/* Ends the process like memory_alloc when there is no memory. */
xmlParserCtxtPtr xml_parser_new(void);
void xml_parser_free(xmlParserCtxtPtr parser);
/* "line L: message" of the parser's last error. */
void xml_error_reason(xmlParserCtxtPtr parser, struct reason *why);

#endif
