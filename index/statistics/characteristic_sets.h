/* The sets of predicates that subjects of a partition have, in memory and in the tree
 * "statistics": exact after every transaction. FORMAT.md, "Statistics".
 *
 * Bounded against data made to have ever new sets. A set of more than SET_PREDICATES_MOST
 * predicates is not held, its subjects are counted together as `large`. When SETS_MOST sets are
 * held, subjects with further ones are counted together as `other`; and while there are any of
 * these, no set comes in or goes out, so that each subject leaves where it was counted. A set
 * without subjects stays until room is needed.
 *
 * Threads: the writer changes, inside the latch of the statistics; any thread estimates. */
#ifndef INDEX_STATISTICS_CHARACTERISTIC_SETS_H
#define INDEX_STATISTICS_CHARACTERISTIC_SETS_H

#include "index/statistics/predicate_sets.h"
#include "index/trees/environment.h"

enum { SET_PREDICATES_MOST = 32, SETS_MOST = 16384 };

struct characteristic_sets;

enum status characteristic_sets_open(struct characteristic_sets **sets, struct tree *statistics,
                                     struct reason *why);
void characteristic_sets_close(struct characteristic_sets *sets);
/* After an aborted transaction: what the tree holds. */
enum status characteristic_sets_reload(struct characteristic_sets *sets, struct reason *why);

/* Adds the differences, here and in the tree. */
enum status characteristic_sets_apply(struct characteristic_sets *sets,
                                      struct transaction *transaction,
                                      const struct predicate_sets *differences, struct reason *why);

struct characteristic_totals {
    uint64_t sets, subjects; /* held; subjects of all sets, large and other ones among them */
    uint64_t large, other;   /* subjects */
};
void characteristic_sets_totals(struct characteristic_sets *sets,
                                struct characteristic_totals *totals);

/* quad_source.estimate_star. Subjects with large and other sets are taken to have their predicates
 * independently. Inside the latch, reading. */
enum status characteristic_sets_estimate(struct characteristic_sets *sets, const oid *predicates,
                                         size_t count, double *subjects, double *rows,
                                         struct reason *why);

/* A copy of the sets held that have subjects, as of one moment; release it. */
void characteristic_sets_copy(struct characteristic_sets *sets, struct predicate_sets *copy);
#endif
