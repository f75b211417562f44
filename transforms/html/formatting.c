/* The list of active formatting elements and the adoption agency
 * (https://html.spec.whatwg.org/#the-list-of-active-formatting-elements, #adoptionAgency). */
#include "transforms/html/tree_build.h"

enum { SAME_MOST = 3, OUTER_ROUNDS = 8, INNER_ROUNDS = 3, CLONES_FREE = 4096, CLONES_PER_NODE = 4 };

static void
remove_at(struct html_builder *builder, uint32_t index)
{
    builder->format_count--;
    memmove(builder->formats + index, builder->formats + index + 1,
            (builder->format_count - index) * sizeof *builder->formats);
}

static void
insert_at(struct html_builder *builder, uint32_t index, uint32_t node)
{
    if (builder->format_count == HTML_FORMATS) {
        builder->tree->repair |= HTML_REPAIR_DEPTH;
        remove_at(builder, 0);
        index -= index > 0;
    }
    memmove(builder->formats + index + 1, builder->formats + index,
            (builder->format_count - index) * sizeof *builder->formats);
    builder->formats[index] = node;
    builder->format_count++;
}

static uint32_t
list_find(const struct html_builder *builder, uint32_t node)
{
    for (uint32_t i = builder->format_count; i-- > 0;) {
        if (builder->formats[i] == node) {
            return i;
        }
    }
    return HTML_NOT_OPEN;
}

/* Same name, same attributes in any order. */
static bool
is_alike(const struct html_tree *tree, uint32_t a, uint32_t b)
{
    const struct html_node *left = &tree->nodes[a], *right = &tree->nodes[b];
    if (left->element != right->element || left->attribute_count != right->attribute_count) {
        return false;
    }
    for (uint32_t i = 0; i < left->attribute_count; i++) {
        const struct html_attribute *wanted = &tree->attributes[left->attribute + i];
        uint32_t k = 0;
        while (k < right->attribute_count &&
               !slice_equal(tree->attributes[right->attribute + k].name, wanted->name)) {
            k++;
        }
        if (k == right->attribute_count ||
            !slice_equal(tree->attributes[right->attribute + k].value, wanted->value)) {
            return false;
        }
    }
    return true;
}

void
html_format_push(struct html_builder *builder, uint32_t node)
{
    uint32_t same = 0, earliest = 0;
    for (uint32_t i = builder->format_count; i-- > 0 && builder->formats[i] != 0;) {
        if (is_alike(builder->tree, builder->formats[i], node)) {
            earliest = i;
            same++;
        }
    }
    if (same >= SAME_MOST) {
        remove_at(builder, earliest);
    }
    insert_at(builder, builder->format_count, node);
}

void
html_format_marker(struct html_builder *builder)
{
    insert_at(builder, builder->format_count, 0);
}

void
html_format_clear(struct html_builder *builder)
{
    while (builder->format_count > 0 && builder->formats[--builder->format_count] != 0) {
    }
}

uint32_t
html_format_find(const struct html_builder *builder, enum html_element element)
{
    for (uint32_t i = builder->format_count; i-- > 0 && builder->formats[i] != 0;) {
        if (builder->tree->nodes[builder->formats[i]].element == element) {
            return i;
        }
    }
    return HTML_NOT_OPEN;
}

void
html_format_remove(struct html_builder *builder, uint32_t node)
{
    const uint32_t index = list_find(builder, node);
    if (index != HTML_NOT_OPEN) {
        remove_at(builder, index);
    }
}

/* A few bytes of hostile markup can ask for hundreds of elements each; nobody else's can. */
static bool
may_clone(struct html_builder *builder)
{
    const uint32_t own = builder->tree->node_count - builder->clones;
    if (builder->clones < CLONES_FREE || builder->clones / CLONES_PER_NODE < own) {
        return true;
    }
    builder->tree->repair |= HTML_REPAIR_DEPTH;
    return false;
}

void
html_reconstruct(struct html_builder *builder)
{
    uint32_t i = builder->format_count;
    while (i > 0 && builder->formats[i - 1] != 0 &&
           html_stack_find(builder, builder->formats[i - 1]) == HTML_NOT_OPEN) {
        i--;
    }
    for (; i < builder->format_count; i++) {
        if (builder->depth + HTML_STACK_SPARE >= HTML_DEPTH || !may_clone(builder)) {
            return;
        }
        const uint32_t clone = html_clone(builder, builder->formats[i]);
        html_push(builder, clone);
        builder->formats[i] = clone;
    }
}

/* ---- the adoption agency ---- */

/* The first element of the "special" category above stack[index]. */
static uint32_t
furthest_block(const struct html_builder *builder, uint32_t index)
{
    for (uint32_t i = index + 1; i < builder->depth; i++) {
        const struct html_node *node = html_open_node(builder, i);
        if ((html_rules(node) & RULE_SPECIAL) ||
            (node->space != HTML_SPACE_HTML && html_is_scope_bound(node))) {
            return i;
        }
    }
    return HTML_NOT_OPEN;
}

/* Between the formatting element and the block: each formatting element is made anew around what
 * was moved so far, others leave the stack. Returns the outermost of the moved; *bookmark is where
 * the new formatting element goes in the list. */
static uint32_t
wrap(struct html_builder *builder, uint32_t formatting, uint32_t block_index, uint32_t *bookmark)
{
    const uint32_t block = builder->stack[block_index];
    uint32_t last = block, index = block_index;
    for (unsigned round = 1;; round++) {
        uint32_t node = builder->stack[--index];
        if (node == formatting) {
            return last;
        }
        uint32_t listed = list_find(builder, node);
        if (round > INNER_ROUNDS && listed != HTML_NOT_OPEN) {
            remove_at(builder, listed);
            *bookmark -= listed < *bookmark;
            listed = HTML_NOT_OPEN;
        }
        if (listed == HTML_NOT_OPEN) {
            html_stack_remove(builder, index);
            continue;
        }
        node = html_clone_apart(builder, node);
        builder->formats[listed] = node;
        builder->stack[index] = node;
        if (last == block) {
            *bookmark = listed + 1;
        }
        html_append(builder, node, last);
        last = node;
    }
}

/* One round: formatting, at stack[index], holds the block at stack[block_index]. */
static void
adopt_block(struct html_builder *builder, uint32_t formatting, uint32_t index, uint32_t block_index)
{
    const uint32_t block = builder->stack[block_index], ancestor = builder->stack[index - 1];
    uint32_t bookmark = list_find(builder, formatting);
    const uint32_t last = wrap(builder, formatting, block_index, &bookmark);
    html_put(builder, ancestor, last);
    const uint32_t clone = html_clone_apart(builder, formatting);
    html_append_children(builder, block, clone);
    html_append(builder, block, clone);
    const uint32_t listed = list_find(builder, formatting);
    remove_at(builder, listed);
    bookmark -= listed < bookmark;
    insert_at(builder, bookmark, clone);
    html_stack_remove(builder, html_stack_find(builder, formatting));
    html_stack_insert(builder, html_stack_find(builder, block) + 1, clone);
}

bool
html_adopt(struct html_builder *builder, enum html_element element)
{
    if (html_is(html_top(builder), element) &&
        list_find(builder, builder->stack[builder->depth - 1]) == HTML_NOT_OPEN) {
        html_pop(builder);
        return true;
    }
    for (unsigned round = 0; round < OUTER_ROUNDS; round++) {
        const uint32_t listed = html_format_find(builder, element);
        if (listed == HTML_NOT_OPEN) {
            return false;
        }
        const uint32_t formatting = builder->formats[listed];
        const uint32_t index = html_stack_find(builder, formatting);
        if (index == HTML_NOT_OPEN) {
            remove_at(builder, listed);
            return true;
        }
        for (uint32_t i = builder->depth; i-- > index + 1;) {
            if (html_is_scope_bound(html_open_node(builder, i))) {
                return true;
            }
        }
        const uint32_t block_index = furthest_block(builder, index);
        if (block_index == HTML_NOT_OPEN) {
            html_pop_from(builder, index);
            remove_at(builder, listed);
            return true;
        }
        if (!may_clone(builder)) {
            return true;
        }
        adopt_block(builder, formatting, index, block_index);
    }
    return true;
}
