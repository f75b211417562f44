#include "transforms/xml/xml.h"

#include <libxml/SAX2.h>
#include <libxml/parserInternals.h>
#include <libxml/xmlIO.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "transforms/html/html_entities.h"

static xmlParserInputPtr
refuse(const char *url, const char *id, xmlParserCtxtPtr parser)
{
    (void)url, (void)id, (void)parser;
    return NULL;
}

static void
mute(void *context, const char *format, ...)
{
    (void)context, (void)format;
}

static void *
resize(void *old, size_t size)
{
    return memory_resize(old, 1, size);
}

void
xml_prepare(void)
{
    /* libxml2 and libxslt do not look everywhere whether there was memory. These are malloc and
     * its kin, so what was allocated before stays right. */
    xmlMemSetup(free, memory_alloc, resize, memory_string);
    xmlInitParser();
    xmlSetExternalEntityLoader(refuse);
    xmlSetGenericErrorFunc(NULL, mute);
}

/* Returns an entity: one that the document does not declare may be one of HTML's. */
static xmlEntityPtr
get_entity(void *context, const xmlChar *name)
{
    xmlParserCtxtPtr parser = context;
    xmlEntityPtr found = xmlSAX2GetEntity(context, name);
    if (found || !parser->myDoc) {
        return found;
    }
    char reference[ENTITY_NAME_MAXIMUM + 3], text[ENTITY_TEXT_MAXIMUM + 1];
    const int length = snprintf(reference, sizeof reference, "&%s;", (const char *)name);
    size_t written = 0;
    if (length < 0 || (size_t)length >= sizeof reference ||
        entity_decode(slice_of(reference, (size_t)length), false, text, &written) !=
            (size_t)length) {
        return NULL;
    }
    text[written] = 0;
    if (!parser->myDoc->intSubset) {
        xmlCreateIntSubset(parser->myDoc, BAD_CAST "html", NULL, NULL);
    }
    return xmlAddDocEntity(parser->myDoc, name, XML_INTERNAL_GENERAL_ENTITY, NULL, NULL,
                           BAD_CAST text);
}

xmlParserCtxtPtr
xml_parser_new(void)
{
    xmlParserCtxtPtr parser = xmlNewParserCtxt();
    if (!parser) {
        fputs("out of memory\n", stderr);
        exit(EXIT_SYSTEM);
    }
    parser->sax->getEntity = get_entity;
    return parser;
}

void
xml_parser_free(xmlParserCtxtPtr parser)
{
    xmlFreeParserCtxt(parser);
}

void
xml_error_reason(xmlParserCtxtPtr parser, struct reason *why)
{
    xmlErrorPtr error = xmlCtxtGetLastError(parser);
    if (!error || !error->message) {
        status_fail(why, STATUS_BAD_INPUT, "XML is not well-formed");
        return;
    }
    const struct slice message = slice_trim(slice_string(error->message));
    status_fail(why, STATUS_BAD_INPUT, "line %d: %.*s", error->line, SLICE_PRINT(message));
}
