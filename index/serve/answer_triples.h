/* The stream TRIPLES: how many triples of a pattern there are, and which of them other partitions
 * may have as well. SEVERAL.md, "Counts of triples". */
#ifndef INDEX_SERVE_ANSWER_TRIPLES_H
#define INDEX_SERVE_ANSWER_TRIPLES_H

#include "base/codec.h"
#include "index/serve/cursor.h"
#include "index/write/partition.h"

/* request: from the form on. */
enum status answer_triples(struct partition_reader *reader, struct slice request,
                           struct cursor *cursor, struct reason *why);

/* The forms that name values by their digests (answer_values.c): SEVERAL.md, "Values by their
 * digests". */
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
