#include "transforms/html/html.h"

#include <stdlib.h>

#include "base/memory.h"

void
html_tree_init(struct html_tree *tree, struct arena *arena)
{
    *tree = (struct html_tree){.arena = arena};
    tree->place = memory_new(sizeof *tree->place);
    html_tree_reset(tree);
}

void
html_tree_reset(struct html_tree *tree)
{
    tree->node_count = 0;
    tree->attribute_count = 0;
    tree->repair = 0;
    tree->doctype = (struct slice){0};
    tree->offsets = false;
    tree->input = (struct slice){0};
    tree->parser = "";
    *tree->place = (struct html_place){.line = 1};
}

void
html_tree_release(struct html_tree *tree)
{
    free(tree->nodes);
    free(tree->attributes);
    free(tree->place);
    *tree = (struct html_tree){0};
}

uint32_t
html_tree_add(struct html_tree *tree, const struct html_node *node)
{
    if (tree->node_count == tree->node_capacity) {
        if (tree->node_capacity >= UINT32_MAX / 4) {
            return UINT32_MAX;
        }
        tree->node_capacity = tree->node_capacity ? tree->node_capacity * 2 : 2048;
        tree->nodes = memory_resize(tree->nodes, tree->node_capacity, sizeof *tree->nodes);
    }
    tree->nodes[tree->node_count] = *node;
    return tree->node_count++;
}

void
html_tree_attribute(struct html_tree *tree, struct slice name, struct slice value)
{
    if (tree->attribute_count == tree->attribute_capacity) {
        tree->attribute_capacity = tree->attribute_capacity ? tree->attribute_capacity * 2 : 2048;
        tree->attributes =
            memory_resize(tree->attributes, tree->attribute_capacity, sizeof *tree->attributes);
    }
    tree->attributes[tree->attribute_count++] = (struct html_attribute){name, value};
}

void
html_tree_close(struct html_tree *tree, uint32_t node)
{
    tree->nodes[node].end = tree->node_count;
}

/* Ends of lines are LF, CR LF and CR. */
static uint32_t
count_lines(struct slice input, uint32_t from, uint32_t to)
{
    uint32_t count = 0;
    for (uint32_t i = from; i < to; i++) {
        const char c = input.at[i];
        count += c == '\n' || (c == '\r' && !(i + 1 < input.length && input.at[i + 1] == '\n'));
    }
    return count;
}

uint32_t
html_line(const struct html_tree *tree, uint32_t node)
{
    uint32_t offset = tree->nodes[node].line;
    if (!tree->offsets) {
        return offset;
    }
    struct html_place *place = tree->place;
    if (offset > tree->input.length) {
        offset = (uint32_t)tree->input.length;
    }
    if (offset >= place->offset) {
        place->line += count_lines(tree->input, place->offset, offset);
    } else {
        place->line -= count_lines(tree->input, offset, place->offset);
    }
    place->offset = offset;
    return place->line;
}

bool
html_attribute(const struct html_tree *tree, uint32_t node, const char *name, struct slice *value)
{
    const struct html_node *element = &tree->nodes[node];
    const struct slice wanted = slice_string(name);
    for (uint32_t i = 0; i < element->attribute_count; i++) {
        const struct html_attribute *attribute = &tree->attributes[element->attribute + i];
        if (slice_equal(attribute->name, wanted)) {
            *value = attribute->value;
            return true;
        }
    }
    return false;
}
