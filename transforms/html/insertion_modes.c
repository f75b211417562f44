/* Insertion modes before and beside the body: https://html.spec.whatwg.org/#parsing-main-inhtml
 *
 * Scripting is off: what noscript holds is read. */
#include "base/ascii.h"
#include "transforms/html/tree_build.h"

bool
html_is_blank(struct slice text)
{
    return slice_trim(text).length == 0;
}

static struct slice
html_cut_blank(struct html_token *token)
{
    size_t n = 0;
    while (n < token->text.length && html_is_blank(slice_of(token->text.at + n, 1))) {
        n++;
    }
    const struct slice blank = slice_of(token->text.at, n);
    token->text = slice_of(token->text.at + n, token->text.length - n);
    return blank;
}

bool
html_take_blank(struct html_builder *builder, struct html_token *token)
{
    html_add_text(builder, html_cut_blank(token), token->offset);
    return token->text.length == 0;
}

void
html_take_raw(struct html_builder *builder, const struct html_token *token)
{
    struct slice text;
    const uint32_t depth = builder->depth;
    html_open(builder, token);
    if (token->element == HTML_TEXTAREA) {
        html_token_skip_newline(&builder->tokenizer);
    }
    const uint32_t offset = (uint32_t)(builder->tokenizer.at - builder->tokenizer.start);
    html_token_raw(&builder->tokenizer, token, &text);
    if (builder->depth > depth) {
        html_add_text(builder, text, offset);
        html_pop(builder);
    }
}

/* ---- initial, before html, before head ---- */

static bool
mode_initial(struct html_builder *builder, struct html_token *token)
{
    if (token->kind == HTML_TOKEN_TEXT) {
        html_cut_blank(token);
        if (token->text.length == 0) {
            return true;
        }
    }
    builder->mode = MODE_BEFORE_HTML;
    if (token->kind == HTML_TOKEN_DOCTYPE) {
        builder->quirks = html_doctype_is_quirky(token->text, token->cut_off);
        return true;
    }
    builder->quirks = true;
    return false;
}

/* End tags that may open what the author left out. */
static bool
is_opening_end(const struct html_token *token)
{
    return token->element == HTML_HEAD || token->element == HTML_BODY ||
           token->element == HTML_HTML || token->element == HTML_BR;
}

static bool
mode_before_html(struct html_builder *builder, struct html_token *token)
{
    if (token->kind == HTML_TOKEN_TEXT) {
        html_cut_blank(token);
    }
    if ((token->kind == HTML_TOKEN_TEXT && token->text.length == 0) ||
        (token->kind == HTML_TOKEN_END && !is_opening_end(token))) {
        return true;
    }
    builder->mode = MODE_BEFORE_HEAD;
    if (token->kind == HTML_TOKEN_START && token->element == HTML_HTML) {
        html_open(builder, token);
        return true;
    }
    html_open_implied(builder, HTML_HTML, token->offset);
    return false;
}

static bool
mode_before_head(struct html_builder *builder, struct html_token *token)
{
    if (token->kind == HTML_TOKEN_TEXT) {
        html_cut_blank(token);
    }
    if ((token->kind == HTML_TOKEN_TEXT && token->text.length == 0) ||
        (token->kind == HTML_TOKEN_END && !is_opening_end(token))) {
        return true;
    }
    if (token->kind == HTML_TOKEN_START && token->element == HTML_HTML) {
        return html_mode_in_body(builder, token);
    }
    builder->mode = MODE_IN_HEAD;
    builder->head = builder->tree->node_count;
    if (token->kind == HTML_TOKEN_START && token->element == HTML_HEAD) {
        html_open(builder, token);
        return true;
    }
    html_open_implied(builder, HTML_HEAD, token->offset);
    return false;
}

/* ---- head ---- */

static bool
start_template(struct html_builder *builder, const struct html_token *token)
{
    html_open(builder, token);
    html_format_marker(builder);
    builder->frameset_ok = false;
    builder->mode = MODE_IN_TEMPLATE;
    builder->template_modes[builder->template_count++] = MODE_IN_TEMPLATE;
    return true;
}

static bool
end_template(struct html_builder *builder)
{
    if (builder->open[HTML_TEMPLATE] == 0) {
        return true;
    }
    while (!html_is(html_top(builder), HTML_TEMPLATE)) {
        html_pop(builder);
    }
    html_pop(builder);
    html_format_clear(builder);
    builder->template_count--;
    html_reset_mode(builder);
    return true;
}

static bool
start_in_head(struct html_builder *builder, struct html_token *token)
{
    switch (token->element) {
    case HTML_HTML:
        return html_mode_in_body(builder, token);
    case HTML_HEAD:
        return true;
    case HTML_NOSCRIPT:
        html_open(builder, token);
        builder->mode = MODE_IN_HEAD_NOSCRIPT;
        return true;
    case HTML_TEMPLATE:
        return start_template(builder, token);
    default:
        break;
    }
    const uint32_t rules = html_element_rules(token->element);
    if (rules & RULE_VOID) {
        html_add_element(builder, token, HTML_SPACE_HTML);
    } else {
        html_take_raw(builder, token);
    }
    return true;
}

bool
html_mode_in_head(struct html_builder *builder, struct html_token *token)
{
    switch (token->kind) {
    case HTML_TOKEN_TEXT:
        if (html_take_blank(builder, token)) {
            return true;
        }
        break;
    case HTML_TOKEN_START:
        if ((html_element_rules(token->element) & RULE_HEAD) || token->element == HTML_HTML ||
            token->element == HTML_HEAD || token->element == HTML_NOSCRIPT) {
            return start_in_head(builder, token);
        }
        break;
    case HTML_TOKEN_END:
        if (token->element == HTML_TEMPLATE) {
            return end_template(builder);
        }
        if (!is_opening_end(token)) {
            return true;
        }
        break;
    default:
        return true;
    }
    html_pop(builder);
    builder->mode = MODE_AFTER_HEAD;
    return token->kind == HTML_TOKEN_END && token->element == HTML_HEAD;
}

static bool
mode_in_head_noscript(struct html_builder *builder, struct html_token *token)
{
    switch (token->kind) {
    case HTML_TOKEN_TEXT:
        if (html_take_blank(builder, token)) {
            return true;
        }
        break;
    case HTML_TOKEN_START:
        switch (token->element) {
        case HTML_HTML:
            return html_mode_in_body(builder, token);
        case HTML_BASEFONT:
        case HTML_BGSOUND:
        case HTML_LINK:
        case HTML_META:
        case HTML_NOFRAMES:
        case HTML_STYLE:
            return start_in_head(builder, token);
        case HTML_HEAD:
        case HTML_NOSCRIPT:
            return true;
        default:
            break;
        }
        break;
    case HTML_TOKEN_END:
        if (token->element != HTML_NOSCRIPT && token->element != HTML_BR) {
            return true;
        }
        break;
    default:
        return true;
    }
    html_pop(builder);
    builder->mode = MODE_IN_HEAD;
    return token->kind == HTML_TOKEN_END && token->element == HTML_NOSCRIPT;
}

/* Puts into the head what belongs there, even when it comes late. */
static bool
start_late_head(struct html_builder *builder, struct html_token *token)
{
    if (!html_is_rightmost(builder, builder->head)) {
        html_link_nodes(builder);
    }
    const uint32_t head = builder->head;
    html_push(builder, head);
    start_in_head(builder, token);
    const uint32_t index = html_stack_find(builder, head);
    if (index != HTML_NOT_OPEN) {
        html_stack_remove(builder, index);
    }
    return true;
}

static bool
mode_after_head(struct html_builder *builder, struct html_token *token)
{
    switch (token->kind) {
    case HTML_TOKEN_TEXT:
        if (html_take_blank(builder, token)) {
            return true;
        }
        break;
    case HTML_TOKEN_START:
        switch (token->element) {
        case HTML_HTML:
            return html_mode_in_body(builder, token);
        case HTML_BODY:
            html_open(builder, token);
            builder->frameset_ok = false;
            builder->mode = MODE_IN_BODY;
            return true;
        case HTML_FRAMESET:
            html_open(builder, token);
            builder->mode = MODE_IN_FRAMESET;
            return true;
        case HTML_HEAD:
            return true;
        default:
            if (html_element_rules(token->element) & RULE_HEAD) {
                return start_late_head(builder, token);
            }
        }
        break;
    case HTML_TOKEN_END:
        if (token->element == HTML_TEMPLATE) {
            return end_template(builder);
        }
        if (!is_opening_end(token) || token->element == HTML_HEAD) {
            return true;
        }
        break;
    default:
        return true;
    }
    html_open_implied(builder, HTML_BODY, token->offset);
    builder->mode = MODE_IN_BODY;
    return false;
}

/* ---- template, frameset ---- */

static enum html_mode
template_mode(enum html_element element)
{
    switch (element) {
    case HTML_CAPTION:
    case HTML_COLGROUP:
    case HTML_TBODY:
    case HTML_TFOOT:
    case HTML_THEAD:
        return MODE_IN_TABLE;
    case HTML_COL:
        return MODE_IN_COLUMN_GROUP;
    case HTML_TR:
        return MODE_IN_TABLE_BODY;
    case HTML_TD:
    case HTML_TH:
        return MODE_IN_ROW;
    default:
        return MODE_IN_BODY;
    }
}

static bool
mode_in_template(struct html_builder *builder, struct html_token *token)
{
    switch (token->kind) {
    case HTML_TOKEN_TEXT:
        return html_mode_in_body(builder, token);
    case HTML_TOKEN_END:
        return token->element == HTML_TEMPLATE ? end_template(builder) : true;
    case HTML_TOKEN_START:
        break;
    default:
        return true;
    }
    if (html_element_rules(token->element) & RULE_HEAD) {
        return start_in_head(builder, token);
    }
    builder->mode = template_mode(token->element);
    builder->template_modes[builder->template_count - 1] = (uint8_t)builder->mode;
    return false;
}

void
html_end_of_input(struct html_builder *builder, uint32_t offset)
{
    struct html_token end = {.kind = HTML_TOKEN_END, .element = HTML_HTML, .offset = offset};
    while (builder->open[HTML_TEMPLATE] > 0) {
        end_template(builder);
    }
    if (builder->mode == MODE_IN_HEAD_NOSCRIPT) {
        html_pop(builder);
        builder->mode = MODE_IN_HEAD;
    }
    while (builder->mode < MODE_IN_BODY && !html_modes[builder->mode](builder, &end)) {
    }
}

/* The white space of a text, wherever it stands in there. */
static void
add_blanks(struct html_builder *builder, struct html_token *token)
{
    while (token->text.length > 0) {
        html_add_text(builder, html_cut_blank(token), token->offset);
        while (token->text.length > 0 && !ascii_is_space(token->text.at[0])) {
            token->text = slice_of(token->text.at + 1, token->text.length - 1);
        }
    }
}

/* Frames and nothing else: other content is not shown by browsers either. */
static bool
mode_in_frameset(struct html_builder *builder, struct html_token *token)
{
    const bool inside = builder->mode == MODE_IN_FRAMESET;
    if (token->kind == HTML_TOKEN_TEXT) {
        add_blanks(builder, token);
        return true;
    }
    if (token->kind == HTML_TOKEN_START) {
        switch (token->element) {
        case HTML_HTML:
            return html_mode_in_body(builder, token);
        case HTML_NOFRAMES:
            return start_in_head(builder, token);
        case HTML_FRAMESET:
            if (inside) {
                html_open(builder, token);
            }
            return true;
        case HTML_FRAME:
            if (inside) {
                html_add_element(builder, token, HTML_SPACE_HTML);
            }
            return true;
        default:
            return true;
        }
    }
    if (token->kind == HTML_TOKEN_END && token->element == HTML_FRAMESET && inside &&
        builder->depth > 1) {
        html_pop(builder);
        if (!html_is(html_top(builder), HTML_FRAMESET)) {
            builder->mode = MODE_AFTER_FRAMESET;
        }
    }
    return true;
}

html_mode_function *const html_modes[MODE_COUNT] = {
    [MODE_INITIAL] = mode_initial,
    [MODE_BEFORE_HTML] = mode_before_html,
    [MODE_BEFORE_HEAD] = mode_before_head,
    [MODE_IN_HEAD] = html_mode_in_head,
    [MODE_IN_HEAD_NOSCRIPT] = mode_in_head_noscript,
    [MODE_AFTER_HEAD] = mode_after_head,
    [MODE_IN_BODY] = html_mode_in_body,
    [MODE_IN_TABLE] = html_mode_in_table,
    [MODE_IN_CAPTION] = html_mode_in_caption,
    [MODE_IN_COLUMN_GROUP] = html_mode_in_column_group,
    [MODE_IN_TABLE_BODY] = html_mode_in_table_body,
    [MODE_IN_ROW] = html_mode_in_row,
    [MODE_IN_CELL] = html_mode_in_cell,
    [MODE_IN_TEMPLATE] = mode_in_template,
    [MODE_IN_FRAMESET] = mode_in_frameset,
    [MODE_AFTER_FRAMESET] = mode_in_frameset,
};
