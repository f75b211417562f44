/* A fuzzer's input as a document: the first byte chooses among types, whose transforms of the
 * default registry run on the rest. */
#ifndef TESTS_FUZZ_DOCUMENTS_TYPED_DOCUMENT_H
#define TESTS_FUZZ_DOCUMENTS_TYPED_DOCUMENT_H

#include <stdlib.h>

#include "transforms/transform.h"

/* mask: the number of types, a power of two, less one. */
static inline void
typed_document_run(const char *const *types, unsigned mask, const uint8_t *data, size_t size)
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
        return;
    }
    const struct transform_request request = {.uri = SLICE("http://h.example/d"),
                                              .type = slice_string(types[data[0] & mask]),
                                              .bytes = {(const char *)data + 1, size - 1}};
    if (transform_run(transformer, &request, &result, &why) == STATUS_OK &&
        result.state == TRANSFORM_NONE) {
        abort(); /* every type here has a transform */
    }
}

#endif
