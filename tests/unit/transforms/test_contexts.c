/* Pinned contexts: spellings, the user's folder, faults of an index. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/scratch.h"
#include "transforms/common/contexts.h"
#include "transforms/core/registry.h"

static void
write_file(const char *folder, const char *name, const char *text)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static bool
pinned(const char *url)
{
    struct slice json;
    return contexts_pinned(slice_string(url), &json);
}

static void
test_spellings(void **state)
{
    (void)state;
    static const char *const spellings[] = {
        "http://schema.org",   "https://schema.org",
        "https://schema.org/", "http://www.schema.org/",
        "HTTP://Schema.ORG",   "https://schema.org/#",
        "schema.org",          "https://schema.org/docs/jsonldcontext.jsonld"};
    struct registry *registry = registry_new();
    char folder[4096];
    struct reason why;
    assert_int_equal(registry_read_default(registry, &why), STATUS_OK);
    snprintf(folder, sizeof folder, "%s/contexts", registry_folder(registry));
    registry_free(registry);
    assert_int_equal(contexts_load(folder, &why), STATUS_OK);
    assert_int_equal(contexts_load(folder, &why), STATUS_OK);
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++) {
        assert_true(pinned(spellings[i]));
    }
    assert_true(pinned("https://www.w3.org/ns/activitystreams"));
    assert_false(pinned("https://schema.org/Person"));
    assert_false(pinned("https://schema.org.example/"));
    assert_false(pinned("https://www.w3.org/NS/activitystreams"));
    assert_false(pinned(""));
    assert_false(pinned("http://"));
    contexts_release();
    assert_false(pinned("http://schema.org"));
}

static void
test_own_folder(void **state)
{
    (void)state;
    char folder[SCRATCH_SIZE], other[SCRATCH_SIZE];
    struct reason why;
    struct slice json;
    assert_true(scratch_folder(folder, "test_contexts"));
    assert_true(scratch_folder(other, "test_contexts"));
    assert_int_equal(contexts_load(folder, &why), STATUS_OK); /* no index */
    write_file(folder, "a", "{\"first\": 1}");
    write_file(folder, "index",
               "# mine\ncontext a 2020-01-01 CC0 http://a.example/\nat http://a.example/c\n");
    assert_int_equal(contexts_load(folder, &why), STATUS_OK);
    assert_true(contexts_pinned(SLICE("https://a.example/c"), &json));
    assert_true(slice_is(json, "{\"first\": 1}"));
    write_file(other, "index", "context b 2020-01-01 CC0 http://a.example/\nat a.example/c/\n");
    assert_int_equal(contexts_load(other, &why), STATUS_MISUSE); /* b is missing */
    contexts_release();
    assert_int_equal(contexts_load(folder, &why), STATUS_OK);
    write_file(other, "b", "2");
    assert_int_equal(contexts_load(other, &why), STATUS_OK);
    assert_true(contexts_pinned(SLICE("https://a.example/c"), &json));
    assert_true(slice_is(json, "2"));
    contexts_release();
    write_file(other, "index", "at http://a.example/\n");
    assert_int_equal(contexts_load(other, &why), STATUS_MISUSE);
    assert_non_null(strstr(why.text, "line 1"));
    contexts_release();
    char command[256];
    snprintf(command, sizeof command, "rm -r %s %s", folder, other);
    assert_int_equal(system(command), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_spellings),
                                       cmocka_unit_test(test_own_folder)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
