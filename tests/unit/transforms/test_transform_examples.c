/* Every transform of the registry has an example beside it: a document, perhaps its Link headers
 * (the file `link`), and what becomes of it.
 * QUADRILLE_WRITE_EXAMPLES=1 writes the expected files anew. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/system/file.h"
#include "transforms/transform.h"

enum { FILE_MAXIMUM = 4 << 20 };

static void
read_file(const char *folder, const char *transform, const char *name, struct buf *bytes,
          bool optional)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/examples/%s/%s", folder, transform, name);
    buf_reset(bytes);
    if (file_read(path, bytes, NULL) != STATUS_OK && !optional &&
        !getenv("QUADRILLE_WRITE_EXAMPLES")) {
        fail_msg("%s is missing", path);
    }
}

static void
write_file(const char *folder, const char *transform, struct slice bytes)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/examples/%s/expected.nq", folder, transform);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fwrite(bytes.at, 1, bytes.length, file);
    fclose(file);
}

struct example {
    struct buf type, input, expected, link;
};

static void
run_example(struct transformer *transformer, const struct transform *transform,
            struct example *example, struct transform_result *result)
{
    struct reason why;
    const char *name = transform->name, *folder = transform->folder;
    char uri[128];
    snprintf(uri, sizeof uri, "http://example.org/examples/%s", name);
    read_file(folder, name, "type", &example->type, false);
    read_file(folder, name, "input", &example->input, false);
    read_file(folder, name, "expected.nq", &example->expected, false);
    read_file(folder, name, "link", &example->link, true);
    const struct transform_request request = {.uri = slice_string(uri),
                                              .type = slice_trim(buf_slice(&example->type)),
                                              .link_header = slice_trim(buf_slice(&example->link)),
                                              .bytes = buf_slice(&example->input)};
    assert_int_equal(transform_run(transformer, &request, result, &why), STATUS_OK);
    if (getenv("QUADRILLE_WRITE_EXAMPLES")) {
        write_file(folder, name, buf_slice(&result->graph));
    } else {
        print_message("%s\n", name);
        assert_string_equal(result->graph.data ? result->graph.data : "",
                            example->expected.data ? example->expected.data : "");
    }
}

/* Runs the examples of the transforms from the `first` on. */
static void
run_examples(struct registry *registry, size_t first)
{
    struct reason why;
    struct transformer *transformer;
    struct transform_result result;
    struct example example;
    const struct transform_limits limits = {.memory = 64 << 20, .output = 16 << 20};
    buf_init(&example.type, FILE_MAXIMUM);
    buf_init(&example.input, FILE_MAXIMUM);
    buf_init(&example.expected, FILE_MAXIMUM);
    buf_init(&example.link, FILE_MAXIMUM);
    assert_int_equal(transformer_new(&transformer, registry, &limits, &why), STATUS_OK);
    transform_result_init(&result, limits.output);
    assert_true(first < registry_count(registry));
    for (size_t i = first; i < registry_count(registry); i++) {
        run_example(transformer, registry_transform(registry, i), &example, &result);
    }
    transform_result_release(&result);
    transformer_free(transformer);
    buf_release(&example.type);
    buf_release(&example.input);
    buf_release(&example.expected);
    buf_release(&example.link);
}

static void
test_every_example(void **state)
{
    (void)state;
    struct registry *registry = registry_new();
    assert_int_equal(registry_read_default(registry, NULL), STATUS_OK);
    run_examples(registry, 0);
    registry_free(registry);
}

/* Those of the registry that one has to ask for. */
static void
test_examples_for_tidy(void **state)
{
    (void)state;
    char path[4096];
    struct reason why;
    struct registry *registry = registry_new();
    assert_int_equal(registry_read_default(registry, &why), STATUS_OK);
    const size_t first = registry_count(registry);
    snprintf(path, sizeof path, "%s/tidy/registry", registry_folder(registry));
    assert_int_equal(registry_read(registry, path, &why), STATUS_OK);
    run_examples(registry, first);
    registry_free(registry);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_example),
                                       cmocka_unit_test(test_examples_for_tidy)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
