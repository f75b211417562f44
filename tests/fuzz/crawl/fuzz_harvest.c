/* An endpoint's answer: read as a page, as a count and as a position. A page that was understood
 * and is read again is the same but for the names of its blank nodes. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "datasets/harvest.h"

static void
read_twice(const struct execution *execution, const struct harvest_position *at,
           struct slice answer)
{
    struct harvest_page page, again;
    struct reason why = {""};
    harvest_page_init(&page);
    harvest_page_init(&again);
    if (harvest_read(&page, execution, at, answer, &why) == STATUS_OK) {
        if (harvest_read(&again, execution, at, buf_slice(&page.text), &why) != STATUS_OK ||
            again.triples != page.triples || again.resources != page.resources ||
            again.deeper != page.deeper || !slice_equal(again.last, page.last)) {
            abort();
        }
    }
    harvest_page_release(&again);
    harvest_page_release(&page);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const struct slice answer = slice_of((const char *)bytes, size);
    struct slice_space space = {.prefix = SLICE("http://a.example/r/")};
    const struct execution execution = {.spaces = &space, .space_count = 1};
    struct harvest_position at, copy;
    struct buf text;
    (void)harvest_counted(answer);
    harvest_decode(answer, &at);
    at.depth %= HARVEST_DEPTH_MAXIMUM + 1;
    buf_init(&text, 16 << 20);
    harvest_encode(&at, &text);
    harvest_decode(buf_slice(&text), &copy);
    if (!slice_equal(at.after, copy.after) || at.post != copy.post || at.bytes != copy.bytes) {
        abort();
    }
    buf_reset(&text);
    harvest_query(&execution, &at, &text);
    read_twice(&execution, &at, answer);
    buf_release(&text);
    return 0;
}
