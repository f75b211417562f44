/* A page as HTML Tidy mends it, written as XHTML: what `tidy -asxhtml -numeric` prints, without
 * a document type and in long lines. For stylesheets that were written for that.
 *
 * libtidy checks no bound of its own: pages of 150 bytes make it take all memory. So it runs on an
 * allocator that counts, and is left by a jump once a bound is passed. Two things no allocator
 * notices, and they end the process: recursion deeper than the stack, and a loop that asks for no
 * memory. Callers must run in a worker whose death is survived (stages/parsing/document_worker.h).
 */
#ifndef TRANSFORMS_XML_TIDY_H
#define TRANSFORMS_XML_TIDY_H

#include <stdint.h>

#include "base/buf.h"
#include "base/slice.h"
#include "base/status.h"

struct tidy_limits {
    size_t memory;   /* bytes that Tidy may have at a time; 0: 64 MiB */
    uint64_t cpu_ms; /* processor time for the page; 0: 2 seconds */
};

/* page: UTF-8. xhtml (buf_init'ed, reset here) takes the text. lines (may be NULL; buf_init'ed,
 * reset here) takes a uint32_t for each element in document order: its line in the page.
 * LIMIT: a bound was passed, and the reason says which; BAD_INPUT: Tidy makes nothing of it. */
enum status tidy_page(struct slice page, const struct tidy_limits *limits, struct buf *xhtml,
                      struct buf *lines, struct reason *why);

#endif
