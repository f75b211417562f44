/* Hostile bytes through the stylesheets of feeds, lists and service descriptions; the first byte
 * chooses the type. */
#include <stdlib.h>

#include "transforms/transform.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const types[] = {"application/rss+xml",  "application/atom+xml",
                                    "application/rdf+xml",  "text/x-opml",
                                    "application/xml",      "image/svg+xml",
                                    "application/wsdl+xml", "application/x-sitemap+xml"};

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
    transform_run(transformer, &request, &result, &why);
    return 0;
}
