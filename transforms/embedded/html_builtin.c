/* The transform `html`: what a page says outside of embedded syntaxes, and what its publisher
 * should know although the page was read all the same. */
#include <stdio.h>

#include "transforms/core/builtins.h"
#include "transforms/html/html.h"

static bool
has_title(const struct html_tree *tree)
{
    for (uint32_t i = 0; i < tree->node_count; i++) {
        const struct html_node *node = &tree->nodes[i];
        if (node->kind == HTML_ELEMENT && node->element == HTML_BODY) {
            return false;
        }
        if (node->kind == HTML_ELEMENT && node->element == HTML_TITLE &&
            node->space == HTML_SPACE_HTML) {
            return true;
        }
    }
    return false;
}

static void
advise_on_encoding(struct transformation *transformation)
{
    const struct transform_request *request = transformation->request;
    enum encoding_source source;
    char text[160];
    const char *used = encoding_of_html(request->bytes, request->charset, &source);
    const char *own = encoding_prescan(request->bytes);
    const bool valid = encoding_is_utf8(request->bytes);
    if (source == ENCODING_BY_HTTP && own != NULL && strcmp(own, used) != 0) {
        snprintf(text, sizeof text, "Content-Type names another encoding than the page: %s, not %s",
                 used, own);
        transformation_advice(transformation, 0, text);
    } else if (source == ENCODING_BY_CONTENT || (source == ENCODING_BY_DEFAULT && !valid)) {
        transformation_advice(transformation, 0, "the page does not name its character encoding");
    }
    if (strcmp(used, "utf-8") == 0 && !valid) {
        transformation_advice(transformation, 0,
                              "the page is said to be UTF-8, but has bytes that are no UTF-8");
    }
}

static void
html_advise(struct transformation *transformation)
{
    if (!has_title(&transformation->tree)) {
        transformation_advice(transformation, 0, "a page without a title");
    }
    if (slice_is(transformation->request->type, "text/html")) {
        advise_on_encoding(transformation);
    }
}

enum status
builtin_html(struct transformation *transformation, struct reason *why)
{
    TRY(transformation_html(transformation, why));
    struct quad_sink sink;
    struct emitter emitter = transformation_emitter(transformation, &sink, why);
    html_advise(transformation);
    transformation->extractor.lines = transformation->request->explain;
    return html_extract(&transformation->extractor, &transformation->tree,
                        transformation->request->uri, &emitter);
}
