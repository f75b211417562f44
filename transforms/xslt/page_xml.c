/* Pages as the XML that stylesheets are run on: what the shared tree holds, or what Tidy makes. */
#include <libxml/tree.h>

#include "transforms/core/transformation.h"
#include "transforms/xml/tidy.h"
#include "transforms/xml/xml.h"
#include "transforms/xml/xml_lines.h"

#define XHTML_SPACE "http://www.w3.org/1999/xhtml"
#define SVG_SPACE "http://www.w3.org/2000/svg"
#define MATH_SPACE "http://www.w3.org/1998/Math/MathML"

/* ---- the shared tree ---- */

struct spaces {
    xmlNsPtr of[3];
};

static void
set_attributes(const struct html_tree *tree, const struct html_node *from, xmlNodePtr node)
{
    for (uint32_t i = 0; i < from->attribute_count; i++) {
        const struct html_attribute *attribute = &tree->attributes[from->attribute + i];
        xmlChar *name = xmlStrndup(BAD_CAST attribute->name.at, (int)attribute->name.length);
        xmlChar *value = xmlStrndup(BAD_CAST(attribute->value.at ? attribute->value.at : ""),
                                    (int)attribute->value.length);
        if (xmlStrEqual(name, BAD_CAST "xml:lang")) {
            xmlNodeSetLang(node, value);
        } else if (xmlValidateNCName(name, 0) == 0) {
            xmlNewProp(node, name, value);
        }
        xmlFree(name);
        xmlFree(value);
    }
}

/* NULL: the name is none in XML; what is inside goes to the parent. */
static xmlNodePtr
make_element(xmlDocPtr document, const struct spaces *spaces, const struct html_tree *tree,
             const struct html_node *from)
{
    const char *known = html_element_name((enum html_element)from->element);
    xmlChar *name = known ? xmlStrdup(BAD_CAST known)
                          : xmlStrndup(BAD_CAST from->text.at, (int)from->text.length);
    xmlNodePtr node = NULL;
    if (xmlValidateNCName(name, 0) == 0) {
        node = xmlNewDocNode(document, spaces->of[from->space % 3], name, NULL);
        if (node) {
            set_attributes(tree, from, node);
        }
    }
    xmlFree(name);
    return node;
}

/* The first element becomes the root, and declares what all are in. */
static void
make_root(xmlDocPtr document, xmlNodePtr node, enum html_space space, struct spaces *spaces)
{
    static const char *const iris[] = {XHTML_SPACE, SVG_SPACE, MATH_SPACE};
    static const char *const prefixes[] = {NULL, "svg", "math"};
    xmlDocSetRootElement(document, node);
    for (size_t i = 0; i < sizeof iris / sizeof *iris; i++) {
        spaces->of[i] = xmlNewNs(node, BAD_CAST iris[i], BAD_CAST prefixes[i]);
    }
    xmlSetNs(node, spaces->of[space]);
}

static xmlNodePtr
make_node(struct transformation *transformation, xmlDocPtr document, const struct spaces *spaces,
          uint32_t number)
{
    const struct html_node *from = &transformation->tree.nodes[number];
    if (from->kind == HTML_TEXT) {
        return xmlNewDocTextLen(document, BAD_CAST from->text.at, (int)from->text.length);
    }
    xmlNodePtr node = make_element(document, spaces, &transformation->tree, from);
    if (node && transformation->request->explain) {
        xml_line_set(node, html_line(&transformation->tree, number));
    }
    return node;
}

/* made: for each node of the tree the element that takes its children. */
static xmlDocPtr
make_document(struct transformation *transformation, xmlNodePtr *made)
{
    const struct html_tree *tree = &transformation->tree;
    xmlDocPtr document = xmlNewDoc(BAD_CAST "1.0");
    struct spaces spaces = {{NULL, NULL, NULL}};
    document->URL = xmlStrdup(BAD_CAST transformation->iri.data);
    for (uint32_t i = 1; i < tree->node_count; i++) {
        const struct html_node *from = &tree->nodes[i];
        const xmlNodePtr parent = made[from->parent];
        const bool element = from->kind == HTML_ELEMENT, first = !xmlDocGetRootElement(document);
        if (!parent && !(element && first)) {
            continue;
        }
        xmlNodePtr node = make_node(transformation, document, &spaces, i);
        if (node && parent) {
            node = xmlAddChild(parent, node);
        } else if (node) {
            make_root(document, node, (enum html_space)from->space, &spaces);
        }
        made[i] = element ? (node ? node : parent) : NULL;
    }
    return document;
}

enum status
transformation_page(struct transformation *transformation, xmlDocPtr *page, struct reason *why)
{
    if (!transformation->page) {
        TRY(transformation_html(transformation, why));
        xmlNodePtr *made =
            arena_zero(&transformation->arena, transformation->tree.node_count * sizeof *made);
        if (!made) {
            return status_fail(why, STATUS_LIMIT, "the page as XML passes %zu bytes",
                               transformation->arena.maximum);
        }
        transformation->page = make_document(transformation, made);
    }
    *page = transformation->page;
    return STATUS_OK;
}

/* ---- Tidy ---- */

/* Elements come in the same order on both sides; where they do not, lines stay unknown. */
static void
set_lines(xmlDocPtr document, const struct buf *lines)
{
    xmlNodePtr root = xmlDocGetRootElement(document), node = root;
    for (size_t at = 0; node && at + sizeof(uint32_t) <= lines->length; at += sizeof(uint32_t)) {
        uint32_t line;
        memcpy(&line, lines->data + at, sizeof line);
        xml_line_set(node, line);
        node = xml_next_element(root, node);
    }
}

static enum status
read_tidied(struct transformation *transformation, const struct buf *xhtml, const struct buf *lines,
            struct reason *why)
{
    xmlParserCtxtPtr parser = xml_parser_new();
    /* The tree may be as deep as Tidy made it; its memory bounds the rest. */
    transformation->tidied =
        xmlCtxtReadMemory(parser, xhtml->data, (int)xhtml->length, transformation->iri.data,
                          "UTF-8", XML_SAFE_OPTIONS | XML_PARSE_HUGE);
    if (!transformation->tidied) {
        struct reason problem;
        xml_error_reason(parser, &problem);
        status_fail(why, STATUS_BAD_INPUT, "what Tidy writes is not well-formed: %s", problem.text);
    } else if (transformation->request->explain) {
        set_lines(transformation->tidied, lines);
    }
    xml_parser_free(parser);
    return transformation->tidied ? STATUS_OK : STATUS_BAD_INPUT;
}

/* Whatever the status, Tidy is the reason. */
static enum status
tidy(struct transformation *transformation, struct reason *why)
{
    struct slice text;
    struct buf xhtml, lines;
    if (transformation->request->careful) {
        return status_fail(why, STATUS_LIMIT, "Tidy may have ended the process that ran it");
    }
    TRY(transformation_html(transformation, why));
    if (transformation->tree.repair & HTML_REPAIR_DEPTH) {
        return status_fail(why, STATUS_LIMIT,
                           "elements are nested deeper than %d, which Tidy takes too long for",
                           HTML_DEPTH);
    }
    TRY(transformation_text(transformation, TEXT_HTML, &text, why));
    buf_init(&xhtml, transformation->limits.memory < INT32_MAX / 2 ? transformation->limits.memory
                                                                   : INT32_MAX / 2);
    buf_init(&lines, transformation->limits.memory);
    enum status status = tidy_page(text, &transformation->limits.tidy, &xhtml,
                                   transformation->request->explain ? &lines : NULL, why);
    if (status == STATUS_OK) {
        status = read_tidied(transformation, &xhtml, &lines, why);
    }
    buf_release(&xhtml);
    buf_release(&lines);
    return status;
}

enum status
transformation_tidied(struct transformation *transformation, xmlDocPtr *page, struct reason *why)
{
    struct reason problem;
    if (!transformation->tidied && tidy(transformation, &problem) != STATUS_OK) {
        struct buf text;
        buf_init(&text, 2 * REASON_SIZE);
        buf_printf(&text, "%s; the page is read by our own parser", problem.text);
        transformation_problem(transformation, 0, text.data);
        buf_release(&text);
        return transformation_page(transformation, page, why);
    }
    *page = transformation->tidied;
    return STATUS_OK;
}
