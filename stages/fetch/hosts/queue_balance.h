/* Remembers what was fetched of a host of late, for the balance of its two queues:
 * docs/SITEMAPS.md. */
#ifndef STAGES_FETCH_HOSTS_QUEUE_BALANCE_H
#define STAGES_FETCH_HOSTS_QUEUE_BALANCE_H

#include <stdbool.h>

#include "datasets/sitemap_score.h"
#include "metastore/record.h"
#include "rdf/canonical/minhash.h"

enum { BALANCE_SAMPLE = 16, BALANCE_SKETCHES = 32 };
enum balance_kind { BALANCE_SITEMAP, BALANCE_LINK, BALANCE_KINDS };

/* The last documents of an epoch. */
struct balance_sample {
    char *uris[BALANCE_SAMPLE]; /* a ring: the next goes to count % size */
    unsigned count;
};

struct balance {
    struct queue_balance queues;
    unsigned fetched, size;                      /* in this epoch; of a sample */
    struct balance_sample now[BALANCE_KINDS];    /* of this epoch */
    struct balance_sample before[BALANCE_KINDS]; /* of the one before: looked at when this ends */
    struct minhash minhashes[BALANCE_SKETCHES];  /* of documents that were looked at */
    unsigned minhash_count;
    uint64_t sampled[BALANCE_KINDS], useful[BALANCE_KINDS]; /* as the host's record has it */
    bool known;                                             /* the record was read */
    bool pending;                                           /* there is something to be told */
};

struct balance *balance_new(unsigned epoch);
void balance_free(struct balance *balance); /* NULL is allowed */
/* A document was fetched. True: this ended an epoch, and `before` may be looked at. */
bool balance_note(struct balance *balance, enum balance_kind kind, struct slice uri);
/* The samples of this epoch are those to be looked at at the end of the next. */
void balance_next_epoch(struct balance *balance);
/* Counts what became of the documents of `before`, of each kind, in that order. host is the record
 * of the host. */
void balance_look(struct balance *balance, struct slice host, const struct slice *records,
                  const unsigned counts[BALANCE_KINDS]);

#endif
