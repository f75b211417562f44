/* RDF/XML inside of other XML: each rdf:RDF element of an SVG picture, an Atom feed, any document,
 * is handed to the RDF/XML reader with the namespaces, base and language that it stands in. What is
 * inside of rdf:RDF is that island's. */
#include <libxml/tree.h>

#include "rdf/rdfxml.h"
#include "transforms/builtins.h"
#include "transforms/vocabulary.h"
#include "transforms/xml_lines.h"

enum { ISLANDS_MAXIMUM = 1000, ISLAND_BYTES = 64 << 20 };

static bool
is_island(const xmlNode *node)
{
    return node->type == XML_ELEMENT_NODE && node->ns && xmlStrEqual(node->name, BAD_CAST "RDF") &&
           xmlStrEqual(node->ns->href, BAD_CAST VOCABULARY_RDF);
}

/* What the element inherits is written on it. */
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
read_island(struct material *material, xmlNodePtr node, struct reason *why)
{
    complete(material->xml, node);
    xmlBufferPtr text = xmlBufferCreate();
    xmlChar *base = xmlNodeGetBase(material->xml, node);
    enum status status = STATUS_OK;
    if (text && xmlNodeDump(text, material->xml, node, 0, 0) > 0 &&
        xmlBufferLength(text) < ISLAND_BYTES) {
        const struct quad_sink sink = material_sink(material);
        const struct parse_origin origin = xml_lines_origin(node, &material->arena);
        const struct parse_options options = {.base = base ? slice_string((const char *)base)
                                                           : buf_slice(&material->iri),
                                              .lenient = true,
                                              .lines = material->request->explain,
                                              .origin = &origin,
                                              .problems = material_problems(material)};
        struct reason problem;
        const struct slice bytes = {(const char *)xmlBufferContent(text),
                                    (size_t)xmlBufferLength(text)};
        material_scope(material);
        status = rdfxml_parse(bytes, &options, &sink, &problem);
        if (status == STATUS_BAD_INPUT) {
            material_problem(material, 0, problem.text);
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
builtin_rdfxml_islands(struct material *material, struct reason *why)
{
    struct slice text;
    TRY(material_text(material, TEXT_XML, &text, why));
    if (slice_find_slice(text, SLICE(VOCABULARY_RDF)) == text.length) {
        return STATUS_OK;
    }
    TRY(material_xml(material, why));
    unsigned count = 0;
    enum status status = STATUS_OK;
    for (xmlNodePtr node = xmlDocGetRootElement(material->xml); node && status == STATUS_OK;) {
        const bool here = is_island(node);
        if (here && count++ < ISLANDS_MAXIMUM) {
            status = read_island(material, node, why);
        }
        node = next_node(node, !here);
    }
    return status;
}
