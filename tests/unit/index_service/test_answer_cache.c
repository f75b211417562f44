/* Which answers are kept, and until when. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "index/read/answer_cache.h"

enum { MEMORY = 64 << 10 };

static const struct partition_version first = {1, 1};

/* A cache rests on these. */
struct fixture {
    struct change_marks *commits, *words;
    struct answer_cache *cache;
};

static int
set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    f->commits = change_marks_new();
    f->words = change_marks_new();
    const struct answer_marks marks = {f->commits, f->words};
    f->cache = answer_cache_new(MEMORY, &marks);
    *state = f;
    return 0;
}

static int
tear_down(void **state)
{
    struct fixture *f = *state;
    answer_cache_free(f->cache);
    change_marks_free(f->commits);
    change_marks_free(f->words);
    free(f);
    return 0;
}

/* An answer that rests on these things; 0: none. */
static void
put_resting(struct fixture *f, const struct partition_version *version, const char *request,
            const char *answer, uint64_t commit, uint64_t word)
{
    struct partition_needs needs;
    buf_init(&needs.commits, MEMORY);
    buf_init(&needs.words, MEMORY);
    if (commit != 0) {
        change_needs_add(&needs.commits, commit);
    }
    if (word != 0) {
        change_needs_add(&needs.words, word);
    }
    answer_cache_put(f->cache, version, slice_string(request), slice_string(answer), &needs);
    buf_release(&needs.commits);
    buf_release(&needs.words);
}

static void
put(struct fixture *f, const char *request, const char *answer)
{
    put_resting(f, &first, request, answer, 0, 0);
}

static bool
has(struct fixture *f, const char *request, const char *answer)
{
    struct slice found;
    return answer_cache_find(f->cache, slice_string(request), &found) && slice_is(found, answer);
}

static void
test_requests_are_told_apart(void **state)
{
    struct fixture *f = *state;
    assert_false(has(f, "a", "1"));
    put(f, "a", "1");
    put(f, "ab", "2");
    put(f, "", "3");
    assert_true(has(f, "a", "1"));
    assert_true(has(f, "ab", "2"));
    assert_true(has(f, "", "3"));
    assert_false(has(f, "b", "2"));
    put(f, "a", "4"); /* a later one takes its place */
    assert_true(has(f, "a", "4"));
}

/* An answer is as of a version read before it was begun: what that version has changed it has. */
static void
test_what_changes_ends_what_rests_on_it(void **state)
{
    struct fixture *f = *state;
    enum { THING = 7, OTHER = 8 };
    put_resting(f, &first, "quads", "1", THING, 0);
    put_resting(f, &first, "words", "2", 0, THING);
    change_marks_set(f->commits, THING, 1);
    change_marks_set(f->words, THING, 1);
    change_marks_set(f->commits, OTHER, 2);
    change_marks_set(f->words, OTHER, 2);
    assert_true(has(f, "quads", "1"));
    assert_true(has(f, "words", "2"));
    change_marks_set(f->commits, THING, 2);
    assert_false(has(f, "quads", "1"));
    assert_true(has(f, "words", "2"));
    change_marks_set(f->words, THING, 2);
    assert_false(has(f, "words", "2"));
    const struct partition_version second = {2, 2};
    put_resting(f, &second, "quads", "3", THING, 0);
    put_resting(f, &second, "words", "4", 0, THING);
    assert_true(has(f, "quads", "3"));
    assert_true(has(f, "words", "4"));
}

static void
test_much_at_once_ends_all(void **state)
{
    struct fixture *f = *state;
    put_resting(f, &first, "quads", "1", 7, 0);
    put_resting(f, &first, "words", "2", 0, 7);
    change_marks_set_all(f->commits, 2);
    assert_false(has(f, "quads", "1"));
    change_marks_set_all(f->words, 2);
    assert_false(has(f, "words", "2"));
}

static void
test_memory_is_bounded(void **state)
{
    static char large[MEMORY / 32];
    static const char answer[] = "an answer of some fifty bytes, as short ones have them";
    struct fixture *f = *state;
    char name[32];
    size_t kept = 0;
    for (size_t i = 0; i < 1000; i++) {
        (void)snprintf(name, sizeof name, "request %zu", i);
        put(f, name, answer);
    }
    for (size_t i = 0; i < 1000; i++) {
        (void)snprintf(name, sizeof name, "request %zu", i);
        kept += has(f, name, answer);
    }
    assert_in_range(kept, 1, MEMORY / sizeof answer);
    assert_true(has(f, name, answer));
    memset(large, 'x', sizeof large - 1);
    put(f, "large", large);
    assert_false(has(f, "large", large));
}

/* Who gives back what he never had does no harm. */
static void
what_never_was_is_let_go(void **state)
{
    (void)state;
    answer_cache_free(NULL);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_requests_are_told_apart, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_what_changes_ends_what_rests_on_it, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_much_at_once_ends_all, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_memory_is_bounded, set_up, tear_down),
        cmocka_unit_test(what_never_was_is_let_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
