/* The paces of hosts and the troubles of addresses that the queue has in memory: a table of so many
 * places, in which who comes later takes over the place of whoever was not looked for the longest.
 * The rows of lanes have what is forgotten of hosts; of addresses it is learned anew. One thread.
 */
#ifndef QUEUE_POLITENESS_PACES_H
#define QUEUE_POLITENESS_PACES_H

#include "queue/politeness/pace.h"

struct known_pace {
    uint64_t of;         /* lane, or address (of which only its troubles are known) */
    uint64_t looked;     /* when it was looked for: for the table itself */
    struct pace pace;    /* now */
    struct pace written; /* as the row of the lane has it */
};

struct paces;

struct paces *paces_new(size_t places);
void paces_free(struct paces *paces); /* NULL is allowed */
/* NULL: it is not here. of: not 0. Valid until the next paces_add. */
struct known_pace *paces_find(struct paces *paces, uint64_t of);
/* Its place; emptied, when it was not here. */
struct known_pace *paces_add(struct paces *paces, uint64_t of);
/* Forgets all. */
void paces_clear(struct paces *paces);

#endif
