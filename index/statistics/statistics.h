/* The counts of a partition: the tree "statistics". FORMAT.md. Exact after every transaction.
 * Writers call inside a transaction and the tree's latch, readers inside the latch. */
#ifndef INDEX_STATISTICS_STATISTICS_H
#define INDEX_STATISTICS_STATISTICS_H

#include "index/quads/change_set.h"
#include "index/statistics/census.h"
#include "index/statistics/characteristic_sets.h"

struct totals {
    uint64_t quads, documents, literals, batches;
    uint64_t terms; /* not stored: the lexicon knows */
};

/* Writes or checks the format's number. UNSUPPORTED when the files are of another version. */
enum status statistics_open(struct tree *statistics, struct environment *environment,
                            struct totals *totals, struct reason *why);
/* Reads the totals as they are stored, without the number of terms; all are 0 before the first
 * batch. */
enum status statistics_totals(struct tree *statistics, struct totals *totals, struct reason *why);

enum status statistics_put_totals(struct tree *statistics, struct transaction *transaction,
                                  const struct totals *totals, struct reason *why);

/* The changes of the counts that a batch makes. */
struct statistics_change {
    const struct change_set *set;
    const struct census *census;
    oid type; /* rdf:type, or OID_NONE */
    const struct totals *totals;
};
/* Brings all counts up to date with the change, and writes totals. */
enum status statistics_apply(struct tree *statistics, struct transaction *transaction,
                             const struct statistics_change *change, struct reason *why);

enum statistic {
    STATISTIC_PREDICATE = 'P',
    STATISTIC_CLASS = 'C',
    STATISTIC_HOST = 'H',
    STATISTIC_SET = 'S'
};
struct statistic_count {
    uint64_t quads;
    uint64_t subjects; /* of a predicate: pairs of document and subject that have it; else 0 */
};
/* Reads the count of a predicate or class; 0 when nothing is counted. */
enum status statistics_count(struct tree *statistics, enum statistic kind, oid id,
                             struct statistic_count *count, struct reason *why);
/* The next counted predicate or class after *id (OID_NONE: the first); END. */
enum status statistics_next(struct tree *statistics, enum statistic kind, oid *id,
                            struct statistic_count *count, struct reason *why);

struct host_entry {
    uint8_t name[HOST_MAXIMUM];
    size_t length; /* 0: URIs without a host */
    uint64_t documents, quads;
};
/* The next host in byte order after the entry's name; first: at the beginning. END. */
enum status statistics_next_host(struct tree *statistics, bool first, struct host_entry *entry,
                                 struct reason *why);

/* Numbers one after the other as varints; CORRUPT unless there are n of them. */
enum { STATISTIC_KEY_SIZE = 9, STATISTIC_NUMBERS_MOST = 8 };
struct slice statistic_key(enum statistic kind, uint64_t id, uint8_t key[STATISTIC_KEY_SIZE]);
enum status statistics_read(struct tree *statistics, struct slice key, uint64_t *numbers, size_t n,
                            struct reason *why);
enum status statistics_write(struct tree *statistics, struct transaction *transaction,
                             struct slice key, const uint64_t *numbers, size_t n,
                             struct reason *why);

#endif
