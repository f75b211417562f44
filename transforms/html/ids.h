/* Tells which element of a page bears an id. Built when the first one is asked for; what is in
 * templates has none. Lives in the tree's arena. */
#ifndef TRANSFORMS_HTML_IDS_H
#define TRANSFORMS_HTML_IDS_H

#include "transforms/html/html.h"

struct html_id {
    struct slice text;
    uint32_t node;
};

struct html_ids {
    bool built;
    uint32_t count;
    struct html_id *ids; /* by text, node */
};

/* The first element with the id; 0: none, or the arena is full. ids: zeroed before the first call.
 */
uint32_t html_node_of_id(const struct html_tree *tree, struct html_ids *ids, struct slice id);

#endif
