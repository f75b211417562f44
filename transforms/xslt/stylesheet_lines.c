/* Lines of what a stylesheet makes. libxml2 tells of each node that it makes; while a run is
 * explained, an element made is from the line of the node that the stylesheet is at. That holds for
 * the trees of variables and functions too, so the line goes on when nodes are made of them.
 *
 * xsl:copy-of makes copies of other nodes than that one. When the first is told of, its select is
 * evaluated once more; its elements and those told of come in the same order. */
#include <libxml/xpathInternals.h>
#include <libxslt/transform.h>
#include <libxslt/xsltutils.h>

#include "transforms/xml/xml_lines.h"
#include "transforms/xslt/stylesheet.h"

static _Thread_local struct explained {
    xsltTransformContextPtr context; /* NULL: no run is explained */
    xmlXPathObjectPtr copied;        /* NULL: nothing is being copied */
    int next;                        /* of its nodes */
    xmlNodePtr root, element;        /* the one that is copied next, in which of its nodes */
} explained;

static xmlXPathObjectPtr
evaluate(xsltTransformContextPtr context, const xsltStylePreComp *instruction)
{
    const xmlXPathContextPtr xpath = context->xpathCtxt;
    const xmlXPathContext before = *xpath;
    xpath->node = context->node;
    xpath->namespaces = instruction->nsList;
    xpath->nsNr = instruction->nsNr;
    const xmlXPathObjectPtr found = xmlXPathCompiledEval(instruction->comp, xpath);
    xpath->node = before.node;
    xpath->namespaces = before.namespaces;
    xpath->nsNr = before.nsNr;
    xpath->opCount = before.opCount; /* not the stylesheet's work */
    return found;
}

static void
move_to_next_element(struct explained *run)
{
    const xmlNodeSet *nodes = run->copied->nodesetval;
    if (run->element) {
        run->element = xml_next_element(run->root, run->element);
    }
    while (!run->element && nodes && run->next < nodes->nodeNr) {
        run->root = nodes->nodeTab[run->next++];
        if (run->root->type == XML_ELEMENT_NODE) {
            run->element = run->root;
        } else if (run->root->type == XML_DOCUMENT_NODE) {
            run->element = xml_next_element(run->root, run->root);
        }
    }
    if (!run->element) {
        xmlXPathFreeObject(run->copied);
        run->copied = NULL;
    }
}

static void
begin_copy(struct explained *run)
{
    const xsltTransformContextPtr context = run->context;
    const xmlNode *instruction = context->inst;
    if (!instruction || !instruction->psvi || !IS_XSLT_ELEM(instruction) ||
        !IS_XSLT_NAME(instruction, "copy-of")) {
        return;
    }
    run->context = NULL; /* what select makes is not told of */
    run->copied = evaluate(context, instruction->psvi);
    run->context = context;
    run->next = 0;
    run->element = NULL;
    if (run->copied) {
        move_to_next_element(run);
    }
}

static void
note_line(xmlNodePtr node)
{
    if (!explained.context || node->type != XML_ELEMENT_NODE) {
        return;
    }
    if (!explained.copied) {
        begin_copy(&explained);
    }
    if (explained.copied) {
        xml_line_set(node, xml_line(explained.element));
        move_to_next_element(&explained);
    } else {
        xml_line_set(node, xml_line(explained.context->node));
    }
}

xmlDocPtr
stylesheet_apply_with_lines(xsltStylesheetPtr compiled, xmlDocPtr input,
                            xsltTransformContextPtr context)
{
    const xmlRegisterNodeFunc before = xmlRegisterNodeDefault(note_line);
    explained = (struct explained){.context = context};
    xmlDocPtr output = xsltApplyStylesheetUser(compiled, input, NULL, NULL, NULL, context);
    xmlXPathFreeObject(explained.copied);
    explained = (struct explained){.context = NULL};
    xmlRegisterNodeDefault(before);
    return output;
}
