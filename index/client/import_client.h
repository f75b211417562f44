/* Many quads into the index, fast: a quad_sink that sends them to the partitions' writers in large
 * requests, several under way at a time. Quads are added to the graphs that they name; what is
 * there already makes no difference, so an import that was cut off can be repeated from any
 * earlier point.
 *
 * Fastest when the quads of a graph come one after the other: then rows of it are written once.
 * One thread. */
#ifndef INDEX_CLIENT_IMPORT_CLIENT_H
#define INDEX_CLIENT_IMPORT_CLIENT_H

#include "base/rpc/rpc.h"
#include "rdf/core/term.h"

struct importer;
struct importer_options {
    const char *const *endpoints; /* one per partition, in order */
    size_t count;
    const struct rpc_keys *keys;
    size_t memory;      /* bytes of requests under way; 0: 256 MiB */
    uint64_t skip;      /* so many quads at the start are known to be there already */
    struct slice graph; /* of quads that have none; empty: they are refused with BAD_INPUT */
};

enum status importer_open(struct importer **importer, const struct importer_options *options,
                          struct reason *why);
/* Gives up what is under way, and frees the importer. */
void importer_close(struct importer *importer);
struct quad_sink importer_sink(struct importer *importer);
/* Sends what is left and waits until all is durable, and found by queries. */
enum status importer_finish(struct importer *importer, struct reason *why);
/* Brings in what was sent already, when the rest will not come. */
enum status importer_merge(struct importer *importer, struct reason *why);

struct importer_progress {
    uint64_t taken;   /* quads that came in, skipped ones included */
    uint64_t durable; /* the first so many of them are certainly in the index */
    uint64_t added;   /* quads that were not there before; of many, known after the finish */
};
void importer_progress(const struct importer *importer, struct importer_progress *progress);

#endif
