/* Provenance is what is known of documents, shown as the graph q:provenance beside the quads of
 * another source.
 *
 * The graph is not stored. Its triples are those that meta_quads (metastore/record_rdf.h) makes of
 * the metadata store's records, made while a query reads them, so it always says what `quadrille
 * meta` says, and crawling pays nothing for it. It is part of neither the union of all graphs nor
 * of what GRAPH ?g ranges over: a pattern reaches it by its name alone.
 *
 *   subject bound     one record is asked for: a document's or a host's IRI names it; blank nodes
 *                     and records of the archive that came up in this query lead back to theirs
 *   object bound      to a blank node or such a record: the same
 *   anything else     all records are read, in order of their keys
 *
 * Records are kept for the length of the query, as far as memory allows. The metadata client is
 * routed, so that with several nodes the graph is that of all of them. It is opened when the first
 * record is needed. A record that changes meanwhile may be seen before or after it did.
 *
 * Identifiers: terms that the other source has keep theirs. Other terms, and blank nodes, which
 * are numbered by record and label, get identifiers from OID_OVERLAY. One thread. */
#ifndef INDEX_READ_PROVENANCE_H
#define INDEX_READ_PROVENANCE_H

#include "index/quad_source.h"
#include "index/query/query.h"
#include "metastore/metastore_client.h"

struct provenance;

struct provenance_settings {
    const struct quad_source *source;
    const struct metastore_client_options *metastore; /* lives as long; NULL: UNSUPPORTED */
    size_t memory;             /* of terms and of records each; past it LIMIT, or forgotten */
    uint64_t timeout_ms;       /* 0: none. A query's own limits, seen while records are read */
    const atomic_bool *cancel; /* NULL: none */
};

struct provenance *provenance_new(const struct provenance_settings *settings);
void provenance_free(struct provenance *provenance); /* NULL is allowed */
const struct quad_source *provenance_source(struct provenance *provenance);

/* NULL unless the query mentions q:provenance, or q:identity, which asks it where terms redirect
 * to. Limits are those of options, all of which must live
 * as long. */
struct provenance *provenance_for_query(const struct query *query, const struct quad_source *source,
                                        const struct metastore_client_options *metastore,
                                        const struct query_options *options);

#endif
