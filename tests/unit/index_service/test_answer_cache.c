/* Which answers are kept, and until when. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "index/read/answer_cache.h"

enum { MEMORY = 64 << 10 };

static const struct partition_version first = {1, 1};

static void
put(struct answer_cache *cache, const struct partition_version *version, const char *request,
    const char *answer)
{
    answer_cache_put(cache, version, slice_string(request), slice_string(answer));
}

static bool
has(struct answer_cache *cache, const struct partition_version *version, const char *request,
    const char *answer)
{
    struct slice found;
    return answer_cache_find(cache, version, slice_string(request), &found) &&
           slice_is(found, answer);
}

static void
test_requests_are_told_apart(void **state)
{
    (void)state;
    struct answer_cache *cache = answer_cache_new(MEMORY);
    assert_false(has(cache, &first, "a", "1"));
    put(cache, &first, "a", "1");
    put(cache, &first, "ab", "2");
    put(cache, &first, "", "3");
    put(cache, &first, "a", "4"); /* the same request begun twice: the first answer stays */
    assert_true(has(cache, &first, "a", "1"));
    assert_true(has(cache, &first, "ab", "2"));
    assert_true(has(cache, &first, "", "3"));
    assert_false(has(cache, &first, "b", "2"));
    answer_cache_free(cache);
}

static void
test_another_version_ends_all(void **state)
{
    (void)state;
    static const struct partition_version others[] = {{2, 1}, {1, 2}};
    for (size_t i = 0; i < 2; i++) {
        struct answer_cache *cache = answer_cache_new(MEMORY);
        put(cache, &first, "a", "1");
        assert_false(has(cache, &others[i], "a", "1"));
        assert_true(has(cache, &first, "a", "1"));
        put(cache, &others[i], "b", "2");
        assert_false(has(cache, &first, "a", "1"));
        assert_false(has(cache, &others[i], "a", "1"));
        assert_true(has(cache, &others[i], "b", "2"));
        answer_cache_free(cache);
    }
}

static void
test_memory_is_bounded(void **state)
{
    (void)state;
    static char large[MEMORY / 32];
    struct answer_cache *cache = answer_cache_new(MEMORY);
    char name[32];
    size_t kept = 0;
    for (size_t i = 0; i < 1000; i++) {
        (void)snprintf(name, sizeof name, "request %zu", i);
        put(cache, &first, name, "an answer of some fifty bytes, as short ones have them");
    }
    for (size_t i = 0; i < 1000; i++) {
        (void)snprintf(name, sizeof name, "request %zu", i);
        kept += has(cache, &first, name, "an answer of some fifty bytes, as short ones have them");
    }
    assert_in_range(kept, 1, MEMORY / 54);
    assert_true(has(cache, &first, name, "an answer of some fifty bytes, as short ones have them"));
    answer_cache_put(cache, &first, SLICE("large"), slice_of(large, sizeof large));
    struct slice found;
    assert_false(answer_cache_find(cache, &first, SLICE("large"), &found));
    answer_cache_free(cache);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_requests_are_told_apart),
        cmocka_unit_test(test_another_version_ends_all),
        cmocka_unit_test(test_memory_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
