/* Functions that all that reads a page calls about its elements. */
#include "transforms/common/relations.h"
#include "transforms/page/page_extract.h"

bool
html_next_word(struct slice *list, struct slice *word)
{
    *list = slice_trim(*list);
    size_t n = 0;
    while (n < list->length && (uint8_t)list->at[n] > ' ') {
        n++;
    }
    *word = slice_of(list->at, n);
    *list = slice_of(list->at + n, list->length - n);
    return n > 0;
}

struct slice
html_walk_language(struct html_walk *walk, uint32_t node, char text[36])
{
    for (;; node = walk->tree->nodes[node].parent) {
        struct slice tag;
        if (html_attribute(walk->tree, node, "lang", &tag) ||
            html_attribute(walk->tree, node, "xml:lang", &tag)) {
            return language_tag(tag, text);
        }
        if (node == 0) {
            return (struct slice){0};
        }
    }
}

bool
html_is_schema(const struct html_tree *tree, uint32_t node, struct slice *prefix)
{
    const struct slice start = SLICE("schema.");
    if (!html_attribute(tree, node, "rel", prefix)) {
        return false;
    }
    *prefix = slice_trim(*prefix);
    if (prefix->length <= start.length ||
        !slice_equal_nocase(slice_of(prefix->at, start.length), start)) {
        return false;
    }
    *prefix = slice_of(prefix->at + start.length, prefix->length - start.length);
    return true;
}
