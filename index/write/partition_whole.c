/* A tree whose file was removed, or lost by the file system, is made anew when it is opened, and
 * queries would miss what was in it without a word. So a partition that has quads does not start
 * when a tree that holds something of every quad has nothing in it; without another order than CSPO
 * it starts for a dump, which is all that can be read then. The keyword index is not looked at: it
 * may be removed, and is made anew from the terms. */
#include "base/system/log.h"
#include "index/write/partition_state.h"

static enum status
check_tree(const struct partition *partition, struct tree *tree, struct reason *why)
{
    struct reason ignored;
    bool empty = false;
    /* What cannot be read is there; whoever needs it is told. */
    const enum status status = tree_is_empty(tree, &empty, &ignored);
    if (status != STATUS_OK || !empty) {
        return STATUS_OK;
    }
    return status_fail(why, STATUS_CORRUPT,
                       "%s: the file of %s is missing or has lost what was in it (%llu quads are "
                       "known)",
                       partition->folder, tree_name(tree),
                       (unsigned long long)partition->totals.quads);
}

/* The orders that a dump does not read. They may be empty while changes are gathered for them. */
static void
check_orders(const struct partition *partition)
{
    struct reason why;
    for (enum quad_order order = 0; order < ORDER_COUNT && partition->gathered.from == 0; order++) {
        if (order != ORDER_CSPO &&
            check_tree(partition, quads_tree(partition->quads, order), &why) != STATUS_OK) {
            log_error("tree_missing", "why=%s", why.text);
            snapshots_set_missing(partition->snapshots, &why);
        }
    }
}

enum status
partition_check_whole(const struct partition *partition, struct reason *why)
{
    bool empty = true;
    if (partition->totals.quads == 0) {
        TRY(tree_is_empty(quads_tree(partition->quads, ORDER_CSPO), &empty, why));
        return empty || partition->totals.batches > 0
                   ? STATUS_OK
                   : status_fail(why, STATUS_CORRUPT,
                                 "%s: the file of statistics is missing or has lost what was in it",
                                 partition->folder);
    }
    TRY(check_tree(partition, partition->documents, why));
    TRY(check_tree(partition, lexicon_terms(partition->lexicon), why));
    TRY(check_tree(partition, quads_tree(partition->quads, ORDER_CSPO), why));
    check_orders(partition);
    return partition->totals.terms > 0
               ? STATUS_OK
               : status_fail(why, STATUS_CORRUPT,
                             "%s: the file of nodes is missing or has lost what was in it",
                             partition->folder);
}
