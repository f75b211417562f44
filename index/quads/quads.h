/* Six B+trees over quads of identifiers: any of the 16 patterns is one prefix scan of one tree.
 *
 * Writing: quads_apply brings a change set into the trees inside a transaction. Adding what is
 * there and removing what is not are errors of the caller that are counted, not harm.
 * Reading: a quads_scan sees one snapshot; it holds its tree's latch only inside calls. One thread
 * per scan, any number of scans.
 */
#ifndef INDEX_QUADS_QUADS_H
#define INDEX_QUADS_QUADS_H

#include "index/quads/recent_blocks.h"

struct quads;

enum status quads_open(struct quads **quads, struct environment *environment, struct reason *why);
void quads_close(struct quads *quads);

/* The writer's thread; enters and leaves the latches itself. build_from: trees of which most blocks
 * change are built anew when there are so many changes (0: never). */
enum status quads_apply(struct quads *quads, struct transaction *transaction,
                        const struct change_set *set, size_t build_from, struct reason *why);
/* Bring a set into CSPO alone, and, in steps, into the five others, the set's changes being those
 * that were gathered. Where the progress stands, {0} at first, must be kept as of the last commit.
 */
enum status quads_apply_graphs(struct quads *quads, struct transaction *transaction,
                               const struct change_set *set, struct reason *why);
struct quads_progress {
    enum quad_order order;
    size_t next; /* change */
};
enum status quads_flush(struct quads *quads, struct transaction *transaction,
                        const struct change_set *set, struct quads_progress *progress, size_t most,
                        bool *end, struct reason *why);
/* Blocks of a tree, about. */
uint64_t quads_blocks(struct quads *quads);
/* The writer's own view, of CSPO alone, without a snapshot: rows with the first `bound` places of
 * prefix. */
enum status quads_read(struct quads *quads, enum quad_order order, const struct row *prefix,
                       unsigned bound, struct row_vector *rows, struct reason *why);

/* The writer's own view: of rows, which ascend, those that are in the tree stay. */
enum status quads_keep_present(struct quads *quads, enum quad_order order, struct row_vector *rows,
                               struct reason *why);

/* Returns whether the order begins with the places bound in pattern; *bound gets their number. */
bool quads_order_serves(const struct quad_oids *pattern, enum quad_order order, unsigned *bound);
/* The order whose first places are those bound in pattern; *bound gets their number. */
enum quad_order quads_order_for(const struct quad_oids *pattern, unsigned *bound);

struct quads_scan;
enum status quads_scan_open(struct quads_scan **scan, struct quads *quads,
                            struct snapshot *snapshot, const struct quad_oids *pattern,
                            enum quad_order order, struct reason *why);
/* Has a scan that has not begun remember blocks; recent is of its thread and lives as long. */
void quads_scan_remember(struct quads_scan *scan, struct recent_blocks *recent);
/* Up to `most` quads; *n = 0 at the end. */
enum status quads_scan_next(struct quads_scan *scan, struct quad_oids *quads, size_t most,
                            size_t *n, struct reason *why);
/* Begins anew for another pattern with the same places bound. */
void quads_scan_again(struct quads_scan *scan, const struct quad_oids *pattern);
/* Goes on with the rows from `quad` on, in the order of the scan; not back. */
void quads_scan_skip(struct quads_scan *scan, const struct quad_oids *quad);
/* Ends a scan that has not begun before the rows from `quad` on. */
void quads_scan_until(struct quads_scan *scan, const struct quad_oids *quad);
void quads_scan_close(struct quads_scan *scan);

/* Cuts the rows of a pattern into ranges, as quad_source.h says. */
enum status quads_divide(struct quads *quads, const struct quad_oids *pattern,
                         enum quad_order order, struct quad_cuts *cuts, struct reason *why);

/* Rows that match about; total: quads in the index. Counts exactly up to a few blocks. */
enum status quads_estimate(struct quads *quads, struct snapshot *snapshot,
                           const struct quad_oids *pattern, uint64_t total, uint64_t *rows,
                           struct reason *why);

/* One bounded step of merging thinly filled blocks from *length bytes of key on (none: the start);
 * key = where to go on. The writer, inside the tree's latch. */
enum status quads_merge_step(struct quads *quads, enum quad_order order,
                             struct transaction *transaction, uint8_t key[TREE_KEY_MAXIMUM],
                             size_t *length, bool *end, struct reason *why);

/* Reads, for verify, the rows of a few blocks from *next on, as the snapshot has them, after checks
 * of the blocks themselves; *next: where to go on, its first place UINT64_MAX past the last row. */
enum status quads_check(struct quads *quads, enum quad_order order, struct snapshot *snapshot,
                        struct row *next, struct row_vector *rows, struct reason *why);
struct tree *quads_tree(const struct quads *quads, enum quad_order order);
const char *quads_tree_name(const struct quads *quads, enum quad_order order);

#endif
