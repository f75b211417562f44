#include <stdlib.h>

#include "datasets/sitemap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool
check(void *context, const struct sitemap_entry *entry)
{
    (void)context;
    if (entry->location.length == 0 || entry->priority > 100) {
        abort();
    }
    return true;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sitemap_result result;
    struct reason why;
    if (sitemap_parse(slice_of((const char *)data, size), check, NULL, &result, &why) ==
            STATUS_OK &&
        result.kind == SITEMAP_NONE) {
        abort();
    }
    return 0;
}
