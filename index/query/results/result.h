/* Writers of query results: a query_sink on one side, pieces of bytes on the other.
 * Sources: https://www.w3.org/TR/sparql11-results-json/, https://www.w3.org/TR/rdf-sparql-XMLres/,
 * https://www.w3.org/TR/sparql11-results-csv-tsv/, https://www.w3.org/TR/n-triples/.
 *
 *   result_format_find("csv", query_form_of(query), &format, why)
 *   result_writer_open(&writer, format, piece, context)
 *   query_run(query, source, &options, result_writer_sink(writer), ...)
 *   result_writer_finish(writer, why)     the closing brackets; only after a run that was OK
 *   result_writer_free(writer)
 *
 * Rows leave in pieces of about 64 KiB; a table needs all rows for its widths and holds at most
 * RESULT_TABLE_MAXIMUM bytes. Its cells are whole; those of `terminal` are cut.
 */
#ifndef INDEX_QUERY_RESULTS_RESULT_H
#define INDEX_QUERY_RESULTS_RESULT_H

#include "base/slice.h"
#include "base/status.h"
#include "index/query/query.h"

enum { RESULT_TABLE_MAXIMUM = 64 << 20 };

enum result_format {
    RESULT_JSON,      /* SELECT, ASK: application/sparql-results+json */
    RESULT_XML,       /* SELECT, ASK: application/sparql-results+xml */
    RESULT_CSV,       /* SELECT, ASK: text/csv */
    RESULT_TSV,       /* SELECT, ASK: text/tab-separated-values */
    RESULT_TABLE,     /* SELECT, ASK, for people: text/plain */
    RESULT_CUT_TABLE, /* the same for a terminal */
    RESULT_NTRIPLES,  /* CONSTRUCT, DESCRIBE: application/n-triples */
    RESULT_TURTLE,    /* CONSTRUCT, DESCRIBE: text/turtle */
    RESULT_NQUADS,    /* CONSTRUCT, DESCRIBE: application/n-quads */
    RESULT_RDFXML,    /* CONSTRUCT, DESCRIBE: application/rdf+xml */
    RESULT_JSONLD     /* CONSTRUCT, DESCRIBE: application/ld+json */
};

/* name: a short name (json xml csv tsv table; nt ttl trig nq rdf jsonld) or a media type; empty:
 * table, or ttl; "terminal": table with cut cells, or ttl. UNSUPPORTED when unknown or not of this
 * form, naming those that are. */
enum status result_format_find(struct slice name, enum query_form form, enum result_format *format,
                               struct reason *why);

typedef enum status result_piece(void *context, struct slice bytes, struct reason *why);

struct result_writer;
void result_writer_open(struct result_writer **writer, enum result_format format,
                        result_piece *piece, void *context);
const struct query_sink *result_writer_sink(struct result_writer *writer);
enum status result_writer_finish(struct result_writer *writer, struct reason *why);
void result_writer_free(struct result_writer *writer);

#endif
