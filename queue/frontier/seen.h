/* `seen` holds what is known of URIs by fingerprint: smallest depth, generation, flags.
 *
 * A round works in four steps: seen_want() for every URI of the round; seen_load() reads those
 * that memory does not have, in key order; then entries are looked up and changed freely; and
 * seen_write() adds the changed ones to the batch. seen_settle() ends the round: after a commit
 * the entries go into a cache of fixed size (direct-mapped: a URI met often stays, Heydon and
 * Najork 1999), otherwise they are forgotten.
 */
#ifndef QUEUE_FRONTIER_SEEN_H
#define QUEUE_FRONTIER_SEEN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/digest.h"
#include "queue/storage/frontier_engine.h"
#include "queue/storage/store_batch.h"

enum seen_flags {
    SEEN_FETCHED = 1,   /* some generation was fetched */
    SEEN_WAITING = 2,   /* the present generation waits to be fetched */
    SEEN_SCHEDULED = 4, /* that wait began as a recrawl at a later time */
    SEEN_LISTED = 32    /* its job is in the class of sitemaps; with a place only */
};
/* These stand in records only, beside the flags, and say what follows them. */
enum seen_extras { SEEN_HAS_DOMAINS = 8, SEEN_HAS_PLACE = 16, SEEN_EXTRAS = 24 };

struct seen_entry {
    uint8_t fingerprint[FINGERPRINT_SIZE];
    uint64_t generation;
    uint16_t depth;
    uint8_t flags;
    uint8_t rank;     /* WAITING: of the job in its class; 0: its place is not known */
    uint16_t domains; /* registrable domains that link to it, a bit each by fingerprint */
    uint64_t job;     /* with rank: its id */
    bool exists, changed;
    uint32_t next; /* private: same hash */
};

struct seen;

/* tree TREE_COUNT: nothing is stored, the cache is all there is. */
struct seen *seen_new(enum store_tree tree, size_t cache_bytes);
void seen_free(struct seen *seen);

void seen_want(struct seen *seen, const uint8_t fingerprint[FINGERPRINT_SIZE]);
enum status seen_load(struct seen *seen, struct frontier *frontier, struct reason *why);
/* A wanted URI's entry; to be changed in place (set `changed`). Lives until the next want. */
struct seen_entry *seen_entry(struct seen *seen, const uint8_t fingerprint[FINGERPRINT_SIZE]);
void seen_write(struct seen *seen, struct store_batch *batch);
void seen_settle(struct seen *seen, bool committed);

/* The effects of putting a URI, by PROTOCOL.md "Seen": bits. Changes the entry. */
enum seen_action {
    SEEN_QUEUE = 1,  /* fetch it, with the entry's generation and depth */
    SEEN_REVISIT = 2 /* its links are to be read again with the entry's depth */
};
enum seen_again {
    SEEN_NOT_AGAIN, /* only when it is new */
    SEEN_AGAIN, /* a recrawl now: also when one is scheduled, which then finds itself too late */
    SEEN_LATER  /* a recrawl in the future */
};
unsigned seen_put(struct seen_entry *entry, uint16_t depth, enum seen_again again);
/* The document came otherwise than by a fetch: it takes the next generation. A fetch that is under
 * way keeps its own, older one. */
void seen_came(struct seen_entry *entry, uint16_t depth);
/* The job of that generation was fetched. The result is how much smaller the depth is now. */
uint16_t seen_fetched(struct seen_entry *entry, uint64_t generation, uint16_t depth);

void seen_entry_encode(struct buf *out, const struct seen_entry *entry);
bool seen_entry_decode(struct slice bytes, struct seen_entry *entry);

#endif
