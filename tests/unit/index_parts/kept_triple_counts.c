/* What the cache of counts keeps, for whom, and what it gives up for others: asked with a check
 * that cancels, it tells whether it has an answer. */
#include "tests/unit/index_parts/kept_triple_counts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "index/statistics/triple_counts.h"
#include "tests/support/memory_source.h"
#include "tests/unit/memory_in_use.h"

enum { ENOUGH = 1 << 20, CACHE_BYTES = 1 << 20 };

static struct term
iri(struct arena *arena, const char *kind, unsigned which)
{
    return (struct term){.kind = TERM_IRI,
                         .value = arena_printf(arena, "http://example.org/%s%u", kind, which)};
}

static enum status
go_on(const void *context, struct reason *why)
{
    (void)context;
    (void)why;
    return STATUS_OK;
}

static enum status
cancel(const void *context, struct reason *why)
{
    (void)context;
    return status_fail(why, STATUS_CANCELLED, "cancelled");
}

/* What a cache is asked for: predicate `which` stands with that many objects, once each. */
static struct {
    struct memory_source *memory;
    struct triple_count_cache *cache;
    oid predicates[80];
} kept;

static void
keep_in(size_t bytes, unsigned predicates)
{
    struct arena arena;
    arena_init(&arena, 0);
    kept.memory = memory_source_new(0);
    kept.cache = triple_count_cache_new(bytes);
    for (unsigned p = 1; p < predicates; p++) {
        for (unsigned o = 0; o < p; o++) {
            const struct quad quad = {iri(&arena, "s", 0), iri(&arena, "p", p), iri(&arena, "o", o),
                                      iri(&arena, "g", 0)};
            assert_int_equal(memory_source_add(kept.memory, &quad, NULL), STATUS_OK);
        }
    }
    const struct quad_source *source = memory_source_table(kept.memory);
    for (unsigned p = 1; p < predicates; p++) {
        const struct term term = iri(&arena, "p", p);
        assert_int_equal(source->lookup(source->context, &term, &kept.predicates[p], NULL),
                         STATUS_OK);
    }
    kept.predicates[0] = kept.predicates[1] + ((oid)1 << 40); /* nothing has it */
    arena_release(&arena);
}

static void
let_go(void)
{
    triple_count_cache_free(kept.cache);
    memory_source_free(kept.memory);
}

static enum status
ask(uint64_t version, const struct count_request *request)
{
    struct triple_count *counts;
    struct reason why;
    size_t count;
    const enum status status = triple_counts_cached(
        kept.cache, version, memory_source_table(kept.memory), request, &counts, &count, &why);
    triple_counts_release(counts);
    return status;
}

static struct count_request
objects_of(unsigned which, bool count)
{
    return (struct count_request){.pattern.predicate = kept.predicates[which],
                                  .by = TRIPLE_OBJECT,
                                  .memory = ENOUGH,
                                  .check = count ? go_on : cancel};
}

static void
count_objects_of(unsigned which)
{
    const struct count_request request = objects_of(which, true);
    assert_int_equal(ask(1, &request), STATUS_OK);
}

/* It is, when it is answered though counting is cancelled at once. */
static bool
is_kept(unsigned which)
{
    const struct count_request request = objects_of(which, false);
    const enum status status = ask(1, &request);
    assert_true(status == STATUS_OK || status == STATUS_CANCELLED);
    return status == STATUS_OK;
}

/* Room for eight values: lists go in the order of their last use, as many as are in the way. What
 * takes no room stays. */
static void
what_was_used_least_lately_makes_room(void **state)
{
    (void)state;
    keep_in(8 * sizeof(struct triple_count), 6);
    count_objects_of(0);
    count_objects_of(1);
    count_objects_of(3);
    count_objects_of(4); /* half of the room, with which it is used up */
    assert_true(is_kept(3) && is_kept(4) && is_kept(1));
    count_objects_of(5); /* this is more than half */
    assert_false(is_kept(5));
    assert_true(is_kept(3) && is_kept(4) && is_kept(1));
    count_objects_of(2); /* the list of three goes, and that is enough */
    assert_false(is_kept(3));
    assert_true(is_kept(2) && is_kept(1) && is_kept(4) && is_kept(0));
    count_objects_of(3); /* 2 and 1 were used before 4 */
    assert_false(is_kept(2));
    assert_true(is_kept(3) && is_kept(4) && is_kept(0));
    count_objects_of(1);
    assert_true(is_kept(1) && is_kept(3) && is_kept(4));
    let_go();
}

/* A cache has 64 answers, however short they are. */
static void
the_oldest_of_64_answers_goes_for_the_next(void **state)
{
    (void)state;
    keep_in(CACHE_BYTES, 70);
    for (unsigned i = 1; i <= 64; i++) {
        count_objects_of(i);
    }
    assert_true(is_kept(1));
    count_objects_of(65);
    for (unsigned i = 1; i <= 65; i++) {
        assert_int_equal(is_kept(i), i != 2);
    }
    count_objects_of(66);
    for (unsigned i = 1; i <= 66; i++) {
        assert_int_equal(is_kept(i), i > 2);
    }
    let_go();
}

/* Of a newer version the room is whole again. */
static void
a_new_version_begins_with_all_the_room(void **state)
{
    (void)state;
    keep_in(8 * sizeof(struct triple_count), 6);
    for (uint64_t version = 1; version <= 3; version++) {
        for (unsigned which = 1; which <= 4; which += which == 1 ? 2 : 1) {
            const struct count_request request = objects_of(which, true);
            assert_int_equal(ask(version, &request), STATUS_OK);
        }
        for (unsigned which = 1; which <= 4; which += which == 1 ? 2 : 1) {
            const struct count_request request = objects_of(which, false);
            assert_int_equal(ask(version, &request), STATUS_OK);
            assert_int_equal(ask(version + 1, &request), STATUS_CANCELLED);
            assert_int_equal(ask(version - 1, &request), STATUS_CANCELLED);
        }
    }
    let_go();
}

/* Requests that differ in anything have answers of their own. */
static void
answers_are_those_to_the_same_question(void **state)
{
    (void)state;
    keep_in(CACHE_BYTES, 6);
    const struct count_request first = objects_of(3, true);
    struct count_request others[5] = {first, first, first, first, first};
    others[0].pattern.predicate = kept.predicates[4];
    others[1].by = TRIPLE_SUBJECT;
    others[2].of = TRIPLE_OBJECT;
    others[3].kind = TERM_IRI;
    others[4].quads = true;
    assert_int_equal(ask(1, &first), STATUS_OK);
    assert_true(is_kept(3));
    for (size_t i = 0; i < 5; i++) {
        others[i].check = cancel;
        assert_int_not_equal(ask(1, &others[i]), STATUS_OK);
    }
    let_go();
}

/* It is known how much memory did not do; more is tried, and then the answer stands alone. */
static void
what_did_not_fit_is_tried_with_more(void **state)
{
    (void)state;
    keep_in(8 * sizeof(struct triple_count), 6);
    struct count_request request = objects_of(4, true);
    request.memory = 1000;
    assert_int_equal(ask(1, &request), STATUS_LIMIT);
    request.check = cancel;
    assert_int_equal(ask(1, &request), STATUS_LIMIT);
    request.memory = 999;
    assert_int_equal(ask(1, &request), STATUS_LIMIT);
    request.memory = 1001;
    assert_int_equal(ask(1, &request), STATUS_CANCELLED);
    request.check = go_on;
    request.memory = ENOUGH;
    assert_int_equal(ask(1, &request), STATUS_OK);
    assert_true(is_kept(4));
    count_objects_of(3);
    count_objects_of(1);
    assert_true(is_kept(4) && is_kept(3) && is_kept(1));
    /* A list is lent to whom it fits. */
    request.check = cancel;
    request.memory = 4 * sizeof(struct triple_count);
    assert_int_equal(ask(1, &request), STATUS_OK);
    request.memory--;
    assert_int_equal(ask(1, &request), STATUS_CANCELLED);
    /* One that is counted once more takes the room that it had. */
    request.check = go_on;
    assert_int_equal(ask(1, &request), STATUS_LIMIT);
    let_go();
}

static void
keep_and_forget(void)
{
    keep_in(8 * sizeof(struct triple_count), 6);
    for (unsigned round = 0; round < 2; round++) {
        for (unsigned which = 0; which <= 4; which++) {
            count_objects_of(which);
        }
    }
    let_go();
}

/* Lists are freed when others take their room, with the cache, and with the last who has them. */
static void
lists_are_freed_with_their_last_user(void **state)
{
    (void)state;
    assert_true(leaves_no_memory(keep_and_forget));
    keep_in(CACHE_BYTES, 6);
    struct triple_count *counts;
    struct reason why;
    size_t count;
    const struct count_request request = objects_of(4, true);
    for (int time = 0; time < 2; time++) { /* one that was counted, and one that was kept */
        assert_int_equal(triple_counts_cached(kept.cache, 1, memory_source_table(kept.memory),
                                              &request, &counts, &count, &why),
                         STATUS_OK);
        if (time == 0) {
            triple_counts_release(counts);
        }
    }
    let_go();
    assert_int_equal(count, 4);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(counts[i].triples, 1);
    }
    triple_counts_release(counts);
}

int
kept_triple_counts_run(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_used_least_lately_makes_room),
        cmocka_unit_test(the_oldest_of_64_answers_goes_for_the_next),
        cmocka_unit_test(a_new_version_begins_with_all_the_room),
        cmocka_unit_test(answers_are_those_to_the_same_question),
        cmocka_unit_test(what_did_not_fit_is_tried_with_more),
        cmocka_unit_test(lists_are_freed_with_their_last_user),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
