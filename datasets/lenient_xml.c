#include "datasets/lenient_xml.h"

#include <string.h>

#include "base/ascii.h"
#include "warc/warc.h"

enum { CHUNK = 64 << 10, REFERENCE_MAXIMUM = 40 };

/* ---- bytes ---- */

void
unpack_bytes(struct slice packed, size_t most, struct unpacked_bytes *unpacked)
{
    *unpacked = (struct unpacked_bytes){.bytes = packed};
    while (unpacked->count < LENIENT_GZIP_LAYERS &&
           slice_starts(unpacked->bytes, SLICE("\x1f\x8b"))) {
        struct buf *layer = &unpacked->layers[unpacked->count++];
        struct reason problem;
        buf_init(layer, most);
        const enum status decoded = warc_decode(SLICE("gzip"), unpacked->bytes, 0, layer, &problem);
        unpacked->limited |= decoded == STATUS_LIMIT;
        unpacked->incomplete |= decoded == STATUS_CORRUPT;
        unpacked->bytes = buf_slice(layer);
    }
    if (unpacked->bytes.length > most) {
        unpacked->bytes.length = most;
        unpacked->limited = true;
    }
}

void
unpacked_release(struct unpacked_bytes *unpacked)
{
    while (unpacked->count > 0) {
        buf_release(&unpacked->layers[--unpacked->count]);
    }
}

bool
lenient_xml_is_wide(struct slice bytes)
{
    return slice_starts(bytes, SLICE("\xff\xfe")) || slice_starts(bytes, SLICE("\xfe\xff")) ||
           memchr(bytes.at, 0, bytes.length < 4 ? bytes.length : 4) != NULL;
}

/* Length of the reference at text ("&...;"), 0 when the "&" stands for itself. */
static size_t
reference_length(struct slice text)
{
    const size_t most = text.length < REFERENCE_MAXIMUM ? text.length : REFERENCE_MAXIMUM;
    for (size_t i = 1; i < most; i++) {
        const char c = text.at[i];
        if (c == ';') {
            return i > 1 ? i + 1 : 0;
        }
        if (!ascii_is_letter(c) && !ascii_is_digit(c) && c != '#') {
            return 0;
        }
    }
    return 0;
}

/* Writes "&amp;" where an "&" begins no reference, outside CDATA sections. */
static void
escape_ampersands(struct slice bytes, struct buf *out)
{
    size_t plain = 0;
    size_t i = 0;
    while (i < bytes.length) {
        const struct slice rest = slice_of(bytes.at + i, bytes.length - i);
        if (bytes.at[i] == '<' && slice_starts(rest, SLICE("<![CDATA["))) {
            i += slice_find_slice(rest, SLICE("]]>"));
        } else if (bytes.at[i] == '&' && reference_length(rest) == 0) {
            buf_append(out, bytes.at + plain, i - plain);
            buf_append_string(out, "&amp;");
            plain = ++i;
        } else {
            i++;
        }
    }
    buf_append(out, bytes.at + plain, bytes.length - plain);
}

/* ---- parsing ---- */

/* Only the five that XML itself defines: a document's own are never read. */
static xmlEntityPtr
predefined_entity(void *context, const xmlChar *name)
{
    (void)context;
    return xmlGetPredefinedEntity(name);
}

static void
ignore_error(void *context, xmlErrorPtr error)
{
    (void)context;
    (void)error;
}

static enum status
parse(struct lenient_xml *xml, struct slice bytes, const xmlSAXHandler *handler, void *context,
      struct reason *why)
{
    xmlSAXHandler sax = {
        .initialized = XML_SAX2_MAGIC,
        .startElementNs = handler->startElementNs,
        .endElementNs = handler->endElementNs,
        .characters = handler->characters,
        .cdataBlock = handler->cdataBlock,
        .getEntity = predefined_entity,
        .serror = ignore_error,
    };
    xml->stopped = false;
    xml->parser = xmlCreatePushParserCtxt(&sax, context, NULL, 0, NULL);
    if (xml->parser == NULL) {
        return status_fail(why, STATUS_SYSTEM, "libxml2 could not start");
    }
    xmlCtxtUseOptions(xml->parser, XML_PARSE_RECOVER | XML_PARSE_NONET | XML_PARSE_NOERROR |
                                       XML_PARSE_NOWARNING);
    for (size_t at = 0; at < bytes.length && !xml->stopped; at += CHUNK) {
        const size_t piece = bytes.length - at < CHUNK ? bytes.length - at : CHUNK;
        xmlParseChunk(xml->parser, bytes.at + at, (int)piece, 0);
    }
    xmlParseChunk(xml->parser, NULL, 0, 1);
    xml->well_formed = xml->parser->wellFormed != 0;
    /* The parser makes a document by itself to hold the entities of a DTD. */
    xmlFreeDoc(xml->parser->myDoc);
    xmlFreeParserCtxt(xml->parser);
    xml->parser = NULL;
    return STATUS_OK;
}

enum status
lenient_xml_parse(struct lenient_xml *xml, struct slice bytes, const xmlSAXHandler *handler,
                  void *context, struct reason *why)
{
    if (lenient_xml_is_wide(bytes)) {
        return parse(xml, bytes, handler, context, why);
    }
    if (slice_starts(bytes, SLICE("\xef\xbb\xbf"))) {
        bytes = slice_of(bytes.at + 3, bytes.length - 3);
    }
    while (bytes.length > 0 && (unsigned char)bytes.at[0] <= ' ') {
        bytes = slice_of(bytes.at + 1, bytes.length - 1);
    }
    struct buf escaped;
    buf_init(&escaped, 5 * bytes.length + 1);
    escape_ampersands(bytes, &escaped);
    const enum status status = parse(xml, buf_slice(&escaped), handler, context, why);
    buf_release(&escaped);
    return status;
}

void
lenient_xml_stop(struct lenient_xml *xml)
{
    xml->stopped = true;
    if (xml->parser != NULL) {
        xmlStopParser(xml->parser);
    }
}

unsigned
lenient_xml_line(const struct lenient_xml *xml)
{
    const int line = xml->parser != NULL ? xmlSAX2GetLineNumber(xml->parser) : 0;
    return line > 0 ? (unsigned)line : 0;
}

struct slice
lenient_xml_attribute(const xmlChar **attributes, int count, const char *name, bool any_namespace)
{
    for (int i = 0; i < count; i++) {
        const xmlChar **one = attributes + (ptrdiff_t)i * 5;
        if ((any_namespace || one[1] == NULL) &&
            slice_equal_nocase(slice_string((const char *)one[0]), slice_string(name))) {
            return slice_of((const char *)one[3], (size_t)(one[4] - one[3]));
        }
    }
    return (struct slice){0};
}
