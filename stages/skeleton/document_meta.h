/* A document's job data made anew from headers and metadata: what fetch and detect said of it. */
#ifndef STAGES_SKELETON_DOCUMENT_META_H
#define STAGES_SKELETON_DOCUMENT_META_H

#include "metastore/record.h"
#include "stages/skeleton/document.h"

enum { LINK_HEADER_MAXIMUM = 16 << 10 };

/* All values of Link headers, joined by ", ", as far as there is room. */
void document_join_links(struct slice http_header, struct buf *links);
/* The charset parameter of a Content-Type, without quotes; empty: none. */
struct slice document_charset(struct slice content_type);

/* Finds where in the archive the answer is; file empty: nowhere. Slices point into record. */
struct document_record document_response(struct slice record);

/* Fills in what the transform stage needs to do the document again. Slices point into record and
 * links (buf_init'ed). False: it is not in the archive, has no type, or its last fetch found
 * nothing. */
bool document_of_meta(struct slice record, struct buf *links, struct document *document);

#endif
