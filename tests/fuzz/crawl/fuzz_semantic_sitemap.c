/* A sitemap with datasets, its claims judged. */
#include <stddef.h>
#include <stdint.h>

#include "datasets/claims.h"
#include "datasets/semantic_sitemap.h"

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct arena arena;
    struct description description;
    struct description *one = &description;
    struct slice *missing;
    arena_init(&arena, 16 << 20);
    if (semantic_sitemap_parse(slice_of((const char *)bytes, size),
                               SLICE("http://a.example/sitemap.xml"), &arena, &description,
                               NULL) == STATUS_OK) {
        const struct claims claims = {&one, 1, &arena};
        claims_judge(&claims);
        (void)claims_missing(&claims, &missing);
    }
    arena_release(&arena);
    return 0;
}
