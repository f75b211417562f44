/* Names of blank nodes in the index: docs/RDF.md, "Blank nodes". */
#ifndef CLI_IMPORT_NODE_NAMES_H
#define CLI_IMPORT_NODE_NAMES_H

#include <stdbool.h>

#include "base/slice.h"

/* Returns whether the label is one that the index gave to a node of this graph, as a dump has it:
 * then it means that node. */
bool node_name_is_given(struct slice label, struct slice graph);

#endif
