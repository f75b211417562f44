/* Tells which blank nodes of a dataset hang together, in bounded memory.
 *
 * Blank nodes are 64-bit hashes of their labels; two labels of one hash only bring together what
 * need not be. Edges join two of them. As many edges as memory holds nodes for are taken into a
 * union-find forest at a time; the other edges, and the records that name nodes, are rewritten
 * through it, and the next round takes edges between what is left. Rounds: about edges / memory. */
#ifndef DUMPS_COMPONENTS_H
#define DUMPS_COMPONENTS_H

#include "dumps/spool.h"

struct components;

/* memory: bytes of the forest. */
struct components *components_new(struct spool_room *room, size_t memory);
void components_free(struct components *components);

/* Thread-safe, as nothing else here is. */
enum status components_join(struct components *components, uint64_t a, uint64_t b,
                            struct reason *why);
/* The next round: takes edges into the forest. *last: none are left. */
enum status components_round(struct components *components, bool *last, struct reason *why);
/* After a round: what stands for the node. Rounds must be applied one after the other. */
uint64_t components_find(const struct components *components, uint64_t node);

#endif
