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

#include "base/file.h"
#include "base/memory.h"
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

static void
test_every_example(void **state)
{
    (void)state;
    struct reason why;
    struct registry *registry = registry_new();
    struct transformer *transformer;
    struct transform_result result;
    const struct transform_limits limits = {.memory = 64 << 20, .output = 16 << 20};
    struct buf type, input, expected, link;
    buf_init(&type, FILE_MAXIMUM);
    buf_init(&input, FILE_MAXIMUM);
    buf_init(&expected, FILE_MAXIMUM);
    buf_init(&link, FILE_MAXIMUM);
    assert_int_equal(registry_read_default(registry, &why), STATUS_OK);
    assert_int_equal(transformer_new(&transformer, registry, &limits, &why), STATUS_OK);
    transform_result_init(&result, limits.output);
    const char *folder = registry_folder(registry);
    for (size_t i = 0; i < registry_count(registry); i++) {
        const char *name = registry_transform(registry, i)->name;
        char uri[128];
        snprintf(uri, sizeof uri, "http://example.org/examples/%s", name);
        read_file(folder, name, "type", &type, false);
        read_file(folder, name, "input", &input, false);
        read_file(folder, name, "expected.nq", &expected, false);
        read_file(folder, name, "link", &link, true);
        const struct transform_request request = {.uri = slice_string(uri),
                                                  .type = slice_trim(buf_slice(&type)),
                                                  .link_header = slice_trim(buf_slice(&link)),
                                                  .bytes = buf_slice(&input)};
        assert_int_equal(transform_run(transformer, &request, &result, &why), STATUS_OK);
        if (getenv("QUADRILLE_WRITE_EXAMPLES")) {
            write_file(folder, name, buf_slice(&result.graph));
        } else {
            print_message("%s\n", name);
            assert_string_equal(result.graph.data ? result.graph.data : "",
                                expected.data ? expected.data : "");
        }
    }
    transform_result_release(&result);
    transformer_free(transformer);
    registry_free(registry);
    buf_release(&type);
    buf_release(&input);
    buf_release(&expected);
    buf_release(&link);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_example)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
