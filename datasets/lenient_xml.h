/* XML as sites write it: perhaps packed, with "&" that begin nothing, cut off, damaged. One SAX
 * pass of libxml2 in its recovering mode; a document's own entities and DTDs are never read,
 * nothing is fetched. */
#ifndef DATASETS_LENIENT_XML_H
#define DATASETS_LENIENT_XML_H

#include <libxml/parser.h>
#include <stdbool.h>

#include "base/buf.h"
#include "base/slice.h"
#include "base/status.h"

enum { LENIENT_GZIP_LAYERS = 2 };

/* Bytes with their gzip layers undone. */
struct unpacked_bytes {
    struct buf layers[LENIENT_GZIP_LAYERS];
    int count;
    struct slice bytes; /* at most `most` of them */
    bool limited, incomplete;
};
void unpack_bytes(struct slice packed, size_t most, struct unpacked_bytes *unpacked);
void unpacked_release(struct unpacked_bytes *unpacked);

struct lenient_xml {
    xmlParserCtxtPtr parser; /* for xmlStopParser and line numbers, while it parses */
    bool stopped;            /* set it with lenient_xml_stop */
    bool well_formed;        /* afterwards */
};
/* start, end, text and cdata of the handler count; context is given to them. Bytes are UTF-8 with
 * or without a byte order mark, or UTF-16. */
enum status lenient_xml_parse(struct lenient_xml *xml, struct slice bytes,
                              const xmlSAXHandler *handler, void *context, struct reason *why);
void lenient_xml_stop(struct lenient_xml *xml);
/* Line of the event, 1-based. */
unsigned lenient_xml_line(const struct lenient_xml *xml);
/* Returns whether these bytes have to be XML to be anything. */
bool lenient_xml_is_wide(struct slice bytes);
/* Attributes of a start event come as five pointers each. The value of the one with this name,
 * with or without a namespace; at NULL: there is none. */
struct slice lenient_xml_attribute(const xmlChar **attributes, int count, const char *name,
                                   bool any_namespace);

#endif
