/* First line: a path; rest: robots.txt. */
#include <stdlib.h>

#include "crawl/robots.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct slice input = slice_of((const char *)data, size);
    const size_t line = slice_find(input, '\n');
    const size_t start = line < size ? line + 1 : size;
    struct robots *robots =
        robots_parse(slice_of(input.at + start, size - start), SLICE("quadrille"));
    const struct slice *sitemaps;
    (void)robots_allows(robots, slice_of(input.at, line));
    if (!robots_allows(robots, SLICE("/robots.txt")) || robots_crawl_delay_ms(robots) < -1 ||
        robots_sitemaps(robots, &sitemaps) > ROBOTS_SITEMAPS_MAXIMUM) {
        abort();
    }
    robots_free(robots);
    return 0;
}
