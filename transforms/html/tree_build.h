/* The tree under construction, which the parts of html_parse share. Private to tree_parse.c,
 * tree_build.c, open_elements.c, formatting.c and insertion_modes*.c.
 *
 * As long as every node is put after all others in document order, the tree's array is simply
 * appended to. The first time the standard wants a node elsewhere (foster parenting, the adoption
 * agency) the tree gets links between siblings, is built by them from there on, and is laid out
 * anew at the end. So pages that need no such repair do not pay for it.
 *
 * Invariants:
 *   stack[0] is the html element; every node of the stack is an element of the tree.
 *   open[e] counts the HTML elements of name e in the stack: most searches end there.
 *   nodes[n].parent is right at all times, nodes[n].end only after html_build_end.
 *   without links: the top of the stack is an ancestor of the last node, or that node.
 *   Stack, list of formats and template modes are bounded; what passes a bound is left out, with
 *   HTML_REPAIR_DEPTH set.
 */
#ifndef TRANSFORMS_HTML_TREE_BUILD_H
#define TRANSFORMS_HTML_TREE_BUILD_H

#include "transforms/html/token.h"

enum html_mode {
    MODE_INITIAL,
    MODE_BEFORE_HTML,
    MODE_BEFORE_HEAD,
    MODE_IN_HEAD,
    MODE_IN_HEAD_NOSCRIPT,
    MODE_AFTER_HEAD,
    MODE_IN_BODY,
    MODE_IN_TABLE,
    MODE_IN_CAPTION,
    MODE_IN_COLUMN_GROUP,
    MODE_IN_TABLE_BODY,
    MODE_IN_ROW,
    MODE_IN_CELL,
    MODE_IN_TEMPLATE,
    MODE_IN_FRAMESET,
    MODE_AFTER_FRAMESET,
    MODE_COUNT
};

enum {
    HTML_FORMATS = 256,
    HTML_STACK_SPARE = 16 /* a start tag finds room for what it implies */
};

/* Siblings of a tree with links; 0 is none, as the document is nobody's child. */
struct html_link {
    uint32_t first, last, previous, next;
};

struct html_builder {
    struct html_tree *tree;
    struct html_tokenizer tokenizer;
    enum html_mode mode;
    bool quirks;
    bool frameset_ok;
    bool foster; /* what a table cannot hold goes before it */
    uint32_t head, form;
    uint32_t depth;
    uint32_t stack[HTML_DEPTH];
    uint16_t open[HTML_ELEMENT_COUNT];
    uint32_t format_count;
    uint32_t formats[HTML_FORMATS]; /* the list of active formatting elements; 0: a marker */
    uint32_t template_count;
    uint8_t template_modes[HTML_DEPTH];
    uint32_t clones; /* elements made again by reconstruction or adoption */
    struct html_link *links;
    uint32_t link_capacity;
};

/* ---- the tree ---- */

void html_build_begin(struct html_builder *builder, struct html_tree *tree, struct slice input);
/* Lays the tree out in document order and frees what the builder holds. */
void html_build_end(struct html_builder *builder);

/* New nodes at the appropriate place of the standard. Not pushed. */
uint32_t html_add_element(struct html_builder *builder, const struct html_token *token,
                          enum html_space space);
void html_add_text(struct html_builder *builder, struct slice text, uint32_t offset);
/* A new element like another, name and attributes; at the appropriate place, or nowhere yet. */
uint32_t html_clone(struct html_builder *builder, uint32_t node);
uint32_t html_clone_apart(struct html_builder *builder, uint32_t node);
/* Gives an element those attributes of a later tag that it has not yet. */
void html_merge_attributes(struct html_builder *builder, uint32_t node,
                           const struct html_token *token);

/* From now on nodes may be put anywhere. */
void html_link_nodes(struct html_builder *builder);
bool html_is_rightmost(const struct html_builder *builder, uint32_t node);
void html_detach(struct html_builder *builder, uint32_t node);
void html_append(struct html_builder *builder, uint32_t parent, uint32_t node);
void html_append_children(struct html_builder *builder, uint32_t from, uint32_t to);
/* Puts a node where new content of `target` belongs: foster parenting when that is a table. */
void html_put(struct html_builder *builder, uint32_t target, uint32_t node);

/* ---- the stack ---- */

static const uint32_t HTML_NOT_OPEN = UINT32_MAX;

static inline struct html_node *
html_open_node(const struct html_builder *builder, uint32_t index)
{
    return &builder->tree->nodes[builder->stack[index]];
}

static inline struct html_node *
html_top(const struct html_builder *builder)
{
    return html_open_node(builder, builder->depth - 1);
}

static inline bool
html_is(const struct html_node *node, enum html_element element)
{
    return node->element == element && node->space == HTML_SPACE_HTML;
}

static inline uint32_t
html_rules(const struct html_node *node)
{
    return node->space == HTML_SPACE_HTML ? html_element_rules(node->element) : 0;
}

void html_push(struct html_builder *builder, uint32_t node);
void html_pop(struct html_builder *builder);
void html_pop_from(struct html_builder *builder, uint32_t index); /* stack[index] and above */
void html_stack_remove(struct html_builder *builder, uint32_t index);
void html_stack_insert(struct html_builder *builder, uint32_t index, uint32_t node);
uint32_t html_stack_find(const struct html_builder *builder, uint32_t node);
void html_open(struct html_builder *builder, const struct html_token *token); /* add, push */
/* An element without tag; added, or added and pushed. */
void html_add_implied(struct html_builder *builder, enum html_element element, uint32_t offset);
void html_open_implied(struct html_builder *builder, enum html_element element, uint32_t offset);

enum html_scope { SCOPE_DEFAULT, SCOPE_BUTTON, SCOPE_LIST_ITEM, SCOPE_TABLE };
/* Index of the innermost open `element` that is in scope, else HTML_NOT_OPEN. */
uint32_t html_in_scope(const struct html_builder *builder, enum html_element element,
                       enum html_scope scope);
bool html_is_scope_bound(const struct html_node *node);
bool html_is_integration_point(const struct html_builder *builder, const struct html_node *node);

void html_imply_ends(struct html_builder *builder, enum html_element except);
void html_close_paragraph(struct html_builder *builder);
void html_reset_mode(struct html_builder *builder);

/* ---- formatting ---- */

void html_format_push(struct html_builder *builder, uint32_t node);
void html_format_marker(struct html_builder *builder);
void html_format_clear(struct html_builder *builder); /* up to the last marker */
/* Index of the last such element since the last marker, else HTML_NOT_OPEN. */
uint32_t html_format_find(const struct html_builder *builder, enum html_element element);
void html_format_remove(struct html_builder *builder, uint32_t node); /* if there */
void html_reconstruct(struct html_builder *builder);
/* The end tag of a formatting element. False: it is as any other end tag. */
bool html_adopt(struct html_builder *builder, enum html_element element);

/* ---- insertion modes ---- */

/* False: the mode has changed, take the token again. */
typedef bool html_mode_function(struct html_builder *builder, struct html_token *token);
html_mode_function html_mode_in_head, html_mode_in_body;
/* Ends what is open before the body, and gives a document without one its html, head and body. */
void html_end_of_input(struct html_builder *builder, uint32_t offset);
/* Indexed by enum html_mode. */
extern html_mode_function *const html_modes[MODE_COUNT];
/* The modes of tables, in insertion_modes_table.c */
html_mode_function html_mode_in_table, html_mode_in_caption, html_mode_in_column_group,
    html_mode_in_table_body, html_mode_in_row, html_mode_in_cell;

/* Opens a text-only element, takes its text, closes it. */
void html_take_raw(struct html_builder *builder, const struct html_token *token);
bool html_is_blank(struct slice text);
/* Leading white space is kept as text; true: there was nothing else. */
bool html_take_blank(struct html_builder *builder, struct html_token *token);
/* The part of a table that `element` names: caption, col, colgroup, rows, cells. */
bool html_is_table_part(enum html_element element);
/* <input type=hidden> */
bool html_is_hidden(const struct html_builder *builder, const struct html_token *token);
/* Returns whether a document type asks for quirks
 * (https://html.spec.whatwg.org/#the-initial-insertion-mode). text: what stands after "<!DOCTYPE".
 * cut_off: the input ends in it. */
bool html_doctype_is_quirky(struct slice text, bool cut_off);

#endif
