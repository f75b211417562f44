/* The insertion mode "in body": https://html.spec.whatwg.org/#parsing-main-inbody */
#include "transforms/html/tree_build.h"

/* ---- any other end tag, and those of formatting ---- */

static void
end_other(struct html_builder *builder, const struct html_token *token)
{
    for (uint32_t i = builder->depth; i-- > 1;) {
        const struct html_node *node = html_open_node(builder, i);
        if (node->space == HTML_SPACE_HTML && node->element == token->element &&
            (token->element != HTML_UNKNOWN || slice_equal_nocase(node->text, token->name))) {
            html_pop_from(builder, i);
            return;
        }
        if ((html_rules(node) & RULE_SPECIAL) ||
            (node->space != HTML_SPACE_HTML && html_is_scope_bound(node))) {
            return;
        }
    }
}

/* The end of a formatting element, by its own tag or by a start tag that cannot stand in it. */
static void
end_formatting(struct html_builder *builder, const struct html_token *token)
{
    if (!html_adopt(builder, token->element)) {
        end_other(builder, token);
    }
}

/* ---- start tags ---- */

static void
close_heading(struct html_builder *builder)
{
    if (html_rules(html_top(builder)) & RULE_HEADING) {
        html_pop(builder);
    }
}

/* li, dd, dt: the open item of the same list ends. */
static void
close_item(struct html_builder *builder, enum html_element element)
{
    const bool list = element == HTML_LI;
    for (uint32_t i = builder->depth; i-- > 1;) {
        const struct html_node *node = html_open_node(builder, i);
        if (list ? html_is(node, HTML_LI) : html_is(node, HTML_DD) || html_is(node, HTML_DT)) {
            html_pop_from(builder, i);
            break;
        }
        const bool special = node->space == HTML_SPACE_HTML ? html_rules(node) & RULE_SPECIAL
                                                            : html_is_scope_bound(node);
        if (special && !html_is(node, HTML_ADDRESS) && !html_is(node, HTML_DIV) &&
            !html_is(node, HTML_P)) {
            break;
        }
    }
    html_close_paragraph(builder);
}

static void
start_formatting(struct html_builder *builder, struct html_token *token)
{
    if (token->element == HTML_A) {
        const uint32_t listed = html_format_find(builder, HTML_A);
        if (listed != HTML_NOT_OPEN) {
            const uint32_t anchor = builder->formats[listed];
            end_formatting(builder, token);
            html_format_remove(builder, anchor);
            const uint32_t index = html_stack_find(builder, anchor);
            if (index != HTML_NOT_OPEN) {
                html_stack_remove(builder, index);
            }
        }
    }
    html_reconstruct(builder);
    if (token->element == HTML_NOBR &&
        html_in_scope(builder, HTML_NOBR, SCOPE_DEFAULT) != HTML_NOT_OPEN) {
        end_formatting(builder, token);
        html_reconstruct(builder);
    }
    const uint32_t node = html_add_element(builder, token, HTML_SPACE_HTML);
    html_push(builder, node);
    html_format_push(builder, node);
}

static void
start_foreign_root(struct html_builder *builder, const struct html_token *token)
{
    html_reconstruct(builder);
    const uint32_t node = html_add_element(
        builder, token, token->element == HTML_SVG ? HTML_SPACE_SVG : HTML_SPACE_MATH);
    if (!token->self_closing) {
        html_push(builder, node);
    }
}

/* A second html or body tag only adds its attributes. */
static void
start_again(struct html_builder *builder, const struct html_token *token)
{
    const uint32_t index = token->element == HTML_HTML ? 0 : 1;
    if (builder->depth > index && builder->open[HTML_TEMPLATE] == 0 &&
        html_is(html_open_node(builder, index), token->element)) {
        html_merge_attributes(builder, builder->stack[index], token);
        builder->frameset_ok &= index == 0;
    }
}

/* Frames instead of a body that shows nothing yet. */
static void
start_frameset(struct html_builder *builder, const struct html_token *token)
{
    if (builder->frameset_ok && builder->depth > 1 &&
        html_is(html_open_node(builder, 1), HTML_BODY)) {
        html_detach(builder, builder->stack[1]);
        html_pop_from(builder, 1);
        html_open(builder, token);
        builder->mode = MODE_IN_FRAMESET;
    }
}

static void
start_form(struct html_builder *builder, const struct html_token *token)
{
    if (builder->form && builder->open[HTML_TEMPLATE] == 0) {
        return;
    }
    html_close_paragraph(builder);
    const uint32_t node = html_add_element(builder, token, HTML_SPACE_HTML);
    html_push(builder, node);
    if (builder->open[HTML_TEMPLATE] == 0) {
        builder->form = node;
    }
}

/* option, optgroup, hr: inside of a select they end an option. */
static void
start_choice(struct html_builder *builder, const struct html_token *token)
{
    if (html_in_scope(builder, HTML_SELECT, SCOPE_DEFAULT) != HTML_NOT_OPEN) {
        html_imply_ends(builder, token->element == HTML_OPTION ? HTML_OPTGROUP : HTML_UNKNOWN);
    } else if (html_is(html_top(builder), HTML_OPTION)) {
        html_pop(builder);
    }
    html_reconstruct(builder);
    html_open(builder, token);
}

/* True when an open select was ended by what cannot stand inside of it. */
static bool
end_select(struct html_builder *builder)
{
    const uint32_t index = html_in_scope(builder, HTML_SELECT, SCOPE_DEFAULT);
    if (index != HTML_NOT_OPEN) {
        html_pop_from(builder, index);
    }
    return index != HTML_NOT_OPEN;
}

bool
html_is_hidden(const struct html_builder *builder, const struct html_token *token)
{
    for (uint32_t i = 0; i < token->attribute_count; i++) {
        const struct html_attribute *attribute = &builder->tree->attributes[token->attribute + i];
        if (slice_is(attribute->name, "type")) {
            return slice_equal_nocase(attribute->value, SLICE("hidden"));
        }
    }
    return false;
}

static void
start_void(struct html_builder *builder, const struct html_token *token)
{
    switch (token->element) {
    case HTML_PARAM:
    case HTML_SOURCE:
    case HTML_TRACK:
        break;
    case HTML_HR:
        html_close_paragraph(builder);
        if (html_in_scope(builder, HTML_SELECT, SCOPE_DEFAULT) != HTML_NOT_OPEN) {
            html_imply_ends(builder, HTML_UNKNOWN);
        }
        builder->frameset_ok = false;
        break;
    case HTML_INPUT:
        end_select(builder);
        html_reconstruct(builder);
        builder->frameset_ok &= html_is_hidden(builder, token);
        break;
    default:
        html_reconstruct(builder);
        builder->frameset_ok = false;
    }
    html_add_element(builder, token, HTML_SPACE_HTML);
}

/* All that is left is its text. */
static void
start_plaintext(struct html_builder *builder, const struct html_token *token)
{
    struct slice text;
    html_close_paragraph(builder);
    html_open(builder, token);
    html_reconstruct(builder);
    const uint32_t offset = (uint32_t)(builder->tokenizer.at - builder->tokenizer.start);
    html_token_raw(&builder->tokenizer, token, &text);
    html_add_text(builder, text, offset);
}

static void
start_raw(struct html_builder *builder, const struct html_token *token)
{
    if (token->element == HTML_XMP) {
        html_close_paragraph(builder);
        html_reconstruct(builder);
    }
    if (token->element != HTML_NOEMBED) {
        builder->frameset_ok = false;
    }
    html_take_raw(builder, token);
}

static void
start_button(struct html_builder *builder, struct html_token *token)
{
    const uint32_t index = html_in_scope(builder, HTML_BUTTON, SCOPE_DEFAULT);
    if (index != HTML_NOT_OPEN) {
        html_pop_from(builder, index);
    }
    html_reconstruct(builder);
    html_open(builder, token);
    builder->frameset_ok = false;
}

static void
start_ruby_part(struct html_builder *builder, struct html_token *token)
{
    if (html_in_scope(builder, HTML_RUBY, SCOPE_DEFAULT) != HTML_NOT_OPEN) {
        const bool plain = token->element == HTML_RB || token->element == HTML_RTC;
        html_imply_ends(builder, plain ? HTML_UNKNOWN : HTML_RTC);
    }
    html_open(builder, token);
}

/* Elements with rules of their own. False: none of these. */
static bool
start_special(struct html_builder *builder, struct html_token *token)
{
    switch (token->element) {
    case HTML_HTML:
    case HTML_BODY:
        start_again(builder, token);
        return true;
    case HTML_FRAMESET:
        start_frameset(builder, token);
        return true;
    case HTML_FRAME:
    case HTML_HEAD:
        return true;
    case HTML_FORM:
        start_form(builder, token);
        return true;
    case HTML_LI:
    case HTML_DD:
    case HTML_DT:
        close_item(builder, token->element);
        builder->frameset_ok = false;
        html_open(builder, token);
        return true;
    case HTML_BUTTON:
        start_button(builder, token);
        return true;
    case HTML_TABLE:
        if (!builder->quirks) {
            html_close_paragraph(builder);
        }
        html_open(builder, token);
        builder->frameset_ok = false;
        builder->mode = MODE_IN_TABLE;
        return true;
    case HTML_SELECT:
        if (!end_select(builder)) {
            html_reconstruct(builder);
            html_open(builder, token);
            builder->frameset_ok = false;
        }
        return true;
    case HTML_OPTION:
    case HTML_OPTGROUP:
        start_choice(builder, token);
        return true;
    case HTML_RB:
    case HTML_RTC:
    case HTML_RP:
    case HTML_RT:
        start_ruby_part(builder, token);
        return true;
    case HTML_SVG:
    case HTML_MATH:
        start_foreign_root(builder, token);
        return true;
    default:
        return html_is_table_part(token->element);
    }
}

static bool
start_in_body(struct html_builder *builder, struct html_token *token)
{
    if (token->element == HTML_UNKNOWN && slice_equal_nocase(token->name, SLICE("image"))) {
        token->element = HTML_IMG;
        token->name = SLICE("img");
    }
    const uint32_t rules = html_element_rules(token->element);
    if (rules & RULE_FORMATTING) {
        start_formatting(builder, token);
    } else if (start_special(builder, token)) {
        return true;
    } else if (rules & RULE_HEAD) {
        return html_mode_in_head(builder, token);
    } else if (rules & RULE_VOID) {
        start_void(builder, token);
    } else if (token->element == HTML_PLAINTEXT) {
        start_plaintext(builder, token);
    } else if (rules & (RULE_RAW | RULE_RCDATA)) {
        start_raw(builder, token);
    } else if (rules & RULE_CLOSES_P) {
        html_close_paragraph(builder);
        if (rules & RULE_HEADING) {
            close_heading(builder);
        }
        html_open(builder, token);
        if (token->element == HTML_PRE || token->element == HTML_LISTING) {
            html_token_skip_newline(&builder->tokenizer);
            builder->frameset_ok = false;
        }
    } else {
        html_reconstruct(builder);
        html_open(builder, token);
        if (rules & RULE_MARKER) {
            html_format_marker(builder);
            builder->frameset_ok = false;
        }
    }
    return true;
}

/* ---- end tags ---- */

static void
end_form(struct html_builder *builder)
{
    if (builder->open[HTML_TEMPLATE] > 0) {
        const uint32_t inner = html_in_scope(builder, HTML_FORM, SCOPE_DEFAULT);
        if (inner != HTML_NOT_OPEN) {
            html_pop_from(builder, inner);
        }
        return;
    }
    const uint32_t index = builder->form ? html_stack_find(builder, builder->form) : HTML_NOT_OPEN;
    builder->form = 0;
    if (index == HTML_NOT_OPEN ||
        html_in_scope(builder, HTML_FORM, SCOPE_DEFAULT) == HTML_NOT_OPEN) {
        return;
    }
    html_imply_ends(builder, HTML_UNKNOWN);
    html_stack_remove(builder, index);
}

static void
end_heading(struct html_builder *builder)
{
    for (uint32_t i = builder->depth; i-- > 0;) {
        const struct html_node *node = html_open_node(builder, i);
        if (html_rules(node) & RULE_HEADING) {
            html_pop_from(builder, i);
            return;
        }
        if (html_is_scope_bound(node)) {
            return;
        }
    }
}

static void
end_block(struct html_builder *builder, const struct html_token *token)
{
    const enum html_scope scope = token->element == HTML_P    ? SCOPE_BUTTON
                                  : token->element == HTML_LI ? SCOPE_LIST_ITEM
                                                              : SCOPE_DEFAULT;
    const uint32_t index = html_in_scope(builder, token->element, scope);
    if (index != HTML_NOT_OPEN) {
        html_pop_from(builder, index);
        if (html_element_rules(token->element) & RULE_MARKER) {
            html_format_clear(builder);
        }
    } else if (token->element == HTML_P) {
        html_add_implied(builder, HTML_P, token->offset);
    }
}

static bool
end_in_body(struct html_builder *builder, struct html_token *token)
{
    const uint32_t rules = html_element_rules(token->element);
    switch (token->element) {
    case HTML_HTML:
    case HTML_BODY: /* what follows belongs to the body all the same */
        return true;
    case HTML_TEMPLATE:
        return html_mode_in_head(builder, token);
    case HTML_FORM:
        end_form(builder);
        return true;
    case HTML_BR:
        html_reconstruct(builder);
        html_add_implied(builder, HTML_BR, token->offset);
        builder->frameset_ok = false;
        return true;
    default:
        break;
    }
    if (rules & RULE_FORMATTING) {
        end_formatting(builder, token);
    } else if (rules & RULE_HEADING) {
        end_heading(builder);
    } else if (rules & RULE_BLOCK_END) {
        end_block(builder, token);
    } else {
        end_other(builder, token);
    }
    return true;
}

bool
html_mode_in_body(struct html_builder *builder, struct html_token *token)
{
    switch (token->kind) {
    case HTML_TOKEN_TEXT:
        html_reconstruct(builder);
        builder->frameset_ok &= html_is_blank(token->text);
        html_add_text(builder, token->text, token->offset);
        return true;
    case HTML_TOKEN_START:
        return start_in_body(builder, token);
    case HTML_TOKEN_END:
        return end_in_body(builder, token);
    default:
        return true;
    }
}
