/* XHTML as XML: libxml2's SAX events into the tree that HTML pages have too. */
#include <libxml/parser.h>
#include <libxml/parserInternals.h>

#include "rdf/rdfxml/xml_line.h"
#include "transforms/html/html.h"
#include "transforms/xml/xml.h"

#define XHTML_NAMESPACE "http://www.w3.org/1999/xhtml"
#define SVG_NAMESPACE "http://www.w3.org/2000/svg"
#define MATH_NAMESPACE "http://www.w3.org/1998/Math/MathML"

struct reader {
    struct html_tree *tree;
    xmlParserCtxtPtr parser;
    uint32_t parent;
    bool full;
};

static struct slice
keep(struct reader *reader, const xmlChar *bytes, size_t length)
{
    const struct slice copy =
        arena_copy(reader->tree->arena, slice_of((const char *)bytes, length));
    reader->full |= length > 0 && !copy.at;
    return copy.at ? copy : (struct slice){"", 0};
}

/* Elements and attributes keep their qualified name: extractors ask for "lang" and "xml:lang", and
 * content may have to be written as it was. */
static struct slice
qualified_name(struct reader *reader, const xmlChar *prefix, const xmlChar *name)
{
    if (!prefix) {
        return keep(reader, name, strlen((const char *)name));
    }
    const struct slice joined =
        arena_printf(reader->tree->arena, "%s:%s", (const char *)prefix, (const char *)name);
    reader->full |= !joined.at;
    return joined;
}

static bool
is_namespace(const xmlChar *uri, const char *namespace)
{
    return uri && strcmp((const char *)uri, namespace) == 0;
}

/* Declarations are attributes here, as in HTML: RDFa reads prefixes from them. */
static void
add_namespace(struct reader *reader, const xmlChar *prefix, const xmlChar *uri)
{
    const xmlChar *value = uri ? uri : (const xmlChar *)"";
    struct slice name = SLICE("xmlns");
    if (prefix) {
        name = qualified_name(reader, (const xmlChar *)"xmlns", prefix);
    }
    html_tree_attribute(reader->tree, name, keep(reader, value, strlen((const char *)value)));
}

static void
start_element(void *context, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri,
              int namespace_count, const xmlChar **namespaces, int attribute_count, int defaulted,
              const xmlChar **attributes)
{
    (void)defaulted;
    struct reader *reader = ((xmlParserCtxtPtr)context)->_private;
    struct html_tree *tree = reader->tree;
    struct html_node node = {.kind = HTML_ELEMENT,
                             .parent = reader->parent,
                             .attribute = tree->attribute_count,
                             .text = qualified_name(reader, prefix, name)};
    const struct slice local = slice_string((const char *)name);
    xml_line_tag(((xmlParserCtxtPtr)context)->input, &node.line);
    node.space = is_namespace(uri, SVG_NAMESPACE)    ? HTML_SPACE_SVG
                 : is_namespace(uri, MATH_NAMESPACE) ? HTML_SPACE_MATH
                                                     : HTML_SPACE_HTML;
    if (!uri || is_namespace(uri, XHTML_NAMESPACE) || node.space != HTML_SPACE_HTML) {
        node.element = (uint16_t)html_element_of(local);
    }
    for (int i = 0; i < attribute_count && node.attribute_count < HTML_ATTRIBUTES; i++) {
        const xmlChar **attribute = attributes + (size_t)i * 5;
        html_tree_attribute(tree, qualified_name(reader, attribute[1], attribute[0]),
                            keep(reader, attribute[3], (size_t)(attribute[4] - attribute[3])));
        node.attribute_count++;
    }
    for (int i = 0; i < namespace_count && node.attribute_count < HTML_ATTRIBUTES; i++) {
        add_namespace(reader, namespaces[2 * i], namespaces[2 * i + 1]);
        node.attribute_count++;
    }
    reader->parent = html_tree_add(tree, &node);
}

static void
end_element(void *context, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri)
{
    (void)name, (void)prefix, (void)uri;
    struct reader *reader = ((xmlParserCtxtPtr)context)->_private;
    html_tree_close(reader->tree, reader->parent);
    reader->parent = reader->tree->nodes[reader->parent].parent;
}

/* libxml2 is at the text's end. */
static uint32_t
first_line(void *context, const xmlChar *text, int length)
{
    const uint32_t last = (uint32_t)xmlSAX2GetLineNumber(context);
    const xmlChar *at = text;
    uint32_t passed = 0;
    xml_line_pass(&at, text + length, &passed);
    return last > passed ? last - passed : 1;
}

static void
characters(void *context, const xmlChar *text, int length)
{
    struct reader *reader = ((xmlParserCtxtPtr)context)->_private;
    const struct html_node node = {.kind = HTML_TEXT,
                                   .line = first_line(context, text, length),
                                   .parent = reader->parent,
                                   .text = keep(reader, text, (size_t)length)};
    html_tree_close(reader->tree, html_tree_add(reader->tree, &node));
}

enum status
xhtml_parse(struct html_tree *tree, struct slice input, struct reason *why)
{
    html_tree_reset(tree);
    tree->parser = "xhtml";
    const struct html_node root = {.kind = HTML_DOCUMENT};
    html_tree_add(tree, &root);
    if (input.length > INT32_MAX / 2) {
        return status_fail(why, STATUS_LIMIT, "XHTML of %zu bytes is too long", input.length);
    }
    xmlParserCtxtPtr parser = xml_parser_new();
    struct reader reader = {.tree = tree, .parser = parser};
    parser->_private = &reader;
    parser->sax->startElementNs = start_element;
    parser->sax->endElementNs = end_element;
    parser->sax->characters = characters;
    parser->sax->cdataBlock = characters;
    parser->sax->ignorableWhitespace = characters;
    parser->sax->comment = NULL;
    parser->sax->processingInstruction = NULL;
    xmlDocPtr document =
        xmlCtxtReadMemory(parser, input.at, (int)input.length, NULL, "UTF-8", XML_SAFE_OPTIONS);
    const bool good = parser->wellFormed;
    if (!good) {
        xml_error_reason(parser, why);
    }
    const xmlDtd *type = document ? xmlGetIntSubset(document) : NULL;
    if (type && type->ExternalID) {
        tree->doctype = keep(&reader, type->ExternalID, strlen((const char *)type->ExternalID));
    }
    xmlFreeDoc(document);
    xml_parser_free(parser);
    html_tree_close(tree, 0);
    if (reader.full) {
        return status_fail(why, STATUS_LIMIT, "text passes %zu bytes", tree->arena->maximum);
    }
    if (!good) {
        html_tree_reset(tree);
    }
    return good ? STATUS_OK : STATUS_BAD_INPUT;
}
