/* Lists that are kept for nodes: of each listing apart, of one version, in little room. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

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

/* Keeps a list of so many counts for the node. */
static void
keep_long(struct node_lists *kept, oid node, size_t count)
{
    const struct node_listing listing = {.place = TRIPLE_SUBJECT};
    struct triple_count *counts = calloc(count + 1, sizeof *counts);
    for (size_t i = 0; i < count; i++) {
        counts[i] = (struct triple_count){node + i, i};
    }
    node_lists_keep(kept, 1, &listing, node, counts, count);
    free(counts);
}

/* Tells whether a list of exactly count counts is kept for the node. */
static bool
has_long(struct node_lists *kept, oid node, size_t count)
{
    bool known;
    size_t end;
    struct triple_count *counts = calloc(count + 1, sizeof *counts);
    struct list_recall asked = {.listing = {.place = TRIPLE_SUBJECT},
                                .nodes = &node,
                                .count = 1,
                                .most = count,
                                .known = &known,
                                .ends = &end,
                                .counts = counts};
    assert_int_equal(node_lists_recall(kept, 1, &asked), 1);
    assert_int_equal(end, known ? count : 0);
    for (size_t i = 0; i < end; i++) {
        assert_int_equal(counts[i].value, node + i);
        assert_int_equal(counts[i].triples, i);
    }
    free(counts);
    return known;
}

/* A table begins with 1024 places of 16 bytes, and is half full at most. */
static void
nodes_without_a_list_take_room_for_themselves(void **state)
{
    enum { TABLE = 1024 * 16 };
    (void)state;
    for (size_t bytes = TABLE - 1; bytes <= TABLE; bytes++) {
        struct node_lists *kept = node_lists_new(bytes);
        keep_long(kept, 1, 0);
        assert_int_equal(has_long(kept, 1, 0), bytes == TABLE);
        node_lists_free(kept);
    }
    /* The old table is there while the new one is filled. */
    for (size_t bytes = 3 * TABLE - 1; bytes <= 3 * TABLE; bytes++) {
        struct node_lists *kept = node_lists_new(bytes);
        for (oid node = 1; node <= 512; node++) {
            keep_long(kept, node, 0);
        }
        assert_true(has_long(kept, 1, 0) && has_long(kept, 512, 0));
        keep_long(kept, 513, 0);
        assert_int_equal(has_long(kept, 1, 0), bytes == 3 * TABLE);
        assert_int_equal(has_long(kept, 512, 0), bytes == 3 * TABLE);
        assert_true(has_long(kept, 513, 0));
        node_lists_free(kept);
    }
}

static void
lists_take_what_the_tables_leave(void **state)
{
    enum { TABLE = 1024 * 16 };
    (void)state;
    for (size_t bytes = TABLE + 15; bytes <= TABLE + 16; bytes++) {
        struct node_lists *kept = node_lists_new(bytes);
        keep_long(kept, 1, 1);
        assert_int_equal(has_long(kept, 1, 1), bytes == TABLE + 16);
        /* The next one finds no room, and has that of all others. */
        keep_long(kept, 2, 1);
        assert_false(has_long(kept, 1, 1));
        assert_int_equal(has_long(kept, 2, 1), bytes == TABLE + 16);
        node_lists_free(kept);
    }
    /* When two tables leave room for three counts, that is what there is. */
    struct node_lists *kept = node_lists_new(2 * TABLE + 3 * 16);
    const struct node_listing other = {.place = TRIPLE_OBJECT};
    node_lists_keep(kept, 1, &other, 1, NULL, 0);
    keep_long(kept, 1, 2);
    keep_long(kept, 2, 1);
    assert_true(has_long(kept, 1, 2) && has_long(kept, 2, 1));
    keep_long(kept, 3, 1);
    assert_false(has_long(kept, 1, 2) || has_long(kept, 2, 1));
    assert_true(has_long(kept, 3, 1));
    node_lists_free(kept);
}

/* A list has a sixteenth of all the room at most, else it is passed over, and harms no other. */
static void
long_lists_are_kept_among_short_ones(void **state)
{
    struct node_lists *kept = node_lists_new(ENOUGH);
    (void)state;
    keep_long(kept, 1, 3);
    keep_long(kept, 2, 4096);
    assert_true(has_long(kept, 1, 3) && has_long(kept, 2, 4096));
    keep_long(kept, 3, 4097);
    assert_false(has_long(kept, 3, 4097));
    assert_true(has_long(kept, 1, 3) && has_long(kept, 2, 4096));
    node_lists_free(kept);
    kept = node_lists_new(16 * ENOUGH);
    const size_t lengths[] = {1, 0, 5000, 20000, 7, 65536};
    for (size_t i = 0; i < 6; i++) {
        keep_long(kept, i + 1, lengths[i]);
        for (size_t k = 0; k <= i; k++) {
            assert_true(has_long(kept, k + 1, lengths[k]));
        }
    }
    node_lists_free(kept);
}

/* The thirty-third listing begins anew. */
static void
thirty_two_listings_stay(void **state)
{
    struct node_lists *kept = node_lists_new(ENOUGH);
    const struct triple_count count = {1, 1};
    const oid node = 5;
    (void)state;
    for (oid predicate = 1; predicate <= 33; predicate++) {
        const struct node_listing listing = {TRIPLE_OBJECT, predicate, TERM_NONE};
        node_lists_keep(kept, 1, &listing, node, &count, 1);
        for (oid before = 1; before <= predicate; before++) {
            struct list_recall asked = {.listing = {TRIPLE_OBJECT, before, TERM_NONE},
                                        .nodes = &node,
                                        .count = 1,
                                        .most = MOST,
                                        .known = got.known,
                                        .ends = got.ends,
                                        .counts = got.counts};
            assert_int_equal(node_lists_recall(kept, 1, &asked), 1);
            assert_int_equal(got.known[0], predicate <= 32 || before == predicate);
        }
    }
    node_lists_free(kept);
}

/* Of another version no list is known, whatever the caller's room had before. */
static void
another_version_has_no_list(void **state)
{
    const oid nodes[] = {3, 6, 7};
    (void)state;
    for (uint64_t version = 4; version <= 6; version++) {
        struct node_lists *kept = node_lists_new(ENOUGH);
        for (size_t i = 0; i < 3; i++) {
            keep(kept, 5, TRIPLE_SUBJECT, nodes[i]);
        }
        memset(&got, 0x7f, sizeof got);
        assert_int_equal(recall(kept, version, TRIPLE_SUBJECT, nodes, 3, MOST), 3);
        for (size_t i = 0; i < 3; i++) {
            const size_t ends[] = {3, 5, 8};
            assert_int_equal(got.known[i], version == 5);
            assert_int_equal(got.ends[i], version == 5 ? ends[i] : 0);
        }
        node_lists_free(kept);
    }
}

/* A list takes the place of a shorter one of its node, and harms no other's. */
static void
a_longer_list_takes_the_place_of_a_shorter_one(void **state)
{
    struct node_lists *kept = node_lists_new(ENOUGH);
    (void)state;
    for (size_t count = 0; count <= 40; count++) {
        keep_long(kept, 1, count);
        keep_long(kept, 2 + count, count);
        for (size_t before = 0; before <= count; before++) {
            assert_true(has_long(kept, 2 + before, before));
        }
        assert_true(has_long(kept, 1, count));
    }
    keep_long(kept, 1, 39); /* a shorter one does not */
    assert_true(has_long(kept, 1, 40));
    node_lists_free(kept);
}

/* Room for lists begins with 4096 counts, and ends where the bytes do. */
static void
the_last_count_is_used(void **state)
{
    enum { TABLE = 1024 * 16, COUNT = 16 };
    (void)state;
    for (size_t room = 4095; room <= 3 * 4096; room += room % 4096 == 4095 ? 1 : 4095) {
        struct node_lists *kept = node_lists_new(TABLE + room * COUNT);
        const size_t each = 64, lists = room / each;
        for (oid node = 1; node <= lists; node++) {
            keep_long(kept, node, each);
        }
        keep_long(kept, lists + 1, room % each);
        for (oid node = 1; node <= lists; node++) {
            assert_true(has_long(kept, node, each));
        }
        assert_true(has_long(kept, lists + 1, room % each));
        keep_long(kept, lists + 2, 1); /* which is one too many */
        assert_false(has_long(kept, 1, each));
        assert_true(has_long(kept, lists + 2, 1));
        node_lists_free(kept);
    }
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
        cmocka_unit_test(nodes_without_a_list_take_room_for_themselves),
        cmocka_unit_test(lists_take_what_the_tables_leave),
        cmocka_unit_test(long_lists_are_kept_among_short_ones),
        cmocka_unit_test(thirty_two_listings_stay),
        cmocka_unit_test(another_version_has_no_list),
        cmocka_unit_test(a_longer_list_takes_the_place_of_a_shorter_one),
        cmocka_unit_test(the_last_count_is_used),
        cmocka_unit_test(what_never_was_is_let_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
