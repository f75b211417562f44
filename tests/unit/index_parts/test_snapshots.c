/* Snapshots (index/quads/snapshot.c) with changes that are gathered, beside a model: batches that
 * come and are taken back, readers that stay, hold on and end, under several bounds of memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "index/quads/snapshot.h"
#include "tests/unit/memory_in_use.h"

enum { QUADS = 24, VERSIONS_MOST = 400, READERS = 12, ROUNDS = 120, STEPS = 150 };

/* A state is a bit for each quad. */
static uint32_t states[VERSIONS_MOST];
static size_t set_bytes[VERSIONS_MOST]; /* of the set that leads to the version */
static struct reader {
    struct snapshot *snapshot;
    uint64_t version;
    bool held, ended;
} readers[READERS];
static struct snapshots *snapshots;
static uint64_t committed;
static size_t memory;
static bool gathers, published;
static uint32_t graphs, others; /* what is in CSPO, and in the other trees */
static bool flushing;
static uint64_t from_all, from_rest; /* the first batch gathered; after what is brought in */
static uint64_t from_before;         /* from_rest without the batch that is published */
static uint32_t flush_to;            /* the state of which all is being brought in */
static uint64_t chance;
static struct reason why;

static uint64_t
next_chance(uint64_t below)
{
    chance = chance * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (chance >> 33) % below;
}

static struct quad_oids
quad_of(unsigned number)
{
    return (struct quad_oids){1 + number % 2, 1 + number / 2 % 3, 1 + number / 6 % 2,
                              1 + number / 12};
}

static struct change_set *
difference(uint32_t old, uint32_t new)
{
    struct quad_change *changes = memory_zero(QUADS, sizeof *changes);
    size_t count = 0;
    for (oid graph = 1; graph <= 2; graph++) {
        for (oid subject = 1; subject <= 2; subject++) {
            for (oid predicate = 1; predicate <= 3; predicate++) {
                for (oid object = 1; object <= 2; object++) {
                    const unsigned number = (unsigned)((subject - 1) + 2 * (predicate - 1) +
                                                       6 * (object - 1) + 12 * (graph - 1));
                    if ((old ^ new) >> number & 1) {
                        changes[count++] = (struct quad_change){{subject, predicate, object, graph},
                                                                old >> number & 1};
                    }
                }
            }
        }
    }
    return change_set_new(changes, count);
}

static int
compare_rows(const void *a, const void *b)
{
    return row_compare(a, b);
}

/* Rows of a state from one on and before another. */
static void
rows_of(uint32_t state, enum quad_order order, const struct row *from, const struct row *to,
        struct row_vector *rows)
{
    row_vector_reserve(rows, QUADS);
    rows->count = 0;
    for (unsigned i = 0; i < QUADS; i++) {
        const struct quad_oids quad = quad_of(i);
        const struct row row = row_of(&quad, order);
        if (state >> i & 1 && row_compare(&row, from) >= 0 &&
            (to == NULL || row_compare(&row, to) < 0)) {
            rows->rows[rows->count++] = row;
        }
    }
    qsort(rows->rows, rows->count, sizeof rows->rows[0], compare_rows);
}

/* What a reader finds where some of a change is done. */
static uint32_t
between(uint32_t old, uint32_t new)
{
    const uint32_t some = (uint32_t)next_chance(1 << 30);
    return (old & ~some) | (new &some);
}

static void
expect_view(const struct reader *reader)
{
    const enum quad_order order = (enum quad_order)next_chance(ORDER_COUNT);
    struct row_vector found = {0}, expected = {0};
    struct quad_oids quad = quad_of((unsigned)next_chance(QUADS));
    struct row from = {{0}}, to = row_of(&quad, order);
    const bool bounded = next_chance(2) == 0;
    if (next_chance(2) == 0) {
        quad = quad_of((unsigned)next_chance(QUADS));
        from = row_of(&quad, order);
    }
    if (bounded && row_compare(&to, &from) < 0) {
        to = from;
    }
    uint32_t tree = order == ORDER_CSPO ? graphs : others;
    if (order == ORDER_CSPO || !gathers) {
        tree = published ? between(graphs, states[committed + 1]) : tree;
    } else if (flushing) {
        tree = between(others, flush_to);
    }
    rows_of(tree, order, &from, bounded ? &to : NULL, &found);
    rows_of(states[reader->version], order, &from, bounded ? &to : NULL, &expected);
    const enum status status =
        snapshot_restore(reader->snapshot, order, &from, bounded ? &to : NULL, &found, &why);
    assert_int_equal(status, reader->ended ? STATUS_STALE : STATUS_OK);
    if (!reader->ended) {
        assert_int_equal(found.count, expected.count);
        for (size_t i = 0; i < found.count; i++) {
            assert_int_equal(row_compare(&found.rows[i], &expected.rows[i]), 0);
        }
    }
    row_vector_release(&found);
    row_vector_release(&expected);
}

static void
publish(void)
{
    uint32_t next = states[committed];
    for (uint64_t changes = next_chance(4); changes > 0; changes--) {
        next ^= (uint32_t)1 << next_chance(QUADS);
    }
    states[committed + 1] = next;
    struct change_set *set = difference(states[committed], next);
    set->batch = committed + 1;
    set_bytes[committed + 1] = change_set_bytes(set);
    from_before = from_rest;
    if (gathers && set->count > 0 && from_rest == 0) {
        from_rest = set->batch;
    }
    snapshots_publish(snapshots, set, gathers);
    published = true;
}

static void
flushed(void)
{
    others = flush_to;
    flushing = false;
    from_all = 0;
}

/* Which readers end when the sets that they need do not fit. */
static void
end_readers(void)
{
    uint64_t needed = committed;
    size_t bytes = 0;
    for (size_t i = 0; i < READERS; i++) {
        const struct reader *reader = &readers[i];
        if (reader->snapshot != NULL && !reader->ended && reader->version < needed) {
            needed = reader->version;
        }
    }
    uint64_t fits = committed;
    while (fits > needed && bytes + set_bytes[fits] <= memory) {
        bytes += set_bytes[fits--];
    }
    for (size_t i = 0; i < READERS; i++) {
        const struct reader *reader = &readers[i];
        if (reader->snapshot != NULL && reader->held && reader->version < fits) {
            fits = reader->version;
        }
    }
    for (size_t i = 0; i < READERS; i++) {
        readers[i].ended = readers[i].ended || readers[i].version < fits;
    }
}

static void
end_batch(void)
{
    const bool applied = next_chance(4) > 0;
    const bool flush_ends = applied && flushing && next_chance(2) == 0;
    snapshots_end(snapshots, applied, flush_ends);
    published = false;
    from_rest = applied ? from_rest : from_before;
    if (applied) {
        committed++;
        graphs = states[committed];
        others = gathers ? others : graphs;
        if (flush_ends) {
            flushed();
        }
    }
    end_readers();
    assert_int_equal(snapshots_committed(snapshots), committed);
}

static void
begin_or_end_flush(void)
{
    if (published || !gathers) {
        return;
    }
    if (flushing) {
        assert_non_null(snapshots_flushing(snapshots));
        snapshots_flushed(snapshots);
        flushed();
    } else if (snapshots_gathered_from(snapshots, false) != 0) {
        assert_null(snapshots_flushing(snapshots));
        snapshots_flush(snapshots);
        flushing = true;
        flush_to = graphs;
        from_all = from_rest;
        from_rest = 0;
        const struct change_set *set = snapshots_flushing(snapshots);
        assert_non_null(set);
        assert_int_equal(snapshots_gathered_changes(snapshots), set->count);
        assert_int_equal(snapshots_gathered_from(snapshots, true), 0);
        /* It leads from the trees to what is in CSPO. */
        uint32_t reached = others;
        for (unsigned i = 0; i < QUADS; i++) {
            const struct quad_oids quad = quad_of(i);
            for (size_t k = 0; k < set->count; k++) {
                if (memcmp(&set->changes[k].quad, &quad, sizeof quad) == 0) {
                    reached &= ~((uint32_t)1 << i);
                    reached |= (uint32_t)!set->changes[k].removed << i;
                }
            }
        }
        assert_int_equal(reached, graphs);
    }
    assert_int_equal(snapshots_flushing(snapshots) != NULL, flushing);
}

static void
open_reader(struct reader *reader)
{
    *reader = (struct reader){.version = committed, .held = next_chance(4) == 0};
    reader->snapshot = reader->held ? snapshot_hold(snapshots) : snapshot_open(snapshots);
    assert_int_equal(snapshot_version(reader->snapshot), committed);
}

static void
share_reader(struct reader *reader)
{
    const struct reader *other = &readers[next_chance(READERS)];
    if (other->snapshot != NULL) {
        *reader = *other;
        reader->held = false;
        reader->snapshot = snapshot_share(other->snapshot);
        assert_int_equal(snapshot_version(reader->snapshot), other->version);
    }
}

/* One that is held goes on from commit to commit. */
static void
go_on(struct reader *reader)
{
    const struct change_set *set = snapshot_next(reader->snapshot);
    assert_int_equal(set != NULL, reader->version < committed);
    if (set != NULL) {
        struct change_set *expected =
            difference(states[reader->version], states[reader->version + 1]);
        assert_int_equal(set->count, expected->count);
        for (size_t i = 0; i < set->count; i++) {
            assert_memory_equal(&set->changes[i].quad, &expected->changes[i].quad,
                                sizeof set->changes[i].quad);
            assert_int_equal(set->changes[i].removed, expected->changes[i].removed);
        }
        change_set_free(expected);
        snapshot_go_on(reader->snapshot);
        reader->version++;
        assert_int_equal(snapshot_version(reader->snapshot), reader->version);
    }
}

static void
do_something(void)
{
    struct reader *reader = &readers[next_chance(READERS)];
    switch (next_chance(6)) {
    case 0:
    case 1:
        if (published) {
            end_batch();
        } else {
            publish();
        }
        break;
    case 2:
        begin_or_end_flush();
        break;
    case 3:
        if (reader->snapshot != NULL) {
            snapshot_close(reader->snapshot);
            *reader = (struct reader){0};
        } else if (next_chance(3) == 0) {
            share_reader(reader);
        } else {
            open_reader(reader);
        }
        break;
    case 4:
        if (reader->snapshot != NULL && reader->held) {
            go_on(reader);
        }
        break;
    default:
        if (!published) {
            snapshots_tidy(snapshots);
        }
    }
}

static void
readers_see_their_versions(void **state)
{
    (void)state;
    const size_t one =
        sizeof(struct change_set) + sizeof(struct quad_change) + 6 * sizeof(uint32_t);
    const size_t memories[] = {1 << 20, 0, one, 3 * one, 3 * one - 1, 10 * one};
    for (size_t round = 0; round < ROUNDS; round++) {
        chance = round;
        memory = memories[round % 6];
        gathers = round / 6 % 2 == 1;
        snapshots = snapshots_new(memory);
        memset(readers, 0, sizeof readers);
        committed = 0;
        states[0] = graphs = others = (uint32_t)next_chance(1 << QUADS);
        published = flushing = false;
        from_all = from_rest = 0;
        for (int step = 0; step < STEPS; step++) {
            do_something();
            assert_int_equal(snapshots_gathered_from(snapshots, false),
                             from_all != 0 ? from_all : from_rest);
            assert_true(!flushing || snapshots_gathered_from(snapshots, true) == from_rest);
            assert_int_equal(snapshots_gathered_changes(snapshots) > 0,
                             from_all != 0 || from_rest != 0);
            for (size_t i = 0; i < READERS; i++) {
                if (readers[i].snapshot != NULL) {
                    expect_view(&readers[i]);
                }
            }
        }
        for (size_t i = 0; i < READERS; i++) {
            snapshot_close(readers[i].snapshot);
        }
        snapshots_free(snapshots);
    }
    snapshot_close(NULL);
    snapshots_free(NULL);
}

/* What was gathered before the start is given one set after the other, of which few are kept. */
static void
what_was_gathered_before(void **state)
{
    (void)state;
    enum { SETS = 60 };
    struct row_vector rows = {0}, expected = {0};
    const struct row from = {{0}};
    snapshots = snapshots_new(1 << 20);
    assert_int_equal(snapshots_gathered_from(snapshots, false), 0);
    assert_int_equal(snapshots_gathered_changes(snapshots), 0);
    uint32_t now = 0;
    size_t changes = 0;
    for (unsigned i = 0; i < SETS; i++) {
        const uint32_t next = i % 7 == 3 ? now : now ^ (uint32_t)1 << i % QUADS;
        struct change_set *set = difference(now, next);
        set->batch = 100 + i;
        snapshots_gathered(snapshots, set);
        assert_int_equal(snapshots_gathered_from(snapshots, false), 100);
        changes += next != now;
        if (i < QUADS) { /* none is changed twice */
            assert_int_equal(snapshots_gathered_changes(snapshots), changes);
        }
        assert_in_range(snapshots_gathered_changes(snapshots), 1, changes);
        now = next;
    }
    struct snapshot *snapshot = snapshot_open(snapshots);
    for (int order = 0; order < ORDER_COUNT; order++) {
        rows_of(order == ORDER_CSPO ? now : 0, (enum quad_order)order, &from, NULL, &rows);
        rows_of(now, (enum quad_order)order, &from, NULL, &expected);
        assert_int_equal(
            snapshot_restore(snapshot, (enum quad_order)order, &from, NULL, &rows, &why),
            STATUS_OK);
        assert_int_equal(rows.count, expected.count);
        assert_memory_equal(rows.rows, expected.rows, rows.count * sizeof rows.rows[0]);
    }
    assert_int_equal(snapshots_health(snapshots, &why), STATUS_OK);
    /* When it could not be read, CSPO is whole all the same. */
    const struct reason reason = {"the log is damaged"};
    snapshots_set_missing(snapshots, &reason);
    assert_int_equal(snapshots_health(snapshots, &why), STATUS_CORRUPT);
    assert_string_equal(why.text, "the log is damaged");
    for (int order = 0; order < ORDER_COUNT; order++) {
        rows.count = 0;
        assert_int_equal(
            snapshot_restore(snapshot, (enum quad_order)order, &from, NULL, &rows, &why),
            order == ORDER_CSPO ? STATUS_OK : STATUS_CORRUPT);
    }
    snapshot_close(snapshot);
    snapshots_free(snapshots);
    row_vector_release(&rows);
    row_vector_release(&expected);
}

/* What takes part in the bound of memory. */
static void
sets_have_sizes(void **state)
{
    (void)state;
    struct change_set *set = difference(0, 7);
    const size_t one = sizeof(struct quad_change) + ORDER_COUNT * sizeof(uint32_t);
    assert_int_equal(set->count, 3);
    assert_int_equal(change_set_bytes(set), sizeof *set + 3 * one);
    set->documents = memory_zero(2, sizeof *set->documents);
    set->document_count = 2;
    assert_int_equal(change_set_bytes(set), sizeof *set + 3 * one + 2 * sizeof *set->documents);
    change_set_free(set);
    change_set_free(NULL);
}

static void
use_much(void)
{
    snapshots = snapshots_new(1 << 20);
    struct snapshot *view = snapshot_open(snapshots);
    for (uint32_t i = 0; i < 8; i++) {
        struct change_set *set = difference(i, i + 1);
        set->documents = memory_zero(1, sizeof *set->documents);
        set->document_count = 1;
        snapshots_publish(snapshots, set, true);
        snapshots_end(snapshots, i != 5, i == 4);
        if (i == 3) {
            snapshots_flush(snapshots);
        }
        if (i == 6) {
            snapshot_close(snapshot_share(view));
            snapshot_close(view);
            snapshots_tidy(snapshots);
        }
    }
    snapshots_free(snapshots);
}

static void
nothing_is_left_behind(void **state)
{
    (void)state;
    assert_true(leaves_no_memory(use_much));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(readers_see_their_versions),
        cmocka_unit_test(what_was_gathered_before),
        cmocka_unit_test(sets_have_sizes),
        cmocka_unit_test(nothing_is_left_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
