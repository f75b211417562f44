#include "transforms/common/links.h"

#include <stdint.h>

#include "transforms/common/encoding.h"

/* What IRIREF of N-Triples forbids: controls, blank and <>"{}|^`\ */
static bool
is_forbidden(char c)
{
    return (uint8_t)c <= 0x20 || c == '<' || c == '>' || c == '"' || c == '{' || c == '}' ||
           c == '|' || c == '^' || c == '`' || c == '\\' || (uint8_t)c == 0x7F;
}

bool
document_iri(struct slice url, struct buf *out)
{
    if (!encoding_is_utf8(url)) {
        return false;
    }
    static const char hex[] = "0123456789ABCDEF";
    const size_t start = out->length;
    size_t from = 0;
    for (size_t i = 0; i < url.length; i++) {
        if (!is_forbidden(url.at[i])) {
            continue;
        }
        const uint8_t byte = (uint8_t)url.at[i];
        const char escape[3] = {'%', hex[byte >> 4], hex[byte & 15]};
        buf_append(out, url.at + from, i - from);
        buf_append(out, escape, 3);
        from = i + 1;
    }
    buf_append(out, url.at + from, url.length - from);
    const struct slice iri = {out->data + start, out->length - start};
    if (out->overflowed || !iri_is_absolute(iri)) {
        out->length = start;
        return false;
    }
    return true;
}

void
links_init(struct links *links)
{
    *links = (struct links){0};
    buf_init(&links->base_memory, (size_t)4 * LINK_MAXIMUM);
    buf_init(&links->memory, (size_t)4 * LINK_MAXIMUM);
    buf_init(&links->iri, (size_t)4 * LINK_MAXIMUM);
}

void
links_release(struct links *links)
{
    buf_release(&links->base_memory);
    buf_release(&links->memory);
    buf_release(&links->iri);
}

bool
links_begin(struct links *links, struct slice base)
{
    buf_reset(&links->base_memory);
    links->has_base = url_parse(base, NULL, &links->base_memory, &links->base, NULL) == STATUS_OK;
    return links->has_base;
}

void
links_rebase(struct links *links, struct slice href)
{
    struct url url;
    buf_reset(&links->memory);
    if (href.length > LINK_MAXIMUM ||
        url_parse(href, links->has_base ? &links->base : NULL, &links->memory, &url, NULL) !=
            STATUS_OK ||
        slice_is(url.scheme, "data") || slice_is(url.scheme, "javascript")) {
        return;
    }
    const struct slice text = url.href;
    struct buf memory = links->memory;
    links->memory = links->base_memory;
    links->base_memory = memory;
    buf_reset(&links->memory);
    /* The slices of url point into what is base_memory now. */
    links->base = url;
    links->has_base = text.length > 0;
}

bool
links_resolve(struct links *links, struct slice href, struct slice *iri)
{
    static const char *const nowhere[] = {"javascript", "data", "about", "blob"};
    struct url url;
    buf_reset(&links->memory);
    buf_reset(&links->iri);
    if (href.length > LINK_MAXIMUM || url_parse(href, links->has_base ? &links->base : NULL,
                                                &links->memory, &url, NULL) != STATUS_OK) {
        return false;
    }
    for (size_t i = 0; i < sizeof nowhere / sizeof *nowhere; i++) {
        if (slice_is(url.scheme, nowhere[i])) {
            return false;
        }
    }
    if (!document_iri(url.href, &links->iri)) {
        return false;
    }
    *iri = buf_slice(&links->iri);
    return true;
}
