/* JSON-LD in pages: https://www.w3.org/TR/json-ld11/#embedding-json-ld-in-html-documents */
#ifndef TRANSFORMS_EMBEDDED_JSONLD_BUILTIN_H
#define TRANSFORMS_EMBEDDED_JSONLD_BUILTIN_H

#include "base/buf.h"
#include "transforms/html/html.h"

/* The first script element of type application/ld+json at `from` or after it, and its text;
 * UINT32_MAX: there is none. */
uint32_t jsonld_script(const struct html_tree *tree, uint32_t from, struct slice *text);
/* The base of the page's relative IRIs: <base href> against the document's. memory: buf_init'ed,
 * must live as long. */
struct slice jsonld_page_base(const struct html_tree *tree, struct slice document,
                              struct buf *memory);

#endif
