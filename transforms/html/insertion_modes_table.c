/* Insertion modes of tables: https://html.spec.whatwg.org/#parsing-main-intable and following. */
#include "transforms/html/tree_build.h"

bool
html_is_table_part(enum html_element element)
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

static bool
is_section(enum html_element element)
{
    return element == HTML_TBODY || element == HTML_THEAD || element == HTML_TFOOT;
}

static bool
is_cell(enum html_element element)
{
    return element == HTML_TD || element == HTML_TH;
}

/* Pops up to an element that can hold `part`: a table, a section, a row; or a template. */
static void
clear_to(struct html_builder *builder, enum html_element part)
{
    for (; builder->depth > 1; html_pop(builder)) {
        const struct html_node *node = html_top(builder);
        if (html_is(node, HTML_TEMPLATE) || (part == HTML_TABLE && html_is(node, HTML_TABLE)) ||
            (part == HTML_TBODY && node->space == HTML_SPACE_HTML && is_section(node->element)) ||
            (part == HTML_TR && html_is(node, HTML_TR))) {
            return;
        }
    }
}

/* ---- in table ---- */

static bool
foster_in_body(struct html_builder *builder, struct html_token *token)
{
    builder->foster = true;
    const bool taken = html_mode_in_body(builder, token);
    builder->foster = false;
    return taken;
}

static bool
text_in_table(struct html_builder *builder, struct html_token *token)
{
    const struct html_node *node = html_top(builder);
    const bool table = html_is(node, HTML_TABLE) || html_is(node, HTML_TR) ||
                       html_is(node, HTML_TEMPLATE) ||
                       (node->space == HTML_SPACE_HTML && is_section(node->element));
    if (table && html_is_blank(token->text)) {
        html_add_text(builder, token->text, token->offset);
        return true;
    }
    return foster_in_body(builder, token);
}

static bool
close_table(struct html_builder *builder)
{
    const uint32_t index = html_in_scope(builder, HTML_TABLE, SCOPE_TABLE);
    if (index != HTML_NOT_OPEN) {
        html_pop_from(builder, index);
        html_reset_mode(builder);
    }
    return index != HTML_NOT_OPEN;
}

/* A part whose parents may have been left out. */
static bool
start_part(struct html_builder *builder, const struct html_token *token)
{
    clear_to(builder, HTML_TABLE);
    switch (token->element) {
    case HTML_CAPTION:
        html_format_marker(builder);
        html_open(builder, token);
        builder->mode = MODE_IN_CAPTION;
        return true;
    case HTML_COLGROUP:
        html_open(builder, token);
        builder->mode = MODE_IN_COLUMN_GROUP;
        return true;
    case HTML_COL:
        html_open_implied(builder, HTML_COLGROUP, token->offset);
        builder->mode = MODE_IN_COLUMN_GROUP;
        return false;
    case HTML_TD:
    case HTML_TH:
    case HTML_TR:
        html_open_implied(builder, HTML_TBODY, token->offset);
        builder->mode = MODE_IN_TABLE_BODY;
        return false;
    default:
        html_open(builder, token);
        builder->mode = MODE_IN_TABLE_BODY;
        return true;
    }
}

static bool
start_in_table(struct html_builder *builder, struct html_token *token)
{
    if (html_is_table_part(token->element)) {
        return start_part(builder, token);
    }
    switch (token->element) {
    case HTML_TABLE:
        return !close_table(builder);
    case HTML_STYLE:
    case HTML_SCRIPT:
    case HTML_TEMPLATE:
        return html_mode_in_head(builder, token);
    case HTML_INPUT:
        if (html_is_hidden(builder, token)) {
            html_add_element(builder, token, HTML_SPACE_HTML);
            return true;
        }
        break;
    case HTML_FORM:
        if (!builder->form && builder->open[HTML_TEMPLATE] == 0) {
            builder->form = html_add_element(builder, token, HTML_SPACE_HTML);
        }
        return true;
    default:
        break;
    }
    return foster_in_body(builder, token);
}

bool
html_mode_in_table(struct html_builder *builder, struct html_token *token)
{
    switch (token->kind) {
    case HTML_TOKEN_TEXT:
        return text_in_table(builder, token);
    case HTML_TOKEN_START:
        return start_in_table(builder, token);
    case HTML_TOKEN_END:
        break;
    default:
        return true;
    }
    switch (token->element) {
    case HTML_TABLE:
        close_table(builder);
        return true;
    case HTML_BODY:
    case HTML_HTML:
        return true;
    case HTML_TEMPLATE:
        return html_mode_in_head(builder, token);
    default:
        return html_is_table_part(token->element) ? true : foster_in_body(builder, token);
    }
}

/* ---- caption, column group ---- */

bool
html_mode_in_caption(struct html_builder *builder, struct html_token *token)
{
    const bool start = token->kind == HTML_TOKEN_START, end = token->kind == HTML_TOKEN_END;
    const bool own_end = end && token->element == HTML_CAPTION;
    if (own_end || (start && html_is_table_part(token->element)) ||
        (end && token->element == HTML_TABLE)) {
        const uint32_t index = html_in_scope(builder, HTML_CAPTION, SCOPE_TABLE);
        if (index == HTML_NOT_OPEN) {
            return true;
        }
        html_pop_from(builder, index);
        html_format_clear(builder);
        builder->mode = MODE_IN_TABLE;
        return own_end;
    }
    if (end && (html_is_table_part(token->element) || token->element == HTML_BODY ||
                token->element == HTML_HTML)) {
        return true;
    }
    return html_mode_in_body(builder, token);
}

bool
html_mode_in_column_group(struct html_builder *builder, struct html_token *token)
{
    switch (token->kind) {
    case HTML_TOKEN_TEXT:
        if (html_take_blank(builder, token)) {
            return true;
        }
        break;
    case HTML_TOKEN_START:
        if (token->element == HTML_COL) {
            html_add_element(builder, token, HTML_SPACE_HTML);
            return true;
        }
        if (token->element == HTML_HTML) {
            return html_mode_in_body(builder, token);
        }
        if (token->element == HTML_TEMPLATE) {
            return html_mode_in_head(builder, token);
        }
        break;
    case HTML_TOKEN_END:
        if (token->element == HTML_COL) {
            return true;
        }
        if (token->element == HTML_TEMPLATE) {
            return html_mode_in_head(builder, token);
        }
        break;
    default:
        return true;
    }
    if (!html_is(html_top(builder), HTML_COLGROUP)) {
        return true;
    }
    html_pop(builder);
    builder->mode = MODE_IN_TABLE;
    return token->kind == HTML_TOKEN_END && token->element == HTML_COLGROUP;
}

/* ---- sections, rows, cells ---- */

bool
html_mode_in_table_body(struct html_builder *builder, struct html_token *token)
{
    const bool start = token->kind == HTML_TOKEN_START, end = token->kind == HTML_TOKEN_END;
    if (start && token->element == HTML_TR) {
        clear_to(builder, HTML_TBODY);
        html_open(builder, token);
        builder->mode = MODE_IN_ROW;
        return true;
    }
    if (start && is_cell(token->element)) {
        clear_to(builder, HTML_TBODY);
        html_open_implied(builder, HTML_TR, token->offset);
        builder->mode = MODE_IN_ROW;
        return false;
    }
    if (end && is_section(token->element)) {
        if (html_in_scope(builder, token->element, SCOPE_TABLE) != HTML_NOT_OPEN) {
            clear_to(builder, HTML_TBODY);
            html_pop(builder);
            builder->mode = MODE_IN_TABLE;
        }
        return true;
    }
    if ((start && html_is_table_part(token->element)) || (end && token->element == HTML_TABLE)) {
        if (html_in_scope(builder, HTML_TBODY, SCOPE_TABLE) == HTML_NOT_OPEN &&
            html_in_scope(builder, HTML_THEAD, SCOPE_TABLE) == HTML_NOT_OPEN &&
            html_in_scope(builder, HTML_TFOOT, SCOPE_TABLE) == HTML_NOT_OPEN) {
            return true;
        }
        clear_to(builder, HTML_TBODY);
        html_pop(builder);
        builder->mode = MODE_IN_TABLE;
        return false;
    }
    return html_mode_in_table(builder, token);
}

/* True when the row was there. */
static bool
close_row(struct html_builder *builder)
{
    if (html_in_scope(builder, HTML_TR, SCOPE_TABLE) == HTML_NOT_OPEN) {
        return false;
    }
    clear_to(builder, HTML_TR);
    html_pop(builder);
    builder->mode = MODE_IN_TABLE_BODY;
    return true;
}

bool
html_mode_in_row(struct html_builder *builder, struct html_token *token)
{
    const bool start = token->kind == HTML_TOKEN_START, end = token->kind == HTML_TOKEN_END;
    if (start && is_cell(token->element)) {
        clear_to(builder, HTML_TR);
        html_open(builder, token);
        html_format_marker(builder);
        builder->mode = MODE_IN_CELL;
        return true;
    }
    if (end && token->element == HTML_TR) {
        close_row(builder);
        return true;
    }
    if ((start && html_is_table_part(token->element)) || (end && token->element == HTML_TABLE)) {
        return !close_row(builder);
    }
    if (end && is_section(token->element)) {
        return html_in_scope(builder, token->element, SCOPE_TABLE) == HTML_NOT_OPEN ||
               !close_row(builder);
    }
    return html_mode_in_table(builder, token);
}

static void
close_cell(struct html_builder *builder)
{
    uint32_t index = html_in_scope(builder, HTML_TD, SCOPE_TABLE);
    if (index == HTML_NOT_OPEN) {
        index = html_in_scope(builder, HTML_TH, SCOPE_TABLE);
    }
    if (index != HTML_NOT_OPEN) {
        html_pop_from(builder, index);
        html_format_clear(builder);
    }
    builder->mode = MODE_IN_ROW;
}

bool
html_mode_in_cell(struct html_builder *builder, struct html_token *token)
{
    const bool start = token->kind == HTML_TOKEN_START, end = token->kind == HTML_TOKEN_END;
    if (end && is_cell(token->element)) {
        const uint32_t index = html_in_scope(builder, token->element, SCOPE_TABLE);
        if (index != HTML_NOT_OPEN) {
            html_pop_from(builder, index);
            html_format_clear(builder);
            builder->mode = MODE_IN_ROW;
        }
        return true;
    }
    if (start && html_is_table_part(token->element)) {
        close_cell(builder);
        return false;
    }
    if (end &&
        (token->element == HTML_TABLE || token->element == HTML_TR || is_section(token->element))) {
        if (html_in_scope(builder, token->element, SCOPE_TABLE) == HTML_NOT_OPEN) {
            return true;
        }
        close_cell(builder);
        return false;
    }
    if (end && (html_is_table_part(token->element) || token->element == HTML_BODY ||
                token->element == HTML_HTML)) {
        return true;
    }
    return html_mode_in_body(builder, token);
}
