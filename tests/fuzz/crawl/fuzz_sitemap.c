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
    struct slice rest = entry->alternates, language, location;
    while (sitemap_next_alternate(&rest, &language, &location)) {
        if (language.length == 0 || location.length == 0) {
            abort();
        }
    }
    if (rest.length > 0) {
        abort(); /* each line has both */
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
