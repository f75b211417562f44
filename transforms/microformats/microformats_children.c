/* Children of an element as a classic item sees them: with what it includes from elsewhere in the
 * page. https://microformats.org/wiki/include-pattern */
#include "transforms/microformats/microformats_parser.h"

static bool
is_included(const struct microformat_parser *p, uint32_t node)
{
    for (size_t i = 0; i < p->include_count; i++) {
        if (p->included[i] == node) {
            return true;
        }
    }
    return false;
}

/* The element of an id when it can be included from another. */
static uint32_t
enter_include(struct microformat_parser *p, uint32_t from, struct slice id)
{
    const uint32_t target = html_node_of_id(p->tree, &p->ids, id);
    if (target == 0 || (target <= from && from < p->nodes[target].end) ||
        p->include_count == INCLUDE_DEPTH || is_included(p, target)) {
        return 0;
    }
    p->included[p->include_count++] = target;
    return target;
}

struct microformat_children
microformat_children_of(struct microformat_parser *p, uint32_t node)
{
    struct microformat_children children = {
        .node = node, .at = node + 1, .end = p->nodes[node].end};
    if (p->classic && p->nodes[node].attribute_count > 0 &&
        !microformat_attribute(p, node, "itemref", &children.references) &&
        microformat_is(&p->nodes[node], HTML_TD)) {
        microformat_attribute(p, node, "headers", &children.references);
    }
    return children;
}

/* a and object of class include. */
static uint32_t
include_of(struct microformat_parser *p, uint32_t node)
{
    const struct html_node *element = &p->nodes[node];
    const bool link = microformat_is(element, HTML_A);
    struct slice target;
    if ((!link && !microformat_is(element, HTML_OBJECT)) ||
        !microformat_has_class(p, node, "include") ||
        !microformat_attribute(p, node, link ? "href" : "data", &target) || target.length < 2 ||
        target.at[0] != '#') {
        return 0;
    }
    return enter_include(p, node, slice_of(target.at + 1, target.length - 1));
}

uint32_t
microformat_next(struct microformat_parser *p, struct microformat_children *children)
{
    if (children->included) {
        children->included = false;
        p->include_count--;
    }
    while (children->at < children->end) {
        const uint32_t i = children->at;
        const struct html_node *node = &p->nodes[i];
        children->at = node->kind == HTML_ELEMENT ? node->end : i + 1;
        if (node->kind == HTML_ELEMENT && microformat_is(node, HTML_TEMPLATE)) {
            continue;
        }
        const uint32_t target = p->classic && node->kind == HTML_ELEMENT ? include_of(p, i) : 0;
        children->included = target != 0;
        return target != 0 ? target : i;
    }
    struct slice id;
    while ((id = slice_next_word(&children->references)).length > 0) {
        const uint32_t target = enter_include(p, children->node, id);
        if (target != 0) {
            children->included = true;
            return target;
        }
    }
    return 0;
}
