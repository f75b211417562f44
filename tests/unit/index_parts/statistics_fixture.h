/* The tree "statistics" for tests of its records (index/statistics/): anew for each test. */
#ifndef TESTS_UNIT_INDEX_PARTS_STATISTICS_FIXTURE_H
#define TESTS_UNIT_INDEX_PARTS_STATISTICS_FIXTURE_H

#include "tests/unit/index_trees/trees_fixture.h"

#include "index/statistics/statistics.h"

static struct tree *tree;

static inline int
open_tree(void **state)
{
    if (set_up(state) != 0) {
        return -1;
    }
    tree = tree_named("statistics");
    return 0;
}

static inline int
close_tree(void **state)
{
    tree_close(tree);
    return tear_down(state);
}

static inline oid
predicate(unsigned number)
{
    return oid_stored(number, OID_KIND_IRI);
}

static inline void
put_bytes(struct slice key, const void *value, size_t length)
{
    struct transaction *transaction = begun();
    must(tree_put(tree, transaction, key, slice_of(value, length), &why), &why);
    must(transaction_commit(transaction, &why), &why);
}

static inline void
remove_key(struct slice key)
{
    struct transaction *transaction = begun();
    must(tree_delete(tree, transaction, key, &why), &why);
    must(transaction_commit(transaction, &why), &why);
}

#endif
