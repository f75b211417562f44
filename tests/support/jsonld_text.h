/* Writes JSON trees, and JSON-LD documents after expansion, as JSON text. */
#ifndef TESTS_SUPPORT_JSONLD_TEXT_H
#define TESTS_SUPPORT_JSONLD_TEXT_H

#include "base/buf.h"
#include "rdf/jsonld/jsonld.h"

struct json; /* rdf/json/json.h, whose names are those of jansson, too */

/* Appends the tree; LIMIT past the maximum of buf. */
enum status json_write(struct buf *buf, const struct json *node);
/* Puts the expanded document into text, which is reset before. Errors: as jsonld_read. */
enum status jsonld_expand(struct slice bytes, const struct jsonld_options *options,
                          struct buf *text, struct reason *why);

#endif
