/* Lists that are kept for nodes: of each listing apart, of one version, in little room. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "index/statistics/node_lists.h"

enum { ENOUGH = 1 << 20, NODES = 4000, MOST = 64 };

static struct {
    bool known[MOST];
    size_t ends[MOST];
    struct triple_count counts[MOST];
} got;

static size_t
recall(struct node_lists *kept, uint64_t version, enum triple_place place, const oid *nodes,
       size_t count, size_t most)
{
    struct list_recall asked = {.listing = {.place = place},
                                .nodes = nodes,
                                .count = count,
                                .most = most,
                                .known = got.known,
                                .ends = got.ends,
                                .counts = got.counts};
    return node_lists_recall(kept, version, &asked);
}

/* Node n has n % 4 predicates. */
static void
keep(struct node_lists *kept, uint64_t version, enum triple_place place, oid node)
{
    const struct triple_count counts[3] = {{node + 1, 1}, {node + 2, 2}, {node + 3, 3}};
    const struct node_listing listing = {.place = place};
    node_lists_keep(kept, version, &listing, node, counts, node % 4);
}

static void
test_lists_come_back(void **state)
{
    struct node_lists *kept = node_lists_new(ENOUGH);
    (void)state;
    for (oid node = 1; node <= NODES; node++) {
        keep(kept, 1, TRIPLE_SUBJECT, node);
    }
    keep(kept, 1, TRIPLE_OBJECT, 7);
    const oid nodes[] = {6, NODES + 5, 4, 3};
    assert_int_equal(recall(kept, 1, TRIPLE_SUBJECT, nodes, 4, MOST), 4);
    const bool known[] = {true, false, true, true};
    const size_t ends[] = {2, 2, 2, 5};
    assert_memory_equal(got.known, known, sizeof known);
    assert_memory_equal(got.ends, ends, sizeof ends);
    const struct triple_count counts[] = {{7, 1}, {8, 2}, {4, 1}, {5, 2}, {6, 3}};
    assert_memory_equal(got.counts, counts, sizeof counts);
    assert_int_equal(recall(kept, 1, TRIPLE_OBJECT, nodes, 1, MOST), 1);
    assert_false(got.known[0]);
    node_lists_free(kept);
}

static void
test_lists_without_room_are_left_for_later(void **state)
{
    struct node_lists *kept = node_lists_new(ENOUGH);
    const oid nodes[] = {3, 4, 7, 2};
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        keep(kept, 1, TRIPLE_SUBJECT, nodes[i]);
    }
    assert_int_equal(recall(kept, 1, TRIPLE_SUBJECT, nodes, 4, 5), 2);
    assert_int_equal(recall(kept, 1, TRIPLE_SUBJECT, nodes + 2, 2, 2), 0);
    assert_int_equal(recall(kept, 1, TRIPLE_SUBJECT, nodes + 2, 2, 5), 2);
    node_lists_free(kept);
}

/* Node 4 has an empty list, until it has another. */
static void
test_a_list_takes_the_place_of_an_empty_one(void **state)
{
    struct node_lists *kept = node_lists_new(ENOUGH);
    const struct triple_count counts[2] = {{1, 1}, {2, 1}};
    const struct node_listing listing = {.place = TRIPLE_SUBJECT};
    const oid node = 4;
    (void)state;
    keep(kept, 1, TRIPLE_SUBJECT, node);
    node_lists_keep(kept, 1, &listing, node, counts, 2);
    keep(kept, 1, TRIPLE_SUBJECT, node);
    assert_int_equal(recall(kept, 1, TRIPLE_SUBJECT, &node, 1, MOST), 1);
    assert_true(got.known[0]);
    assert_int_equal(got.ends[0], 2);
    assert_memory_equal(got.counts, counts, sizeof counts);
    node_lists_free(kept);
}

static void
test_a_version_has_its_own(void **state)
{
    struct node_lists *kept = node_lists_new(ENOUGH);
    const oid nodes[] = {3, 6};
    (void)state;
    keep(kept, 5, TRIPLE_SUBJECT, 3);
    assert_int_equal(recall(kept, 6, TRIPLE_SUBJECT, nodes, 2, MOST), 2);
    assert_false(got.known[0]);
    keep(kept, 6, TRIPLE_SUBJECT, 6);
    keep(kept, 5, TRIPLE_SUBJECT, 3); /* of a reader that began before */
    assert_int_equal(recall(kept, 6, TRIPLE_SUBJECT, nodes, 2, MOST), 2);
    assert_false(got.known[0]);
    assert_true(got.known[1]);
    assert_int_equal(recall(kept, 5, TRIPLE_SUBJECT, nodes, 2, MOST), 2);
    assert_false(got.known[0] || got.known[1]);
    node_lists_free(kept);
}

/* A listing has lists of its own; of more than there is room for all are forgotten. */
static void
test_listings_are_told_apart(void **state)
{
    enum { LISTINGS = 32 };
    struct node_lists *kept = node_lists_new(ENOUGH);
    const oid node = 5;
    (void)state;
    for (oid predicate = 0; predicate <= LISTINGS; predicate++) {
        const struct node_listing listings[] = {
            {TRIPLE_SUBJECT, predicate, predicate % 2 ? TERM_NONE : TERM_LITERAL},
            {TRIPLE_SUBJECT, predicate, predicate % 2 ? TERM_IRI : TERM_NONE}};
        const struct triple_count count = {predicate + 1, 1};
        node_lists_keep(kept, 1, &listings[0], node, &count, 1);
        for (size_t i = 0; i < 2; i++) {
            struct list_recall asked = {.listing = listings[i],
                                        .nodes = &node,
                                        .count = 1,
                                        .most = MOST,
                                        .known = got.known,
                                        .ends = got.ends,
                                        .counts = got.counts};
            assert_int_equal(node_lists_recall(kept, 1, &asked), 1);
            assert_int_equal(got.known[0], i == 0);
            assert_true(i > 0 || got.counts[0].value == predicate + 1);
        }
        assert_int_equal(recall(kept, 1, TRIPLE_OBJECT, &node, 1, MOST), 1);
        assert_false(got.known[0]);
    }
    struct list_recall first = {.listing = {TRIPLE_SUBJECT, 0, TERM_LITERAL},
                                .nodes = &node,
                                .count = 1,
                                .most = MOST,
                                .known = got.known,
                                .ends = got.ends,
                                .counts = got.counts};
    assert_int_equal(node_lists_recall(kept, 1, &first), 1);
    assert_false(got.known[0]);
    node_lists_free(kept);
}

/* The latest is always there, others as far as there is room. */
static void
test_little_room(void **state)
{
    struct node_lists *kept = node_lists_new(128 << 10);
    size_t found = 0;
    (void)state;
    for (oid node = 1; node <= NODES; node++) {
        keep(kept, 1, TRIPLE_SUBJECT, node);
        assert_int_equal(recall(kept, 1, TRIPLE_SUBJECT, &node, 1, MOST), 1);
        assert_true(got.known[0]);
        assert_int_equal(got.ends[0], node % 4);
    }
    for (oid node = 1; node <= NODES; node++) {
        assert_int_equal(recall(kept, 1, TRIPLE_SUBJECT, &node, 1, MOST), 1);
        found += got.known[0];
    }
    assert_in_range(found, 1, NODES - 1);
    node_lists_free(kept);
    kept = node_lists_new(0);
    keep(kept, 1, TRIPLE_SUBJECT, 4);
    const oid node = 4;
    assert_int_equal(recall(kept, 1, TRIPLE_SUBJECT, &node, 1, MOST), 1);
    assert_false(got.known[0]);
    node_lists_free(kept);
}

/* Who gives back what he never had does no harm. */
static void
what_never_was_is_let_go(void **state)
{
    (void)state;
    node_lists_free(NULL);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lists_come_back),
        cmocka_unit_test(test_lists_without_room_are_left_for_later),
        cmocka_unit_test(test_a_list_takes_the_place_of_an_empty_one),
        cmocka_unit_test(test_a_version_has_its_own),
        cmocka_unit_test(test_listings_are_told_apart),
        cmocka_unit_test(test_little_room),
        cmocka_unit_test(what_never_was_is_let_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
