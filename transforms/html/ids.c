#include "transforms/html/ids.h"

#include <stdlib.h>

static int
compare_ids(const void *a, const void *b)
{
    const struct html_id *left = a, *right = b;
    const int order = slice_compare(left->text, right->text);
    return order != 0 ? order : (left->node > right->node) - (left->node < right->node);
}

/* Counts, and notes where there is room. */
static uint32_t
walk(const struct html_tree *tree, struct html_id *ids)
{
    uint32_t count = 0;
    for (uint32_t i = 1; i < tree->node_count;) {
        const struct html_node *node = &tree->nodes[i];
        struct slice id;
        if (node->kind == HTML_ELEMENT && node->element == HTML_TEMPLATE) {
            i = node->end;
            continue;
        }
        if (node->attribute_count > 0 && html_attribute(tree, i, "id", &id)) {
            if (ids) {
                ids[count] = (struct html_id){id, i};
            }
            count++;
        }
        i++;
    }
    return count;
}

uint32_t
html_node_of_id(const struct html_tree *tree, struct html_ids *ids, struct slice id)
{
    if (!ids->built) {
        ids->built = true;
        ids->count = walk(tree, NULL);
        ids->ids = arena_alloc(tree->arena, (ids->count + 1) * sizeof *ids->ids);
        ids->count = ids->ids ? walk(tree, ids->ids) : 0;
        if (ids->count > 0) {
            qsort(ids->ids, ids->count, sizeof *ids->ids, compare_ids);
        }
    }
    uint32_t from = 0, to = ids->count;
    while (from < to) {
        const uint32_t middle = from + (to - from) / 2;
        if (slice_compare(ids->ids[middle].text, id) < 0) {
            from = middle + 1;
        } else {
            to = middle;
        }
    }
    return from < ids->count && slice_equal(ids->ids[from].text, id) ? ids->ids[from].node : 0;
}
