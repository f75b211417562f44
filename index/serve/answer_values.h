/* The forms of the stream TRIPLES that name values by their digests: SEVERAL.md, "Values by their
 * digests". */
#ifndef INDEX_SERVE_ANSWER_VALUES_H
#define INDEX_SERVE_ANSWER_VALUES_H

#include "base/codec.h"
#include "index/serve/cursor.h"
#include "index/write/partition.h"

struct values_request {
    struct partition_reader *reader;
    struct cursor *cursor;
    struct quad_oids pattern;
    bool possible; /* all terms of the pattern are known here */
};

/* in: what follows the pattern. */
enum status answer_values(const struct values_request *request, struct codec_reader in,
                          struct reason *why);
enum status answer_triples_of_values(const struct values_request *request, struct codec_reader in,
                                     struct reason *why);

#endif
