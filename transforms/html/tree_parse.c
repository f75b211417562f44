/* Tree construction by the HTML standard: https://html.spec.whatwg.org/#tree-construction
 *
 * Here: which rules a token falls under, and those of foreign content. tree_build.h tells how the
 * tree is built; insertion_modes*.c have the insertion modes, formatting.c the adoption agency.
 *
 * libgumbo does the same in twenty times the time, fails cases of the standard and has no bound of
 * depth or memory: docs/HTML.md has the figures.
 *
 * Where we leave the standard: scripting is off; no element stands deeper than HTML_DEPTH; what
 * a template holds are its children; comments are not kept.
 */
#include "transforms/html/tree_build.h"

enum { ROUNDS = 64 /* of one token through changing modes; 6 is the most that is needed */ };

static bool
is_math_text(const struct html_node *node)
{
    return node->space == HTML_SPACE_MATH && html_is_scope_bound(node) &&
           !slice_equal_nocase(node->text, SLICE("annotation-xml"));
}

static bool
falls_under_html(const struct html_builder *builder, const struct html_token *token)
{
    if (builder->depth == 0 || html_top(builder)->space == HTML_SPACE_HTML) {
        return true;
    }
    if (token->kind != HTML_TOKEN_START && token->kind != HTML_TOKEN_TEXT) {
        return false;
    }
    const struct html_node *node = html_top(builder);
    if (is_math_text(node)) {
        return token->kind == HTML_TOKEN_TEXT ||
               (!slice_equal_nocase(token->name, SLICE("mglyph")) &&
                !slice_equal_nocase(token->name, SLICE("malignmark")));
    }
    if (node->space == HTML_SPACE_MATH && token->kind == HTML_TOKEN_START &&
        token->element == HTML_SVG && slice_equal_nocase(node->text, SLICE("annotation-xml"))) {
        return true;
    }
    return html_is_integration_point(builder, node);
}

static void
take_as_html(struct html_builder *builder, struct html_token *token)
{
    for (unsigned round = 0; round < ROUNDS; round++) {
        if (html_modes[builder->mode](builder, token)) {
            return;
        }
    }
}

/* ---- foreign content ---- */

static bool
breaks_out(const struct html_builder *builder, const struct html_token *token)
{
    if (token->kind == HTML_TOKEN_END) {
        return token->element == HTML_BR || token->element == HTML_P;
    }
    if (token->element == HTML_FONT) {
        for (uint32_t i = 0; i < token->attribute_count; i++) {
            const struct slice name = builder->tree->attributes[token->attribute + i].name;
            if (slice_is(name, "color") || slice_is(name, "face") || slice_is(name, "size")) {
                return true;
            }
        }
    }
    return html_element_rules(token->element) & RULE_BREAKOUT;
}

static void
end_foreign(struct html_builder *builder, struct html_token *token)
{
    for (uint32_t i = builder->depth; i-- > 1;) {
        const struct html_node *node = html_open_node(builder, i);
        if (node->space == HTML_SPACE_HTML) {
            take_as_html(builder, token);
            return;
        }
        if (slice_equal_nocase(node->text, token->name)) {
            html_pop_from(builder, i);
            return;
        }
    }
}

/* NULs, which U+FFFD is shown for, say no more than blanks do. */
static bool
is_blank_or_nul(struct slice text)
{
    const struct slice shown = SLICE("\xEF\xBF\xBD");
    for (text = slice_trim(text); slice_starts(text, shown); text = slice_trim(text)) {
        text = slice_of(text.at + shown.length, text.length - shown.length);
    }
    return text.length == 0;
}

static void
take_as_foreign(struct html_builder *builder, struct html_token *token)
{
    if (token->kind == HTML_TOKEN_TEXT) {
        builder->frameset_ok &= is_blank_or_nul(token->text);
        html_add_text(builder, token->text, token->offset);
    } else if (breaks_out(builder, token)) {
        while (html_top(builder)->space != HTML_SPACE_HTML && !is_math_text(html_top(builder)) &&
               !html_is_integration_point(builder, html_top(builder))) {
            html_pop(builder);
        }
        take_as_html(builder, token);
    } else if (token->kind == HTML_TOKEN_END) {
        end_foreign(builder, token);
    } else if (token->kind == HTML_TOKEN_START) {
        const uint32_t node = html_add_element(builder, token, html_top(builder)->space);
        if (!token->self_closing) {
            html_push(builder, node);
        }
    }
}

/* ---- all tokens ---- */

/* An element below the deepest that are kept open: it ends where it begins. */
static void
take_as_leaf(struct html_builder *builder, const struct html_token *token)
{
    builder->tree->repair |= HTML_REPAIR_DEPTH;
    if (html_element_rules(token->element) & (RULE_RAW | RULE_RCDATA)) {
        html_take_raw(builder, token);
    } else {
        html_add_element(builder, token, html_top(builder)->space);
    }
}

static void
take(struct html_builder *builder, struct html_token *token)
{
    if (token->kind == HTML_TOKEN_START && builder->depth + HTML_STACK_SPARE >= HTML_DEPTH) {
        take_as_leaf(builder, token);
    } else if (falls_under_html(builder, token)) {
        take_as_html(builder, token);
    } else {
        take_as_foreign(builder, token);
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
    struct html_builder builder;
    html_build_begin(&builder, tree, input);
    const struct html_token text = {.kind = HTML_TOKEN_TEXT};
    struct html_token token = {0};
    for (;;) {
        builder.tokenizer.cdata = builder.depth > 0 && html_top(&builder)->space != HTML_SPACE_HTML;
        builder.tokenizer.shows_nuls =
            builder.tokenizer.cdata && !falls_under_html(&builder, &text);
        html_token_next(&builder.tokenizer, &token);
        if (token.kind == HTML_TOKEN_END_OF_INPUT) {
            break;
        }
        take(&builder, &token);
    }
    html_end_of_input(&builder, token.offset);
    const bool full = builder.tokenizer.full;
    html_build_end(&builder);
    if (full) {
        return status_fail(why, STATUS_LIMIT, "decoded text passes %zu bytes",
                           tree->arena->maximum);
    }
    return STATUS_OK;
}
