/* Counts over a whole index that is written to meanwhile: what verify compares.
 *
 * An index is gone through a few blocks at a time; what a batch changes in parts that were seen
 * already is added to and taken from the counts before the next step. So at any time the counts are
 * exactly those of the parts seen, as of the snapshot `at`, and in the end those of all, as of one
 * commit, however long it took and however much was written. The memory needed is that of the
 * predicates, classes, hosts, sets of predicates, and the changes of one step. */
#ifndef INDEX_MAINTENANCE_VERIFY_ROLLING_H
#define INDEX_MAINTENANCE_VERIFY_ROLLING_H

#include "base/map.h"
#include "index/write/partition_state.h"

/* Identifiers with counts. Zeros: an empty one. */
struct tally {
    struct map places; /* in counts, by identifier */
    int64_t *counts;
    size_t capacity;
};
int64_t tally_count(const struct tally *tally, oid id);

struct rolling {
    struct partition *partition;
    struct partition_reader *reader; /* at a held snapshot */
    struct rolling_tree {
        struct row next; /* rows before it are counted */
        uint64_t count, sums[2];
    } trees[ORDER_COUNT];
    oid next_graph; /* documents before it are counted */
    uint64_t documents, document_quads;
    oid type;                         /* rdf:type, once it is stored */
    struct tally predicates, classes; /* of rows counted in POCS */
    struct census census;             /* of documents counted, and their subjects */
    struct arena arena;
    struct row_vector rows; /* that were read last */
    struct quad_change *changes;
    size_t change_capacity;
};

enum status rolling_open(struct rolling *rolling, struct partition *partition, struct reason *why);
void rolling_close(struct rolling *rolling);
/* Takes in the changes and locks the partition's writer; long changes are taken in before it waits.
 * The writer is locked whatever the status is. */
enum status rolling_lock(struct rolling *rolling, struct reason *why);
/* Counts a few blocks more, as of the newest commit; *end when the tree has no more. */
enum status rolling_step(struct rolling *rolling, enum quad_order order, bool *end,
                         struct reason *why);
/* Counts a document that was not: the graphs up to and with it are counted now. */
enum status rolling_document(struct rolling *rolling, oid graph, const struct document_entry *entry,
                             struct reason *why);
/* Counts the subjects of that document, as of the same commit. */
enum status rolling_subjects(struct rolling *rolling, oid graph, struct reason *why);

#endif
