/* RDF/XML inside of other XML: each rdf:RDF element of an SVG picture, an Atom feed, any document,
 * is handed to the RDF/XML reader with the namespaces, base and language that it stands in. What is
 * inside of rdf:RDF is that island's. */
#include <libxml/tree.h>

#include "rdf/rdfxml/rdfxml.h"
#include "transforms/common/vocabulary.h"
#include "transforms/core/builtins.h"
#include "transforms/xml/xml_lines.h"

enum { ISLANDS_MAXIMUM = 1000, ISLAND_BYTES = 64 << 20 };

static bool
is_island(const xmlNode *node)
{
    return node->type == XML_ELEMENT_NODE && node->ns && xmlStrEqual(node->name, BAD_CAST "RDF") &&
           xmlStrEqual(node->ns->href, BAD_CAST VOCABULARY_RDF);
}

/* Writes what the element inherits on the element itself. */
static void
complete(xmlDocPtr document, xmlNodePtr node)
{
    xmlNsPtr *spaces = xmlGetNsList(document, node);
    for (size_t i = 0; spaces && spaces[i]; i++) {
        if (!xmlStrEqual(spaces[i]->prefix, BAD_CAST "xml")) {
            xmlNewNs(node, spaces[i]->href, spaces[i]->prefix); /* NULL: it has its own */
        }
    }
    xmlFree(spaces);
    xmlChar *language = xmlNodeGetLang(node);
    if (language) {
        xmlNodeSetLang(node, language);
    }
    xmlFree(language);
}

static enum status
read_island(struct transformation *transformation, xmlNodePtr node, struct reason *why)
{
    complete(transformation->xml, node);
    xmlBufferPtr text = xmlBufferCreate();
    xmlChar *base = xmlNodeGetBase(transformation->xml, node);
    enum status status = STATUS_OK;
    if (text && xmlNodeDump(text, transformation->xml, node, 0, 0) > 0 &&
        xmlBufferLength(text) < ISLAND_BYTES) {
        const struct quad_sink sink = transformation_sink(transformation);
        const struct parse_origin origin = xml_lines_origin(node, &transformation->arena);
        const struct parse_options options = {.base = base ? slice_string((const char *)base)
                                                           : buf_slice(&transformation->iri),
                                              .lenient = true,
                                              .lines = transformation->request->explain,
                                              .origin = &origin,
                                              .problems = transformation_problems(transformation)};
        struct reason problem;
        const struct slice bytes = {(const char *)xmlBufferContent(text),
                                    (size_t)xmlBufferLength(text)};
        transformation_scope(transformation);
        status = rdfxml_parse(bytes, &options, &sink, &problem);
        if (status == STATUS_BAD_INPUT) {
            transformation_problem(transformation, 0, problem.text);
            status = STATUS_OK;
        } else if (status != STATUS_OK) {
            status_fail(why, status, "%s", problem.text);
        }
    }
    xmlFree(base);
    xmlBufferFree(text);
    return status;
}

static xmlNodePtr
next_node(xmlNodePtr node, bool inside)
{
    if (inside && node->type == XML_ELEMENT_NODE && node->children) {
        return node->children;
    }
    while (node && !node->next) {
        node = node->parent && node->parent->type == XML_ELEMENT_NODE ? node->parent : NULL;
    }
    return node ? node->next : NULL;
}

enum status
builtin_rdfxml_islands(struct transformation *transformation, struct reason *why)
{
    struct slice text;
    TRY(transformation_text(transformation, TEXT_XML, &text, why));
    if (slice_find_slice(text, SLICE(VOCABULARY_RDF)) == text.length) {
        return STATUS_OK;
    }
    TRY(transformation_xml(transformation, why));
    unsigned count = 0;
    enum status status = STATUS_OK;
    for (xmlNodePtr node = xmlDocGetRootElement(transformation->xml);
         node && status == STATUS_OK;) {
        const bool here = is_island(node);
        if (here && count++ < ISLANDS_MAXIMUM) {
            status = read_island(transformation, node, why);
        }
        node = next_node(node, !here);
    }
    return status;
}
