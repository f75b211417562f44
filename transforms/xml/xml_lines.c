#include "transforms/xml/xml_lines.h"

#include <stdbool.h>
#include <string.h>

#include <libxml/SAX2.h>
#include <libxml/parserInternals.h>

#include "rdf/rdfxml/xml_line.h"

static void
start(void *context, const xmlChar *local, const xmlChar *prefix, const xmlChar *space,
      int namespace_count, const xmlChar **namespaces, int attribute_count, int defaulted_count,
      const xmlChar **attributes)
{
    const xmlParserCtxtPtr parser = context;
    uint32_t line = 0;
    if (parser->input) {
        xml_line_tag(parser->input, &line);
    }
    xmlSAX2StartElementNs(context, local, prefix, space, namespace_count, namespaces,
                          attribute_count, defaulted_count, attributes);
    if (parser->node) {
        xml_line_set(parser->node, line);
    }
}

void
xml_lines_watch(xmlParserCtxtPtr parser)
{
    parser->sax->startElementNs = start;
}

void
xml_line_set(xmlNodePtr node, uint32_t line)
{
    node->_private = (void *)(uintptr_t)line;
}

uint32_t
xml_line(const xmlNode *node)
{
    if (node && node->type == XML_NAMESPACE_DECL) { /* XPath's: knows what it is of */
        node = (const xmlNode *)((const xmlNs *)node)->next;
    }
    if (node && node->type == XML_DOCUMENT_NODE) {
        node = xmlDocGetRootElement((const xmlDoc *)node);
    }
    while (node && node->type != XML_ELEMENT_NODE && node->type != XML_DOCUMENT_NODE) {
        node = node->parent;
    }
    if (!node || node->type != XML_ELEMENT_NODE) {
        return 0;
    }
    const long line = node->_private ? (long)(uintptr_t)node->_private : xmlGetLineNo(node);
    return line > 0 ? (uint32_t)line : 0;
}

/* In document order. NULL: root has been passed. */
static xmlNodePtr
next_node(const xmlNode *root, xmlNodePtr node)
{
    if (node->type != XML_ENTITY_REF_NODE && node->type != XML_DTD_NODE && node->children) {
        return node->children;
    }
    while (node != root && !node->next) {
        node = node->parent;
    }
    return node == root ? NULL : node->next;
}

xmlNodePtr
xml_next_element(const xmlNode *root, xmlNodePtr node)
{
    do {
        node = next_node(root, node);
    } while (node && node->type != XML_ELEMENT_NODE);
    return node;
}

void
xml_lines_copy(xmlNodePtr original, xmlNodePtr copy)
{
    xmlNodePtr from = original, to = copy;
    while (from && to) {
        xml_line_set(to, xml_line(from));
        from = xml_next_element(original, from);
        to = xml_next_element(copy, to);
    }
}

/* Elements in text that is written as it stands. */
static size_t
count_unescaped(const xmlNode *text)
{
    size_t count = 0;
    for (const char *at = strchr((const char *)text->content, '<'); at; at = strchr(at + 1, '<')) {
        count += at[1] != '/' && at[1] != '!' && at[1] != '?';
    }
    return count;
}

/* lines: NULL to count. */
static size_t
collect(xmlNodePtr root, uint32_t *lines)
{
    size_t count = 0;
    for (xmlNodePtr node = root; node; node = next_node(root, node)) {
        const bool raw =
            node->type == XML_TEXT_NODE && node->name == xmlStringTextNoenc && node->content;
        const size_t more = raw ? count_unescaped(node) : node->type == XML_ELEMENT_NODE;
        for (size_t i = 0; lines && i < more; i++) {
            lines[count + i] = xml_line(node);
        }
        count += more;
    }
    return count;
}

struct parse_origin
xml_lines_origin(xmlNodePtr node, struct arena *arena)
{
    const size_t count = collect(node, NULL);
    uint32_t *lines = arena_alloc(arena, (count + 1) * sizeof *lines);
    return (struct parse_origin){lines, lines ? collect(node, lines) : 0};
}
