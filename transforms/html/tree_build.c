#include "transforms/html/tree_build.h"

#include <stdlib.h>

#include "base/memory.h"

void
html_build_begin(struct html_builder *builder, struct html_tree *tree, struct slice input)
{
    const struct html_node document = {.kind = HTML_DOCUMENT};
    memset(builder, 0, offsetof(struct html_builder, stack));
    memset(builder->open, 0, sizeof builder->open);
    builder->format_count = builder->template_count = builder->clones = 0;
    builder->links = NULL;
    builder->link_capacity = 0;
    builder->tree = tree;
    builder->frameset_ok = true;
    html_tree_add(tree, &document);
    html_tokenizer_init(&builder->tokenizer, tree, input);
}

/* ---- links between siblings ---- */

static void
link_last(struct html_builder *builder, uint32_t parent, uint32_t node)
{
    struct html_link *links = builder->links;
    links[node].previous = links[parent].last;
    links[node].next = 0;
    if (links[parent].last) {
        links[links[parent].last].next = node;
    } else {
        links[parent].first = node;
    }
    links[parent].last = node;
    builder->tree->nodes[node].parent = parent;
}

static void
link_before(struct html_builder *builder, uint32_t place, uint32_t node)
{
    struct html_link *links = builder->links;
    const uint32_t parent = builder->tree->nodes[place].parent;
    links[node].previous = links[place].previous;
    links[node].next = place;
    if (links[place].previous) {
        links[links[place].previous].next = node;
    } else {
        links[parent].first = node;
    }
    links[place].previous = node;
    builder->tree->nodes[node].parent = parent;
}

static void
make_links(struct html_builder *builder)
{
    if (builder->link_capacity < builder->tree->node_capacity) {
        const uint32_t before = builder->link_capacity;
        builder->link_capacity = builder->tree->node_capacity;
        builder->links =
            memory_resize(builder->links, builder->link_capacity, sizeof *builder->links);
        memset(builder->links + before, 0,
               (builder->link_capacity - before) * sizeof *builder->links);
    }
}

void
html_link_nodes(struct html_builder *builder)
{
    if (!builder->links) {
        builder->tree->repair |= HTML_REPAIR_MOVED;
        make_links(builder);
        for (uint32_t i = 1; i < builder->tree->node_count; i++) {
            link_last(builder, builder->tree->nodes[i].parent, i);
        }
    }
}

bool
html_is_rightmost(const struct html_builder *builder, uint32_t node)
{
    uint32_t last = builder->tree->node_count - 1;
    while (last > node) {
        last = builder->tree->nodes[last].parent;
    }
    return last == node;
}

void
html_detach(struct html_builder *builder, uint32_t node)
{
    html_link_nodes(builder);
    struct html_link *links = builder->links, *link = &links[node];
    const uint32_t parent = builder->tree->nodes[node].parent;
    if (link->previous) {
        links[link->previous].next = link->next;
    } else if (links[parent].first == node) {
        links[parent].first = link->next;
    }
    if (link->next) {
        links[link->next].previous = link->previous;
    } else if (links[parent].last == node) {
        links[parent].last = link->previous;
    }
    link->previous = link->next = 0;
    builder->tree->nodes[node].parent = 0;
}

void
html_append(struct html_builder *builder, uint32_t parent, uint32_t node)
{
    html_detach(builder, node);
    link_last(builder, parent, node);
}

void
html_append_children(struct html_builder *builder, uint32_t from, uint32_t to)
{
    html_link_nodes(builder);
    for (uint32_t child = builder->links[from].first; child;) {
        const uint32_t next = builder->links[child].next;
        link_last(builder, to, child);
        child = next;
    }
    builder->links[from].first = builder->links[from].last = 0;
}

/* ---- the appropriate place for inserting a node ---- */

struct place {
    uint32_t parent, before; /* before: 0 is the end */
};

static bool
is_table_like(const struct html_node *node)
{
    return html_is(node, HTML_TABLE) || html_is(node, HTML_TBODY) || html_is(node, HTML_TFOOT) ||
           html_is(node, HTML_THEAD) || html_is(node, HTML_TR);
}

static struct place
foster_place(const struct html_builder *builder)
{
    for (uint32_t i = builder->depth; i-- > 1;) {
        const struct html_node *node = html_open_node(builder, i);
        if (html_is(node, HTML_TEMPLATE)) {
            return (struct place){builder->stack[i], 0};
        }
        if (html_is(node, HTML_TABLE)) {
            return node->parent ? (struct place){node->parent, builder->stack[i]}
                                : (struct place){builder->stack[i - 1], 0};
        }
    }
    return (struct place){builder->stack[0], 0};
}

static struct place
place_in(const struct html_builder *builder, uint32_t target)
{
    if (builder->foster && is_table_like(&builder->tree->nodes[target])) {
        return foster_place(builder);
    }
    return (struct place){target, 0};
}

void
html_put(struct html_builder *builder, uint32_t target, uint32_t node)
{
    html_detach(builder, node);
    const bool foster = builder->foster;
    builder->foster = true;
    const struct place place = place_in(builder, target);
    builder->foster = foster;
    if (place.before) {
        link_before(builder, place.before, node);
    } else {
        link_last(builder, place.parent, node);
    }
}

static uint32_t
add_node(struct html_builder *builder, struct html_node *node)
{
    struct place place = {0};
    if (builder->depth > 0) {
        place = place_in(builder, builder->stack[builder->depth - 1]);
    }
    if (builder->depth > 0 &&
        (place.before || place.parent != builder->stack[builder->depth - 1])) {
        html_link_nodes(builder);
    }
    node->parent = place.parent;
    const uint32_t number = html_tree_add(builder->tree, node);
    if (builder->links) {
        make_links(builder);
        if (place.before) {
            link_before(builder, place.before, number);
        } else {
            link_last(builder, place.parent, number);
        }
    }
    return number;
}

uint32_t
html_add_element(struct html_builder *builder, const struct html_token *token,
                 enum html_space space)
{
    struct html_node node = {.kind = HTML_ELEMENT,
                             .space = (uint8_t)space,
                             .element = (uint16_t)token->element,
                             .line = token->offset,
                             .attribute = token->attribute,
                             .attribute_count = token->attribute_count,
                             .text = token->name};
    return add_node(builder, &node);
}

void
html_add_text(struct html_builder *builder, struct slice text, uint32_t offset)
{
    struct html_node node = {.kind = HTML_TEXT, .line = offset, .text = text};
    if (text.length > 0) {
        add_node(builder, &node);
    }
}

uint32_t
html_clone(struct html_builder *builder, uint32_t node)
{
    struct html_node copy = builder->tree->nodes[node];
    builder->clones++;
    return add_node(builder, &copy);
}

uint32_t
html_clone_apart(struct html_builder *builder, uint32_t node)
{
    struct html_node copy = builder->tree->nodes[node];
    html_link_nodes(builder);
    builder->clones++;
    copy.parent = 0;
    const uint32_t number = html_tree_add(builder->tree, &copy);
    make_links(builder);
    return number;
}

void
html_merge_attributes(struct html_builder *builder, uint32_t node, const struct html_token *token)
{
    struct html_tree *tree = builder->tree;
    struct slice value;
    bool copied = false;
    for (uint32_t i = 0; i < token->attribute_count; i++) {
        struct html_node *element = &tree->nodes[node];
        const struct html_attribute attribute = tree->attributes[token->attribute + i];
        bool known = element->attribute_count >= HTML_ATTRIBUTES;
        for (uint32_t k = 0; k < element->attribute_count && !known; k++) {
            known = slice_equal(tree->attributes[element->attribute + k].name, attribute.name);
        }
        if (known) {
            continue;
        }
        if (!copied) {
            const uint32_t from = element->attribute;
            element->attribute = tree->attribute_count;
            for (uint32_t k = 0; k < element->attribute_count; k++) {
                const struct html_attribute old = tree->attributes[from + k];
                html_tree_attribute(tree, old.name, old.value);
            }
            copied = true;
        }
        value = attribute.value;
        html_tree_attribute(tree, attribute.name, value);
        element->attribute_count++;
    }
}

/* ---- the end ---- */

/* Copies what hangs together from the document down into a new array, in document order. A node's
 * new number is kept in its `previous` link, which is not needed any more once it is reached. */
static void
lay_out(struct html_builder *builder)
{
    struct html_tree *tree = builder->tree;
    struct html_link *links = builder->links;
    struct html_node *nodes = memory_resize(NULL, tree->node_capacity, sizeof *nodes);
    uint32_t count = 0, at = 0;
    for (;;) {
        links[at].previous = count;
        nodes[count] = tree->nodes[at];
        nodes[count++].parent = links[tree->nodes[at].parent].previous;
        if (links[at].first) {
            at = links[at].first;
            continue;
        }
        while (at && !links[at].next) {
            at = tree->nodes[at].parent;
        }
        if (!at) {
            break;
        }
        at = links[at].next;
    }
    free(tree->nodes);
    tree->nodes = nodes;
    tree->node_count = count;
}

void
html_build_end(struct html_builder *builder)
{
    struct html_tree *tree = builder->tree;
    if (builder->links) {
        lay_out(builder);
        free(builder->links);
        builder->links = NULL;
    }
    struct html_node *nodes = tree->nodes;
    for (uint32_t i = tree->node_count; i-- > 0;) {
        if (nodes[i].end == 0) {
            nodes[i].end = i + 1;
        }
        struct html_node *parent = &nodes[nodes[i].parent];
        if (parent->end < nodes[i].end) {
            parent->end = nodes[i].end;
        }
    }
}
