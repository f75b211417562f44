/* Gives the blank nodes of graphs in memory their names: import_nodes.h. One thread. */
#ifndef CLI_IMPORT_NODE_NAMING_H
#define CLI_IMPORT_NODE_NAMING_H

#include "cli/import/import_nodes.h"

struct node_naming;
/* The options and the sink must outlive it. */
struct node_naming *node_naming_new(const struct import_nodes_options *options,
                                    const struct quad_sink *sink);
void node_naming_free(struct node_naming *naming);

/* All quads with blank nodes of graphs that share such. They are changed. */
enum status node_naming_group(struct node_naming *naming, struct graph *quads, struct reason *why);
/* Names whole components of blank nodes when there are too many for memory; what the index has is
 * not asked. */
enum status node_naming_components(struct node_naming *naming, struct graph *quads,
                                   struct reason *why);
/* A quad that no name can be made for. */
enum status node_naming_leave(struct node_naming *naming, const struct quad *quad,
                              struct reason *why);
uint64_t node_naming_left(const struct node_naming *naming);

/* A blank node with a name that it keeps stands for an IRI while others are named. */
enum { NODE_KEPT_SIZE = 4096 + 64 };
bool node_keep(struct term *term, char memory[NODE_KEPT_SIZE]);

#endif
