/* What the index remembers of each document, and the counts of the whole partition: the trees
 * "documents" and "statistics". FORMAT.md. Writers call inside a transaction and the gate,
 * readers inside the gate. */
#ifndef INDEX_DOCUMENTS_H
#define INDEX_DOCUMENTS_H

#include "base/digest.h"
#include "index/changes.h"
#include "index/environment.h"

struct document_entry {
    uint64_t generation;
    uint64_t quads;
    uint64_t indexed_ms;                /* wall time of the batch that last changed it */
    bool removed;                       /* its graph was emptied because the document is gone */
    bool linked_data;                   /* it came in an RDF syntax */
    bool patched;                       /* an import or update made it what it is: no digest */
    uint8_t digest[DIGEST_SHA256_SIZE]; /* of the sorted canonical N-Quads */
};

/* NOT_FOUND when the graph is none of ours. */
enum status documents_get(struct tree *documents, oid graph, struct document_entry *entry,
                          struct reason *why);
enum status documents_put(struct tree *documents, struct transaction *transaction, oid graph,
                          const struct document_entry *entry, struct reason *why);
/* The document with the least graph identifier not before *graph; END when there is none. */
enum status documents_next(struct tree *documents, oid *graph, struct document_entry *entry,
                           struct reason *why);

struct totals {
    uint64_t quads, documents, literals, batches;
    uint64_t terms; /* not stored: the lexicon knows */
};

/* Writes or checks the format's number. UNSUPPORTED when the files are of another version. */
enum status statistics_open(struct tree *statistics, struct environment *environment,
                            struct totals *totals, struct reason *why);
/* As stored, without terms; all 0 before the first batch. */
enum status statistics_totals(struct tree *statistics, struct totals *totals, struct reason *why);
/* Brings counts per predicate and per class up to date with the changes, and writes totals.
 * type: the identifier of rdf:type, or OID_NONE. */
enum status statistics_apply(struct tree *statistics, struct transaction *transaction,
                             const struct change_set *set, oid type, const struct totals *totals,
                             struct reason *why);
enum statistic { STATISTIC_PREDICATE = 'P', STATISTIC_CLASS = 'C' };
/* 0 when nothing is counted. */
enum status statistics_count(struct tree *statistics, enum statistic kind, oid id, uint64_t *count,
                             struct reason *why);
/* The next counted identifier of a kind after *id (OID_NONE: the first); END. */
enum status statistics_next(struct tree *statistics, enum statistic kind, oid *id, uint64_t *count,
                            struct reason *why);

#endif
