/* Any document through any transform of the registry: the first byte chooses the type. */
#include <stdlib.h>

#include "transforms/transform.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const types[] = {
    "application/rss+xml", "application/atom+xml", "application/rdf+xml", "text/turtle",
    "application/trig",    "application/n-quads",  "text/html",           "application/xhtml+xml"};

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct transformer *transformer;
    static struct transform_result result;
    struct reason why;
    if (!transformer) {
        struct registry *registry = registry_new();
        const struct transform_limits limits = {
            .memory = 32 << 20, .output = 8 << 20, .canonical_work = 1000};
        if (registry_read_default(registry, &why) != STATUS_OK ||
            transformer_new(&transformer, registry, &limits, &why) != STATUS_OK) {
            abort();
        }
        transform_result_init(&result, limits.output);
    }
    if (size == 0) {
        return 0;
    }
    const struct transform_request request = {.uri = SLICE("http://h.example/d"),
                                              .type = slice_string(types[data[0] & 7]),
                                              .bytes = {(const char *)data + 1, size - 1}};
    if (transform_run(transformer, &request, &result, &why) == STATUS_OK &&
        result.state == TRANSFORM_NONE) {
        abort();
    }
    return 0;
}
