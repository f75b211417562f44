/* The stack of open elements. */
#include "transforms/html/tree_build.h"

static void
count_open(struct html_builder *builder, uint32_t node, int by)
{
    const struct html_node *element = &builder->tree->nodes[node];
    if (element->space == HTML_SPACE_HTML) {
        builder->open[element->element] = (uint16_t)(builder->open[element->element] + by);
    }
}

void
html_push(struct html_builder *builder, uint32_t node)
{
    if (builder->depth == HTML_DEPTH) {
        builder->tree->repair |= HTML_REPAIR_DEPTH;
        return; /* what follows becomes its sibling */
    }
    count_open(builder, node, 1);
    builder->stack[builder->depth++] = node;
}

void
html_pop(struct html_builder *builder)
{
    count_open(builder, builder->stack[--builder->depth], -1);
}

void
html_pop_from(struct html_builder *builder, uint32_t index)
{
    while (builder->depth > index) {
        html_pop(builder);
    }
}

void
html_stack_remove(struct html_builder *builder, uint32_t index)
{
    count_open(builder, builder->stack[index], -1);
    builder->depth--;
    memmove(builder->stack + index, builder->stack + index + 1,
            (builder->depth - index) * sizeof *builder->stack);
}

void
html_stack_insert(struct html_builder *builder, uint32_t index, uint32_t node)
{
    if (builder->depth == HTML_DEPTH) {
        builder->tree->repair |= HTML_REPAIR_DEPTH;
        return;
    }
    memmove(builder->stack + index + 1, builder->stack + index,
            (builder->depth - index) * sizeof *builder->stack);
    builder->depth++;
    builder->stack[index] = node;
    count_open(builder, node, 1);
}

uint32_t
html_stack_find(const struct html_builder *builder, uint32_t node)
{
    for (uint32_t i = builder->depth; i-- > 0;) {
        if (builder->stack[i] == node) {
            return i;
        }
    }
    return HTML_NOT_OPEN;
}

void
html_open(struct html_builder *builder, const struct html_token *token)
{
    html_push(builder, html_add_element(builder, token, HTML_SPACE_HTML));
}

static struct html_token
implied(enum html_element element, uint32_t offset)
{
    return (struct html_token){.kind = HTML_TOKEN_START,
                               .element = element,
                               .name = slice_string(html_element_name(element)),
                               .offset = offset};
}

void
html_add_implied(struct html_builder *builder, enum html_element element, uint32_t offset)
{
    const struct html_token token = implied(element, offset);
    html_add_element(builder, &token, HTML_SPACE_HTML);
}

void
html_open_implied(struct html_builder *builder, enum html_element element, uint32_t offset)
{
    const struct html_token token = implied(element, offset);
    html_open(builder, &token);
}

/* ---- scopes ---- */

bool
html_is_integration_point(const struct html_builder *builder, const struct html_node *node)
{
    if (node->space == HTML_SPACE_SVG) {
        return slice_equal_nocase(node->text, SLICE("foreignObject")) ||
               slice_equal_nocase(node->text, SLICE("desc")) ||
               slice_equal_nocase(node->text, SLICE("title"));
    }
    if (node->space != HTML_SPACE_MATH ||
        !slice_equal_nocase(node->text, SLICE("annotation-xml"))) {
        return false;
    }
    for (uint32_t i = 0; i < node->attribute_count; i++) {
        const struct html_attribute *attribute = &builder->tree->attributes[node->attribute + i];
        if (slice_is(attribute->name, "encoding")) {
            return slice_equal_nocase(attribute->value, SLICE("text/html")) ||
                   slice_equal_nocase(attribute->value, SLICE("application/xhtml+xml"));
        }
    }
    return false;
}

bool
html_is_scope_bound(const struct html_node *node)
{
    static const struct slice foreign[][7] = {
        [HTML_SPACE_SVG] = {SLICE_INIT("foreignObject"), SLICE_INIT("desc"), SLICE_INIT("title")},
        [HTML_SPACE_MATH] = {SLICE_INIT("mi"), SLICE_INIT("mo"), SLICE_INIT("mn"), SLICE_INIT("ms"),
                             SLICE_INIT("mtext"), SLICE_INIT("annotation-xml")}};
    if (node->space == HTML_SPACE_HTML) {
        return html_element_rules(node->element) & RULE_SCOPE;
    }
    for (const struct slice *name = foreign[node->space]; name->at; name++) {
        if (slice_equal_nocase(node->text, *name)) {
            return true;
        }
    }
    return false;
}

static bool
ends_scope(const struct html_node *node, enum html_scope scope)
{
    switch (scope) {
    case SCOPE_TABLE:
        return html_is(node, HTML_TABLE) || html_is(node, HTML_TEMPLATE) ||
               html_is(node, HTML_HTML);
    case SCOPE_BUTTON:
        return html_is(node, HTML_BUTTON) || html_is_scope_bound(node);
    case SCOPE_LIST_ITEM:
        return html_is(node, HTML_OL) || html_is(node, HTML_UL) || html_is_scope_bound(node);
    case SCOPE_DEFAULT:
        break;
    }
    return html_is_scope_bound(node);
}

uint32_t
html_in_scope(const struct html_builder *builder, enum html_element element, enum html_scope scope)
{
    if (builder->open[element] == 0) {
        return HTML_NOT_OPEN;
    }
    for (uint32_t i = builder->depth; i-- > 0;) {
        const struct html_node *node = html_open_node(builder, i);
        if (html_is(node, element)) {
            return i;
        }
        if (ends_scope(node, scope)) {
            break;
        }
    }
    return HTML_NOT_OPEN;
}

/* ---- closing ---- */

void
html_imply_ends(struct html_builder *builder, enum html_element except)
{
    while (builder->depth > 1 && (html_rules(html_top(builder)) & RULE_IMPLIED) &&
           (except == HTML_UNKNOWN || !html_is(html_top(builder), except))) {
        html_pop(builder);
    }
}

void
html_close_paragraph(struct html_builder *builder)
{
    const uint32_t index = html_in_scope(builder, HTML_P, SCOPE_BUTTON);
    if (index != HTML_NOT_OPEN) {
        html_pop_from(builder, index);
    }
}

void
html_reset_mode(struct html_builder *builder)
{
    static const uint8_t modes[HTML_ELEMENT_COUNT] = {
        [HTML_TR] = MODE_IN_ROW,           [HTML_TBODY] = MODE_IN_TABLE_BODY,
        [HTML_THEAD] = MODE_IN_TABLE_BODY, [HTML_TFOOT] = MODE_IN_TABLE_BODY,
        [HTML_CAPTION] = MODE_IN_CAPTION,  [HTML_COLGROUP] = MODE_IN_COLUMN_GROUP,
        [HTML_TABLE] = MODE_IN_TABLE,      [HTML_HEAD] = MODE_IN_HEAD,
        [HTML_BODY] = MODE_IN_BODY,        [HTML_FRAMESET] = MODE_IN_FRAMESET};
    for (uint32_t i = builder->depth; i-- > 1;) {
        const struct html_node *node = html_open_node(builder, i);
        if (node->space != HTML_SPACE_HTML) {
            continue;
        }
        if (node->element == HTML_TEMPLATE && builder->template_count > 0) {
            builder->mode = builder->template_modes[builder->template_count - 1];
            return;
        }
        if (node->element == HTML_TD || node->element == HTML_TH) {
            builder->mode = MODE_IN_CELL;
            return;
        }
        if (modes[node->element]) {
            builder->mode = modes[node->element];
            return;
        }
    }
    builder->mode = builder->head ? MODE_AFTER_HEAD : MODE_BEFORE_HEAD;
}
