/* Digests of terms at hand: equal for equal terms whatever their numbers, made once, and found by
 * several threads. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "index/terms/oid.h"
#include "index/terms/term_digests.h"

enum { THREADS = 4, TERMS = 10000 };

static atomic_size_t resolved;

/* The term of number n is n % TERMS: numbers that lie TERMS apart are the same term. */
static enum status
resolve(void *context, oid id, struct arena *arena, struct term *term, struct reason *why)
{
    char text[32];
    (void)context;
    resolved++;
    if (oid_number(id) == 77) {
        return status_fail(why, STATUS_CORRUPT, "a term is damaged");
    }
    snprintf(text, sizeof text, "http://example.org/%u", (unsigned)(oid_number(id) % TERMS));
    *term = term_iri(arena_copy(arena, slice_string(text)));
    term->kind = oid_kind(id) == OID_KIND_BLANK ? TERM_BLANK : TERM_IRI;
    return STATUS_OK;
}

static const struct quad_source source = {.resolve = resolve};

static enum status
find(struct term_digests *digests, oid id, struct term_digest *digest)
{
    struct reason why = {""};
    struct arena arena;
    arena_init(&arena, 0);
    const enum status status = term_digests_find(digests, &source, id, &arena, digest, &why);
    arena_release(&arena);
    return status;
}

static void
digests_are_of_the_term(void **state)
{
    (void)state;
    struct term_digests *digests = term_digests_new();
    struct term_digest one, same, other, blank;
    resolved = 0;
    assert_int_equal(find(digests, oid_stored(5, OID_KIND_IRI), &one), STATUS_OK);
    assert_int_equal(find(digests, oid_stored(5 + TERMS, OID_KIND_IRI), &same), STATUS_OK);
    assert_int_equal(find(digests, oid_stored(6, OID_KIND_IRI), &other), STATUS_OK);
    assert_int_equal(find(digests, oid_stored(5 + 2 * TERMS, OID_KIND_BLANK), &blank), STATUS_OK);
    assert_int_equal(term_digest_compare(&one, &same), 0);
    assert_int_not_equal(term_digest_compare(&one, &other), 0);
    assert_int_not_equal(term_digest_compare(&one, &blank), 0);
    assert_int_equal(resolved, 4);
    for (int times = 0; times < 3; times++) {
        assert_int_equal(find(digests, oid_stored(5, OID_KIND_IRI), &same), STATUS_OK);
        assert_int_equal(term_digest_compare(&one, &same), 0);
    }
    assert_int_equal(resolved, 4);
    term_digests_free(digests);
    term_digests_free(NULL);
}

/* Inline identifiers need no term; numbers past those that are kept are asked for each time; what
 * cannot be read is not kept. */
static void
what_is_not_kept(void **state)
{
    (void)state;
    struct term_digests *digests = term_digests_new();
    const struct term seven = {.kind = TERM_LITERAL,
                               .value = SLICE("7"),
                               .datatype = SLICE("http://www.w3.org/2001/XMLSchema#integer")};
    const oid inlined = oid_inline_of(&seven);
    const oid far = oid_stored((uint64_t)TERM_DIGESTS_MOST + 5, OID_KIND_IRI);
    const oid damaged = oid_stored(77, OID_KIND_IRI);
    struct term_digest one, again;
    resolved = 0;
    assert_int_not_equal(inlined, OID_NONE);
    assert_int_equal(find(digests, inlined, &one), STATUS_OK);
    assert_int_equal(one.low, inlined);
    assert_int_equal(resolved, 0);
    assert_int_equal(find(digests, far, &one), STATUS_OK);
    assert_int_equal(find(digests, far, &again), STATUS_OK);
    assert_int_equal(term_digest_compare(&one, &again), 0);
    assert_int_equal(resolved, 2);
    assert_int_equal(find(digests, damaged, &one), STATUS_CORRUPT);
    assert_int_equal(find(digests, damaged, &one), STATUS_CORRUPT);
    term_digests_free(digests);
}

static void *
find_all(void *context)
{
    struct term_digests *digests = context;
    size_t wrong = 0;
    for (uint64_t i = 100; i < TERMS; i++) {
        struct term_digest one, same;
        wrong += find(digests, oid_stored(i, OID_KIND_IRI), &one) != STATUS_OK;
        wrong += find(digests, oid_stored(i + TERMS, OID_KIND_IRI), &same) != STATUS_OK;
        wrong += term_digest_compare(&one, &same) != 0;
    }
    return (void *)wrong;
}

static void
threads_find_the_same(void **state)
{
    (void)state;
    struct term_digests *digests = term_digests_new();
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, find_all, digests), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        void *wrong;
        pthread_join(threads[i], &wrong);
        assert_null(wrong);
    }
    term_digests_free(digests);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(digests_are_of_the_term),
        cmocka_unit_test(what_is_not_kept),
        cmocka_unit_test(threads_find_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
