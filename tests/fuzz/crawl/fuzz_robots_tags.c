/* A header, an empty line, a page. */
#include <stdlib.h>

#include "crawl/robots_tags.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct slice input = slice_of((const char *)data, size);
    const size_t end = slice_find_slice(input, SLICE("\n\n"));
    struct robots_tags tags;
    robots_tags_init(&tags, SLICE("quadrille"), 1700000000000);
    robots_tags_header(&tags, slice_of(input.at, end));
    robots_tags_page(&tags, slice_of(input.at + end, size - end));
    (void)signals_reserve(input, SLICE("/a?b"));
    if (tags.said.length > ROBOTS_TAGS_TEXT) {
        abort();
    }
    robots_tags_release(&tags);
    return 0;
}
