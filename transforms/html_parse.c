/* Tree construction by the HTML standard (https://html.spec.whatwg.org/#tree-construction),
 * without the two of its parts that move nodes: the adoption agency and foster parenting.
 *
 * Both only matter to extractors when an anchor is concerned: it would have to be split,
 * or opened again in what follows. Such documents are marked (tree->repair) and left to Tidy.
 * Other misnested formatting (<b><p></b>) stays where its tags stand; no extractor looks at it.
 *
 * The stack of open elements holds node numbers. Invariants: stack[0] is the html element;
 * a node is closed (its `end` set) exactly when it leaves the stack; nodes are only ever
 * added under the top of the stack, so the array is in document order.
 */
#include "transforms/html.h"
#include "transforms/html_token.h"

enum phase { BEFORE_HTML, BEFORE_HEAD, IN_HEAD, AFTER_HEAD, IN_BODY };

struct builder {
    struct html_tree *tree;
    struct html_tokenizer tokenizer;
    uint32_t stack[HTML_DEPTH];
    uint32_t depth;
    enum phase phase;
    bool anchor_pending; /* text that follows would be inside an anchor opened again */
    bool form_open;
};

static struct html_node *
top(struct builder *builder)
{
    return &builder->tree->nodes[builder->stack[builder->depth - 1]];
}

static struct html_node *
open_node(struct builder *builder, uint32_t index)
{
    return &builder->tree->nodes[builder->stack[index]];
}

static uint32_t
rules_of(const struct html_node *node)
{
    return node->space == HTML_SPACE_HTML ? html_element_rules(node->element) : 0;
}

static bool
is(const struct html_node *node, enum html_element element)
{
    return node->element == element && node->space == HTML_SPACE_HTML;
}

/* HTML content may stand inside these foreign elements. */
static bool
is_integration_point(const struct html_node *node)
{
    if (node->space == HTML_SPACE_SVG) {
        return slice_equal_nocase(node->text, SLICE("foreignObject")) ||
               slice_is(node->text, "desc") || slice_is(node->text, "title");
    }
    static const char *const math[] = {"mi", "mo", "mn", "ms", "mtext", "annotation-xml"};
    for (size_t i = 0; i < sizeof math / sizeof *math; i++) {
        if (node->space == HTML_SPACE_MATH && slice_is(node->text, math[i])) {
            return true;
        }
    }
    return false;
}

static bool
in_foreign(struct builder *builder)
{
    if (builder->depth == 0) {
        return false;
    }
    const struct html_node *node = top(builder);
    return node->space != HTML_SPACE_HTML && !is_integration_point(node);
}

/* ---- opening and closing ---- */

static uint32_t
parent_of_new(struct builder *builder)
{
    return builder->depth > 0 ? builder->stack[builder->depth - 1] : 0;
}

static uint32_t
add_element(struct builder *builder, const struct html_token *token, enum html_space space)
{
    const struct html_node node = {.kind = HTML_ELEMENT,
                                   .space = (uint8_t)space,
                                   .element = (uint16_t)token->element,
                                   .line = token->offset,
                                   .parent = parent_of_new(builder),
                                   .attribute = token->attribute,
                                   .attribute_count = token->attribute_count,
                                   .text = token->name};
    const uint32_t number = html_tree_add(builder->tree, &node);
    html_tree_close(builder->tree, number);
    return number;
}

static void
push(struct builder *builder, uint32_t number)
{
    if (builder->depth == HTML_DEPTH) {
        builder->tree->repair |= HTML_REPAIR_DEPTH;
        return; /* stays closed: what follows becomes its sibling */
    }
    builder->stack[builder->depth++] = number;
}

static void
open_element(struct builder *builder, const struct html_token *token)
{
    push(builder, add_element(builder, token, HTML_SPACE_HTML));
}

static void
open_implied(struct builder *builder, enum html_element element, uint32_t offset)
{
    const char *name = html_element_name(element);
    const struct html_token token = {
        .kind = HTML_TOKEN_START, .element = element, .name = slice_string(name), .offset = offset};
    open_element(builder, &token);
}

static void
pop(struct builder *builder)
{
    html_tree_close(builder->tree, builder->stack[--builder->depth]);
}

/* Pops everything from stack[index] up. An anchor among what the element at index held would
 * be opened again by the standard, unless that element is a marker. */
static void
pop_from(struct builder *builder, uint32_t index)
{
    const bool marker = rules_of(open_node(builder, index)) & RULE_MARKER;
    while (builder->depth > index) {
        if (builder->depth - 1 > index && !marker && is(top(builder), HTML_A)) {
            builder->anchor_pending = true;
        }
        pop(builder);
    }
}

/* ---- searching ---- */

static const uint32_t NOT_OPEN = UINT32_MAX;

/* The innermost open `element` whose search is not stopped by a scope boundary; more: an
 * element that bounds it besides (HTML_UNKNOWN: none). */
static uint32_t
find_in_scope(struct builder *builder, enum html_element element, enum html_element more)
{
    for (uint32_t i = builder->depth; i-- > 0;) {
        const struct html_node *node = open_node(builder, i);
        if (is(node, element)) {
            return i;
        }
        if ((rules_of(node) & RULE_SCOPE) || is_integration_point(node) ||
            (more != HTML_UNKNOWN && is(node, more))) {
            return NOT_OPEN;
        }
    }
    return NOT_OPEN;
}

static uint32_t
find_in_table_scope(struct builder *builder, enum html_element element)
{
    for (uint32_t i = builder->depth; i-- > 0;) {
        const struct html_node *node = open_node(builder, i);
        if (is(node, element)) {
            return i;
        }
        if (is(node, HTML_TABLE) || is(node, HTML_TEMPLATE) || is(node, HTML_HTML)) {
            return NOT_OPEN;
        }
    }
    return NOT_OPEN;
}

static void
close_paragraph(struct builder *builder)
{
    const uint32_t index = find_in_scope(builder, HTML_P, HTML_BUTTON);
    if (index != NOT_OPEN) {
        pop_from(builder, index);
    }
}

static void
generate_implied_ends(struct builder *builder, enum html_element except)
{
    while (builder->depth > 1 && (rules_of(top(builder)) & RULE_IMPLIED) &&
           !is(top(builder), except)) {
        pop(builder);
    }
}

/* ---- start tags in the body ---- */

/* True when the nodes above stack[index] hold none of the "special" category: the adoption
 * agency then only closes. */
static bool
only_phrasing_above(struct builder *builder, uint32_t index)
{
    for (uint32_t i = index + 1; i < builder->depth; i++) {
        if (rules_of(open_node(builder, i)) & RULE_SPECIAL) {
            return false;
        }
    }
    return true;
}

static uint32_t
find_anchor(struct builder *builder)
{
    for (uint32_t i = builder->depth; i-- > 0;) {
        const struct html_node *node = open_node(builder, i);
        if (is(node, HTML_A)) {
            return i;
        }
        if (rules_of(node) & RULE_MARKER) {
            return NOT_OPEN;
        }
    }
    return NOT_OPEN;
}

static void
start_anchor(struct builder *builder)
{
    const uint32_t index = find_anchor(builder);
    builder->anchor_pending = false;
    if (index == NOT_OPEN) {
        return;
    }
    if (only_phrasing_above(builder, index)) {
        pop_from(builder, index);
    } else {
        builder->tree->repair |= HTML_REPAIR_ANCHOR;
    }
}

/* li, dd, dt: the open item of the same list ends. */
static void
start_item(struct builder *builder, enum html_element element)
{
    for (uint32_t i = builder->depth; i-- > 0;) {
        const struct html_node *node = open_node(builder, i);
        const bool same =
            element == HTML_LI ? is(node, HTML_LI) : is(node, HTML_DD) || is(node, HTML_DT);
        if (same) {
            pop_from(builder, i);
            break;
        }
        if ((rules_of(node) & RULE_SPECIAL) && !is(node, HTML_ADDRESS) && !is(node, HTML_DIV) &&
            !is(node, HTML_P)) {
            break;
        }
    }
    close_paragraph(builder);
}

/* What of a table can be the parent of `element`, besides the table itself. */
static bool
is_table_context(const struct html_node *node, enum html_element element)
{
    const bool cell = element == HTML_TD || element == HTML_TH;
    switch (node->space == HTML_SPACE_HTML ? node->element : HTML_UNKNOWN) {
    case HTML_TABLE:
    case HTML_TEMPLATE:
        return true;
    case HTML_TBODY:
    case HTML_THEAD:
    case HTML_TFOOT:
        return cell || element == HTML_TR;
    case HTML_TR:
        return cell;
    case HTML_COLGROUP:
        return element == HTML_COL;
    default:
        return false;
    }
}

static void
close_cell(struct builder *builder)
{
    uint32_t index = find_in_table_scope(builder, HTML_TD);
    if (index == NOT_OPEN) {
        index = find_in_table_scope(builder, HTML_TH);
    }
    if (index == NOT_OPEN) {
        index = find_in_table_scope(builder, HTML_CAPTION);
    }
    if (index != NOT_OPEN) {
        pop_from(builder, index);
    }
}

static bool
is_table_part(enum html_element element)
{
    switch (element) {
    case HTML_CAPTION:
    case HTML_COL:
    case HTML_COLGROUP:
    case HTML_TBODY:
    case HTML_TD:
    case HTML_TFOOT:
    case HTML_TH:
    case HTML_THEAD:
    case HTML_TR:
        return true;
    default:
        return false;
    }
}

/* Parts of tables. False: not inside a table, the tag is dropped. */
static bool
start_table_part(struct builder *builder, const struct html_token *token)
{
    if (find_in_table_scope(builder, HTML_TABLE) == NOT_OPEN &&
        find_in_table_scope(builder, HTML_TEMPLATE) == NOT_OPEN) {
        return false;
    }
    close_cell(builder);
    while (builder->depth > 1 && !is_table_context(top(builder), token->element)) {
        pop(builder);
    }
    const bool cell = token->element == HTML_TD || token->element == HTML_TH;
    if ((cell || token->element == HTML_TR) && is(top(builder), HTML_TABLE)) {
        open_implied(builder, HTML_TBODY, token->offset);
    }
    if (cell && !is(top(builder), HTML_TR) && !is(top(builder), HTML_TEMPLATE)) {
        open_implied(builder, HTML_TR, token->offset);
    }
    return true;
}

/* Rules of "in body" for what must end before this element begins. False: drop the tag. */
static bool
prepare_start(struct builder *builder, struct html_token *token)
{
    const uint32_t rules = html_element_rules(token->element);
    if (is_table_part(token->element)) {
        return start_table_part(builder, token);
    }
    switch (token->element) {
    case HTML_HTML:
    case HTML_HEAD:
    case HTML_BODY:
        return false;
    case HTML_A:
        start_anchor(builder);
        return true;
    case HTML_LI:
    case HTML_DD:
    case HTML_DT:
        start_item(builder, token->element);
        return true;
    case HTML_OPTION:
    case HTML_OPTGROUP:
        if (is(top(builder), HTML_OPTION)) {
            pop(builder);
        }
        return true;
    case HTML_BUTTON: {
        const uint32_t index = find_in_scope(builder, HTML_BUTTON, HTML_UNKNOWN);
        if (index != NOT_OPEN) {
            pop_from(builder, index);
        }
        return true;
    }
    case HTML_FORM:
        if (builder->form_open) {
            return false;
        }
        builder->form_open = true;
        break;
    case HTML_IMG:
    case HTML_IFRAME:
    case HTML_OBJECT:
        builder->tree->repair |= builder->anchor_pending ? HTML_REPAIR_ANCHOR : 0u;
        return true;
    case HTML_RB:
    case HTML_RP:
    case HTML_RT:
    case HTML_RTC:
        if (find_in_scope(builder, HTML_RUBY, HTML_UNKNOWN) != NOT_OPEN) {
            generate_implied_ends(builder, HTML_RTC);
        }
        return true;
    default:
        break;
    }
    if (rules & RULE_CLOSES_P) {
        close_paragraph(builder);
    }
    if ((rules & RULE_HEADING) && (rules_of(top(builder)) & RULE_HEADING)) {
        pop(builder);
    }
    return true;
}

static void
add_text(struct builder *builder, struct slice text, uint32_t offset)
{
    if (text.length == 0) {
        return;
    }
    const struct html_node node = {
        .kind = HTML_TEXT, .line = offset, .parent = parent_of_new(builder), .text = text};
    html_tree_close(builder->tree, html_tree_add(builder->tree, &node));
}

static void
start_html(struct builder *builder, struct html_token *token)
{
    if (slice_equal_nocase(token->name, SLICE("image"))) {
        token->element = HTML_IMG;
        token->name = SLICE("img");
    }
    if (!prepare_start(builder, token)) {
        return;
    }
    if (token->element == HTML_SVG || token->element == HTML_MATH) {
        const uint32_t number = add_element(
            builder, token, token->element == HTML_SVG ? HTML_SPACE_SVG : HTML_SPACE_MATH);
        if (!token->self_closing) {
            push(builder, number);
        }
        return;
    }
    const uint32_t rules = html_element_rules(token->element);
    if (rules & RULE_VOID) {
        add_element(builder, token, HTML_SPACE_HTML);
        return;
    }
    open_element(builder, token);
    if ((rules & (RULE_RAW | RULE_RCDATA)) || token->element == HTML_PLAINTEXT) {
        struct slice text;
        const uint32_t offset = (uint32_t)(builder->tokenizer.at - builder->tokenizer.start);
        html_token_raw(&builder->tokenizer, token, &text);
        if (builder->stack[builder->depth - 1] + 1 == builder->tree->node_count) {
            add_text(builder, text, offset);
            pop(builder);
        }
    }
}

/* ---- foreign content ---- */

static void
start_foreign(struct builder *builder, struct html_token *token)
{
    struct slice value;
    bool breakout = html_element_rules(token->element) & RULE_BREAKOUT;
    if (token->element == HTML_FONT) {
        for (uint32_t i = 0; i < token->attribute_count; i++) {
            value = builder->tree->attributes[token->attribute + i].name;
            breakout |=
                slice_is(value, "color") || slice_is(value, "face") || slice_is(value, "size");
        }
    }
    if (breakout) {
        while (in_foreign(builder)) {
            pop(builder);
        }
        start_html(builder, token);
        return;
    }
    const uint32_t number = add_element(builder, token, top(builder)->space);
    if (!token->self_closing) {
        push(builder, number);
    }
}

/* True when a foreign element took the end tag. */
static bool
end_foreign(struct builder *builder, const struct html_token *token)
{
    for (uint32_t i = builder->depth; i-- > 0;) {
        const struct html_node *node = open_node(builder, i);
        if (node->space == HTML_SPACE_HTML) {
            return false;
        }
        if (slice_equal_nocase(node->text, token->name)) {
            pop_from(builder, i);
            return true;
        }
    }
    return false;
}

/* ---- end tags ---- */

static void
end_anchor(struct builder *builder)
{
    const uint32_t index = find_in_scope(builder, HTML_A, HTML_UNKNOWN);
    builder->anchor_pending = false;
    if (index == NOT_OPEN) {
        return;
    }
    if (only_phrasing_above(builder, index)) {
        pop_from(builder, index);
    } else {
        builder->tree->repair |= HTML_REPAIR_ANCHOR;
    }
}

static void
end_formatting(struct builder *builder, enum html_element element)
{
    const uint32_t index = find_in_scope(builder, element, HTML_UNKNOWN);
    if (index != NOT_OPEN && only_phrasing_above(builder, index)) {
        pop_from(builder, index);
    }
}

static void
end_other(struct builder *builder, const struct html_token *token)
{
    for (uint32_t i = builder->depth; i-- > 1;) {
        const struct html_node *node = open_node(builder, i);
        if (node->space == HTML_SPACE_HTML && node->element == token->element &&
            slice_equal_nocase(node->text, token->name)) {
            pop_from(builder, i);
            return;
        }
        if (rules_of(node) & RULE_SPECIAL) {
            return;
        }
    }
}

static void
end_heading(struct builder *builder)
{
    for (uint32_t i = builder->depth; i-- > 0;) {
        const uint32_t rules = rules_of(open_node(builder, i));
        if (rules & RULE_HEADING) {
            pop_from(builder, i);
            return;
        }
        if (rules & RULE_SCOPE) {
            return;
        }
    }
}

static void
end_table_part(struct builder *builder, enum html_element element)
{
    const uint32_t index = find_in_table_scope(builder, element);
    if (index != NOT_OPEN) {
        pop_from(builder, index);
    }
}

static void
end_tag(struct builder *builder, const struct html_token *token)
{
    const uint32_t rules = html_element_rules(token->element);
    switch (token->element) {
    case HTML_HTML:
    case HTML_HEAD:
    case HTML_BODY:
        return;
    case HTML_A:
        end_anchor(builder);
        return;
    case HTML_BR: {
        struct html_token line = {.element = HTML_BR, .name = SLICE("br"), .offset = token->offset};
        add_element(builder, &line, HTML_SPACE_HTML);
        return;
    }
    case HTML_FORM:
        builder->form_open = false;
        break;
    default:
        break;
    }
    if (token->element == HTML_TABLE || is_table_part(token->element)) {
        end_table_part(builder, token->element);
    } else if (rules & RULE_FORMATTING) {
        end_formatting(builder, token->element);
    } else if (rules & RULE_HEADING) {
        end_heading(builder);
    } else if (rules & RULE_BLOCK_END) {
        const enum html_element more = token->element == HTML_P ? HTML_BUTTON : HTML_UNKNOWN;
        const uint32_t index = find_in_scope(builder, token->element, more);
        if (index != NOT_OPEN) {
            pop_from(builder, index);
        }
    } else {
        end_other(builder, token);
    }
}

/* ---- the phases before the body ---- */

static bool
is_blank(struct slice text)
{
    return slice_trim(text).length == 0;
}

/* Opens the elements that the author may leave out, up to where the token belongs. True: the
 * token was one of them and is done with. */
static bool
advance(struct builder *builder, const struct html_token *token)
{
    const bool start = token->kind == HTML_TOKEN_START;
    if (builder->phase == BEFORE_HTML) {
        builder->phase = BEFORE_HEAD;
        if (start && token->element == HTML_HTML) {
            open_element(builder, token);
            return true;
        }
        open_implied(builder, HTML_HTML, token->offset);
    }
    if (builder->phase == BEFORE_HEAD) {
        if (start && token->element == HTML_HEAD) {
            builder->phase = IN_HEAD;
            open_element(builder, token);
            return true;
        }
        builder->phase = IN_HEAD;
        open_implied(builder, HTML_HEAD, token->offset);
    }
    const bool head = start && (html_element_rules(token->element) & RULE_HEAD);
    if (builder->phase == IN_HEAD) {
        if (head || (start && token->element == HTML_NOSCRIPT) ||
            (!start && token->kind == HTML_TOKEN_END && token->element == HTML_NOSCRIPT)) {
            return false;
        }
        if (builder->depth > 2 && is(top(builder), HTML_TEMPLATE)) {
            return false;
        }
        pop_from(builder, 1);
        builder->phase = AFTER_HEAD;
        if (token->kind == HTML_TOKEN_END && token->element == HTML_HEAD) {
            return true;
        }
    }
    if (head) {
        return false;
    }
    builder->phase = IN_BODY;
    if (start && token->element == HTML_FRAMESET) {
        return false;
    }
    if (start && token->element == HTML_BODY) {
        open_element(builder, token);
        return true;
    }
    open_implied(builder, HTML_BODY, token->offset);
    return false;
}

static void
take(struct builder *builder, struct html_token *token)
{
    if (builder->phase != IN_BODY) {
        if (token->kind == HTML_TOKEN_TEXT && is_blank(token->text)) {
            return;
        }
        if (advance(builder, token)) {
            return;
        }
    }
    switch (token->kind) {
    case HTML_TOKEN_TEXT:
        if (builder->anchor_pending && !is_blank(token->text)) {
            builder->tree->repair |= HTML_REPAIR_ANCHOR;
        }
        add_text(builder, token->text, token->offset);
        return;
    case HTML_TOKEN_START:
        if (in_foreign(builder)) {
            start_foreign(builder, token);
        } else {
            start_html(builder, token);
        }
        return;
    default:
        if (top(builder)->space == HTML_SPACE_HTML || !end_foreign(builder, token)) {
            end_tag(builder, token);
        }
    }
}

enum status
html_parse(struct html_tree *tree, struct slice input, struct reason *why)
{
    html_tree_reset(tree);
    tree->input = input;
    tree->offsets = true;
    tree->parser = "html";
    if (input.length > UINT32_MAX / 2) {
        return status_fail(why, STATUS_LIMIT, "HTML of %zu bytes is too long", input.length);
    }
    const struct html_node document = {.kind = HTML_DOCUMENT};
    html_tree_add(tree, &document);
    struct builder builder = {.tree = tree};
    html_tokenizer_init(&builder.tokenizer, tree, input);
    struct html_token token = {0};
    for (;;) {
        builder.tokenizer.cdata = in_foreign(&builder);
        html_token_next(&builder.tokenizer, &token);
        if (token.kind == HTML_TOKEN_END_OF_INPUT) {
            break;
        }
        take(&builder, &token);
    }
    while (builder.depth > 0) {
        pop(&builder);
    }
    html_tree_close(tree, 0);
    if (builder.tokenizer.full) {
        return status_fail(why, STATUS_LIMIT, "decoded text passes %zu bytes",
                           tree->arena->maximum);
    }
    return STATUS_OK;
}
