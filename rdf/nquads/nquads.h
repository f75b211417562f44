/* N-Triples and N-Quads, the form in which quads travel between stages.
 * Source: https://www.w3.org/TR/n-triples/, https://www.w3.org/TR/n-quads/ (2014).
 *
 * Terms without escapes are slices of the input: nothing is copied. IRIs must be absolute
 * and free of the characters that an IRI must not have, also when written as escapes.
 * Language tags are lowered. See rdf/core/parse.h for what all parsers promise; the base is
 * not used. Lenient parsing loses only the line at fault.
 */
#ifndef RDF_NQUADS_NQUADS_H
#define RDF_NQUADS_NQUADS_H

#include "rdf/core/parse.h"

parse_function nquads_parse;
parse_function ntriples_parse; /* a graph label is an error */

/* Streaming: feed pieces cut anywhere, then finish. A line may be as long as
 * options->term_size, then LIMIT (lenient: skipped). Not thread-safe. */
struct nquads_reader;

/* options (may be NULL) and sink are copied. */
struct nquads_reader *nquads_reader_new(const struct parse_options *options, bool triples_only,
                                        const struct quad_sink *sink);
void nquads_reader_free(struct nquads_reader *reader);
enum status nquads_reader_feed(struct nquads_reader *reader, struct slice piece,
                               struct reason *why);
/* Parses what is left after the last newline. */
enum status nquads_reader_finish(struct nquads_reader *reader, struct reason *why);
/* Begins again with a piece of which this is the first line, 1-based. */
void nquads_reader_at_line(struct nquads_reader *reader, uint64_t line);
/* Feeds all that descriptor gives, then finishes. SYSTEM when reading fails. */
enum status nquads_reader_descriptor(struct nquads_reader *reader, int descriptor,
                                     struct reason *why);

#endif
