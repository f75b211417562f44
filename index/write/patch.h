/* Changes to single graphs that do not come from a crawl: SPARQL updates, imports.
 *
 * A request is handed from the service's thread to the writer through a patch_queue; the writer
 * turns it into documents of a batch of its own, whose graphs are what they were with some quads
 * removed and others added, commits, and hands the outcome back. PROTOCOL.md, verb CHANGE.
 *
 * A graph keeps the generation that it had: the next crawl that finds a document of that name
 * changed replaces what an update made of it. A graph that was not there gets generation 0.
 */
#ifndef INDEX_WRITE_PATCH_H
#define INDEX_WRITE_PATCH_H

#include "base/rpc/rpc.h"
#include "index/write/partition.h"

enum patch_kind {
    PATCH_QUADS = 1,         /* graphs, each with quads to remove and to add: one transaction */
    PATCH_CLEAR = 2,         /* graphs to be emptied: one transaction */
    PATCH_CLEAR_ALL_BUT = 3, /* all graphs except the one named, if any: many transactions */
    PATCH_PACKED = 4,        /* quads to add, packed_quads.h: one transaction */
    PATCH_MANY = 5,          /* the same, but they may wait: index_batch_stage */
    PATCH_BRING_IN = 6       /* quads that wait */
};

struct patch {
    struct rpc_request request;
    enum status status;
    struct reason why;
    uint64_t added, removed; /* quads that made a difference */
    size_t first, count;     /* private: its documents in the batch */
    struct patch *next;
};

struct patch_queue;
/* finished: an eventfd that is written when a patch was carried out. */
struct patch_queue *patch_queue_new(int finished);
/* Patches not yet taken by the service are dropped. */
void patch_queue_free(struct patch_queue *queue);

/* ---- the service's thread ---- */

void patch_queue_add(struct patch_queue *queue, const struct rpc_request *request);
/* A list of those carried out; free each. */
struct patch *patch_queue_take(struct patch_queue *queue);

/* ---- the writer ---- */

/* Readable while there is something to carry out. */
int patch_queue_descriptor(const struct patch_queue *queue);
/* Carries out all that wait, as many as `memory` bytes of batch take in one transaction. The
 * caller's own batch should be committed before, else what it holds for the same graph overwrites
 * the patch. OK, or a failure after which the process must start again; the patches' own failures
 * are theirs. */
enum status patch_queue_work(struct patch_queue *queue, struct partition *partition, size_t memory,
                             struct reason *why);

/* Hands back all that wait with this failure. */
void patch_queue_refuse(struct patch_queue *queue, enum status status, const struct reason *why);

#endif
