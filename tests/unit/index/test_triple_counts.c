/* Counts of different triples against counts by hand, in little memory, and of one version after
 * another. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "index/statistics/triple_counts.h"
#include "tests/support/memory_source.h"
#include "tests/unit/index_parts/kept_triple_counts.h"

enum {
    QUADS = 3000,
    SUBJECTS = 40,
    PREDICATES = 4,
    OBJECTS = 25,
    GRAPHS = 5,
    ENOUGH = 1 << 20,
    CACHE_BYTES = 1 << 20
};

static unsigned number = 1;
static unsigned
random_below(unsigned limit)
{
    number = number * 1103515245 + 12345;
    return (number >> 16) % limit;
}

static struct term
iri(struct arena *arena, const char *kind, unsigned which)
{
    return (struct term){.kind = TERM_IRI,
                         .value = arena_printf(arena, "http://example.org/%s%u", kind, which)};
}

/* Most triples are in several graphs, and subjects do not ascend from graph to graph. */
static struct memory_source *
make_source(unsigned quads)
{
    struct memory_source *source = memory_source_new(0);
    struct arena arena;
    arena_init(&arena, 0);
    number = 1;
    for (unsigned i = 0; i < quads; i++) {
        const struct quad quad = {
            iri(&arena, "s", random_below(SUBJECTS)), iri(&arena, "p", random_below(PREDICATES)),
            iri(&arena, "o", random_below(OBJECTS)), iri(&arena, "g", random_below(GRAPHS))};
        assert_int_equal(memory_source_add(source, &quad, NULL), STATUS_OK);
    }
    arena_release(&arena);
    return source;
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

/* As good as a kind of term: identifiers that are odd are taken for literals. */
static enum term_kind
parity(oid id)
{
    return id & 1 ? TERM_LITERAL : TERM_IRI;
}

/* Different triples that match and have the value and the kind, or quads, of all quads in the order
 * SPOC. */
static uint64_t
count_by_hand(const struct quad_source *source, const struct count_request *request, oid value)
{
    static struct quad_oids quads[QUADS];
    const struct quad_oids any = {0}, *pattern = &request->pattern;
    struct quad_scan *scan;
    size_t n;
    uint64_t found = 0;
    assert_int_equal(source->scan(source->context, &any, ORDER_SPOC, &scan, NULL), STATUS_OK);
    assert_int_equal(source->scan_next(scan, quads, QUADS, &n, NULL), STATUS_OK);
    source->scan_close(scan);
    for (size_t i = 0; i < n; i++) {
        const struct quad_oids *q = &quads[i];
        const oid places[] = {q->subject, q->predicate, q->object, value, value};
        found += (!pattern->subject || pattern->subject == q->subject) &&
                 (!pattern->predicate || pattern->predicate == q->predicate) &&
                 (!pattern->object || pattern->object == q->object) &&
                 places[request->by] == value &&
                 (request->kind == TERM_NONE || parity(places[request->of]) == request->kind) &&
                 (request->quads || i == 0 || q[-1].subject != q->subject ||
                  q[-1].predicate != q->predicate || q[-1].object != q->object);
    }
    return found;
}

static void
check_counts(const struct quad_source *source, const struct count_request *request, uint64_t all)
{
    struct triple_count *counts;
    size_t count;
    uint64_t sum = 0;
    assert_int_equal(triple_counts_read(source, request, &counts, &count, NULL), STATUS_OK);
    for (size_t i = 0; i < count; i++) {
        sum += counts[i].triples;
        assert_int_equal(counts[i].triples, count_by_hand(source, request, counts[i].value));
    }
    assert_int_equal(sum, all);
    free(counts);
}

/* how: bit 0: quads; bit 1: triples with an even object, bit 2: with an odd subject. */
static void
check_patterns(const struct quad_source *source, unsigned how)
{
    struct arena arena;
    struct quad_oids one;
    arena_init(&arena, 0);
    const struct term s = iri(&arena, "s", 7), p = iri(&arena, "p", 1), o = iri(&arena, "o", 3);
    assert_int_equal(source->lookup(source->context, &s, &one.subject, NULL), STATUS_OK);
    assert_int_equal(source->lookup(source->context, &p, &one.predicate, NULL), STATUS_OK);
    assert_int_equal(source->lookup(source->context, &o, &one.object, NULL), STATUS_OK);
    for (unsigned bound = 0; bound < 8; bound++) {
        struct count_request request = {.pattern = {bound & 1 ? one.subject : OID_NONE,
                                                    bound & 2 ? one.predicate : OID_NONE,
                                                    bound & 4 ? one.object : OID_NONE, OID_NONE},
                                        .by = TRIPLE_ALL,
                                        .quads = how & 1,
                                        .kind = how & 2   ? TERM_IRI
                                                : how & 4 ? TERM_LITERAL
                                                          : TERM_NONE,
                                        .of = how & 2 ? TRIPLE_OBJECT : TRIPLE_SUBJECT,
                                        .memory = ENOUGH,
                                        .check = go_on};
        const uint64_t all = count_by_hand(source, &request, OID_NONE);
        check_counts(source, &request, all);
        for (unsigned by = TRIPLE_SUBJECT; by < TRIPLE_ALL; by++) {
            request.by = (enum triple_place)by;
            const bool served = !(bound & 1U << by);
            struct triple_count *counts;
            size_t count;
            if (served) {
                check_counts(source, &request, all);
                continue;
            }
            assert_int_equal(triple_counts_read(source, &request, &counts, &count, NULL),
                             STATUS_UNSUPPORTED);
        }
    }
    arena_release(&arena);
}

static void
test_counts_are_those_by_hand(void **state)
{
    struct memory_source *memory = make_source(QUADS);
    struct quad_source source = *memory_source_table(memory);
    struct triple_count *counts;
    size_t count;
    (void)state;
    source.kind = parity;
    for (unsigned how = 0; how < 6; how++) {
        check_patterns(&source, how);
    }
    const struct count_request request = {
        .by = TRIPLE_ALL, .kind = TERM_IRI, .memory = ENOUGH, .check = go_on};
    source.kind = NULL;
    assert_int_equal(triple_counts_read(&source, &request, &counts, &count, NULL),
                     STATUS_UNSUPPORTED);
    memory_source_free(memory);
}

/* A predicate's triples, each once, by subject; nothing else has pairs. */
static void
test_pairs_are_the_triples(void **state)
{
    struct memory_source *memory = make_source(QUADS);
    const struct quad_source *source = memory_source_table(memory);
    struct count_request request = {
        .by = TRIPLE_PAIRS, .again = true, .memory = ENOUGH, .check = go_on};
    struct triple_count *pairs;
    struct arena arena;
    size_t count;
    (void)state;
    arena_init(&arena, 0);
    const struct term p = iri(&arena, "p", 1), o = iri(&arena, "o", 3);
    assert_int_equal(triple_counts_read(source, &request, &pairs, &count, NULL),
                     STATUS_UNSUPPORTED);
    assert_int_equal(source->lookup(source->context, &p, &request.pattern.predicate, NULL),
                     STATUS_OK);
    assert_int_equal(triple_counts_read(source, &request, &pairs, &count, NULL), STATUS_OK);
    assert_int_equal(count, count_by_hand(source, &request, OID_LOCAL));
    for (size_t i = 0; i < count; i++) {
        struct count_request one = request;
        one.by = TRIPLE_ALL;
        one.pattern.subject = pairs[i].value;
        one.pattern.object = pairs[i].triples;
        assert_int_equal(count_by_hand(source, &one, OID_NONE), 1);
        assert_true(
            i == 0 || pairs[i - 1].value < pairs[i].value ||
            (pairs[i - 1].value == pairs[i].value && pairs[i - 1].triples < pairs[i].triples));
    }
    free(pairs);
    request.memory = 1 << 10;
    assert_int_equal(triple_counts_read(source, &request, &pairs, &count, NULL), STATUS_LIMIT);
    assert_int_equal(source->lookup(source->context, &o, &request.pattern.object, NULL), STATUS_OK);
    assert_int_equal(triple_counts_read(source, &request, &pairs, &count, NULL),
                     STATUS_UNSUPPORTED);
    arena_release(&arena);
    memory_source_free(memory);
}

/* A predicate's quads, or those of one of its objects, by subject with their graphs. */
static void
test_graphs_are_those_of_quads(void **state)
{
    struct memory_source *memory = make_source(QUADS);
    const struct quad_source *source = memory_source_table(memory);
    struct count_request request = {
        .by = TRIPLE_GRAPHS, .again = true, .memory = ENOUGH, .check = go_on};
    struct triple_count *pairs;
    struct arena arena;
    size_t count;
    (void)state;
    arena_init(&arena, 0);
    const struct term p = iri(&arena, "p", 1), o = iri(&arena, "o", 3);
    assert_int_equal(triple_counts_read(source, &request, &pairs, &count, NULL),
                     STATUS_UNSUPPORTED);
    assert_int_equal(source->lookup(source->context, &p, &request.pattern.predicate, NULL),
                     STATUS_OK);
    for (int object = 0; object < 2; object++) {
        struct quad_oids quads[QUADS];
        struct quad_scan *scan;
        size_t all;
        assert_int_equal(triple_counts_read(source, &request, &pairs, &count, NULL), STATUS_OK);
        assert_int_equal(source->scan(source->context, &request.pattern, ORDER_COUNT, &scan, NULL),
                         STATUS_OK);
        assert_int_equal(source->scan_next(scan, quads, QUADS, &all, NULL), STATUS_OK);
        source->scan_close(scan);
        assert_int_equal(count, all);
        assert_true(count > 0);
        for (size_t i = 0; i < count; i++) {
            size_t here = 0, there = 0;
            for (size_t k = 0; k < count; k++) {
                here += pairs[k].value == pairs[i].value && pairs[k].triples == pairs[i].triples;
                there += quads[k].subject == pairs[i].value && quads[k].graph == pairs[i].triples;
            }
            assert_int_equal(here, there);
            assert_true(
                i == 0 || pairs[i - 1].value < pairs[i].value ||
                (pairs[i - 1].value == pairs[i].value && pairs[i - 1].triples <= pairs[i].triples));
        }
        free(pairs);
        assert_int_equal(source->lookup(source->context, &o, &request.pattern.object, NULL),
                         STATUS_OK);
    }
    arena_release(&arena);
    memory_source_free(memory);
}

static void
test_limits_end_the_counting(void **state)
{
    struct memory_source *memory = make_source(QUADS);
    const struct quad_source *source = memory_source_table(memory);
    struct count_request request = {.by = TRIPLE_SUBJECT, .memory = 256, .check = go_on};
    struct triple_count *counts;
    size_t count;
    struct reason why;
    (void)state;
    assert_int_equal(triple_counts_read(source, &request, &counts, &count, &why), STATUS_LIMIT);
    request.memory = ENOUGH;
    request.check = cancel;
    assert_int_equal(triple_counts_read(source, &request, &counts, &count, &why), STATUS_CANCELLED);
    memory_source_free(memory);
}

static uint64_t
cached(struct triple_count_cache *cache, uint64_t version, struct memory_source *memory)
{
    const struct count_request request = {.by = TRIPLE_ALL, .memory = ENOUGH, .check = go_on};
    struct triple_count *counts;
    size_t count;
    assert_int_equal(triple_counts_cached(cache, version, memory_source_table(memory), &request,
                                          &counts, &count, NULL),
                     STATUS_OK);
    const uint64_t triples = counts[0].triples;
    assert_int_equal(count, 1);
    triple_counts_release(counts);
    return triples;
}

static void
test_answers_are_of_their_version(void **state)
{
    struct memory_source *few = make_source(QUADS / 10), *all = make_source(QUADS);
    struct triple_count_cache *cache = triple_count_cache_new(CACHE_BYTES);
    (void)state;
    const uint64_t first = cached(cache, 1, few);
    /* What is asked of the same version is answered from memory, whatever the source has. */
    assert_int_equal(cached(cache, 1, all), first);
    const uint64_t second = cached(cache, 2, all);
    assert_true(second > first);
    /* A reader of before gets what it sees, and the newer answer stays. */
    assert_int_equal(cached(cache, 1, few), first);
    assert_int_equal(cached(cache, 2, few), second);
    triple_count_cache_free(cache);
    /* A list that is longer than half of the cache is not kept. */
    cache = triple_count_cache_new(2 * sizeof(struct triple_count) - 1);
    assert_int_equal(cached(cache, 2, few), first);
    assert_int_equal(cached(cache, 2, all), second);
    triple_count_cache_free(cache);
    memory_source_free(few);
    memory_source_free(all);
}

/* More answers than the cache has room for. */
static void
test_the_cache_is_bounded(void **state)
{
    struct memory_source *memory = make_source(QUADS);
    const struct quad_source *source = memory_source_table(memory);
    struct triple_count_cache *cache = triple_count_cache_new(CACHE_BYTES);
    struct count_request request = {.by = TRIPLE_OBJECT, .memory = ENOUGH, .check = go_on};
    struct triple_count *counts;
    struct reason why;
    size_t count;
    (void)state;
    for (unsigned i = 1; i <= 500; i++) {
        request.pattern.predicate = (oid)1 << 62 | i << 3 | 1;
        assert_int_equal(triple_counts_cached(cache, 1, source, &request, &counts, &count, NULL),
                         STATUS_OK);
        triple_counts_release(counts);
    }
    /* What did not fit is asked again with more memory. */
    request.pattern.predicate = OID_NONE;
    request.memory = 256;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(triple_counts_cached(cache, 1, source, &request, &counts, &count, &why),
                         STATUS_LIMIT);
    }
    request.memory = ENOUGH;
    assert_int_equal(triple_counts_cached(cache, 1, source, &request, &counts, &count, NULL),
                     STATUS_OK);
    assert_int_equal(count, OBJECTS);
    triple_counts_release(counts);
    triple_count_cache_free(cache);
    memory_source_free(memory);
}

/* Makes a source in which each of the graphs has the same subjects, with one predicate and one
 * object. */
static struct memory_source *
make_wide(unsigned subjects, unsigned graphs, struct quad_oids *ids)
{
    struct memory_source *memory = memory_source_new(0);
    struct arena arena;
    arena_init(&arena, 0);
    for (unsigned i = 0; i < subjects * graphs; i++) {
        const struct quad quad = {iri(&arena, "s", i % subjects), iri(&arena, "p", 0),
                                  iri(&arena, "o", 0), iri(&arena, "g", i / subjects)};
        assert_int_equal(memory_source_add(memory, &quad, NULL), STATUS_OK);
    }
    const struct quad_source *source = memory_source_table(memory);
    const struct term p = iri(&arena, "p", 0), o = iri(&arena, "o", 0);
    *ids = (struct quad_oids){0};
    assert_int_equal(source->lookup(source->context, &p, &ids->predicate, NULL), STATUS_OK);
    assert_int_equal(source->lookup(source->context, &o, &ids->object, NULL), STATUS_OK);
    arena_release(&arena);
    return memory;
}

/* Returns how many values there are, or -1 where they need more memory. */
static int
count_wide(unsigned subjects, unsigned graphs, enum triple_place by, bool by_predicate,
           size_t memory_most)
{
    struct quad_oids ids;
    struct memory_source *memory = make_wide(subjects, graphs, &ids);
    struct count_request request = {.by = by, .memory = memory_most, .check = go_on};
    struct triple_count *counts;
    struct reason why;
    size_t count;
    request.pattern.predicate = by_predicate ? ids.predicate : OID_NONE;
    const enum status status =
        triple_counts_read(memory_source_table(memory), &request, &counts, &count, &why);
    assert_true(status == STATUS_OK || status == STATUS_LIMIT);
    if (status == STATUS_OK && by == TRIPLE_OBJECT) {
        assert_int_equal(counts[0].triples, subjects);
    }
    free(counts);
    memory_source_free(memory);
    return status == STATUS_OK ? (int)count : -1;
}

/* A table is half full at most, and while it grows the old one is there beside the new one; of
 * the subjects of one object each is gathered once. */
static void
the_memory_allowed_is_used_up_and_no_more(void **state)
{
    enum { SIXTY_FOUR = 2 * 64 * sizeof(struct triple_count) };
    (void)state;
    assert_int_equal(count_wide(32, 1, TRIPLE_SUBJECT, false, SIXTY_FOUR), 32);
    assert_int_equal(count_wide(33, 1, TRIPLE_SUBJECT, false, SIXTY_FOUR), -1);
    assert_int_equal(count_wide(1, 1, TRIPLE_SUBJECT, false, SIXTY_FOUR - 1), -1);
    assert_int_equal(count_wide(64, 1, TRIPLE_SUBJECT, false, 2 * SIXTY_FOUR), 64);
    assert_int_equal(count_wide(65, 1, TRIPLE_SUBJECT, false, 2 * SIXTY_FOUR), -1);
    assert_int_equal(count_wide(64, 1, TRIPLE_GRAPHS, true, SIXTY_FOUR), 64);
    assert_int_equal(count_wide(65, 1, TRIPLE_GRAPHS, true, SIXTY_FOUR), -1);
    assert_int_equal(count_wide(1, 1, TRIPLE_GRAPHS, true, SIXTY_FOUR - 1), -1);
    assert_int_equal(count_wide(128, 1, TRIPLE_GRAPHS, true, 2 * SIXTY_FOUR), 128);
    assert_int_equal(count_wide(129, 1, TRIPLE_GRAPHS, true, 2 * SIXTY_FOUR), -1);
    enum { SUBJECTS_256 = 2 * 256 * sizeof(oid) };
    assert_int_equal(count_wide(256, 1, TRIPLE_OBJECT, true, SUBJECTS_256), 1);
    assert_int_equal(count_wide(257, 1, TRIPLE_OBJECT, true, SUBJECTS_256), -1);
    assert_int_equal(count_wide(1, 1, TRIPLE_OBJECT, true, SUBJECTS_256 - 1), -1);
    assert_int_equal(count_wide(127, 3, TRIPLE_OBJECT, true, SUBJECTS_256), 1);
    assert_int_equal(count_wide(128, 3, TRIPLE_OBJECT, true, SUBJECTS_256), -1);
    assert_int_equal(count_wide(512, 1, TRIPLE_OBJECT, true, 2 * SUBJECTS_256), 1);
    assert_int_equal(count_wide(513, 1, TRIPLE_OBJECT, true, 2 * SUBJECTS_256), -1);
}

/* What a scan does as well is counted when it is asked for again in a version, and ascends. */
static void
test_what_is_asked_once_is_not_counted(void **state)
{
    struct memory_source *memory = make_source(QUADS);
    const struct quad_source *source = memory_source_table(memory);
    struct triple_count_cache *cache = triple_count_cache_new(CACHE_BYTES);
    struct arena arena;
    struct count_request request = {
        .by = TRIPLE_SUBJECT, .memory = ENOUGH, .again = true, .check = go_on};
    struct triple_count *counts;
    struct reason why;
    size_t count;
    (void)state;
    arena_init(&arena, 0);
    const struct term p = iri(&arena, "p", 1);
    assert_int_equal(source->lookup(source->context, &p, &request.pattern.predicate, NULL),
                     STATUS_OK);
    for (uint64_t version = 1; version <= 2; version++) {
        assert_int_equal(
            triple_counts_cached(cache, version, source, &request, &counts, &count, &why),
            STATUS_UNSUPPORTED);
        for (int i = 0; i < 2; i++) {
            assert_int_equal(
                triple_counts_cached(cache, version, source, &request, &counts, &count, &why),
                STATUS_OK);
            assert_true(count > 1);
            for (size_t k = 0; k < count; k++) {
                assert_true(k == 0 || counts[k - 1].value < counts[k].value);
                assert_int_equal(counts[k].triples,
                                 count_by_hand(source, &request, counts[k].value));
            }
            triple_counts_release(counts);
        }
    }
    triple_count_cache_free(cache);
    arena_release(&arena);
    memory_source_free(memory);
}

/* Counts that are kept for a group are read by a join in the order of their values, too. */
static void
test_what_was_counted_for_a_group_ascends(void **state)
{
    struct memory_source *memory = make_source(QUADS);
    struct triple_count_cache *cache = triple_count_cache_new(CACHE_BYTES);
    struct triple_count *counts;
    struct reason why;
    size_t count;
    (void)state;
    for (int again = 0; again < 2; again++) {
        const struct count_request request = {
            .by = TRIPLE_OBJECT, .memory = ENOUGH, .again = again > 0, .check = go_on};
        assert_int_equal(triple_counts_cached(cache, 1, memory_source_table(memory), &request,
                                              &counts, &count, &why),
                         STATUS_OK);
        assert_int_equal(count, OBJECTS);
        for (size_t k = 1; k < count; k++) {
            assert_true(counts[k - 1].value < counts[k].value);
        }
        triple_counts_release(counts);
    }
    triple_count_cache_free(cache);
    memory_source_free(memory);
}

/* Who gives back what he never had does no harm. */
static void
what_never_was_is_let_go(void **state)
{
    (void)state;
    triple_count_cache_free(NULL);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts_are_those_by_hand),
        cmocka_unit_test(test_pairs_are_the_triples),
        cmocka_unit_test(test_graphs_are_those_of_quads),
        cmocka_unit_test(test_limits_end_the_counting),
        cmocka_unit_test(test_answers_are_of_their_version),
        cmocka_unit_test(test_the_cache_is_bounded),
        cmocka_unit_test(test_what_is_asked_once_is_not_counted),
        cmocka_unit_test(test_what_was_counted_for_a_group_ascends),
        cmocka_unit_test(the_memory_allowed_is_used_up_and_no_more),
        cmocka_unit_test(what_never_was_is_let_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) + kept_triple_counts_run();
}
