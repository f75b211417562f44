#include "transforms/html/profile.h"

#include "transforms/html/html.h"
#include "transforms/html/token.h"

static struct slice
attribute_profile(const struct html_tree *tree, const struct html_token *token)
{
    for (uint32_t i = 0; i < token->attribute_count; i++) {
        const struct html_attribute *attribute = &tree->attributes[token->attribute + i];
        if (slice_is(attribute->name, "profile")) {
            return attribute->value;
        }
    }
    return slice_of(NULL, 0);
}

struct slice
html_profile(struct slice bytes, struct arena *arena)
{
    struct html_tree tree;
    struct html_tokenizer tokenizer;
    struct html_token token;
    struct slice profile = {NULL, 0};
    html_tree_init(&tree, arena);
    html_tokenizer_init(&tokenizer, &tree, bytes);
    do {
        html_token_next(&tokenizer, &token);
        if (token.kind == HTML_TOKEN_START && token.element == HTML_HEAD) {
            profile = attribute_profile(&tree, &token);
        }
    } while (token.kind != HTML_TOKEN_END_OF_INPUT &&
             (token.kind != HTML_TOKEN_START || token.element == HTML_HTML));
    html_tree_release(&tree);
    return profile;
}
