/* libtidy's parse and repair, walked into our tree, to compare html_parse with. Nothing is
 * serialised and nothing is bounded: transforms/xml/tidy.h is what programs use. */
#ifndef TESTS_UNIT_TRANSFORMS_HTML_TIDY_H
#define TESTS_UNIT_TRANSFORMS_HTML_TIDY_H

#include <tidy/tidy.h>
#include <tidy/tidybuffio.h>

#include "transforms/common/encoding.h"
#include "transforms/html/html.h"

/* Node types whose text is text. */
static bool
is_text(TidyNode node)
{
    const TidyNodeType type = tidyNodeGetType(node);
    return type == TidyNode_Text || type == TidyNode_CDATA;
}

struct walk {
    struct html_tree *tree;
    TidyDoc document;
    bool full;
};

/* A copy. Tidy cuts characters in two at times (after a '<' that begins no tag). */
static struct slice
keep(struct walk *walk, const char *bytes, size_t length)
{
    struct slice text = {bytes, length};
    struct buf mended;
    buf_init(&mended, 3 * length + 1);
    if (!encoding_is_utf8(text)) {
        encoding_repair(text, &mended);
        text = buf_slice(&mended);
    }
    const struct slice copy = arena_copy(walk->tree->arena, text);
    buf_release(&mended);
    walk->full |= length > 0 && !copy.at;
    return copy.at ? copy : (struct slice){"", 0};
}

static void
add_text(struct walk *walk, TidyNode node, uint32_t parent)
{
    TidyBuffer value = {0};
    tidyBufInit(&value);
    if (tidyNodeGetValue(walk->document, node, &value) && value.size > 0) {
        const struct html_node text = {.kind = HTML_TEXT,
                                       .line = tidyNodeLine(node),
                                       .parent = parent,
                                       .text = keep(walk, (const char *)value.bp, value.size)};
        html_tree_close(walk->tree, html_tree_add(walk->tree, &text));
    }
    tidyBufFree(&value);
}

static uint32_t
add_element(struct walk *walk, TidyNode node, uint32_t parent)
{
    struct html_tree *tree = walk->tree;
    const char *name = tidyNodeGetName(node);
    const struct slice text = slice_string(name ? name : "");
    struct html_node element = {.kind = HTML_ELEMENT,
                                .line = tidyNodeLine(node),
                                .parent = parent,
                                .attribute = tree->attribute_count,
                                .text = keep(walk, text.at, text.length)};
    element.element = (uint16_t)html_element_of(element.text);
    const struct html_node *above = &tree->nodes[parent];
    element.space = element.element == HTML_SVG    ? HTML_SPACE_SVG
                    : element.element == HTML_MATH ? HTML_SPACE_MATH
                                                   : above->space;
    if (above->space == HTML_SPACE_SVG &&
        (slice_equal_nocase(above->text, SLICE("foreignObject")))) {
        element.space = HTML_SPACE_HTML;
    }
    for (TidyAttr attribute = tidyAttrFirst(node); attribute; attribute = tidyAttrNext(attribute)) {
        const char *key = tidyAttrName(attribute);
        const char *value = tidyAttrValue(attribute);
        if (!key || element.attribute_count >= HTML_ATTRIBUTES) {
            continue;
        }
        html_tree_attribute(tree, keep(walk, key, strlen(key)),
                            value ? keep(walk, value, strlen(value)) : (struct slice){"", 0});
        element.attribute_count++;
    }
    return html_tree_add(tree, &element);
}

/* Depth by the parent chain of our own tree: Tidy's nodes are walked without recursion. */
static void
walk_nodes(struct walk *walk)
{
    TidyNode node = tidyGetChild(tidyGetRoot(walk->document));
    uint32_t parent = 0;
    while (node) {
        TidyNode next = NULL;
        if (is_text(node)) {
            add_text(walk, node, parent);
        } else if (tidyNodeGetType(node) == TidyNode_Start ||
                   tidyNodeGetType(node) == TidyNode_StartEnd) {
            const uint32_t number = add_element(walk, node, parent);
            next = tidyGetChild(node);
            if (next) {
                parent = number;
            } else {
                html_tree_close(walk->tree, number);
            }
        }
        for (next = next ? next : tidyGetNext(node); !next && parent != 0;) {
            html_tree_close(walk->tree, parent);
            parent = walk->tree->nodes[parent].parent;
            node = tidyGetParent(node);
            next = tidyGetNext(node);
        }
        node = next;
    }
    html_tree_close(walk->tree, 0);
}

/* Mend nesting, and nothing else: no attribute or element is dropped, joined or renamed. */
static void
configure(TidyDoc document)
{
    static const struct {
        TidyOptionId option;
        Bool value;
    } switches[] = {
        {TidyForceOutput, yes},    {TidyQuiet, yes},
        {TidyShowWarnings, no},    {TidyMark, no},
        {TidyDropEmptyElems, no},  {TidyDropEmptyParas, no},
        {TidyDropPropAttrs, no},   {TidyMakeClean, no},
        {TidyMakeBare, no},        {TidyWord2000, no},
        {TidyMergeEmphasis, no},   {TidyFixUri, no},
        {TidyLowerLiterals, no},   {TidyEncloseBlockText, no},
        {TidyEncloseBodyText, no}, {TidyJoinClasses, no},
        {TidyJoinStyles, no},      {TidyNCR, yes},
        {TidyLiteralAttribs, yes}, {TidyEscapeCdata, no},
        {TidyHideComments, yes},   {TidyFixBackslash, no},
        {TidyAnchorAsName, no},    {TidyStrictTagsAttr, no},
        {TidyGDocClean, no},       {TidyLogicalEmphasis, no},
        {TidyHtmlOut, yes},
    };
    for (size_t i = 0; i < sizeof switches / sizeof *switches; i++) {
        tidyOptSetBool(document, switches[i].option, switches[i].value);
    }
    tidyOptSetInt(document, TidyShowErrors, 0);
    tidyOptSetInt(document, TidyMergeDivs, TidyNoState);
    tidyOptSetInt(document, TidyMergeSpans, TidyNoState);
    tidyOptSetInt(document, TidyDuplicateAttrs, TidyKeepFirst);
    tidyOptSetInt(document, TidyUseCustomTags, TidyCustomBlocklevel);
    tidyOptSetInt(document, TidyBodyOnly, TidyNoState);
    tidySetInCharEncoding(document, "utf8");
    tidySetOutCharEncoding(document, "utf8");
}

static Bool TIDY_CALL
mute(TidyDoc document, TidyReportLevel level, uint line, uint column, ctmbstr message)
{
    (void)document, (void)level, (void)line, (void)column, (void)message;
    return no;
}

static enum status
html_tidy(struct html_tree *tree, struct slice input, struct reason *why)
{
    html_tree_reset(tree);
    tree->parser = "tidy";
    if (input.length > UINT32_MAX / 4) {
        return status_fail(why, STATUS_LIMIT, "HTML of %zu bytes is too long", input.length);
    }
    const struct html_node root = {.kind = HTML_DOCUMENT};
    html_tree_add(tree, &root);
    TidyDoc document = tidyCreate();
    if (!document) {
        return status_fail(why, STATUS_SYSTEM, "Tidy cannot start");
    }
    configure(document);
    tidySetReportFilter(document, mute);
    TidyBuffer buffer;
    tidyBufInit(&buffer);
    tidyBufAttach(&buffer, (byte *)(uintptr_t)input.at, (uint)input.length);
    struct walk walk = {.tree = tree, .document = document};
    enum status status = STATUS_OK;
    if (tidyParseBuffer(document, &buffer) < 0) {
        status = status_fail(why, STATUS_BAD_INPUT, "Tidy cannot read the page");
    } else {
        walk_nodes(&walk);
    }
    tidyBufDetach(&buffer);
    tidyRelease(document);
    if (status == STATUS_OK && walk.full) {
        status = status_fail(why, STATUS_LIMIT, "text passes %zu bytes", tree->arena->maximum);
    }
    return status;
}

#endif
