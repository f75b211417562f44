/* Number of a term -> the term. Terms get their numbers in order and are never changed, so this
 * tree only grows at its end: blocks of a few KiB of terms, compressed. FORMAT.md, "Node blocks".
 *
 * Blocks that readers have unpacked are remembered for all of them (node_cache.h); one thread per
 * reader. Readers enter the latch themselves. */
#ifndef INDEX_TERMS_NODES_H
#define INDEX_TERMS_NODES_H

#include "base/arena.h"
#include "index/terms/oid.h"
#include "index/trees/environment.h"

struct nodes;

/* memory: bytes for blocks that readers have unpacked. */
enum status nodes_open(struct nodes **nodes, struct environment *environment, size_t memory,
                       struct reason *why);
void nodes_close(struct nodes *nodes);
/* The number the next term will get: 1 for an empty index. */
uint64_t nodes_next(const struct nodes *nodes);

/* Notes that what was appended so far is stored for good. Only the writer's thread may call it. */
void nodes_committed(struct nodes *nodes);
/* After a transaction was aborted. */
enum status nodes_reload(struct nodes *nodes, struct reason *why);

/* Appends terms with the numbers nodes_next() .. in order. Inside a transaction; the writer's
 * thread; enters the latch itself, and packs outside of it. term_at gives term i. */
typedef const struct term *nodes_term_at(void *context, size_t i);
enum status nodes_append(struct nodes *nodes, struct transaction *transaction,
                         nodes_term_at *term_at, void *context, size_t count, struct reason *why);

struct nodes_reader;
struct nodes_reader *nodes_reader_new(struct nodes *nodes);
void nodes_reader_free(struct nodes_reader *reader);
/* The term lives in the arena. LIMIT past the arena's maximum; CORRUPT when there is none. */
enum status nodes_resolve(struct nodes_reader *reader, oid id, struct arena *arena,
                          struct term *term, struct reason *why);

/* Visits stored terms with numbers from `first` on; the terms live until it returns. A status
 * other than OK ends the walk and is returned. */
typedef enum status nodes_visit(void *context, oid id, const struct term *term, struct reason *why);
enum status nodes_walk(struct nodes *nodes, uint64_t first, nodes_visit *visit, void *context,
                       struct reason *why);

#endif
