/* First line: base; rest: reference. Checks that serialised URLs parse to themselves. */
#include <stdlib.h>

#include "base/url/url.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check_again(const struct url *url)
{
    struct buf memory;
    struct url again;
    buf_init(&memory, 1 << 20);
    if (url_parse(url->href, NULL, &memory, &again, NULL) != STATUS_OK ||
        !slice_equal(again.href, url->href)) {
        abort();
    }
    buf_release(&memory);
}

static void
check_key(struct slice reference, struct slice base)
{
    struct buf key;
    struct buf again;
    buf_init(&key, URL_MAXIMUM);
    buf_init(&again, URL_MAXIMUM);
    if (url_crawl_key(reference, base, &key, NULL) == STATUS_OK) {
        const struct slice text = buf_slice(&key);
        if (!iri_is_absolute(text) ||
            url_origin(text).length + url_path_query(text).length != text.length ||
            url_registrable_domain(url_host(text)).length > url_host(text).length ||
            url_crawl_key(text, (struct slice){0}, &again, NULL) != STATUS_OK ||
            !slice_equal(buf_slice(&again), text)) {
            abort();
        }
    }
    buf_release(&key);
    buf_release(&again);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct slice input = slice_of((const char *)data, size);
    const size_t line = slice_find(input, '\n');
    const struct slice base = slice_of(input.at, line);
    const struct slice reference =
        line < size ? slice_of(input.at + line + 1, size - line - 1) : SLICE("");
    struct buf base_memory;
    struct buf memory;
    struct url base_url;
    struct url url;
    buf_init(&base_memory, 1 << 20);
    buf_init(&memory, 1 << 20);
    if (url_parse(base, NULL, &base_memory, &base_url, NULL) == STATUS_OK) {
        check_again(&base_url);
        if (url_parse(reference, &base_url, &memory, &url, NULL) == STATUS_OK) {
            check_again(&url);
        }
        check_key(reference, base);
    }
    buf_reset(&memory);
    iri_resolve(base, reference, &memory, NULL);
    buf_release(&base_memory);
    buf_release(&memory);
    return 0;
}
