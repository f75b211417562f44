#include "transforms/html.h"

#include <stdlib.h>

#include "base/memory.h"

void
html_tree_init(struct html_tree *tree, struct arena *arena)
{
    *tree = (struct html_tree){.arena = arena};
}

void
html_tree_reset(struct html_tree *tree)
{
    tree->node_count = 0;
    tree->attribute_count = 0;
    tree->repair = 0;
    tree->offsets = false;
    tree->input = (struct slice){0};
    tree->parser = "";
}

void
html_tree_release(struct html_tree *tree)
{
    free(tree->nodes);
    free(tree->attributes);
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

uint32_t
html_line(const struct html_tree *tree, uint32_t node)
{
    const uint32_t value = tree->nodes[node].line;
    if (!tree->offsets) {
        return value;
    }
    uint32_t line = 1;
    for (uint32_t i = 0; i < value && i < tree->input.length; i++) {
        line += tree->input.at[i] == '\n';
    }
    return line;
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
